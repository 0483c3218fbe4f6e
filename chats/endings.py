"""The end of a turn: finished once by its caller, or given up when nobody touched it for too long."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from chats import hearing, querysets, schedule, summaries
from chats.errors import NotATurn, TurnAlreadyFinished
from chats.models import Chat, Topic
from chats.steps import put_step, stored_text, stored_values
from memories import guard, store
from memories.tokens import count
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from django.contrib.auth.models import User

    from projects.actors import Actor
    from projects.models import Project

ChatStatus = Chat.ChatStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishRequest:
    """How a turn ended. `steps` are those of other agents inside it that were not reported before."""

    status: str
    reply: str = ""
    error: str = ""
    files: Sequence[str] = ()
    tools: Sequence[dict[str, Any]] = ()
    steps: Sequence[dict[str, Any]] = ()
    milestone: str = ""
    model: str = ""
    usage: dict[str, Any] = field(default_factory=dict)

    def names(self) -> Iterator[tuple[str, str]]:
        """The short texts that are shown in lists and prompts, by their place in the request."""
        for place, step in enumerate(self.steps):
            yield f"steps/{place}/agent", step.get("agent", "")
            yield f"steps/{place}/ref", step.get("ref") or ""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTurn:
    chat: Chat
    repeated: bool


@atomic_retry
def finish_turn(*, project: Project, chat: Chat, request: FinishRequest, by: Actor) -> FinishedTurn:
    """End a running turn, once. The same ending again is `repeated`; another raises TurnAlreadyFinished.

    A turn that was given up as abandoned may be ended properly once. Only a succeeded turn is distilled; that
    it is due is written in the same transaction, and a worker is told after the commit. Raises GuardRefused for
    a step's ref or agent that must not be kept.
    """
    if chat.parent_id is not None:
        raise NotATurn
    store.guard_texts(request.names())
    now = timezone.now()
    # The topic is ordered by its latest ending within its project, whose lock the database shares for that, too.
    store.share(project)
    topic = Topic.objects.select_for_update().get(pk=chat.topic_id)
    topic.project = project
    chat.refresh_from_db(fields=["files"])
    reply = stored_text(project, request.reply)
    updated = (
        Chat.objects.filter(pk=chat.pk)
        .endable()
        .update(
            status=request.status,
            reply=reply,
            reply_tokens=count(reply),
            error=guard.mask(request.error),
            files=list(dict.fromkeys([*chat.files, *stored_values(project, list(request.files))])),
            tools=stored_values(project, list(request.tools)),
            milestone=stored_text(project, request.milestone),
            model=stored_text(project, request.model),
            usage=stored_values(project, request.usage),
            finished_at=now,
            touched_at=now,
            author_user=_author(project, chat),
            distil_outcome=distil_outcome(project, chat, request.status),
        )
    )
    chat.refresh_from_db()
    chat.project, chat.topic = project, topic
    if updated != 1:
        if chat.status == request.status and chat.reply == reply:
            return FinishedTurn(chat=chat, repeated=True)
        raise TurnAlreadyFinished(chat)
    for step in request.steps:
        put_step(project, chat, **step)
    if chat.status == ChatStatus.SUCCEEDED and chat.distil_outcome is None:
        schedule.make_due(topic, now=now, trigger=trigger(chat))
    topic.updated_at = now
    summaries.make_due(topic, now=now)
    topic.save(update_fields=["updated_at", "summary_due_at", *schedule.FIELDS])
    return FinishedTurn(chat=chat, repeated=False)


@atomic_retry
def give_up_abandoned(*, now: datetime) -> int:
    """Cancel running turns that nobody touched for TURN_ABANDONED_AFTER_S. A late finish may replace that."""
    before = now - timedelta(seconds=settings.TURN_ABANDONED_AFTER_S)
    return Chat.objects.abandoned(before).update(
        status=ChatStatus.CANCELLED, error=querysets.ABANDONED, finished_at=now
    )


def distil_outcome(project: Project, chat: Chat, status: str) -> str | None:
    """What is known about distilling when a turn ends: None means that it is due, if it succeeded."""
    if status != ChatStatus.SUCCEEDED:
        return None
    if chat.origin == Chat.Origin.MACHINE:
        return Chat.DistilOutcome.MACHINE
    if not project.memory_enabled:
        return Chat.DistilOutcome.MEMORY_OFF
    return None


def trigger(chat: Chat) -> str:
    """What makes the topic of a finished turn due."""
    if chat.milestone:
        return schedule.Trigger.MILESTONE
    return schedule.Trigger.DIRECTIVE if chat.instructions.exists() else schedule.Trigger.TURN


def _author(project: Project, chat: Chat) -> User | None:
    """The member who spoke, where the caller's reference names one. An opening asks only where it has to know."""
    return chat.author_user or hearing.member(project, chat.author_ref)
