"""Log-ins that failed: who is kept from guessing, and for how long.

django-axes counts failures per name and address and refuses further ones. What it writes down is a user's name, an
address, a path and a count. Whatever else was typed as a name is kept as a keyed digest: people type passwords there.
"""

from __future__ import annotations

import math
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from axes.handlers.database import AxesDatabaseHandler
from axes.models import AccessAttempt
from django.conf import settings
from django.contrib.auth.models import User
from django.contrib.sessions.models import Session
from django.db import transaction
from django.db.models import OuterRef, Subquery
from django.http import HttpRequest
from django.urls import reverse
from django.utils import timezone
from django.utils.crypto import salted_hmac

from projects import audit
from projects.actors import Actor
from projects.http import request_id
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from django.db.models import QuerySet

    from projects.actors import Transport

# No user name begins so.
UNKNOWN = "?"
_FIELD = "username"
_DIGITS = 16
_KNOWN = "_logins_known"


class LoginHandler(AxesDatabaseHandler):
    """Counts in one row per name and address, and audits the failure that locks."""

    def user_login_failed(
        self, sender: Any, credentials: dict[str, Any], request: HttpRequest | None = None, **kwargs: Any
    ) -> None:
        if request is None:
            super().user_login_failed(sender, credentials, request, **kwargs)
            return
        was_locked = request.axes_locked_out  # type: ignore[attr-defined]

        @atomic_retry
        def count() -> HttpRequest:
            # The row is locked until the end: of failures at the same time one is the last that was allowed.
            bare = _bare(request)
            super(LoginHandler, self).user_login_failed(sender, credentials, bare, **kwargs)
            if not was_locked and bare.axes_failures_since_start == settings.AXES_FAILURE_LIMIT:  # type: ignore[attr-defined]
                _audit_lock(bare, credentials)
            return bare

        counted = count()
        for name in ("axes_locked_out", "axes_credentials", "axes_failures_since_start"):
            setattr(request, name, getattr(counted, name))


def name_of(request: HttpRequest, credentials: Mapping[str, Any] | None = None) -> str | None:
    """The name that a failure is counted under: a user's, spelled as theirs, or the digest of what was typed."""
    typed = credentials.get(_FIELD) if credentials else request.POST.get(_FIELD)
    if not typed:
        return None
    known: dict[str, str] = request.__dict__.setdefault(_KNOWN, {})
    if typed not in known:
        name = User.objects.filter(username=typed).values_list("username", flat=True).first()
        known[typed] = (
            name or UNKNOWN + salted_hmac(__name__, typed, algorithm="sha256").hexdigest()[:_DIGITS]
        )
    return known[typed]


def said_in_logs(name: str | None, address: str | None, _agent: str, path: str, _request: HttpRequest) -> str:
    """What axes logs of a caller: no name."""
    kind = "a user's name" if name and not name.startswith(UNKNOWN) else "an unknown name"
    return f"{kind} from {address or 'a socket'} at {path}"


def locks() -> QuerySet[AccessAttempt]:
    """The names and addresses that are refused now."""
    return counted().filter(failures_since_start__gte=settings.AXES_FAILURE_LIMIT)


def counted() -> QuerySet[AccessAttempt]:
    """Failures that still count, each with the id of the user whose name it is, None for nobody's."""
    user = User.objects.filter(username=OuterRef("username")).values("pk")[:1]
    return AccessAttempt.objects.filter(
        attempt_time__gt=timezone.now() - settings.AXES_COOLOFF_TIME
    ).annotate(user_pk=Subquery(user))


def is_locked(attempt: AccessAttempt) -> bool:
    return attempt.failures_since_start >= settings.AXES_FAILURE_LIMIT


def seconds_locked(name: str | None, address: str | None) -> int:
    """How long this name stays refused from this address, at least 1 and rounded up."""
    last = (
        locks()
        .filter(username=name, ip_address=address)
        .order_by("-attempt_time")
        .values_list("attempt_time", flat=True)
        .first()
    )
    since = timezone.now() - last if last else timedelta()
    return max(1, math.ceil((settings.AXES_COOLOFF_TIME - since).total_seconds()))


@transaction.atomic
def lift(attempts: Iterable[AccessAttempt], *, by: Actor) -> int:
    """Forget these failures, so that their names can log in from there again; how many locks that were."""
    lifted = 0
    for attempt in locks().filter(pk__in=[attempt.pk for attempt in attempts]).select_for_update():
        _audit("login.unlock", attempt, by=by)
        attempt.delete()
        lifted += 1
    return lifted


def forget_expired() -> None:
    """Remove failures that no longer count and sessions that are over."""
    AccessAttempt.objects.filter(attempt_time__lte=timezone.now() - settings.AXES_COOLOFF_TIME).delete()
    Session.objects.filter(expire_date__lte=timezone.now()).delete()


def _bare(request: HttpRequest) -> HttpRequest:
    """The request without anything that its caller sent."""
    bare = HttpRequest()
    bare.__dict__.update(
        {name: value for name, value in request.__dict__.items() if name.startswith(("axes_", _KNOWN))}
    )
    bare.__dict__.update(axes_user_agent="", axes_http_accept="")
    return bare


def _audit_lock(request: HttpRequest, credentials: Mapping[str, Any]) -> None:
    attempt = locks().get(
        username=name_of(request, credentials),
        ip_address=request.axes_ip_address,  # type: ignore[attr-defined]
    )
    transport: Transport = "admin" if attempt.path_info.startswith(reverse("admin:index")) else "web"
    by = Actor(kind="system", name="system", transport=transport, request_id=request_id.current())
    _audit("login.lock", attempt, by=by)


def _audit(action: str, attempt: AccessAttempt, *, by: Actor) -> None:
    audit.record(
        action,
        by=by,
        project=None,
        target_type="login",
        target_id=attempt.user_pk,  # type: ignore[attr-defined]
        target_key=attempt.ip_address or "",
        counts={"failures": attempt.failures_since_start},
    )
