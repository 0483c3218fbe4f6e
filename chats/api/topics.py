"""Topics of a project: listed, named, completed, deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from chats import topics as service
from chats.api import examples
from chats.api.answers import DistilAnswer, distil_json
from chats.api.bodies import NoBody, TopicChanges, read
from chats.api.refusals import ServiceView
from chats.models import Topic
from projects.http import access, idempotency, paging
from projects.http.idempotency import Outcome
from projects.http.schema import IDEMPOTENCY_KEY, problems
from projects.http.serializers import (
    ChoiceField,
    Parameters,
    StringField,
    read_parameters,
    reject_unknown_parameters,
)
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

    from chats.models import Summary
    from projects.models import Project


class SummaryAnswer(serializers.Serializer[Any]):
    text = serializers.CharField()
    through = serializers.IntegerField(help_text="The number of the last turn that is in it.")
    tokens = serializers.IntegerField()
    backend = serializers.CharField(help_text="`rules`: in the talk's own words.")
    created_at = serializers.DateTimeField()


class TopicAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    ref = serializers.CharField()
    title = serializers.CharField()
    area = serializers.CharField()
    status = serializers.ChoiceField(choices=Topic.TopicStatus.choices)
    turns = serializers.IntegerField(help_text="How many.")
    summary = SummaryAnswer(allow_null=True, help_text="What it came to; null: nothing was summed up yet.")
    distil = DistilAnswer()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class TopicParameters(Parameters):
    q = StringField(required=False, max_length=200, help_text="Words, each in title, area or ref.")
    status = ChoiceField(choices=Topic.TopicStatus.choices, required=False)


class TopicListView(ServiceView):
    pagination_class = paging.CursorPagination  # for the API's description

    @extend_schema(
        operation_id="topics_list",
        tags=["topics"],
        parameters=[TopicParameters],
        responses={200: TopicAnswer(many=True), **problems(400, 403, 404)},
        examples=[examples.topic],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The project's topics, the one with the latest ending of a turn first."""
        project = access.project_for(request, slug, scope=Scope.TRACES_READ, permission=Permission.VIEW)
        wanted = read_parameters(TopicParameters, request, also=paging.PARAMETERS)
        topics = Topic.objects.of(project).matching(**wanted).with_turn_count().select_related("summary")
        return paging.paged(
            request, topics, lambda topic: topic_json(topic, project), ordering=("-updated_at", "-id")
        )


class TopicView(ServiceView):
    @extend_schema(
        operation_id="topics_get",
        tags=["topics"],
        responses={200: TopicAnswer, **problems(400, 403, 404)},
        examples=[examples.topic],
    )
    def get(self, request: Request, topic_id: int) -> Response:
        """One topic."""
        reject_unknown_parameters(request)
        topic = reached(request, topic_id, scope=Scope.TRACES_READ, permission=Permission.VIEW)
        return Response(topic_json(topic, topic.project))

    @extend_schema(
        operation_id="topics_patch",
        tags=["topics"],
        request=TopicChanges(partial=True),
        responses={200: TopicAnswer, **problems(400, 403, 404, 413, 422)},
        examples=[examples.topic_changes, examples.topic],
    )
    def patch(self, request: Request, topic_id: int) -> Response:
        """Change what is sent. The area of memories that exist already stays."""
        reject_unknown_parameters(request)
        topic = reached(request, topic_id)
        changes = read(TopicChanges, request, partial=True)
        if changes:
            service.edit_topic(
                project=topic.project, topic_id=topic.pk, changes=changes, by=access.actor_of(request)
            )
        return Response(topic_json(_with_count(topic.pk), topic.project))

    @extend_schema(
        operation_id="topics_delete", tags=["topics"], responses={204: None, **problems(400, 403, 404)}
    )
    def delete(self, request: Request, topic_id: int) -> Response:
        """Remove the topic with its turns. Its memories stay, without source and quotes."""
        reject_unknown_parameters(request)
        topic = reached(request, topic_id)
        service.delete_topic(project=topic.project, topic_id=topic.pk, by=access.actor_of(request))
        return Response(status=204)


class CompleteView(ServiceView):
    @extend_schema(
        operation_id="topics_complete",
        tags=["topics"],
        parameters=[IDEMPOTENCY_KEY],
        request=NoBody,
        responses={200: TopicAnswer, **problems(400, 403, 404, 422)},
        examples=[examples.topic],
    )
    def post(self, request: Request, topic_id: int) -> Response:
        """The conversation is over: distil at once, end its instructions. A later turn opens it again."""
        reject_unknown_parameters(request)
        topic = reached(request, topic_id)
        read(NoBody, request)

        def act() -> Outcome:
            service.complete_topic(project=topic.project, topic_id=topic.pk, by=access.actor_of(request))
            return Outcome(200, {})

        return idempotency.once(
            request, act=act, render=lambda _: topic_json(_with_count(topic.pk), topic.project)
        )


def topic_json(topic: Any, project: Project) -> dict[str, Any]:
    """A topic with its `turn_count`."""
    return {
        "id": topic.pk,
        "ref": topic.ref,
        "title": topic.title,
        "area": topic.area,
        "status": topic.status,
        "turns": topic.turn_count,
        "summary": summary_json(topic.summary) if topic.summary else None,
        "distil": distil_json(topic, project),
        "created_at": topic.created_at,
        "updated_at": topic.updated_at,
    }


def summary_json(summary: Summary) -> dict[str, Any]:
    return {name: getattr(summary, name) for name in ("text", "through", "tokens", "backend", "created_at")}


def reached(
    request: Request,
    topic_id: int,
    *,
    scope: access.Scopes = Scope.TURNS,
    permission: Permission = Permission.TURNS,
) -> Topic:
    topic = Topic.objects.with_turn_count().select_related("summary").filter(pk=topic_id).first()
    return access.reach(request, topic, scope=scope, permission=permission)


def _with_count(topic_id: int) -> Topic:
    topic: Topic = Topic.objects.with_turn_count().select_related("summary").get(pk=topic_id)
    return topic
