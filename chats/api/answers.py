"""Turns, what was heard and what was given, as answers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils import timezone
from rest_framework import serializers

from chats import hearing, schedule
from chats.api.bodies import INTENTS
from chats.models import Chat, Instruction, Topic
from chats.receipts import Receipt
from memories.api.serializers import TopicReference, memory_brief
from memories.models import Memory, MemoryType, Status

if TYPE_CHECKING:
    from chats.given import Context, GivenEpisode, GivenMemory
    from chats.hearing import Forgotten, Heard, HeardItem
    from projects.models import Project

REMEMBERED_OUTCOMES = [str(one) for one in hearing.Outcome if one != hearing.Outcome.REFUSED]
DISTIL_STATES = ("off", "running", "pending", "waiting_for_provider", "idle")
FORGET_OUTCOMES = ("disabled", "several", "needs_confirmation", "none")


class MemoryBrief(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    version = serializers.IntegerField()
    key = serializers.CharField()
    type = serializers.ChoiceField(choices=MemoryType.choices)
    status = serializers.ChoiceField(choices=Status.choices)
    content = serializers.CharField()


class Undo(serializers.Serializer[Any]):
    """What to call to take it back; a person's right."""

    method = serializers.CharField()
    path = serializers.CharField()


class Replaced(MemoryBrief):
    undo = Undo()


class Remembered(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=REMEMBERED_OUTCOMES)
    memory = MemoryBrief(allow_null=True, help_text="null: deleted since.")
    replaced = Replaced(required=False, help_text="With `replaced`: what it took the place of.")
    would_replace = MemoryBrief(required=False, help_text="With `needs_confirmation`.")
    contradicts = MemoryBrief(required=False, help_text="With `stored`: both stay, and wait for a look.")


class Refused(serializers.Serializer[Any]):
    text = serializers.CharField(help_text="Secrets masked.")
    code = serializers.CharField()
    message = serializers.CharField(help_text="In the language of Accept-Language.")


class ForgottenAnswer(serializers.Serializer[Any]):
    outcome = serializers.ChoiceField(choices=FORGET_OUTCOMES)
    message = serializers.CharField(help_text="Why nothing was switched off; empty where something was.")
    memory = MemoryBrief(allow_null=True, help_text="What was switched off.")
    candidates = MemoryBrief(many=True, help_text="What it could have meant; none of it was touched.")
    undo = Undo(required=False)


class HeardAnswer(serializers.Serializer[Any]):
    remembered = Remembered(many=True)
    refused = Refused(many=True)
    forgotten = ForgottenAnswer(many=True)


class InstructionBrief(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=Instruction.Kind.choices)
    content = serializers.CharField()


class IntentAnswer(serializers.Serializer[Any]):
    value = serializers.ChoiceField(choices=INTENTS)
    rule = serializers.CharField(help_text="The rule that fired; `caller` for your own word.")


class GivenMemoryAnswer(serializers.Serializer[Any]):
    block = serializers.CharField(help_text="`always` followed by `relevant`.")
    always = serializers.CharField(help_text="The same from turn to turn: belongs in the cached prefix.")
    relevant = serializers.CharField()
    sha256 = serializers.CharField(help_text="Of the block.")
    refs = serializers.ListField(child=serializers.IntegerField(), help_text="Ids of its memories, in order.")
    tokens = serializers.IntegerField()


class LineAnswer(serializers.Serializer[Any]):
    turn = serializers.IntegerField()
    role = serializers.ChoiceField(choices=("user", "assistant"))
    content = serializers.CharField()
    note = serializers.CharField(required=False, help_text="`failed`: the turn did not succeed.")


class TokenAccount(serializers.Serializer[Any]):
    """`free` is what the window has left after all the others; below 0, what must be given is more than it holds."""

    encoding = serializers.CharField()
    window = serializers.IntegerField()
    instructions = serializers.IntegerField()
    memory = serializers.IntegerField()
    summary = serializers.IntegerField()
    episodes = serializers.IntegerField()
    history = serializers.IntegerField()
    message = serializers.IntegerField()
    free = serializers.IntegerField()


