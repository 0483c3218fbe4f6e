"""Opening a turn, going on with it, and finishing it; and the list of turns."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.response import Response

from chats import endings, hearing
from chats import turns as service
from chats.api import examples
from chats.api.answers import (
    AddedStepAnswer,
    FinishAnswer,
    FreshContext,
    OpenAnswer,
    context_json,
    distil_json,
    heard_json,
    receipt_json,
    step_json,
)
from chats.api.bodies import FinishBody, FurtherMessage, Step, TurnBody, read
from chats.api.refusals import ServiceView
from chats.api.traces import TurnSummary, summary_json
from chats.context import PARTS, Wanted, again, wanted_before
from chats.errors import TurnAlreadyFinished
from chats.models import Chat
from chats.receipts import receipt
from chats.steps import add_step
from projects.http import access, idempotency, paging, preconditions
from projects.http.idempotency import Outcome
from projects.http.schema import IDEMPOTENCY_KEY, problems
from projects.http.serializers import (
    DateTimeField,
    Parameters,
    QueryInteger,
    StringField,
    read_parameters,
    reject_unknown_parameters,
)
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

    from chats.given import Context

IF_NONE_MATCH = OpenApiParameter(
    "If-None-Match", str, OpenApiParameter.HEADER, description="The ETag of the context that you have."
)


class TurnParameters(Parameters):
    q = StringField(required=False, max_length=200, help_text="Words, each in the message or the reply.")
    author = StringField(required=False, max_length=200, help_text="The author's ref or name, exactly.")
    memory = QueryInteger(required=False, help_text="Turns that were given it.")
    topic = QueryInteger(required=False)
    since = DateTimeField(required=False, help_text="Sent then or later.")


class TurnListView(ServiceView):
    pagination_class = paging.CursorPagination  # for the API's description

    @extend_schema(
        operation_id="turns_list",
        tags=["turns"],
        parameters=[TurnParameters],
        responses={200: TurnSummary(many=True), **problems(400, 403, 404)},
        examples=[examples.turns],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The project's turns, newest first."""
        project = access.project_for(request, slug, scope=Scope.TRACES_READ, permission=Permission.VIEW)
        wanted = read_parameters(TurnParameters, request, also=paging.PARAMETERS)
        turns = Chat.objects.of(project).turns().matching(**wanted).with_excerpt().select_related("topic")
        return paging.paged(request, turns, summary_json)

    @extend_schema(
        operation_id="turns_open",
        tags=["turns"],
        request=TurnBody,
        responses={201: OpenAnswer, 200: OpenAnswer, **problems(400, 403, 404, 409, 413, 422)},
        examples=[examples.open_body, examples.happened_body, examples.opened],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Open a turn and get its context: 201, or 200 when this `ref` of the topic was opened before.

        What the human asks to remember is kept at once, whatever becomes of the turn. The answer's `ETag` is
        that of the context. With `status` and `reply` it reports a turn that already happened.
        """
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=Scope.TURNS, permission=Permission.TURNS)
        values = read(TurnBody, request)
        opened = service.open_turn(
            project=project, request=_turn_request(request, values), by=access.actor_of(request)
        )
        chat = opened.chat
        answer = {
            "turn": {
                "id": chat.pk,
                "ref": chat.ref,
                "seq": chat.seq,
                "status": chat.status,
                "topic": {
                    "id": chat.topic_id,
                    "ref": chat.topic.ref,
                    "created": opened.topic_created,
                },
            },
            **heard_json(opened.heard, project),
            "context": context_json(opened.context),
        }
        return Response(answer, status=200 if opened.repeated else 201, headers=_etag(opened.context))


class ContextView(ServiceView):
    @extend_schema(
        operation_id="turns_context",
        tags=["turns"],
        parameters=[IDEMPOTENCY_KEY, IF_NONE_MATCH],
        request=FurtherMessage,
        responses={200: FreshContext, 304: None, **problems(400, 403, 404, 409, 413, 422)},
        examples=[examples.further_body, examples.fresh],
    )
    def post(self, request: Request, turn_id: int) -> Response:
        """The context of a running turn as it is now; a further message of its human is heard first.

        304 when it is what `If-None-Match` names and there is nothing else to tell. `parts` and
        `window_tokens` are those of the opening unless they are given again.
        """
        reject_unknown_parameters(request)
        chat = reached(request, turn_id)
        values = read(FurtherMessage, request)
        fresh: list[Context] = []

        def act() -> Outcome:
            if values.get("message", "").strip():
                further = service.hear_further(
                    project=chat.project,
                    chat=chat,
                    message=values["message"],
                    files=values.get("files", ()),
                    sent_at=values.get("sent_at"),
                    by=access.actor_of(request),
                )
                return Outcome(200, {"since": further.since, "until": further.until})
            if chat.status != Chat.ChatStatus.RUNNING:
                raise TurnAlreadyFinished(chat)
            return Outcome(200, {"since": hearing.extent(chat), "until": hearing.extent(chat)})

        def render(outcome: Outcome) -> dict[str, Any]:
            chat.refresh_from_db(fields=["status", "explicit"])
            if chat.status == Chat.ChatStatus.RUNNING:
                wanted = _wanted(values.get("context"), before=wanted_before(chat))
                fresh.append(service.renew_context(project=chat.project, chat=chat, wanted=wanted))
            else:
                # Finished since the message was heard: nobody needs more than what the turn was given last.
                fresh.append(again(project=chat.project, chat=chat))
            heard = hearing.recollect(chat, since=outcome.ids["since"], until=outcome.ids["until"])
            return {
                "turn": {"id": chat.pk, "status": chat.status},
                **heard_json(heard, chat.project),
                "context": context_json(fresh[0]),
            }

        response = idempotency.once(request, act=act, render=render)
        told = response.data["remembered"] or response.data["refused"] or response.data["forgotten"]
        if not told and preconditions.is_unchanged(request, preconditions.etag(fresh[0].sha256)):
            return Response(status=304, headers=_etag(fresh[0]))
        response["ETag"] = preconditions.etag(fresh[0].sha256)
        return response


class StepListView(ServiceView):
    @extend_schema(
        operation_id="turns_step",
        tags=["turns"],
        parameters=[IDEMPOTENCY_KEY],
        request=Step,
        responses={201: AddedStepAnswer, 200: AddedStepAnswer, **problems(400, 403, 404, 409, 413, 422)},
        examples=[examples.step_body, examples.step],
    )
    def post(self, request: Request, turn_id: int) -> Response:
        """A step of another agent inside the turn; it gets the turn's context, byte for byte.

        Sent again with the same `ref`: 200, `repeated`; or it ends the step that was running.
        """
        reject_unknown_parameters(request)
        chat = reached(request, turn_id)
        values = read(Step, request)

        def act() -> Outcome:
            added = add_step(project=chat.project, chat=chat, **values)
            status = 201 if added.created else 200
            return Outcome(status, {"step": added.step.pk, "repeated": added.repeated})

        def render(outcome: Outcome) -> dict[str, Any]:
            return {
                "step": step_json(Chat.objects.get(pk=outcome.ids["step"])),
                "repeated": outcome.ids["repeated"],
                "context": context_json(again(project=chat.project, chat=chat)),
            }

        return idempotency.once(request, act=act, render=render)


class FinishView(ServiceView):
    @extend_schema(
        operation_id="turns_finish",
        tags=["turns"],
        parameters=[IDEMPOTENCY_KEY],
        request=FinishBody,
        responses={200: FinishAnswer, **problems(400, 403, 404, 409, 413, 422)},
        examples=[examples.finish_body, examples.finished],
    )
    def post(self, request: Request, turn_id: int) -> Response:
        """End the turn, once: the same ending again is `repeated`, another is 409 `turn_already_finished`.

        Only a succeeded turn is distilled. One that was given up after two silent hours may still be ended.
        """
        reject_unknown_parameters(request)
        chat = reached(request, turn_id)
        values = read(FinishBody, request)

        def act() -> Outcome:
            finished = endings.finish_turn(
                project=chat.project,
                chat=chat,
                request=endings.FinishRequest(**values),
                by=access.actor_of(request),
            )
            return Outcome(200, {"repeated": finished.repeated})

        def render(outcome: Outcome) -> dict[str, Any]:
            return {
                "turn": {"id": chat.pk, "status": chat.status},
                "repeated": outcome.ids["repeated"],
                "distil": distil_json(chat.topic, chat.project),
                "receipt": receipt_json(receipt(chat), chat, chat.project),
            }

        return idempotency.once(request, act=act, render=render)


def reached(request: Request, turn_id: int) -> Chat:
    """The turn, if the caller may go on with it. A step is no turn."""
    chat = Chat.objects.turns().select_related("topic").filter(pk=turn_id).first()
    chat = access.reach(request, chat, scope=Scope.TURNS, permission=Permission.TURNS)
    chat.topic.project = chat.project
    return chat


def _turn_request(request: Request, values: dict[str, Any]) -> service.TurnRequest:
    topic, author = values["topic"], values.get("author")
    if author is None and access.key_of(request) is None:
        user = access.user_of(request)
        author = {"ref": user.get_username(), "name": user.get_full_name() or user.get_username()}
    return service.TurnRequest(
        topic_ref=topic["ref"],
        topic_title=topic["title"],
        topic_area=topic["area"],
        ref=values["ref"],
        message=values["message"],
        attached=values.get("attached", ""),
        files=values.get("files", ()),
        author_ref=author["ref"] if author else "",
        author_name=author["name"] if author else "",
        agent=values["agent"],
        origin=values["origin"],
        sent_at=values.get("sent_at") or timezone.now(),
        status=values["status"],
        reply=values["reply"],
        wanted=_wanted(values.get("context"), before=Wanted()),
    )


def _wanted(told: dict[str, Any] | None, *, before: Wanted) -> Wanted:
    told = told or {}
    parts = told.get("parts", before.parts)
    return Wanted(
        window_tokens=told.get("window_tokens", before.window_tokens),
        parts=tuple(part for part in PARTS if part in parts),
        intent=told.get("intent", before.intent),
    )


def _etag(context: Context) -> dict[str, str]:
    return {"ETag": preconditions.etag(context.sha256)}
