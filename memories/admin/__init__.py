"""Operators' pages for memories, and for what recall and extraction left behind."""

from memories.admin.extractions import CandidateAdmin, ExtractionAdmin, candidates_table
from memories.admin.memory import MemoryAdmin
from memories.admin.recalls import RecallAdmin, in_words
from memories.admin.remains import TombstoneAdmin, VersionAdmin

__all__ = [
    "CandidateAdmin",
    "ExtractionAdmin",
    "MemoryAdmin",
    "RecallAdmin",
    "TombstoneAdmin",
    "VersionAdmin",
    "candidates_table",
    "in_words",
]
