"""Looking again, under newer rules of the guard, at what was kept under older ones.

Memories get a new verdict: withheld from recall, or let go. Copies of what was said elsewhere have secrets masked that
nobody knew then. Both go on where they stopped, and doing it twice changes nothing.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, field
from itertools import groupby
from typing import TYPE_CHECKING

from django.db import transaction
from django.db.models import Q

from memories import guard
from memories.models import Authority, Memory, Status
from memories.store.copies import BATCH, COPIES, Copies
from memories.store.drafts import Draft
from memories.store.errors import GuardRefused
from memories.store.locks import lock, share
from memories.store.writing import save, withhold
from projects import audit
from projects.models import AuditEvent, Project
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from projects.actors import Actor

logger = logging.getLogger(__name__)

# Memories in one transaction, for whose length nobody else writes to their project.
WRITTEN_AT_ONCE = 20
# Before the code, in the history of a memory that is withheld from now on: nobody's own words read so.
REASON = "guard:"
ACTION = "guard.rescan"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A memory whose standing changes: `code` is why it is withheld from now on, "" that it is let go."""

    project: str
    memory_id: int
    code: str


@dataclass(slots=True, kw_only=True)
class Looked:
    """What was looked at, by kind of row: how many, and how many changed. `is_done`: nothing is left."""

    seen: dict[str, int] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)
    verdicts: list[Verdict] = field(default_factory=list)
    is_done: bool = True

    def count(self, label: str, *, seen: int, changed: int) -> None:
        self.seen[label] = self.seen.get(label, 0) + seen
        self.changed[label] = self.changed.get(label, 0) + changed


def verdict(memory: Memory) -> str:
    """Why the memory is kept from recall under the rules as they are now, or "".

    What the guard refuses is, whoever wrote it. What it holds for a person is not, where one stands behind it.
    """
    try:
        held = Draft.of(memory).guarded()
    except GuardRefused as refused:
        return refused.rule
    vouched_for = memory.authority == Authority.PERSON and memory.status != Status.PROPOSED
    return "" if vouched_for else held


def is_due() -> bool:
    """Whether anything was last looked at under older rules."""
    if Memory.objects.filter(guard_version__lt=guard.GUARD_VERSION).exists():
        return True
    return not all(_reached(copies.label)[1] for copies in COPIES)


def run(*, by: Actor, budget_s: float | None = None, dry_run: bool = False) -> Looked:
    """Look at all that is due, or at as much as `budget_s` allows. A dry run writes nothing."""
    looked = Looked()
    until = None if budget_s is None else time.monotonic() + budget_s
    for memories in _old_memories():
        for _project, rows in groupby(memories, key=lambda memory: memory.project_id):
            of_one = list(rows)
            for first in range(0, len(of_one), WRITTEN_AT_ONCE):
                _look_at(of_one[first : first + WRITTEN_AT_ONCE], looked, by=by, dry_run=dry_run)
        if _is_over(until):
            looked.is_done = False
            return looked
    for copies in COPIES:
        if not _look_through(copies, looked, until=until, by=by, dry_run=dry_run):
            looked.is_done = False
            return looked
    return looked


def _old_memories() -> Iterator[list[Memory]]:
    """Memories of older rules, each once, in batches that are of one project as far as they can be."""
    version, pk = -1, 0
    while True:
        later = Q(guard_version=version, pk__gt=pk) | Q(guard_version__gt=version)
        found = Memory.objects.filter(later, guard_version__lt=guard.GUARD_VERSION)
        # Without the project: joined, MariaDB would sort all that is old for each batch.
        batch = list(found.order_by("guard_version", "pk")[:BATCH])
        if not batch:
            return
        version, pk = batch[-1].guard_version, batch[-1].pk
        yield sorted(batch, key=lambda memory: memory.project_id)


