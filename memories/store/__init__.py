"""The one door for writes of memories.

Every function takes the actor as `by`, locks the project first, passes the guard, and writes the memory, its
history and its audit event in one transaction. Nothing else saves, updates or deletes a Memory.
"""

from memories.store.archiving import Faded, archive, fade, fading_now, fate_of
from memories.store.changes import one_change
from memories.store.drafts import Draft, Evidence, guard_texts
from memories.store.erasing import forget_person
from memories.store.errors import (
    ContentTaken,
    GuardRefused,
    InvalidMemory,
    KeyTaken,
    NothingToUndo,
    PartnerChanged,
    PersonRequired,
    ProposalDecided,
    SelectionChanged,
    StaleMemory,
    StoreError,
    TargetChanged,
    Tombstoned,
    TooManySelected,
    WrongStatus,
)
from memories.store.lifecycle import EDITABLE, confirm, disable, edit, enable, reject
from memories.store.locks import lock, share
from memories.store.remember import Outcome, Remembered, forget, remember
from memories.store.removal import delete, forget_gone, forget_sources, gone_before, purge, restore
from memories.store.results import BulkResult
from memories.store.selections import ACTIONS, INVERSE, MAX_SELECTED, Bulk, bulk
from memories.store.undo import can_undo, undo
from memories.store.writing import add, add_evidence, merge, propose, replace, supersede

__all__ = [
    "ACTIONS",
    "EDITABLE",
    "INVERSE",
    "MAX_SELECTED",
    "Bulk",
    "BulkResult",
    "ContentTaken",
    "Draft",
    "Evidence",
    "Faded",
    "GuardRefused",
    "InvalidMemory",
    "KeyTaken",
    "NothingToUndo",
    "Outcome",
    "PartnerChanged",
    "PersonRequired",
    "ProposalDecided",
    "Remembered",
    "SelectionChanged",
    "StaleMemory",
    "StoreError",
    "TargetChanged",
    "Tombstoned",
    "TooManySelected",
    "WrongStatus",
    "add",
    "add_evidence",
    "archive",
    "bulk",
    "can_undo",
    "confirm",
    "delete",
    "disable",
    "edit",
    "enable",
    "fade",
    "fading_now",
    "fate_of",
    "forget",
    "forget_gone",
    "forget_person",
    "forget_sources",
    "gone_before",
    "guard_texts",
    "lock",
    "merge",
    "one_change",
    "propose",
    "purge",
    "reject",
    "remember",
    "replace",
    "restore",
    "share",
    "supersede",
    "undo",
]
