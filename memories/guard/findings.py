"""What the guard reports: where something stands in a text, what it is, and how sure that is."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Kind = Literal["secret", "injection", "hidden"]
Certainty = Literal["refuse", "hold"]

_KINDS: Final[dict[Kind, int]] = {"secret": 0, "injection": 1, "hidden": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """`start` and `end` are character offsets in the inspected text, end excluded; of a secret they
    cover the value alone. `refuse` must not be stored, `hold` waits for a person.
    """

    kind: Kind
    code: str
    start: int
    end: int
    certainty: Certainty


def occurs(words: tuple[str, ...], text: str) -> bool:
    """Whether one of `words` is in `text`: the cheap question before a pattern is tried."""
    for word in words:  # noqa: SIM110 - a generator would cost more than the searches
        if word in text:
            return True
    return False


def worst(findings: Iterable[Finding]) -> Finding | None:
    """The finding to report: refused before held, a secret before the rest, then the first."""
    return min(
        findings,
        key=lambda found: (found.certainty != "refuse", _KINDS[found.kind], found.start),
        default=None,
    )


def ordered(findings: Sequence[Finding]) -> list[Finding]:
    """By position. Findings of one kind that overlap become one: secrets whatever their code (the
    first code names it), others if the code is the same; the surer certainty stays.
    """
    merged: list[Finding] = []
    last: dict[str, int] = {}
    for found in sorted(findings, key=lambda f: (f.start, -f.end, _KINDS[f.kind], f.code)):
        slot = found.kind if found.kind == "secret" else f"{found.kind} {found.code}"
        at = last.get(slot)
        if at is not None and found.start < merged[at].end:
            before = merged[at]
            certainty: Certainty = "refuse" if "refuse" in (before.certainty, found.certainty) else "hold"
            merged[at] = Finding(
                before.kind, before.code, before.start, max(before.end, found.end), certainty
            )
        else:
            last[slot] = len(merged)
            merged.append(found)
    return merged
