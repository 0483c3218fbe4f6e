"""What an API key is made of: `cairn_<prefix>_<secret>`, of which the prefix and a digest are stored."""

from __future__ import annotations

import hashlib
import secrets

BRAND = "cairn"
MAX_PREFIX = 16


def new_key() -> tuple[str, str]:
    """The prefix of a new key, which tells keys apart in lists, and its plain text with 192 random bits."""
    prefix = secrets.token_hex(6)
    return prefix, f"{BRAND}_{prefix}_{secrets.token_hex(24)}"


def digest_of(plain: str) -> str:
    """What is stored of a key. Nobody can guess 192 bits, so a slow hash would protect nothing."""
    return hashlib.sha256(plain.encode()).hexdigest()


def prefix_of(plain: str) -> str | None:
    """The prefix of what looks like a key, else None."""
    brand, _first, rest = plain.partition("_")
    prefix, _second, secret = rest.partition("_")
    return prefix if brand == BRAND and 0 < len(prefix) <= MAX_PREFIX and secret else None
