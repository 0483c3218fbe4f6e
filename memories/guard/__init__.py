"""The guard: what must not be kept. Pure functions from a text to findings; every write passes here."""

import re
from collections.abc import Iterator
from typing import Any, Final

from memories.guard import hidden, injection, secrets
from memories.guard.findings import Certainty, Finding, Kind, ordered, worst
from memories.guard.views import readings

__all__ = [
    "GUARD_VERSION",
    "Certainty",
    "Finding",
    "Kind",
    "found_by",
    "inspect",
    "mask",
    "mask_values",
    "worst",
]

# Raised with every change of what the rules find, so that stored verdicts can be renewed.
GUARD_VERSION: Final = 3

_SHOWN: Final = 2
_INVISIBLE: Final = re.compile(
    "[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufe00-\ufe0f\U000e0000-\U000e01ef]"
)


def inspect(text: str) -> list[Finding]:
    """Everything in `text` that must not be stored as it stands, by position; empty for an ordinary text."""
    if not text:
        return []
    views = readings(text)
    found = [finding for view in views for finding in secrets.find(view)]
    found.extend(injection.find(views))
    found.extend(hidden.find(text))
    return ordered(found)


def found_by(text: str) -> Iterator[tuple[str, Finding]]:
    """What `inspect` weighs together, each finding with the family of rules that it comes from."""
    views = readings(text) if text else []
    for view in views:
        yield from secrets.found_by(view)
    for found in (*injection.find(views), *hidden.find(text)):
        yield f"{found.kind}: {found.code}", found


def mask(text: str) -> str:
    """`text` with every secret shown as its first two characters and `***`, wherever its value recurs.

    Of one shorter than four characters (signs that stand for several, say) at most half is shown.
    """
    views = readings(text) if text else []
    found = ordered([finding for view in views for finding in secrets.find(view)])
    if not found:
        return text
    values = sorted({text[one.start : one.end] for one in found}, key=len, reverse=True)
    again = re.compile("|".join(map(re.escape, values))).finditer(text)
    covered = sorted([(one.start, one.end) for one in found] + [match.span() for match in again])
    pieces: list[str] = []
    at = 0
    for start, end in covered:
        if start >= at:
            value = _INVISIBLE.sub("", text[start:end])
            pieces += (text[at:start], value[: min(_SHOWN, len(value) // 2)], "***")
        at = max(at, end)
    return "".join(pieces) + text[at:]


def mask_values(value: Any) -> Any:
    """`mask` for the strings inside lists and objects of JSON, the objects' names included."""
    match value:
        case str():
            return mask(value)
        case list():
            return [mask_values(one) for one in value]
        case dict():
            return {mask(name): mask_values(one) for name, one in value.items()}
    return value
