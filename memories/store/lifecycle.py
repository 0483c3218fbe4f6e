"""What becomes of a memory that exists: confirm, reject, edit, enable, disable."""

from __future__ import annotations

from dataclasses import replace as with_changes
from typing import TYPE_CHECKING, Any

from memories.models import Memory, Status
from memories.store import tombstones
from memories.store.changes import verb
from memories.store.drafts import Draft
from memories.store.errors import PersonRequired, ProposalDecided, TargetChanged, WrongStatus
from memories.store.keys import suffixed
from memories.store.locks import lock
from memories.store.writing import load, respect, save, supersede, trust, withhold
from memories.trust import AUTOMATIC_MAX_IMPORTANCE, needs_review

if TYPE_CHECKING:
    from collections.abc import Mapping

    from projects.actors import Actor
    from projects.models import Project

# What `edit` may change; everything else of a memory is decided by the store.
EDITABLE = ("type", "key", "content", "importance", "always", "keywords", "files", "area", "expires_at")


@verb
def confirm(
    *,
    project: Project,
    memory_id: int,
    by: Actor,
    version: int | None = None,
    target_version: int | None = None,
    changes: Mapping[str, Any] | None = None,
    reason: str = "",
) -> Memory:
    """Put a proposal in force with a person's authority; what it replaces becomes superseded.

    `changes` are made first (see `edit`), and go back with the confirmation.
    An active memory that the guard withholds is recalled again, one that was drawn for a look is a person's from
    now on. Raises ProposalDecided if somebody was quicker, TargetChanged if what it would replace is neither what it
    was when this was proposed nor the `target_version` that the person has seen, KeyTaken if another memory took its
    key, GuardRefused, PersonRequired.
    """
    _require_person(by)
    lock(project)
    memory = load(project, memory_id, version=version)
    is_proposal = memory.status == Status.PROPOSED
    if not is_proposal and not (memory.status == Status.ACTIVE and (memory.withheld or memory.spot_check)):
        raise ProposalDecided(memory)
    if changes:
        memory = edit(project=project, memory_id=memory_id, changes=changes, by=by, reason=reason)
    Draft.of(memory).guarded()
    target = memory.replaces if is_proposal else None
    if target is not None and target.status in (Status.ACTIVE, Status.DISABLED):
        if target.version != (target_version or memory.replaces_version):
            raise TargetChanged(memory, target)
        supersede(target, by=by, reason=reason)
        if suffixed(memory.key, target.key):
            # The proposal waited under `key-2` because the one it replaces held the key.
            memory.key = target.key
    memory.status = Status.ACTIVE
    memory.status_changed_by_person = True
    withhold(memory, "")
    trust(memory, by=by)
    save(memory, action="confirm", by=by, reason=reason)
    return memory


@verb
def reject(
    *, project: Project, memory_id: int, by: Actor, version: int | None = None, reason: str = ""
) -> Memory:
    """Turn a proposal down, or what was drawn for a look; its tombstone keeps it from being proposed again.

    Raises ProposalDecided, PersonRequired.
    """
    _require_person(by)
    lock(project)
    memory = load(project, memory_id, version=version)
    if memory.status != Status.PROPOSED and not memory.spot_check:
        raise ProposalDecided(memory)
    memory.status = Status.REJECTED
    memory.status_changed_by_person = True
    save(memory, action="reject", by=by, reason=reason)
    tombstones.leave(memory, tombstones.Reason.REJECTED)
    return memory


@verb
def edit(
    *,
    project: Project,
    memory_id: int,
    changes: Mapping[str, Any],
    by: Actor,
    version: int | None = None,
    reason: str = "",
) -> Memory:
    """Change fields of EDITABLE; an edit by a person gives the memory a person's authority.

    What an agent changed waits for a person where the guard or the review policy says so. Nothing to change
    writes nothing. Raises StaleMemory, InvalidMemory, GuardRefused, KeyTaken, ContentTaken, PersonRequired;
    WrongStatus for a memory that is history. Unknown fields are a programming error.
    """
    if unknown := set(changes) - set(EDITABLE):
        raise TypeError(f"not editable: {sorted(unknown)}")
    lock(project)
    memory = load(project, memory_id, version=version)
    if memory.status not in (Status.PROPOSED, Status.ACTIVE, Status.DISABLED):
        raise WrongStatus(memory)
    respect(memory, by=by)
    old = Draft.of(memory)
    wanted: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in changes.items()
    }
    draft = with_changes(old, **wanted).checked()
    draft = with_changes(draft, key=draft.key or memory.key)
    if not by.is_person:
        draft = with_changes(draft, importance=min(draft.importance, AUTOMATIC_MAX_IMPORTANCE))
    if draft == old:
        return memory
    held = draft.guarded()
    withhold(memory, "" if by.is_person else held)
    for name in EDITABLE:
        value = getattr(draft, name)
        setattr(memory, name, list(value) if isinstance(value, tuple) else value)
    if by.is_person:
        trust(memory, by=by)
    elif memory.status == Status.ACTIVE and (
        held
        or needs_review(project.review_policy, type=draft.type, importance=draft.importance, replaces=False)
    ):
        memory.status = Status.PROPOSED
    save(memory, action="edit", by=by, reason=reason)
    return memory


@verb
def disable(
    *, project: Project, memory_id: int, by: Actor, version: int | None = None, reason: str = ""
) -> Memory:
    """Hide an active memory from recall. It keeps key and content, so it does not come back by itself."""
    return _switch(
        project,
        memory_id,
        Status.ACTIVE,
        Status.DISABLED,
        action="disable",
        by=by,
        version=version,
        reason=reason,
    )


@verb
def enable(
    *, project: Project, memory_id: int, by: Actor, version: int | None = None, reason: str = ""
) -> Memory:
    """Put a disabled memory in force again; the guard looks at it once more. Raises GuardRefused."""
    return _switch(
        project,
        memory_id,
        Status.DISABLED,
        Status.ACTIVE,
        action="enable",
        by=by,
        version=version,
        reason=reason,
    )


def _switch(
    project: Project,
    memory_id: int,
    before: Status,
    after: Status,
    *,
    action: str,
    by: Actor,
    version: int | None,
    reason: str,
) -> Memory:
    lock(project)
    memory = load(project, memory_id, version=version)
    if memory.status == after:
        return memory
    if memory.status != before:
        raise WrongStatus(memory)
    respect(memory, by=by)
    if after == Status.ACTIVE:
        held = Draft.of(memory).guarded()
        withhold(memory, "" if by.is_person else held)
    memory.status = after
    memory.status_changed_by_person = by.is_person
    if by.is_person:
        trust(memory, by=by)
    save(memory, action=action, by=by, reason=reason)
    return memory


def _require_person(by: Actor) -> None:
    if not by.is_person:
        raise PersonRequired
