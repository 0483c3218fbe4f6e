"""What a backend takes and gives, and which backends there are."""

import pkgutil
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol, cast

from memories.extraction.transcript import Transcript

USER, ASSISTANT = "user", "assistant"


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A claim that something said is worth keeping, as a backend put it: nothing in it is trusted yet.

    `quote` is the evidence, word for word, in turn `turn_id`, said by `quote_role` (user | assistant);
    `replaces_key` names the known memory it would replace; `instruction_id` the Instruction it comes from.
    """

    type: str
    content: str
    quote: str
    turn_id: int | None
    quote_role: str = USER
    key: str = ""
    importance: int = 3
    keywords: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    replaces_key: str = ""
    always: bool = False
    tools: tuple[str, ...] = ()
    instruction_id: int | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens a provider charged for; nothing for a backend that calls none."""

    input: int = 0
    output: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Extracted:
    """What one call of a backend gave. `raw` is its own words, before anything was parsed out of them;
    `unparsable` counts items that could not be read as proposals.
    """

    candidates: tuple[Proposal, ...]
    raw: str = ""
    usage: Usage = Usage()
    unparsable: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One finished turn, as a summary is told it. One that `failed` has no reply."""

    number: int
    message: str
    sent_at: datetime
    reply: str = ""
    files: tuple[str, ...] = ()
    failed: bool = False
    by_machine: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryRequest:
    """What a summary is made of: the `previous` one, and the turns since, oldest first."""

    turns: tuple[Said, ...]
    previous: str = ""
    title: str = ""
    area: str = ""


@dataclass(frozen=True, slots=True)
class Summarised:
    """What one call made of a topic's talk: a text that the guard has passed. Empty: nothing of it may be told."""

    text: str
    usage: Usage = Usage()


class Backend(Protocol):
    """Reads a transcript and proposes; sums up a talk. `model` and `prompt_version` are what an Extraction records."""

    name: str
    model: str
    prompt_version: str

    def extract(self, transcript: Transcript) -> Extracted: ...

    def summarise(self, request: SummaryRequest) -> Summarised: ...


class ProviderDown(Exception):
    """The provider did not answer, or not in time, or asked to wait. It says nothing about what it was asked.

    `reason` is a short word of ours for the record (timeout, rate_limited, server_error …), never the provider's
    text; `retry_after_s` is how long the provider itself asked to be left alone.
    """

    def __init__(self, reason: str = "", *, retry_after_s: float | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.retry_after_s = retry_after_s


class Unreadable(Exception):
    """The provider answered, but with nothing that could be read as proposals or as their absence.

    `reason`: not_json, refused, cut_off, empty, no_item_readable. `raw` is the answer as it came, `usage` what it cost.
    """

    def __init__(self, reason: str, *, raw: str = "", usage: Usage = Usage()) -> None:
        super().__init__(reason)
        self.reason = reason
        self.raw = raw
        self.usage = usage


class InputRefused(Exception):
    """The provider works, but does not take what it was asked to read: it lies with the turns.

    `reason`: too_long, refused. It never holds the provider's text, which may quote the talk.
    """

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class UnknownBackend(LookupError):
    """No backend goes by the name that was configured."""


# Dotted paths, so that a backend's SDK is loaded only where that backend is used.
BACKENDS: dict[str, str] = {
    "rules": "memories.extraction.rules:Rules",
    "llm": "memories.extraction.llm:Llm",
}


def backend(name: str) -> Backend:
    """The backend called `name`, ready to extract."""
    if name not in BACKENDS:
        raise UnknownBackend(
            f"There is no extraction backend “{name}”: set EXTRACTION_BACKEND to one of "
            f"{', '.join(sorted(BACKENDS))}."
        )
    return cast(Backend, pkgutil.resolve_name(BACKENDS[name])())
