"""Handing work to the workers, by task name. A hint, never a promise: what is lost here, the sweep finds."""

from __future__ import annotations

import logging
import time

from celery import current_app
from django.db import transaction
from kombu.exceptions import KombuError

from projects.http import request_id

logger = logging.getLogger(__name__)

DISTIL = "chats.distil"
SUM_UP = "chats.sum_up"
SUM_UP_EXPIRES_S = 30.0
# After a failure, how long nobody tries again: a dead broker must not slow every request down.
PAUSE_S = 10.0


class BrokerBreaker:
    """Open while the broker has just failed. Per process: every process finds out by itself."""

    def __init__(self) -> None:
        self._open_until = 0.0

    @property
    def is_open(self) -> bool:
        return time.monotonic() < self._open_until

    def trip(self) -> None:
        self._open_until = time.monotonic() + PAUSE_S


breaker = BrokerBreaker()


def distil_on_commit(topic_id: int, *, delay_s: float) -> None:
    """Once the transaction is committed, ask a worker to look at the topic after `delay_s` seconds."""

    def tell() -> None:  # Not a partial: Django names a hook that failed, and a partial has no name.
        distil(topic_id, delay_s=delay_s)

    transaction.on_commit(tell, robust=True)


def distil(topic_id: int, *, delay_s: float = 0.0) -> None:
    """Ask a worker to look at the topic. Returns quietly when the broker is down: the database knows what is due."""
    _send(DISTIL, topic_id, delay_s=delay_s)


def sum_up(topic_id: int) -> None:
    """Ask a worker to sum the topic up; quietly, too. Where many wait, the sweep asks again: old requests expire."""
    _send(SUM_UP, topic_id, expires_s=SUM_UP_EXPIRES_S)


def _send(task: str, topic_id: int, *, delay_s: float = 0.0, expires_s: float | None = None) -> None:
    if breaker.is_open:
        return
    try:
        current_app.send_task(
            task,
            args=[topic_id],
            countdown=delay_s or None,
            expires=expires_s,
            retry=False,
            headers={request_id.HEADER: request_id.current()},
        )
    except (KombuError, OSError) as error:
        # What the transports raise comes as one of kombu's own errors.
        breaker.trip()
        logger.warning("broker unreachable, the sweep will find topic %s: %s", topic_id, type(error).__name__)
