"""Whether two contents say the same, contradict each other, or have nothing to do with each other.

Contents are compared as claims (see claims.py). Only equal tokens in equal order make near-duplicates; where
a number, a unit, an identifier, a comparator, a direction or the polarity differs, they contradict.
Everything here is symmetric.
"""

import hashlib
import re
from collections import defaultdict
from collections.abc import Callable, Sequence
from enum import StrEnum
from functools import lru_cache
from typing import Final

from memories.claims import HARD, Claim, Token, reworded
from memories.families import exchanged, families
from memories.text import fold
from memories.vocabulary import HOLDERS, LABELS, REMARKS

# Tokens of what still counts as one value: "Ant Design Vue".
_LONGEST_VALUE: Final = 3
# Characters of a Chinese run that still counts as one.
_LONGEST_RUN: Final = 8
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
    left, right = _aligned(reworded(one), reworded(other))
    if not left.tokens or not right.tokens:
        return Relation.DIFFERENT
    if left.key == right.key:
        return Relation.NEAR
    if max(len(left.tokens), len(right.tokens)) > _LONGEST_VALUE and set(left.key).isdisjoint(right.key):
        return Relation.DIFFERENT
    # The same words in another order turn a claim round: "pnpm, not npm".
    if sorted(left.key) == sorted(right.key) or _changed(left, right):
        return Relation.CONFLICT
    if (
        _differ_in_hard_tokens(left, right)
        or _same_subject_other_value(left, right)
        or _on_another_side(left, right)
        or _are_opposites(left, right)
    ):
        return Relation.CONFLICT
    return Relation.DIFFERENT


def resembling(content: str) -> Callable[[str], bool]:
    """A quick test before `compare`: what it refuses is DIFFERENT from `content`. One that passes may be, too.

    A project's memories are compared with each new one while it is locked, and nearly all are different.
    Whatever `compare` finds related shares all words but those of one value; that much is seen without reading.
    """
    tokens = [token for token in reworded(content).tokens if token.kind not in HARD]
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
    return reworded(text).key or content_hash(text)


def one_value_changed(a: str, b: str) -> bool:
    """Same subject, and exactly one value differs (用 A → 用 B, 5432 → 5433), or the polarity is flipped."""
    one, other = sorted((a, b))
    left, right = _aligned(reworded(one), reworded(other))
    return bool(left.tokens and right.tokens) and left.key != right.key and _changed(left, right)


# --- What changed -------------------------------------------------------------------------------------------


