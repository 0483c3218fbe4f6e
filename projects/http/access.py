"""The one place where an API view gets its project, and learns as whom it acts.

    project = access.project_for(request, slug, scope=Scope.RECALL, permission=Permission.TURNS)
    turn = access.reach(request, Chat.objects.filter(pk=turn_id).first(), scope=…, permission=…)

For keys the scope decides, for people the permission of their role. What the caller must not know of is 404
`not_found`, whoever asks: strangers, keys of other projects, staff without membership. What a caller may see
but not do is 403: `scope_missing` for keys, `role_missing` for people and for what no key may do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from django.utils.translation import gettext_lazy as _

from projects import roles
from projects.actors import Actor
from projects.http import request_id
from projects.http.problems import Problem, not_found
from projects.models import ApiKey, Project, Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from rest_framework.request import Request

type Scopes = Scope | tuple[Scope, ...] | None
"""One scope, any of several, or None: only people may."""

ANY_SCOPE: tuple[Scope, ...] = tuple(Scope)


class OfProject(Protocol):
    """A row with a foreign key to its project."""

    project: Project
    project_id: int


def project_for(request: Request, slug: str, *, scope: Scopes, permission: Permission) -> Project:
    """The project called `slug`, if the caller may do this in it. A key's own project costs no query."""
    key = key_of(request)
    project: Project | None
    if key is None:
        project = _of_person(request, Project.objects.filter(slug=slug), permission)
    elif key.project_id is None:
        project = Project.objects.select_related("owner").filter(slug=slug).first()
    else:
        project = key.project
    # MySQL compares slugs without case; an address has one spelling.
    if project is None or project.slug != slug:
        raise not_found()
    if key is not None:
        _require_scope(key, scope)
    return project


def reach[T: OfProject](request: Request, row: T | None, *, scope: Scopes, permission: Permission) -> T:
    """`row`, which an address named by its id, if the caller may do this in its project.

    `row.project` is set and needs no further query. None (no such row) is 404 like any other's row.
    """
    if row is None:
        raise not_found()
    key = key_of(request)
    if key is None:
        row.project = _of_person(request, Project.objects.filter(pk=row.project_id), permission)
        return row
    if key.project is not None:
        if key.project_id != row.project_id:
            raise not_found()
        row.project = key.project
    _require_scope(key, scope)
    return row


def projects_for(request: Request) -> QuerySet[Project]:
    """Every project that the caller may see. A platform key needs the scope `projects` to list them."""
    key = key_of(request)
    if key is None:
        return Project.objects.visible_to(user_of(request))
    if key.project_id is None:
        _require_scope(key, Scope.PROJECTS)
        return Project.objects.all()
    _require_scope(key, ANY_SCOPE)
    return Project.objects.filter(pk=key.project_id)


def key_of(request: Request) -> ApiKey | None:
    return request.auth if isinstance(request.auth, ApiKey) else None


def user_of(request: Request) -> User:
    """The person who calls. Keys are no persons: 403 `role_missing`."""
    if key_of(request) is not None:
        raise _people_only()
    return request.user  # type: ignore[return-value]


def has_scope(key: ApiKey, scope: Scope) -> bool:
    """`projects` means something on a platform key only: a project's settings are its owner's."""
    return scope in key.scopes and (scope != Scope.PROJECTS or key.project_id is None)


def actor_of(request: Request) -> Actor:
    """What services want to know as `by`."""
    if key := key_of(request):
        return Actor.for_key(key, request_id=request_id.current())
    return Actor.for_user(user_of(request), transport="api", request_id=request_id.current())


def caller_of(request: Request) -> str:
    """The caller's name where calls are told apart: idempotency records, throttles."""
    if key := key_of(request):
        return f"key:{key.pk}"
    return f"user:{user_of(request).pk}"


def _of_person(request: Request, candidates: QuerySet[Project], permission: Permission) -> Project:
    user = user_of(request)
    project = candidates.visible_to(user).select_related("owner").first()  # type: ignore[attr-defined]
    if project is None:
        raise not_found()
    if permission != Permission.VIEW and not roles.can(user, permission, project):
        raise Problem(403, "role_missing", _("Your role in this project does not allow this."))
    return project


def _require_scope(key: ApiKey, scope: Scopes) -> None:
    if scope is None:
        raise _people_only()
    wanted = scope if isinstance(scope, tuple) else (scope,)
    if not any(has_scope(key, one) for one in wanted):
        raise Problem(
            403, "scope_missing", _("The key lacks the scope for this."), scopes=[str(one) for one in wanted]
        )


def _people_only() -> Problem:
    return Problem(403, "role_missing", _("Only people may do this; no key can."))
