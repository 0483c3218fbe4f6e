"""Operators' pages for memories, and for what recall and extraction left behind."""

from memories.admin.memory import MemoryAdmin
from memories.admin.traces import CandidateInline, RecallInline

__all__ = ["CandidateInline", "MemoryAdmin", "RecallInline"]