def _changed(left: Claim, right: Claim) -> bool:
    # The same words in another order exchange two values.
    return sorted(left.key) != sorted(right.key) and (
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


def _common(left: Claim, right: Claim) -> tuple[int, int]:
    """How many tokens are equal at the start, and then at the end."""
    a, b = [(t.kind, t.value) for t in left.tokens], [(t.kind, t.value) for t in right.tokens]
    shortest = min(len(a), len(b))
    start = 0
    while start < shortest and a[start] == b[start]:
        start += 1
    end = 0
    while end < shortest - start and a[-1 - end] == b[-1 - end]:
        end += 1
    return start, end


def _one_value_replaced(left: Claim, right: Claim) -> bool:
    a, b = left.tokens, right.tokens
    start, end = _common(left, right)
    old, new = a[start : len(a) - end], b[start : len(b) - end]
    if not (1 <= len(old) <= _LONGEST_VALUE and 1 <= len(new) <= _LONGEST_VALUE):
        return False
    kinds = {token.kind for token in (*old, *new)}
    if kinds & {"not", "may", "compare"}:
        return False
    # "grouped by age" beside "named by initials": two things are said.
    if "direction" in kinds and max(len(old), len(new)) > 1:
        return False
    # Words in common beside others are the same in other words.
    if not {(t.kind, t.value) for t in old}.isdisjoint((t.kind, t.value) for t in new):
        return False
    if any(claim.predicate is not None and start < claim.predicate for claim in (left, right)):
        return False
    if kinds == {"number"} and len(old) == len(new) == 1:
        return _has_words(a[:start]) or old[0].valued or new[0].valued
    if _is_phrase(old) or _is_phrase(new):
        return False
    subject = _subject(a[:start], left.predicate)
    rivals = _rivals(old, new)
    if kinds == {"switch"}:
        return old[0].value[1:] == new[0].value[1:] and start + end > 0
    if not (old[0].valued and new[0].valued):
        return _known_value_inside(old, new) if kinds == {"run"} else rivals is True and start > 0
    if not subject:
        # Value of what? Only known rivals, or spellings of one name, exclude each other then.
        return (rivals is True and not _is_part(old, new)) or (rivals is None and _spelled_alike(old, new))
    # 公制, 公制单位: one value in two spellings.
    if len({token.kind for token in (*old, *new)}) < 2 and _is_part(old, new):
        return False
    if rivals is not True and (left.headed or right.headed) and max(len(old), len(new)) > 1:
        return False
    if rivals is None and (_is_holder(subject) or _may_both_hold(subject, old, new, end)):
        return False
    return rivals is not False


def _subject(before: Sequence[Token], predicate: int | None) -> list[Token]:
    """What the claim is about, of the tokens before the value: "never", "good:" or ✅, alone, is no subject."""
    return [
        token
        for token in before[:predicate]
        if token.kind not in ("not", "may", "sign") and token.value not in REMARKS
    ]


def _is_phrase(tokens: Sequence[Token]) -> bool:
    """Chinese of some length says what is done; it is no value."""
    return any(token.kind == "run" and len(token.value) > _LONGEST_RUN for token in tokens)


def _has_words(tokens: Sequence[Token]) -> bool:
    return any(token.kind not in ("not", "may") for token in tokens)


def _rivals(left: Sequence[Token], right: Sequence[Token]) -> bool | None:
    """Whether two values stand for the same thing; None when nothing is known of them."""
    a, b = " ".join(token.value for token in left), " ".join(token.value for token in right)
    known_a, known_b = families(a), families(b)
    if known_a and known_b:
        return bool(known_a & known_b)
    if known_a or known_b:
        # A name may belong to the family, though nobody told; a plain word does not.
        if a.isascii() and b.isascii():
            return None if all(token.is_name for token in (right if known_a else left)) else False
        return None if a[-1] == b[-1] else False
    return None


def _is_holder(subject: Sequence[Token]) -> bool:
    return all(token.value in HOLDERS for token in subject)


def _may_both_hold(subject: Sequence[Token], old: Sequence[Token], new: Sequence[Token], end: int) -> bool:
    """Whether two values that nobody knows may well be true of one subject."""
    if len(old) != 1 or len(new) != 1:
        return False
    if old[0].kind == new[0].kind == "word":
        # Several things are two things at once, and several kinds of thing are used together.
        both_plural = all(value.is_plural and not value.is_name for value in (old[0], new[0]))
        return both_plural or (end == 0 and subject[-1].is_plural and not (old[0].is_name and new[0].is_name))
    return {old[0].kind, new[0].kind} == {"run", "word"}


def _spelled_alike(old: Sequence[Token], new: Sequence[Token]) -> bool:
    a, b = sorted((" ".join(t.value for t in old), " ".join(t.value for t in new)), key=len)
    return len(a) >= 3 and a in b


def _is_part(old: Sequence[Token], new: Sequence[Token]) -> bool:
    a, b = sorted(("".join(t.value for t in old), "".join(t.value for t in new)), key=len)
    return not a.isascii() and (b.startswith(a) or b.endswith(a))


def _known_value_inside(old: Sequence[Token], new: Sequence[Token]) -> bool:
    """登录页主色蓝色 beside 登录页主色绿色: one run each, in which a known value is replaced by its rival."""
    return len(old) == len(new) == 1 and exchanged(old[0].value, new[0].value)


# --- Contradictions -----------------------------------------------------------------------------------------

# Two sides of one thing: 发布前冻结, 发布后冻结.
_SIDES: Final = frozenset(
    map(
        frozenset,
        re.findall(r"\S+", "前后 内外 升降 增减 高低 早晚 左右 有无 进出 正反 上下 多少 大小 快慢 加减 和或"),
    )
)
_Slots = dict[int, list[tuple[str, str]]]


def _on_another_side(left: Claim, right: Claim) -> bool:
    """发布前冻结代码 beside 发布后冻结代码: one letter of one run is the other of a pair, and not the first."""
    start, end = _common(left, right)
    old, new = left.tokens[start : len(left.tokens) - end], right.tokens[start : len(right.tokens) - end]
    if len(old) != 1 or len(new) != 1 or not old[0].kind == new[0].kind == "run":
        return False
    a, b = old[0].value, new[0].value
    if len(a) != len(b):
        return False
    apart = [place for place, pair in enumerate(zip(a, b, strict=True)) if pair[0] != pair[1]]
    return len(apart) == 1 and start + apart[0] > 0 and frozenset((a[apart[0]], b[apart[0]])) in _SIDES


def _are_opposites(left: Claim, right: Claim) -> bool:
    """ "The door is locked" beside "the door is unlocked": one word denies the other. So do "and" and "or"."""
    start, end = _common(left, right)
    old, new = left.tokens[start : len(left.tokens) - end], right.tokens[start : len(right.tokens) - end]
    if len(old) != 1 or len(new) != 1 or start + end == 0:
        return False
    a, b = sorted((old[0].value, new[0].value), key=len)
    if {a, b} == {"and", "or"}:
        return True
    return len(a) > 3 and b.removesuffix(a) in ("un", "dis", "in", "im", "ir", "non-", "non", "de")


def _differ_in_hard_tokens(left: Claim, right: Claim) -> bool:
    """Whether all other words are equal in order; another number of the subject, though, is another subject."""
    names = {token.value for claim in (left, right) for token in claim.tokens if token.kind == "word"}
    soft_left, hard_left = _parts(left, names)
    soft_right, hard_right = _parts(right, names)
    if soft_left != soft_right:
        return False
    if not soft_left and set(left.key).isdisjoint(right.key):
        return False
    slots = [place for place in hard_left | hard_right if hard_left.get(place) != hard_right.get(place)]
    named = [place for place in slots if place == 0 or soft_left[place - 1] in LABELS]
    if not any(_names_another(hard_left.get(place, []), hard_right.get(place, [])) for place in named):
        return True
    return len(slots) < 2 and all(hard_left[place][1:] == hard_right[place][1:] for place in slots)


def _parts(claim: Claim, names: set[str]) -> tuple[list[str], _Slots]:
    """The words in order, and what stands before, between and after them, place by place.

    An exact name that the other claim spells as a plain word (userId, userid) is a word here.
    """
    soft: list[str] = []
    hard: _Slots = defaultdict(list)
    for token in claim.tokens:
        folded = token.value.casefold()
        if token.kind not in HARD or (token.kind == "identifier" and folded in names):
            soft.append(folded)
        else:
            hard[len(soft)].append((token.kind, token.value))
    return soft, hard


def _names_another(left: list[tuple[str, str]], right: list[tuple[str, str]]) -> bool:
    """Level 1, level 2: what comes first is the number or the name of another thing."""
    first = [slot[0] if slot else ("", "") for slot in (left, right)]
    return first[0] != first[1] and all(kind in ("number", "identifier") for kind, _ in first)


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
    subject = _subject(left.tokens, cut)
    if not subject or _is_holder(subject):
        return False
    if _is_phrase(left.tokens[cut:]) or _is_phrase(right.tokens[cut:]):
        return False
    # Under one heading many things are said; one word after it is its value.
    if (left.headed or right.headed) and max(len(values_a), len(values_b)) > 2:
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
