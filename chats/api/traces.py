"""What a turn was: said, heard, given, left out, and made of it by distilling."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from chats import episodes, hearing, summaries
from chats.api import examples
from chats.api.answers import (
    DistilAnswer,
    EpisodeAnswer,
    HeardAnswer,
    InstructionBrief,
    IntentAnswer,
    MemoryBrief,
    StepAnswer,
    TokenAccount,
    distil_json,
    episode_json,
    heard_json,
    step_json,
)
from chats.api.refusals import ServiceView
from chats.context import PARTS
from chats.models import Chat, Instruction
from memories.api.serializers import (
    ExtractionDetail,
    TopicReference,
    candidate_json,
    extraction_json,
    memory_brief,
    topic_reference,
)
from memories.models import Memory, Recall
from projects.http import access
from projects.http.schema import problems
from projects.http.serializers import reject_unknown_parameters
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rest_framework.request import Request

    from memories.models import RecallItem


class AuthorAnswer(serializers.Serializer[Any]):
    ref = serializers.CharField()
    name = serializers.CharField()


class TurnBasics(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    ref = serializers.CharField()
    seq = serializers.IntegerField()
    status = serializers.ChoiceField(choices=Chat.ChatStatus.choices)
    topic = TopicReference()
    origin = serializers.ChoiceField(choices=Chat.Origin.choices)
    author = AuthorAnswer()
    agent = serializers.CharField()
    memory_refs = serializers.ListField(
        child=serializers.IntegerField(), allow_null=True, help_text="null: memory was off."
    )
    memory_tokens = serializers.IntegerField(allow_null=True)
    degraded = serializers.ListField(child=serializers.CharField())
    distil_outcome = serializers.ChoiceField(
        choices=Chat.DistilOutcome.choices, allow_null=True, help_text="null: not read yet."
    )
    sent_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class TurnSummary(TurnBasics):
    excerpt = serializers.CharField(help_text="The beginning of the message.")


class FurtherAnswer(serializers.Serializer[Any]):
    text = serializers.CharField()
    sent_at = serializers.DateTimeField()


class ToolAnswer(serializers.Serializer[Any]):
    name = serializers.CharField()
    ok = serializers.BooleanField()
    error = serializers.CharField(required=False)


class TurnDetail(TurnBasics):
    message = serializers.CharField()
    further = FurtherAnswer(many=True)
    attached = serializers.CharField()
    reply = serializers.CharField()
    files = serializers.ListField(child=serializers.CharField())
    tools = ToolAnswer(many=True)
    milestone = serializers.CharField()
    model = serializers.CharField()
    usage = serializers.DictField(child=serializers.IntegerField())
    error = serializers.CharField(help_text="`abandoned`: given up after silence.")
    already_happened = serializers.BooleanField()
    started_at = serializers.DateTimeField()
    message_tokens = serializers.IntegerField()
    reply_tokens = serializers.IntegerField()


class StepDetail(StepAnswer):
    message = serializers.CharField()
    reply = serializers.CharField()
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class GivenInstruction(InstructionBrief):
    state = serializers.ChoiceField(choices=Instruction.State.choices, help_text="As it is now.")
    memory = serializers.IntegerField(allow_null=True)


class GivenSummaryAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    through = serializers.IntegerField(help_text="The number of the last turn that is in it.")
    text = serializers.CharField()
    tokens = serializers.IntegerField()


class GivenAnswer(serializers.Serializer[Any]):
    """What the turn's last context was made of, besides the block."""

    memory_enabled = serializers.BooleanField()
    parts = serializers.ListField(child=serializers.ChoiceField(choices=PARTS))
    intent = IntentAnswer()
    instructions = GivenInstruction(many=True)
    summary = GivenSummaryAnswer(allow_null=True, help_text="null: none, or forgotten since.")
    episodes = EpisodeAnswer(many=True, help_text="Those erased since are missing.")
    history = serializers.ListField(child=serializers.IntegerField(), help_text="Turns.")
    tokens = TokenAccount()


class RecallItemAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    version = serializers.IntegerField(help_text="As it was given.")
    tier = serializers.CharField()
    rank = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True, help_text="null: the always tier is not ranked.")
    parts = serializers.DictField(child=serializers.FloatField())
    tokens = serializers.IntegerField()
    now = MemoryBrief(allow_null=True, help_text="As it is now; null: deleted.")


class RecallAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    created_at = serializers.DateTimeField()
    query = serializers.CharField(help_text="What was recalled on; secrets masked.")
    files = serializers.ListField(child=serializers.CharField())
    intent = IntentAnswer()
    ranker = serializers.CharField()
    parameters = serializers.DictField()
    ms = serializers.FloatField()
    tokens = serializers.IntegerField()
    error = serializers.CharField()
    block = serializers.CharField(allow_null=True, help_text="The exact text; null: none, or purged.")
    sha256 = serializers.CharField(allow_null=True)
    items = RecallItemAnswer(many=True)
    omitted = serializers.ListField(
        child=serializers.DictField(), help_text="The best that were left out, each with its reason."
    )
    omitted_counts = serializers.DictField(child=serializers.IntegerField())


