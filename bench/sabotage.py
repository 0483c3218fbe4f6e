"""The product's own processes, with places at which they can be struck: killed or stopped, exactly there.

Started as `celery -A bench.sabotage worker` and `gunicorn bench.sabotage:application`; BENCH_ORDERS names a folder.
A file in it orders one blow: its name is the place (`reading`) or the place with a topic (`telling@40`), its text
the signal and whom it hits (`KILL group`). The process that comes there first takes the file away and is struck.
Nothing of the product is changed but what BENCH_BACK_OFF_S says: the waits after failures, in seconds.
"""

from __future__ import annotations

import functools
import os
import signal
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from chats import queue, schedule
from config.celery import app
from config.wsgi import application
from memories.extraction.rules import Rules

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["app", "application"]

ORDERS = Path(os.environ["BENCH_ORDERS"])
ROLE = os.environ["BENCH_ROLE"]
# A stopped process goes on where it was; one that was killed never gets there.
HOLD_S = 30


def strike(place: str, topic_id: int | None) -> None:
    """Do to this process what was ordered for this place, if anything was."""
    place = f"{ROLE}-{place}"
    with suppress(FileNotFoundError):
        for name in os.listdir(ORDERS):
            if name in (place, f"{place}@{topic_id}"):
                taken = ORDERS / "taken" / f"{name}.{os.getpid()}"
                (ORDERS / name).rename(taken)  # by one process alone
                _hit(*taken.read_text().split())


def _hit(number: str, whom: str) -> None:
    hit = signal.Signals[f"SIG{number}"]
    if whom == "group":
        os.killpg(os.getpgrp(), hit)
    else:
        os.kill(os.getpid(), hit)
    if number == "KILL":
        time.sleep(HOLD_S)  # it comes at once, but not before the next line


def _struck_after[**P, R](place: str, function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        result = function(*args, **kwargs)
        strike(place, _topic(*args))
        return result

    return run


def _struck_before[**P, R](place: str, function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        strike(place, _topic(*args))
        return function(*args, **kwargs)

    return run


def _topic(*args: Any) -> int | None:
    """The topic that a call is about: an id, or a claim."""
    first = args[0] if args else None
    return first if isinstance(first, int) else getattr(first, "topic_id", None)


schedule.claim = _struck_after("claimed", schedule.claim)
Rules.extract = _struck_before("reading", Rules.extract)
# In the last transaction: with the topic's row locked and nothing written; with all written and nothing committed.
schedule.hold = _struck_after("locked", schedule.hold)
schedule.release = _struck_after("written", schedule.release)
# After the commit, before anybody is told.
queue.distil = _struck_before("telling", queue.distil)

if waits := os.environ.get("BENCH_BACK_OFF_S"):
    if not hasattr(schedule, "BACK_OFF_S"):
        raise SystemExit("The back-off lies elsewhere: shorten it there.")
    schedule.BACK_OFF_S = tuple(float(wait) for wait in waits.split(","))
