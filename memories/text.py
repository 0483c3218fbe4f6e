"""Text as Cairn reads it: clean input, the terms that recall scores, and the slugs that name a memory.

Everything works on NFKC text, so full-width letters and digits are their ordinary forms. Scripts written
without spaces (Han, kana, Hangul, Thai) become overlapping bigrams, which need no dictionary and find
Chinese better than segmentation does; other words are casefolded, identifiers are kept whole and split.
"""

import re
import unicodedata
from functools import lru_cache
from typing import Final

KEY_LENGTH: Final = 80
# Longer "identifiers" are data (base64, URLs with queries): their parts still count, the whole never recurs.
_WHOLE_LENGTH: Final = 80

# Scripts whose words are not separated by spaces.
UNSPACED: Final = (
    "\u0e01-\u0e3a\u0e40-\u0e4e\u3005-\u3007\u3041-\u3096\u309d-\u309f\u30a1-\u30fa\u30fc-\u30ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U0003134f"
)
# Letters, digits and underscore of every other script.
LETTER: Final = rf"[^\W{UNSPACED}]"

_NEWLINES = re.compile("\r\n|[\r\x85\u2028\u2029]")
_INVISIBLE = re.compile("[\u00ad\u034f\u061c\ufeff\u200b-\u200f\u202a-\u202e\u2060-\u206f]")
# A run without spaces | a number with decimals and its unit | a word or identifier with what joins its parts.
_TOKEN = re.compile(
    rf"(?P<run>[{UNSPACED}]+)"
    r"|(?P<number>\d+(?:,\d{3})*(?:\.\d+)*(?:[ ]?(?:%|(?:ms|px|kb|mb|gb|tb|rem|em|vh|vw|dpi|fps|qps)\b))?)"
    rf"(?!{LETTER}|[-/\\:@]\w)"
    rf"|(?P<word>{LETTER}+(?:(?:[./\\\-@~:]{{1,3}}|['’]){LETTER}+)*(?:\+\+|\#)?)",
    re.IGNORECASE,
)
_JOINTS = re.compile(r"[\W_]+")
_HUMPS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_POSSESSIVE = re.compile(r"['’]s$")
_MEASURED = re.compile(r"(\d+)[a-z]{1,3}")
_LEADING_NUMBER = re.compile(r"\d+(?:\.\d+)*")

STOP_WORDS: Final = frozenset(
    re.findall(
        r"\w+",
        """
    a about above actually after again all also am an and any anyway are aren as at be because been
    before being below between both but by can cannot could couldn did didn do does doesn doing don down
    during each else ever every few for from further get gets go going got had hadn has hasn have haven
    having he hello help her here hers hey hi him his how i if in into is isn it its just kindly know
    let lets ll like make makes many may maybe me might mine more most much must my need needs no nor
    not now of off oh ok okay on once one only onto or other our ours out over own please re really s
    same shall she should shouldn show since so some still such sure t tell than thank thanks that the
    their them then there these they thing things this those through to too under until up upon us use
    used uses using ve very want wants was wasn way we well were weren what when where whether which
    while who whom whose why will with within without won would wouldn yes yet you your yours
        """,
    )
)

# Function words of Chinese: they part a run, because a bigram across them ("们用", "的颜") says nothing.
_FUNCTION_WORDS = re.compile(
    # First what merely looks like one.
    "(?P<kept>目的|标的|了解|终了|未了|的士|打的|有的放矢|吧台|酒吧|网吧|就是说|地方|要求|要素|要点|主要|重要|必要|需要量)"
    "|为什么|怎么样|怎么办|是不是|能不能|可不可以|有没有|要不要|那么|这么|什么|怎么|怎样|如何|哪些|哪个|哪里|多少"
    "|我们|你们|他们|她们|它们|咱们|大家|自己|这个|那个|这些|那些|这里|那里|这样|那样|一个|一下|一些|一点"
    "|可以|应该|必须|需要|不要|不用|不能|已经|还是|或者|以及|并且|而且|但是|因为|所以|如果|然后|现在|目前|之前|之后"
    "|上次|刚才|请问|麻烦|帮我|帮忙|给我|告诉|谢谢|你好|您好|好的|继续|记住|统一|一律"
    "|[的了吗呢吧啊呀嘛哦哈么你我他她它您]"
)
_LONE_STOPS: Final = frozenset(
    "用是在有和与及或要请把被让将就都也还很再又不没为对从到向给做能会可得地着过个之其此等该看说想"
)


