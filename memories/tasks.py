"""Work on memories that nobody waits for."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from memories import retention, store, usage
from memories.store import rescan
from projects.actors import WORKER

# What is left when it is over is left to the next time: a task that outlives the broker's patience runs twice.
BUDGET_S = settings.BROKER_VISIBILITY_TIMEOUT_S / 2


@shared_task(name="memories.roll_up_usage")
def roll_up_usage() -> None:
    usage.roll_up(now=timezone.now())


@shared_task(name="memories.fade")
def fade() -> None:
    """Archive what expired, what nobody needs and what nobody reviewed."""
    store.fade(now=timezone.now(), by=WORKER, budget_s=BUDGET_S)


@shared_task(name="memories.retain")
def retain() -> None:
    """Remove what is older than it is kept."""
    retention.run(now=timezone.now(), budget_s=BUDGET_S)


@shared_task(name="memories.rescan")
def look_again() -> None:
    """What was kept under older rules of the guard, as much as one round takes."""
    if rescan.is_due():
        rescan.run(by=WORKER, budget_s=settings.RESCAN_ROUND_S)
