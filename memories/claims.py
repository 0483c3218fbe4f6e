"""A content read as a claim: what it says, in order, without the words that only carry it.

Politeness, articles and connectors (用, 是, 改为, use, is, …) are gone; negation, comparators, direction,
numbers with units and identifiers are kept as what they are, and where a value stands is remembered.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memories.text import LETTER, UNSPACED, fold, singular


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a claim: run (of Chinese), word, or one of the hard kinds."""

    kind: str
    value: str
    # Follows a connector directly: here stands the value of the claim.
    valued: bool = False


@dataclass(frozen=True, slots=True)
class Claim:
    """The tokens of a content, without connectors."""

    tokens: tuple[Token, ...]
    # Index of the first token after the first connector.
    predicate: int | None
    # What must be equal in order. Runs count by character: particles between them do not matter.
    key: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, tokens: tuple[Token, ...], predicate: int | None) -> "Claim":
        key: list[tuple[str, str]] = []
        for token in tokens:
            if token.kind == "run":
                key.extend(("run", character) for character in token.value)
            else:
                key.append((token.kind, token.value))
        return cls(tokens, predicate, tuple(key))


# What turns a claim into another one, however small the difference.
HARD: Final = frozenset({"not", "may", "compare", "switch", "direction", "number", "identifier", "sign"})


def _words(text: str) -> str:
    """An alternation, longest first, so that 不超过 is not read as 不."""
    return "|".join(map(re.escape, sorted(text.split(), key=len, reverse=True)))


def _latin(text: str) -> str:
    return rf"(?:{text})(?!{LETTER}|['’-]{LETTER})"


