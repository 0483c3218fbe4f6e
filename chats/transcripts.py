"""Turning turns into the Transcript that extraction reads."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING

from django.conf import settings

from chats.models import Chat, Instruction, Topic
from memories import explicit
from memories.extraction import KnownMemory, Signal, Transcript, Turn, known_memories

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


def build_transcript(topic: Topic, turns: Sequence[Chat]) -> Transcript:
    """The turns to read, up to DISTIL_CONTEXT_TURNS earlier ones as uncitable context, and what is known already."""
    context = list(
        Chat.objects.turns()
        .filter(topic=topic, seq__lt=turns[0].seq, status=Chat.ChatStatus.SUCCEEDED)
        .order_by("-seq")[: settings.DISTIL_CONTEXT_TURNS]
    )[::-1]
    said: dict[int, list[Instruction]] = {}
    for instruction in Instruction.objects.filter(chat__in=[turn.pk for turn in turns]):
        said.setdefault(instruction.chat_id, []).append(instruction)
    project = topic.project
    agents = _agents([*context, *turns])
    return Transcript(
        turns=tuple(
            [_turn(chat, citable=False, agents=agents) for chat in context]
            + [
                _turn(chat, citable=chat.distil_outcome is None, said=said.get(chat.pk, ()), agents=agents)
                for chat in turns
            ]
        ),
        known=_known(topic, turns),
        static_instructions=project.static_instructions,
        guidance=project.guidance,
        area=topic.area,
        completed=topic.status == Topic.TopicStatus.COMPLETED,
    )


def _agents(turns: Sequence[Chat]) -> dict[int, list[str]]:
    """The other agents whose steps within each turn succeeded, in order."""
    agents: dict[int, list[str]] = {}
    steps = Chat.objects.filter(
        parent__in=[turn.pk for turn in turns], status=Chat.ChatStatus.SUCCEEDED
    ).order_by("parent", "position")
    for parent, agent in steps.exclude(agent="").values_list("parent", "agent"):
        agents.setdefault(parent, []).append(agent)
    return agents


def _turn(
    chat: Chat, *, citable: bool, said: Sequence[Instruction] = (), agents: Mapping[int, Sequence[str]]
) -> Turn:
    """Further messages of the turn are the same human's words: they are read with the first.

    `said`: the Instructions that the turn gave. One that nobody took back is a signal, the words of one that was
    taken back are not read.
    """
    message = "\n\n".join([chat.message, *(entry["text"] for entry in chat.further)])
    zone = timezone(timedelta(minutes=chat.sent_offset))
    return Turn(
        id=chat.pk,
        seq=chat.seq or 0,
        message=message,
        sent_at=chat.sent_at.astimezone(zone),
        reply=chat.reply,
        author=chat.author_name,
        status=chat.status,
        tools=tuple(str(tool.get("name", "")) for tool in chat.tools if tool.get("ok") is not False),
        agents=tuple(agents.get(chat.pk, ())),
        files=tuple(str(path) for path in chat.files),
        origin=chat.origin,
        citable=citable,
        blanked=_not_read(message, said) if chat.origin == Chat.Origin.HUMAN else (),
        signals=tuple(
            Signal(id=rule.pk, kind=rule.kind, content=rule.content) for rule in said if rule.is_undecided
        ),
        already_happened=chat.already_happened,
    )


def _not_read(message: str, said: Sequence[Instruction]) -> tuple[tuple[int, int], ...]:
    """Where the explicit channel took the words, and where a rule stands that was taken back."""
    reading = explicit.read(message)
    taken_back = {rule.content for rule in said if rule.state == Instruction.State.DISMISSED}
    return reading.spans + tuple(
        (utterance.start, utterance.end) for utterance in reading.utterances if utterance.text in taken_back
    )


def _known(topic: Topic, turns: Sequence[Chat]) -> tuple[KnownMemory, ...]:
    """The live memories that the talk is most likely about."""
    words = "\n".join(text for turn in turns for text in (turn.message, turn.reply))
    return known_memories(topic.project, words, limit=settings.DISTIL_KNOWN_MEMORIES)
