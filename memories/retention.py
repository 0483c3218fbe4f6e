"""How long what nobody decides on is kept: traces of recalls, what models answered, candidates, the trail.

Each kind goes by its own setting, in days (0: for good), in batches by primary key, each a short transaction of its
own. An app above this one adds its kinds when it is ready (`register`).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.db.models import Exists, OuterRef

from memories import store
from memories.models import Candidate, Extraction, Recall, RecallBlock, RecallItem
from projects import audit
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from django.db.models import QuerySet

BATCH = 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """`count` says how many rows are older than a time, `forget` removes them batch by batch and yields how many."""

    name: str
    setting: str
    count: Callable[[datetime], int]
    forget: Callable[[datetime], Iterator[int]]

    @property
    def days(self) -> int:
        return int(getattr(settings, self.setting))

    def before(self, now: datetime) -> datetime | None:
        """What is older than this goes; None: nothing does."""
        return now - timedelta(days=self.days) if self.days else None


def run(*, now: datetime, budget_s: float = math.inf) -> dict[str, int]:
    """Remove whatever is older than it is kept; how many rows of each kind.

    No batch begins later than `budget_s` after the first: the rest is left to the next run.
    """
    ends_at = time.monotonic() + budget_s
    counts = dict.fromkeys((kind.name for kind in kinds()), 0)
    for kind in kinds():
        if (before := kind.before(now)) is None:
            continue
        for number in kind.forget(before) if time.monotonic() < ends_at else ():
            counts[kind.name] += number
            if time.monotonic() >= ends_at:
                break
    return counts


def due(*, now: datetime) -> dict[str, int]:
    """How many rows of each kind `run` would remove now."""
    return {kind.name: kind.count(before) if (before := kind.before(now)) else 0 for kind in kinds()}


def kinds() -> tuple[Kind, ...]:
    return tuple(_KINDS)


def register(kind: Kind) -> None:
    """One more kind; the same name again takes its place."""
    _KINDS[:] = [*(one for one in _KINDS if one.name != kind.name), kind]


def batches(old: QuerySet[Any], *, remove: Callable[[list[Any]], None] | None = None) -> Iterator[int]:
    """Remove the rows of `old`, BATCH at a time: found first, then taken by primary key alone.

    `remove` takes the keys of a batch, where more than the rows themselves goes. Nobody waits for a batch longer
    than it takes to delete it.
    """
    model = old.model
    take = atomic_retry(remove or (lambda keys: _delete(model._base_manager.filter(pk__in=keys))))
    while keys := list(old.values_list("pk", flat=True)[:BATCH]):
        take(keys)
        yield len(keys)


def _delete(rows: QuerySet[Any]) -> None:
    """One statement: nothing hangs on these rows that Django would have to collect."""
    rows._raw_delete(rows.db)


# --- Recalls -----------------------------------------------------------------------------------------------


def _recalls(before: datetime) -> QuerySet[Any]:
    return Recall.objects.filter(created_at__lt=before).order_by("created_at")


def _forget_recalls(before: datetime) -> Iterator[int]:
    def remove(keys: list[int]) -> None:
        _delete(RecallItem.objects.filter(recall__in=keys))
        _delete(Recall.objects.filter(pk__in=keys))

    return batches(_recalls(before), remove=remove)


def _blocks(before: datetime) -> QuerySet[Any]:
    """Blocks that no recall shows any more."""
    shown = Recall.objects.filter(block=OuterRef("pk"))
    return RecallBlock.objects.filter(~Exists(shown), created_at__lt=before).order_by("created_at")


def _forget_blocks(before: datetime) -> Iterator[int]:
    kept: set[str] = set()

    def remove(keys: list[str]) -> None:
        try:
            with transaction.atomic():
                _delete(RecallBlock.objects.filter(pk__in=keys))
        except IntegrityError:
            # One of them has just been given again: the others go, each by itself.
            for key in keys:
                try:
                    with transaction.atomic():
                        _delete(RecallBlock.objects.filter(pk=key))
                except IntegrityError:
                    kept.add(key)

    for number in batches(_blocks(before), remove=remove):
        yield number
        if kept:
            return


# --- What extraction leaves --------------------------------------------------------------------------------


def _raw_outputs(before: datetime) -> QuerySet[Any]:
    return Extraction.objects.filter(started_at__lt=before).exclude(raw_output="").order_by("pk")


def _forget_raw_outputs(before: datetime) -> Iterator[int]:
    """The runs stay, with their counts."""
    last = 0
    while keys := list(_raw_outputs(before).filter(pk__gt=last).values_list("pk", flat=True)[:BATCH]):
        yield Extraction.objects.filter(pk__in=keys).update(raw_output="")
        last = keys[-1]


def _candidates(before: datetime) -> QuerySet[Any]:
    return Candidate.objects.filter(created_at__lt=before).order_by("created_at")


_KINDS: list[Kind] = [
    Kind(
        name="recalls",
        setting="RETAIN_RECALLS_DAYS",
        count=lambda before: _recalls(before).count(),
        forget=_forget_recalls,
    ),
    Kind(
        name="blocks",
        setting="RETAIN_RECALLS_DAYS",
        count=lambda before: _blocks(before).count(),
        forget=_forget_blocks,
    ),
    Kind(
        name="raw_outputs",
        setting="RETAIN_RAW_OUTPUT_DAYS",
        count=lambda before: _raw_outputs(before).count(),
        forget=_forget_raw_outputs,
    ),
    Kind(
        name="candidates",
        setting="RETAIN_CANDIDATES_DAYS",
        count=lambda before: _candidates(before).count(),
        forget=lambda before: batches(_candidates(before)),
    ),
    Kind(
        name="deleted_memories",
        setting="RETAIN_DELETED_DAYS",
        count=lambda before: store.gone_before(before).count(),
        forget=store.forget_gone,
    ),
    Kind(
        name="audit",
        setting="RETAIN_AUDIT_DAYS",
        count=lambda before: audit.older_than(before).count(),
        forget=audit.forget,
    ),
]
