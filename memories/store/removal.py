"""Deleting with a way back, purging without one, and forgetting where a memory came from."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Exists, ForeignKey, OuterRef, Q, TextField
from django.db.models.functions import Cast
from django.utils import timezone

from memories import guard
from memories.models import Candidate, Change, Extraction, Memory, Recall, RecallBlock, RecallItem, Status
from memories.store import changes, tombstones
from memories.store.changes import verb
from memories.store.drafts import Draft
from memories.store.errors import PersonRequired, WrongStatus
from memories.store.keys import suffixed
from memories.store.locks import lock
from memories.store.writing import load, respect, save, supersede, trust, withhold
from projects import audit
from projects.actors import PERSON_KINDS
from projects.transactions import atomic_retry, delete_whole

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator
    from datetime import datetime

    from django.db.models import QuerySet

    from projects.actors import Actor
    from projects.models import Project

UNDO_FOR = timedelta(days=30)
FORGOTTEN_AT_ONCE = 500


@verb
def delete(
    *, project: Project, memory_id: int, by: Actor, version: int | None = None, reason: str = ""
) -> None:
    """Remove the row and leave a tombstone. `restore` brings it back within UNDO_FOR."""
    lock(project)
    memory = load(project, memory_id, version=version)
    respect(memory, by=by)
    tombstones.leave(memory, tombstones.Reason.DELETED)
    remove(memory, action="delete", by=by, reason=reason)


@verb
def restore(*, project: Project, memory_id: int, by: Actor, reason: str = "") -> Memory:
    """Bring back a deleted memory as it was, with its id; or an archived, rejected or superseded one, in force.

    What had replaced it, and what it had replaced or was to replace, is superseded in turn. An agent brings back
    only what an agent deleted. Raises Memory.DoesNotExist when nothing of it is left,
    WrongStatus when it is not gone, KeyTaken or ContentTaken when another memory took its place,
    GuardRefused, PersonRequired.
    """
    lock(project)
    memory = Memory.objects.of(project).filter(pk=memory_id).first()
    if memory is None:
        memory, by_person = _deleted(project, memory_id, within=UNDO_FOR)
        if by_person and not by.is_person:
            raise PersonRequired
    elif memory.status not in (Status.ARCHIVED, Status.REJECTED, Status.SUPERSEDED):
        raise WrongStatus(memory)
    elif not by.is_person:
        raise PersonRequired
    else:
        _push_out_rivals(project, memory, by=by, reason=reason)
        memory.status = Status.ACTIVE
    respect(memory, by=by)
    memory.project = project
    held = Draft.of(memory).guarded()
    if by.is_person and memory.status != Status.PROPOSED:
        withhold(memory, "")
        trust(memory, by=by)
    else:
        withhold(memory, held)
    if memory.expires_at is not None and memory.expires_at <= timezone.now():
        # Whoever wants it back wants it to hold.
        memory.expires_at = None
    memory.status_changed_by_person = by.is_person
    save(memory, action="restore", by=by, reason=reason)
    tombstones.lift(project, memory_id)
    link_again(memory)
    return memory


@verb
def purge(*, project: Project, memory_id: int, by: Actor, reason: str = "") -> None:
    """Remove every copy of a memory for good: row, history, candidates, raw outputs, blocks, its quotes wherever
    they went, its key and the reasons given for it in the trail. No undo.

    The turns in which it was said keep what was said. Works on a memory that was deleted before, too. Raises
    Memory.DoesNotExist when nothing of it is left.
    """
    lock(project)
    row = Memory.objects.of(project).filter(pk=memory_id).first()
    memory = row or _deleted(project, memory_id)[0]
    memory.project = project
    tombstones.lift(project, memory_id)
    tombstones.leave(memory, tombstones.Reason.PURGED)
    candidates = _candidates(project, memory_id)
    runs = {*candidates.values_list("extraction_id", flat=True), memory.extraction_id or 0}
    Extraction.objects.filter(project=project, pk__in=runs).update(raw_output="")
    Candidate.objects.filter(pk__in=list(candidates.values_list("pk", flat=True))).update(
        content="", quote="", key=""
    )
    given = RecallItem.objects.filter(memory_id=memory_id, recall__project=project)
    blocks = set(given.exclude(recall__block=None).values_list("recall__block_id", flat=True))
    RecallBlock.objects.filter(project=project, pk__in=blocks).delete()
    _forget_omission(project, memory_id)
    _forget_quotes(project, memory_id)
    audit.forget_target(project, target_type="memory", target_id=memory_id)
    if row is not None:
        remove(memory, action="purge", by=by, reason=reason)
    else:
        _record(memory, action="purge", by=by, reason=reason)
    _history().filter(id=memory_id, project_id=project.pk).delete()


@verb
def forget_sources(*, project: Project, chat_ids: Collection[int], by: Actor) -> int:
    """Before chats are deleted: empty the sources of their memories and take the quotes along.

    History loses the quotes, too; the memories themselves stay. Returns how many changed.
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
    _history().filter(project_id=project.pk, source_chat_id__in=chats).update(
        source_chat=None, source_topic=None
    )
    return changed


def gone_before(before: datetime) -> QuerySet[Any]:
    """The deletions from before a time whose memories did not come back."""
    later = _history().filter(id=OuterRef("id"), history_date__gte=before)
    found: QuerySet[Any] = _history().filter(
        ~Exists(Memory.objects.filter(pk=OuterRef("id"))),
        ~Exists(later),
        history_type="-",
        history_date__lt=before,
    )
    return found.order_by("history_date")


