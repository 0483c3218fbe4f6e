"""Texts that are looked for afterwards: secrets of several kinds, and a plain word that stands for what people say."""

from __future__ import annotations

import random
import string
from dataclasses import dataclass

from memories import guard

PASSWORD, WORD = "password", "word"
_FORMS = {
    "provider key": ("{key}", "AKIA{up16}"),
    PASSWORD: ("密码是 {key}", "Canary-{al10}-9x"),
    "connection string": ("postgres://cairn:{key}@db.example.com/shop", "Cnry{al12}7x"),
    "key of ours": ("{key}", "cairn_{hex12}_{hex48}"),
    WORD: ("the {key} is blue", "canaryword{al12}"),
}
KINDS = tuple(_FORMS)
_ALPHABETS = {
    "up": string.ascii_uppercase + string.digits,
    "al": string.ascii_letters,
    "hex": "0123456789abcdef",
}


@dataclass(frozen=True)
class Canary:
    """`text` is sent, `secret` must not be found. `door` says where it went in."""

    kind: str
    door: str
    text: str
    secret: str

    @property
    def is_secret(self) -> bool:
        return self.kind != WORD


def canary(kind: str, door: str) -> Canary:
    """Another one for each door, so that one that is found tells where it came from; the same each time."""
    rng = random.Random(f"{kind} {door}")
    template, form = _FORMS[kind]
    while True:
        secret = _random(form, rng)
        text = template.format(key=secret)
        # A secret by chance too regular would be no test.
        if (secret in guard.mask(text)) is (kind == WORD):
            return Canary(kind, door, text, secret)


def _random(form: str, rng: random.Random) -> str:
    made = form
    for name, alphabet in _ALPHABETS.items():
        for size in (10, 12, 16, 48):
            made = made.replace(f"{{{name}{size}}}", "".join(rng.choice(alphabet) for _ in range(size)))
    return made
