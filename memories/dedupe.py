"""Whether two contents say the same, contradict each other, or have nothing to do with each other.

Contents are compared as claims (see claims.py). Only equal tokens in equal order make near-duplicates; where
a number, a unit, an identifier, a comparator, a direction or the polarity differs, they contradict.
Everything here is symmetric.
"""

import hashlib
import re
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from enum import StrEnum
from functools import lru_cache
from itertools import pairwise
from typing import Final

from memories.claims import HARD, Claim, Token, read
from memories.text import fold, singular

# Tokens of what still counts as one value: "Ant Design Vue".
_LONGEST_VALUE: Final = 3
# Tokens of what is said about one subject: "API timeout is 30 s, at most".
_LONGEST_PREDICATE: Final = 4


class Relation(StrEnum):
    """What a second content is to a first one."""

    SAME = "same"
    NEAR = "near"
    CONFLICT = "conflict"
    DIFFERENT = "different"


@lru_cache(maxsize=4096)
def content_hash(text: str) -> str:
    """sha256 of the NFKC text with white space folded and the final full stop dropped, and nothing more."""
    folded = " ".join(fold(text).split())
    if folded.endswith((".", "。")) and not folded[:-1].endswith((".", "。")):
        folded = folded[:-1].rstrip()
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()


def compare(a: str, b: str) -> Relation:
    """The relation of two contents: the same words, the same claim, a contradiction, or none of these."""
    if content_hash(a) == content_hash(b):
        return Relation.SAME
    one, other = sorted((a, b))
    left, right = _aligned(read(one), read(other))
    if not left.tokens or not right.tokens:
        return Relation.DIFFERENT
    if left.key == right.key:
        return Relation.NEAR
    if max(len(left.tokens), len(right.tokens)) > _LONGEST_VALUE and set(left.key).isdisjoint(right.key):
        return Relation.DIFFERENT
    # The same words in another order turn a claim round: "pnpm, not npm".
    if sorted(left.key) == sorted(right.key) or _changed(left, right):
        return Relation.CONFLICT
    if _differ_in_hard_tokens(left, right) or _same_subject_other_value(left, right):
        return Relation.CONFLICT
    return Relation.DIFFERENT


def resembling(content: str) -> Callable[[str], bool]:
    """A quick test before `compare`: what it refuses is DIFFERENT from `content`. One that passes may be, too.

    A project's memories are compared with each new one while it is locked, and nearly all are different.
    Whatever `compare` finds related shares all words but those of one value; that much is seen without reading.
    """
    tokens = [token for token in read(content).tokens if token.kind not in HARD]
    # Particles inside a run do not matter, nor does the ending of a plural.
    words = [token.value if token.kind == "run" else token.value.removesuffix("y") for token in tokens]
    runs = [set(word) for word, token in zip(words, tokens, strict=True) if token.kind == "run"]
    words = [word for word, token in zip(words, tokens, strict=True) if token.kind != "run"]

    def resembles(other: str) -> bool:
        text = fold(other).casefold()
        missing = sum(word not in text for word in words)
        if missing <= _LONGEST_PREDICATE and runs:
            characters = set(text)
            missing += sum(not run <= characters for run in runs)
        return missing <= _LONGEST_PREDICATE

    return resembles


def near_key(text: str) -> object:
    """Equal for contents that are the same or near-duplicates, so that many can be compared at once."""
    return read(text).key or content_hash(text)


def one_value_changed(a: str, b: str) -> bool:
    """Same subject, and exactly one value differs (用 A → 用 B, 5432 → 5433), or the polarity is flipped."""
    one, other = sorted((a, b))
    left, right = _aligned(read(one), read(other))
    return bool(left.tokens and right.tokens) and left.key != right.key and _changed(left, right)


# --- Signatures for tombstones ----------------------------------------------------------------------------

_PERMUTATIONS: Final = 32
_PRIME: Final = (1 << 61) - 1
# Of 32 minima, some 27 agree where 85 % of the shingles do; other subjects in the same frame share fewer.
_SIMILAR: Final = 0.85


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest())


_MULTIPLIERS: Final = tuple(_digest(f"multiplier {i}") | 1 for i in range(_PERMUTATIONS))
_SHIFTS: Final = tuple(_digest(f"shift {i}") for i in range(_PERMUTATIONS))


