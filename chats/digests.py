"""What a turn leaves for other topics: a digest, a line or two of its own words, and the terms it is found by. Pure.

Terms are kept as 64-bit digests: what is looked up is exact, and the table holds no words.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from functools import lru_cache
from hashlib import blake2b
from typing import TYPE_CHECKING, Final

from memories.extraction import gist
from memories.text import UNSPACED, terms

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_TOKENS: Final = gist.MAX_TOKENS
MAX_TERMS: Final = 24
# Of a question so many terms are looked up, each in so many of the newest turns that have it: a term that more turns
# have tells nothing about any of them.
MAX_ASKED: Final = 24
MAX_POSTINGS: Final = 200
# What part of a question's weight a turn must hold, and how much by a single term.
FLOOR: Final = 0.3
FLOOR_ALONE: Final = 0.6

_ENDING: Final = re.compile(r"(?:ing|ed|e)$")
_DOUBLED: Final = re.compile(r"([bdgmnprt])\1$")


def _terms(text: str) -> tuple[str, ...]:
    """Terms as turns are filed under: rounds, rounded and rounding are one."""
    return tuple(map(_stem, terms(text)))


@lru_cache(maxsize=16384)
def _stem(term: str) -> str:
    if len(term) < 5 or not (term.isascii() and term.isalpha()):
        return term
    stem = _ENDING.sub("", term)
    return _DOUBLED.sub(r"\1", stem) if len(stem) > 2 else term


# How one asks for the past says nothing about what is asked for.
_ASKING: Final = frozenset(
    _terms(
        "last time earlier previously before again remind remember recall forgot decide decided decision agree agreed"
        " choose chose chosen pick picked select selected settle settled discuss discussed mention mentioned say said"
        " tell told talk talked yesterday week conclusion outcome end ended come came set use name call called"
        " previous chat conversation"
    )
) | frozenset(
    re.findall(
        r"\w+",
        """
        上次 上回 昨天 上周 几天 前几 之前 当初 当时 最后 后来 来着 记得 还记 忘了 提醒 帮我 查一 一下
        决定 讨论 说过 提到 聊过 改过 选了 定的 定了 定在 定成 的是 多久 几位 几次 哪几 是谁
        """,
    )
)
_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
_EXACT: Final = re.compile(r"[\d_./#+-]")


def digest(message: str, reply: str, files: Sequence[str]) -> str:
    """`asked → what came of it [files]`, guarded, at most MAX_TOKENS; empty if nothing of it may be told."""
    return gist.line(message, reply, files, max_tokens=MAX_TOKENS)


def telling(
    *, message: str, reply: str, files: Sequence[str], digest: str, title: str = ""
) -> tuple[str, ...]:
    """The at most MAX_TERMS terms that tell most about a turn, the best first."""
    said, answered = Counter(_terms(gist.readable(message))), Counter(_terms(gist.readable(reply)))
    shown, named = frozenset(_terms(digest)), frozenset(_terms(title))
    of_files = frozenset(_terms(" ".join(path.rpartition("/")[2] for path in files)))
    weights: dict[str, float] = {}
    for term in dict.fromkeys([*said, *_terms(digest), *answered, *named, *of_files]):
        weight = min(said[term], 2) * 1.5 + min(answered[term], 2)
        weight += 2.0 if term in shown else 0.0
        weight += 1.0 if term in named else 0.0
        weight += 0.5 if term in of_files else 0.0
        weight += 0.5 if _EXACT.search(term) else 0.0
        # Of a run without spaces every two neighbours are a term: each tells less than a word.
        weights[term] = weight * (0.8 if _UNSPACED.match(term) else 1.0) if term not in _ASKING else 0.0
    best = sorted((term for term in weights if weights[term]), key=lambda term: -weights[term])
    return tuple(best[:MAX_TERMS])


def asked_for(question: str) -> tuple[str, ...]:
    """What a question is about, by terms that are worth looking up."""
    found = [term for term in dict.fromkeys(_terms(question)) if term not in _ASKING]
    return tuple(found[:MAX_ASKED])


def number_of(term: str) -> int:
    """A term as it is stored: 64 bits, signed."""
    return int.from_bytes(blake2b(term.encode(), digest_size=8).digest(), signed=True)


def ranked(asked: Iterable[str], postings: Mapping[int, Sequence[int]]) -> list[tuple[int, float]]:
    """(turn, part of the question's weight that it holds), best first, above the floor.

    `postings`: the newest turns that have a term, by the term's number, at most MAX_POSTINGS each.
    """
    total = 0.0
    held: dict[int, float] = {}
    matched: Counter[int] = Counter()
    for term in asked:
        turns = postings.get(number_of(term), ())
        weight = math.log((MAX_POSTINGS + 1) / (max(len(turns), 1) + 0.5))
        if not turns and _UNSPACED.match(term):
            # More often than not two neighbours that are no word.
            weight /= 2
        total += weight
        for turn in turns:
            held[turn] = held.get(turn, 0.0) + weight
            matched[turn] += 1
    found = [
        (turn, weight / total)
        for turn, weight in held.items()
        if weight >= total * (FLOOR if matched[turn] > 1 else FLOOR_ALONE)
    ]
    return sorted(found, key=lambda one: (-one[1], -one[0]))