def _look_at(memories: Sequence[Memory], looked: Looked, *, by: Actor, dry_run: bool) -> None:
    """Memories of one project: the guard reads them before anything is locked."""
    project = Project.objects.filter(pk=memories[0].project_id).first()
    if project is None:
        return
    verdicts = {memory.pk: (memory.version, verdict(memory)) for memory in memories}
    changing = {
        memory.pk
        for memory in memories
        if (memory.withheld, memory.withheld_for) != (bool(verdicts[memory.pk][1]), verdicts[memory.pk][1])
    }
    if not dry_run:
        try:
            changing = _renew(project, verdicts, changing, by=by)
        except Project.DoesNotExist:
            return
        except Exception:
            # One row that cannot be written must not keep all others from being looked at.
            logger.exception("memories of project %s could not be looked at again", project.pk)
            return
    looked.count(Memory._meta.label, seen=len(memories), changed=len(changing))
    looked.verdicts += [
        Verdict(project=project.slug, memory_id=pk, code=verdicts[pk][1]) for pk in sorted(changing)
    ]


@atomic_retry
def _renew(
    project: Project, verdicts: Mapping[int, tuple[int, str]], changing: set[int], *, by: Actor
) -> set[int]:
    """Write the verdicts down, each unless the memory changed meanwhile; the ids of those whose standing changed."""
    if changing:
        lock(project)
    else:
        share(project)
    rows = Memory.objects.of(project).in_bulk(list(verdicts))
    rows = {pk: row for pk, row in rows.items() if row.version == verdicts[pk][0]}
    unchanged = Memory.objects.filter(pk__in=rows.keys() - changing)
    for pk, row in rows.items():
        evidence = row.evidence
        withhold(row, verdicts[pk][1])
        if pk in changing:
            row.project = project
            save(row, action="rescan", by=by, reason=f"{REASON}{row.withheld_for}" if row.withheld else "")
        elif row.evidence != evidence:
            unchanged.filter(pk=pk).update(evidence=row.evidence)
    unchanged.update(guard_version=guard.GUARD_VERSION)
    return changing & rows.keys()


def _look_through(copies: Copies, looked: Looked, *, until: float | None, by: Actor, dry_run: bool) -> bool:
    """Mask what is found in these rows; False when time was over before their end."""
    through, is_done = _reached(copies.label)
    if is_done:
        return True
    seen = changed = 0
    while rows := copies.after(through):
        stained = [row["pk"] for row in rows if copies.changes(row)]
        for pk in stained if not dry_run else ():
            with transaction.atomic():
                copies.mend(pk, by=by)
        through = rows[-1]["place"]
        seen, changed = seen + len(rows), changed + len(stained)
        if len(rows) < copies.batch:
            break
        if _is_over(until):
            _note(copies.label, by=by, through=through, seen=seen, changed=changed, is_done=False)
            looked.count(copies.label, seen=seen, changed=changed)
            return False
    looked.count(copies.label, seen=seen, changed=changed)
    if not dry_run:
        _note(copies.label, by=by, through=through, seen=seen, changed=changed, is_done=True)
    return True


def _reached(label: str) -> tuple[int, bool]:
    """(the place of the last row that was looked at under these rules, whether it was the last of all)."""
    last = (
        AuditEvent.objects.filter(action=ACTION, target_id=guard.GUARD_VERSION, target_key=label)
        .order_by("-pk")
        .first()
    )
    return (0, False) if last is None else (last.counts["through"], bool(last.counts["done"]))


@transaction.atomic
def _note(label: str, *, by: Actor, through: int, seen: int, changed: int, is_done: bool) -> None:
    """The trail tells who masked how much, and where to go on."""
    audit.record(
        ACTION,
        by=by,
        project=None,
        target_type="guard",
        target_id=guard.GUARD_VERSION,
        target_key=label,
        counts={"seen": seen, "changed": changed, "through": through, "done": int(is_done)},
    )


def _is_over(until: float | None) -> bool:
    return until is not None and time.monotonic() >= until
