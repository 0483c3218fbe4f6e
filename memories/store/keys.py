"""Keys that are free, and how one that was taken is told from its plain form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.dedupe import content_hash
from memories.models import LIVE_FOR_KEYS, MAX_KEY, Memory

if TYPE_CHECKING:
    from memories.models import Status
    from projects.models import Project

MAX_SUFFIX = 100
# Characters that a suffix may take: "-99" and one to spare, or a dash and eight digits of a digest.
_SUFFIX, _DIGEST = 4, 9


def free_key(project: Project, key: str, *, held_by: tuple[Status, ...] = LIVE_FOR_KEYS) -> str:
    """`key`, or `key-2`, `key-3` … if memories in one of these states hold it."""
    if not held_by:
        return key
    taken = set(
        Memory.objects.of(project)
        .filter(key__startswith=key[: MAX_KEY - _SUFFIX], status__in=held_by)
        .values_list("key", flat=True)
    )
    if key not in taken:
        return key
    for number in range(2, MAX_SUFFIX):
        candidate = f"{key[: MAX_KEY - _SUFFIX]}-{number}"
        if candidate not in taken:
            return candidate
    return f"{key[: MAX_KEY - _DIGEST]}-{content_hash(key + str(len(taken)))[: _DIGEST - 1]}"


def suffixed(key: str, plain: str) -> bool:
    """Whether `key` is what `free_key` makes of a `plain` that was taken."""
    stem, dash, number = key.rpartition("-")
    return bool(dash) and number.isdigit() and stem == plain[: MAX_KEY - _SUFFIX]
