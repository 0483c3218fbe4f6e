"""Opening a turn, and what is said while it runs: what an agent service calls, straight down."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from django.conf import settings
from django.db import IntegrityError
from django.utils import timezone

from chats import context, endings, hearing, schedule, summaries
from chats.context import Wanted
from chats.errors import NotATurn, RefReused, TurnAlreadyFinished
from chats.hearing import Heard
from chats.models import Chat, Topic
from chats.statements import locked_topic, newest_turns
from chats.steps import stored_text, stored_values
from memories import explicit, store
from memories.tokens import count
from projects.statements import Insert
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from chats.given import Context
    from memories.explicit import Reading
    from projects.actors import Actor
    from projects.models import Project

ChatStatus = Chat.ChatStatus
NOTHING_READ = explicit.read("")
_insert_turn = Insert(Chat)


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

    def names(self) -> Iterator[tuple[str, str]]:
        """The short texts that are shown in lists and prompts, by their place in the request."""
        yield "topic/ref", self.topic_ref
        yield "ref", self.ref
        yield "author/ref", self.author_ref
        yield "topic/title", self.topic_title
        yield "topic/area", self.topic_area
        yield "author/name", self.author_name
        yield "agent", self.agent


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenedTurn:
    chat: Chat
    repeated: bool
    topic_created: bool
    heard: Heard
    context: Context


def open_turn(*, project: Project, request: TurnRequest, by: Actor) -> OpenedTurn:
    """Store a turn, take what its human says explicitly, and give it its context.

    Idempotent on (topic ref, ref): the same request again gets the same turn, rendered from what was stored.
    What the human said is committed before recall runs, so it is kept whatever happens afterwards; a repeated
    request recalls where the first one could not, and one that tells the ending ends the turn. Raises RefReused
    when the ref belongs to another message, TurnAlreadyFinished when the turn ended otherwise, GuardRefused for
    a ref, title, area or name that must not be kept.
    """
    store.guard_texts(request.names())
    said = _read(project, request)
    try:
        stored = _store(project=project, request=request, said=said, by=by)
    except IntegrityError:
        # The project went meanwhile (raises), or the ref is taken: by an old turn of a long topic, or by another
        # request, for the same new topic perhaps, that was quicker. Read what is there.
        project.refresh_from_db(fields=["memory_version"])
        if (step := _step_with_ref(project, request)) is not None:
            raise RefReused(step) from None
        stored = _store(project=project, request=request, said=said, by=by, look_everywhere=True)
    chat = stored.chat
    if stored.repeated and request.status != ChatStatus.RUNNING:
        # The opening arrived, but its answer did not: now the caller reports the turn as a whole.
        ending = endings.FinishRequest(status=request.status, reply=request.reply)
        endings.finish_turn(project=project, chat=chat, request=ending, by=by)
    is_running = chat.status == ChatStatus.RUNNING
    if not stored.repeated or (is_running and (chat.degraded or not chat.given)):
        given = context.build(
            project=project,
            chat=chat,
            wanted=request.wanted,
            earlier=stored.earlier,
            version=stored.version,
        )
    else:
        given = context.again(project=project, chat=chat)
    return OpenedTurn(
        chat=chat,
        repeated=stored.repeated,
        topic_created=stored.topic_created,
        heard=stored.heard,
        context=given,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardFurther:
    """What a further message led to; `since` and `until` find it among all that the turn's messages led to."""

    heard: Heard
    since: dict[str, int]
    until: dict[str, int]


@atomic_retry
def hear_further(
    *,
    project: Project,
    chat: Chat,
    message: str,
    by: Actor,
    sent_at: datetime | None = None,
    files: Sequence[str] = (),
) -> HeardFurther:
    """Take a further message of a running turn's human like the first one; `chat` is brought up to date.

    Raises TurnAlreadyFinished, NotATurn.
    """
    if chat.parent_id is not None:
        raise NotATurn
    reading = explicit.read(message) if chat.origin == Chat.Origin.HUMAN else NOTHING_READ
    if hearing.may_write_memories(reading):
        store.lock(project)
    topic = Topic.objects.select_for_update().get(pk=chat.topic_id)
    topic.project = project
    # Its own row, too: what a context of it writes down holds no lock of the topic.
    chat.refresh_from_db(from_queryset=Chat.objects.select_for_update())
    chat.project, chat.topic = project, topic
    if chat.status != ChatStatus.RUNNING:
        raise TurnAlreadyFinished(chat)
    now = timezone.now()
    kept = stored_text(project, message)
    chat.further = [*chat.further, {"text": kept, "sent_at": _not_after(sent_at or now, now).isoformat()}]
    chat.files = list(dict.fromkeys([*chat.files, *stored_values(project, list(files))]))
    chat.message_tokens += count(kept)
    chat.touched_at = now
    if hearing.says_something(reading) and chat.author_user_id is None:
        chat.author_user = hearing.member(project, chat.author_ref)
    chat.save(update_fields=["further", "files", "message_tokens", "touched_at", "author_user"])
    since = hearing.extent(chat)
    heard = hearing.hear(chat=chat, text=message, reading=reading, by=by)
    return HeardFurther(heard=heard, since=since, until=hearing.extent(chat))


