"""Every refusal of the API: RFC 9457 `application/problem+json` with a stable `code`.

`title` is the status's own phrase, `detail` a sentence in the language of the request, `errors` points into
the body by JSON pointer (RFC 6901; "" is the whole body). Programs read `status`, `code` and `errors[].code`;
sentences may change. Raise `Problem` in a view; Django's and DRF's own exceptions are translated.
"""

from __future__ import annotations

import logging
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import (
    PermissionDenied,
    RequestDataTooBig,
    SuspiciousOperation,
)
from django.core.exceptions import ValidationError as DjangoValidationError
from django.db import InterfaceError, OperationalError
from django.http import Http404, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views import defaults
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.serializers import as_serializer_error
from rest_framework.settings import api_settings

from projects import masking
from projects.http import request_id
from projects.http.renderers import JSONRenderer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from django.http import HttpRequest
    from django.utils.functional import Promise

    type Text = str | Promise

MEDIA_TYPE = "application/problem+json"
API_PREFIX = "/api/"
# A client still sending does not read; up to here its body is swallowed, so that it gets to see the refusal.
DRAIN_BYTES = 32_000_000

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class FieldError:
    """One thing wrong at `pointer`; `start` and `end` count characters of that string."""

    pointer: str
    code: str
    detail: Text
    start: int | None = None
    end: int | None = None
    # A query parameter has no pointer into the body; it is named here.
    parameter: str | None = None

    def as_dict(self) -> dict[str, Any]:
        told: dict[str, Any] = {"pointer": self.pointer, "code": self.code, "detail": str(self.detail)}
        for name in ("start", "end"):
            if (value := getattr(self, name)) is not None:
                told[name] = value
        if self.parameter is not None:
            told["parameter"] = masking.mask(self.parameter)
        return told


class Problem(exceptions.APIException):
    """A refusal. `extra` members (such as `current`, `memory`, `limit`) stand beside `code` in the answer."""

    def __init__(
        self,
        status: int,
        code: str,
        detail: Text,
        errors: Iterable[FieldError] = (),
        *,
        headers: Mapping[str, str] | None = None,
        **extra: Any,
    ) -> None:
        super().__init__(str(detail), code)
        self.status_code = status
        self.code = code
        self.sentence = detail
        self.errors = tuple(errors)
        self.headers = dict(headers or {})
        self.extra = extra

    def body(self) -> dict[str, Any]:
        """The answer's members, in the language that is active now."""
        told: dict[str, Any] = {
            "type": "about:blank",
            "title": HTTPStatus(self.status_code).phrase,
            "status": self.status_code,
            "code": self.code,
            "detail": str(self.sentence),
        }
        if self.errors:
            told["errors"] = [error.as_dict() for error in self.errors]
        if current := request_id.current():
            told["request_id"] = current
        return told | self.extra


def not_found() -> Problem:
    """The one answer for what does not exist and for what the caller must not know of."""
    return Problem(404, "not_found", _("There is nothing here that you can see."))


def invalid(*errors: FieldError, detail: Text | None = None) -> Problem:
    """400; the code is `unknown_field` when that is among what is wrong."""
    codes = {error.code for error in errors}
    code = "unknown_field" if "unknown_field" in codes else "invalid"
    return Problem(400, code, detail or _("The request is not valid."), errors)


def pointer(*steps: str | int) -> str:
    """A JSON pointer (RFC 6901) through object names and list positions.

    A member that is not known may be called anything, a secret as well: such a name is masked.
    """
    names = (masking.mask(step) if isinstance(step, str) else str(step) for step in steps)
    return "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)


def exception_handler(exc: Exception, context: Mapping[str, Any]) -> Response | HttpResponse | None:
    """DRF's hook: the answer to what a view raised, None for what nobody expected.

    No roll-back here: services own their transactions, requests have none (no ATOMIC_REQUESTS).
    """
    problem = _translated(exc)
    if problem is None:
        return None
    headers = dict(problem.headers)
    if header := getattr(exc, "auth_header", None):
        headers["WWW-Authenticate"] = header
    if not isinstance(getattr(context["request"], "accepted_renderer", None), JSONRenderer | None):
        # A page in another format, whose renderer would write that under a problem's name.
        answer = _answer(problem)
        for name, value in headers.items():
            answer[name] = value
        return answer
    return Response(problem.body(), status=problem.status_code, headers=headers, content_type=MEDIA_TYPE)


