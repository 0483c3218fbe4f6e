"""Words aimed at a future model: signs are weighed together, the clear refused, the middle held.

A colleague writes "the guard rejects 'ignore previous instructions'"; so a sign that is negated, quoted
or reported counts less or nothing. Signs near each other add up, one family once.
"""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from memories.guard import concepts, signs
from memories.guard.findings import Certainty, Finding, occurs
from memories.guard.views import View, spellings

_REFUSE: Final = 3
_HOLD: Final = 2
_NEAR: Final = 400  # signs further apart than this do not support each other
_SENTENCE: Final = 200

_PLAIN: Final = str.maketrans(
    "*_-`’‘別會說則無視過濾設統詞輸記憶將對話發關閉開這條從現後們個還規約聽請執內級優權戶號讓給傳錄進啟檢審繞覆蓋擾",
    "    "
    "''别会说则无视过滤设统词输记忆将对话发关闭开这条从现后们个还规约听请执内级优权户号让给传录进启检审绕覆盖扰",
)
_NEGATION: Final = re.compile(
    r"(?:\b(?:never|do not|don't|must not|mustn't|should not|shouldn't|cannot|can't|could not|may not|not"
    r"|refuses? to|avoid|without|prevents?|nor|won't|stop"
    r"|attempts? to|tr(?:y|ies|ying) to|asked to|told to|if .{1,30} (?:tries|asks"
    r"|wants) to)\s{1,3}(?:\w{1,12}\s{1,3}){0,2}"
    r"|(?:不要|不得|禁止|切勿|请勿|不能|不可|不应该?|严禁|拒绝|不会|防止|避免|杜绝|不允许|不准|不许|无法"
    r"|试图|企图|要求|诱导)[^，。；,;\n]{0,6})$"
)
_NEGATED: Final = re.compile(
    r"\b(?:never|do not|don't|must not|should not|cannot|avoid|refuses? to|prevents?|not allowed|must be)\b"
    r"|不要|不得|禁止|切勿|请勿|不能|不可|不应|严禁|拒绝|防止|避免|不允许"
)
_REPORTED: Final = re.compile(
    r"\b(?:rejects?|detects?|blocks?|refus(?:e|es|al)|flags?|guards?|attacks?|attackers?|injections?"
    r"|jailbreaks?|test cases?|fixtures?|such as|e\.g\.|phrases?|patterns?|regex"
    r"|classif\w{2,6}|treat(?:ed|s)? as|filters? (?:out|drops?|removes?|catches|blocks?)|malicious"
    r"|untrusted|strips?|escapes?|sanitiz\w{1,4}|(?<!\.)examples?|corpus|payloads?)\b"
    r"|拒绝|检测|拦截|识别|防御|注入|攻击|测试用例|样例|类似|例如|比如|诸如|视为(?!已)|转义|恶意|不可信"
    r"|语料|敏感词|一类|这类|字样"
)
_INTRODUCED: Final = re.compile(
    r"(?:such as|like|e\.g\.|for example|phrases?|text|strings?|类似|例如|比如|诸如|包含|含有|出现|覆盖"
    r"|形如|输入|内容为)[\s:：,\"'“”‘’「『`(（]{0,4}$"
)
_SPEECH: Final = re.compile(
    r"\b(?:says?|said|asks?|typ(?:e|es|ed)|writes?|wrote|contains?|containing|reads?|mentions?|called|named"
    r"|titled|labell?ed)\b[\s:,]{0,3}$|(?:说|输入|提到|写|包含|含有|名为|叫|标题为|问|回复|显示)(?:了|着"
    r"|的)?[\s:：]{0,2}$"
)
_OPENING: Final = "\"'“‘「『《`"
_CLOSING: Final = "\"'”’」』》`"
_BREAK: Final = re.compile(r"[。！？；\n]|[.!?;](?=\s|$)")


class Hit(NamedTuple):
    start: int
    end: int
    code: str
    weight: int


def _plain(low: str) -> str:
    return low.translate(_PLAIN)


def _bearing(view: View, plain: str, start: int, end: int, *, negatable: bool) -> int:
    """What a sign may weigh at most here: 0 in a defensive rule or a quotation, 2 in a report, else 3."""
    low = view.low
    inner = next((at for at in range(start, end) if low[at] in "“‘「『《"), -1)
    if inner >= 0:
        start = inner + 1  # the verb outside the quotation is the sentence's own
    since = max(0, start - _SENTENCE)
    before = low[since:start]
    breaks = [found.end() for found in _BREAK.finditer(before)]
    if breaks:
        before = before[breaks[-1] :]
    if negatable and _NEGATION.search(plain[start - len(before) : start][-60:]):
        return 0
    stop = _BREAK.search(low, end, min(len(low), end + _SENTENCE))
    after = low[end : stop.start() if stop else min(len(low), end + _SENTENCE)]
    opened = max((before.rfind(mark) for mark in _OPENING), default=-1)
    quoted = opened >= 0 and any(mark in after for mark in _CLOSING) and before.count(before[opened]) % 2 == 1
    reported = bool(_REPORTED.search(before) or _REPORTED.search(after))
    if quoted and (reported or _SPEECH.search(before[:opened]) or _INTRODUCED.search(before[: opened + 1])):
        return 0
    if reported and _INTRODUCED.search(before):
        return 0
    return _HOLD if quoted or reported else _REFUSE


def _is_spoken(sentence: str) -> bool:
    """Somebody's words in quotation marks, introduced as such: he wrote "…", 用户说“…”."""
    opened = min((at for mark in _OPENING if (at := sentence.find(mark)) >= 0), default=-1)
    if opened < 0 or not any(mark in sentence[opened + 1 :] for mark in _CLOSING):
        return False
    return bool(_SPEECH.search(sentence[:opened]) or _INTRODUCED.search(sentence[: opened + 1]))


def _hits_of(view: View, table: tuple[signs.Sign, ...], text: str, plain: str) -> Iterator[Hit]:
    for sign in table:
        if not occurs(sign.anchors, text):
            continue
        for match in sign.pattern.finditer(text):
            weight = sign.weight
            if sign.code != "block_escape":
                weight = min(weight, _bearing(view, plain, *match.span(), negatable=sign.negatable))
            if weight:
                yield Hit(*view.span(*match.span()), sign.code, weight)


def _hits(view: View) -> Iterator[Hit]:
    plain = _plain(view.low)
    yield from _hits_of(view, signs.MARKERS, view.low, plain)
    yield from _hits_of(view, signs.WORDS, plain, plain)
    if not plain.isascii():
        yield from _hits_of(view, signs.HAN, plain, plain)
    for bag, start, end in concepts.find(plain):
        defended = bag.negatable and _NEGATED.search(plain, start, end)
        reported = _REPORTED.search(plain, start, end) or _is_spoken(view.low[start:end])
        if not defended and not reported:
            yield Hit(*view.span(start, end), bag.code, _HOLD)


def find(views: list[View]) -> Iterator[Finding]:
    """Injections over all readings of a text, in offsets of the original."""
    seen: dict[tuple[int, int, str], Hit] = {}
    for view in views:
        for reading in (view, *spellings(view)):
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
