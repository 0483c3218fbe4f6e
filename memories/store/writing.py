"""Bringing memories into being: the verbs that make or join them, and the primitives in which every verb ends."""

from __future__ import annotations

from dataclasses import replace as with_changes
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, transaction
from django.utils import timezone

from memories import guard
from memories.dedupe import Relation, content_hash
from memories.explicit import derive_key
from memories.models import (
    LIVE_FOR_KEYS,
    Authority,
    Change,
    Memory,
    Source,
    Status,
)
from memories.recall.render import line_tokens
from memories.store import changes, tombstones
from memories.store.changes import verb
from memories.store.drafts import Draft
from memories.store.errors import (
    ContentTaken,
    KeyTaken,
    PersonRequired,
    StaleMemory,
    WrongStatus,
)
from memories.store.keys import free_key
from memories.store.locks import lock
from memories.store.relatives import related
from memories.trust import AUTOMATIC_MAX_IMPORTANCE, is_drawn, needs_review
from projects import audit
from projects.models import Project

if TYPE_CHECKING:
    from memories.store.drafts import Evidence
    from projects.actors import Actor

MAX_EVIDENCE = 10


def load(project: Project, memory_id: int, *, version: int | None = None) -> Memory:
    """The memory as it is now; call `lock` before. Raises Memory.DoesNotExist, or StaleMemory."""
    memory: Memory = Memory.objects.of(project).get(pk=memory_id)
    memory.project = project
    if version is not None and memory.version != version:
        raise StaleMemory(memory)
    return memory


def respect(memory: Memory, *, by: Actor) -> None:
    """Automatic writers leave a person's memory as it is. Raises PersonRequired."""
    if memory.authority == Authority.PERSON and not by.is_person:
        raise PersonRequired


@verb
def add(
    *, project: Project, draft: Draft, source: Source, by: Actor, only_propose: bool = False, reason: str = ""
) -> Memory:
    """A new memory in force at once: written by a person, or by an agent whose key may write.

    What an agent writes is automatic, at most of importance 4, and waits for a person where the review policy
    says so, where it contradicts what is live, where another memory of its key was deleted or rejected, and with
    `only_propose`. What was itself deleted or rejected comes back neither by an agent nor with an import. Raises
    InvalidMemory, GuardRefused, Tombstoned, KeyTaken, ContentTaken (near-duplicates count).
    """
    lock(project)
    if by.is_person:
        if source == Source.IMPORTED:
            tombstones.heed(project, draft)
        return create(project=project, draft=draft, source=source, status=Status.ACTIVE, by=by, reason=reason)
    draft = with_changes(draft.checked(), importance=min(draft.importance, AUTOMATIC_MAX_IMPORTANCE))
    draft.guarded()
    relations = list(related(project, draft.content))
    for memory, relation in relations:
        if relation in (Relation.SAME, Relation.NEAR):
            raise ContentTaken(memory)
    met = tombstones.heed(project, draft)
    contradicted = next((memory for memory, _relation in relations if memory.status != Status.PROPOSED), None)
    waits = (
        only_propose
        or contradicted is not None
        or met is not None
        or needs_review(project.review_policy, type=draft.type, importance=draft.importance, replaces=False)
    )
    if waits and draft.key and (rival := Memory.objects.of(project).proposed().filter(key=draft.key).first()):
        raise KeyTaken(rival)
    return create(
        project=project,
        draft=draft,
        source=source,
        status=Status.PROPOSED if waits else Status.ACTIVE,
        by=by,
        reason=reason,
        contradicts=contradicted,
        key_may_change=waits,
    )


@verb
def propose(
    *,
    project: Project,
    draft: Draft,
    source: Source,
    by: Actor,
    status: Status = Status.PROPOSED,
    replaces: Memory | None = None,
    contradicts: Memory | None = None,
    reason: str = "",
) -> Memory:
    """A new memory that no person wrote. It waits for review, or is in force if the caller's rules say so.

    What is imported and was deleted or rejected here is Tombstoned; under the key of such a memory it waits. Raises
    InvalidMemory, GuardRefused, ContentTaken; a taken key gets a suffix.
    """
    lock(project)
    if source == Source.IMPORTED and tombstones.heed(project, draft) is not None:
        status = Status.PROPOSED
    if not by.is_person:
        draft = with_changes(draft, importance=min(draft.importance, AUTOMATIC_MAX_IMPORTANCE))
    return create(
        project=project,
        draft=draft,
        source=source,
        status=status,
        by=by,
        reason=reason,
        replaces=replaces,
        contradicts=contradicts,
        key_may_change=True,
    )


