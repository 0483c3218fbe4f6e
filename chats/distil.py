"""Distilling a topic: claim it, read its oldest unread turns, let extraction propose, store, release.

The provider is called outside any transaction. What it proposed is judged and written in the last transaction, which
first locks the project, then proves that the lease is still this run's: a run that was taken over stores nothing.
"""

from __future__ import annotations

import logging
import time
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import IntegrityError, InterfaceError, OperationalError, connection
from django.utils import timezone

from chats import batches, instructions, schedule
from chats.models import Chat, Topic
from chats.schedule import Claim, LeaseLost
from chats.transcripts import build_transcript
from memories import extraction as extracting
from memories import store
from memories.extraction import breaker
from memories.extraction.run import for_the_record
from memories.models import Extraction
from projects.actors import WORKER
from projects.http import request_id
from projects.models import Project
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from memories.extraction import Backend, Extracted, Transcript
    from memories.extraction.breaker import Admission


logger = logging.getLogger(__name__)

RunStatus, ErrorKind = Extraction.RunStatus, Extraction.ErrorKind
# How often a turn is read alone, and in vain, before it is given up.
TRIES = 3
# How long a run waits for a database that restarts, to write down how it ended.
PAUSES_S = (0.5, 1.0, 2.0, 4.0, 8.0)
# Cannot connect, gone away, lost in mid-query, killed, shut down.
_MYSQL_AWAY = (2002, 2003, 2006, 2013, 1053, 1927, 4031)


def run(topic_id: int) -> bool:
    """One round of one topic. True when more is due at once. Safe to call twice, at once, or for nothing."""
    claim = schedule.claim(topic_id)
    if claim is None:
        return False
    try:
        topic = Topic.objects.select_related("project").get(pk=topic_id)
        turns = batches.oldest_unread(topic)
        if not topic.project.memory_enabled:
            return _end_quietly(claim, turns)
        if not turns and claim.trigger == schedule.Trigger.TOPIC_COMPLETED:
            turns = batches.closing(topic)
        if not turns:
            return _release(claim)
        if turns[0].distil_attempts >= TRIES:
            return _give_up(claim, turns[0])
        return _round(claim, topic, turns)
    except (Topic.DoesNotExist, Project.DoesNotExist):
        return False
    except LeaseLost:
        logger.info("topic %s was taken over by another run", topic_id)
        return False
    except Exception:
        # Before anything of the run was written down. Without this its topic would be locked until the lease ends.
        logger.exception("topic %s could not be distilled", topic_id)
        return _when_there(lambda: _release_failed(claim))


def take_up_again(extraction: Extraction) -> None:
    """The turn that this run gave up, if it did, counts as unread again; its topic is locked already."""
    Chat.objects.filter(extraction=extraction, distil_outcome=Chat.DistilOutcome.FAILED).update(
        distil_outcome=None, distil_attempts=0
    )


def _round(claim: Claim, topic: Topic, turns: Sequence[Chat]) -> bool:
    backend = extracting.backend(settings.EXTRACTION_BACKEND)
    try:
        admission = breaker.admit(backend.name, now=timezone.now())
    except breaker.BreakerOpen:
        return _wait(claim, backend.name)
    try:
        extraction = _begin(claim, topic, turns, backend)
    except Exception as error:
        breaker.let_go(admission)
        if isinstance(error, IntegrityError) and not Topic.objects.filter(pk=topic.pk).exists():
            # Deleted since the claim, and its lease with it.
            raise LeaseLost from None
        raise
    try:
        return _read(claim, topic, extraction, turns, backend, admission)
    except LeaseLost:
        gone = not Topic.objects.filter(pk=claim.topic_id).exists()
        _end_run(extraction, RunStatus.CANCELLED if gone else RunStatus.ABANDONED)
        raise


