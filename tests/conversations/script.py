"""The words of a conversation's script: pure values.

A conversation is played twice, with the rules and with a model. What the model answers stands beside each turn: what
it rightly notes, and at least one thing a conversation that it made up; none of these may ever be in force.
"""

from __future__ import annotations

from dataclasses import dataclass, field

# "stored/new": outcome and reason of a candidate.
type Verdict = str


@dataclass(frozen=True, slots=True)
class Note:
    """An item of the model's answer, and what becomes of it. Without a quote the content is what was said."""

    content: str
    becomes: Verdict
    quote: str = ""
    type: str = "fact"
    role: str = "user"
    key: str = ""
    replaces: str | None = None
    importance: int = 3
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Invention(Note):
    """Something plausible that nobody said so."""


@dataclass(frozen=True, slots=True)
class Say:
    """One turn: opened, ended, and read at once, unless it waits to be `read` with the next one.

    `heard`: the outcomes of "remember:" in it, `refused` the codes; `rules`: what the rules propose, by content;
    `signalled`: what a directive or correction proposes beside the model's answer.
    """

    message: str
    reply: str = "好的。"
    at: str = ""
    by: str = ""
    topic: str = "a"
    status: str = "succeeded"
    further: tuple[str, ...] = ()
    steps: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    origin: str = "human"
    heard: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    forgot: tuple[str, ...] = ()
    rules: dict[str, Verdict] = field(default_factory=dict)
    signalled: dict[str, Verdict] = field(default_factory=dict)
    model: tuple[Note, ...] = ()
    read: bool = True


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody of the project does something to a memory: edit (to other words), disable, delete, reject, confirm."""

    verb: str
    content: str
    to: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """A message of another topic, and what is recalled for it, in any order. `model`: where that differs."""

    message: str
    given: tuple[str, ...] = ()
    model: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Conversation:
    """`live`: what is active, disabled or proposed in the end, by content; `model`: where that differs."""

    name: str
    steps: tuple[Say | Person | Next, ...]
    live: dict[str, str]
    model: dict[str, str] | None = None
    policy: str = "important"
    explicit: str = "anyone"
    instructions: str = ""