def renew_context(*, project: Project, chat: Chat, wanted: Wanted) -> Context:
    """The context of a running turn as it is now. Raises TurnAlreadyFinished, NotATurn."""
    if chat.parent_id is not None:
        raise NotATurn
    if chat.status != ChatStatus.RUNNING:
        raise TurnAlreadyFinished(chat)
    return context.build(project=project, chat=chat, wanted=wanted)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Said:
    """The texts of an opening as they are stored, read and counted: work that no lock should wait for."""

    message: str
    reply: str
    attached: str
    message_tokens: int
    reply_tokens: int
    reading: Reading


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stored:
    chat: Chat
    repeated: bool
    topic_created: bool
    heard: Heard
    earlier: list[Chat]
    # The project's memory_version then; None if the turn may have written memories itself.
    version: str | None


def _read(project: Project, request: TurnRequest) -> _Said:
    message, reply = stored_text(project, request.message), stored_text(project, request.reply)
    is_human = request.origin == Chat.Origin.HUMAN
    return _Said(
        message=message,
        reply=reply,
        attached=stored_text(project, request.attached),
        message_tokens=count(message),
        reply_tokens=count(reply),
        reading=explicit.read(request.message) if is_human else NOTHING_READ,
    )


@atomic_retry
def _store(
    *, project: Project, request: TurnRequest, said: _Said, by: Actor, look_everywhere: bool = False
) -> _Stored:
    """Everything of an opening that must be kept, in one transaction. Locks: project, then topic.

    A repeated request is looked for among the newest turns, or with `look_everywhere` among all: the unique ref
    decides, and looking first only spares the usual repetition an error.
    """
    now = timezone.now()
    sent_at = _not_after(request.sent_at, now)
    version: str | None = None
    if hearing.may_write_memories(said.reading):
        store.lock(project)
    else:
        version = store.share(project)
    topic, created = _locked_topic(project, request, now)
    topic.project = project
    earlier = [] if created else newest_turns(topic.pk, limit=settings.HISTORY_MAX_TURNS)
    if (repeated := _find(topic, request.ref, None if look_everywhere else earlier)) is not None:
        if repeated.message != said.message:
            raise RefReused(repeated)
        repeated.project, repeated.topic = project, topic
        return _Stored(
            chat=repeated,
            repeated=True,
            topic_created=False,
            heard=hearing.recollect(repeated),
            earlier=[turn for turn in earlier if (turn.seq or 0) < (repeated.seq or 0)],
            version=version,
        )
    is_over = request.status != ChatStatus.RUNNING
    chat = Chat(
        project=project,
        topic=topic,
        seq=(earlier[0].seq or 0) + 1 if earlier else 1,
        ref=request.ref,
        origin=request.origin,
        author_ref=request.author_ref,
        author_name=request.author_name,
        agent=request.agent,
        status=request.status,
        message=said.message,
        attached=said.attached,
        files=list(dict.fromkeys(stored_values(project, list(request.files)))),
        reply=said.reply,
        message_tokens=said.message_tokens,
        reply_tokens=said.reply_tokens,
        sent_at=sent_at,
        sent_offset=_offset(sent_at),
        started_at=now,
        touched_at=now,
        finished_at=now if is_over else None,
        already_happened=is_over,
        # Nothing yet; NULL says that memory was off.
        memory_refs=[] if project.memory_enabled else None,
        memory_tokens=0 if project.memory_enabled else None,
    )
    if is_over:
        chat.distil_outcome = endings.distil_outcome(project, chat, request.status)
    if hearing.says_something(said.reading):
        chat.author_user = hearing.member(project, request.author_ref)
    _insert_turn.save(chat)
    changed = []
    if topic.status == Topic.TopicStatus.COMPLETED:
        topic.status = Topic.TopicStatus.OPEN
        changed.append("status")
    if request.topic_title and topic.title != request.topic_title:
        topic.title = request.topic_title
        changed.append("title")
    if request.topic_area and topic.area != request.topic_area:
        topic.area = request.topic_area
        changed.append("area")
    if is_over and request.status == ChatStatus.SUCCEEDED and chat.distil_outcome is None:
        schedule.make_due(topic, now=now, trigger=endings.trigger(chat))
        changed += schedule.FIELDS
    if is_over:
        summaries.make_due(topic, now=now)
        changed.append("summary_due_at")
    if changed:
        topic.save(update_fields=changed)
    heard = hearing.hear(chat=chat, text=request.message, reading=said.reading, by=by)
    return _Stored(
        chat=chat, repeated=False, topic_created=created, heard=heard, earlier=earlier, version=version
    )


def _locked_topic(project: Project, request: TurnRequest, now: datetime) -> tuple[Topic, bool]:
    """The topic of the turn, locked, and whether it is new."""
    if (topic := locked_topic(project.pk, request.topic_ref)) is not None:
        return topic, False
    return Topic.objects.select_for_update().get_or_create(
        project=project,
        ref=request.topic_ref,
        defaults={
            "title": request.topic_title,
            "area": request.topic_area,
            "created_at": now,
            "updated_at": now,
        },
    )


def _find(topic: Topic, ref: str, among: list[Chat] | None) -> Chat | None:
    """The topic's turn of that ref, whole, if it is `among` these turns (None: all of the topic's)."""
    if among is not None and all(turn.ref != ref for turn in among):
        return None
    return Chat.objects.turns().filter(topic=topic, ref=ref).first()


def _step_with_ref(project: Project, request: TurnRequest) -> Chat | None:
    return Chat.objects.filter(
        topic__project=project, topic__ref=request.topic_ref, ref=request.ref, parent__isnull=False
    ).first()


def _not_after(moment: datetime, now: datetime) -> datetime:
    """`moment`, but not in the future: a caller's clock must not make words newer than those to come."""
    return moment if moment <= now else now.astimezone(moment.tzinfo)


def _offset(moment: datetime) -> int:
    offset = moment.utcoffset()
    return int(offset.total_seconds() // 60) if offset else 0
