"""The life of a topic's claim: due, claimed, held, released. Every step is one conditional UPDATE or one locked row.

One run at a time, one pending flag however often a turn finishes, nothing lost: a lease that runs out makes the
topic claimable again, and the sweep finds what the broker forgot.
"""

from __future__ import annotations

import random
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.utils import timezone

from chats import queue
from chats.models import Chat, Topic
from memories.extraction import breaker
from memories.models import Extraction
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from memories.extraction.breaker import Admission

FIELDS = ["distil_pending", "distil_pending_since", "distil_due_at", "distil_trigger"]
BACK_OFF_S = (30, 60, 120, 300, 600, 1800, 3600)
# Over how long topics that wait for one provider come back.
MAX_SPREAD_S = 30.0
Trigger = Extraction.Trigger


@dataclass(frozen=True, slots=True)
class Claim:
    """The right to distil one topic until the lease ends, proven by the token."""

    topic_id: int
    token: str
    trigger: str


class LeaseLost(Exception):
    """Another run took the topic over; this one must store nothing."""


def make_due(topic: Topic, *, now: datetime, trigger: str, at_once: bool = False) -> None:
    """Mark the locked topic as due, without saving it, and tell a worker after the commit.

    Due after DISTIL_IDLE_S of silence, but at most DISTIL_MAX_WAIT_S after the first turn that waits.
    """
    if not topic.distil_pending:
        topic.distil_pending = True
        topic.distil_pending_since = now
        topic.distil_trigger = trigger
    since = topic.distil_pending_since or now
    idle = timedelta(seconds=0 if at_once else settings.DISTIL_IDLE_S)
    topic.distil_due_at = min(now + idle, since + timedelta(seconds=settings.DISTIL_MAX_WAIT_S))
    if at_once:
        topic.distil_trigger = trigger
        topic.distil_retry_at = None
    delay_s = max(0.0, (topic.distil_due_at - now).total_seconds())
    queue.distil_on_commit(topic.pk, delay_s=delay_s)


@atomic_retry
def claim(topic_id: int, *, now: datetime | None = None) -> Claim | None:
    """Take the topic if it is claimable now; None when it is not, or another process was quicker.

    Whatever run held it before is over: its Extraction becomes `abandoned`.
    """
    now = now or timezone.now()
    token = secrets.token_hex(16)
    # By its id first: found by the index over what is due, the row would be locked from behind, and an ending that
    # makes it due would deadlock with this.
    row = Topic.objects.select_for_update().filter(pk=topic_id)
    trigger = row.values_list("distil_trigger", flat=True).order_by().first()
    won = (
        Topic.objects.claimable(now)
        .filter(pk=topic_id)
        .update(
            distil_pending=False,
            distil_pending_since=None,
            distil_lease_token=token,
            distil_lease_until=now + timedelta(seconds=settings.DISTIL_LEASE_S),
            distil_waits_for="",
        )
    )
    if won != 1:
        return None
    Extraction.objects.filter(topic_id=topic_id, status=Extraction.RunStatus.RUNNING).update(
        status=Extraction.RunStatus.ABANDONED, finished_at=now
    )
    return Claim(topic_id, token, trigger or Trigger.SWEEP)


def hold(claim: Claim) -> None:
    """Lock the topic's row for the rest of the transaction, if the lease is still ours. Raises LeaseLost."""
    mine = Topic.objects.filter(pk=claim.topic_id, distil_lease_token=claim.token)
    if mine.update(distil_lease_until=timezone.now() + timedelta(seconds=settings.DISTIL_LEASE_S)) != 1:
        raise LeaseLost


def release(claim: Claim, *, more: bool) -> bool:
    """Give the topic back after a run. `more`: turns are left that did not fit. True when it is due again."""
    topic = _held(claim)
    if topic is None:
        return False
    topic.distil_retry_at = None
    topic.distil_failures = 0
    if more:
        _keep_pending(topic, now=timezone.now(), due_now=True)
    elif not topic.distil_pending:
        topic.distil_due_at = None
        topic.distil_trigger = ""
    topic.save(update_fields=_DISTIL_FIELDS)
    return bool(topic.distil_pending)


def release_failed(claim: Claim, *, waits_for: str = "", not_before: datetime | None = None) -> bool:
    """Give the topic back after a run that failed: still due, but not before the next back-off has passed.

    `waits_for`: the backend whose provider was down; `not_before`: when that may be asked again.
    False: nothing is due at once.
    """
    topic = _held(claim)
    if topic is None:
        return False
    now = timezone.now()
    back_off = timedelta(seconds=back_off_s(topic.distil_failures))
    topic.distil_failures += 1
    topic.distil_retry_at = max(now + back_off, not_before or now)
    topic.distil_waits_for = waits_for
    _keep_pending(topic, now=now)
    topic.save(update_fields=_DISTIL_FIELDS)
    return False


