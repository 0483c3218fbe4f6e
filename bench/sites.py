"""Ground to measure on: a throwaway database, and a site of its own upon it."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parent.parent
START_S = 60
# No request of a bench is refused for being one of many, yet each is counted as in production.
MANY = {"THROTTLE_RATE": "1000000/minute"}


@contextmanager
def ground() -> Iterator[dict[str, str]]:
    """The environment of a data folder and a migrated database that are thrown away afterwards.

    On MySQL, if DATABASE_URL names one (`scripts/services env`), else on SQLite.
    """
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cairn-bench-"))
        made = {"CAIRN_DATA_DIR": folder, "PYTHONWARNINGS": "ignore", "LOG_LEVEL": "WARNING", **MANY}
        # The rank file is the same for all; unpacking it once is enough.
        made["TIKTOKEN_CACHE_DIR"] = os.environ.get("TIKTOKEN_CACHE_DIR", str(ROOT / "var" / "tiktoken"))
        url = os.environ.get("DATABASE_URL", "")
        if url.startswith("mysql"):
            made["DATABASE_URL"] = stack.enter_context(_database(url))
        else:
            made["DATABASE_URL"] = f"sqlite:///{folder}/db.sqlite3"
            made["CELERY_BROKER_URL"] = "filesystem://localhost/"
        # One key sends all of it, as fast as it can.
        environment = {"THROTTLE_RATE": "", **os.environ, **made}
        migrate = [sys.executable, "manage.py", "migrate", "--noinput", "--verbosity", "0"]
        subprocess.run(migrate, cwd=ROOT, env=environment, check=True)
        yield environment


@contextmanager
def _database(url: str) -> Iterator[str]:
    name = f"bench_{os.getpid()}"
    _sql(url, f"CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE utf8mb4_unicode_ci")
    try:
        yield urlsplit(url)._replace(path=f"/{name}").geturl()
    finally:
        _sql(url, f"DROP DATABASE {name}")


def _sql(url: str, statement: str) -> None:
    parts = urlsplit(url)
    command = ["mariadb", "--no-defaults", f"--host={parts.hostname}", f"--port={parts.port or 3306}"]
    command += [f"--user={parts.username}", "-e", statement]
    subprocess.run(command, env={**os.environ, "MYSQL_PWD": parts.password or ""}, check=True)


class Program:
    """A started process and all that it forks."""

    def __init__(self, name: str, command: list[str], environment: dict[str, str]) -> None:
        self.name = name
        self.log = Path(environment["CAIRN_DATA_DIR"]) / f"{name}.log"
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(
                command, cwd=ROOT, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL
            )

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()

    def check(self) -> None:
        """Raise if it has ended by itself."""
        if self.process.poll() is not None:
            said = self.log.read_text(errors="replace")[-3000:]
            raise RuntimeError(f"{self.name} ended with {self.process.returncode}:\n{said}")

    def kilobytes(self) -> int:
        """Memory that the process and its children hold; what they share is counted once (PSS)."""
        return sum(_kilobytes(pid) for pid in _family(self.process.pid))


def _family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    try:
        found = [int(child) for child in children.read_text().split()]
    except OSError:
        return []
    return [pid, *(one for child in found for one in _family(child))]


def _kilobytes(pid: int) -> int:
    try:
        told = re.search(r"^Pss:\s+(\d+) kB", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.MULTILINE)
    except OSError:
        return 0
    return int(told[1]) if told else 0


@contextmanager
def web(environment: dict[str, str], *, workers: int, threads: int = 4) -> Iterator[tuple[Program, str]]:
    """gunicorn as the Procfile starts it, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--workers", str(workers), "--threads", str(threads), "--no-control-socket"]
    program = Program("web", command, environment)
    try:
        url = f"http://127.0.0.1:{port}"
        _await(url, program)
        yield program, url
    finally:
        program.stop()


@contextmanager
def worker(environment: dict[str, str], *, concurrency: int = 2) -> Iterator[Program]:
    """Celery as the Procfile starts it, with its sweep."""
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker", "--beat"]
    program = Program("worker", [*command, "--concurrency", str(concurrency)], environment)
    try:
        yield program
    finally:
        program.stop()


def _await(url: str, program: Program) -> None:
    deadline = time.monotonic() + START_S
    while True:
        program.check()
        try:
            with urllib.request.urlopen(f"{url}/api/v1/health/live/", timeout=2):  # noqa: S310 - our own
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)
