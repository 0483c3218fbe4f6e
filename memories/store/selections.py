"""One verb for many memories: all of them, or none."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from django.db import transaction
from django.utils.translation import gettext as _

from memories.models import Memory
from memories.store.archiving import archive
from memories.store.errors import SelectionChanged, StoreError, TooManySelected
from memories.store.lifecycle import confirm, disable, enable, reject
from memories.store.locks import lock
from memories.store.removal import delete, restore
from memories.store.results import BulkResult
from memories.store.undo import undo
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memories.querysets import MemoryQuerySet
    from projects.actors import Actor
    from projects.models import Project

MAX_SELECTED = 500
ACTIONS: dict[str, Callable[..., Memory | None]] = {
    "enable": enable,
    "disable": disable,
    "confirm": confirm,
    "reject": reject,
    "delete": delete,
    "restore": restore,
    "archive": archive,
    "undo": undo,
}
# What takes an action back. A switch is switched again; a decision is undone as long as nothing came after it.
INVERSE = {
    "enable": "disable",
    "disable": "enable",
    "delete": "restore",
    "restore": "delete",
    "confirm": "undo",
    "reject": "undo",
    "archive": "undo",
    "undo": "undo",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Bulk:
    """`selection` stands for the memories and their versions before the change, `left` for those that it changed
    and their versions after it.
    """

    selection: str
    results: tuple[BulkResult, ...]
    left: str = ""

    def ids(self, outcome: str) -> list[int]:
        return [result.memory_id for result in self.results if result.outcome == outcome]


class _TakeBack(Exception):
    """A dry run ends."""


@atomic_retry
def bulk(
    *,
    project: Project,
    action: str,
    by: Actor,
    ids: Sequence[int] = (),
    among: MemoryQuerySet | None = None,
    selection: str = "",
    dry_run: bool = False,
    reason: str = "",
) -> Bulk:
    """Do `action` of ACTIONS to the memories `ids`, or to all of the queryset `among`, in one transaction.

    A dry run does it and takes it back, so it tells exactly what would happen. Given the `selection` of a dry
    run, nothing happens unless the memories are still what they were then. Raises SelectionChanged, also when
    one of them refuses the action, and TooManySelected.
    """
    version = project.memory_version
    try:
        with transaction.atomic():
            lock(project)
            versions = _versions(project, ids, among)
            done = Bulk(
                selection=_selection(versions),
                results=tuple(
                    _one(project, action, memory_id, versions, by, reason) for memory_id in versions
                ),
            )
            if selection and selection != done.selection:
                raise SelectionChanged
            if dry_run:
                raise _TakeBack
            if done.ids("refused"):
                raise SelectionChanged(done.results)
            left = _versions(project, done.ids("changed"), None)
            done = replace(done, left=_selection(left))
    except _TakeBack:
        project.memory_version = version
    return done


def _versions(project: Project, ids: Sequence[int], among: MemoryQuerySet | None) -> dict[int, int | None]:
    """The selected memories by id; None for one that is not there (it may have been deleted)."""
    if among is None:
        chosen: dict[int, int | None] = dict.fromkeys(sorted(set(ids)))
        if len(chosen) > MAX_SELECTED:
            raise TooManySelected(MAX_SELECTED)
        among = Memory.objects.filter(pk__in=list(chosen))
    else:
        chosen = {}
    found = among.of(project).order_by("pk").values_list("pk", "version")[: MAX_SELECTED + 1]
    chosen.update(found)
    if len(chosen) > MAX_SELECTED:
        raise TooManySelected(MAX_SELECTED)
    return chosen


def _selection(versions: dict[int, int | None]) -> str:
    return hashlib.sha256(repr(sorted(versions.items())).encode()).hexdigest()[:32]


def _one(
    project: Project, action: str, memory_id: int, versions: dict[int, int | None], by: Actor, reason: str
) -> BulkResult:
    if action == "undo" and _version(project, memory_id) != versions[memory_id]:
        # Another of the selection has taken it back with itself; once more would be to redo it.
        return BulkResult(memory_id=memory_id, outcome="changed")
    try:
        with transaction.atomic():
            after = ACTIONS[action](project=project, memory_id=memory_id, by=by, reason=reason)
    except StoreError as error:
        return BulkResult(memory_id=memory_id, outcome="refused", code=error.code, message=error.message)
    except Memory.DoesNotExist:
        return BulkResult(
            memory_id=memory_id, outcome="refused", code="not_found", message=_("There is no such memory.")
        )
    same = after is not None and after.version == versions[memory_id]
    return BulkResult(memory_id=memory_id, outcome="unchanged" if same else "changed")


def _version(project: Project, memory_id: int) -> int | None:
    return Memory.objects.of(project).filter(pk=memory_id).values_list("version", flat=True).first()
