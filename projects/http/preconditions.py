"""`ETag` and `If-Match`: nobody overwrites what they have not seen.

    version = preconditions.seen_version(request, memory.version, current=lambda: render(memory))
    store.edit(memory=memory, expected_version=version, …)     # checks again, under its lock
    → on the store's StaleMemory: raise preconditions.stale(current=render(memory))

Answers carry `ETag: etag(memory.version)`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils.http import parse_etags
from django.utils.translation import gettext_lazy as _

from projects.http.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.request import Request


def etag(version: int | str) -> str:
    """The header's value for a version number or a digest."""
    return f'"{version}"'


def seen_version(request: Request, version: int, *, current: Callable[[], Any]) -> int | None:
    """The version that the caller has seen, or None where they wrote `*` (any).

    428 `if_match_required` without the header, 412 `stale_memory` when it names other versions.
    """
    header = request.headers.get("If-Match")
    if header is None:
        raise Problem(428, "if_match_required", _("Send the ETag that you have seen as If-Match."))
    if header.strip() == "*":
        return None
    if not _names(header, etag(version)):
        raise stale(current=current())
    return version


def stale(*, current: Any) -> Problem:
    """The row changed since the caller read it; `current` is what it is now."""
    return Problem(
        412,
        "stale_memory",
        _("This has changed since you read it."),
        headers={"ETag": etag(current["version"])},
        current=current,
    )


def is_unchanged(request: Request, tag: str) -> bool:
    """True when the caller's `If-None-Match` already names `tag`: answer 304."""
    header = request.headers.get("If-None-Match", "")
    return header.strip() == "*" or _names(header, tag)


def _names(header: str, tag: str) -> bool:
    # Proxies that compress mark tags as weak; the versions behind them are the same.
    return tag in {given.removeprefix("W/") for given in parse_etags(header)}
