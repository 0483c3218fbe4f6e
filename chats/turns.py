"""Opening and finishing a turn: what an agent service calls, straight down."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError
from django.utils import timezone

from chats import schedule, hearing
from chats.context import Context, Wanted, build
from chats.errors import NotATurn, RefReused, TurnAlreadyFinished
from chats.hearing import Heard
from chats.models import Chat, Topic
from memories import explicit, guard
from memories.tokens import count
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from projects.actors import Actor
    from projects.models import Project

ChatStatus = Chat.ChatStatus
NOTHING_READ = explicit.read("")
ABANDONED = "abandoned"


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """What a caller says when it opens a turn. `status` other than running: the turn already happened."""

    topic_ref: str
    ref: str
    message: str
    sent_at: datetime
    topic_title: str = ""
    topic_area: str = ""
    attached: str = ""
    files: Sequence[str] = ()
    author_ref: str = ""
    author_name: str = ""
    agent: str = ""
    origin: str = Chat.Origin.HUMAN
    wanted: Wanted = field(default_factory=Wanted)
    status: str = ChatStatus.RUNNING
    reply: str = ""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTurn:
    chat: Chat
    repeated: bool
    topic_created: bool
    heard: Heard
    context: Context


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedTurn:
    chat: Chat
    repeated: bool


def open_turn(*, project: Project, request: TurnRequest, by: Actor) -> OpenedTurn:
    """Store a turn, take what its human says explicitly, and give it its context.

    Idempotent on (topic ref, ref): the same request again gets the same turn, rendered from what was stored. What
    the human said is committed before recall runs, so it is kept whatever happens afterwards; a repeated request
    recalls then. Raises RefReused when the ref belongs to another message.
    """
    try:
        stored = _store(project=project, request=request, by=by)
    except IntegrityError:
        # Another request with the same ref, or for the same new topic, was quicker: read what it wrote.
        stored = _store(project=project, request=request, by=by)
    context = build(project=project, chat=stored.chat, wanted=request.wanted, earlier=stored.earlier)
    return OpenedTurn(
        chat=stored.chat,
        repeated=stored.repeated,
        topic_created=stored.topic_created,
        heard=stored.heard,
        context=context,
    )


def hear_further(
    *, project: Project, chat: Chat, message: str, sent_at: datetime, files: Sequence[str], wanted: Wanted, by: Actor
) -> tuple[Heard, Context]:
    """A further message of the turn's human, taken like the first one, and the context as it is now.

    An empty message only asks for the context again. Raises TurnAlreadyFinished, NotATurn.
    """
    if chat.parent_id is not None:
        raise NotATurn
    heard = _hear_further(project=project, chat=chat, message=message, sent_at=sent_at, files=files, by=by)
    return heard, build(project=project, chat=chat, wanted=wanted, renew=True)


@atomic_retry
def add_step(*, chat: Chat, agent: str, message: str, reply: str, status: str, ref: str | None = None) -> Chat:
    """A step of another agent. It gets the turn's context, recalls nothing and is read for nothing."""
    if chat.parent_id is not None:
        raise NotATurn
    Topic.objects.select_for_update().get(pk=chat.topic_id)
    if ref and (step := Chat.objects.filter(topic_id=chat.topic_id, ref=ref).first()):
        if step.parent_id != chat.pk or step.message != message:
            raise RefReused(step)
        return step
    return _create_step(chat, agent=agent, message=message, reply=reply, status=status, ref=ref)