@atomic_retry
def _begin(claim: Claim, topic: Topic, turns: Sequence[Chat], backend: Backend) -> Extraction:
    """Write down that a run reads these turns.

    A turn that is read alone has one try less from here on, so that one which kills its worker is given up, too.
    """
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
    if len(turns) == 1 and turns[0].distil_outcome is None:
        Chat.objects.filter(pk=turns[0].pk).update(distil_attempts=extraction.attempts)
    return extraction


def _read(
    claim: Claim,
    topic: Topic,
    extraction: Extraction,
    turns: Sequence[Chat],
    backend: Backend,
    admission: Admission,
) -> bool:
    try:
        transcript, extracted = _ask(admission, topic, turns, backend)
    except Exception as error:
        kind, failure = _kind_of(error), error
    else:
        try:
            return _when_there(lambda: _store(claim, topic.project, extraction, extracted, transcript, turns))
        except (LeaseLost, Project.DoesNotExist):
            raise
        except Exception as error:
            # What takes too long here is the database, whatever was read.
            is_late = isinstance(error, SoftTimeLimitExceeded)
            kind, failure = ErrorKind.INTERNAL if is_late else _kind_of(error), error
    logger.error("distilling topic %s failed: %s", claim.topic_id, kind, exc_info=failure)
    return _when_there(lambda: _fail(claim, extraction, turns, failure, kind))


def _ask(
    admission: Admission, topic: Topic, turns: Sequence[Chat], backend: Backend
) -> tuple[Transcript, Extracted]:
    """What was said, and what the backend proposes of it; the breaker learns whether its provider answered."""
    try:
        transcript = build_transcript(topic, turns)
        extracted = extracting.propose(transcript, backend=backend)
    except extracting.ProviderDown as down:
        error = down
        _when_there(lambda: breaker.failed(admission, error, now=timezone.now()))
        raise
    except (extracting.Unreadable, extracting.InputRefused):
        _when_there(lambda: schedule.answered(admission))
        raise
    except Exception:
        breaker.let_go(admission)
        raise
    _when_there(lambda: schedule.answered(admission))
    return transcript, extracted


@atomic_retry
def _wait(claim: Claim, backend: str) -> bool:
    until = breaker.open_until(backend)
    if until is None:
        # It has just closed: whoever closed it did not find this topic among those that wait.
        return schedule.release(claim, more=True)
    return schedule.wait(claim, waits_for=backend, until=until)


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
        # The request whose finishing caused this run, or the sweep that found it.
        by=replace(WORKER, request_id=request_id.current()),
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
        raw_output=for_the_record(extracted.raw),
        tokens_in=extracted.usage.input,
        tokens_out=extracted.usage.output,
        counts=dict(settled.counts),
    )
    return schedule.release(claim, more=schedule.has_waiting_turns(claim.topic_id))


def _stamp(turns: Sequence[Chat], *, extraction: Extraction | None, outcome: str) -> None:
    """Mark turns as read. Only what is still unread, so that a turn counts for one run alone."""
    tried_in_vain = {} if outcome == Chat.DistilOutcome.FAILED else {"distil_attempts": 0}
    Chat.objects.undistilled().filter(pk__in=[turn.pk for turn in turns]).update(
        distil_outcome=outcome, extraction=extraction, **tried_in_vain
    )


def _end_run(extraction: Extraction, status: str, **told: Any) -> None:
    """Write how the run ended, once; nothing where its row went with its project."""
    still = Extraction.objects.filter(pk=extraction.pk, status=RunStatus.RUNNING)
    still.update(status=status, finished_at=timezone.now(), **told)


@atomic_retry
def _release(claim: Claim) -> bool:
    return schedule.release(claim, more=False)


@atomic_retry
def _release_failed(claim: Claim) -> bool:
    return schedule.release_failed(claim)


@atomic_retry
def _end_quietly(claim: Claim, turns: Sequence[Chat]) -> bool:
    """Memory is off: what was said meanwhile is not read later either."""
    schedule.hold(claim)
    _stamp(turns, extraction=None, outcome=Chat.DistilOutcome.MEMORY_OFF)
    return schedule.release(claim, more=schedule.has_waiting_turns(claim.topic_id))


