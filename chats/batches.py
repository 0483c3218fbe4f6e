"""Which turns of a topic one run of the distilling reads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings

from chats.models import Chat, Topic
from memories.models import Extraction

if TYPE_CHECKING:
    from django.db.models import QuerySet

RunStatus, ErrorKind = Extraction.RunStatus, Extraction.ErrorKind
# Errors that say nothing about what was read: it comes again, whole, after a back-off.
NOT_OF_THE_TURNS = (ErrorKind.PROVIDER, ErrorKind.INTERNAL)


def oldest_unread(topic: Topic) -> list[Chat]:
    """The oldest turns no run has read, whole, as many as fit DISTIL_MAX_TOKENS; at least one if there is one.

    After a run that failed on what it read, or whose worker died, at most half as many as that one took.
    """
    chosen = _fitting(Chat.objects.undistilled().filter(topic=topic).order_by("seq"))
    # A provider that was down in between does not make a run take more again.
    last = (
        Extraction.objects.filter(topic=topic)
        .exclude(status=RunStatus.CANCELLED)
        .exclude(status=RunStatus.FAILED, error_kind__in=NOT_OF_THE_TURNS)
        .first()
    )
    if last is None or last.status not in (RunStatus.FAILED, RunStatus.ABANDONED):
        return chosen
    if chosen and chosen[0].pk in last.chats_read:
        return chosen[: max(1, len(last.chats_read) // 2)]
    return chosen


def may_show_procedures(topic_id: int) -> bool:
    """Whether a turn of the topic, or a step of one, names tools: a way of doing a task may have been seen."""
    done = Chat.objects.filter(topic=topic_id, status=Chat.ChatStatus.SUCCEEDED)
    return done.exclude(tools=[]).exists()


def closing(topic: Topic) -> list[Chat]:
    """The last turns of a completed topic, all of them read before: once more as a whole, for the procedures.

    None of them where a run has done that since the last of them ended, or tried and failed for what it read.
    """
    if topic.status != Topic.TopicStatus.COMPLETED or not may_show_procedures(topic.pk):
        return []
    succeeded = Chat.objects.turns().filter(topic=topic, status=Chat.ChatStatus.SUCCEEDED)
    chosen = _fitting(succeeded.order_by("-seq"))
    ended = max((turn.finished_at for turn in chosen if turn.finished_at), default=None)
    tried = Extraction.objects.filter(topic=topic, trigger=Extraction.Trigger.TOPIC_COMPLETED).exclude(
        status=RunStatus.FAILED, error_kind__in=NOT_OF_THE_TURNS
    )
    if ended is None or tried.filter(started_at__gte=ended).exists():
        return []
    return chosen[::-1]


def _fitting(turns: QuerySet[Chat]) -> list[Chat]:
    """The first turns, whole, as many as fit DISTIL_MAX_TOKENS; at least one if there is one."""
    chosen: list[Chat] = []
    tokens = 0
    for turn in turns.iterator(chunk_size=50):
        tokens += turn.message_tokens + turn.reply_tokens
        if chosen and tokens > settings.DISTIL_MAX_TOKENS:
            break
        chosen.append(turn)
    return chosen
