"""Which concepts a text speaks of, and where: dictionaries of two languages read in one pass.

Each concept is a bit. The longest entry at a place wins; a phrase also carries the concepts of the words it is
made of, but not their negation: "stop following" drops something, it does not forbid it.
"""

import re
from typing import Final, NamedTuple

from memories.guard.chinese import CHINESE
from memories.guard.english import ENGLISH
from memories.guard.foreign import FOREIGN
from memories.guard.signs import DOMAIN

BITS: Final[dict[str, int]] = {
    name: 1 << at for at, name in enumerate(sorted({*ENGLISH, *CHINESE, "shady", "denial", "digits"}))
}
_OUTLET: Final = BITS["outlet"]
_SHADY: Final = BITS["outlet"] | BITS["shady"]
_INTERNAL: Final = re.compile(r"localhost|127\.0\.0\.1|\.(?:internal|local|lan|corp|intranet|svc|test)\b")
_FREE_DOMAINS: Final = "tk|ml|ga|cf|gq|top|xyz|ru|cc|pw|click|zip|mov|onion|icu|buzz|rest"
# Plain http to a public name, free top-level domains, an address by number.
_DOUBTFUL: Final = re.compile(
    r"^http://(?!localhost|127\.|10\.|192\.168\.|\[::1)[^/]*\.[a-z]|\.(?:"
    + _FREE_DOMAINS
    + r")\b|evil|attacker|malicious|exfil|badhost|hacker"
)
_NEUTRAL: Final = BITS["neutral"]
_SILENT: Final = BITS["neutral"] | BITS["negation"] | BITS["report"]
_ARTICLES: Final = frozenset(
    ("the", "a", "an", "please", "just", "very", "also", "ever", "own", "really", "simply", "kindly")
)
_DENIALS: Final = frozenset(("not", "never", "no", "without", "nobody"))
_DENIAL_HAN: Final = re.compile(
    "不(?:要|得|许|能|必|用|再|会|让|需)|别(?![的人家处])|勿|无需|切勿|绝不|从不|永不"
)
_IRREGULAR: Final = {
    "forget": "forgot forgotten", "tell": "told", "send": "sent", "hide": "hid hidden", "give": "gave given",
    "write": "wrote written", "throw": "threw thrown", "leave": "left", "say": "said", "get": "got", "run": "ran",
    "break": "broke broken", "withhold": "withheld", "make": "made", "keep": "kept", "show": "shown",
    "overwrite": "overwritten", "forbid": "forbade", "take": "took taken", "steal": "stole stolen", "lead": "led",
    "mislead": "misled", "spit": "spat",
}  # fmt: skip
_DOUBLED: Final = frozenset(
    ("get", "put", "set", "run", "drop", "skip", "plug", "slip", "ship", "let", "cut", "spit", "quit", "stop",
     "forget", "plan", "scrap", "grab", "permit", "forbid", "swap", "tap")
)  # fmt: skip


class Mention(NamedTuple):
    start: int
    end: int
    clause: int
    concepts: int


