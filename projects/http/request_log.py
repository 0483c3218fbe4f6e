"""One line for each request: who asked for what kind of thing, what came of it, how long it took. No content.

The route's template stands for the address, and nothing of the query string, the headers or the body. A response that
is streamed counts until its headers are sent.
"""

from __future__ import annotations

import logging
import time
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from django.conf import settings

from projects.models import ApiKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

logger = logging.getLogger(__name__)

# Any other word is somebody's text.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"})
STATIC = "static/*"
_noted: ContextVar[dict[str, Any] | None] = ContextVar("noted", default=None)


def note_project(project_id: int) -> None:
    """The request under way is about this project; nothing outside of a request."""
    if (noted := _noted.get()) is not None:
        noted["project"] = project_id


class RequestLogMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        noted: dict[str, Any] = {}
        token = _noted.set(noted)
        started = time.perf_counter()
        response: HttpResponse | None = None
        try:
            response = self.get_response(request)
        finally:
            # Without a response the process is being ended in mid-request.
            _noted.reset(token)
            _write(request, response, noted, (time.perf_counter() - started) * 1000)
        return response


def _write(request: HttpRequest, response: HttpResponse | None, noted: dict[str, Any], ms: float) -> None:
    status = response.status_code if response is not None else None
    told: dict[str, Any] = {
        "method": request.method if request.method in METHODS else "other",
        "route": _route(request),
        "status": status,
        "code": _code(response),
        "ms": round(ms, 1),
        **_caller(request),
        **noted,
        "bytes_in": _bytes_in(request),
        "bytes_out": _bytes_out(response),
    }
    level = logging.INFO if status is not None and status < 500 else logging.ERROR
    logger.log(level, "request", extra={name: value for name, value in told.items() if value is not None})


def _route(request: HttpRequest) -> str | None:
    if request.resolver_match is not None:
        return str(request.resolver_match.route)
    return STATIC if request.path_info.startswith(settings.STATIC_URL) else None


def _code(response: HttpResponse | None) -> str | None:
    """A refusal's `code`, of which there are a few dozen."""
    data = getattr(response, "data", None)
    return data.get("code") if response is not None and response.status_code >= 400 and data else None


def _caller(request: HttpRequest) -> dict[str, Any]:
    """By key, by user, or nobody known. Asks the database nothing that the request has not asked already."""
    key = getattr(request, "auth", None)
    if isinstance(key, ApiKey):
        return {"caller": "key", "key": key.prefix, "project": key.project_id}
    user = getattr(request, "_cached_user", None)
    if user is not None and user.pk is not None:
        return {"caller": "user", "user": user.pk}
    return {"caller": "anonymous"}


def _bytes_in(request: HttpRequest) -> int | None:
    length = request.META.get("CONTENT_LENGTH") or ""
    return int(length) if length.isascii() and length.isdigit() else None


def _bytes_out(response: HttpResponse | None) -> int | None:
    if response is None:
        return None
    if not response.streaming:
        return len(response.content)
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdigit() else None
