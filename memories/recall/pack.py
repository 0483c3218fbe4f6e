"""Which memories fit: the always tier first, then the ranked rest, whole items only.

Everything that is left out is left out for a reason, and the reason is kept.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from memories.recall.index import Entry, Index
from memories.recall.parameters import DEFAULT, Parameters
from memories.recall.render import Section, Tier, frame_tokens, section_of, section_tokens
from memories.recall.score import Scored


class Reason(StrEnum):
    """Why a memory is not in the block."""

    BELOW_FLOOR = "below_floor"
    OVER_ITEMS = "over_items"
    OVER_TOKENS = "over_tokens"
    NEAR_DUPLICATE = "near_duplicate"
    ALWAYS_OVERFLOW = "always_overflow"
    WITHHELD = "withheld"
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Chosen:
    scored: Scored
    tier: Tier


@dataclass(frozen=True, slots=True)
class Left:
    scored: Scored
    reason: Reason


@dataclass(frozen=True, slots=True)
class Packing:
    """`chosen` in order of rank: the always tier, then the rest. `tokens` are those of the whole block."""

    chosen: tuple[Chosen, ...]
    left: tuple[Left, ...]
    tokens: int


@dataclass(slots=True)
class _Room:
    """What the block costs so far: frames of segments, headings of sections, lines."""

    max_items: int
    max_tokens: int
    tokens: int = 0
    items: int = 0
    opened: set[Tier | tuple[Tier, Section]] = field(default_factory=set)

    def cost(self, entry: Entry, tier: Tier) -> int:
        section = section_of(entry.authority)
        cost = entry.tokens
        if tier not in self.opened:
            cost += frame_tokens(tier)
        if (tier, section) not in self.opened:
            cost += section_tokens(section)
        return cost

    def take(self, entry: Entry, tier: Tier) -> None:
        self.tokens += self.cost(entry, tier)
        self.items += 1
        self.opened |= {tier, (tier, section_of(entry.authority))}

    @property
    def is_full(self) -> bool:
        return self.items >= self.max_items

    def refuses(self, entry: Entry, tier: Tier) -> Reason | None:
        if self.is_full:
            return Reason.OVER_ITEMS
        return Reason.OVER_TOKENS if self.tokens + self.cost(entry, tier) > self.max_tokens else None


def pack(
    index: Index,
    always: Iterable[Scored],
    ranked: Sequence[Scored],
    *,
    max_items: int,
    max_tokens: int,
    parameters: Parameters = DEFAULT,
) -> Packing:
    """Fill the block: `always` and `ranked` best first; an always memory may be in both.

    At most `max_items` items and `max_tokens` tokens, frames and headings included; of these the always tier takes
    at most its own share. What does not fit is skipped, and the next one is tried.
    """
    chosen: list[Chosen] = []
    left: list[Left] = []
    shown: set[object] = set()
    overflow: dict[int, Scored] = {}
    settled: set[int] = set()

    tier_room = _Room(min(max_items, parameters.always_items), min(max_tokens, parameters.always_tokens))
    for scored in always:
        entry = index.entries[scored.position]
        if index.near(scored.position) in shown:
            left.append(Left(scored, Reason.NEAR_DUPLICATE))
        elif tier_room.refuses(entry, "always"):
            overflow[scored.position] = scored
            continue
        else:
            tier_room.take(entry, "always")
            shown.add(index.near(scored.position))
            chosen.append(Chosen(scored, "always"))
        settled.add(scored.position)

    room = _Room(max_items, max_tokens, tier_room.tokens, tier_room.items, set(tier_room.opened))
    for scored in ranked:
        if scored.position in settled:
            continue
        entry = index.entries[scored.position]
        if not scored.is_evident:
            reason: Reason | None = Reason.BELOW_FLOOR
        elif room.is_full:
            reason = Reason.OVER_ITEMS
        elif index.near(scored.position) in shown:
            reason = Reason.NEAR_DUPLICATE
        else:
            reason = room.refuses(entry, "relevant")
        if reason is None:
            room.take(entry, "relevant")
            shown.add(index.near(scored.position))
            chosen.append(Chosen(scored, "relevant"))
        elif scored.position in overflow and reason is not Reason.NEAR_DUPLICATE:
            left.append(Left(scored, Reason.ALWAYS_OVERFLOW))
        else:
            left.append(Left(scored, reason))
        overflow.pop(scored.position, None)
    left.extend(Left(scored, Reason.ALWAYS_OVERFLOW) for scored in overflow.values())
    return Packing(tuple(chosen), tuple(left), room.tokens)