# Chinese words that contain, but do not mean, one of the words below.
_KEPT = _words(
    """
    用户 用例 用途 用法 用于 用量 用时 用品 用语 用作 引用 应用 作用 通用 专用 共用 公用 常用 复用 调用
    费用 占用 可用 不可用 信用 适用 利用 备用 滥用 误用 商用 有用 无用 实用 使用者 使用率 使用量 但是
    是否 还是 于是 只是 可是 凡是 总是 因为 作为 成为 为了 行为 认为 为空 为止 以为 分为 视为 称为 为主
    较为 人为 为准 呼叫 特别 区别 类别 级别 别名 别的 个别 分别 识别 性别 别人 差别 辨别 不同 不仅 不但
    不过 不论 不管 不止 不断 不变 不足 不等 不一致 不可变 不透明 不限 差不多 要求 要素 要点 主要 重要
    必要 目的 标的 了解 未了 按钮 按键 按下 以及 以上 以下 以内 以后 以前 所以 以便 以免 以来 以外 左右
    就近 成就 将来 即将 都市 首都 应付 响应 对应 适应 供应 需求 均衡 平均
    """
)
_COMPARE = (
    ("<=", _words("不超过 不大于 不多于 不高于 最多 至多 ≤ <="), "at most|no more than|up to|maximum|max"),
    (">=", _words("不少于 不小于 不低于 至少 最少 ≥ >="), "at least|no less than|no fewer than|minimum|min"),
    (">", _words("超过 大于 多于 高于"), r"more than|greater than|over(?=\s*\d)"),
    ("<", _words("小于 少于 低于"), r"less than|fewer than|under(?=\s*\d)|below(?=\s*\d)"),
)
_NOT = _words(
    """
    不要再 不要 不用 不能 不得 不可以 不可 不准 不许 不允许 不应该 不应当 不应 不该 不再 不需要 不必
    不会 不是 而不是 而非 不 别 禁止 严禁 切勿 请勿 勿 避免 没有 没 无需 无须 拒绝 杜绝
    """
)
_NOT_LATIN = (
    "not|never|no longer|no|cannot|without|avoid(?:s|ing)?|neither|nor|forbid(?:s|den)?|prohibit(?:s|ed)?"
    "|disallow(?:s|ed)?|ban(?:s|ned)?|instead of|rather than|[a-z]+n['’]t|dont|cant|wont|doesnt"
)
_SWITCH = (
    ("on", _words("启用 开启 打开"), "enabled?|enables|turn(?:ed)? on"),
    ("off", _words("禁用 停用 关闭"), "disabled?|disables|turn(?:ed)? off"),
)
_DIRECTION = _words("升序 降序 正序 倒序 左 右 顶部 底部 上方 下方 之前 之后 按照 按 以 根据 从 到 往")
_DIRECTION_LATIN = (
    "by|from|to|into|onto|before|after|above|below|over|under|left|right|top|bottom|inside|outside|until|since"
    "|asc|desc|ascending|descending|only"
)
_CONNECT = _words(
    """
    设置为 设定为 设为 设成 改为 改成 改用 改到 换成 换为 换用 变为 变成 调整为 调整到 采用 使用 选用
    统一走 一律走 统一 一律 就是 都是 用 是 为 叫 等于 => -> → := == = :
    """
)
_CONNECT_LATIN = (
    "use|uses|used|using|is|are|was|were|be|equals?|set to|named|called|prefers?|defaults? to"
    "|changed? to|switch(?:ed)? to"
)
_DROP = _words(
    """
    的话 的 了 请 务必 一定 我们 咱们 你们 我 你 吧 呢 啊 哦 嘛 要 需要 需 应该 应当 应 必须 须 都 均 就
    也 把 将 总是 始终 注意 记住 一下
    """
)
_DROP_LATIN = (
    "a|an|the|this|that|these|those|we|our|us|you|your|i|my|it|its|please|do|does|did|will|shall|should|must"
    "|need|needs|have|has|always|so|then|also|just|remember|note|of|ensure|make sure"
)
_UNITS: Final = {
    unit: name
    for name, units in {
        "ms": "ms 毫秒 millisecond milliseconds",
        "s": "s sec secs second seconds 秒 秒钟",
        "min": "min mins minute minutes 分钟",
        "h": "h hr hrs hour hours 小时 个小时",
        "d": "d day days 天",
        "week": "week weeks 周 星期",
        "month": "month months 个月",
        "月": "月",
        "日": "日",
        "year": "year years 年",
        "px": "px 像素 pixel pixels",
        "%": "% percent",
        "kb": "kb",
        "mb": "mb 兆",
        "gb": "gb",
        "条": "条",
        "row": "行 row rows",
        "col": "列 col cols column columns",
        "char": "字 字符 character characters",
        "digit": "位 digit digits",
        "time": "次 time times",
        "个": "个 item items",
        "rem": "rem",
        "em": "em",
        "vh": "vh",
        "vw": "vw",
    }.items()
    for unit in units.split()
}
_UNIT = "|".join(
    re.escape(unit) + (f"(?!{LETTER})" if unit.isascii() and unit != "%" else "")
    for unit in sorted(_UNITS, key=len, reverse=True)
)
# At the start it only says that a rule begins; elsewhere 以后 may mean "after that".
_FROM_NOW_ON = re.compile(
    r"^(?:以后|今后|往后|从今往后|从现在(?:起|开始)|(?:from now on|from here on|going forward)\b)[\s，,:：]*",
    re.IGNORECASE,
)
_MOVED = re.compile(
    r"(?:从|由)\s*[^\s，,。；;]{1,20}?\s*(?:改为|改成|换成|变成|变为|调整为|调整到)"
    r"|(?<!\w)(?:changed?|switch(?:ed)?|moved?|migrated?)\s+from\s+\S+\s+to(?!\w)",
    re.IGNORECASE,
)
_TOKEN = re.compile(
    rf"`(?P<code>[^`\n]+)`"
    rf"|(?P<kept>{_KEPT})"
    + "".join(rf"|(?P<compare{i}>{zh}|{_latin(en)})" for i, (_, zh, en) in enumerate(_COMPARE))
    + "".join(rf"|(?P<switch{i}>{zh}|{_latin(en)})" for i, (_, zh, en) in enumerate(_SWITCH))
    + rf"|(?P<may>可以|允许|{_latin('may|can|allow(?:s|ed)?|permit(?:s|ted)?')})"
    rf"|(?P<not>{_NOT}|{_latin(_NOT_LATIN)})"
    rf"|(?P<connect>{_CONNECT}|{_latin(_CONNECT_LATIN)})"
    rf"|(?P<direction>{_DIRECTION}|{_latin(_DIRECTION_LATIN)})"
    rf"|(?P<drop>{_DROP}|{_latin(_DROP_LATIN)})"
    rf"|(?P<number>(?<!{LETTER})(?<!\.)-?\d+(?:,\d{{3}})*(?:\.\d+)?)(?![-./:]\w)\s*(?:(?P<unit>{_UNIT})|(?!{LETTER}))"
    rf"|(?P<word>(?:(?<!\w)[/.#@$~]|(?<!\S)--?)?{LETTER}+(?:(?:::|->|[./\\\-@~:]|['’]){LETTER}+)*(?:\+\+|\#)?)"
    rf"|(?P<character>[{UNSPACED}])"
    r"|(?P<sign>[^\w\s])"
)
_PUNCTUATION: Final = frozenset(",.;:!?、。\"'“”‘’()[]{}「」『』《》〈〉【】…—–-·*`~⋅")
# camelCase, snake_case, paths, versions and the like are spelled exactly; a plain word may change its case.
_EXACT = re.compile(r"[a-z][A-Z]|_|\d|[./\\@#$:+~]|->|^-")