def _translated(exc: Exception) -> Problem | None:
    match exc:
        case Problem():
            return exc
        case Http404() | exceptions.NotFound():
            return not_found()
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return Problem(401, "key_invalid", _("Send an API key as “Authorization: Bearer …”, or log in."))
        case PermissionDenied() | exceptions.PermissionDenied():
            return Problem(403, "role_missing", _("Your role does not allow this."))
        case exceptions.ValidationError():
            return invalid(*_flat(exc.detail, ()))
        case DjangoValidationError():
            return invalid(*_flat(as_serializer_error(exc), ()))
        case masking.TextRefused():
            where = FieldError(pointer(exc.field), exc.code, exc.message, exc.start, exc.end)
            # A slug stands in the address, not in the body.
            place = FieldError("", exc.code, exc.message) if exc.field == "slug" else where
            return Problem(422, exc.code, exc.message, [place])
        case RequestDataTooBig():
            return _too_large()
        case exceptions.ParseError() | SuspiciousOperation():
            return Problem(400, "invalid", _("The request cannot be read."))
        case exceptions.MethodNotAllowed():
            return Problem(405, "method_not_allowed", _("This method is not allowed here."))
        case exceptions.NotAcceptable():
            return Problem(406, "not_acceptable", _("Answers are application/json only."))
        case exceptions.UnsupportedMediaType():
            return Problem(415, "unsupported_media_type", _("Send application/json."))
        case exceptions.Throttled():
            headers = {"Retry-After": str(wait)} if (wait := getattr(exc, "wait", None)) else {}
            return Problem(429, "throttled", _("Too many requests. Try again later."), headers=headers)
        case OperationalError() | InterfaceError():
            # The database is away, or deadlocked more often than was worth trying again.
            logger.exception("The database did not answer")
            return Problem(503, "unavailable", _("Try again in a moment."), headers={"Retry-After": "1"})
    return None


def _flat(detail: Any, path: tuple[str | int, ...]) -> Iterator[FieldError]:
    """DRF's nested error detail as a flat run of pointed errors."""
    if isinstance(detail, dict):
        for name, inner in detail.items():
            yield from _flat(inner, path if name == api_settings.NON_FIELD_ERRORS_KEY else (*path, name))
    elif isinstance(detail, list):
        for position, inner in enumerate(detail):
            # A list of messages speaks of `path` itself, a list of objects of its items.
            yield from _flat(inner, (*path, position) if isinstance(inner, dict | list) else path)
    else:
        yield FieldError(pointer(*path), getattr(detail, "code", "invalid"), str(detail))


def _answer(problem: Problem) -> HttpResponse:
    return JsonResponse(
        problem.body(),
        status=problem.status_code,
        content_type=MEDIA_TYPE,
        json_dumps_params={"ensure_ascii": False, "separators": (",", ":")},
    )


def handler400(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's hook for requests that it refuses before any view; a form that is too large is one of them."""
    if isinstance(exception, RequestDataTooBig):
        _swallow(request)
    if not request.path.startswith(API_PREFIX):
        if isinstance(exception, RequestDataTooBig):
            return render(request, "413.html", {"limit": _limit()}, status=413)
        return defaults.bad_request(request, exception)
    return _answer(_translated(exception) or Problem(400, "invalid", _("The request cannot be read.")))


def _limit() -> int:
    limit: int = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
    return limit


def _too_large() -> Problem:
    sentence = _("The body is too large; %(limit)s bytes are allowed.") % {"limit": _limit()}
    return Problem(413, "too_large", sentence, limit=_limit())


def _swallow(request: HttpRequest) -> None:
    """Read what the browser is still sending, up to a bound: it does not look at an answer before that."""
    left = DRAIN_BYTES
    while left > 0 and (chunk := request.read(min(left, 65_536))):
        left -= len(chunk)


def handler404(request: HttpRequest, exception: Exception) -> HttpResponse:
    """Django's hook for addresses that lead nowhere."""
    if not request.path.startswith(API_PREFIX):
        return defaults.page_not_found(request, exception)
    return _answer(not_found())


def handler500(request: HttpRequest) -> HttpResponse:
    """Django's hook for what nobody expected; the log has the traceback, the answer the request's id."""
    if not request.path.startswith(API_PREFIX):
        return defaults.server_error(request)
    return _answer(
        Problem(500, "internal", _("Something went wrong here; the request id finds it in the log."))
    )
