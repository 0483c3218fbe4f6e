"""The states in which a turn cannot be written. Each knows the code that the API answers with."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from chats.models import Chat


class TurnError(Exception):
    """Nothing was written."""

    code: ClassVar[str]

    @property
    def message(self) -> str:
        """One sentence for people, in the language that is active."""
        raise NotImplementedError


class TurnAlreadyFinished(TurnError):
    """The turn ended otherwise than the caller now says."""

    code = "turn_already_finished"

    def __init__(self, chat: Chat) -> None:
        super().__init__(f"turn {chat.pk} is {chat.status}")
        self.chat = chat

    @property
    def message(self) -> str:
        return _("This turn was already finished as %(status)s.") % {"status": self.chat.get_status_display()}


class RefReused(TurnError):
    """The turn's ref is taken by a turn with another message."""

    code = "idempotency_key_reused"

    def __init__(self, chat: Chat) -> None:
        super().__init__(f"ref of turn {chat.pk}")
        self.chat = chat

    @property
    def message(self) -> str:
        return _("Turn %(id)s of this topic has the same ref and another message.") % {"id": self.chat.pk}


class NotATurn(TurnError):
    """A step of another agent was given where a turn is meant."""

    code = "invalid"

    @property
    def message(self) -> str:
        return _("This is a step inside a turn, not a turn.")


class InstructionDismissed(TurnError):
    """A rule that was taken out of force does not come back."""

    code = "wrong_status"

    @property
    def message(self) -> str:
        return _("This rule was dismissed.")


class MemoryOff(TurnError):
    """Nothing is kept while memory is switched off."""

    code = "memory_off"

    @property
    def message(self) -> str:
        return _("Memory is switched off for this project.")


class NothingToRetry(TurnError):
    """The run did not fail, or what it could not read was read or deleted since."""

    code = "wrong_status"

    @property
    def message(self) -> str:
        return _("Nothing of this run waits to be read again.")
