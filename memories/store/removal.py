"""Deleting with a way back, purging without one, and forgetting where a memory came from."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from memories import guard
from memories.models import Candidate, Change, Extraction, Memory, RecallBlock, RecallItem, Status
from memories.store import tombstones
from memories.store.errors import WrongStatus
from memories.store.writing import load, lock, save, trust
from projects import audit
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Collection

    from projects.actors import Actor
    from projects.models import Project

UNDO_FOR = timedelta(days=30)


@atomic_retry
def delete(
    *, project: Project, memory_id: int, by: Actor, version: int | None = None, reason: str = ""
) -> None:
    """Remove the row and leave a tombstone. `restore` brings it back within UNDO_FOR."""
    lock(project)
    memory = load(project, memory_id, version=version)
    tombstones.leave(memory, tombstones.Reason.DELETED)
    _remove(memory, action="delete", by=by, reason=reason)


@atomic_retry
def restore(*, project: Project, memory_id: int, by: Actor, reason: str = "") -> Memory:
    """Bring back a deleted, archived or rejected memory, in force, with its id.

    Raises Memory.DoesNotExist when nothing of it is left, WrongStatus when it is not gone, KeyTaken or
    ContentTaken when another memory took its place, GuardRefused.
    """
    lock(project)
    memory = Memory.objects.of(project).filter(pk=memory_id).first()
    if memory is None:
        memory = _from_history(project, memory_id)
    elif memory.status not in (Status.ARCHIVED, Status.REJECTED):
        raise WrongStatus(memory)
    memory.project = project
    memory.withheld = any(f.certainty == "hold" for f in guard.inspect(memory.content)) and not by.is_person
    memory.status = Status.ACTIVE
    memory.status_changed_by_person = by.is_person
    if by.is_person:
        trust(memory, by=by)
    save(memory, action="restore", by=by, reason=reason)
    tombstones.lift(project, memory_id)
    return memory


@atomic_retry
def purge(*, project: Project, memory_id: int, by: Actor, reason: str = "") -> None:
    """Remove every copy of a memory for good: row, history, candidates, raw outputs, blocks. No undo.

    Works on a memory that was deleted before, too. Raises Memory.DoesNotExist when nothing of it is left.
    """
    lock(project)
    memory = Memory.objects.of(project).filter(pk=memory_id).first() or _from_history(project, memory_id)
    memory.project = project
    tombstones.lift(project, memory_id)
    tombstones.leave(memory, tombstones.Reason.PURGED)
    candidates = Candidate.objects.filter(extraction__project=project, memory_id=memory_id)
    runs = set(candidates.values_list("extraction_id", flat=True)) | {memory.extraction_id}
    Extraction.objects.filter(project=project, pk__in=runs - {None}).update(raw_output="")
    candidates.update(content="", quote="", key="")
    given = RecallItem.objects.filter(memory_id=memory_id, recall__project=project)
    blocks = set(given.exclude(recall__block=None).values_list("recall__block_id", flat=True))
    RecallBlock.objects.filter(project=project, pk__in=blocks).delete()
    if Memory.objects.filter(pk=memory_id).exists():
        _remove(memory, action="purge", by=by, reason=reason)
    else:
        _record(memory, action="purge", by=by, reason=reason)
    _history().filter(id=memory_id, project_id=project.pk).delete()


@atomic_retry
def forget_sources(*, project: Project, chat_ids: Collection[int], by: Actor) -> int:
    """Before chats are deleted: empty the sources of their memories and take the quotes along, history included.

    The memories themselves stay. Returns how many changed.
    """
    lock(project)
    chats = set(chat_ids)
    Candidate.objects.filter(extraction__project=project, chat_id__in=chats).update(quote="", chat=None)
    changed = 0
    for memory in Memory.objects.of(project).filter(source_chat_id__in=chats):
        memory.project = project
        memory.source_chat = memory.source_topic = None
        memory.evidence = _without(memory.evidence, chats)
        save(memory, action="forget_source", by=by)
        changed += 1
    # A merge may have brought a quote of these chats to a memory that came from elsewhere.
    for memory in Memory.objects.of(project).exclude(evidence=[]):
        if len(kept := _without(memory.evidence, chats)) != len(memory.evidence):
            memory.project = project
            memory.evidence = kept
            save(memory, action="forget_source", by=by)
            changed += 1
    for version in _history().filter(project_id=project.pk).exclude(evidence=[]):
        if len(kept := _without(version.evidence, chats)) != len(version.evidence):
            version.evidence = kept
            version.save(update_fields=["evidence"])
    _history().filter(project_id=project.pk, source_chat_id__in=chats).update(source_chat=None, source_topic=None)
    return changed


def _without(evidence: list[dict[str, Any]], chats: set[int]) -> list[dict[str, Any]]:
    return [entry for entry in evidence if entry["chat"] not in chats]


def _remove(memory: Memory, *, action: str, by: Actor, reason: str) -> None:
    memory_id = memory.pk
    memory._change = Change(action=action, by=by, reason=guard.mask(reason))
    memory.delete()
    memory.pk = memory_id  # Django empties it; the audit still names it.
    _record(memory, action=action, by=by, reason=reason)


def _record(memory: Memory, *, action: str, by: Actor, reason: str) -> None:
    audit.record(
        f"memory.{action}",
        by=by,
        project=memory.project,
        target_type="memory",
        target_id=memory.pk,
        target_key="" if action == "purge" else memory.key,
        reason=guard.mask(reason),
    )


def _from_history(project: Project, memory_id: int) -> Memory:
    """The memory as it was when it was deleted, not yet saved."""
    last = (
        _history()
        .filter(project_id=project.pk, id=memory_id, history_type="-", history_date__gte=timezone.now() - UNDO_FOR)
        .order_by("-history_id")
        .first()
    )
    if last is None:
        raise Memory.DoesNotExist
    memory: Memory = last.instance
    return memory


def _history() -> Any:
    return Memory.history.model.objects  # type: ignore[attr-defined]
