"""Tidying that nobody waits for."""

from __future__ import annotations

from celery import shared_task

from projects.http import idempotency

BATCH = 1000


@shared_task(name="projects.forget_idempotency")
def forget_idempotency() -> None:
    """Remove the results of requests whose day is over, in batches."""
    while idempotency.forget_expired(limit=BATCH) == BATCH:
        pass
