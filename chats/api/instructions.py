"""The rules that hold in one topic, and what becomes of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from chats import instructions as service
from chats.api import examples, topics
from chats.api.answers import REMEMBERED_OUTCOMES, MemoryBrief
from chats.api.bodies import NoBody, Promotion, read
from chats.api.refusals import ServiceView
from chats.errors import MemoryOff
from chats.hearing import member, refusal_message
from chats.models import Instruction
from memories import store
from memories.api.serializers import memory_brief
from memories.models import Memory
from projects.http import access, idempotency, paging
from projects.http.idempotency import Outcome
from projects.http.problems import Problem
from projects.http.schema import IDEMPOTENCY_KEY, problems
from projects.http.serializers import ChoiceField, Parameters, read_parameters, reject_unknown_parameters
from projects.models import Project, Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

    from projects.actors import Actor


class InstructionAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Instruction.Kind.choices)
    content = serializers.CharField()
    state = serializers.ChoiceField(choices=Instruction.State.choices)
    tokens = serializers.IntegerField()
    turn = serializers.IntegerField(help_text="In which it was said.")
    memory = serializers.IntegerField(allow_null=True, help_text="The memory that it became.")
    created_at = serializers.DateTimeField()


class PromotionAnswer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=REMEMBERED_OUTCOMES)
    memory = MemoryBrief(allow_null=True)
    instruction = InstructionAnswer()


class InstructionParameters(Parameters):
    state = ChoiceField(
        choices=Instruction.State.choices, required=False, help_text="Default: those in force."
    )


class InstructionListView(ServiceView):
    pagination_class = paging.CursorPagination  # for the API's description

    @extend_schema(
        operation_id="instructions_list",
        tags=["instructions"],
        parameters=[InstructionParameters],
        responses={200: InstructionAnswer(many=True), **problems(400, 403, 404)},
        examples=[examples.instruction],
    )
    def get(self, request: Request, topic_id: int) -> Response:
        """The rules of a topic, oldest first: those in force, or those in one state."""
        topic = topics.reached(
            request, topic_id, scope=(Scope.TURNS, Scope.TRACES_READ), permission=Permission.VIEW
        )
        wanted = read_parameters(InstructionParameters, request, also=paging.PARAMETERS)
        rules = Instruction.objects.filter(topic=topic)
        rules = rules.filter(state=wanted["state"]) if "state" in wanted else rules.in_force()
        return paging.paged(request, rules, instruction_json, ordering=("id",))


class DismissView(ServiceView):
    @extend_schema(
        operation_id="instructions_dismiss",
        tags=["instructions"],
        parameters=[IDEMPOTENCY_KEY],
        request=NoBody,
        responses={200: InstructionAnswer, **problems(400, 403, 404, 422)},
        examples=[examples.instruction],
    )
    def post(self, request: Request, instruction_id: int) -> Response:
        """Take a rule out of force in its topic; a memory that it became stays."""
        reject_unknown_parameters(request)
        rule, _project = _reached(request, instruction_id)
        read(NoBody, request)

        def act() -> Outcome:
            service.dismiss(instruction=rule, by=access.actor_of(request))
            return Outcome(200, {})

        return idempotency.once(
            request, act=act, render=lambda _: instruction_json(Instruction.objects.get(pk=rule.pk))
        )


class PromoteView(ServiceView):
    @extend_schema(
        operation_id="instructions_promote",
        tags=["instructions"],
        parameters=[IDEMPOTENCY_KEY],
        request=Promotion,
        responses={200: PromotionAnswer, **problems(400, 403, 404, 409, 422)},
        examples=[examples.promotion, examples.promoted],
    )
    def post(self, request: Request, instruction_id: int) -> Response:
        """Make the rule a memory of the project at once, as “that's the rule” in a message does.

        With a person's authority if a person asks, or a key for an `author`; else it waits for a person.
        """
        reject_unknown_parameters(request)
        rule, project = _reached(request, instruction_id)
        author = read(Promotion, request).get("author")
        if not project.memory_enabled:
            raise MemoryOff

        def act() -> Outcome:
            remembered = service.promote(instruction=rule, by=_speaker(request, project, author))
            if remembered.memory is None:
                raise Problem(422, remembered.code, refusal_message(remembered.code))
            return Outcome(200, {"outcome": str(remembered.outcome), "memory": remembered.memory.pk})

        def render(outcome: Outcome) -> dict[str, Any]:
            memory = Memory.objects.of(project).filter(pk=outcome.ids["memory"]).first()
            return {
                "outcome": outcome.ids["outcome"],
                "memory": memory_brief(memory) if memory else None,
                "instruction": instruction_json(Instruction.objects.get(pk=rule.pk)),
            }

        return idempotency.once(request, act=act, render=render)


def instruction_json(rule: Instruction) -> dict[str, Any]:
    return {
        "id": rule.pk,
        "kind": rule.kind,
        "content": rule.content,
        "state": rule.state,
        "tokens": rule.tokens,
        "turn": rule.chat_id,
        "memory": rule.memory_id,
        "created_at": rule.created_at,
    }


def _reached(request: Request, instruction_id: int) -> tuple[Instruction, Project]:
    rule = Instruction.objects.select_related("topic", "chat").filter(pk=instruction_id).first()
    topic = access.reach(
        request, rule.topic if rule else None, scope=Scope.TURNS, permission=Permission.TURNS
    )
    assert rule is not None  # noqa: S101 (reach raises otherwise)
    return rule, topic.project


def _speaker(request: Request, project: Project, author: dict[str, Any] | None) -> Actor:
    """A person who calls speaks for themselves; a key for the human it names, or for nobody."""
    caller = access.actor_of(request)
    if caller.is_person or author is None:
        return caller
    store.guard_texts(iter([("author/name", author["name"]), ("author/ref", author["ref"])]))
    return caller.speaking_for(name=author["name"] or author["ref"], user=member(project, author["ref"]))