@lru_cache(maxsize=4096)
def read(text: str) -> Claim:
    tokens: list[Token] = []
    run: list[str] = []
    predicate: int | None = None
    valued = run_valued = False
    folded = _MOVED.sub(" 改为 ", _FROM_NOW_ON.sub("", " ".join(fold(text).split())))
    for match in _TOKEN.finditer(_lower(folded)):
        group = match.lastgroup or ""
        kind = group.rstrip("0123456789")
        if kind == "drop":
            continue
        if kind in ("character", "kept"):
            if not run:
                run_valued = valued
            run.append(match[0])
            valued = False
            continue
        if run:
            tokens.append(Token("run", "".join(run), run_valued))
            run.clear()
        if kind == "sign" and match[0] in _PUNCTUATION and not _is_value(folded, match, valued):
            continue
        if kind == "connect":
            predicate = len(tokens) if predicate is None else predicate
            valued = True
            continue
        tokens.append(_token(kind, group, match, folded[match.start() : match.end()], valued))
        # "按创建时间", "by name": what follows the preposition is a value, too; negation passes the place on.
        valued = (kind == "direction" and match[0] in ("by", "按", "按照", "以", "根据")) or (
            valued and kind in ("not", "may")
        )
    if run:
        tokens.append(Token("run", "".join(run), run_valued))
    return Claim.of(tuple(tokens), predicate)


def _lower(text: str) -> str:
    """Lower case, character by character, so that places in it are places in the text."""
    lowered = text.lower()
    if len(lowered) == len(text):
        return lowered
    return "".join(low if len(low := one.lower()) == 1 else one for one in text)


def _is_value(text: str, match: re.Match[str], valued: bool) -> bool:
    """A lone sign right after a connector: "the separator is -"."""
    return valued and not text[match.end() :].strip()


def _token(kind: str, group: str, match: re.Match[str], spelled: str, valued: bool) -> Token:
    value = match[0]
    if kind == "code":
        kind, value = "identifier", " ".join(spelled.strip("`").split())
    elif kind == "compare":
        value = _COMPARE[int(group[-1])][0]
    elif kind == "switch":
        value = _SWITCH[int(group[-1])][0]
    elif kind in ("not", "may"):
        value = kind
    elif kind in ("number", "unit"):
        unit = match["unit"]
        kind, value = "number", match["number"].replace(",", "") + (f" {_UNITS[unit]}" if unit else "")
    elif kind == "word":
        exact = _EXACT.search(spelled) and not (spelled[0].isupper() and spelled.isalpha())
        kind, value = ("identifier", spelled) if exact else ("word", singular(spelled.casefold()))
    return Token(kind, value, valued)