class InvalidText(ValueError):
    """The text cannot be stored or sent; `reason` is `lone_surrogate` or `nul`."""

    def __init__(self, reason: str) -> None:
        super().__init__(f"invalid text: {reason}")
        self.reason = reason


def clean(text: str) -> str:
    """The text with line feeds for all line ends; InvalidText for what no database and no JSON takes."""
    if "\x00" in text:
        raise InvalidText("nul")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidText("lone_surrogate") from error
    return _NEWLINES.sub("\n", text)


def fold(text: str) -> str:
    """NFKC without the characters that nobody sees."""
    return text if text.isascii() else _INVISIBLE.sub("", unicodedata.normalize("NFKC", text))


def slug(text: str) -> str:
    """A key: casefolded, words joined by hyphens, Chinese kept, ≤ 80 characters; empty if nothing is left."""
    folded = unicodedata.normalize("NFKC", fold(text).casefold())
    kept = "".join(c if c in "._+#/@-" or unicodedata.category(c)[0] in "LNM" else " " for c in folded)
    joined = re.sub(r"-{2,}", "-", "-".join(kept.split())).strip("-./@")
    return joined[:KEY_LENGTH].rstrip("-./@")


@lru_cache(maxsize=16384)
def singular(word: str) -> str:
    """The English word without its plural ending; words that merely end in s stay."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(("ss", "us", "is")) or not word.isalpha():
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes", "zzes")):
        return word[:-2]
    return word[:-1]


@lru_cache(maxsize=16384)
def _word_terms(word: str) -> tuple[str, ...]:
    """A word, or an identifier whole and then its parts, without what says nothing."""
    word = _POSSESSIVE.sub("", word)
    whole = word.casefold()
    if whole.isalpha():
        humps = _HUMPS.split(word) if not word.islower() else [word]
    else:
        humps = [hump for part in _JOINTS.split(word) for hump in _HUMPS.split(part)]
    if len(humps) == 1 and len(humps[0]) == len(whole):
        if measured := _MEASURED.fullmatch(whole):
            return whole, measured[1]
        return () if whole in STOP_WORDS else (singular(whole),)
    found = []
    if len(whole) <= _WHOLE_LENGTH and "'" not in whole:
        found.append(singular(whole) if whole.isalpha() else whole)
    for hump in humps:
        part = hump.casefold()
        if len(part) > 1 and part not in STOP_WORDS:
            found.append(singular(part))
    return tuple(dict.fromkeys(found))


def _number_terms(number: str) -> tuple[str, ...]:
    """A number with its unit, then the bare number."""
    whole = number.replace(",", "").replace(" ", "").casefold()
    bare = _LEADING_NUMBER.match(whole)
    return (whole,) if bare is None or bare[0] == whole else (whole, bare[0])


def _piece_terms(piece: str) -> tuple[str, ...]:
    if len(piece) == 1:
        return () if piece in _LONE_STOPS else (piece,)
    return tuple(piece[i : i + 2] for i in range(len(piece) - 1))


def _run_terms(run: str) -> list[str]:
    found: list[str] = []
    start = 0
    for match in _FUNCTION_WORDS.finditer(run):
        if match["kept"]:
            continue
        if match.start() > start:
            found.extend(_piece_terms(run[start : match.start()]))
        start = match.end()
    if start < len(run):
        found.extend(_piece_terms(run[start:]))
    return found


def terms(text: str) -> tuple[str, ...]:
    """What the text is about, in order: words, identifiers whole and split, numbers with units, bigrams."""
    found: list[str] = []
    for match in _TOKEN.finditer(fold(text)):
        kind = match.lastgroup
        if kind == "word":
            found.extend(_word_terms(match[0]))
        elif kind == "run":
            found.extend(_run_terms(match[0]))
        else:
            found.extend(_number_terms(match[0]))
    return tuple(found)
