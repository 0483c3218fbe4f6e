"""A site in many processes on servers of its own: gunicorn, workers, a beat, MariaDB, Redis. All of it can be hurt."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from bench.sites import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

START_S = 90
STOP_S = 20
WORKERS = ("worker-1", "worker-2", "worker-3", "worker-4")
# Ends with this process, however this process ends.
END_WITH_US = [setpriv, "--pdeathsig", "KILL"] if (setpriv := shutil.which("setpriv")) else []

SEED = """
import json
from django.contrib.auth.models import User
from projects.actors import SYSTEM
from projects.models import Scope
from projects.store import create_project, issue_key
owner = User.objects.create_user("owner")
seeded = {}
for slug in %r:
    project = create_project(slug=slug, name=slug, owner=owner, by=SYSTEM, review_policy="none")
    key = issue_key(project=project, name="agent", scopes=[Scope.TURNS, Scope.RECALL], by=SYSTEM)[1]
    seeded[slug] = [project.pk, key]
print("SEEDED", json.dumps(seeded))
"""


@dataclass(frozen=True, kw_only=True)
class Pace:
    """How long the site waits for what. `back_off_s` and `pause_s` (a broker that failed is left alone) as the
    product has them, if None.
    """

    sweep_every_s: float
    lease_s: int
    idle_transaction_s: int
    back_off_s: tuple[float, ...] | None = None
    pause_s: float = 10

    def environment(self) -> dict[str, str]:
        told = {
            "SWEEP_EVERY_S": str(self.sweep_every_s),
            "DISTIL_IDLE_S": "0.2",
            "EXTRACTION_MAX_REQUESTS": "1",
            "EXTRACTION_TIMEOUT_S": "2",
            "DISTIL_STORE_BUDGET_S": "1",
            "DISTIL_SOFT_LIMIT_S": str(self.lease_s - 2),
            "DISTIL_HARD_LIMIT_S": str(self.lease_s - 1),
            "DISTIL_LEASE_S": str(self.lease_s),
            "BROKER_VISIBILITY_TIMEOUT_S": str(2 * self.lease_s),
            "DB_IDLE_TRANSACTION_S": str(self.idle_transaction_s),
        }
        if self.back_off_s:
            told["BENCH_BACK_OFF_S"] = ",".join(map(str, self.back_off_s))
            told["BENCH_PAUSE_S"] = str(self.pause_s)
        return told


class Services:
    """MariaDB and Redis of one's own, by scripts/services."""

    def __init__(self, folder: Path) -> None:
        self.environment = {**os.environ, "SERVICES_DIR": str(folder)}

    def __call__(self, *words: str) -> str:
        command = [str(ROOT / "scripts" / "services"), *words]
        # A server lets go of no pipe: what is said goes to a file.
        with tempfile.TemporaryFile("w+") as said:
            done = subprocess.run(
                command, env=self.environment, stdout=said, stderr=said, timeout=120, check=False
            )
            said.seek(0)
            if done.returncode:
                raise RuntimeError(f"scripts/services {' '.join(words)}: {said.read()}")
            return said.read()

    def addresses(self) -> dict[str, str]:
        return dict(re.findall(r"^export (\w+)=(\S+)$", self("env"), re.MULTILINE))

    def pid(self, name: str) -> int:
        return int((Path(self.environment["SERVICES_DIR"]) / f"{name}.pid").read_text())


@dataclass
class Program:
    """One of the site's programs, in a process group of its own."""

    name: str
    command: list[str]
    environment: dict[str, str]
    log: Path
    process: subprocess.Popen[bytes] | None = None
    wanted: bool = True
    started: int = 0

    def start(self) -> None:
        with self.log.open("ab") as output:
            self.process = subprocess.Popen(
                [*END_WITH_US, *self.command],
                cwd=ROOT,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,
            )
        self.started += 1

    @property
    def is_running(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def signal_group(self, number: signal.Signals) -> None:
        if self.process:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)

    def kill(self) -> None:
        """All of its processes, at once."""
        if self.process:
            self.signal_group(signal.SIGKILL)
            self.process.wait()

    def stop(self) -> None:
        """Ask it to end, then make it."""
        if self.is_running and self.process:
            self.process.terminate()
            with suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=STOP_S)
        self.kill()


