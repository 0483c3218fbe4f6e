"""Forgetting who wrote, changed and confirmed memories; the memories stay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db.models import Q

from memories.models import Memory
from memories.store.changes import verb
from memories.store.locks import lock
from memories.store.removal import versions_of
from projects import audit

if TYPE_CHECKING:
    from collections.abc import Collection

    from projects.models import Project

_LINKS = ("created_by", "updated_by", "confirmed_by")


@verb
def forget_person(*, project: Project, user_ids: Collection[int] = (), names: Collection[str] = ()) -> int:
    """Take users, and an author of these names, out of the project's memories and their versions.

    No version of a memory is made: what it says and whose word it is (a person's) stays. Part of erasing a person,
    which is audited as a whole. How many memories were named after them.
    """
    lock(project)
    users = list(user_ids)
    versions = versions_of(project).order_by()
    named = versions.filter(Q(actor_kind="author", actor_name__in=list(names)) | Q(history_user__in=users))
    touched = set(named.values_list("id", flat=True))
    for link in _LINKS:
        of_users = Memory.objects.of(project).filter(**{f"{link}__in": users})
        touched |= set(of_users.order_by().values_list("pk", flat=True))
        of_users.update(**{link: None})
        versions.filter(**{f"{link}__in": users}).update(**{link: None})
    named.update(actor_name=audit.ERASED, history_user=None)
    return len(touched)
