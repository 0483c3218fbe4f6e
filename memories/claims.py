"""A content read as a claim: what it says, in order, without the words that only carry it.

Politeness, articles and connectors (用, 是, 改为, use, is, …) are gone; negation, comparators, direction,
numbers with units and identifiers are kept as what they are, and where a value stands is remembered.
"""

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memories.text import LETTER, UNSPACED, fold, singular
from memories.vocabulary import (
    COMPARE,
    CONNECT,
    CONNECT_LATIN,
    DIRECTION,
    DIRECTION_LATIN,
    DROP,
    DROP_LATIN,
    EXCEPT,
    EXCEPT_LATIN,
    KEPT,
    MAY_LATIN,
    MEASURES,
    MUST,
    NEED_NOT,
    NEED_NOT_LATIN,
    NOT,
    NOT_LATIN,
    ONLY,
    SPEAKER,
    SPEAKER_LATIN,
    SWITCH,
    UNIT,
    UNITS,
    WITHIN,
    latin,
)
from memories.wording import opened, plain


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a claim: run (of Chinese), word, or one of the hard kinds."""

    kind: str
    value: str
    # Follows a connector directly: here stands the value of the claim.
    valued: bool = False
    # How it was spelled: a name has a capital or a digit, several things have the ending of a plural.
    spelled: str = ""

    @property
    def is_name(self) -> bool:
        return self.kind in ("identifier", "number") or not self.spelled.islower()

    @property
    def is_plural(self) -> bool:
        return self.kind == "word" and self.value != self.spelled.casefold()


@dataclass(frozen=True, slots=True)
class Claim:
    """The tokens of a content, without connectors."""

    tokens: tuple[Token, ...]
    # Index of the first token after the first connector.
    predicate: int | None
    # What must be equal in order. Runs count by character: particles between them do not matter.
    key: tuple[tuple[str, str], ...]
    # The first connector is a colon: before it may stand a heading.
    headed: bool = False

    @classmethod
    def of(cls, tokens: tuple[Token, ...], predicate: int | None, headed: bool = False) -> "Claim":
        key: list[tuple[str, str]] = []
        for token in tokens:
            if token.kind == "run":
                key.extend(("run", character) for character in token.value)
            else:
                key.append((token.kind, token.value))
        return cls(tokens, predicate, tuple(key), headed)


# What turns a claim into another one, however small the difference.
HARD: Final = frozenset({"not", "may", "compare", "switch", "direction", "number", "identifier", "sign"})


# Numbers written as words: where a unit follows in Chinese, two to twenty and the tens in English.
_NUMERAL = "[零一二两三四五六七八九十][零一二两三四五六七八九十百千万]{0,8}"
_NUMBER_NAMES: Final = dict(
    zip(
        re.findall(
            r"\w+",
            """
            two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
            seventeen eighteen nineteen twenty thirty forty fifty sixty seventy eighty ninety
            """,
        ),
        [*range(2, 21), *range(30, 100, 10)],
        strict=True,
    )
)
_DIGITS: Final = {digit: value for value, digit in enumerate("零一二三四五六七八九")} | {"两": 2}
_PLACES: Final = {"十": 10, "百": 100, "千": 1000}
_CHINESE_UNIT = "|".join(
    re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True) if not unit.isascii()
)
# What follows these is the place in a row: "chapter 3", 第三章, 一级, 一个 as an article.
_ORDINAL = "(?<![第周期万统唯同单星拜初])"
_PARTICIPLE: Final = re.compile(
    r"\s+(?:always |also |only |all )?(?!need|feed|speed)(?:[a-z]{3,}[^e\W]ed|written|given|taken|chosen|kept|built"
    r"|sent|run|done|made|held|paid|drawn|bought|sold|led|put|cut|read|spoken|driven|taught|shot|sung|spelt|worn|grown)(?!\w)"
)
_CONDITION: Final = re.compile(
    r"\W*(?:如果|若是|若|假如|倘若|当|遇到|(?:if|when|whenever|unless|in case)(?!\w))[^,，;；:：]*"
)
_PLACED: Final = frozenset({"in", "on", "at", "with", "via", "as"})
_TOKEN = re.compile(
    r"(?=\S)(?:`(?P<code>[^`\n]+)`"
    + "".join(rf"|(?P<compare{i}>{zh}|{latin(en)})" for i, (_, zh, en) in enumerate(COMPARE))
    + rf"|(?P<kept>{KEPT})"
    + "".join(rf"|(?P<switch{i}>{zh}|{latin(en)})" for i, (_, zh, en) in enumerate(SWITCH))
    + rf"|(?P<may>可以|允许|可(?![能是靠爱惜观行])|{latin(MAY_LATIN)})"
    rf"|(?P<must>{MUST})"
    rf"|(?P<free>{NEED_NOT}|{latin(NEED_NOT_LATIN)})"
    rf"|(?P<not>{NOT}|{latin(NOT_LATIN)})"
    rf"|(?P<only>{ONLY}|{latin('only|solely|exclusively')})"
    rf"|(?P<except>{EXCEPT}|{latin(EXCEPT_LATIN)})"
    rf"|(?P<connect>{CONNECT}|{latin(CONNECT_LATIN)})"
    rf"|(?P<direction>{DIRECTION}|{latin(DIRECTION_LATIN)})"
    rf"|(?P<drop>{DROP}|{WITHIN}|{SPEAKER}|{latin(DROP_LATIN)}|{latin(SPEAKER_LATIN)})"
    rf"|(?P<clock>(?<![\w.:])\d{{1,2}}:\d{{2}}(?![\w:]|\.\d))"
    rf"|(?P<percent>百分之(?:\d+(?:\.\d+)?|{_NUMERAL}))"
    rf"|(?P<numeral>{_ORDINAL}(?!一(?:[个次级点些下层份条张位行列页帧块人名只]|[{MEASURES}]))(?:{_NUMERAL}(?=\s*(?:{_CHINESE_UNIT}|[{MEASURES}]))"
    rf"|(?:{'|'.join(_NUMBER_NAMES)})(?!{LETTER}|['’-]))\s*(?P<measure>{UNIT})?)"
    rf"|(?P<number>(?<!{LETTER})(?<!\.)-?\d+(?:,\d{{3}})*(?:\.\d+)?)(?![-./:]\w)\s*(?:(?P<unit>{UNIT})|(?!{LETTER}))"
    rf"|(?P<word>(?:(?<!\w)[/.#@$~]|(?<!\S)--?)?{LETTER}+(?:(?:::|->|[./\\\-@~:]|['’]){LETTER}+)*(?:\+\+|\#)?)"
    rf"|(?P<character>[{UNSPACED}])"
    r"|(?P<sign>[^\w\s]))"
)
_PUNCTUATION: Final = frozenset(",.;:!?、。\"'“”‘’()[]{}「」『』《》〈〉【】…—–-·*`~⋅")
# camelCase, snake_case, paths, versions and the like are spelled exactly; a plain word may change its case.
_EXACT = re.compile(r"[a-z][A-Z]|_|\d|[./\\@#$:+~]|->|^-")


@lru_cache(maxsize=4096)
def read(text: str) -> Claim:
    """The claim of `text`, word for word in its order."""
    return _claim(opened(" ".join(fold(text).split())))


@lru_cache(maxsize=4096)
def reworded(text: str) -> Claim:
    """The claim of `text` in the one wording for what it says: equal for 用 X 做 Y and Y 用 X."""
    return _claim(plain(" ".join(fold(text).split())))


def _claim(folded: str) -> Claim:
    tokens: list[Token] = []
    run: list[str] = []
    predicate: int | None = None
    valued = run_valued = passive = headed = False
    lowered = _lower(folded)
    # "If it is V8, …": what a condition says is no value.
    condition = _CONDITION.match(lowered)
    stated_from = condition.end() if condition else 0
    for match in _TOKEN.finditer(lowered):
        group = match.lastgroup or ""
        kind = group.rstrip("0123456789")
        if kind in ("drop", "must"):
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
            # "are stored in the vault": what is done is said, and where it is, is the value.
            if match.start() < stated_from:
                continue
            if match[0] in ("is", "are", "was", "were", "be") and _PARTICIPLE.match(lowered, match.end()):
                passive = True
                continue
            if predicate is None:
                predicate, headed = len(tokens), match[0] == ":"
            valued = True
            continue
        # "Meetings are on Monday": the copula has said it.
        if valued and match[0] in ("in", "on", "at"):
            continue
        token = _token(kind, group, match, folded[match.start() : match.end()], valued)
        tokens.append(token)
        if passive and predicate is None and (token.value in _PLACED or token.value == "+with"):
            predicate = len(tokens)
            valued = True
            continue
        # "按创建时间", "by name": what follows the preposition is a value, too; negation passes the place on.
        valued = (kind == "direction" and match[0] in ("by", "按", "按照", "以", "根据")) or (
            valued and kind in ("not", "free", "may", "only")
        )
    if run:
        tokens.append(Token("run", "".join(run), run_valued))
    return Claim.of(tuple(tokens), predicate, headed)


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
        value = COMPARE[int(group[len("compare") :])][0]
    elif kind == "switch":
        value = SWITCH[int(group[len("switch") :])][0]
    elif kind in ("not", "may"):
        value = kind
    elif kind == "free":
        kind, value = "not", "need not"
    elif kind in ("only", "except"):
        kind, value = "direction", kind
    elif kind == "clock":
        kind, value = "number", value.removeprefix("0")
    elif kind == "percent":
        kind, value = "number", f"{_number(value.removeprefix('百分之'))} %"
    elif kind == "numeral" or kind == "measure":
        unit = match["measure"]
        name = match["numeral"].removesuffix(unit or "").strip()
        kind, value = "number", _number(name) + (f" {UNITS[unit]}" if unit else "")
    elif kind in ("number", "unit"):
        unit = match["unit"]
        kind, value = "number", match["number"].replace(",", "") + (f" {UNITS[unit]}" if unit else "")
    elif kind == "word":
        exact = _EXACT.search(spelled) and not (spelled[0].isupper() and spelled.isalpha())
        # Argon2 at the start of a sentence is argon2.
        name = (
            spelled.casefold()
            if spelled[0].isupper() and spelled[1:].islower() and spelled.isalnum()
            else spelled
        )
        kind, value = ("identifier", name) if exact else ("word", singular(spelled.casefold()))
    return Token(kind, value, valued, spelled)


def _number(name: str) -> str:
    """The digits of a number that is written as a word: twenty, 二十, 两百五."""
    if name in _NUMBER_NAMES:
        return str(_NUMBER_NAMES[name])
    if name.isascii():
        return name
    if not any(character in "十百千万" for character in name):
        return str(int("".join(str(_DIGITS[character]) for character in name)))
    total = section = digit = 0
    for character in name:
        if character in _DIGITS:
            digit = _DIGITS[character]
        elif character == "万":
            total, section, digit = (total + section + digit) * 10_000, 0, 0
        else:
            section, digit = section + (digit or 1) * _PLACES[character], 0
    return str(total + section + digit)
