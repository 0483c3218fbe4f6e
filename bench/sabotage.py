"""The product's own processes, with places at which they can be struck: killed or stopped, exactly there.

Started as `celery -A bench.sabotage worker` and `gunicorn bench.sabotage:application`; BENCH_ORDERS names a folder.
A file in it orders one blow: its name is the place (`worker-reading`) or the place with a topic (`web-telling@40`),
its text the signal, whom it hits and which topics it spares (`KILL group 12,15`). The process that comes there first
takes the file away and is struck. Nothing of the product is changed but how long it waits after failures, where
BENCH_BACK_OFF_S and BENCH_PAUSE_S say so.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from chats import context, queue, schedule
from config.celery import app
from config.wsgi import application
from memories.extraction import breaker
from memories.extraction.rules import Rules

if TYPE_CHECKING:
    from chats.context import Context
    from chats.models import Chat
    from memories.extraction import Extracted, Transcript

__all__ = ["app", "application"]

ORDERS = Path(os.environ["BENCH_ORDERS"])
ROLE = os.environ["BENCH_ROLE"]
HOLD_S = 30


def strike(place: str, topic_id: int) -> None:
    """Do to this process what was ordered for this place, if anything was."""
    place = f"{ROLE}-{place}"
    for name in os.listdir(ORDERS):
        if name in (place, f"{place}@{topic_id}"):
            with suppress(FileNotFoundError):  # another process was quicker
                number, whom, *spared = (ORDERS / name).read_text().split()
                if str(topic_id) not in ",".join(spared).split(","):
                    (ORDERS / name).rename(ORDERS / "taken" / f"{name}.{os.getpid()}.{topic_id}")
                    _hit(signal.Signals[f"SIG{number}"], whom)


def _hit(blow: signal.Signals, whom: str) -> None:
    if whom == "group":
        os.killpg(os.getpgrp(), blow)
    else:
        os.kill(os.getpid(), blow)
    if blow == signal.SIGKILL:
        time.sleep(HOLD_S)  # it comes at once, but perhaps not before the next line


def _claim(topic_id: int, **kwargs: Any) -> schedule.Claim | None:
    claimed = claim(topic_id, **kwargs)
    if claimed is not None:
        in_hand.topic_id = topic_id
        strike("claimed", topic_id)
    return claimed


def _extract(self: Rules, transcript: Transcript) -> Extracted:
    strike("reading", in_hand.topic_id)
    return extract(self, transcript)


def _hold(held: schedule.Claim) -> None:
    """In the last transaction, with the topic's row locked and nothing written."""
    hold(held)
    strike("locked", held.topic_id)


def _release(held: schedule.Claim, *, more: bool) -> bool:
    """In the last transaction, with all written and nothing committed."""
    is_due = release(held, more=more)
    strike("written", held.topic_id)
    return is_due


def _tell(topic_id: int, **kwargs: Any) -> None:
    """After the commit, before anybody is told."""
    strike("telling", topic_id)
    tell(topic_id, **kwargs)


def _build(*, chat: Chat, **kwargs: Any) -> Context:
    """With the turn and what it said committed, and nothing recalled for it."""
    strike("recalling", chat.topic_id)
    return build(chat=chat, **kwargs)


in_hand = threading.local()
claim, hold, release, tell = schedule.claim, schedule.hold, schedule.release, queue.distil
extract, build = Rules.extract, context.build
schedule.claim, schedule.hold, schedule.release, queue.distil = _claim, _hold, _release, _tell
Rules.extract, context.build = _extract, _build

if waits := os.environ.get("BENCH_BACK_OFF_S"):
    if not (hasattr(schedule, "BACK_OFF_S") and hasattr(breaker, "PAUSES_S") and hasattr(queue, "PAUSE_S")):
        raise SystemExit("The waits after failures lie elsewhere: shorten them there.")
    schedule.BACK_OFF_S = breaker.PAUSES_S = tuple(float(wait) for wait in waits.split(","))
    queue.PAUSE_S = float(os.environ["BENCH_PAUSE_S"])
