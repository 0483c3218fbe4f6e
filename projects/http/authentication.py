"""Who calls: an agent service by its key, or a person by their session.

`request.auth` is the ApiKey or None; `request.user` is a KeyUser or a User. What the caller may reach is
decided in access.py.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.db.models import Q
from django.http import HttpResponse
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from rest_framework import authentication, exceptions
from rest_framework.authentication import get_authorization_header

from projects import keys
from projects.http import throttling
from projects.http.problems import Problem
from projects.models import ApiKey

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpRequest
    from rest_framework.request import Request

SCHEME = "Bearer"
_CHALLENGE = f'{SCHEME} realm="cairn"'
_USE_IS_NOTED_EVERY = timedelta(minutes=1)
_NO_DIGEST = "0" * 64


@dataclass(frozen=True, slots=True)
class KeyUser:
    """Stands where DRF and Django expect a user: signed in, but nobody."""

    key: ApiKey
    pk = None
    id = None
    is_authenticated = True
    is_anonymous = False
    is_active = True
    is_staff = False
    is_superuser = False

    def get_username(self) -> str:
        return ""

    def __str__(self) -> str:
        return str(self.key)


class ApiKeyAuthentication(authentication.BaseAuthentication):
    """`Authorization: Bearer cairn_…` in one query.

    Unknown, revoked and expired keys look alike: 401 `key_invalid`. Whoever sends the header speaks as a key:
    one that names none is not answered as the session that happens to come along.
    """

    def authenticate(self, request: Request) -> tuple[KeyUser, ApiKey] | None:
        sent = get_authorization_header(request)
        if not sent:
            return None
        scheme, _space, plain = sent.partition(b" ")
        if scheme.lower() != SCHEME.lower().encode():
            throttling.count_stranger(request)
            raise exceptions.NotAuthenticated
        key = self._find(request, plain.decode("ascii", errors="replace").strip())
        self._note_use(key)
        return KeyUser(key), key

    def authenticate_header(self, request: Request) -> str:
        return _CHALLENGE

    def _find(self, request: Request, plain: str) -> ApiKey:
        prefix = keys.prefix_of(plain)
        key = prefix and ApiKey.objects.select_related("project__owner").filter(prefix=prefix).first()
        # The same work is done whether or not the prefix exists.
        matches = hmac.compare_digest(key.digest if key else _NO_DIGEST, keys.digest_of(plain))
        if not key or not matches or not key.is_usable:
            throttling.count_stranger(request)
            raise Problem(
                401,
                "key_invalid",
                _("This API key is unknown, revoked or expired."),
                headers={"WWW-Authenticate": f'{_CHALLENGE}, error="invalid_token"'},
            )
        return key

    def _note_use(self, key: ApiKey) -> None:
        now = timezone.now()
        before = now - _USE_IS_NOTED_EVERY
        if key.last_used_at is None or key.last_used_at < before:
            # Conditional, so that of many requests at once one writes.
            ApiKey.objects.filter(Q(last_used_at=None) | Q(last_used_at__lt=before), pk=key.pk).update(
                last_used_at=now
            )


def _no_view(request: HttpRequest) -> HttpResponse:
    """Stands for a view without `csrf_exempt`, which DRF's own views all are."""
    return HttpResponse()


class SessionAuthentication(authentication.SessionAuthentication):
    """A logged-in person; whatever writes must carry the CSRF token, else 403 `csrf_failed`.

    Asked last: who is nobody here sent no key either.
    """

    def authenticate(self, request: Request) -> tuple[User, None] | None:
        user = request._request.user
        if not user.is_authenticated or not user.is_active:
            throttling.count_stranger(request)
            return None
        self.enforce_csrf(request)
        return user, None

    def enforce_csrf(self, request: Request) -> None:
        check = authentication.CSRFCheck(lambda _request: HttpResponse())
        # Django's own request: DRF's would parse the body before anybody is known to be allowed to send one.
        check.process_request(request._request)
        if check.process_view(request._request, _no_view, (), {}):
            raise Problem(403, "csrf_failed", _("The CSRF token is missing or wrong."))