@verb
def replace(
    *, project: Project, target: Memory, draft: Draft, source: Source, by: Actor, reason: str = ""
) -> Memory:
    """A new memory in force in the place of `target`, which becomes superseded and keeps its history.

    The new one takes over key, scope and tier unless the draft says otherwise. If the guard holds it for a
    person, it is proposed, and `target` stays in force until then. Raises StaleMemory when `target` changed since
    the caller read it, WrongStatus when it is no longer in force, PersonRequired.
    """
    lock(project)
    old = load(project, target.pk, version=target.version)
    respect(old, by=by)
    if old.status not in (Status.ACTIVE, Status.DISABLED):
        raise WrongStatus(old)
    inherited = with_changes(
        draft,
        key=draft.key or old.key,
        files=draft.files or tuple(old.files),
        keywords=draft.keywords or tuple(old.keywords),
        area=draft.area or old.area,
        always=draft.always or old.always,
    ).checked()
    waits = inherited.guarded()
    if not waits:
        supersede(old, by=by, reason=reason)
    return create(
        project=project,
        draft=inherited,
        source=source,
        status=Status.ACTIVE,
        by=by,
        reason=reason,
        replaces=old,
        key_may_change=True,
    )


@verb
def add_evidence(*, project: Project, memory: Memory, evidence: Evidence, by: Actor) -> Memory:
    """One more quote for a memory that already says it. The same quote of the same turn counts once."""
    lock(project)
    current = load(project, memory.pk)
    entry = evidence.as_json()
    if any((old["quote"], old["chat"]) == (entry["quote"], entry["chat"]) for old in current.evidence):
        return current
    current.evidence = [*current.evidence, entry][-MAX_EVIDENCE:]
    save(current, action="add_evidence", by=by)
    return current


@verb
def merge(*, project: Project, memory_id: int, into_id: int, by: Actor, reason: str = "") -> Memory:
    """Fold one memory into another that says the same: its evidence moves, it becomes superseded.

    Raises WrongStatus, PersonRequired, GuardRefused for what the one that stays says.
    """
    lock(project)
    source, target = load(project, memory_id), load(project, into_id)
    respect(source, by=by)
    respect(target, by=by)
    if source.status not in (Status.PROPOSED, Status.ACTIVE, Status.DISABLED):
        raise WrongStatus(source)
    if source.pk == target.pk or target.status not in (Status.ACTIVE, Status.DISABLED):
        raise WrongStatus(target)
    held = Draft.of(target).guarded()
    target.evidence = [*target.evidence, *source.evidence][-MAX_EVIDENCE:]
    withhold(target, "" if by.is_person else held)
    if by.is_person:
        trust(target, by=by)
    supersede(source, by=by, reason=reason)
    save(target, action="merge", by=by, reason=reason)
    return target


def create(
    *,
    project: Project,
    draft: Draft,
    source: Source,
    status: Status,
    by: Actor,
    reason: str = "",
    replaces: Memory | None = None,
    contradicts: Memory | None = None,
    key_may_change: bool = False,
) -> Memory:
    """Insert a checked and guarded memory; the project is locked already.

    At most one proposal is open for a key and for a memory's place: the later one goes by another key, and takes
    the earlier one's turn.
    """
    draft = draft.checked()
    held = draft.guarded()
    waits = held or status == Status.PROPOSED
    if waits and replaces is not None:
        _withdraw_proposals(project, replaces, by=by, reason=reason)
    holders: tuple[Status, ...] = LIVE_FOR_KEYS if key_may_change or not draft.key else ()
    holders += (Status.PROPOSED,) if waits else ()
    now = timezone.now()
    memory = Memory(
        project=project,
        type=draft.type,
        key=draft.key or derive_key(draft.content),
        content=draft.content,
        importance=draft.importance,
        always=draft.always,
        keywords=list(draft.keywords),
        files=list(draft.files),
        area=draft.area,
        source=source,
        authority=Authority.PERSON if by.is_person else Authority.AUTOMATIC,
        status=Status.PROPOSED if waits else status,
        evidence=[item.as_json() for item in draft.evidence][:MAX_EVIDENCE],
        said_at=draft.said_at or now,
        source_topic_id=draft.topic_id,
        source_chat_id=draft.chat_id,
        extraction_id=draft.extraction_id,
        created_at=now,
        created_by=by.user,
        expires_at=draft.expires_at,
        replaces=replaces,
        replaces_version=replaces.version if replaces else None,
        contradicts=contradicts,
    )
    withhold(memory, held)
    memory.spot_check = (
        not by.is_person
        and memory.status == Status.ACTIVE
        and is_drawn(project.pk, content_hash(memory.content), share=settings.SPOT_CHECK_SHARE)
    )
    memory.key = free_key(project, memory.key, held_by=holders)
    save(memory, action="create", by=by, reason=reason)
    return memory


