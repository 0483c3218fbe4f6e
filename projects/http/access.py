"""The one place where an API view gets its project, and learns as whom it acts.

    project = access.project_for(request, slug, scope=Scope.RECALL, permission=Permission.TURNS)
    turn = access.reach(request, Chat.objects.filter(pk=turn_id).first(), scope=…, permission=…)

For keys the scope decides, for people the permission of their role. What the caller must not know of is 404
`not_found`, whoever asks: strangers, keys of other projects, staff without membership. What a caller may see
but not do is 403: `scope_missing` for keys, `role_missing` for people and for what no key may do. Every request
that asks here is counted, whatever the answer: 429 `throttled` when its caller has used up its budget.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from django.utils.translation import gettext_lazy as _

from projects import roles
from projects.actors import Actor
from projects.http import request_id, request_log, throttling
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
        project = _visible(request, Project.objects.filter(slug=slug))
    elif key.project_id is None:
        project = _any(slug=slug)
    else:
        project = key.project
    # MySQL compares slugs without case; an address has one spelling.
    if project is not None and project.slug != slug:
        project = None
    _count(request, project)
    if project is None:
        raise not_found()
    _require(request, project, scope, permission)
    return project


def reach[T: OfProject](request: Request, row: T | None, *, scope: Scopes, permission: Permission) -> T:
    """`row`, which an address named by its id, if the caller may do this in its project.

    `row.project` is set and needs no further query. None (no such row) is 404 like any other's row.
    """
    key = key_of(request)
    project: Project | None
    if row is None:
        project = None
    elif key is None:
        project = _visible(request, Project.objects.filter(pk=row.project_id))
    elif key.project_id is None:
        project = _any(pk=row.project_id)
    else:
        project = key.project if key.project_id == row.project_id else None
    _count(request, project)
    if row is None or project is None:
        raise not_found()
    row.project = project
    _require(request, project, scope, permission)
    return row


def projects_for(request: Request) -> QuerySet[Project]:
    """Every project that the caller may see. A platform key needs the scope `projects` to list them."""
    key = key_of(request)
    _count(request, None)
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


def count_request(request: Request) -> None:
    """Count a request about the caller alone."""
    _count(request, None)


def _count(request: Request, project: Project | None) -> None:
    """Count the request of a project's key for its project, of others for the project that they reach."""
    key = key_of(request)
    own = key.project_id if key else None
    if project is not None:
        request_log.note_project(project.pk)
    throttling.count(request, caller_of(request), own or (project.pk if project else None))


def _any(**named: object) -> Project | None:
    return Project.objects.select_related("owner").filter(**named).first()


def _visible(request: Request, candidates: QuerySet[Project]) -> Project | None:
    return candidates.visible_to(user_of(request)).select_related("owner").first()  # type: ignore[attr-defined]


def _require(request: Request, project: Project, scope: Scopes, permission: Permission) -> None:
    """`scope` of a key, `permission` of a person who sees the project; 403 otherwise."""
    if key := key_of(request):
        _require_scope(key, scope)
    elif permission != Permission.VIEW and not roles.can(user_of(request), permission, project):
        raise Problem(403, "role_missing", _("Your role in this project does not allow this."))


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
