"""Putting memories away: by hand, or because nobody needs them any more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.models import Memory, Status
from memories.store.changes import verb
from memories.store.errors import WrongStatus
from memories.store.writing import load, lock, respect, save

if TYPE_CHECKING:
    from projects.actors import Actor
    from projects.models import Project


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
    memory.status = Status.ARCHIVED
    memory.status_changed_by_person = by.is_person
    save(memory, action="archive", by=by, reason=reason)
    return memory
