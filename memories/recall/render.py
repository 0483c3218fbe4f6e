"""The block: the text of the recalled memories that goes into a prompt, and what it costs in tokens.

The block is one or two self-contained segments: `always`, which stays the same from turn to turn and belongs
in the cached prefix, and `relevant`. Either may stand alone. No clock and no score is in it, so the same
memories give the same bytes.

Every piece is whole lines that end in a line feed and begin with a character that is neither blank nor a
slash. tiktoken's patterns never match across such a border, so the tokens of a block are exactly the sum of
the tokens of its lines, and a memory's line can be counted once, when the memory is written.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from functools import lru_cache
from typing import Final, Literal

from memories import tokens
from memories.text import fold

Tier = Literal["always", "relevant"]
TIERS: Final[tuple[Tier, ...]] = ("always", "relevant")

Section = Literal["rules", "notes"]
SECTIONS: Final[tuple[Section, ...]] = ("rules", "notes")
TYPES: Final = ("constraint", "decision", "preference", "fact", "pitfall", "procedure")

_OPEN: Final = "<project_memory>\n"
_CLOSE: Final = "</project_memory>\n"
_INTRODUCTION: Final[dict[Tier, str]] = {
    "always": "What holds in every turn of this project.\n",
    "relevant": "What this project knows that may bear on the current message.\n",
}
_HEADING: Final[dict[Section, str]] = {
    "rules": "## Rules set by people (follow unless the current message says otherwise)\n",
    "notes": "## Learned notes (may be outdated or wrong)\n",
}

_BLANKS = re.compile(r"[\s\x1c-\x1f\x7f-\x9f]+")
_ANGLE = re.compile("[<＜﹤〈⟨‹≺]")
_TAG: Final = "projectmemory"
# Letters and digits alone decide: blanks, slashes and invisible characters inside a tag do not disguise it.
_NOISE = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Line:
    """What the block shows of one memory, and where."""

    tier: Tier
    section: Section
    type: str
    id: int
    text: str


@dataclass(frozen=True, slots=True)
class Block:
    """`text` is `always` followed by `relevant`; all three are empty when nothing was recalled."""

    text: str
    always: str
    relevant: str


def section_of(authority: str) -> Section:
    return "rules" if authority == "person" else "notes"


def escape(text: str) -> str:
    """One line in which nothing can be taken for a border of the block."""
    folded = _BLANKS.sub(" ", text).strip()
    return _ANGLE.sub(lambda angle: "&lt;" if _opens_tag(folded, angle.end()) else angle[0], folded)


def _opens_tag(text: str, start: int) -> bool:
    return _NOISE.sub("", fold(text[start : start + 80]).casefold()).startswith(_TAG)


def line(*, type: str, id: int, said_on: date, content: str, files: Sequence[str] = ()) -> str:
    """A memory as it stands in the block, with its line feed."""
    where = f" [files: {', '.join(escape(glob) for glob in files)}]" if files else ""
    return f"- {type} #{id} ({said_on.isoformat()}): {escape(content)}{where}\n"


def line_tokens(*, type: str, id: int, said_on: date, content: str, files: Sequence[str] = ()) -> int:
    """What the line adds to a block."""
    return tokens.count(line(type=type, id=id, said_on=said_on, content=content, files=files))


def frame_tokens(tier: Tier) -> int:
    """What a segment costs before its first section."""
    return _count(_OPEN + _INTRODUCTION[tier] + _CLOSE, tokens.encoding_name())


def section_tokens(section: Section) -> int:
    """What a section costs before its first line."""
    return _count(_HEADING[section], tokens.encoding_name())


@lru_cache(maxsize=32)
def _count(text: str, encoding: str) -> int:
    return tokens.count(text)


def block(lines: Iterable[Line]) -> Block:
    """The lines in their order: section, type, id; whatever order they come in."""
    ordered = sorted(lines, key=lambda one: (_type_rank(one.type), one.id))
    always, relevant = (_segment(tier, [one for one in ordered if one.tier == tier]) for tier in TIERS)
    return Block(text=always + relevant, always=always, relevant=relevant)


def _type_rank(type: str) -> int:
    return TYPES.index(type) if type in TYPES else len(TYPES)


def _segment(tier: Tier, lines: Sequence[Line]) -> str:
    if not lines:
        return ""
    parts = [_OPEN, _INTRODUCTION[tier]]
    for section in SECTIONS:
        texts = [one.text for one in lines if one.section == section]
        if texts:
            parts += [_HEADING[section], *texts]
    return "".join([*parts, _CLOSE])