class EpisodeAnswer(serializers.Serializer[Any]):
    """A turn of another topic."""

    turn = serializers.IntegerField()
    topic = TopicReference()
    sent_at = serializers.DateTimeField()
    content = serializers.CharField(help_text="What was asked, and what came of it.")
    tokens = serializers.IntegerField(help_text="Of `content`.")


class ContextAnswer(serializers.Serializer[Any]):
    memory_enabled = serializers.BooleanField()
    degraded = serializers.ListField(
        child=serializers.CharField(),
        help_text="Why a part is empty: `recall_failed`, `recall_deadline`, `episodes_failed`, `summary_failed`.",
    )
    intent = IntentAnswer()
    instructions = InstructionBrief(many=True)
    memory = GivenMemoryAnswer(allow_null=True, help_text="null: memory is off, or was not asked for.")
    summary = serializers.CharField(
        allow_null=True,
        help_text="What the topic came to, where `history` does not reach its beginning; null: it does, or there is"
        " none yet.",
    )
    episodes = EpisodeAnswer(
        many=True,
        help_text="Of other topics, best first, when the intent is `lookup`, or `continue` in an empty topic.",
    )
    history = LineAnswer(many=True)
    tokens = TokenAccount()


class TopicOfTurnAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    ref = serializers.CharField()
    created = serializers.BooleanField()


