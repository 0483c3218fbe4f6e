"""Putting memories away: by hand, or because nobody needs them any more."""

from __future__ import annotations

import math
import time
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Q

from memories.fading import FADING_TYPES, Facts, Fate, Pace, fate
from memories.models import Authority, Memory, Source, Status
from memories.store.changes import one_change, verb
from memories.store.errors import WrongStatus
from memories.store.locks import lock
from memories.store.writing import load, respect, save
from projects import audit
from projects.models import Project
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from memories.querysets import MemoryQuerySet
    from projects.actors import Actor

# Memories in one transaction, for whose length nobody else writes to their project.
BATCH = 50
IMPORTANCES = range(1, 6)


@dataclass(frozen=True, slots=True, kw_only=True)
class Faded:
    """A memory that goes, and why and since when it is due to."""

    memory: Memory
    fate: Fate


@verb
def archive(
    *, project: Project, memory_id: int, by: Actor, version: int | None = None, reason: str = ""
) -> Memory:
    """Put a proposal or a memory in use away: it is recalled no more, and its key and content are free.

    `restore` puts it in force again, `undo` makes it what it was. Raises WrongStatus, PersonRequired.
    """
    lock(project)
    memory = load(project, memory_id, version=version)
    if memory.status == Status.ARCHIVED:
        return memory
    if memory.status not in (Status.PROPOSED, Status.ACTIVE, Status.DISABLED):
        raise WrongStatus(memory)
    respect(memory, by=by)
    _put_away(memory, by=by, reason=reason)
    return memory


def fade(
    *, now: datetime, by: Actor, project: Project | None = None, budget_s: float = math.inf
) -> Counter[str]:
    """Archive what expired, faded, or waited too long for a person; how many for each reason.

    A short transaction for each BATCH, under the lock of its project alone. None begins later than `budget_s`
    after the first: the rest is left to the next time.
    """
    counts: Counter[str] = Counter()
    ends_at = time.monotonic() + budget_s
    pace = current_pace()
    due = _due(Memory.objects.all() if project is None else Memory.objects.of(project), now, pace)
    projects = list(
        Project.objects.filter(pk__in=due.order_by().values("project_id").distinct()).order_by("pk")
    )
    for one in projects:
        try:
            while time.monotonic() < ends_at and (done := _fade_batch(one, now, pace, by=by)):
                counts += done
        except Project.DoesNotExist:
            continue
    return counts


def fading_now(*, now: datetime, project: Project | None = None) -> Iterator[Faded]:
    """What `fade` would archive now, project by project."""
    pace = current_pace()
    found = Memory.objects.all() if project is None else Memory.objects.of(project)
    rows = _due(found, now, pace).select_related("project", "usage").order_by("project_id", "pk")
    for memory in rows.iterator(chunk_size=BATCH):
        if (end := fate(facts_of(memory), pace=pace)) is not None and end.at <= now:
            yield Faded(memory=memory, fate=end)


def fate_of(memory: Memory) -> Fate | None:
    """When the memory will be archived if nothing happens to it. Costs no query where its usage is loaded."""
    return fate(facts_of(memory), pace=current_pace())


def current_pace() -> Pace:
    return Pace(half_life_days=settings.FADE_HALF_LIFE_DAYS, review_days=settings.FADE_UNREVIEWED_DAYS)


def facts_of(memory: Memory) -> Facts:
    usage = getattr(memory, "usage", None)
    return Facts(
        type=memory.type,
        status=memory.status,
        source=memory.source,
        authority=memory.authority,
        importance=memory.importance,
        always=memory.always,
        touched_at=max(memory.updated_at, memory.confirmed_at or memory.updated_at),
        used_at=usage.last_at if usage else None,
        expires_at=memory.expires_at,
    )


@atomic_retry
def _fade_batch(project: Project, now: datetime, pace: Pace, *, by: Actor) -> Counter[str]:
    lock(project)
    counts: Counter[str] = Counter()
    rows = _due(Memory.objects.of(project), now, pace).select_related("usage").order_by("pk")
    for memory in rows[:BATCH]:
        end = fate(facts_of(memory), pace=pace)
        if end is None or end.at > now:
            continue
        memory.project = project
        with one_change():
            _put_away(memory, by=by, reason=end.why)
        counts[end.why] += 1
    if counts:
        audit.record("memories.fade", by=by, project=project, counts=counts)
    return counts


def _put_away(memory: Memory, *, by: Actor, reason: str) -> None:
    memory.status = Status.ARCHIVED
    memory.status_changed_by_person = by.is_person
    save(memory, action="archive", by=by, reason=reason)


def _due(found: MemoryQuerySet, now: datetime, pace: Pace) -> MemoryQuerySet:
    """The rows of which `fate` says so, as the database finds them."""
    wanted = Q(status__in=(Status.ACTIVE, Status.DISABLED, Status.PROPOSED), expires_at__lte=now)
    nobodys = Q(authority=Authority.AUTOMATIC)
    if pace.waits_for is not None:
        before = now - pace.waits_for
        wanted |= nobodys & Q(status=Status.PROPOSED, updated_at__lte=before)
    for importance in IMPORTANCES:
        if (idle := pace.fades_after(importance)) is None:
            break
        before = now - idle
        wanted |= nobodys & Q(
            Q(usage__last_at=None) | Q(usage__last_at__lte=before),
            status=Status.ACTIVE,
            source=Source.EXTRACTED,
            always=False,
            type__in=sorted(FADING_TYPES),
            importance=importance,
            updated_at__lte=before,
        )
    due: MemoryQuerySet = found.filter(wanted)
    return due