def forget_gone(before: datetime) -> Iterator[int]:
    """Remove the history of what was deleted before a time, some memories at a time; how many each time."""
    while ids := list(dict.fromkeys(gone_before(before).values_list("id", flat=True)[:FORGOTTEN_AT_ONCE])):
        _forget(ids, before)
        yield len(ids)


@atomic_retry
def _forget(ids: list[int], before: datetime) -> None:
    versions = _history().filter(id__in=ids, history_date__lt=before)
    versions._raw_delete(versions.db)


def _push_out_rivals(project: Project, memory: Memory, *, by: Actor, reason: str) -> None:
    """Supersede what is in force at the other end of a replacement of `memory`."""
    rivals = Memory.objects.of(project).filter(Q(replaces=memory) | Q(pk=memory.replaces_id))
    for rival in rivals.holding_keys().order_by("pk"):
        rival.project = project
        supersede(rival, by=by, reason=reason)
        if rival.pk == memory.replaces_id and suffixed(memory.key, rival.key):
            # A proposal that waited for the key, as in `confirm`.
            memory.key = rival.key


def _forget_omission(project: Project, memory_id: int) -> None:
    """No trace tells any more that it was left out."""
    told = Recall.objects.filter(project=project).annotate(told=Cast("omitted", TextField()))
    for recall in told.filter(told__contains=f'"id": {memory_id},').only("omitted"):
        recall.omitted = [entry for entry in recall.omitted if entry["id"] != memory_id]
        recall.save(update_fields=["omitted"])


def _forget_quotes(project: Project, memory_id: int) -> None:
    """A merge took its quotes to another memory, and one sentence may speak of two: the quotes go there, too."""
    quotes = {
        entry["quote"]
        for evidence in versions_of(project, memory_id).values_list("evidence", flat=True)
        for entry in evidence
    }
    if not quotes:
        return
    others = Memory.objects.of(project).exclude(evidence=[]), versions_of(project).exclude(evidence=[])
    for rows in others:
        # Rows of history, too: no version of another memory is made, it says what it said.
        for row in rows.exclude(**{"pk" if rows.model is Memory else "id": memory_id}).only("evidence"):
            kept = [entry for entry in row.evidence if entry["quote"] not in quotes]
            if len(kept) != len(row.evidence):
                rows.model.objects.filter(pk=row.pk).update(evidence=kept)


def _without(evidence: list[dict[str, Any]], chats: set[int]) -> list[dict[str, Any]]:
    return [entry for entry in evidence if entry["chat"] not in chats]


def remove(memory: Memory, *, action: str, by: Actor, reason: str) -> None:
    """Take the row away; history and audit tell of it. The project is locked already."""
    memory_id = memory.pk
    memory._change = Change(action=action, by=by, reason=guard.mask(reason), token=changes.token())
    delete_whole(memory)
    memory.pk = memory_id  # Django empties it; the audit still names it.
    _record(memory, action=action, by=by, reason=reason)


def _record(memory: Memory, *, action: str, by: Actor, reason: str) -> None:
    audit.record(
        f"memory.{action}",
        by=by,
        project=memory.project,
        target_type="memory",
        target_id=memory.pk,
        target_key="" if action == "purge" else guard.mask(memory.key),
        reason=guard.mask(reason),
    )


def _deleted(project: Project, memory_id: int, *, within: timedelta | None = None) -> tuple[Memory, bool]:
    """(the memory as it was when it was deleted, not yet saved; whether a person deleted it).

    What it referred to and is gone, too, it no longer refers to.
    """
    versions = versions_of(project, memory_id).filter(history_type="-")
    if within is not None:
        versions = versions.filter(history_date__gte=timezone.now() - within)
    last = versions.first()
    if last is None:
        raise Memory.DoesNotExist
    return still_there(last.instance), last.actor_kind in PERSON_KINDS


def still_there(memory: Memory) -> Memory:
    """A memory out of history, not yet saved, without references to what is gone since."""
    for field in memory._meta.concrete_fields:
        if not (field.null and isinstance(field, ForeignKey)):
            continue
        if not field.related_model._base_manager.filter(pk=getattr(memory, field.attname)).exists():
            setattr(memory, field.attname, None)
    return memory


def link_again(memory: Memory) -> None:
    """What referred to a memory that is back refers to it again, as its own latest version still says."""
    for link in ("replaces", "contradicts"):
        once = versions_of(memory.project).filter(**{f"{link}_id": memory.pk}).values("id")
        for other in Memory.objects.of(memory.project).filter(**{link: None}, pk__in=once):
            latest = versions_of(memory.project, other.pk).first()
            if latest is not None and getattr(latest, f"{link}_id") == memory.pk:
                Memory.objects.filter(pk=other.pk).update(**{link: memory})


def versions_of(project: Project, memory_id: int | None = None) -> Any:
    """Rows of history of one memory, or of all of the project, newest first."""
    found = _history().filter(project_id=project.pk)
    return (found if memory_id is None else found.filter(id=memory_id)).order_by("-history_id")


def _candidates(project: Project, memory_id: int) -> QuerySet[Candidate]:
    """What extractions proposed of it; of a deleted memory by its words alone, the link went with the row."""
    versions = list(_history().filter(project_id=project.pk, id=memory_id).values_list("content", "evidence"))
    contents = {content for content, _evidence in versions}
    quotes = {entry["quote"] for _content, evidence in versions for entry in evidence} - {""}
    return Candidate.objects.filter(
        Q(memory_id=memory_id) | Q(content__in=contents) | Q(quote__in=quotes), extraction__project=project
    )


def _history() -> Any:
    return Memory.history.model.objects  # type: ignore[attr-defined]
