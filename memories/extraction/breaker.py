"""Leaves a provider alone that fails again and again, and finds out when it answers again.

The state is one row for each backend, so all workers know it at once. FAILURES in a row open the breaker; while it is
open nobody calls. After a pause, longer each time, one run at a time may try; one success closes it.
Lock order: a breaker's row comes before a topic's.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from django.conf import settings
from django.db.models import Q

from memories.runs import Breaker
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from memories.extraction.backends import ProviderDown

FAILURES = 5
PAUSES_S = (30, 60, 120, 300, 600, 1800, 3600)


@dataclass(frozen=True, slots=True)
class Admission:
    """The right to call a backend's provider once. `probe`: it is the one trial of an open breaker."""

    backend: str
    probe: str = ""


class BreakerOpen(Exception):
    """Nobody may call the provider before `until`."""

    def __init__(self, until: datetime) -> None:
        super().__init__(until.isoformat())
        self.until = until


def admit(backend: str, *, now: datetime) -> Admission:
    """Leave to call the backend's provider now. Raises BreakerOpen.

    Tell what came of it by `answered`, `failed` or, if it says nothing about the provider, `let_go`.
    """
    breaker = Breaker.objects.filter(pk=backend).first()
    if breaker is None or breaker.opened_at is None:
        return Admission(backend)
    token = secrets.token_hex(16)
    longest = (
        settings.EXTRACTION_MAX_REQUESTS * settings.EXTRACTION_TIMEOUT_S + settings.DISTIL_STORE_BUDGET_S
    )
    won = (
        Breaker.objects.filter(pk=backend, opened_at__isnull=False, retry_at__lte=now)
        .filter(Q(probe_until=None) | Q(probe_until__lte=now))
        .update(probe_token=token, probe_until=now + timedelta(seconds=longest))
    )
    if won == 1:
        return Admission(backend, token)
    breaker = Breaker.objects.filter(pk=backend).first()
    if breaker is None or breaker.opened_at is None:
        return Admission(backend)
    raise BreakerOpen(_until(breaker))


def open_until(backend: str) -> datetime | None:
    """When the next trial may be made, None where the breaker is closed. Locks it for the rest of the transaction:
    whoever waits for it writes so in the same transaction, and is not missed when it closes.
    """
    breaker = Breaker.objects.select_for_update().filter(pk=backend).first()
    return None if breaker is None or breaker.opened_at is None else _until(breaker)


@atomic_retry
def answered(admission: Admission) -> bool:
    """The provider answered, whatever it said: nothing stands against it any more. True if it was left alone."""
    # Most runs find nothing to reset, and lock nothing.
    if not Breaker.objects.filter(pk=admission.backend).exclude(failures=0, opened_at=None).exists():
        return False
    breaker = Breaker.objects.select_for_update().get(pk=admission.backend)
    was_open = breaker.opened_at is not None
    breaker.failures = breaker.trips = 0
    breaker.opened_at = breaker.retry_at = breaker.probe_until = None
    breaker.reason = breaker.probe_token = ""
    breaker.save()
    return was_open


@atomic_retry
def failed(admission: Admission, error: ProviderDown, *, now: datetime) -> None:
    """The provider is down. The fifth time in a row opens the breaker, a trial that fails makes its pause longer.

    How long the provider itself asked to be left alone counts too, up to the longest pause.
    """
    Breaker.objects.get_or_create(pk=admission.backend)
    breaker = Breaker.objects.select_for_update().get(pk=admission.backend)
    breaker.failures += 1
    breaker.failed_at = now
    breaker.reason = error.reason[:40]
    asked_s = min(max(error.retry_after_s or 0.0, 0.0), PAUSES_S[-1])
    if breaker.opened_at is None:
        if breaker.failures >= FAILURES:
            breaker.opened_at = now
            breaker.retry_at = now + timedelta(seconds=max(PAUSES_S[0], asked_s))
    elif admission.probe and admission.probe == breaker.probe_token:
        breaker.trips += 1
        pause_s = PAUSES_S[min(breaker.trips, len(PAUSES_S) - 1)]
        breaker.retry_at = now + timedelta(seconds=max(pause_s, asked_s))
        breaker.probe_token, breaker.probe_until = "", None
    else:
        # It was asked before the breaker opened, or as a trial that took too long: no trial of its own.
        breaker.retry_at = max(breaker.retry_at or now, now + timedelta(seconds=asked_s))
    breaker.save()


def let_go(admission: Admission) -> None:
    """The call came to nothing that says anything about the provider: another run may try at once."""
    if admission.probe:
        Breaker.objects.filter(pk=admission.backend, probe_token=admission.probe).update(
            probe_token="", probe_until=None
        )


@atomic_retry
def end_pause(backend: str, *, now: datetime) -> bool:
    """Somebody knows better: the next run may try at once. False where nothing is left alone."""
    return bool(
        Breaker.objects.filter(pk=backend, opened_at__isnull=False).update(
            retry_at=now, probe_token="", probe_until=None
        )
    )


def _until(breaker: Breaker) -> datetime:
    assert breaker.retry_at is not None  # noqa: S101 (an open breaker has one)
    return max(breaker.retry_at, breaker.probe_until or breaker.retry_at)
