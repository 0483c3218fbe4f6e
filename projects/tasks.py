"""Tidying that nobody waits for."""

from __future__ import annotations

from celery import shared_task

from projects import logins
from projects.http import idempotency

BATCH = 1000


@shared_task(name="projects.forget_idempotency")
def forget_idempotency() -> None:
    """Remove the results of requests whose day is over, in batches."""
    while idempotency.forget_expired(limit=BATCH) == BATCH:
        pass


@shared_task(name="projects.forget_logins")
def forget_logins() -> None:
    """Remove failed log-ins that no longer count, and sessions that are over."""
    logins.forget_expired()
