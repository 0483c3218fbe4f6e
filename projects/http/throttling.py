"""How often each caller may ask: a budget per (key, project) and (person, project), and per address for who is neither.

Windows begin with the clock, so that one INCR tells all: whether the request is within the budget, what remains,
when the next window begins. Around that moment a caller may send two budgets in a row.
"""

from __future__ import annotations

import logging
import math
import threading
import time
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, cast

import redis  # noqa: F401 (whole before any thread asks: limits takes one that is half imported for a missing one)
from django.conf import settings
from django.utils.translation import gettext_lazy as _
from limits import parse
from limits.errors import StorageError
from limits.storage import storage_from_string

from projects.http.address import address_of
from projects.http.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse
    from limits.storage import Storage
    from rest_framework.request import Request

MEMORY = "memory://"
# What a request waits for a Redis that hangs, and how long nobody asks it again.
REDIS_TIMEOUT_S = 0.1
PAUSE_S = 5.0
_POLICY = "caller"
_STANDING = "_throttle_standing"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Rate:
    limit: int
    window_s: int


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a caller stands after a request: `used` of the window's `rate.limit`, anew in `resets_in_s` seconds."""

    rate: Rate
    used: int
    resets_in_s: int

    @property
    def remaining(self) -> int:
        return max(0, self.rate.limit - self.used)

    @property
    def headers(self) -> dict[str, str]:
        """RateLimit header fields for HTTP (draft-ietf-httpapi-ratelimit-headers-10)."""
        return {
            "RateLimit-Policy": f'"{_POLICY}";q={self.rate.limit};w={self.rate.window_s}',
            "RateLimit": f'"{_POLICY}";r={self.remaining};t={self.resets_in_s}',
        }


def rate() -> Rate | None:
    """The budget of every caller, None if there is none."""
    return _rate(settings.THROTTLE_RATE) if settings.THROTTLE_RATE else None


def count(request: Request, caller: str, project_id: int | None) -> None:
    """Count the request, once however often it is asked; 429 `throttled` when the caller's budget is used up.

    `project_id` None: what the caller cannot reach, and what belongs to no project, is one budget.
    """
    plain: HttpRequest = request._request
    allowed = rate()
    if allowed is None or hasattr(plain, _STANDING):
        return
    now = time.time()
    window = int(now // allowed.window_s)
    used = _tally(settings.THROTTLE_STORAGE_URL).add(
        f"{caller}/{project_id or '-'}", window, allowed.window_s
    )
    standing = Standing(allowed, used, max(1, math.ceil((window + 1) * allowed.window_s - now)))
    setattr(plain, _STANDING, standing)
    if used > allowed.limit:
        raise Problem(
            429,
            "throttled",
            _("Too many requests. Try again later."),
            headers={"Retry-After": str(standing.resets_in_s)},
        )


def count_stranger(request: Request) -> None:
    """Count a request without a valid key or log-in, by where it comes from."""
    count(request, f"address:{address_of(request._request) or '-'}", None)


def standing_of(request: Request) -> Standing | None:
    """What `count` found, None if the request was not counted."""
    return getattr(request._request, _STANDING, None)


class RateLimitMiddleware:
    """Tells each counted caller where it stands."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        standing: Standing | None = getattr(request, _STANDING, None)
        if standing is not None:
            for name, value in standing.headers.items():
                response[name] = value
        return response


class Window:
    """Counts of this process in the window under way; earlier ones are dropped with all that they held."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._number = 0
        self._counts: dict[str, int] = {}

    def add(self, key: str, number: int) -> int:
        with self._lock:
            if number > self._number:
                self._number, self._counts = number, {}
            self._counts[key] = counted = self._counts.get(key, 0) + 1
            return counted


class Tally:
    """Counts shared by all processes through Redis, or this process's own when there is no Redis or it is away.

    A Redis that is away or hangs costs one request `REDIS_TIMEOUT_S` and is left alone for `PAUSE_S`; then one
    request asks it again while the others go on without it.
    """

    def __init__(self, shared: Storage | None) -> None:
        self._shared = shared
        self._own = Window()
        self._lock = threading.Lock()
        self._asked_again_at: float | None = None

    def add(self, key: str, window: int, window_s: int) -> int:
        """Count one more under `key`; how many there are now."""
        if self._shared is not None and self._may_ask():
            try:
                counted = self._shared.incr(f"{key}/{window}", window_s)
            except StorageError as error:
                self._leave(error)
            else:
                self._return()
                return counted
        return self._own.add(key, window)

    def _may_ask(self) -> bool:
        if self._asked_again_at is None:
            return True
        with self._lock:
            now = time.monotonic()
            if self._asked_again_at is not None and now < self._asked_again_at:
                return False
            # This one asks; the others wait for what it finds.
            self._asked_again_at = now + PAUSE_S
            return True

    def _leave(self, error: StorageError) -> None:
        with self._lock:
            was_there = self._asked_again_at is None
            self._asked_again_at = time.monotonic() + PAUSE_S
        if was_there:
            logger.warning(
                "Redis does not answer (%s): throttles count in each process alone until it does.",
                type(error.storage_error).__name__,
            )

    def _return(self) -> None:
        if self._asked_again_at is None:
            return
        with self._lock:
            was_away, self._asked_again_at = self._asked_again_at is not None, None
        if was_away:
            logger.warning("Redis answers again: throttles are shared.")


@cache
def _rate(text: str) -> Rate:
    item = parse(text)
    return Rate(item.amount, item.get_expiry())


@cache
def _tally(url: str) -> Tally:
    """One per address of the storage, for all threads of the process."""
    if url == MEMORY:
        return Tally(None)
    storage = storage_from_string(
        url,
        wrap_exceptions=True,
        key_prefix="cairn:throttle",
        socket_timeout=REDIS_TIMEOUT_S,
        socket_connect_timeout=REDIS_TIMEOUT_S,
    )
    return Tally(cast("Storage", storage))