class TraceAnswer(serializers.Serializer[Any]):
    turn = TurnDetail()
    steps = StepDetail(many=True)
    heard = HeardAnswer()
    given = GivenAnswer(allow_null=True)
    recalls = RecallAnswer(many=True)
    extraction = ExtractionDetail(allow_null=True, help_text="The run that read the turn.")
    distil = DistilAnswer()


class TraceView(ServiceView):
    @extend_schema(
        operation_id="turns_get",
        tags=["turns"],
        responses={200: TraceAnswer, **problems(400, 403, 404)},
        examples=[examples.trace],
    )
    def get(self, request: Request, turn_id: int) -> Response:
        """What was said and heard, what the turn was given and why, and what distilling made of it."""
        reject_unknown_parameters(request)
        chat = access.reach(
            request,
            Chat.objects.turns().select_related("topic", "extraction__topic").filter(pk=turn_id).first(),
            scope=Scope.TRACES_READ,
            permission=Permission.VIEW,
        )
        recalls = list(
            Recall.objects.filter(chat=chat).select_related("block").prefetch_related("items").order_by("id")
        )
        known = Memory.objects.of(chat.project).in_bulk(
            {item.memory_id for recall in recalls for item in recall.items.all()}
        )
        steps = Chat.objects.filter(parent=chat).order_by("position")
        return Response(
            {
                "turn": _turn(chat),
                "steps": [_step(step) for step in steps],
                "heard": heard_json(hearing.recollect(chat), chat.project),
                "given": _given(chat),
                "recalls": [_recall(recall, known) for recall in recalls],
                "extraction": _extraction(chat),
                "distil": distil_json(chat.topic, chat.project),
            }
        )


def summary_json(chat: Any) -> dict[str, Any]:
    """A turn of a list; `excerpt` comes from `with_excerpt()`."""
    return _basics(chat) | {"excerpt": chat.excerpt}


def _basics(chat: Chat) -> dict[str, Any]:
    return {
        "id": chat.pk,
        "ref": chat.ref,
        "seq": chat.seq,
        "status": chat.status,
        "topic": topic_reference(chat.topic),
        "origin": chat.origin,
        "author": {"ref": chat.author_ref, "name": chat.author_name},
        "agent": chat.agent,
        "memory_refs": chat.memory_refs,
        "memory_tokens": chat.memory_tokens,
        "degraded": chat.degraded,
        "distil_outcome": chat.distil_outcome,
        "sent_at": chat.sent_at,
        "finished_at": chat.finished_at,
    }


_PLAIN = tuple(name for name in TurnDetail().get_fields() if name not in TurnBasics().get_fields())


def _turn(chat: Chat) -> dict[str, Any]:
    return _basics(chat) | {name: getattr(chat, name) for name in _PLAIN}


def _step(step: Chat) -> dict[str, Any]:
    return step_json(step) | {
        name: getattr(step, name) for name in ("message", "reply", "started_at", "finished_at")
    }


def _given(chat: Chat) -> dict[str, Any] | None:
    if not chat.given:
        return None
    # A turn of old was given neither summary nor episodes.
    told = {name: chat.given.get(name) for name in GivenAnswer().get_fields()}
    rules = Instruction.objects.in_bulk(told["instructions"])
    summary = summaries.given(told["summary"])
    return told | {
        "summary": asdict(summary) if summary else None,
        "episodes": [episode_json(episode) for episode in episodes.given(told["episodes"] or [])],
        "instructions": [
            {
                "id": rule.pk,
                "kind": rule.kind,
                "content": rule.content,
                "state": rule.state,
                "memory": rule.memory_id,
            }
            for pk in told["instructions"]
            if (rule := rules.get(pk)) is not None
        ],
    }


def _recall(recall: Recall, known: Mapping[int, Memory]) -> dict[str, Any]:
    return {
        "id": recall.pk,
        "created_at": recall.created_at,
        "query": recall.query,
        "files": recall.files,
        "intent": recall.intent,
        "ranker": recall.ranker,
        "parameters": recall.parameters,
        "ms": recall.ms,
        "tokens": recall.tokens,
        "error": recall.error,
        "block": recall.block.text if recall.block else None,
        "sha256": recall.block_id,
        "items": [_item(item, known.get(item.memory_id)) for item in recall.items.all()],
        "omitted": recall.omitted,
        "omitted_counts": recall.omitted_counts,
    }


def _item(item: RecallItem, now: Memory | None) -> dict[str, Any]:
    return {
        "id": item.memory_id,
        "version": item.version,
        "tier": item.tier,
        "rank": item.rank,
        "score": item.score,
        "parts": item.parts,
        "tokens": item.tokens,
        "now": memory_brief(now) if now else None,
    }


def _extraction(chat: Chat) -> dict[str, Any] | None:
    run = chat.extraction
    if run is None:
        return None
    candidates = [candidate_json(candidate) for candidate in run.candidates.order_by("position")]
    return extraction_json(run) | {"candidates": candidates}
