"""Where a request's time went, told to the caller in `Server-Timing`."""

from __future__ import annotations

import time
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

HEADER = "Server-Timing"
_parts: ContextVar[dict[str, float] | None] = ContextVar("parts", default=None)


def note(part: str, ms: float) -> None:
    """Add `ms` milliseconds to a part of the request under way; nothing outside of one."""
    parts = _parts.get()
    if parts is not None:
        parts[part] = parts.get(part, 0.0) + ms


class ServerTimingMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        parts: dict[str, float] = {}
        token = _parts.set(parts)
        started = time.perf_counter()
        try:
            response = self.get_response(request)
        finally:
            _parts.reset(token)
        parts["total"] = (time.perf_counter() - started) * 1000
        response[HEADER] = ", ".join(f"{part};dur={ms:.1f}" for part, ms in parts.items())
        return response
