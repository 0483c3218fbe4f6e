"""Projects as resources, and who the caller is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from projects import roles, store
from projects.api.serializers import (
    MeAnswer,
    ProjectAnswer,
    ProjectBody,
    ProjectPut,
    key_answer,
    project_answer,
)
from projects.http import access, paging, throttling
from projects.http.problems import FieldError, Problem, invalid, not_found
from projects.http.schema import problems
from projects.http.serializers import read_body, reject_unknown_parameters
from projects.models import Project, Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

_EXAMPLE = {
    "slug": "shop",
    "name": "网店",
    "description": "",
    "owner": "ana",
    "memory_enabled": True,
    "memory_switched_at": None,
    "review_policy": "important",
    "explicit_policy": "anyone",
    "max_items": 12,
    "max_tokens": 6000,
    "window_tokens": 40000,
    "static_instructions": "",
    "guidance": "",
    "mask_chats": False,
    "debug_mode": False,
    "created_at": "2026-12-01T01:30:12Z",
    "updated_at": "2026-12-01T01:30:12Z",
}
_EXAMPLE_ANSWER = OpenApiExample("project", _EXAMPLE, response_only=True)
_EXAMPLE_BODY = OpenApiExample(
    "new project", {"name": "网店", "review_policy": "important"}, request_only=True
)


class ProjectListView(APIView):
    pagination_class = paging.CursorPagination  # for the API's description

    @extend_schema(
        operation_id="projects_list",
        responses={200: ProjectAnswer(many=True), **problems(400, 403)},
        examples=[_EXAMPLE_ANSWER],
    )
    def get(self, request: Request) -> Response:
        """The projects that the caller may see, by slug. A platform key needs the scope `projects`."""
        reject_unknown_parameters(request, paging.PARAMETERS)
        projects = access.projects_for(request).select_related("owner")
        return paging.paged(request, projects, project_answer, ordering=("slug",))


class ProjectView(APIView):
    """Settings are changed by owners, superadmins, and platform keys with the scope `projects`."""

    @extend_schema(
        operation_id="projects_get",
        responses={200: ProjectAnswer, **problems(400, 403, 404)},
        examples=[_EXAMPLE_ANSWER],
    )
    def get(self, request: Request, slug: str) -> Response:
        """One project, for its members and for any key that reaches it."""
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=access.ANY_SCOPE, permission=Permission.VIEW)
        return Response(project_answer(project))

    @extend_schema(
        operation_id="projects_put",
        request=ProjectPut,
        responses={200: ProjectAnswer, 201: ProjectAnswer, **problems(400, 403, 404, 413, 422)},
        examples=[_EXAMPLE_BODY, _EXAMPLE_ANSWER],
    )
    def put(self, request: Request, slug: str) -> Response:
        """Create the project (201; the caller becomes its owner) or replace all its settings (200)."""
        reject_unknown_parameters(request)
        project = self._existing(request, slug)
        if project is None:
            _require_creator(request, slug)
        values = read_body(ProjectPut, request)
        owner_name = values.pop("owner", None)
        if project is None:
            owner = _owner(request, owner_name)
            try:
                project = store.create_project(slug=slug, owner=owner, by=access.actor_of(request), **values)
            except store.InvalidSlug:
                detail = _(
                    "A slug is made of a-z, 0-9, - and _, at most 60, and begins with a letter or digit."
                )
                raise invalid(detail=detail) from None
            except store.SlugTaken:
                # Others have it, or were faster just now; then it is as if they had been so all along.
                project = self._existing(request, slug)
                if project is None:
                    raise not_found() from None
            else:
                return Response(project_answer(project), status=201)
        if owner_name not in (None, project.owner.get_username()):
            raise invalid(
                FieldError("/owner", "invalid", _("A project is handed on by its owner, not here."))
            )
        return Response(project_answer(self._update(request, project, values)))

    @extend_schema(
        operation_id="projects_patch",
        request=ProjectBody(partial=True),
        responses={200: ProjectAnswer, **problems(400, 403, 404, 413, 422)},
        examples=[
            OpenApiExample("memory off", {"memory_enabled": False}, request_only=True),
            _EXAMPLE_ANSWER,
        ],
    )
    def patch(self, request: Request, slug: str) -> Response:
        """Change what is sent; `memory_enabled` is the switch of memory."""
        reject_unknown_parameters(request)
        project = self._administered(request, slug)
        values = read_body(ProjectBody, request, partial=True)
        return Response(project_answer(self._update(request, project, values)))

    @extend_schema(operation_id="projects_delete", responses={204: None, **problems(400, 403, 404)})
    def delete(self, request: Request, slug: str) -> Response:
        """Remove the project with everything in it, at once and for good."""
        reject_unknown_parameters(request)
        project = self._administered(request, slug)
        try:
            store.delete_project(project=project, by=access.actor_of(request))
        except store.ProjectGone:
            raise not_found() from None
        return Response(status=204)

    def _administered(self, request: Request, slug: str) -> Project:
        return access.project_for(request, slug, scope=Scope.PROJECTS, permission=Permission.ADMINISTER)

    def _existing(self, request: Request, slug: str) -> Project | None:
        """The project to replace, None if the caller sees none."""
        try:
            return self._administered(request, slug)
        except Problem as problem:
            if problem.status_code != 404:
                raise
            return None

    def _update(self, request: Request, project: Project, values: dict[str, Any]) -> Project:
        try:
            return store.update_project(project=project, changes=values, by=access.actor_of(request))
        except store.ProjectGone:
            raise not_found() from None


class MeView(APIView):
    @extend_schema(
        operation_id="me",
        responses={200: MeAnswer, **problems(400)},
        examples=[
            OpenApiExample(
                "key",
                {
                    "kind": "key",
                    "key": {
                        "id": 3,
                        "name": "agent platform",
                        "prefix": "9f2c4b7a1e03",
                        "project": {"slug": "shop", "name": "网店"},
                        "expires_at": None,
                    },
                    "user": None,
                    "scopes": ["turns", "recall"],
                    "limits": {
                        "body_bytes": 1_500_000,
                        "page": 100,
                        "max_items": 12,
                        "max_tokens": 6000,
                        "requests": {"limit": 1200, "window_s": 60, "remaining": 1187, "resets_in_s": 42},
                    },
                },
                response_only=True,
            )
        ],
    )
    def get(self, request: Request) -> Response:
        """Who calls, with which scopes and limits."""
        access.count_request(request)
        reject_unknown_parameters(request)
        key = access.key_of(request)
        project = key.project if key else None
        answer: dict[str, Any] = {
            "kind": "key" if key else "user",
            "key": key_answer(key) if key else None,
            "user": None,
            "scopes": key.scopes if key else [],
            "limits": {
                "body_bytes": settings.API_MAX_BODY_BYTES,
                "page": paging.MAX_LIMIT,
                "max_items": project.max_items if project else None,
                "max_tokens": project.max_tokens if project else None,
                "requests": _requests(throttling.standing_of(request)),
            },
        }
        if key is None:
            user = access.user_of(request)
            answer["user"] = {"id": user.pk, "username": user.get_username(), "name": user.get_full_name()}
        return Response(answer)


def _requests(standing: throttling.Standing | None) -> dict[str, int] | None:
    if standing is None:
        return None
    return {
        "limit": standing.rate.limit,
        "window_s": standing.rate.window_s,
        "remaining": standing.remaining,
        "resets_in_s": standing.resets_in_s,
    }


def _require_creator(request: Request, slug: str) -> None:
    """Anyone logged in may create a project; of keys, those of the platform with the scope `projects`."""
    key = access.key_of(request)
    if key is not None and key.project_id is not None:
        raise not_found()
    if key is not None and not access.has_scope(key, Scope.PROJECTS):
        raise Problem(
            403, "scope_missing", _("The key lacks the scope for this."), scopes=[Scope.PROJECTS.value]
        )


def _owner(request: Request, name: str | None) -> User:
    """Who will own a new project: the caller, or whom a platform key or superadmin names."""
    key = access.key_of(request)
    person = key.created_by if key else access.user_of(request)
    if name is None or (person is not None and name == person.get_username()):
        if person is None or not person.is_active:
            raise invalid(FieldError("/owner", "required", _("Name the owner of the new project.")))
        return person
    if key is None and not roles.is_superadmin(access.user_of(request)):
        raise Problem(403, "role_missing", _("Only superadmins create projects for others."))
    owner = User.objects.filter(username=name, is_active=True).first()
    if owner is None:
        raise invalid(FieldError("/owner", "invalid", _("There is no such user.")))
    return owner
