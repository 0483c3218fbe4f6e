"""Secrets for the cases, made when a test runs, so that the repository holds nothing that looks like one."""

import base64
import json
import random
import re
import string
import uuid
from collections.abc import Callable

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


def _listed(words: str) -> list[str]:
    return words.split()


# Words of the kind that recovery phrases are made of.
_SEEDS = _listed(
    "ability absorb abstract accident admit album anchor autumn banner barrel basket blossom cactus canyon"
    " candle carbon castle cereal cherry clutch cousin cradle desert dolphin dragon eagle ember engine fabric"
    " falcon fossil galaxy ginger hammer harbor hazard jungle kitten ladder magnet marble mirror orchard"
    " pepper pigeon planet puzzle rabbit ribbon saddle salmon silver velvet walnut wagon zebra"
)
_HAN = "山水火木金土日月天地人心手足口目耳石田禾竹米草虫鱼鸟马牛羊"
_CHOSEN = _listed(
    "sunshine dragon letmein iloveyou football monkey shadow princess zhangsan opensesame starwars butterfly"
    " pineapple chocolate superman"
)
_KEYBOARD = _listed(
    "1qaz@WSX Zxcv_0987 qwe123!@# P@ssw0rd Passw0rd! abc123456 a123456 1q2w3e4r Aa123456 qwer1234 asdf!234"
    " p@55w0rd s3cr3t99 l3tm31n!"
)
_BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


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


def _human(rng: random.Random) -> str:
    """What people choose: a word and a number, a walk over the keyboard, a date, a name in pinyin."""
    word = rng.choice(
        [*_CHOSEN, "tiger", "admin", "root", "welcome", "huawei", "company", "beijing", "spring"]
    )
    surname, given = rng.choice(["zhang", "wang", "liu"]), rng.choice(["wei", "fang", "min"])
    return rng.choice(
        [
            f"{word}{rng.randint(100, 999999)}",
            f"{word.title()}@{rng.randint(10, 2030)}",
            f"{word.title()}{rng.randint(2015, 2026)}!",
            f"{word}_{rng.randint(10, 9999)}",
            f"{word.title()}#{rng.randint(10, 999)}",
            f"{word}-{rng.choice(_CHOSEN)}-{rng.randint(10, 99)}",
            f"{surname}{given}{rng.randint(10, 9999)}",
            str(rng.randint(100000, 99999999)),
            rng.choice(_KEYBOARD),
        ]
    )


def _base64(rng: random.Random, size: int) -> str:
    return base64.b64encode(rng.randbytes(size)).decode()


def _jwt(rng: random.Random) -> str:
    claims = json.dumps({"sub": str(rng.randrange(10**9)), "iat": 1_700_000_000}).encode()
    parts = [b'{"alg":"HS256","typ":"JWT"}', claims, rng.randbytes(32)]
    return ".".join(base64.urlsafe_b64encode(part).decode().rstrip("=") for part in parts)


def _pem(rng: random.Random, kind: str) -> str:
    head = f"{kind}PRIVATE" + " KEY-----"
    return "\n".join([f"-----BEGIN {head}", *(_base64(rng, 48) for _ in range(6)), f"-----END {head}"])


_MADE: dict[str, Callable[[random.Random], str]] = {
    "pw": lambda rng: _strong(rng) if rng.random() < 0.5 else _weak(rng),
    "strong": _strong,
    "weak": _weak,
    "human": _human,
    "word": lambda rng: rng.choice(_CHOSEN),
    "words": lambda rng: " ".join(rng.sample(_WORDS, 12)),
    "phrase": lambda rng: " ".join(rng.sample(_SEEDS, 4)),
    "bip1": lambda rng: rng.choice(_SEEDS),
    "bip12": lambda rng: " ".join(rng.sample(_SEEDS, 12)),
    "bip24": lambda rng: " ".join(rng.sample(_SEEDS, 24)),
    "bipzh12": lambda rng: " ".join(rng.sample(_HAN, 12)),
    "uuid": lambda rng: str(uuid.UUID(int=rng.getrandbits(128), version=4)),
    "jwt": _jwt,
    "pem": lambda rng: _pem(rng, "RSA "),
    "pem8": lambda rng: _pem(rng, ""),
    "pemec": lambda rng: _pem(rng, "EC "),
    "pemossh": lambda rng: _pem(rng, "OPENSSH "),
    "b32": lambda rng: "".join(rng.choice("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567") for _ in range(32)),
    "b58": lambda rng: "".join(rng.choice("023456789ACDEFGHJKLMNPQRSTUVWXYZ") for _ in range(58)),
    "b58l58": lambda rng: "".join(rng.choice("023456789acdefghjklmnpqrstuvwxyz") for _ in range(58)),
    "b58w50": lambda rng: "".join(rng.choice(_BASE58) for _ in range(50)),
    "b58w96": lambda rng: "".join(rng.choice(_BASE58) for _ in range(96)),
    "b64url_32": lambda rng: base64.urlsafe_b64encode(rng.randbytes(32)).decode(),
    "urlb64_32": lambda rng: _base64(rng, 32).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
    "colonhex32": lambda rng: ":".join(f"{rng.randrange(256):02X}" for _ in range(32)),
}


def fill(template: str, rng: random.Random) -> str:
    """`template` with {pw}, {al32}, {hex40}, {b64_32} and the like replaced; other braces stay."""

    def token(match: re.Match[str]) -> str:
        name = match[1]
        if name in _MADE:
            return _MADE[name](rng)
        if name.startswith("b64_") and name[4:].isdigit():
            return _base64(rng, int(name[4:]))
        kind = re.fullmatch(r"(al|hex|up|num)(\d+)", name)
        return "".join(rng.choice(_ALPHABETS[kind[1]]) for _ in range(int(kind[2]))) if kind else match[0]

    return re.sub(r"\{(\w+)\}", token, template)