def supersede(memory: Memory, *, by: Actor, reason: str = "") -> None:
    """Something newer took its place; the project is locked already."""
    memory.status = Status.SUPERSEDED
    memory.status_changed_by_person = by.is_person
    save(memory, action="supersede", by=by, reason=reason)


def _withdraw_proposals(project: Project, target: Memory, *, by: Actor, reason: str) -> None:
    """Supersede what waits to replace `target`, as far as the newer word may: no machine's takes a person's away,
    no stranger's a member's.
    """
    for old in Memory.objects.of(project).proposed().filter(replaces=target).order_by("pk"):
        is_persons = old.authority == Authority.PERSON
        if (is_persons and not by.is_person) or (old.created_by_id is not None and by.user is None):
            continue
        old.project = project
        supersede(old, by=by, reason=reason)


def withhold(memory: Memory, code: str) -> None:
    """Write the guard's verdict down: with a `code`, the memory is kept from recall until a person looked at it.

    It was given under the rules as they are now, so quotes that were taken before are masked by these, too.
    """
    memory.withheld = bool(code)
    memory.withheld_for = code
    memory.guard_version = guard.GUARD_VERSION
    memory.evidence = [entry | {"quote": guard.mask(entry["quote"])} for entry in memory.evidence]


def trust(memory: Memory, *, by: Actor) -> None:
    """A person stands behind the memory from now on."""
    memory.authority = Authority.PERSON
    memory.confirmed_at = timezone.now()
    memory.spot_check = False
    # A stranger's word for it does not take a member's away.
    memory.confirmed_by = by.user or memory.confirmed_by


def save(memory: Memory, *, action: str, by: Actor, reason: str = "") -> None:
    """Write the row, its history and its audit event; the project is locked already.

    The two uniqueness rules live in the database: their IntegrityError becomes KeyTaken or ContentTaken here
    and nowhere else.
    """
    is_new = memory.pk is None
    reason = guard.mask(reason)
    memory.content_hash = content_hash(memory.content)
    memory.updated_at = timezone.now()
    memory.updated_by = by.user
    memory.spot_check = memory.spot_check and memory.status == Status.ACTIVE
    if is_new:
        memory.tokens = 0
    else:
        memory.version += 1
        memory.tokens = _tokens(memory)
    memory._change = Change(action=action, by=by, reason=reason, token=changes.token())
    try:
        with transaction.atomic():
            memory.save()
    except IntegrityError as error:
        raise _taken(memory, error) from error
    finally:
        memory._change = None
    if is_new:
        # The line names the memory by its id, which the insert has just given.
        memory.tokens = _tokens(memory)
        Memory.objects.filter(pk=memory.pk).update(tokens=memory.tokens)
    audit.record(
        f"memory.{action}",
        by=by,
        project=memory.project,
        target_type="memory",
        target_id=memory.pk,
        target_key=guard.mask(memory.key),
        reason=reason,
    )


def _tokens(memory: Memory) -> int:
    return line_tokens(
        type=memory.type,
        id=memory.pk,
        said_on=memory.said_at.date(),
        content=memory.content,
        files=tuple(memory.files),
    )


def _taken(memory: Memory, error: IntegrityError) -> Exception:
    """The rule that was broken, named by constraint (MySQL) or columns (SQLite)."""
    text = str(error)
    others: Any = Memory.objects.of(memory.project).exclude(pk=memory.pk)
    if "memories_one_live_per_key" in text or "key_live" in text:
        return KeyTaken(others.holding_key(memory.key).get())
    if "memories_one_live_per_content" in text or "hash_live" in text:
        return ContentTaken(others.live().get(content_hash=memory.content_hash))
    return error
