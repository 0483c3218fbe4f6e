"""Work on memories that nobody waits for."""

from __future__ import annotations

from celery import shared_task
from django.utils import timezone

from memories import usage


@shared_task(name="memories.roll_up_usage")
def roll_up_usage() -> None:
    usage.roll_up(now=timezone.now())
