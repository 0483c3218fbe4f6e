"""What a turn is given, as values: the block, the history's lines, and the context that holds them all."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime

    from chats.intent import Intent
    from chats.models import Instruction


def sha256_of(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMemory:
    """The block as it goes into the prompt; `always` is its stable first segment, `relevant` the rest."""

    block: str
    always: str
    relevant: str
    sha256: str
    refs: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of the history. `note` marks a turn that did not succeed."""

    turn: int
    role: str
    content: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenSummary:
    """What the topic's turns up to number `through` came to."""

    id: int
    through: int
    text: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenEpisode:
    """A turn of another topic, as its digest tells it."""

    turn: int
    topic: int
    topic_ref: str
    topic_title: str
    sent_at: datetime
    content: str
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    memory_enabled: bool
    degraded: tuple[str, ...]
    intent: Intent
    instructions: tuple[Instruction, ...]
    memory: GivenMemory | None
    history: tuple[Line, ...]
    tokens: dict[str, Any]
    summary: GivenSummary | None = None
    episodes: tuple[GivenEpisode, ...] = ()

    @property
    def sha256(self) -> str:
        """Of all that a prompt is assembled from: the rules, the block, the summary, the episodes, and which turns are
        told.
        """
        told = [
            [[item.pk, item.content] for item in self.instructions],
            self.memory.block if self.memory else None,
            self.summary.text if self.summary else None,
            [[episode.turn, episode.content] for episode in self.episodes],
            [[line.turn, line.role, line.note] for line in self.history],
            self.degraded,
        ]
        return sha256_of(json.dumps(told))


NOTHING_GIVEN = GivenMemory(block="", always="", relevant="", sha256=sha256_of(""), refs=(), tokens=0)
