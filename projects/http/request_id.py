"""One id for everything that a request causes: log lines, audit events, history rows, the answer's header."""

from __future__ import annotations

import re
import uuid
from contextvars import ContextVar
from typing import TYPE_CHECKING

from projects import masking

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse

HEADER = "X-Request-ID"
_ACCEPTABLE = re.compile(r"[A-Za-z0-9._-]{1,64}\Z")
_current: ContextVar[str] = ContextVar("request_id", default="")


def current() -> str:
    """The id of the request or task under way, empty outside of both."""
    return _current.get()


def begin(request_id: str = "") -> str:
    """Take over `request_id` if it is harmless in a log line, else make one."""
    is_harmless = _ACCEPTABLE.match(request_id) and not masking.holds_secret(request_id)
    accepted = request_id if is_harmless else uuid.uuid4().hex
    _current.set(accepted)
    return accepted


class RequestIdMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        request_id = begin(request.headers.get(HEADER, ""))
        response = self.get_response(request)
        response[HEADER] = request_id
        return response
