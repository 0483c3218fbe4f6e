"""`make contract`: the running API is held to its own description by schemathesis, as its owner and as a key.

    python scripts/contract [--short] [--examples 50] [--callers owner,key] [-- more for schemathesis]

A fresh database is filled for each caller, gunicorn serves it on a free port, and every operation is called with
data that fits the schema and data that does not, under all checks. Afterwards the server's log must hold no
traceback, and every operation that the caller may use must have succeeded at least once: what is only ever refused
has not been tested. What is configured, and why, stands in schemathesis.toml beside this file.
"""

import argparse
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BIN = Path(sys.executable).parent
CONFIGURATION = "schemathesis.toml"
LOG = "site.log"
# What only people do, or platform keys.
CLOSED_TO_KEYS = frozenset(
    {
        "memories_confirm",
        "memories_reject",
        "memories_purge",
        "person_erase",
        "projects_put",
        "projects_patch",
        "projects_delete",
    }
)
START_S = 60
STOP_S = 20


def main() -> int:
    asked, passed_on = _arguments()
    complaints = [
        f"{caller}: {complaint}"
        for caller in asked.callers.split(",")
        for complaint in _complaints(caller, asked, passed_on)
    ]
    print("\n".join(complaints) or "The API does what its description says.")
    return int(bool(complaints))


def _complaints(caller: str, asked: argparse.Namespace, passed_on: list[str]) -> Iterator[str]:
    """What is wrong with how the API answers this caller."""
    with tempfile.TemporaryDirectory(prefix="contract-") as folder:
        work = Path(folder)
        env = _environment(work)
        for name in (CONFIGURATION, "hooks.py"):
            shutil.copy(HERE / name, work)
        for command in (["manage.py", "migrate", "--verbosity", "0"], ["scripts/contract/seed.py", folder]):
            subprocess.run([sys.executable, *command], cwd=ROOT, env=env, check=True)
        headers = json.loads((work / "callers.json").read_text())[caller]
        with _site(env, work) as url:
            if _held_to_it(url, headers, asked, [*passed_on, *_phases(caller, asked)], env):
                yield "schemathesis found something, see above"
            with urllib.request.urlopen(f"{url}/api/v1/schema/?format=json") as answer:
                description = json.load(answer)
        lines = [*_lines((work / LOG).read_text(errors="replace"))]
    if raised := [line for line in lines if "exception" in line]:
        print(*raised, sep="\n")
        yield "the server raised, see above"
    operations = _operations(description)
    answered = _answered(lines, operations)
    for operation, statuses in sorted(answered.items()):
        print(
            f"{operation:30}", "  ".join(f"{status}: {count}" for status, count in sorted(statuses.items()))
        )
    # With filters on the command line the others are not meant.
    called = set(operations.values()) if not passed_on else set(answered)
    closed = CLOSED_TO_KEYS if caller == "key" else frozenset()
    for operation in sorted(called - closed):
        if not any(status < "400" for status in answered.get(operation, ())):
            yield f"{operation} never succeeded"


def _lines(log: str) -> Iterator[dict[str, Any]]:
    """The site's own log lines; what else a process says on its way up or down is no JSON."""
    for line in log.splitlines():
        if line.startswith("{"):
            yield json.loads(line)
        elif line.startswith("Traceback"):
            yield {"exception": log[log.index(line) :][:5000]}


def _operations(description: dict[str, Any]) -> dict[tuple[str, str], str]:
    """The operations' names by method and route."""
    return {
        (method.upper(), path): operation["operationId"]
        for path, operations in description["paths"].items()
        for method, operation in operations.items()
    }


def _answered(lines: list[dict[str, Any]], operations: dict[tuple[str, str], str]) -> dict[str, Counter[str]]:
    """How often each operation answered with each status."""
    counts: dict[str, Counter[str]] = {}
    for line in lines:
        route = "/" + re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", line.get("route") or "")
        if name := operations.get((line.get("method", ""), route)):
            counts.setdefault(name, Counter())[str(line["status"])] += 1
    return counts


def _arguments() -> tuple[argparse.Namespace, list[str]]:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--examples", type=int, default=50, help="of each operation and phase")
    parser.add_argument("--callers", default="owner,key")
    parser.add_argument(
        "--short",
        action="store_true",
        help="as CI does it: three examples, and the boundaries as owner alone",
    )
    parser.add_argument("--seed", type=int, default=1)
    asked, passed_on = parser.parse_known_args()
    asked.examples = 3 if asked.short else asked.examples
    return asked, [one for one in passed_on if one != "--"]


def _environment(work: Path) -> dict[str, str]:
    data = work / "data"
    return os.environ | {
        "CAIRN_DATA_DIR": str(data),
        # Else the repository's own .env could point elsewhere.
        "DATABASE_URL": os.environ.get("CONTRACT_DATABASE_URL", f"sqlite:///{data / 'db.sqlite3'}"),
        "CELERY_BROKER_URL": "filesystem://localhost/",
        "DJANGO_SETTINGS_MODULE": "config.settings",
        "PYTHONPATH": f"{ROOT}{os.pathsep}{work}",
        "CONTRACT_DIR": str(work),
        # How fast one may call is not what is asked here.
        "THROTTLE_RATE": "",
        "LOG_FORMAT": "json",
        "LOG_LEVEL": "INFO",
    }


@contextmanager
def _site(env: dict[str, str], work: Path) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    log = work / LOG
    command = [
        str(BIN / "gunicorn"),
        "config.wsgi",
        "--bind",
        f"127.0.0.1:{port}",
        "--workers",
        "2",
    ]
    command += ["--threads", "4", "--limit-request-line", "8190", "--no-control-socket"]
    with log.open("wb") as output:
        web = subprocess.Popen(command, cwd=ROOT, env=env, stdout=output, stderr=output)
    try:
        _await(f"http://127.0.0.1:{port}/api/v1/health/ready/", web, log)
        yield f"http://127.0.0.1:{port}"
    finally:
        web.terminate()
        try:
            web.wait(timeout=STOP_S)
        except subprocess.TimeoutExpired:
            web.kill()
            web.wait()


def _await(url: str, web: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + START_S
    while time.monotonic() < until and web.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=2):
                return
        except (urllib.error.URLError, OSError):
            time.sleep(0.2)
    raise SystemExit(f"The site did not start.\n{log.read_text(errors='replace')[-5000:]}")


def _phases(caller: str, asked: argparse.Namespace) -> list[str]:
    # The boundaries of every value are the same for whoever calls, and most of the time.
    return ["--phases", "examples,fuzzing"] if asked.short and caller == "key" else []


def _held_to_it(
    url: str, headers: dict[str, str], asked: argparse.Namespace, passed_on: list[str], env: dict[str, str]
) -> int:
    # Run where its configuration lies, it finds it.
    command = [str(BIN / "schemathesis"), "--no-color", "run"]
    command += [f"{url}/api/v1/schema/?format=json", "--url", url, "--checks", "all", "--continue-on-failure"]
    command += ["--max-examples", str(asked.examples), "--seed", str(asked.seed), "--workers", "2"]
    for name, value in headers.items():
        command += ["--header", f"{name}: {value}"]
    return subprocess.run([*command, *passed_on], cwd=env["CONTRACT_DIR"], env=env).returncode


if __name__ == "__main__":
    sys.exit(main())
