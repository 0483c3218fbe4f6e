"""Which Python the set-up takes, on machines where it is found in different places."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.conf import settings

SCRIPT = Path(settings.BASE_DIR) / "scripts" / "find-python"
WANTED = (Path(settings.BASE_DIR) / ".python-version").read_text().strip()
GOOD = str(Path(sys.executable).resolve())


class Machine:
    """A machine with a PATH and a home of its own; its interpreters are this one, or too old ones."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "bin"
        self.home = folder / "home"
        self.path.mkdir(parents=True)
        self.home.mkdir()
        for tool in ("bash", "dirname", "head", "sort", "cut"):
            (self.path / tool).symlink_to(shutil.which(tool) or tool)
        # An account without a home, so that the real one's pyenv does not count.
        self.program("id", "echo nobody-of-this-name")

    def program(self, name: str, script: str, folder: Path | None = None) -> Path:
        path = (folder or self.path) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
        return path

    def python(self, name: str, *, marker: str, folder: Path | None = None) -> None:
        """A good interpreter that leaves its marker when it is asked."""
        self.program(name, f'echo {marker} >>"{self.home}/asked"\nexec "{GOOD}" "$@"', folder)

    def pyenv(self, version: str) -> None:
        folder = self.home / ".pyenv/versions" / version / "bin"
        self.python("python", marker=f"pyenv-{version}", folder=folder)

    @property
    def taken(self) -> str:
        return (self.home / "asked").read_text().split()[-1]

    def find(self) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [str(self.path / "bash"), str(SCRIPT)],
            env={"PATH": str(self.path), "HOME": str(self.home)},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_the_wanted_version_on_path_comes_before_python3(machine):
    machine.python("python3", marker="python3")
    machine.python(f"python{WANTED}", marker="wanted")
    assert machine.find().stdout.strip() == GOOD
    assert machine.taken == "wanted"


def test_a_python_on_path_that_is_too_old_is_passed_over_for_pyenvs(machine):
    machine.program("python3", "exit 1")
    machine.pyenv("3.99.0")
    machine.pyenv(f"{WANTED}.1")
    assert machine.find().stdout.strip() == GOOD
    assert machine.taken == f"pyenv-{WANTED}.1"


def test_the_newest_of_pyenvs_versions_is_taken_when_the_wanted_one_is_missing(machine):
    machine.pyenv("3.99.2")
    machine.pyenv("3.99.10")
    assert machine.find().stdout.strip() == GOOD
    assert machine.taken == "pyenv-3.99.10"


def test_uv_fetches_one_when_there_is_none(machine):
    fetched = machine.home / "uv-python"
    find = f'[ -e "{fetched}" ] && echo "{fetched}"'
    machine.program("uv", f'case "$2" in install) ln -s "{GOOD}" "{fetched}";; find) {find};; esac')
    machine.program("ln", f'exec {shutil.which("ln")} "$@"')
    found = machine.find()
    assert found.stdout.strip() == GOOD
    assert found.stderr == f"Fetching Python {WANTED} with uv …\n"


def test_where_none_is_to_be_had_one_sentence_says_what_to_do(machine):
    machine.program("uv", "exit 1")
    found = machine.find()
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr == (
        f"Fetching Python {WANTED} with uv …\n"
        "Cairn needs Python 3.12 or newer, and none is on PATH, among pyenv's versions "
        f'or to be fetched by uv: install one ("pyenv install {WANTED}", or your system\'s python{WANTED}) '
        "and run this again.\n"
    )