class OpenedTurn(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    ref = serializers.CharField()
    seq = serializers.IntegerField()
    status = serializers.ChoiceField(choices=Chat.ChatStatus.choices)
    topic = TopicOfTurnAnswer()


class OpenAnswer(HeardAnswer):
    turn = OpenedTurn()
    context = ContextAnswer()  # type: ignore[assignment]


class TurnStatus(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    status = serializers.ChoiceField(choices=Chat.ChatStatus.choices)


class FreshContext(HeardAnswer):
    turn = TurnStatus()
    context = ContextAnswer()  # type: ignore[assignment]


class StepAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    ref = serializers.CharField(allow_null=True)
    position = serializers.IntegerField()
    agent = serializers.CharField()
    status = serializers.ChoiceField(choices=Chat.ChatStatus.choices)
    memory_refs = serializers.ListField(child=serializers.IntegerField(), allow_null=True)
    memory_tokens = serializers.IntegerField(allow_null=True)


class AddedStepAnswer(serializers.Serializer[Any]):
    step = StepAnswer()
    repeated = serializers.BooleanField()
    context = ContextAnswer(help_text="The turn's, byte for byte.")  # type: ignore[assignment]


class DistilAnswer(serializers.Serializer[Any]):
    state = serializers.ChoiceField(
        choices=DISTIL_STATES, help_text="`waiting_for_provider`: the model that would read it is down."
    )
    due_at = serializers.DateTimeField(allow_null=True, help_text="Not before then.")


class ReceiptDetail(HeardAnswer):
    used = MemoryBrief(many=True)


class ReceiptAnswer(serializers.Serializer[Any]):
    text = serializers.CharField(help_text="To show under the reply, in the language of Accept-Language.")
    remembered = serializers.IntegerField()
    refused = serializers.IntegerField()
    used = serializers.IntegerField()
    tokens = serializers.IntegerField()
    url = serializers.CharField(help_text="The turn's trace.")
    detail = ReceiptDetail(required=False, help_text="In debug mode.")


class FinishAnswer(serializers.Serializer[Any]):
    turn = TurnStatus()
    repeated = serializers.BooleanField()
    distil = DistilAnswer()
    receipt = ReceiptAnswer()


# --- From values to answers --------------------------------------------------------------------------------


def heard_json(heard: Heard, project: Project) -> dict[str, Any]:
    return {
        "remembered": [_remembered(item, project) for item in heard.remembered],
        "refused": [{"text": one.text, "code": one.code, "message": one.message} for one in heard.refused],
        "forgotten": [_forgotten(item, project) for item in heard.forgotten],
    }


def context_json(context: Context) -> dict[str, Any]:
    return {
        "memory_enabled": context.memory_enabled,
        "degraded": list(context.degraded),
        "intent": {"value": str(context.intent.value), "rule": context.intent.rule},
        "instructions": [
            {"id": rule.pk, "kind": rule.kind, "content": rule.content} for rule in context.instructions
        ],
        "memory": memory_json(context.memory) if context.memory else None,
        "summary": context.summary.text if context.summary else None,
        "episodes": [episode_json(episode) for episode in context.episodes],
        "history": [
            {"turn": line.turn, "role": line.role, "content": line.content}
            | ({"note": line.note} if line.note else {})
            for line in context.history
        ],
        "tokens": context.tokens,
    }


def memory_json(memory: GivenMemory) -> dict[str, Any]:
    return {
        "block": memory.block,
        "always": memory.always,
        "relevant": memory.relevant,
        "sha256": memory.sha256,
        "refs": list(memory.refs),
        "tokens": memory.tokens,
    }


def episode_json(episode: GivenEpisode) -> dict[str, Any]:
    return {
        "turn": episode.turn,
        "topic": {"id": episode.topic, "ref": episode.topic_ref, "title": episode.topic_title},
        "sent_at": episode.sent_at,
        "content": episode.content,
        "tokens": episode.tokens,
    }


def step_json(step: Chat) -> dict[str, Any]:
    return {
        "id": step.pk,
        "ref": step.ref,
        "position": step.position,
        "agent": step.agent,
        "status": step.status,
        "memory_refs": step.memory_refs,
        "memory_tokens": step.memory_tokens,
    }


def distil_json(topic: Topic, project: Project) -> dict[str, Any]:
    state, due_at = schedule.state_of(topic, memory_enabled=project.memory_enabled, now=timezone.now())
    return {"state": state, "due_at": due_at}


def receipt_json(receipt: Receipt, chat: Chat, project: Project) -> dict[str, Any]:
    """In debug mode it says as well what was remembered, refused and used."""
    told: dict[str, Any] = {
        "text": receipt.text,
        "remembered": receipt.remembered,
        "refused": receipt.refused,
        "used": receipt.used or 0,
        "tokens": receipt.tokens,
        "url": receipt.url,
    }
    if project.debug_mode:
        used = Memory.objects.of(project).in_bulk(chat.memory_refs or [])
        told["detail"] = heard_json(hearing.recollect(chat), project) | {
            "used": [memory_brief(used[pk]) for pk in chat.memory_refs or [] if pk in used]
        }
    return told


def _remembered(item: HeardItem, project: Project) -> dict[str, Any]:
    told: dict[str, Any] = {
        "outcome": item.outcome,
        "memory": memory_brief(item.memory) if item.memory else None,
    }
    if item.other is None:
        return told
    match item.outcome:
        case hearing.Outcome.REPLACED:
            undo = _call("memories:memory-restore", project, item.other)
            return told | {"replaced": memory_brief(item.other) | {"undo": undo}}
        case hearing.Outcome.NEEDS_CONFIRMATION:
            return told | {"would_replace": memory_brief(item.other)}
    return told | {"contradicts": memory_brief(item.other)}


def _forgotten(item: Forgotten, project: Project) -> dict[str, Any]:
    told: dict[str, Any] = {
        "outcome": item.outcome,
        "message": item.message,
        "memory": memory_brief(item.memory) if item.memory else None,
        "candidates": [memory_brief(memory) for memory in item.candidates],
    }
    if item.memory is not None:
        told["undo"] = _call("memories:memory-enable", project, item.memory)
    return told


def _call(name: str, project: Project, memory: Memory) -> dict[str, str]:
    return {
        "method": "POST",
        "path": reverse(name, kwargs={"slug": project.slug, "memory_id": memory.pk}),
    }
