"""From finished turns to candidates, and from candidates to memories.

A backend proposes (`backend(name).extract`), `verify` holds each proposal against what was said, `judge`
decides what becomes of it; these are pure. `run` reads the rows and writes.
"""

from memories.extraction.backends import (
    Backend,
    Extracted,
    InputRefused,
    Proposal,
    ProviderDown,
    Said,
    Summarised,
    SummaryRequest,
    UnknownBackend,
    Unreadable,
    Usage,
    backend,
)
from memories.extraction.reasons import Outcome, Reason
from memories.extraction.run import Settled, known_memories, propose, settle
from memories.extraction.transcript import KnownMemory, Signal, Transcript, Turn

__all__ = [
    "Backend",
    "Extracted",
    "InputRefused",
    "KnownMemory",
    "Outcome",
    "Proposal",
    "ProviderDown",
    "Reason",
    "Said",
    "Settled",
    "Signal",
    "Summarised",
    "SummaryRequest",
    "Transcript",
    "Turn",
    "UnknownBackend",
    "Unreadable",
    "Usage",
    "backend",
    "known_memories",
    "propose",
    "settle",
]
