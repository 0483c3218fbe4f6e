"""`make run`: migrates, runs what Procfile names, fills the demo project meanwhile, stops it all on Ctrl-C.

honcho reads the Procfile and prints the lines. Stopping is done here, because honcho signals whole process
groups, which ends the task that a worker has in hand: here the first process of each program is asked, and
its group is killed only when it has not ended in time.
"""

import datetime as dt
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from data_dir import DATA_DIR, ROOT, AlreadyRunning, lock
from honcho.colour import get_colours
from honcho.environ import parse_procfile
from honcho.printer import Message, Printer

START_S = 120
STOP_S = 20
# Where Linux offers it, a program is asked to end even when this process is killed without a chance to ask.
END_WITH_US = [setpriv, "--pdeathsig", "TERM"] if (setpriv := shutil.which("setpriv")) else []
# On one's own machine: a worker run by root, and static files served from where the packages keep them.
EXPECTED_WARNINGS = "ignore:You're running the worker with superuser,ignore:No directory at"
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Program:
    """One line of the Procfile, in a session of its own, its output printed under its name."""

    def __init__(self, name: str, command: str, printer: Printer, colour: str | None = None) -> None:
        self.name = name
        self.printer = printer
        self.colour = colour
        # sh for the ${NAME:-default} of the Procfile; exec, so that the program itself gets the signal.
        self.process = subprocess.Popen(  # noqa: S603 - the Procfile is ours
            [*END_WITH_US, "/bin/sh", "-c", f"exec {command}"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        self.reader = threading.Thread(target=self._relay, daemon=True)
        self.reader.start()

    def _relay(self) -> None:
        assert self.process.stdout  # noqa: S101 - it is a pipe
        for line in self.process.stdout:
            self.say(line)

    def say(self, line: bytes | str) -> None:
        self.printer.write(Message("line", line, dt.datetime.now().astimezone(), self.name, self.colour))

    def ask_to_stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()

    def kill_group(self) -> None:
        """Whatever is left of the program and of all that it started."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()
        self.reader.join(timeout=2)


class Site:
    def __init__(self, url: str) -> None:
        self.url = url
        self.printer = Printer(sys.stdout, width=len("worker"))
        self.colours = get_colours()
        self.programs: list[Program] = []
        self.stop_asked = 0

    def on_signal(self, number: int, frame: object) -> None:
        self.stop_asked += 1

    def say(self, line: str) -> None:
        self.printer.write(Message("line", line, dt.datetime.now().astimezone(), "cairn", None))

    def start(self, name: str, command: str) -> Program:
        program = Program(name, command, self.printer, next(self.colours))
        self.programs.append(program)
        return program

    def run(self) -> int:
        """Until a signal (0) or until a program ends by itself (its status, or 1)."""
        migrate = self.start("setup", "python manage.py migrate --noinput --verbosity 0")
        try:
            if self._wait(migrate):
                self.say("The database could not be brought up to date: see above.")
                return 1
            if self.stop_asked:
                return 0
            for name, command in parse_procfile((ROOT / "Procfile").read_text()).processes.items():
                self.say(f"{name} is process {self.start(name, command).process.pid}")
            return self._watch()
        finally:
            self._stop()

    def _wait(self, program: Program) -> int:
        while (status := program.process.poll()) is None and not self.stop_asked:
            time.sleep(0.05)
        if status is not None:
            program.reader.join(timeout=2)
            self.programs.remove(program)
        return status or 0

    def _watch(self) -> int:
        demo: Program | None = None
        began = time.monotonic()
        is_up = False
        while not self.stop_asked:
            for program in [p for p in self.programs if p is not demo]:
                if (status := program.process.poll()) is not None:
                    self.say(f"{program.name} ended by itself with status {status}; the rest is stopped.")
                    return status if status > 0 else 1
            if not is_up and (is_up := self._answers()):
                self.say(f"Cairn is at {self.url} and stops with Ctrl-C. Its data is in {DATA_DIR}.")
                if os.environ.get("DEMO", "1") != "0":
                    demo = self.start("demo", f"python manage.py seed_demo --url {self.url}")
            elif not is_up and time.monotonic() - began > START_S:
                self.say(f"{self.url} did not answer within {START_S} s; everything is stopped.")
                return 1
            if demo and (status := demo.process.poll()) is not None:
                demo.kill_group()
                self.programs.remove(demo)
                demo = None
                self.say(
                    "The demo project could not be made (see above); the site runs on. Try again: make demo"
                    if status
                    else "The demo project is ready."
                )
            time.sleep(0.2)
        return 0

    def _answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/api/v1/health/live/", timeout=1):  # noqa: S310 - our own address
                return True
        except (urllib.error.URLError, OSError):
            return False

    def _stop(self) -> None:
        """Asks everyone, waits, then makes sure: a second signal cuts the waiting short."""
        if self.stop_asked:
            self.say("Stopping …")
        asked = self.stop_asked
        for program in self.programs:
            program.ask_to_stop()
        deadline = time.monotonic() + STOP_S
        while time.monotonic() < deadline and self.stop_asked == asked:
            if all(program.process.poll() is not None for program in self.programs):
                break
            time.sleep(0.05)
        for program in self.programs:
            if program.process.poll() is None:
                self.say(f"{program.name} did not end in time and is killed.")
            program.kill_group()
        self.say("Stopped.")


@contextmanager
def own_terminal() -> Iterator[None]:
    """Ctrl-C reaches this process alone, not the `make` above it, which would call a clean stop an error."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
    except OSError:
        yield
        return
    above = os.getpgrp()
    if os.tcgetpgrp(terminal) != above or os.getpid() == above:
        yield
        return
    # Changing the terminal's owner from the background, as on the way back, would stop us.
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    signal.signal(signal.SIGTSTP, signal.SIG_IGN)
    os.setpgid(0, 0)
    os.tcsetpgrp(terminal, os.getpgrp())
    try:
        yield
    finally:
        os.tcsetpgrp(terminal, above)


def port_from(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65536):
        sys.exit(f"PORT is {text!r}, but must be a number from 1 to 65535: make run PORT=8001")
    return int(text)


def check_port(host: str, port: int) -> None:
    try:
        with socket.create_server((host, port)):
            pass
    except PermissionError:
        sys.exit(f"Port {port} is for root alone. Choose one above 1023: make run PORT=8001")
    except OSError as error:
        sys.exit(
            f"Port {port} on {host} can't be used ({os.strerror(error.errno)}): another program probably "
            f"listens there. Choose another one: make run PORT={port + 1 if port < 65535 else 8000}"
        )


def main() -> int:
    host, port = os.environ.get("HOST", "127.0.0.1"), port_from(os.environ.get("PORT", "8000"))
    url = f"http://{'127.0.0.1' if host == '0.0.0.0' else host}:{port}"  # noqa: S104 - told, not bound
    try:
        held = lock()
    except AlreadyRunning as running:
        sys.exit(str(running))
    with held, own_terminal():
        check_port(host, port)
        held.truncate(0)
        held.write(f"process {os.getpid()}, {url}\n")
        held.flush()
        path = os.environ.get("PATH", os.defpath)
        os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), path])
        os.environ["PYTHONUNBUFFERED"] = "1"
        os.environ.setdefault("PYTHONWARNINGS", EXPECTED_WARNINGS)
        os.environ.setdefault("SITE_URL", url)
        os.environ.setdefault("LOG_FORMAT", "console")
        site = Site(url)
        for number in STOP_SIGNALS:
            signal.signal(number, site.on_signal)
        return site.run()


if __name__ == "__main__":
    sys.exit(main())
