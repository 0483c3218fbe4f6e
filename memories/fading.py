"""Pure: which memories nobody needs any more, why, and from when on (design: Fading).

What is learned grows fainter by half with each half-life in which nobody used, confirmed or changed it; the
half-life grows with importance. Below FLOOR it has faded: strength = 0.5 ** (idle / (half_life × importance)).
Whoever stands behind a memory keeps it; only its own date ends it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

FLOOR = 0.25
FADING_TYPES = frozenset({"preference", "fact", "decision", "procedure"})
IN_USE = ("active", "disabled", "proposed")


class Why(StrEnum):
    EXPIRED = "expired"
    FADED = "faded"
    UNREVIEWED = "unreviewed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """Days; 0 says never."""

    half_life_days: float
    review_days: float

    def fades_after(self, importance: int) -> timedelta | None:
        """How long an extracted memory of this importance outlives its last use."""
        if not self.half_life_days:
            return None
        return timedelta(days=self.half_life_days * importance * -math.log2(FLOOR))

    @property
    def waits_for(self) -> timedelta | None:
        """How long a proposal waits for a person."""
        return timedelta(days=self.review_days) if self.review_days else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What fading asks of a memory. `touched_at`: when it was written, changed, confirmed or said again."""

    type: str
    status: str
    source: str
    authority: str
    importance: int
    always: bool
    touched_at: datetime
    used_at: datetime | None
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class Fate:
    """When a memory is to be archived, if nothing happens to it until then, and why."""

    at: datetime
    why: Why


def fate(memory: Facts, *, pace: Pace) -> Fate | None:
    """None: it stays."""
    if memory.status not in IN_USE:
        return None
    ends = []
    if memory.expires_at is not None:
        ends.append(Fate(memory.expires_at, Why.EXPIRED))
    if memory.authority != "person" and (left := _left(memory, pace)) is not None:
        ends.append(left)
    return min(ends, key=lambda end: end.at, default=None)


def _left(memory: Facts, pace: Pace) -> Fate | None:
    """The end of what no person stands behind."""
    if memory.status == "proposed":
        # Of any type: what nobody decided on is no rule yet.
        return Fate(memory.touched_at + pace.waits_for, Why.UNREVIEWED) if pace.waits_for else None
    if memory.status != "active" or memory.source != "extracted":
        return None
    if memory.always or memory.type not in FADING_TYPES:
        return None
    idle = pace.fades_after(memory.importance)
    if idle is None:
        return None
    needed_at = max(memory.touched_at, memory.used_at or memory.touched_at)
    return Fate(needed_at + idle, Why.FADED)
