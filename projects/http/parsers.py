"""What comes in: one JSON object in UTF-8, bounded in size and depth, its strings fit to be stored."""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any, NoReturn

from django.conf import settings
from django.utils.translation import gettext_lazy as _
from rest_framework.parsers import BaseParser

from projects.http.problems import DRAIN_BYTES, FieldError, Problem, invalid, pointer
from projects.http.renderers import JSONRenderer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import IO

MAX_DEPTH = 32
_CHUNK = 65_536


class JSONParser(BaseParser):
    """Refuses with 413 `too_large`, 400 `invalid`, or 400 `invalid_text` (a lone surrogate, a NUL)."""

    media_type = "application/json"
    # For OpenAPI and the test client: what this parser reads, that renderer writes.
    renderer_class = JSONRenderer

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        raw = _read(stream, settings.API_MAX_BODY_BYTES)
        try:
            body = json.loads(raw.decode(), parse_constant=_refuse_constant, parse_float=_finite)
        except RecursionError:
            raise _too_deep() from None
        except (UnicodeDecodeError, ValueError):
            # ValueError also covers integers of thousands of digits.
            raise _malformed(_("The body is not JSON in UTF-8.")) from None
        if not isinstance(body, dict):
            raise _malformed(_("The body must be a JSON object."))
        _check(body)
        return body


def _read(stream: IO[bytes], limit: int) -> bytes:
    raw = stream.read(limit + 1)
    if len(raw) <= limit:
        return raw
    drained = len(raw)
    while drained < DRAIN_BYTES and (chunk := stream.read(_CHUNK)):
        drained += len(chunk)
    raise Problem(
        413,
        "too_large",
        _("The body is too large; %(limit)s bytes are allowed.") % {"limit": limit},
        limit=limit,
    )


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("overflow")
    return number


def _malformed(detail: Any) -> Problem:
    return invalid(FieldError("", "invalid", detail))


def _too_deep() -> Problem:
    return _malformed(_("The body is nested more than %(limit)s levels deep.") % {"limit": MAX_DEPTH})


def _check(body: dict[str, Any]) -> None:
    """Walk the whole body once, without recursion."""
    unfit: list[FieldError] = []
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(body, ())]
    while waiting:
        value, path = waiting.pop()
        if len(path) >= MAX_DEPTH and isinstance(value, dict | list):
            raise _too_deep()
        match value:
            case str():
                if not _is_storable(value):
                    unfit.append(_unfit(path))
            case dict():
                for name, inner in value.items():
                    if _is_storable(name):
                        waiting.append((inner, (*path, name)))
                    else:
                        unfit.append(_unfit(path))
            case list():
                waiting.extend((inner, (*path, position)) for position, inner in enumerate(value))
    if unfit:
        raise Problem(400, "invalid_text", _("The text holds characters that cannot be stored."), unfit[::-1])


def _is_storable(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "\0" not in text


def _unfit(path: tuple[str | int, ...]) -> FieldError:
    return FieldError(pointer(*path), "invalid_text", _("Half of a surrogate pair, or a NUL, is not text."))