@atomic_retry
def finish_turn(*, project: Project, chat: Chat, request: FinishRequest, by: Actor) -> FinishedTurn:
    """End a running turn, once. The same ending again is `repeated`; another raises TurnAlreadyFinished.

    A turn that was given up as abandoned may be ended properly once. Only a succeeded turn is distilled; that it
    is due is written in the same transaction, and a worker is told after the commit.
    """
    if chat.parent_id is not None:
        raise NotATurn
    now = timezone.now()
    topic = Topic.objects.select_for_update().get(pk=chat.topic_id)
    reply = guard.mask(request.reply) if project.mask_chats else request.reply
    updated = (
        Chat.objects.filter(pk=chat.pk)
        .endable(ABANDONED)
        .update(
            status=request.status,
            reply=reply,
            reply_tokens=count(reply),
            error=guard.mask(request.error),
            files=list(dict.fromkeys([*chat.files, *request.files])),
            tools=list(request.tools),
            milestone=request.milestone,
            model=request.model,
            usage=request.usage,
            finished_at=now,
            touched_at=now,
            distil_outcome=_outcome_at_finish(project, chat, request.status),
        )
    )
    chat.refresh_from_db()
    chat.topic = topic
    if updated != 1:
        if chat.status == request.status and chat.reply == reply:
            return FinishedTurn(chat=chat, repeated=True)
        raise TurnAlreadyFinished(chat)
    for step in request.steps:
        _create_step(chat, **step)
    if chat.status == ChatStatus.SUCCEEDED and chat.distil_outcome is None:
        schedule.make_due(topic, now=now, trigger=_trigger(chat))
    topic.updated_at = now
    topic.save(update_fields=["updated_at", *schedule.FIELDS])
    return FinishedTurn(chat=chat, repeated=False)


