"""How often memories were given, counted from what recalls wrote down."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta

from django.db import IntegrityError, connection
from django.db.models import Count, Max

from memories.models import Memory, MemoryUsage, RecallItem
from projects.transactions import atomic_retry

BATCH = 500
# Ids are given before a transaction commits: an item younger than this may still have an older sibling to come.
LAG = timedelta(minutes=1)
TRIES = 3

logger = logging.getLogger(__name__)


def roll_up(*, now: datetime, lag: timedelta = LAG) -> int:
    """Add what was given since the last time to MemoryUsage; returns how many memories that touched.

    A turn counts once for a memory within one roll-up, however many recalls it made.
    """
    for _ in range(TRIES):
        try:
            return _roll_up(now, lag)
        except IntegrityError:
            logger.info("a memory was deleted while it was counted; counting anew without it")
    return _roll_up(now, lag)


@atomic_retry
def _roll_up(now: datetime, lag: timedelta) -> int:
    through = MemoryUsage.objects.aggregate(through=Max("through_item"))["through"] or 0
    new = (
        RecallItem.objects.filter(
            pk__gt=through, recall__created_at__lte=now - lag, memory_id__in=Memory.objects.values("pk")
        )
        .values("memory_id")
        .annotate(
            turns=Count("recall__chat", distinct=True), last=Max("recall__created_at"), through=Max("pk")
        )
        .order_by("memory_id")
    )
    rows = list(new)
    before = MemoryUsage.objects.in_bulk([row["memory_id"] for row in rows])
    MemoryUsage.objects.bulk_create(
        [
            MemoryUsage(
                memory_id=row["memory_id"],
                count=row["turns"] + (old.count if (old := before.get(row["memory_id"])) else 0),
                last_at=row["last"],
                through_item=row["through"],
            )
            for row in rows
        ],
        batch_size=BATCH,
        update_conflicts=True,
        # MySQL finds the conflicting key itself and refuses to be told which.
        unique_fields=None if connection.vendor == "mysql" else ["memory"],
        update_fields=["count", "last_at", "through_item"],
    )
    return len(rows)