@dataclass
class Fleet:
    """The running site. A program that dies is started again, as whoever runs a site would."""

    url: str
    services: Services
    orders: Path
    environment: dict[str, str]
    programs: dict[str, Program]
    # slug → (id, key)
    projects: dict[str, tuple[int, str]]
    # Programs that ended though nobody halted them, and how.
    deaths: list[str] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _halted: set[str] = field(default_factory=set)

    def watch(self) -> None:
        while not self._over.wait(0.1):
            with self._lock:
                for program in self.programs.values():
                    if program.wanted and not program.is_running:
                        if program.process and program.name not in self._halted:
                            self.deaths.append(f"{program.name} ({program.process.returncode})")
                        self._halted.discard(program.name)
                        # What a killed main process leaves behind ends before its successor starts.
                        program.kill()
                        program.start()

    def halt(self, *names: str) -> None:
        """Kill these programs, and leave them dead until `resume`."""
        with self._lock:
            for name in names:
                self.programs[name].wanted = False
                self.programs[name].kill()
                self._halted.add(name)

    def resume(self, *names: str) -> None:
        for name in names:
            self.programs[name].wanted = True

    @contextmanager
    def equipped(self, *names: str, **changes: str) -> Iterator[None]:
        """These programs run with other settings while the block does; they are killed before and after."""
        self.halt(*names)
        before = {name: self.programs[name].environment for name in names}
        for name in names:
            self.programs[name].environment = {**before[name], **changes}
        self.resume(*names)
        try:
            yield
        finally:
            self.halt(*names)
            for name in names:
                self.programs[name].environment = before[name]
            self.resume(*names)

    def close(self) -> None:
        self._over.set()
        with self._lock:
            for program in self.programs.values():
                program.wanted = False
                if program.process:
                    # One that was stopped hears nothing else.
                    program.signal_group(signal.SIGCONT)
                    program.process.terminate()
            for program in self.programs.values():
                program.stop()

    # --- Blows (see sabotage.py)

    def order(self, place: str, blow: str, *, topic_id: int | None = None) -> Path:
        name = place if topic_id is None else f"{place}@{topic_id}"
        written = self.orders / f".{name}"
        written.write_text(blow)
        return written.rename(self.orders / name)

    def await_blow(self, order: Path, *, within_s: float = 60) -> tuple[int, int]:
        """The process that was struck, and the topic that it had in hand."""
        deadline = time.monotonic() + within_s
        while not (taken := list((self.orders / "taken").glob(f"{order.name}.*"))):
            if time.monotonic() > deadline:
                order.unlink(missing_ok=True)
                raise TimeoutError(f"no process came to {order.name} within {within_s} s")
            time.sleep(0.02)
        *_, pid, topic = taken[0].name.split(".")
        taken[0].unlink()
        return int(pid), int(topic)

    def logs(self, limit: int = 1500) -> str:
        return "\n".join(
            f"--- {name}\n{program.log.read_text(errors='replace')[-limit:]}"
            for name, program in self.programs.items()
        )


@contextmanager
def fleet(slugs: list[str], pace: Pace, **changes: str) -> Iterator[Fleet]:
    """The whole site, answering, with a project and a key for each slug; all of it is thrown away afterwards."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="cairn-faults-")))
        services = Services(folder / "services")
        stack.callback(services, "stop")
        services("start")
        with socket.create_server(("127.0.0.1", 0)) as found:
            port = found.getsockname()[1]
        orders = folder / "orders"
        (orders / "taken").mkdir(parents=True)
        environment = {
            **os.environ,
            **services.addresses(),
            **pace.environment(),
            "CAIRN_DATA_DIR": str(folder),
            "TIKTOKEN_CACHE_DIR": os.environ.get("TIKTOKEN_CACHE_DIR", str(ROOT / "var" / "tiktoken")),
            "PYTHONWARNINGS": "ignore",
            "LOG_LEVEL": "WARNING",
            "THROTTLE_RATE": "1000000/minute",
            "BENCH_ORDERS": str(orders),
            **changes,
        }
        seeded = _seed(environment, slugs)
        made = Fleet(
            url=f"http://127.0.0.1:{port}",
            services=services,
            orders=orders,
            environment=environment,
            programs=_programs(environment, folder, port),
            projects=seeded,
        )
        stack.callback(made.close)
        for program in made.programs.values():
            program.start()
        _await(made)
        threading.Thread(target=made.watch, daemon=True).start()
        yield made


def _programs(environment: Mapping[str, str], folder: Path, port: int) -> dict[str, Program]:
    python = [sys.executable, "-m"]
    web = [*python, "gunicorn", "bench.sabotage:application", "--bind", f"127.0.0.1:{port}"]
    web += ["--workers", "2", "--threads", "4", "--no-control-socket"]
    celery = [*python, "celery", "--quiet", "-A", "bench.sabotage"]
    commands = {"web": web, "beat": [*celery, "beat", "--schedule", str(folder / "beat"), "--pidfile", ""]}
    for name in WORKERS:
        commands[name] = [*celery, "worker", "--hostname", f"{name}@%h", "--concurrency", "1"]
    return {
        name: Program(
            name=name,
            command=command,
            environment={**environment, "BENCH_ROLE": name.partition("-")[0]},
            log=folder / f"{name}.log",
        )
        for name, command in commands.items()
    }


def _seed(environment: dict[str, str], slugs: list[str]) -> dict[str, tuple[int, str]]:
    manage = [sys.executable, "manage.py"]
    subprocess.run(
        [*manage, "migrate", "--noinput", "--verbosity", "0"], cwd=ROOT, env=environment, check=True
    )
    told = subprocess.run(
        [*manage, "shell", "--no-imports", "-c", SEED % (slugs,)],
        cwd=ROOT,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    seeded = json.loads(told.partition("SEEDED ")[2])
    return {slug: (pk, key) for slug, (pk, key) in seeded.items()}


def _await(made: Fleet) -> None:
    deadline = time.monotonic() + START_S
    while True:
        try:
            with urllib.request.urlopen(f"{made.url}/api/v1/health/ready/", timeout=5):  # noqa: S310 - our own
                return
        except (urllib.error.URLError, OSError):
            if time.monotonic() > deadline:
                raise RuntimeError(f"the site does not answer\n{made.logs()}") from None
            time.sleep(0.1)
