"""The states in which a write does not happen. Each knows the code that APIs answer with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memories.models import Memory
    from memories.store.results import BulkResult


class StoreError(Exception):
    """Nothing was written."""

    code: ClassVar[str]

    @property
    def message(self) -> str:
        """One sentence for people, in the language that is active."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class FieldError:
    field: str
    code: str
    message: str


class InvalidMemory(StoreError):
    code = "invalid"

    def __init__(self, *errors: FieldError) -> None:
        super().__init__(", ".join(f"{error.field}: {error.code}" for error in errors))
        self.errors = errors

    @property
    def message(self) -> str:
        return " ".join(error.message for error in self.errors)


class GuardRefused(StoreError):
    """The guard found something that must not be kept. `masked` shows where, without the secret."""

    code = "guard"
    CODES: ClassVar = {
        "secret": "secret_found",
        "injection": "injection_found",
        "hidden": "hidden_characters",
    }

    def __init__(self, *, field: str, kind: str, rule: str, start: int, end: int, masked: str) -> None:
        super().__init__(f"{field}: {kind}/{rule}")
        self.field, self.kind, self.rule, self.start, self.end, self.masked = (
            field,
            kind,
            rule,
            start,
            end,
            masked,
        )
        self.code = self.CODES[kind]  # type: ignore[misc]

    @classmethod
    def messages(cls) -> dict[str, str]:
        """The sentence of each code, in the language that is active."""
        return {
            cls.CODES["secret"]: _("Not saved: it contains a password, key or token."),
            cls.CODES["injection"]: _("Not saved: it reads like an order to a future model."),
            cls.CODES["hidden"]: _("Not saved: it contains invisible characters."),
        }

    @property
    def message(self) -> str:
        return self.messages()[self.code]


class KeyTaken(StoreError):
    """A live memory of the project already has this key."""

    code = "key_taken"

    def __init__(self, memory: Memory) -> None:
        super().__init__(f"key of memory {memory.pk}")
        self.memory = memory

    @property
    def message(self) -> str:
        return _("Memory %(id)s already has the key “%(key)s”.") % {
            "id": self.memory.pk,
            "key": self.memory.key,
        }


class ContentTaken(StoreError):
    """A live memory of the project already says the same."""

    code = "content_taken"

    def __init__(self, memory: Memory) -> None:
        super().__init__(f"content of memory {memory.pk}")
        self.memory = memory

    @property
    def message(self) -> str:
        return _("Memory %(id)s already says this.") % {"id": self.memory.pk}


class Tombstoned(StoreError):
    """The same was deleted or rejected before; it comes back by a person alone."""

    code = "tombstoned"

    def __init__(self, memory_id: int, removed: str) -> None:
        super().__init__(f"memory {memory_id} was {removed}")
        self.memory_id, self.removed = memory_id, removed

    @property
    def message(self) -> str:
        return _("This was deleted or rejected before, as memory %(id)s.") % {"id": self.memory_id}


class StaleMemory(StoreError):
    """The memory changed since the caller read it."""

    code = "stale_memory"

    def __init__(self, current: Memory) -> None:
        super().__init__(f"memory {current.pk} is at version {current.version}")
        self.current = current

    @property
    def message(self) -> str:
        return _("Memory %(id)s changed meanwhile; it is now version %(version)s.") % {
            "id": self.current.pk,
            "version": self.current.version,
        }


class ProposalDecided(StoreError):
    """Somebody already confirmed or rejected it."""

    code = "proposal_decided"

    def __init__(self, memory: Memory) -> None:
        super().__init__(f"memory {memory.pk} is {memory.status}")
        self.memory = memory

    @property
    def message(self) -> str:
        return _("Memory %(id)s was already decided on.") % {"id": self.memory.pk}


class WrongStatus(StoreError):
    """The verb does not apply to a memory in this status."""

    code = "wrong_status"

    def __init__(self, memory: Memory) -> None:
        super().__init__(f"memory {memory.pk} is {memory.status}")
        self.memory = memory

    @property
    def message(self) -> str:
        return _("This cannot be done now. Memory %(id)s: %(status)s.") % {
            "id": self.memory.pk,
            "status": self.memory.get_status_display(),
        }


class TargetChanged(StoreError):
    """What the proposal would replace is no longer what it was when it was proposed."""

    code = "target_changed"

    def __init__(self, memory: Memory, target: Memory) -> None:
        super().__init__(f"memory {memory.pk} would replace {target.pk}, now version {target.version}")
        self.memory, self.target = memory, target

    @property
    def message(self) -> str:
        return _("Memory %(id)s, which this would replace, changed meanwhile.") % {"id": self.target.pk}


class NothingToUndo(StoreError):
    """The memory's last change, if there is one, cannot be taken back (any more)."""

    code = "nothing_to_undo"

    def __init__(self, memory_id: int) -> None:
        super().__init__(f"memory {memory_id}")
        self.memory_id = memory_id

    @property
    def message(self) -> str:
        return _("There is nothing to undo for memory %(id)s.") % {"id": self.memory_id}


class PartnerChanged(StoreError):
    """Another memory that the change touched was changed since, so the two no longer go back together."""

    code = "partner_changed"

    def __init__(self, memory_id: int, partner_id: int) -> None:
        super().__init__(f"memory {memory_id} was changed together with {partner_id}, which changed since")
        self.memory_id, self.partner_id = memory_id, partner_id

    @property
    def message(self) -> str:
        return _("Not undone: memory %(id)s, which the same change touched, changed since.") % {
            "id": self.partner_id
        }


class SelectionChanged(StoreError):
    """Some of what was selected is not what the caller saw. `results` says which, if that is known."""

    code = "selection_changed"

    def __init__(self, results: Sequence[BulkResult] = ()) -> None:
        super().__init__(f"{sum(result.outcome == 'refused' for result in results)} refused")
        self.results = tuple(results)

    @property
    def message(self) -> str:
        return _("Nothing was changed: the selection is not what you saw.")


class TooManySelected(StoreError):
    """More memories than one bulk change takes."""

    code = "too_many"

    def __init__(self, limit: int) -> None:
        super().__init__(f"more than {limit}")
        self.limit = limit

    @property
    def message(self) -> str:
        return _("At most %(n)s memories at once.") % {"n": self.limit}


class PersonRequired(StoreError):
    """Only a person decides this; a key or a worker never does."""

    code = "role_missing"

    @property
    def message(self) -> str:
        return _("Only a person may do this.")
