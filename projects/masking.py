"""What must not be kept in names, ids and settings. This app knows neither secrets nor orders to a model itself: the
guard of memories lends it its eye at start (memories/apps.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext as _

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    type Mask = Callable[[str], str]
    type Find = Callable[[str], list["Found"]]

SECRET, INJECTION, HIDDEN = "secret_found", "injection_found", "hidden_characters"


class Found(NamedTuple):
    """What must not be kept, by its code, and where it stands in the text."""

    code: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Eye:
    """`mask` gives a text with every secret made unreadable, `find` all that must not be kept, the worst first."""

    mask: Mask
    find: Find


_lent: list[Eye] = []


class TextRefused(ValueError):
    """A text that would be stored, or shown in lists and prompts, must not be. It says where, never what."""

    def __init__(self, field: str, found: Found) -> None:
        super().__init__(f"{field}: {found.code}")
        self.field, self.code, self.start, self.end = field, *found

    @property
    def message(self) -> str:
        """One sentence for people, in the language that is active."""
        return {
            SECRET: _("Not saved: it contains a password, key or token."),
            INJECTION: _("Not saved: it reads like an order to a future model."),
            HIDDEN: _("Not saved: it contains invisible characters."),
        }[self.code]


def lend(eye: Eye) -> None:
    """Take over how secrets, and words that are meant for a model, are known."""
    _lent[:] = [eye]


def mask(text: str) -> str:
    """`text` with every secret made unreadable."""
    return _eye().mask(text) if text else text


def holds_secret(text: str) -> bool:
    return mask(text) != text


def refuse(texts: Mapping[str, object], *, for_models: Collection[str] = ()) -> None:
    """Raise TextRefused for the first text, by field, that must not be kept; what is no text is passed over.

    The fields `for_models` hold what an agent is told anyway: there, an order to a model is no finding.
    """
    for field, text in texts.items():
        if not isinstance(text, str):
            continue
        for found in _eye().find(text):
            if found.code != INJECTION or field not in for_models:
                raise TextRefused(field, found)


def _eye() -> Eye:
    if not _lent:
        raise ImproperlyConfigured("Nothing knows secrets: memories must be among INSTALLED_APPS.")
    return _lent[0]
