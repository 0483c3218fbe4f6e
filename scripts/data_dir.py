"""Where `make run` keeps its data, and the lock that tells whether a site is running on it."""

import fcntl
import os
from pathlib import Path
from typing import IO

import environ

ROOT = Path(__file__).resolve().parent.parent
# As the settings do: the environment first, then .env.
environ.Env.read_env(ROOT / ".env", overwrite=False)
DATA_DIR = Path(os.environ.get("CAIRN_DATA_DIR", ROOT / "var"))


class AlreadyRunning(Exception):
    """A site runs on this data; the message names its process and address."""


def lock() -> IO[str]:
    """Hold the data for this process until the returned file is closed, or raise AlreadyRunning.

    The kernel drops the lock with its process, so a crash leaves nothing to clean up.
    """
    DATA_DIR.mkdir(parents=True, exist_ok=True)
    file = (DATA_DIR / "run.lock").open("a+")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.seek(0)
        holder = file.read().strip()
        file.close()
        raise AlreadyRunning(
            f"A site is running on {DATA_DIR} ({holder}). Stop it first: Ctrl-C where it runs."
        ) from None
    return file
