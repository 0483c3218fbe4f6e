"""Trying a failed run of distilling again. Runs themselves are read in memories/api/extractions.py."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers

from chats import topics
from chats.api import examples
from chats.api.answers import DistilAnswer, distil_json
from chats.api.bodies import NoBody, read
from chats.api.refusals import ServiceView
from chats.models import Topic
from memories.models import Extraction
from projects.http import access, idempotency
from projects.http.idempotency import Outcome
from projects.http.schema import IDEMPOTENCY_KEY, problems
from projects.http.serializers import reject_unknown_parameters
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request
    from rest_framework.response import Response


class RetryAnswer(serializers.Serializer[Any]):
    topic = serializers.IntegerField()
    distil = DistilAnswer()


class RetryView(ServiceView):
    @extend_schema(
        operation_id="extractions_retry",
        tags=["extractions"],
        parameters=[IDEMPOTENCY_KEY],
        request=NoBody,
        responses={202: RetryAnswer, **problems(400, 403, 404, 409)},
        examples=[examples.retried],
    )
    def post(self, request: Request, extraction_id: int) -> Response:
        """Make the topic of a failed run due at once. 409 `wrong_status` if nothing of it waits any more."""
        reject_unknown_parameters(request)
        run = access.reach(
            request,
            Extraction.objects.filter(pk=extraction_id).first(),
            scope=Scope.TURNS,
            permission=Permission.TURNS,
        )
        read(NoBody, request)

        def act() -> Outcome:
            topic = topics.retry(project=run.project, extraction=run, by=access.actor_of(request))
            return Outcome(202, {"topic": topic.pk})

        def render(outcome: Outcome) -> dict[str, Any]:
            topic = Topic.objects.get(pk=outcome.ids["topic"])
            return {"topic": topic.pk, "distil": distil_json(topic, run.project)}

        return idempotency.once(request, act=act, render=render)
