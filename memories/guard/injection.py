"""Words aimed at a future model: signs and frames are weighed together, the clear refused, the middle held.

A sign is a phrase (`signs`), a frame a meeting of concepts (`frames`). A colleague writes "the guard rejects
'ignore previous instructions'"; so what is negated, quoted or reported counts less or nothing. What stands near
each other adds up, one family once.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from memories.guard import frames, reported, signs
from memories.guard.ciphers import deciphered
from memories.guard.findings import Certainty, Finding, occurs
from memories.guard.traditional import SIMPLIFIED
from memories.guard.views import View

_REFUSE: Final = 3
_HOLD: Final = 2
_NEAR: Final = 400  # signs further apart than this do not support each other
_SENTENCE: Final = 200

_MARKS: Final = str.maketrans("*_-`’‘", "    ''")
_PLAIN: Final = SIMPLIFIED | _MARKS
_NEGATION: Final = re.compile(
    r"(?:\b(?:(?:nobody|no (?:one|\w{1,16})) (?:may|can|must|should|shall)"
    r"|never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|could not|may not|not"
    r"|refuses? to|avoid|without|prevents?|nor|won't|stop"
    r"|attempts? to|tr(?:y|ies|ying) to|asked to|told to|if .{1,30} (?:tries|asks"
    r"|wants) to)\s{1,3}(?:\w{1,12}\s{1,3}){0,2}"
    r"|(?:不要|不得|禁止|切勿|请勿|不能|不可|不应该?|严禁|拒绝|不会|防止|避免|杜绝|不允许|不准|不许|无法"
    r"|试图|企图|要求|诱导)[^，。；,;\n]{0,6})$"
)
_OPENING: Final = "\"'“‘「『《`"
_CLOSING: Final = "\"'”’」』》`"


class Hit(NamedTuple):
    start: int
    end: int
    code: str
    weight: int


def _plain(low: str) -> str:
    return low.translate(_MARKS if low.isascii() else _PLAIN)


def _bearing(view: View, plain: str, start: int, end: int, *, negatable: bool) -> int:
    """What a sign may weigh at most here: 0 in a defensive rule or a quotation, 2 in a report, else 3."""
    low = view.low
    inner = next((at for at in range(start, end) if low[at] in "“‘「『《"), -1)
    if inner >= 0:
        start = inner + 1  # the verb outside the quotation is the sentence's own
    since = max(0, start - _SENTENCE)
    before = low[since:start]
    breaks = [found.end() for found in reported.BREAK.finditer(before)]
    if breaks:
        before = before[breaks[-1] :]
    if negatable and _NEGATION.search(plain[start - len(before) : start][-60:]):
        return 0
    stop = reported.BREAK.search(low, end, min(len(low), end + _SENTENCE))
    after = low[end : stop.start() if stop else min(len(low), end + _SENTENCE)]
    opened = max((before.rfind(mark) for mark in _OPENING), default=-1)
    quoted = opened >= 0 and any(mark in after for mark in _CLOSING) and before.count(before[opened]) % 2 == 1
    is_reported = bool(reported.REPORTED.search(before) or reported.REPORTED.search(after))
    if quoted and (
        is_reported
        or reported.SPEECH.search(before[:opened])
        or reported.INTRODUCED.search(before[: opened + 1])
    ):
        return 0
    if (is_reported and reported.INTRODUCED.search(before)) or reported.TURNED_DOWN.search(after):
        return 0
    return _HOLD if quoted or is_reported else _REFUSE


def _hits_of(
    view: View, table: tuple[signs.Sign, ...], text: str, plain: str, starts: frozenset[str]
) -> Iterator[Hit]:
    for sign in table:
        if sign.starts and starts.isdisjoint(sign.starts):
            continue
        if not occurs(sign.anchors, text):
            continue
        for match in sign.pattern.finditer(text):
            weight = sign.weight
            if sign.code == "tampering" and reported.ABLE.search(
                text, max(0, match.start() - 40), match.start()
            ):
                continue  # what a product lets people do
            if sign.code != "block_escape":
                weight = min(weight, _bearing(view, plain, *match.span(), negatable=sign.negatable))
            if weight:
                yield Hit(*match.span(), sign.code, weight)


def _without(plain: str, stretches: list[tuple[int, int]]) -> str:
    pieces: list[str] = []
    at = 0
    for start, end in stretches:
        pieces += (plain[at : max(at, start)], " " * (end - max(at, start)))
        at = max(at, end)
    return "".join(pieces) + plain[at:]


def _hits(view: View) -> Iterator[Hit]:
    plain = _plain(view.low)
    told: list[tuple[int, int]] | None = None
    for hit in _all_hits(view, plain):
        if told is None:
            told = reported.told(view.low)
        if hit.code == "block_escape" or not reported.holds(told, hit.start, hit.end):
            yield Hit(*view.span(hit.start, hit.end), hit.code, hit.weight)
    framed = list(frames.find(plain))
    if framed:
        if told is None:
            told = reported.told(view.low)
        if told:
            framed = list(frames.find(_without(plain, told)))
        for frame, start, end in framed:
            yield Hit(*view.span(start, end), frame.code, frame.weight)


def _all_hits(view: View, plain: str) -> Iterator[Hit]:
    yield from _hits_of(view, signs.MARKERS, view.low, plain, frozenset(view.low))
    yield from _hits_of(view, signs.WORDS, plain, plain, signs.beginnings(plain))
    if not plain.isascii():
        yield from _hits_of(view, signs.HAN, plain, plain, frozenset(plain))


def find(views: list[View]) -> Iterator[Finding]:
    """Injections over all readings of a text, in offsets of the original."""
    seen: dict[tuple[int, int, str], Hit] = {}
    for view in views:
        for reading in (view, *deciphered(view)):
            for hit in _hits(reading):
                place = (hit.start, hit.end, hit.code)
                if place not in seen:
                    # To disguise an order is a sign of its own: nobody encodes a rule for colleagues.
                    weight = _REFUSE if reading.disguised and hit.weight == _HOLD else hit.weight
                    seen[place] = hit._replace(weight=weight)
    cluster: list[Hit] = []
    for hit in sorted(seen.values()):
        if cluster and hit.start - max(near.end for near in cluster[-8:]) > _NEAR:
            yield from _weigh(cluster)
            cluster = []
        cluster.append(hit)
    yield from _weigh(cluster)


def _weigh(cluster: list[Hit]) -> Iterator[Finding]:
    weights: dict[str, int] = {}
    for hit in cluster:
        weights[hit.code] = max(weights.get(hit.code, 0), hit.weight)
    total = sum(weights.values())
    if total < _HOLD:
        return
    certainty: Certainty = "refuse" if total >= _REFUSE else "hold"
    for hit in cluster:
        yield Finding("injection", hit.code, hit.start, hit.end, certainty)
