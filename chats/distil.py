"""Distilling a topic: claim it, read its oldest unread turns, let extraction propose, store, release.

The provider is called outside any transaction. What it proposed is judged and written in the last transaction, which
first locks the project, then proves that the lease is still this run's: a run that was taken over stores nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError
from django.utils import timezone

from chats import instructions, schedule
from chats.models import Chat, Topic
from chats.schedule import Claim, LeaseLost
from chats.transcripts import build_transcript
from memories import extraction as extracting
from memories import guard, store
from memories.models import Extraction
from projects.actors import WORKER
from projects.models import Project
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memories.extraction import Backend, Extracted, Transcript


logger = logging.getLogger(__name__)

RunStatus, ErrorKind = Extraction.RunStatus, Extraction.ErrorKind
# How often a turn is read alone, and in vain, before it is given up.
TRIES = 3


def run(topic_id: int) -> bool:
    """One round of one topic. True when more is due at once. Safe to call twice, at once, or for nothing."""
    claim = schedule.claim(topic_id)
    if claim is None:
        return False
    try:
        topic = Topic.objects.select_related("project").get(pk=topic_id)
        turns = oldest_unread(topic)
        if not topic.project.memory_enabled:
            return _end_quietly(claim, turns)
        if not turns:
            return _release(claim)
        return _round(claim, topic, turns)
    except (Topic.DoesNotExist, Project.DoesNotExist):
        return False
    except LeaseLost:
        logger.info("topic %s was taken over by another run", topic_id)
        return False


def oldest_unread(topic: Topic) -> list[Chat]:
    """The oldest turns no run has read, whole, as many as fit DISTIL_MAX_TOKENS; at least one if there is one.

    After a run that failed on what it read, at most half as many as that one took.
    """
    chosen: list[Chat] = []
    tokens = 0
    for turn in Chat.objects.undistilled().filter(topic=topic).order_by("seq").iterator(chunk_size=50):
        tokens += turn.message_tokens + turn.reply_tokens
        if chosen and tokens > settings.DISTIL_MAX_TOKENS:
            break
        chosen.append(turn)
    last = Extraction.objects.filter(topic=topic).first()
    if last is not None and last.error_kind == ErrorKind.INPUT:
        return chosen[: max(1, len(last.chats_read) // 2)]
    return chosen


def take_up_again(extraction: Extraction) -> None:
    """The turn that this run gave up, if it did, counts as unread again; its topic is locked already."""
    Chat.objects.filter(extraction=extraction, distil_outcome=Chat.DistilOutcome.FAILED).update(
        distil_outcome=None, distil_attempts=0
    )


def _round(claim: Claim, topic: Topic, turns: Sequence[Chat]) -> bool:
    backend = extracting.backend(settings.EXTRACTION_BACKEND)
    transcript = build_transcript(topic, turns)
    try:
        extraction = Extraction.objects.create(
            project=topic.project,
            topic=topic,
            trigger=claim.trigger,
            backend=backend.name,
            model=backend.model,
            prompt_version=backend.prompt_version,
            lease_token=claim.token,
            chats_read=[turn.pk for turn in turns],
            attempts=1 + max(turn.distil_attempts for turn in turns),
        )
    except IntegrityError:
        if Topic.objects.filter(pk=topic.pk).exists():
            raise
        # Deleted since the claim, and its lease with it.
        raise LeaseLost from None
    try:
        return _read(claim, topic.project, extraction, transcript, turns, backend)
    except LeaseLost:
        gone = not Topic.objects.filter(pk=claim.topic_id).exists()
        _end_run(extraction, RunStatus.CANCELLED if gone else RunStatus.ABANDONED)
        raise


def _read(
    claim: Claim,
    project: Project,
    extraction: Extraction,
    transcript: Transcript,
    turns: Sequence[Chat],
    backend: Backend,
) -> bool:
    try:
        extracted = extracting.propose(transcript, backend=backend)
        return _store(claim, project, extraction, extracted, transcript, turns)
    except (LeaseLost, Project.DoesNotExist):
        raise
    except Exception as error:
        logger.exception("distilling topic %s failed", claim.topic_id)
        return _fail(claim, extraction, turns, error)


@atomic_retry
def _store(
    claim: Claim,
    project: Project,
    extraction: Extraction,
    extracted: Extracted,
    transcript: Transcript,
    turns: Sequence[Chat],
) -> bool:
    """The last transaction. Locks: project, then topic. Raises LeaseLost, and then nothing of it stays."""
    if extracted.candidates:
        # With nothing to judge no memory is written, and every recall index of the project stays good.
        store.lock(project)
    schedule.hold(claim)
    project.refresh_from_db()
    if not project.memory_enabled:
        _stamp(turns, extraction=None, outcome=Chat.DistilOutcome.MEMORY_OFF)
        _end_run(extraction, RunStatus.CANCELLED)
        return schedule.release(claim, more=False)
    settled = extracting.settle(
        project=project,
        extraction=extraction,
        extracted=extracted,
        transcript=transcript,
        now=timezone.now(),
        by=WORKER,
    )
    for turn in turns:
        outcome = (
            Chat.DistilOutcome.READ if turn.pk in settled.turns_kept_from else Chat.DistilOutcome.NOTHING
        )
        _stamp([turn], extraction=extraction, outcome=outcome)
    instructions.became(settled.instructions)
    _end_run(
        extraction,
        RunStatus.SUCCEEDED,
        raw_output=guard.mask(extracted.raw),
        tokens_in=extracted.usage.input,
        tokens_out=extracted.usage.output,
        counts=dict(settled.counts),
    )
    return schedule.release(claim, more=schedule.has_waiting_turns(claim.topic_id))


def _stamp(turns: Sequence[Chat], *, extraction: Extraction | None, outcome: str) -> None:
    """Mark turns as read. Only what is still unread, so that a turn counts for one run alone."""
    Chat.objects.undistilled().filter(pk__in=[turn.pk for turn in turns]).update(
        distil_outcome=outcome, extraction=extraction
    )


def _end_run(extraction: Extraction, status: str, **told: Any) -> None:
    """Write how the run ended; nothing where its row went with its project."""
    Extraction.objects.filter(pk=extraction.pk).update(status=status, finished_at=timezone.now(), **told)


@atomic_retry
def _release(claim: Claim) -> bool:
    return schedule.release(claim, more=False)


@atomic_retry
def _end_quietly(claim: Claim, turns: Sequence[Chat]) -> bool:
    """Memory is off: what was said meanwhile is not read later either."""
    schedule.hold(claim)
    _stamp(turns, extraction=None, outcome=Chat.DistilOutcome.MEMORY_OFF)
    return schedule.release(claim, more=schedule.has_waiting_turns(claim.topic_id))


@atomic_retry
def _fail(claim: Claim, extraction: Extraction, turns: Sequence[Chat], error: Exception) -> bool:
    """What an error leads to; True when the topic is due again at once. Raises LeaseLost.

    A provider or database that is away says nothing about the turns: they come again after a back-off. Any other
    error is laid to what was read: half of it is tried next, and a turn that fails alone TRIES times is stamped
    and no longer blocks its topic. The error's text may quote the talk: only its kind is kept.
    """
    schedule.hold(claim)
    kind = _kind_of(error)
    _end_run(extraction, RunStatus.FAILED, error_kind=kind, error=type(error).__name__)
    if kind != ErrorKind.INPUT:
        return schedule.release_failed(claim)
    if len(turns) > 1:
        return schedule.release(claim, more=True)
    if extraction.attempts < TRIES:
        Chat.objects.filter(pk=turns[0].pk).update(distil_attempts=extraction.attempts)
        return schedule.release_failed(claim)
    _stamp(turns, extraction=extraction, outcome=Chat.DistilOutcome.FAILED)
    return schedule.release(claim, more=schedule.has_waiting_turns(claim.topic_id))


def _kind_of(error: Exception) -> str:
    match error:
        case extracting.ProviderDown():
            return ErrorKind.PROVIDER
        case OperationalError() | InterfaceError():
            return ErrorKind.INTERNAL
    return ErrorKind.INPUT
