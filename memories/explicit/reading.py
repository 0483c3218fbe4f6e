"""What the explicit channel found in one message: values only."""

from dataclasses import dataclass
from typing import Final, Literal

MAX_ITEMS: Final = 20
MAX_LENGTH: Final = 1_000
MAX_REFUSALS: Final = 100

MemoryType = Literal["constraint", "decision", "preference", "fact", "pitfall", "procedure"]
Signal = Literal["directive", "correction", "confirm", "dismiss"]
UtteranceKind = Literal["directive", "correction", "temporary"]
Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Item:
    """A memory that was asked for.

    `content` is `text[start:end]` with its white space folded (a code block is kept as it stands); an item
    of a list is preceded by the heading of its list (接口规范：全部 POST).
    `key` is unique within a Reading only when `key_given`; a derived one names the subject. `key_written` is
    a given key as its author wrote it: a slug hides what the guard looks for.
    """

    content: str
    type: MemoryType
    key: str
    start: int
    end: int
    key_given: bool
    always: bool
    changes: bool
    key_written: str = ""


@dataclass(frozen=True, slots=True)
class Refusal:
    """What was asked for and cannot be kept; `reason` is `too_long` or `too_many`."""

    text: str
    reason: Literal["too_long", "too_many"]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Utterance:
    """A sentence that holds in this topic at once; `temporary` ones say themselves that they pass."""

    kind: UtteranceKind
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Reading:
    """`spans` cover all that the channel took, trigger words included, in order and without overlap."""

    items: tuple[Item, ...] = ()
    forgets: tuple[str, ...] = ()
    refusals: tuple[Refusal, ...] = ()
    signals: frozenset[Signal] = frozenset()
    utterances: tuple[Utterance, ...] = ()
    spans: tuple[Span, ...] = ()
