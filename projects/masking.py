"""What looks like a secret, for names, ids and settings. This app knows no secrets itself: the guard of memories
lends it its eye at start (memories/apps.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.core.exceptions import ImproperlyConfigured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    type Mask = Callable[[str], str]

_lent: list[Mask] = []


class SecretFound(ValueError):
    """A text that would be stored, or shown in lists and logs, holds a secret. It says where, never what."""

    code = "secret_found"

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


def lend(mask: Mask) -> None:
    """Take over how secrets are known: `mask` returns a text with every secret made unreadable."""
    _lent[:] = [mask]


def mask(text: str) -> str:
    """`text` with every secret made unreadable."""
    if not _lent:
        raise ImproperlyConfigured("Nothing knows secrets: memories must be among INSTALLED_APPS.")
    return _lent[0](text) if text else text


def holds_secret(text: str) -> bool:
    return mask(text) != text


def refuse_secrets(texts: Mapping[str, object]) -> None:
    """Raise SecretFound for the first text, by field, that holds a secret; what is no text is passed over."""
    for field, text in texts.items():
        if isinstance(text, str) and holds_secret(text):
            raise SecretFound(field)
