"""Taking the last change of a memory back, together with all that the same change did to others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db.models import ForeignKey
from django.utils import timezone

from memories.models import Memory, Status
from memories.querysets import HOLDING_KEYS
from memories.store import tombstones
from memories.store.changes import verb
from memories.store.drafts import Draft
from memories.store.errors import NothingToUndo, PartnerChanged, PersonRequired, StaleMemory
from memories.store.lifecycle import EDITABLE
from memories.store.locks import lock
from memories.store.removal import UNDO_FOR, link_again, remove, still_there, versions_of
from memories.store.writing import MAX_EVIDENCE, respect, save, trust, withhold
from projects.actors import PERSON_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from projects.actors import Actor
    from projects.models import Project

# What keeps the house in order and decides nothing: an undo goes past it, and leaves it as it is.
PASSED_OVER = ("add_evidence", "forget_source", "rescan", "cascade")
# Changes from before versions told what they belong to; they touched this one memory alone.
_ALONE = ("edit", "enable", "disable", "reject", "delete", "archive")
# What goes back to what it was. Evidence goes back entry by entry, the guard looks again, and the rest follows.
_FIELDS = (
    *EDITABLE,
    "status",
    "status_changed_by_person",
    "authority",
    "confirmed_at",
    "confirmed_by_id",
    "replaces_id",
    "replaces_version",
    "contradicts_id",
    "spot_check",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Step:
    """What the change did to one memory, as rows of history; `before` None or a deletion: it was not there."""

    memory_id: int
    before: Any
    after: Any
    is_latest: bool

    @property
    def removes(self) -> bool:
        return self.before is None or self.before.history_type == "-"

    @property
    def gives_key_back(self) -> bool:
        """Whoever is to hold a key again comes after whoever gives it up."""
        return not self.removes and self.before.status in HOLDING_KEYS

    @property
    def was_a_persons(self) -> bool:
        return self.after.actor_kind in PERSON_KINDS


@verb
def undo(
    *, project: Project, memory_id: int, by: Actor, version: int | None = None, reason: str = ""
) -> Memory | None:
    """Make the memory, and whatever its last change touched, what they were before that change.

    None where its coming was taken back: it is deleted then, with a tombstone. To undo an undo is to redo. What
    a person takes back from a machine has that person's authority; an agent takes back what its own key did.
    Raises Memory.DoesNotExist, NothingToUndo, PartnerChanged when another memory of the change was changed
    since, StaleMemory, KeyTaken, ContentTaken, GuardRefused, PersonRequired.
    """
    lock(project)
    current = Memory.objects.of(project).filter(pk=memory_id).first()
    if current is not None and version is not None and current.version != version:
        current.project = project
        raise StaleMemory(current)
    steps = _last_change(project, memory_id)
    if not steps:
        if current is None and not versions_of(project, memory_id).exists():
            raise Memory.DoesNotExist
        raise NothingToUndo(memory_id)
    if not _may_undo(steps, by=by):
        raise PersonRequired
    for step in steps:
        if not step.is_latest:
            raise PartnerChanged(memory_id, step.memory_id)
    stands_behind = by.is_person and not any(step.was_a_persons for step in steps)
    result = None
    for step in sorted(steps, key=lambda step: step.gives_key_back):
        memory = _take_back(project, step, by=by, reason=reason, stands_behind=stands_behind)
        if step.memory_id == memory_id:
            result = memory
    return result


def can_undo(*, project: Project, memory_id: int, by: Actor) -> bool:
    """Whether `undo` would find something that this actor may take back now."""
    steps = _last_change(project, memory_id)
    return bool(steps) and _may_undo(steps, by=by) and all(step.is_latest for step in steps)


def _last_change(project: Project, memory_id: int) -> list[_Step]:
    """What the memory's last change did, memory by memory; nothing where there is none, or none to take back."""
    last = _changes(project, memory_id).first()
    if last is None:
        return []
    if last.history_type == "-" and last.history_date < timezone.now() - UNDO_FOR:
        return []
    if last.change:
        rows = versions_of(project).filter(change=last.change).exclude(action__in=PASSED_OVER)
    elif last.action in _ALONE:
        rows = versions_of(project).filter(history_id=last.history_id)
    else:
        return []
    steps = list(_steps(project, rows))
    came_alone = len(steps) == 1 and steps[0].removes
    if came_alone and last.history_date < timezone.now() - UNDO_FOR:
        # What has been there for so long is deleted, not undone.
        return []
    return steps


def _steps(project: Project, rows: Any) -> Iterator[_Step]:
    by_memory: dict[int, list[Any]] = {}
    for row in rows.order_by("history_id"):
        by_memory.setdefault(row.id, []).append(row)
    for memory_id, (first, *rest) in by_memory.items():
        after = rest[-1] if rest else first
        before = versions_of(project, memory_id).filter(history_id__lt=first.history_id).first()
        latest = _changes(project, memory_id).values_list("history_id", flat=True).first()
        yield _Step(memory_id=memory_id, before=before, after=after, is_latest=latest == after.history_id)


def _changes(project: Project, memory_id: int) -> Any:
    return versions_of(project, memory_id).exclude(action__in=PASSED_OVER)


def _may_undo(steps: list[_Step], *, by: Actor) -> bool:
    if by.is_person:
        return True
    key = by.key.prefix if by.key else ""
    return all((step.after.actor_kind, step.after.actor_key) == (by.kind, key) for step in steps)


def _take_back(
    project: Project, step: _Step, *, by: Actor, reason: str, stands_behind: bool
) -> Memory | None:
    memory = Memory.objects.of(project).filter(pk=step.memory_id).first()
    if memory is None:
        memory = still_there(step.after.instance)
        memory.project = project
    else:
        memory.project = project
        respect(memory, by=by)
        if step.removes:
            tombstones.leave(memory, tombstones.Reason.DELETED)
            remove(memory, action="undo", by=by, reason=reason)
            return None
        _reverse(memory, step)
    respect(memory, by=by)
    held = Draft.of(memory).guarded()
    if stands_behind and memory.status in HOLDING_KEYS:
        memory.status_changed_by_person = True
        trust(memory, by=by)
        if memory.expires_at is not None and memory.expires_at <= timezone.now():
            memory.expires_at = None
    vouched_for = by.is_person and memory.status in HOLDING_KEYS
    withhold(memory, "" if vouched_for else held)
    was_gone = step.after.history_type == "-"
    save(memory, action="undo", by=by, reason=reason)
    tombstones.lift(project, memory.pk)
    if memory.status == Status.REJECTED:
        tombstones.leave(memory, tombstones.Reason.REJECTED)
    if was_gone:
        link_again(memory)
    return memory


def _reverse(memory: Memory, step: _Step) -> None:
    """Give back what the change took, field by field; what was written past it since stays."""
    before, after = step.before, step.after
    links = {field.attname: field for field in memory._meta.fields if isinstance(field, ForeignKey)}
    for name in _FIELDS:
        old = getattr(before, name)
        if old == getattr(after, name):
            continue
        link = links.get(name)
        if link and old and not link.related_model._base_manager.filter(pk=old).exists():
            old = None
        setattr(memory, name, old)
    stays = [entry for entry in before.evidence if entry not in after.evidence or entry in memory.evidence]
    came_since = [
        entry for entry in memory.evidence if entry not in after.evidence and entry not in before.evidence
    ]
    memory.evidence = [*stays, *came_since][-MAX_EVIDENCE:]