def give_up_abandoned(*, now: datetime) -> int:
    """Cancel running turns that nobody touched for TURN_ABANDONED_AFTER_S. A late finish may still replace that."""
    before = now - timedelta(seconds=settings.TURN_ABANDONED_AFTER_S)
    return (
        Chat.objects.abandoned(before).update(status=ChatStatus.CANCELLED, error=ABANDONED, finished_at=now)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    chat: Chat
    repeated: bool
    topic_created: bool
    heard: Heard
    earlier: list[Chat]


@atomic_retry
def _store(*, project: Project, request: TurnRequest, by: Actor) -> _Stored:
    """Everything of an opening that must be kept, in one transaction. Locks: project, then topic."""
    now = timezone.now()
    message = guard.mask(request.message) if project.mask_chats else request.message
    is_human = request.origin == Chat.Origin.HUMAN
    reading = explicit.read(request.message) if is_human else NOTHING_READ
    if hearing.may_write_memories(reading):
        hearing.lock_project(project)
    topic, created = Topic.objects.select_for_update().get_or_create(
        project=project,
        ref=request.topic_ref,
        defaults={"title": request.topic_title, "area": request.topic_area, "created_at": now, "updated_at": now},
    )
    topic.project = project
    earlier = [] if created else list(_earlier(topic))
    if (repeated := _find(topic, request.ref, earlier)) is not None:
        if repeated.message != message:
            raise RefReused(repeated)
        repeated.topic = topic
        return _Stored(
            chat=repeated,
            repeated=True,
            topic_created=False,
            heard=hearing.recollect(repeated),
            earlier=[turn for turn in earlier if turn.seq < repeated.seq],
        )
    is_over = request.status != ChatStatus.RUNNING
    chat = Chat(
        project=project,
        topic=topic,
        seq=earlier[0].seq + 1 if earlier else 1,
        ref=request.ref,
        origin=request.origin,
        author_ref=request.author_ref,
        author_name=request.author_name,
        agent=request.agent,
        status=request.status,
        message=message,
        attached=request.attached,
        files=list(request.files),
        reply=request.reply,
        message_tokens=count(message),
        reply_tokens=count(request.reply) if request.reply else 0,
        sent_at=request.sent_at,
        sent_offset=_offset(request.sent_at),
        started_at=now,
        touched_at=now,
        finished_at=now if is_over else None,
        already_happened=is_over,
    )
    if is_over:
        chat.distil_outcome = _outcome_at_finish(project, chat, request.status)
    if hearing.says_something(reading):
        chat.author_user = hearing.member(project, request.author_ref)
    chat.save(force_insert=True)
    changed = []
    if topic.status == Topic.TopicStatus.COMPLETED:
        topic.status = Topic.TopicStatus.OPEN
        changed.append("status")
    if request.topic_title and topic.title != request.topic_title:
        topic.title = request.topic_title
        changed.append("title")
    if is_over and request.status == ChatStatus.SUCCEEDED and chat.distil_outcome is None:
        schedule.make_due(topic, now=now, trigger=_trigger(chat))
        changed += schedule.FIELDS
    if changed:
        topic.save(update_fields=changed)
    heard = hearing.hear(chat=chat, text=request.message, reading=reading, by=by)
    return _Stored(chat=chat, repeated=False, topic_created=created, heard=heard, earlier=earlier)


@atomic_retry
def _hear_further(
    *, project: Project, chat: Chat, message: str, sent_at: datetime, files: Sequence[str], by: Actor
) -> Heard:
    if not message:
        return Heard()
    reading = explicit.read(message)
    if hearing.may_write_memories(reading):
        hearing.lock_project(project)
    topic = Topic.objects.select_for_update().get(pk=chat.topic_id)
    topic.project = project
    chat.refresh_from_db()
    chat.project, chat.topic = project, topic
    if chat.status != ChatStatus.RUNNING:
        raise TurnAlreadyFinished(chat)
    kept = guard.mask(message) if project.mask_chats else message
    chat.further = [*chat.further, {"text": kept, "sent_at": sent_at.isoformat()}]
    chat.files = list(dict.fromkeys([*chat.files, *files]))
    chat.message_tokens += count(kept)
    chat.touched_at = timezone.now()
    if hearing.says_something(reading) and chat.author_user_id is None:
        chat.author_user = hearing.member(project, chat.author_ref)
    chat.save(update_fields=["further", "files", "message_tokens", "touched_at", "author_user"])
    return hearing.hear(chat=chat, text=message, reading=reading, by=by)


def _earlier(topic: Topic) -> Any:
    """The newest turns of the topic: they give the next number, the history and the turn to go on from."""
    return (
        Chat.objects.turns()
        .filter(topic=topic)
        .order_by("-seq")
        .defer("attached", "tools", "usage", "error", "digest")[: settings.HISTORY_MAX_TURNS]
    )


def _find(topic: Topic, ref: str, earlier: list[Chat]) -> Chat | None:
    for turn in earlier:
        if turn.ref == ref:
            return turn
    if len(earlier) < settings.HISTORY_MAX_TURNS:
        return None
    return Chat.objects.filter(topic=topic, ref=ref).first()


def _create_step(
    chat: Chat, *, agent: str = "", message: str = "", reply: str = "", status: str, ref: str | None = None
) -> Chat:
    now = timezone.now()
    return Chat.objects.create(
        project_id=chat.project_id,
        topic_id=chat.topic_id,
        parent=chat,
        position=chat.steps.count() + 1,
        ref=ref or None,
        origin=Chat.Origin.MACHINE,
        agent=agent,
        status=status,
        message=message,
        reply=reply,
        message_tokens=count(message),
        reply_tokens=count(reply),
        memory_refs=chat.memory_refs,
        memory_tokens=chat.memory_tokens,
        distil_outcome=Chat.DistilOutcome.MACHINE,
        finished_at=None if status == ChatStatus.RUNNING else now,
    )


def _outcome_at_finish(project: Project, chat: Chat, status: str) -> str | None:
    """What is known about distilling when a turn ends: None means that it is due, if it succeeded."""
    if status != ChatStatus.SUCCEEDED:
        return None
    if chat.origin == Chat.Origin.MACHINE:
        return Chat.DistilOutcome.MACHINE
    if not project.memory_enabled:
        return Chat.DistilOutcome.MEMORY_OFF
    return None


def _trigger(chat: Chat) -> str:
    return "milestone" if chat.milestone else "turn"


def _offset(moment: datetime) -> int:
    offset = moment.utcoffset()
    return int(offset.total_seconds() // 60) if offset else 0
