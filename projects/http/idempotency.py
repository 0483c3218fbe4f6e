"""`Idempotency-Key`: a POST that is sent again happens once.

    return idempotency.once(request, act=lambda: Outcome(201, {"memory": store.propose(…).pk}), render=…)

`act` does the work and says what came of it as status and ids; `render` makes the answer from these, the
first time and each time after (so a replay shows the present state). Opening a turn needs none of this: it is
idempotent by its `ref`.

The protocol: a row per caller and key is inserted and committed before the work (the claim), and completed in
the work's own transaction. So a row without a status means that the work is under way or was rolled back. A
claim older than CLAIM_S is taken over; whoever lost it rolls back. A refused request leaves no row.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.db import IntegrityError, transaction
from django.utils import timezone
from django.utils.crypto import salted_hmac
from django.utils.translation import gettext_lazy as _
from rest_framework.response import Response

from projects.http.access import caller_of
from projects.http.problems import Problem, invalid
from projects.models import IdempotencyRecord
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from rest_framework.request import Request

HEADER = "Idempotency-Key"
REPLAYED = "Idempotent-Replayed"
KEPT = timedelta(hours=24)
CLAIM_S = 60
_ACCEPTABLE = re.compile(r"[!-~]{1,200}\Z")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a request led to: its status, and ids from which the answer can be rendered again. No content."""

    status: int
    ids: dict[str, Any]


def once(request: Request, *, act: Callable[[], Outcome], render: Callable[[Outcome], Any]) -> Response:
    """Run `act` in one transaction and answer with `render`; under a key that was used before, only render.

    409 `request_in_progress` while the first is under way, 422 `idempotency_key_reused` for another request.
    """
    key = key_of(request)
    if key is None:
        return _response(atomic_retry(act)(), render)
    record, is_new = _claim(caller_of(request), stored_key(key), _fingerprint(request))
    if not is_new:
        assert record.status is not None  # noqa: S101 (_claim raises otherwise)
        return _response(Outcome(record.status, record.result), render, replayed=True)
    return _response(_act(record, act), render)


def key_of(request: Request) -> str | None:
    """The caller's key, None without one; 400 for what can be none, also where it would change nothing."""
    key = request.headers.get(HEADER)
    if key is not None and not _ACCEPTABLE.match(key):
        raise invalid(detail=_("Idempotency-Key takes 1 to 200 visible ASCII characters."))
    return key


def stored_key(key: str) -> str:
    """What is stored of a caller's key: it may be anything, a secret as well."""
    return salted_hmac("projects.http.idempotency.key", key, algorithm="sha256").hexdigest()


def forget_expired(*, now: datetime | None = None, limit: int = 1000) -> int:
    """Delete up to `limit` records whose day is over; for the periodic clean-up."""
    before = (now or timezone.now()) - KEPT
    old = list(IdempotencyRecord.objects.filter(created_at__lt=before).values_list("pk", flat=True)[:limit])
    return IdempotencyRecord.objects.filter(pk__in=old, created_at__lt=before).delete()[0]


def _claim(caller: str, key: str, fingerprint: str) -> tuple[IdempotencyRecord, bool]:
    """The record, and whether the caller has to do the work."""
    now = timezone.now()

    # Tried again, too: of many that wait for the same key, those that find it free again may deadlock.
    @atomic_retry
    def insert() -> IdempotencyRecord:
        with transaction.atomic():
            return IdempotencyRecord.objects.create(
                caller=caller, key=key, fingerprint=fingerprint, created_at=now
            )

    try:
        claim = insert()
    except IntegrityError:
        found = IdempotencyRecord.objects.filter(caller=caller, key=key).first()
    else:
        return claim, True
    if found is None:
        # The first was refused between our two looks; the client may try again.
        raise _in_progress()
    is_over = found.created_at < now - KEPT
    if not is_over and found.fingerprint != fingerprint:
        raise Problem(422, "idempotency_key_reused", _("This Idempotency-Key belongs to another request."))
    if not is_over and found.status is not None:
        return found, False
    if not is_over and found.created_at > now - timedelta(seconds=CLAIM_S):
        raise _in_progress()
    taken = IdempotencyRecord.objects.filter(pk=found.pk, created_at=found.created_at, status=found.status)
    if taken.update(fingerprint=fingerprint, status=None, result={}, created_at=now) != 1:
        # Another request took it over first, or the first one finished after all.
        raise _in_progress()
    found.created_at = now
    return found, True


def _act(record: IdempotencyRecord, act: Callable[[], Outcome]) -> Outcome:
    # `created_at` tells this claim from one that took it over.
    claim = IdempotencyRecord.objects.filter(pk=record.pk, created_at=record.created_at, status=None)

    @atomic_retry
    def act_and_complete() -> Outcome:
        outcome = act()
        if claim.update(status=outcome.status, result=outcome.ids) != 1:
            raise _in_progress()
        return outcome

    try:
        return act_and_complete()
    except BaseException:
        atomic_retry(claim.delete)()
        raise


def _fingerprint(request: Request) -> str:
    # Keyed, so that a stored fingerprint does not let anyone test guesses of a short body.
    told = json.dumps([request.method, request.get_full_path(), request.data], sort_keys=True)
    return salted_hmac("projects.http.idempotency", told, algorithm="sha256").hexdigest()


def _in_progress() -> Problem:
    return Problem(
        409,
        "request_in_progress",
        _("A request with this Idempotency-Key is under way."),
        headers={"Retry-After": "1"},
    )


def _response(outcome: Outcome, render: Callable[[Outcome], Any], *, replayed: bool = False) -> Response:
    headers = {REPLAYED: "true"} if replayed else None
    return Response(render(outcome), status=outcome.status, headers=headers)
