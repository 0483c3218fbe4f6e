"""What became of each of many memories."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class BulkResult:
    """What became of one memory: `changed`, `unchanged` (it was so already) or `refused`, with its code."""

    memory_id: int
    outcome: str
    code: str = ""
    message: str = ""