@atomic_retry
def _give_up(claim: Claim, turn: Chat) -> bool:
    """The turn was read alone TRIES times and no run told how that ended: whatever reads it dies."""
    schedule.hold(claim)
    last = Extraction.objects.filter(topic=claim.topic_id, status=RunStatus.ABANDONED).first()
    _stamp([turn], extraction=last, outcome=Chat.DistilOutcome.FAILED)
    return schedule.release(claim, more=schedule.has_waiting_turns(claim.topic_id))


@atomic_retry
def _fail(claim: Claim, extraction: Extraction, turns: Sequence[Chat], error: Exception, kind: str) -> bool:
    """What an error leads to; True when the topic is due again at once. Raises LeaseLost.

    A provider or database that is away says nothing about the turns: they come again after a back-off. Any other
    error is laid to what was read: half of it is tried next, and a turn that fails alone TRIES times is stamped
    and no longer blocks its topic. The error's text may quote the talk: only its kind is kept.
    """
    until = breaker.open_until(extraction.backend) if kind == ErrorKind.PROVIDER else None
    schedule.hold(claim)
    _end_run(extraction, RunStatus.FAILED, error_kind=kind, **_told(error))
    is_alone = len(turns) == 1
    if kind in batches.NOT_OF_THE_TURNS:
        if is_alone:
            Chat.objects.filter(pk=turns[0].pk).update(distil_attempts=extraction.attempts - 1)
        asked = _asked_until(error)
        return schedule.release_failed(
            claim,
            waits_for=extraction.backend if kind == ErrorKind.PROVIDER else "",
            not_before=max((at for at in (until, asked) if at), default=None),
        )
    if not is_alone:
        return schedule.release(claim, more=True)
    if extraction.attempts < TRIES:
        return schedule.release_failed(claim)
    _stamp(turns, extraction=extraction, outcome=Chat.DistilOutcome.FAILED)
    return schedule.release(claim, more=schedule.has_waiting_turns(claim.topic_id))


def _kind_of(error: Exception) -> str:
    match error:
        case extracting.ProviderDown():
            return ErrorKind.PROVIDER
        case extracting.Unreadable():
            return ErrorKind.UNPARSABLE
        case SoftTimeLimitExceeded():
            return ErrorKind.TIMED_OUT
        case OperationalError() | InterfaceError() | extracting.UnknownBackend():
            return ErrorKind.INTERNAL
    return ErrorKind.INPUT


def _told(error: Exception) -> dict[str, Any]:
    """What the run's row keeps of an error: words of ours, and what an unreadable answer said and cost."""
    match error:
        case extracting.Unreadable():
            return {
                "error": error.reason,
                "raw_output": for_the_record(error.raw),
                "tokens_in": error.usage.input,
                "tokens_out": error.usage.output,
            }
        case extracting.ProviderDown() | extracting.InputRefused() if error.reason:
            return {"error": error.reason}
    return {"error": type(error).__name__}


def _asked_until(error: Exception) -> datetime | None:
    """When the provider itself asked to be tried again; no longer than the longest back-off."""
    asked_s = error.retry_after_s if isinstance(error, extracting.ProviderDown) else None
    return timezone.now() + timedelta(seconds=schedule.at_most(asked_s)) if asked_s else None


def _when_there[R](write: Callable[[], R]) -> R:
    """Do what must be written, and wait a few seconds for a database that is away: it may only restart."""
    for pause_s in PAUSES_S:
        try:
            return write()
        except (OperationalError, InterfaceError) as error:
            if not _is_away(error):
                raise
        connection.close_if_unusable_or_obsolete()
        time.sleep(pause_s)
    return write()


def _is_away(error: OperationalError | InterfaceError) -> bool:
    return isinstance(error, InterfaceError) or bool(error.args and error.args[0] in _MYSQL_AWAY)
