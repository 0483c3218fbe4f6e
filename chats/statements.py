"""What opening a turn reads, compiled once: see projects/statements.py."""

from __future__ import annotations

from functools import cache

from chats.models import Chat, Instruction, Topic
from projects.statements import Select

_topic = Select(
    lambda project_id, ref: Topic.objects.select_for_update().filter(project_id=project_id, ref=ref), int, str
)
_rules = Select(lambda topic_id: Instruction.objects.filter(topic_id=topic_id).in_force(), int)


def locked_topic(project_id: int, ref: str) -> Topic | None:
    """The project's topic of that ref, its row locked until the transaction ends."""
    return next(iter(_topic(project_id, ref)), None)


def newest_turns(topic_id: int, *, limit: int) -> list[Chat]:
    """The topic's newest turns, newest first, with what the next turn needs of them."""
    return _newest_turns(limit)(topic_id)


def rules_in_force(topic_id: int) -> list[Instruction]:
    return _rules(topic_id)


@cache
def _newest_turns(limit: int) -> Select[Chat]:
    return Select(lambda topic_id: Chat.objects.history_of(topic_id)[:limit], int)
