"""Turns for tests, made the way a caller makes them."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from chats.endings import FinishRequest, finish_turn
from chats.turns import OpenedTurn, TurnRequest, open_turn
from projects.actors import Actor

if TYPE_CHECKING:
    from chats.models import Chat
    from projects.models import Project

AGENT = Actor(kind="system", name="agent", transport="api")
_numbers = itertools.count(1)


def opened(project: Project, message: str, *, topic: str = "topic", **fields: Any) -> OpenedTurn:
    request = TurnRequest(
        topic_ref=topic,
        ref=fields.pop("ref", f"turn-{next(_numbers)}"),
        message=message,
        sent_at=fields.pop("sent_at", None) or timezone.now(),
        **fields,
    )
    return open_turn(project=project, request=request, by=AGENT)


def finished(project: Project, chat: Chat, *, status: str = "succeeded", reply: str = "好的。") -> Chat:
    return finish_turn(
        project=project, chat=chat, request=FinishRequest(status=status, reply=reply), by=AGENT
    ).chat


def turn(
    project: Project, message: str, *, status: str = "succeeded", reply: str = "好的。", **fields: Any
) -> Chat:
    """A whole turn: opened and finished."""
    return finished(project, opened(project, message, **fields).chat, status=status, reply=reply)
