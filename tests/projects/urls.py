"""The app's own addresses and a few probes that show the conventions bare."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import OperationalError
from django.urls import include, path
from rest_framework.response import Response
from rest_framework.views import APIView

from projects import store
from projects.http import access, idempotency, paging, preconditions
from projects.http.idempotency import Outcome
from projects.http.problems import FieldError, Problem
from projects.http.serializers import (
    BooleanField,
    ChoiceField,
    DateTimeField,
    IntegerField,
    ListField,
    NumberField,
    ObjectField,
    Parameters,
    QueryBoolean,
    QueryInteger,
    StrictSerializer,
    StringField,
    read_body,
    read_parameters,
)
from projects.models import ApiKey, AuditEvent, Project, Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

handler400 = "projects.http.problems.handler400"
handler404 = "projects.http.problems.handler404"
handler500 = "projects.http.problems.handler500"


class AccessProbe(APIView):
    """POST leaves a trace, so that a refused request can be shown to have had no effect."""

    scope: Any = Scope.RECALL
    permission = Permission.CURATE

    def post(self, request: Request, slug: str) -> Response:
        project = access.project_for(request, slug, scope=self.scope, permission=self.permission)
        store.update_project(project=project, changes={"description": "touched"}, by=access.actor_of(request))
        return Response({"caller": access.caller_of(request), "project": project.slug})


class RowProbe(APIView):
    def get(self, request: Request, pk: int) -> Response:
        row = access.reach(
            request,
            ApiKey.objects.filter(pk=pk, project__isnull=False).first(),
            scope=(Scope.RECALL, Scope.TURNS),
            permission=Permission.ADMINISTER,
        )
        return Response({"project": row.project.slug})


class Inner(StrictSerializer):
    ref = StringField(max_length=5)


class Body(StrictSerializer):
    text = StringField(max_length=10, required=False)
    number = IntegerField(required=False, max_value=100)
    ratio = NumberField(required=False)
    flag = BooleanField(required=False)
    kind = ChoiceField(choices=("a", "b"), required=False)
    at = DateTimeField(required=False)
    inner = Inner(required=False)
    names = ListField(child=StringField(), max_length=3, required=False)
    rows = Inner(many=True, required=False)
    free = ObjectField(required=False)
    told = StringField(read_only=True)


class BodyProbe(APIView):
    def post(self, request: Request) -> Response:
        values = read_body(Body, request)
        if "at" in values:
            values["offset_minutes"] = values["at"].utcoffset().total_seconds() / 60
        return Response(values)


class Query(Parameters):
    q = StringField(required=False, max_length=5)
    number = QueryInteger(required=False)
    flag = QueryBoolean(required=False)


class QueryProbe(APIView):
    def get(self, request: Request) -> Response:
        return Response(read_parameters(Query, request, also=paging.PARAMETERS))


class OnceProbe(APIView):
    """Makes a project; the answer is rendered from its present state."""

    def post(self, request: Request) -> Response:
        slug = request.data["slug"]

        def act() -> Outcome:
            project = store.create_project(
                name=slug, slug=slug, owner=access.user_of(request), by=access.actor_of(request)
            )
            during_act()
            return Outcome(201, {"project": project.pk})

        def render(outcome: Outcome) -> dict[str, str]:
            return {"name": Project.objects.get(pk=outcome.ids["project"]).name}

        return idempotency.once(request, act=act, render=render)


def during_act() -> None:
    """Tests replace this to do something in the middle of the work."""


class MatchProbe(APIView):
    def patch(self, request: Request) -> Response:
        seen = preconditions.seen_version(request, 3, current=lambda: {"version": 3, "text": "now"})
        return Response({"seen": seen}, headers={"ETag": preconditions.etag(3)})


class PagesProbe(APIView):
    def get(self, request: Request) -> Response:
        events = AuditEvent.objects.filter(action="probe")
        return paging.paged(request, events, lambda event: event.pk, ordering=("-created_at", "-id"))


class RaiseProbe(APIView):
    error: Any = None

    def get(self, request: Request) -> Response:
        raise self.error


FINDING = Problem(
    422, "secret_found", "A secret.", [FieldError("/content", "secret_found", "A key.", 4, 9)], memory=7
)

urlpatterns = [
    path("api/v1/", include("projects.urls")),
    path("api/v1/probes/access/<slug:slug>/", AccessProbe.as_view()),
    path("api/v1/probes/people/<slug:slug>/", AccessProbe.as_view(scope=None)),
    path("api/v1/probes/rows/<int:pk>/", RowProbe.as_view()),
    path("api/v1/probes/body/", BodyProbe.as_view()),
    path("api/v1/probes/query/", QueryProbe.as_view()),
    path("api/v1/probes/once/", OnceProbe.as_view()),
    path("api/v1/probes/match/", MatchProbe.as_view()),
    path("api/v1/probes/pages/", PagesProbe.as_view()),
    path("api/v1/probes/other-pages/", PagesProbe.as_view()),
    path("api/v1/probes/finding/", RaiseProbe.as_view(error=FINDING)),
    path("api/v1/probes/boom/", RaiseProbe.as_view(error=RuntimeError("content of a memory"))),
    path("api/v1/probes/database/", RaiseProbe.as_view(error=OperationalError("gone away"))),
]