def signature(text: str) -> tuple[int, ...]:
    """A digest of what must be equal (numbers, identifiers, polarity, …), then minima over shingles.

    Similar texts share most elements, position by position: keyed one by one they stay comparable.
    """
    claim = read(text)
    hard = _digest("\x1f".join(f"{t.kind}\x1e{t.value}" for t in claim.tokens if t.kind in HARD))
    words = [value for _, value in claim.key]
    shingles = set(words) | {f"{a}\x1f{b}" for a, b in pairwise(words)} or {" ".join(fold(text).split())}
    digests = [_digest(shingle) for shingle in shingles]
    minima = (min((m * d + s) % _PRIME for d in digests) for m, s in zip(_MULTIPLIERS, _SHIFTS, strict=True))
    return (hard, *minima)


def similar_signature(a: Sequence[int | str], b: Sequence[int | str]) -> bool:
    """Whether two signatures (or their keyed forms) belong to texts that say nearly the same."""
    if len(a) != len(b) or not a or a[0] != b[0]:
        return False
    equal = sum(x == y for x, y in zip(a[1:], b[1:], strict=True))
    return equal >= _SIMILAR * (len(a) - 1)


# --- What changed -------------------------------------------------------------------------------------------

# Values that exclude each other: a rule that names one of a family is undone by a rule that names another.
_FAMILIES: Final = tuple(
    frozenset(family.split())
    for family in (
        "红 橙 黄 绿 青 蓝 紫 黑 白 灰 粉 棕"
        " red orange yellow green cyan blue purple black white grey gray pink brown",
        "npm pnpm yarn bun",
        "mysql mariadb postgresql postgres sqlite oracle mongodb tidb sqlserver",
        "vue react angular svelte solid",
        "jest vitest mocha pytest unittest",
        "tab space 制表符 空格",
        "light dark 浅色 深色 亮色 暗色",
        "中文 英文 日文 简体 繁体 chinese english japanese",
        "pinia vuex redux zustand mobx",
        "axios fetch",
        "rest graphql grpc soap",
        "webpack vite rollup parcel",
        "less sass scss tailwind",
        "javascript typescript",
        "camelcase snake_case kebab-case pascalcase 驼峰 下划线 中划线 短横线",
        "get post put patch delete",
        "升序 降序 正序 倒序 asc desc ascending descending",
        "left right 左 右",
        "top bottom 顶部 底部 上方 下方",
        "before after 之前 之后",
        "周一 周二 周三 周四 周五 周六 周日 monday tuesday wednesday thursday friday saturday sunday",
        "jwt session cookie oauth oauth2",
        "utc 本地时间 local",
        "true false",
        "单引号 双引号 single double",
        "rabbitmq kafka rocketmq",
    )
)
_COLOUR = re.compile(r"#(?:[0-9a-f]{3}|[0-9a-f]{6}|[0-9a-f]{8})", re.IGNORECASE)


def _families(value: str) -> set[int]:
    if _COLOUR.fullmatch(value):
        return {0}
    found = set()
    for number, family in enumerate(_FAMILIES):
        if (
            value.casefold() in family
            or singular(value.casefold()) in family
            or (not value.isascii() and any(not word.isascii() and word in value for word in family))
        ):
            found.add(number)
    return found


def _rivals(left: Sequence[Token], right: Sequence[Token]) -> bool | None:
    """Whether two values stand for the same thing; None when nothing is known of either."""
    a, b = " ".join(token.value for token in left), " ".join(token.value for token in right)
    known_a, known_b = _families(a), _families(b)
    if known_a and known_b:
        return bool(known_a & known_b)
    if known_a or known_b:
        both_latin = a.isascii() and b.isascii()
        return None if both_latin or a[-1] == b[-1] else False
    return None


def _changed(left: Claim, right: Claim) -> bool:
    return (
        _polarity_flipped(left, right)
        or _rejects(left, right)
        or _rejects(right, left)
        or _one_value_replaced(left, right)
    )


def _polarity_flipped(left: Claim, right: Claim) -> bool:
    """要用 Redis, 不要用 Redis."""
    plain = [[t for t in claim.key if t[0] not in ("not", "may")] for claim in (left, right)]
    denied = [sum(token.kind == "not" for token in claim.tokens) for claim in (left, right)]
    return bool(plain[0]) and plain[0] == plain[1] and denied[0] % 2 != denied[1] % 2


def _rejects(claim: Claim, other: Claim) -> bool:
    """ "use pnpm, not npm" beside "use npm"."""
    if len(claim.tokens) < 3 or claim.tokens[-2].kind != "not" or len(other.tokens) != len(claim.tokens) - 2:
        return False
    plain = [(token.kind, token.value) for token in claim.tokens]
    return [(token.kind, token.value) for token in other.tokens] == [*plain[:-3], plain[-1]]


