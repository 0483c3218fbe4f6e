"""Summing up a topic in the background: its turns' digests, and the rolling summary of what no longer fits a window.

`summary_due_at` is all the state there is: NULL when nothing is due, in the past when a worker should look, and moved
into the future by the run that has claimed the topic, or that waits after a failure. `summary_failures` counts the
runs that began since one last ended well. The backend is called outside any transaction; what it says is written only
if the claim still holds and nobody else summed up meanwhile. Nothing of a turn waits for this.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from chats import episodes, schedule
from chats.given import GivenSummary
from chats.models import Chat, Summary, Topic
from memories import extraction as extracting
from memories import store
from memories.extraction import breaker
from memories.extraction.summary import extractive
from memories.tokens import count
from projects.models import Project
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memories.extraction import Summarised

logger = logging.getLogger(__name__)

# Runs in a row that may fail on what they read before it is summed up in its own words instead.
TRIES = 3
# Turns looked at in one round, and how many tokens of one are read at most.
MAX_TURNS = 60
MAX_TURN_TOKENS = 4_000
EXTRACTIVE = "rules"


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to sum up one topic, for as long as its `summary_due_at` is `until`. `failures`: this run included."""

    topic_id: int
    until: datetime
    failures: int


class ClaimLost(Exception):
    """Another run took the topic over, or it was reset; this one must store nothing."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    """The finished turns that follow on what is summed up, as many as one round reads; `tokens` they have.

    `more`: others follow that are finished, too. `blocked`: the next one still runs.
    """

    turns: tuple[Chat, ...]
    tokens: int
    more: bool
    blocked: bool


# --- Due ---------------------------------------------------------------------------------------------------


def make_due(topic: Topic, *, now: datetime, at_once: bool = False) -> None:
    """Mark the locked topic as due, without saving it. Whoever holds it looks again before letting go."""
    if topic.summary_failures and topic.summary_due_at is not None:
        return
    due_at = now + timedelta(seconds=0 if at_once else settings.SUMMARY_IDLE_S)
    topic.summary_due_at = min(due_at, topic.summary_due_at or due_at)


def due_topics(*, now: datetime, limit: int) -> Iterable[int]:
    """Ids of topics that a worker should look at, longest due first."""
    due = Topic.objects.filter(summary_due_at__lte=now).order_by("summary_due_at")
    return due.values_list("pk", flat=True)[:limit]


def forget(topic_ids: Sequence[int], *, now: datetime) -> None:
    """What these topics came to is told anew, from what is left of them; the caller has locked them.

    A run under way finds its claim gone and stores nothing.
    """
    Topic.objects.filter(pk__in=topic_ids).update(
        summary=None, summarised_through=0, summary_due_at=now, summary_failures=0
    )
    Summary.objects.filter(topic_id__in=topic_ids).delete()


# --- Given -------------------------------------------------------------------------------------------------


def covering(topic: Topic, through: int) -> GivenSummary | None:
    """The topic's summary of its turns up to number `through` that says least of what came later; where there is
    none that reaches so far, the newest.
    """
    summaries = Summary.objects.filter(topic_id=topic.pk)
    found = None
    if topic.summarised_through >= through:
        found = summaries.filter(through__gte=through).order_by("through").first()
    return _given(found or summaries.filter(pk=topic.summary_id or 0).first())


def given(summary_id: int | None) -> GivenSummary | None:
    """What a turn was given, by its id; None if it was forgotten since."""
    return _given(Summary.objects.filter(pk=summary_id).first()) if summary_id else None


def _given(row: Summary | None) -> GivenSummary | None:
    if row is None:
        return None
    return GivenSummary(id=row.pk, through=row.through, text=row.text, tokens=row.tokens)


# --- Run ---------------------------------------------------------------------------------------------------


def run(topic_id: int) -> bool:
    """One round of one topic. True when more is due at once. Safe to call twice, at once, or for nothing."""
    claim = _claim(topic_id)
    if claim is None:
        return False
    try:
        topic = Topic.objects.select_related("project", "summary").get(pk=topic_id)
        if topic.project.memory_enabled:
            _digest(claim, topic)
            stretch = _stretch(topic)
            if _is_enough(topic, stretch):
                return _sum_up(claim, topic, stretch)
        return _let_go(claim, topic.project)
    except (Topic.DoesNotExist, Project.DoesNotExist):
        return False
    except ClaimLost:
        logger.info("topic %s was taken over by another summing up", topic_id)
        return False
    except Exception:
        logger.exception("topic %s could not be summed up", topic_id)
        return _fail(claim)


@atomic_retry
def _claim(topic_id: int) -> Claim | None:
    """Take the topic if it is due; None when it is not, or another process was quicker."""
    now = timezone.now()
    # By its id first, as in schedule.claim.
    row = Topic.objects.select_for_update().filter(pk=topic_id)
    failures = row.values_list("summary_failures", flat=True).order_by().first()
    if failures is None:
        return None
    # One whose run died comes again later each time.
    held_s = max(settings.DISTIL_LEASE_S, schedule.back_off_s(failures))
    claim = Claim(topic_id, now + timedelta(seconds=held_s), min(failures + 1, 1_000))
    due = Topic.objects.filter(pk=topic_id, summary_due_at__lte=now)
    won = due.update(summary_due_at=claim.until, summary_failures=claim.failures)
    return claim if won == 1 else None


def _digest(claim: Claim, topic: Topic) -> None:
    """Digest the turns that have none yet, a batch at a time."""
    while turns := list(episodes.undigested(topic.pk).order_by("seq")[: episodes.BATCH]):
        _keep(claim, topic.project, [(turn.pk, *episodes.read(turn, title=topic.title)) for turn in turns])


@atomic_retry
def _keep(claim: Claim, project: Project, digested: Sequence[tuple[int, str, tuple[int, ...]]]) -> None:
    store.share(project)
    _held(claim)
    for turn_id, digest, numbers in digested:
        episodes.keep(project, turn_id, digest, numbers)


def _stretch(topic: Topic) -> _Stretch:
    turns = Chat.objects.turns().filter(topic_id=topic.pk, seq__gt=topic.summarised_through).order_by("seq")
    taken: list[Chat] = []
    tokens = 0
    more = blocked = False
    for turn in turns.defer("attached", "tools", "given", "explicit", "digest")[: MAX_TURNS + 1]:
        if turn.status == Chat.ChatStatus.RUNNING:
            blocked = True
            break
        cost = min(turn.message_tokens + turn.reply_tokens, MAX_TURN_TOKENS)
        if taken and (len(taken) == MAX_TURNS or tokens + cost > settings.DISTIL_MAX_TOKENS):
            more = True
            break
        taken.append(turn)
        tokens += cost
    return _Stretch(tuple(taken), tokens, more, blocked)


def _is_enough(topic: Topic, stretch: _Stretch) -> bool:
    """Whether it is worth a call. The last turns are in every window anyway; a topic that is over is told whole."""
    if not stretch.turns:
        return False
    is_over = topic.status == Topic.TopicStatus.COMPLETED
    return is_over or stretch.more or stretch.tokens >= settings.SUMMARY_AFTER_TOKENS


def _sum_up(claim: Claim, topic: Topic, stretch: _Stretch) -> bool:
    # After a run that failed, half of what that one read.
    taken = stretch.turns[: max(1, len(stretch.turns) >> (claim.failures - 1))]
    through = taken[-1].seq or 0
    request = extracting.SummaryRequest(
        turns=tuple(_said(turn) for turn in taken if _is_told(turn)),
        previous=topic.summary.text if topic.summary else "",
        title=topic.title,
        area=topic.area,
    )
    if not request.turns:
        return _store(claim, topic, through=through, summary=None)
    backend = extracting.backend(settings.EXTRACTION_BACKEND)
    try:
        admission = breaker.admit(backend.name, now=timezone.now())
    except breaker.BreakerOpen as closed:
        return _wait(claim, until=closed.until)
    made_by, model = backend.name, backend.model
    try:
        summarised = backend.summarise(request)
    except extracting.ProviderDown as down:
        breaker.failed(admission, down, now=timezone.now())
        logger.warning("topic %s waits to be summed up: provider down, %s", topic.pk, down.reason)
        return _fail(claim, not_before_s=down.retry_after_s)
    except (extracting.Unreadable, extracting.InputRefused) as error:
        schedule.answered(admission)
        logger.warning("topic %s could not be summed up by %s: %s", topic.pk, backend.name, error.reason)
        if claim.failures < TRIES:
            return _fail(claim)
        # The row says so.
        made_by, model = EXTRACTIVE, ""
        summarised = extracting.Summarised(extractive(request))
    except Exception:
        breaker.let_go(admission)
        raise
    else:
        schedule.answered(admission)
    return _store(claim, topic, through=through, summary=_row(topic, through, summarised, made_by, model))


def _is_told(turn: Chat) -> bool:
    """Cancelled turns came to nothing, erased ones have no words, what was said while memory was off is not read."""
    return (
        turn.status in (Chat.ChatStatus.SUCCEEDED, Chat.ChatStatus.FAILED)
        and turn.erased_at is None
        and turn.distil_outcome != Chat.DistilOutcome.MEMORY_OFF
    )


def _said(turn: Chat) -> extracting.Said:
    return extracting.Said(
        number=turn.seq or 0,
        message=turn.words,
        sent_at=turn.sent_at,
        reply=turn.reply,
        files=tuple(str(path) for path in turn.files),
        failed=turn.status == Chat.ChatStatus.FAILED,
        by_machine=turn.origin == Chat.Origin.MACHINE,
    )


def _row(topic: Topic, through: int, summarised: Summarised, made_by: str, model: str) -> Summary | None:
    """The new summary, not saved yet; None where the guard left nothing of it, and the older one stays."""
    if not summarised.text:
        return None
    return Summary(
        topic=topic,
        through=through,
        text=summarised.text,
        tokens=count(summarised.text),
        backend=made_by,
        model=model,
        tokens_in=summarised.usage.input,
        tokens_out=summarised.usage.output,
    )


# --- Let go ------------------------------------------------------------------------------------------------


def _held(claim: Claim) -> Topic:
    """The topic, locked, if the claim still holds. Raises ClaimLost."""
    # By its id alone: asked for when it is due, too, the row may be found from behind, by that index.
    topic: Topic | None = Topic.objects.select_for_update().filter(pk=claim.topic_id).first()
    if topic is None or topic.summary_due_at != claim.until:
        raise ClaimLost
    return topic


@atomic_retry
def _store(claim: Claim, read: Topic, *, through: int, summary: Summary | None) -> bool:
    """Write what `read` came to up to turn `through`, and let go. Locks: project, then topic. Raises ClaimLost."""
    store.share(read.project)
    topic = _held(claim)
    if topic.summarised_through != read.summarised_through:
        raise ClaimLost
    read.project.refresh_from_db(fields=["memory_enabled"])
    if not read.project.memory_enabled:
        return _release(topic, read.project)
    topic.summarised_through = through
    if summary is not None:
        summary.pk = None
        summary.save(force_insert=True)
        topic.summary = summary
    return _release(topic, read.project)


@atomic_retry
def _let_go(claim: Claim, project: Project) -> bool:
    return _release(_held(claim), project)


def _release(topic: Topic, project: Project) -> bool:
    """Give the locked topic back after a run that ended well; True when more is due at once."""
    now = timezone.now()
    topic.summary_failures = 0
    topic.summary_due_at = None
    is_due = False
    if project.memory_enabled:
        stretch = _stretch(topic)
        is_due = episodes.undigested(topic.pk).exists() or _is_enough(topic, stretch)
        if is_due:
            topic.summary_due_at = now
        elif stretch.blocked:
            # When it ends, the topic is due again; should nobody end it, it is given up by then.
            topic.summary_due_at = now + timedelta(seconds=settings.TURN_ABANDONED_AFTER_S)
    topic.save(update_fields=["summary", "summarised_through", "summary_due_at", "summary_failures"])
    return is_due


@atomic_retry
def _wait(claim: Claim, *, until: datetime) -> bool:
    """The provider is left alone until then. No failure."""
    now = timezone.now()
    due_at = schedule.soon_after(max(until, now), now=now)
    return _postpone(_held(claim), due_at, failures=claim.failures - 1)


@atomic_retry
def _fail(claim: Claim, *, not_before_s: float | None = None) -> bool:
    """Due again, but not before the next back-off has passed. The older summary stays."""
    pause_s = max(schedule.back_off_s(claim.failures - 1), schedule.at_most(not_before_s or 0.0))
    due_at = timezone.now() + timedelta(seconds=pause_s)
    try:
        return _postpone(_held(claim), due_at, failures=claim.failures)
    except ClaimLost:
        return False


def _postpone(topic: Topic, due_at: datetime, *, failures: int) -> bool:
    topic.summary_due_at, topic.summary_failures = due_at, failures
    topic.save(update_fields=["summary_due_at", "summary_failures"])
    return False
