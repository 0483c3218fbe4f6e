"""Rows for tests, made through the stores wherever one exists."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import Group, User

from memories import store as memory_store
from memories.models import Source
from projects import store
from projects.actors import Actor
from projects.models import Scope
from projects.querysets import SUPERADMINS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from memories.models import Memory
    from projects.models import ApiKey, Project

PROJECT_SCOPES = tuple(scope for scope in Scope.values if scope != Scope.PROJECTS)

_numbers = itertools.count(1)


def make_user(
    username: str = "", *, groups: Iterable[str] = (), password: str | None = None, **fields: Any
) -> User:
    """A user; `groups` such as "superadmins", "operators", "auditors".

    Without `password` they cannot log in by form, which spares the hashing: use `force_login`.
    """
    user = User(username=username or f"user{next(_numbers)}", **fields)
    user.set_password(password)
    user.save()
    for name in groups:
        # A transactional test empties every table, those that migrations filled included.
        user.groups.add(Group.objects.get_or_create(name=name)[0])
    return user


def make_project(
    slug: str = "", *, owner: User | None = None, members: Iterable[User] = (), **settings: Any
) -> Project:
    owner = owner or make_user()
    slug = slug or f"project-{next(_numbers)}"
    by = Actor.for_user(owner, transport="web")
    project = store.create_project(slug=slug, name=settings.pop("name", slug), owner=owner, by=by, **settings)
    for member in members:
        store.add_member(project=project, user=member, by=by)
    return project


def make_key(
    project: Project | None, scopes: Iterable[str] | None = None, *, name: str = "agent", **fields: Any
) -> tuple[ApiKey, str]:
    """A key and its plain text, by default with every scope it can have. `project` None: a platform key."""
    if project is None:
        by = Actor.for_user(make_user(groups=[SUPERADMINS]), transport="web")
    else:
        by = Actor.for_user(project.owner, transport="web")
    if scopes is None:
        scopes = Scope.values if project is None else PROJECT_SCOPES
    return store.issue_key(project=project, name=name, scopes=scopes, by=by, **fields)


def make_memory(
    project: Project,
    content: str = "Page references use block ids.",
    *,
    type: str = "fact",
    by: Actor | None = None,
    **fields: Any,
) -> Memory:
    """A memory in force that the project's owner (or `by`) wrote by hand."""
    return memory_store.add(
        project=project,
        draft=memory_store.Draft(type=type, content=content, **fields),
        source=Source.MANUAL,
        by=by or Actor.for_user(project.owner, transport="web"),
    )
