"""Secrets for the cases, made when a test runs, so that the repository holds nothing that looks like one."""

import random
import re
import string
import uuid

_ALPHABETS = {
    "al": string.ascii_letters + string.digits,
    "hex": "0123456789abcdef",
    "up": string.ascii_uppercase + string.digits,
    "num": "123456789",
}
_WORDS = [
    "maple", "river", "stone", "cloud", "amber", "field", "quiet", "ocean", "tiger", "lemon", "bridge",
    "copper", "winter", "garden",
]  # fmt: skip


def _strong(rng: random.Random) -> str:
    body = [rng.choice(_ALPHABETS["al"] + "!@#$%^&*_-+") for _ in range(rng.randint(7, 12))]
    return "".join(
        [
            rng.choice(string.ascii_uppercase),
            *body,
            rng.choice(string.digits),
            rng.choice(string.ascii_lowercase),
        ]
    )


def _weak(rng: random.Random) -> str:
    word = rng.choice(_WORDS)
    return rng.choice(
        [
            f"{word.title()}@{rng.randint(100, 9999)}",
            f"{word}{rng.randint(1000, 999999)}",
            f"{word.title()}!{rng.randint(10, 99)}x",
        ]
    )


def fill(template: str, rng: random.Random) -> str:
    """`template` with {pw}, {al32}, {hex40} and the like replaced; other braces stay."""

    def token(match: re.Match[str]) -> str:
        name = match[1]
        made = {
            "pw": lambda: _strong(rng) if rng.random() < 0.5 else _weak(rng),
            "strong": lambda: _strong(rng),
            "weak": lambda: _weak(rng),
            "words": lambda: " ".join(rng.sample(_WORDS, 12)),
            "uuid": lambda: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
            "b58": lambda: "".join(rng.choice("023456789ACDEFGHJKLMNPQRSTUVWXYZ") for _ in range(58)),
        }.get(name)
        if made:
            return made()
        kind = re.fullmatch(r"(al|hex|up|num)(\d+)", name)
        return "".join(rng.choice(_ALPHABETS[kind[1]]) for _ in range(int(kind[2]))) if kind else match[0]

    return re.sub(r"\{(\w+)\}", token, template)