def _forms(verb: str) -> list[str]:
    """Its forms by the common rules of spelling."""
    forms = [verb, *_IRREGULAR.get(verb, "").split()]
    if verb.endswith(("s", "x", "z", "ch", "sh")):
        forms += [verb + "es", verb + "ed", verb + "ing"]
    elif verb.endswith("e"):
        forms += [verb + "s", verb + "d", verb[:-1] + "ing"]
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        forms += [verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing"]
    elif verb in _DOUBLED:
        forms += [verb + "s", verb + verb[-1] + "ed", verb + verb[-1] + "ing"]
    else:
        forms += [verb + "s", verb + "ed", verb + "ing"]
    return forms


def _entries(text: str) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    for entry in text.replace("\n", " ").split(","):
        spelled: list[list[str]] = []
        for word in entry.split():
            if "|" in word:
                spelled.append(word.split("|"))
            elif word.endswith("~"):
                spelled.append(_forms(word[:-1]))
            elif word.endswith("+"):
                stem = word[:-1]
                spelled.append(
                    [
                        stem,
                        stem[:-1] + "ies"
                        if stem.endswith("y") and stem[-2:-1] not in "aeiou"
                        else stem + "s",
                    ]
                )
            else:
                spelled.append([word])
        variants: list[tuple[str, ...]] = [()]
        for forms in spelled:
            if forms[0] in _ARTICLES and len(spelled) > 1:
                continue
            variants = [(*variant, form) for variant in variants for form in forms]
        # "a joke" must not become "joke".
        found += [variant for variant in variants if len(variant) > 1 or len(spelled) == 1]
    return found


def _english() -> tuple[dict[str, int], dict[str, list[tuple[tuple[str, ...], int]]]]:
    masks: dict[tuple[str, ...], int] = {}
    for dictionary in (ENGLISH, FOREIGN):
        for name, text in dictionary.items():
            for entry in _entries(text):
                masks[entry] = masks.get(entry, 0) | BITS[name]
    whole: dict[tuple[str, ...], int] = {}
    for entry, own in masks.items():
        mask = own
        if not mask & BITS["neutral"] and entry[0] not in _DENIALS:
            for size in range(1, len(entry)):
                for at in range(len(entry) - size + 1):
                    mask |= masks.get(entry[at : at + size], 0) & ~_SILENT
        if len(entry) > 1 and entry[0] in _DENIALS and not mask & _SILENT:
            mask |= BITS["denial"]
        whole[entry] = mask
    phrases: dict[str, list[tuple[tuple[str, ...], int]]] = {}
    for entry, mask in sorted(whole.items(), key=lambda item: -len(item[0])):
        if len(entry) > 1:
            phrases.setdefault(entry[0], []).append((entry, mask))
    return {entry[0]: mask for entry, mask in whole.items() if len(entry) == 1}, phrases


def _chinese() -> tuple[dict[str, int], dict[str, tuple[int, ...]]]:
    masks: dict[str, int] = {}
    for name, text in CHINESE.items():
        for entry in text.split():
            if all("\u4e00" <= char <= "\u9fff" for char in entry):
                masks[entry] = masks.get(entry, 0) | BITS[name]
    whole: dict[str, int] = {}
    for entry, own in masks.items():
        mask = own
        if not mask & BITS["neutral"] and not _DENIAL_HAN.match(entry):
            for size in range(2, len(entry)):
                for at in range(len(entry) - size + 1):
                    mask |= masks.get(entry[at : at + size], 0) & ~_SILENT
        if len(entry) > 1 and _DENIAL_HAN.match(entry) and not mask & _SILENT:
            mask |= BITS["denial"]
        whole[entry] = mask
    sizes: dict[str, set[int]] = {}
    for entry in whole:
        sizes.setdefault(entry[0], set()).add(len(entry))
    return whole, {first: tuple(sorted(some, reverse=True)) for first, some in sizes.items()}


class _Branch:
    """Phrases by their words; `mask` is what the phrase that ends here says."""

    __slots__ = ("mask", "next")

    def __init__(self) -> None:
        self.mask = 0
        self.next: dict[str, _Branch] = {}


def _tree(phrases: dict[str, list[tuple[tuple[str, ...], int]]]) -> dict[str, _Branch]:
    root = _Branch()
    for entries in phrases.values():
        for entry, mask in entries:
            branch = root
            for word in entry:
                branch = branch.next.setdefault(word, _Branch())
            branch.mask |= mask
    return root.next


_WORDS, _PHRASES = _english()
_TREE: Final = _tree(_PHRASES)
_HAN, _SIZES = _chinese()


def _reach() -> tuple[dict[str, dict[str, int]], dict[str, int]]:
    """What two words, or two Chinese characters, may at most contribute: each phrase that begins with them."""
    words: dict[str, dict[str, int]] = {}
    for first, phrases in _PHRASES.items():
        seconds = words.setdefault(first, {})
        for entry, mask in phrases:
            seconds[entry[1]] = seconds.get(entry[1], 0) | mask
    pairs: dict[str, int] = {}
    for run, mask in _HAN.items():
        pairs[run[:2]] = pairs.get(run[:2], 0) | mask
    return words, pairs


_REACH, _HAN_REACH = _reach()
_BARE: Final = re.compile(r"[a-z0-9\u0430-\u044f\u0621-\u064a']+")


def reach(plain: str) -> int:
    """An upper bound of the concepts in a text, for a fraction of the cost of reading it."""
    mask = BITS["outlet"] | BITS["shady"] if "." in plain or "@" in plain else 0
    words = set(_BARE.findall(plain))
    if "'" in plain:
        words |= {"not" if word.endswith("n't") else word.removesuffix("'s") for word in words}
    single, phrases = _WORDS.get, _REACH.get
    for word in words:
        found = single(word)
        if found:
            mask |= found
        seconds = phrases(word)
        if seconds:
            for second in seconds.keys() & words:
                mask |= seconds[second]
        elif word.isdigit() or word[2:].isdigit():
            mask |= BITS["digits"]
    if not plain.isascii():
        pair = _HAN_REACH.get
        for at in range(len(plain)):
            mask |= pair(plain[at : at + 2], 0) | pair(plain[at], 0)
    return mask


_LETTER: Final = r"a-z0-9\u0430-\u044f\u0621-\u064a"
_RUN: Final = 60  # words without a mark
_SENTENCE: Final = 300  # characters; what has no full stop is read in pieces
_TOKEN: Final = re.compile(
    rf"(?P<address>https?://[^\s\u4e00-\u9fff]+|[\w.+]{{1,40}}@\w[\w.]*|{DOMAIN}|[a-z0-9][a-z0-9.]{{1,60}}\.(?:{_FREE_DOMAINS})\b)"
    r"|(?P<digits>\b(?:[a-z]{2}\d{2}(?: ?\d{4}){3,7}|\d{4}(?: \d{3,4}){2,5})\b)"
    rf"|(?P<word>[{_LETTER}][{_LETTER}']*)|(?P<han>[\u4e00-\u9fff]+)"
    r"|(?P<clause>[,，:：()（）])|(?P<stop>[。！？；;!?\n]|\.(?=\s|$))"
)


def sentences(plain: str) -> list[list[Mention]]:
    """The mentions of each sentence of a lower-case text; sentences without one are left out."""
    found: list[list[Mention]] = []
    here: list[Mention] = []
    words: list[tuple[str, int, int]] = []
    clause = 0
    for match in _TOKEN.finditer(plain):
        kind = match.lastgroup
        if kind == "word":
            word = match[0]
            start, end = match.span()
            if word in _ARTICLES:
                continue
            if len(word) > 7 and word.isdigit():
                here.append(Mention(start, end, clause, BITS["digits"]))
            if "'" in word:
                if word.endswith("n't") and len(word) > 3:
                    word = "not"
                elif word.endswith("'s") and word not in _WORDS and word not in _TREE:
                    word = word[:-2]
            if word == "not" and words and words[-1][0] in ("do", "does", "did"):
                words.pop()
            words.append((word, start, end))
            if len(words) < _RUN:
                continue
        if words:
            _read_words(words, clause, here)
            words = []
        if kind == "address":
            if not _INTERNAL.search(match[0]):
                here.append(Mention(*match.span(), clause, _SHADY if _DOUBTFUL.search(match[0]) else _OUTLET))
        elif kind == "digits":
            here.append(Mention(*match.span(), clause, BITS["digits"]))
        elif kind == "han":
            _read_han(match[0], match.start(), clause, here)
        else:
            clause += 1
        if here and (kind == "stop" or match.end() - here[0].start > _SENTENCE):
            found.append(here)
            here = []
    if words:
        _read_words(words, clause, here)
    if here:
        found.append(here)
    return found


def _read_words(words: list[tuple[str, int, int]], clause: int, here: list[Mention]) -> None:
    size = len(words)
    covered = silent = 0
    for at, (word, start, end) in enumerate(words):
        if at < silent:
            continue
        mask = _WORDS.get(word, 0) or _WORDS.get(word.removesuffix("'s"), 0)
        if at < covered:
            mask &= ~_SILENT
        branch = _TREE.get(word)
        if branch:
            reached = at
            longest: tuple[int, int] | None = None
            while branch is not None:
                if branch.mask:
                    longest = reached, branch.mask
                reached += 1
                branch = branch.next.get(words[reached][0]) if reached < size else None
            if longest:
                last, mask = longest
                end = words[last][2]
                covered = max(covered, last + 1)
                if mask & _NEUTRAL:
                    silent, mask = last + 1, 0
        if mask:
            here.append(Mention(start, end, clause, mask))


def _read_han(run: str, offset: int, clause: int, here: list[Mention]) -> None:
    at, size = 0, len(run)
    while at < size:
        taken = 1
        for length in _SIZES.get(run[at], ()):
            mask = _HAN.get(run[at : at + length]) if at + length <= size else None
            if mask is not None:
                here.append(Mention(offset + at, offset + at + length, clause, mask))
                taken = length
                break
        at += taken
