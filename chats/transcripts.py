"""Turning turns into the Transcript that extraction reads."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import TYPE_CHECKING

from django.conf import settings

from chats.models import Chat, Instruction, Topic
from memories import explicit
from memories.extraction import KnownMemory, Signal, Transcript, Turn, known_memories

if TYPE_CHECKING:
    from collections.abc import Sequence


def build_transcript(topic: Topic, turns: Sequence[Chat]) -> Transcript:
    """The turns to read, up to DISTIL_CONTEXT_TURNS earlier ones as uncitable context, and what is known already."""
    context = list(
        Chat.objects.turns()
        .filter(topic=topic, seq__lt=turns[0].seq, status=Chat.ChatStatus.SUCCEEDED)
        .order_by("-seq")[: settings.DISTIL_CONTEXT_TURNS]
    )[::-1]
    signals: dict[int, list[Signal]] = {}
    for instruction in Instruction.objects.filter(
        chat__in=[turn.pk for turn in turns], state=Instruction.State.ACTIVE
    ).exclude(kind=Instruction.Kind.TEMPORARY):
        signals.setdefault(instruction.chat_id, []).append(
            Signal(id=instruction.pk, kind=instruction.kind, content=instruction.content)
        )
    project = topic.project
    return Transcript(
        turns=tuple(
            [_turn(chat, citable=False) for chat in context]
            + [_turn(chat, citable=True, signals=tuple(signals.get(chat.pk, ()))) for chat in turns]
        ),
        known=_known(topic, turns),
        static_instructions=project.static_instructions,
        guidance=project.guidance,
        area=topic.area,
        completed=topic.status == Topic.TopicStatus.COMPLETED,
    )


def _turn(chat: Chat, *, citable: bool, signals: tuple[Signal, ...] = ()) -> Turn:
    """Further messages of the turn are the same human's words: they are read with the first."""
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
        tools=tuple(str(tool.get("name", "")) for tool in chat.tools),
        origin=chat.origin,
        citable=citable,
        blanked=explicit.read(message).spans if chat.origin == Chat.Origin.HUMAN else (),
        signals=signals,
        already_happened=chat.already_happened,
    )


def _known(topic: Topic, turns: Sequence[Chat]) -> tuple[KnownMemory, ...]:
    """The live memories that the talk is most likely about."""
    words = "\n".join(text for turn in turns for text in (turn.message, turn.reply))
    return known_memories(topic.project, words, limit=settings.DISTIL_KNOWN_MEMORIES)