def _one_value_replaced(left: Claim, right: Claim) -> bool:
    a, b = left.tokens, right.tokens
    plain_a, plain_b = [(t.kind, t.value) for t in a], [(t.kind, t.value) for t in b]
    shortest = min(len(a), len(b))
    start = 0
    while start < shortest and plain_a[start] == plain_b[start]:
        start += 1
    end = 0
    while end < shortest - start and plain_a[-1 - end] == plain_b[-1 - end]:
        end += 1
    old, new = a[start : len(a) - end], b[start : len(b) - end]
    if not (1 <= len(old) <= _LONGEST_VALUE and 1 <= len(new) <= _LONGEST_VALUE):
        return False
    kinds = {token.kind for token in (*old, *new)}
    if kinds & {"not", "may", "compare"}:
        return False
    if any(claim.predicate is not None and start < claim.predicate for claim in (left, right)):
        return False
    # "Never", alone, is no subject.
    has_subject = any(token.kind not in ("not", "may") for token in a[:start])
    rivals = _rivals(old, new)
    if kinds == {"number"} and len(old) == len(new) == 1:
        return has_subject or old[0].valued or new[0].valued
    if kinds == {"switch"}:
        return start > 0 or end > 0
    if not (old[0].valued and new[0].valued):
        return _known_value_inside(old, new) if kinds == {"run"} else rivals is True and start + end > 0
    if not has_subject:
        # Value of what? Only known rivals, or spellings of one name, exclude each other then.
        return rivals is True or (rivals is None and _spelled_alike(old, new))
    return rivals is not False


def _spelled_alike(old: Sequence[Token], new: Sequence[Token]) -> bool:
    a, b = sorted((" ".join(t.value for t in old), " ".join(t.value for t in new)), key=len)
    return len(a) >= 3 and a in b


def _known_value_inside(old: Sequence[Token], new: Sequence[Token]) -> bool:
    """登录页主色蓝色 beside 登录页主色绿色: one run each, in which a known value is replaced by its rival."""
    if len(old) != 1 or len(new) != 1:
        return False
    a, b = old[0].value, new[0].value
    for family in _FAMILIES:
        for one in family:
            if one.isascii() or one not in a:
                continue
            if any(not two.isascii() and two != one and a.replace(one, two, 1) == b for two in family):
                return not a.startswith(one)
    return False


def _differ_in_hard_tokens(left: Claim, right: Claim) -> bool:
    a, b = [(t.kind, t.value) for t in left.tokens], [(t.kind, t.value) for t in right.tokens]
    equal = 0
    for operation, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if operation == "equal":
            equal += i2 - i1
            continue
        one, other = a[i1:i2], b[j1:j2]
        # userId beside userid: the same letters, but one of them is an exact name.
        respelled = [value.casefold() for _, value in one] == [value.casefold() for _, value in other]
        if not respelled and any(kind not in HARD for kind, _ in (*one, *other)):
            return False
    return equal > 0


def _same_subject_other_value(left: Claim, right: Claim) -> bool:
    cut = left.predicate
    if not cut or cut != right.predicate:
        return False
    a, b = [(t.kind, t.value) for t in left.tokens], [(t.kind, t.value) for t in right.tokens]
    values_a, values_b = a[cut:], b[cut:]
    if (
        a[:cut] != b[:cut]
        or not values_a
        or not values_b
        or max(len(values_a), len(values_b)) > _LONGEST_PREDICATE
    ):
        return False
    return not set(values_a) <= set(values_b) and not set(values_b) <= set(values_a)


def _aligned(left: Claim, right: Claim) -> tuple[Claim, Claim]:
    """主色蓝色 beside 主色用绿色: the one without a connector is parted after the other's subject."""
    return _parted(left, right), _parted(right, left)


def _parted(claim: Claim, by: Claim) -> Claim:
    if claim.predicate is not None or by.predicate != 1 or not claim.tokens:
        return claim
    head, subject = claim.tokens[0], by.tokens[0]
    if head.kind != "run" or subject.kind != "run" or head.value == subject.value:
        return claim
    if not head.value.startswith(subject.value):
        return claim
    rest = Token("run", head.value[len(subject.value) :], valued=True)
    return Claim.of((subject, rest, *claim.tokens[1:]), predicate=1)
