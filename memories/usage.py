"""How often memories were given, counted from what recalls wrote down."""

from __future__ import annotations

import logging
from datetime import datetime, timedelta
from itertools import batched
from typing import TYPE_CHECKING

from django.db import IntegrityError
from django.db.models import Count, Max, Min

from memories.models import Memory, MemoryUsage, RecallItem
from projects.transactions import atomic_retry

BATCH = 500
# Ids are given before a transaction commits: an item younger than this may still have an older sibling to come.
LAG = timedelta(minutes=1)
TRIES = 3

if TYPE_CHECKING:
    from collections.abc import Sequence

    from django.db.models import QuerySet

logger = logging.getLogger(__name__)


class _CountedMeanwhile(Exception):
    """Another roll-up was quicker."""


def roll_up(*, now: datetime, lag: timedelta = LAG) -> int:
    """Add what was given since the last time to MemoryUsage; returns how many memories that touched.

    A turn counts once for a memory within one roll-up, however many recalls it made. Safe to run twice at once.
    """
    for _ in range(TRIES):
        try:
            return _roll_up(now, lag)
        except IntegrityError:
            logger.info("a memory was deleted while it was counted; counting anew without it")
        except _CountedMeanwhile:
            logger.info("another process counted meanwhile; counting anew what it has left")
    return _roll_up(now, lag)


@atomic_retry
def _roll_up(now: datetime, lag: timedelta) -> int:
    through = _through()
    new = RecallItem.objects.filter(pk__gt=through)
    # What follows on the first that is too young waits with it: all that is behind `through` has been counted.
    young = new.filter(recall__created_at__gt=now - lag).aggregate(first=Min("pk"))["first"]
    if young is not None:
        new = new.filter(pk__lt=young)
    rows = list(
        new.filter(memory_id__in=Memory.objects.values("pk"))
        .values("memory_id")
        .annotate(
            turns=Count("recall__chat", distinct=True), last=Max("recall__created_at"), through=Max("pk")
        )
        .order_by("memory_id")
    )
    ids = [row["memory_id"] for row in rows]
    known = {pk for chosen in batched(ids, BATCH) for pk in _rows(chosen).values_list("pk", flat=True)}
    # Only these: to be told that a row is there is to share its lock, and two who share it cannot both change it.
    MemoryUsage.objects.bulk_create(
        [
            MemoryUsage(memory_id=memory_id, through_item=through)
            for memory_id in ids
            if memory_id not in known
        ],
        batch_size=BATCH,
        ignore_conflicts=True,
    )
    before = {
        old.pk: old
        for chosen in batched(ids, BATCH)
        for old in _rows(chosen).select_for_update().order_by("pk")
    }
    if any(old.through_item > through for old in before.values()):
        raise _CountedMeanwhile
    counted = []
    for row in rows:
        if (old := before.get(row["memory_id"])) is None:
            continue
        old.count += row["turns"]
        old.last_at = max(old.last_at or row["last"], row["last"])
        old.through_item = row["through"]
        counted.append(old)
    MemoryUsage.objects.bulk_update(counted, ["count", "last_at", "through_item"], batch_size=BATCH)
    return len(counted)


def _through() -> int:
    """Behind which item nothing has been counted yet.

    Each row knows the last item of its own memory: a deleted memory takes along no more than its own items.
    """
    return MemoryUsage.objects.aggregate(through=Max("through_item"))["through"] or 0


def _rows(ids: Sequence[int]) -> QuerySet[MemoryUsage]:
    return MemoryUsage.objects.filter(pk__in=ids)