def wait(claim: Claim, *, waits_for: str, until: datetime) -> bool:
    """Give the topic back unread: the provider of the backend `waits_for` is left alone until then. No failure.

    False, as nothing is due.
    """
    topic = _held(claim)
    if topic is None:
        return False
    now = timezone.now()
    topic.distil_retry_at = soon_after(until, now=now)
    topic.distil_waits_for = waits_for
    _keep_pending(topic, now=now)
    topic.save(update_fields=_DISTIL_FIELDS)
    return False


def back_off_s(failures: int) -> int:
    """How long what has failed so often before waits after one more failure."""
    return BACK_OFF_S[min(failures, len(BACK_OFF_S) - 1)]


def at_most(asked_s: float) -> float:
    """How long a provider that asks for so long is left alone."""
    return min(asked_s, BACK_OFF_S[-1])


def soon_after(until: datetime, *, now: datetime) -> datetime:
    """When one of those that wait for a provider until then looks again: not all of them at once."""
    spread_s = min(MAX_SPREAD_S, 1 + (until - now).total_seconds() / 10)
    return until + timedelta(seconds=random.uniform(0, max(spread_s, 0)))  # noqa: S311 (no secret)


@atomic_retry
def answered(admission: Admission) -> None:
    """The provider answered, whatever it said; if it was left alone, what waits for it is due."""
    if breaker.answered(admission):
        wake(admission.backend)


def wake(backend: str) -> int:
    """The backend's provider answers again: what waits for it is due. How many topics that are."""
    waiting = Topic.objects.filter(distil_due_at__isnull=False, distil_waits_for=backend)
    return waiting.update(distil_retry_at=None, distil_waits_for="")


def interrupt(topic_ids: Sequence[int], *, now: datetime) -> None:
    """Whatever run holds these topics has read what is no longer there: it stores nothing, and the next begins anew.

    The caller has locked them.
    """
    held = Topic.objects.filter(pk__in=topic_ids, distil_lease_token__isnull=False)
    held.update(
        distil_lease_token=None,
        distil_lease_until=None,
        distil_pending=True,
        distil_pending_since=now,
        distil_due_at=now,
    )
    Extraction.objects.filter(topic_id__in=topic_ids, status=Extraction.RunStatus.RUNNING).update(
        status=Extraction.RunStatus.CANCELLED, finished_at=now
    )


def _held(claim: Claim) -> Topic | None:
    """The topic, locked and without its lease, not saved yet; None where the lease is another's."""
    topic: Topic | None = (
        Topic.objects.select_for_update().filter(pk=claim.topic_id, distil_lease_token=claim.token).first()
    )
    if topic is not None:
        topic.distil_lease_token = None
        topic.distil_lease_until = None
    return topic


def _keep_pending(topic: Topic, *, now: datetime, due_now: bool = False) -> None:
    topic.distil_pending = True
    topic.distil_pending_since = topic.distil_pending_since or now
    topic.distil_due_at = now if due_now else topic.distil_due_at or now


def state_of(topic: Topic, *, memory_enabled: bool, now: datetime) -> tuple[str, datetime | None]:
    """(off, running, pending, waiting_for_provider or idle; from when on a worker may take it).

    Pending says that more is due, waiting_for_provider that the model which would read it is down.
    """
    if not memory_enabled:
        return "off", None
    if topic.distil_pending and topic.distil_due_at is not None:
        due_at = max(topic.distil_due_at, topic.distil_retry_at or topic.distil_due_at)
        waits = topic.distil_waits_for and topic.distil_retry_at and topic.distil_retry_at > now
        return ("waiting_for_provider" if waits else "pending"), due_at
    if topic.distil_lease_token is None or topic.distil_lease_until is None:
        return "idle", None
    if topic.distil_lease_until > now:
        return "running", None
    # Its worker died: the next one takes it over.
    return "pending", topic.distil_lease_until


def due_topics(*, now: datetime, limit: int) -> Iterable[int]:
    """Ids of claimable topics, longest due first."""
    return Topic.objects.claimable(now).order_by("distil_due_at").values_list("pk", flat=True)[:limit]


def has_waiting_turns(topic_id: int) -> bool:
    """Whether the topic has a succeeded turn that no run has read yet."""
    return Chat.objects.undistilled().filter(topic_id=topic_id).exists()


_DISTIL_FIELDS = [
    *FIELDS,
    "distil_lease_token",
    "distil_lease_until",
    "distil_retry_at",
    "distil_waits_for",
    "distil_failures",
]
