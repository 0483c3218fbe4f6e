"""Real processes for tests: a worker, or any Python, on the test's own database."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import quote

from django.conf import settings
from django.db import connection

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


def environment(**changes: str) -> dict[str, str]:
    """This process's environment, its database replaced by the test's, without a throttle."""
    return {**os.environ, "DATABASE_URL": database_url(), "THROTTLE_RATE": "", **changes}


def database_url() -> str:
    settings_dict = connection.settings_dict
    if connection.vendor == "sqlite":
        return f"sqlite:///{settings_dict['NAME']}"
    secret = quote(settings_dict["PASSWORD"])
    where = f"{settings_dict['HOST']}:{settings_dict['PORT']}"
    return f"mysql://{settings_dict['USER']}:{secret}@{where}/{settings_dict['NAME']}"


@contextmanager
def worker(
    log: Path, *, concurrency: int = 1, include: str = "", **changes: str
) -> Iterator[subprocess.Popen[bytes]]:
    """A Celery worker with the sweep; what it says goes to `log`. It is asked to end, then made to.

    `include` names a module with further tasks.
    """
    command = [sys.executable, "-m", "celery", "--quiet", "-A", "config", "worker"]
    command += ["--concurrency", str(concurrency), "--beat", "--schedule", str(log.with_suffix(".beat"))]
    command += ["--include", include] if include else []
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment(**changes), stdout=output, stderr=output
        )
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def web(log: Path, *, threads: int = 2, **changes: str) -> Iterator[str]:
    """One gunicorn process; gives its address. What it says goes to `log`."""
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "config.wsgi", "--bind", f"127.0.0.1:{port}"]
    command += ["--workers", "1", "--threads", str(threads), "--no-control-socket"]
    with log.open("wb") as output:
        process = subprocess.Popen(
            command, cwd=settings.BASE_DIR, env=environment(**changes), stdout=output, stderr=output
        )
    try:
        url = f"http://127.0.0.1:{port}"
        await_true(lambda: process.poll() is not None or answers(url), told=log)
        yield url
    finally:
        process.terminate()
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(f"{url}/api/v1/health/live/", timeout=5):
            return True
    except OSError:
        return False


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def await_true(condition: Callable[[], bool], *, within_s: float = 60, told: Path | None = None) -> None:
    """Wait until `condition` holds; fail with the end of the log otherwise."""
    deadline = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > deadline:
            said = told.read_text(errors="replace")[-3000:] if told else ""
            raise AssertionError(f"did not happen within {within_s} s\n{said}")
        time.sleep(0.05)
