"""What a turn's end says about memory: what was kept, refused and used, in one line for people."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.conf import settings
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from chats.hearing import KEPT
from memories.store import Outcome

if TYPE_CHECKING:
    from collections.abc import Iterator

    from chats.models import Chat

BETWEEN = " · "


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """`used` is None where memory was off; `failed` says that recall was tried in vain."""

    remembered: int
    waiting: int
    refused: int
    forgotten: int
    used: int | None
    failed: bool
    tokens: int
    url: str

    @property
    def text(self) -> str:
        """The receipt in the language that is active."""
        return BETWEEN.join([*self._heard(), self._given()])

    def _heard(self) -> Iterator[str]:
        if self.remembered:
            yield ngettext("Remembered %(n)s", "Remembered %(n)s", self.remembered) % {"n": self.remembered}
        if self.waiting:
            yield ngettext("%(n)s waits for confirmation", "%(n)s wait for confirmation", self.waiting) % {
                "n": self.waiting
            }
        if self.refused:
            yield ngettext("%(n)s not saved", "%(n)s not saved", self.refused) % {"n": self.refused}
        if self.forgotten:
            yield ngettext("%(n)s switched off", "%(n)s switched off", self.forgotten) % {"n": self.forgotten}

    def _given(self) -> str:
        if self.used is None:
            return _("Memory is off")
        if self.failed and not self.used:
            return _("Memory could not be recalled")
        if not self.used:
            return _("No memory was relevant")
        return ngettext(
            "Used %(n)s memory (%(tokens)s tokens)", "Used %(n)s memories (%(tokens)s tokens)", self.used
        ) % {"n": self.used, "tokens": self.tokens}


def receipt(chat: Chat) -> Receipt:
    """The receipt of a turn, from what was written down as it went; costs no query."""
    outcomes = [entry["outcome"] for entry in chat.explicit.get("remembered", [])]
    return Receipt(
        remembered=sum(outcome in KEPT for outcome in outcomes),
        waiting=outcomes.count(Outcome.NEEDS_CONFIRMATION),
        refused=len(chat.explicit.get("refused", [])),
        forgotten=sum(entry["memory"] is not None for entry in chat.explicit.get("forgotten", [])),
        used=None if chat.memory_refs is None else len(chat.memory_refs),
        # Without a context: the opening ended between storing the turn and recalling for it.
        failed=bool(chat.degraded) or not chat.given,
        tokens=chat.memory_tokens or 0,
        url=settings.SITE_URL + reverse("chats:turn", kwargs={"turn_id": chat.pk}),
    )
