"""A project's memories laid out for recall: postings with their BM25 weight, globs, the always tier.

Built once per state of the project and read by many threads; plain arrays, about a kilobyte a memory.
"""

import re
from array import array
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from math import log

from memories.dedupe import near_key
from memories.recall.parameters import DEFAULT, Parameters
from memories.text import terms


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What recall needs to know of an active memory. `tokens` are those of its line in the block."""

    id: int
    version: int
    type: str
    key: str
    content: str
    said_at: datetime
    tokens: int
    importance: int = 3
    authority: str = "automatic"
    always: bool = False
    keywords: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    area: str = ""
    confirmed_at: datetime | None = None
    expires_at: datetime | None = None
    withheld: bool = False


class Index:
    """Memories by position; positions are what postings speak of. Make one with `build`."""

    __slots__ = (
        "_docs",
        "_globs",
        "_impacts",
        "_near",
        "_starts",
        "_terms",
        "always",
        "entries",
        "positions",
    )

    def __init__(
        self,
        entries: tuple[Entry, ...],
        terms_to_number: dict[str, int],
        starts: "array[int]",
        docs: "array[int]",
        impacts: "array[float]",
    ) -> None:
        self.entries = entries
        self.positions = {entry.id: position for position, entry in enumerate(entries)}
        self.always = tuple(position for position, entry in enumerate(entries) if entry.always)
        self._terms = terms_to_number
        self._starts, self._docs, self._impacts = starts, docs, impacts
        self._globs: dict[str, dict[str, array[int]]] = {}
        for position, entry in enumerate(entries):
            for glob in entry.files:
                self._globs.setdefault(_anchor(glob), {}).setdefault(glob, array("I")).append(position)
        # Read on demand, for the few that are about to be shown; written twice at worst, with equal values.
        self._near: dict[int, object] = {}

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def build(cls, entries: Iterable[Entry], parameters: Parameters = DEFAULT) -> "Index":
        kept = tuple(entries)
        numbers: dict[str, int] = {}
        postings: list[tuple[array[int], array[float]]] = []
        lengths = array("f")
        for position, entry in enumerate(kept):
            weights = _weighted_terms(entry, parameters)
            lengths.append(sum(weights.values()))
            for term, weight in weights.items():
                number = numbers.setdefault(term, len(numbers))
                if number == len(postings):
                    postings.append((array("I"), array("f")))
                postings[number][0].append(position)
                postings[number][1].append(weight)
        average = sum(lengths) / len(kept) if any(lengths) else 1.0
        norms = [parameters.k1 * (1 - parameters.b + parameters.b * length / average) for length in lengths]
        # Among three memories every word is in a third of them: rarity is judged as in a project of some size.
        crowd = max(len(kept), parameters.least_crowd)
        starts, docs, impacts = array("I", [0]), array("I"), array("f")
        for term_docs, frequencies in postings:
            rarity = log(1 + (crowd - len(term_docs) + 0.5) / (len(term_docs) + 0.5)) * (parameters.k1 + 1)
            docs.extend(term_docs)
            impacts.extend(rarity * f / (f + norms[d]) for d, f in zip(term_docs, frequencies, strict=True))
            starts.append(len(docs))
        return cls(kept, numbers, starts, docs, impacts)

    def frequency(self, term: str) -> int:
        """In how many memories the term occurs."""
        number = self._terms.get(term)
        return 0 if number is None else self._starts[number + 1] - self._starts[number]

    def bm25(self, query: Mapping[str, float]) -> list[float]:
        """BM25 of every memory, by position; 0 where no term of the query occurs."""
        found = [0.0] * len(self.entries)
        for term, weight in query.items():
            number = self._terms.get(term)
            if number is None:
                continue
            start, end = self._starts[number], self._starts[number + 1]
            for position, impact in zip(self._docs[start:end], self._impacts[start:end], strict=True):
                found[position] += weight * impact
        return found

    def matched(self, position: int, query: Iterable[str]) -> tuple[str, ...]:
        """Which terms of the query the memory has."""
        return tuple(term for term in query if self._has(position, term))

    def _has(self, position: int, term: str) -> bool:
        number = self._terms.get(term)
        if number is None:
            return False
        end = self._starts[number + 1]
        place = bisect_left(self._docs, position, self._starts[number], end)
        return place < end and self._docs[place] == position

    def by_files(self, files: Sequence[str]) -> dict[int, float]:
        """How well the globs of each memory fit the files, 0 to 1; only memories that fit at all."""
        found: dict[int, float] = {}
        for path in filter(None, map(_path, files)):
            for anchor in {"", *path.split("/")}:
                for glob, positions in self._globs.get(anchor, {}).items():
                    if (value := _fit(glob, path)) > 0:
                        for position in positions:
                            found[position] = max(value, found.get(position, 0.0))
        return found

    def near(self, position: int) -> object:
        """Equal for memories that are near-duplicates of each other."""
        if position not in self._near:
            self._near[position] = near_key(self.entries[position].content)
        return self._near[position]


def _weighted_terms(entry: Entry, parameters: Parameters) -> dict[str, float]:
    found: dict[str, float] = {}
    fields = (
        (terms(entry.content), 1.0),
        (terms(entry.key), parameters.key_weight),
        (terms(" ".join(entry.keywords)), parameters.keyword_weight),
    )
    for words, weight in fields:
        for word in words:
            found[word] = found.get(word, 0.0) + weight
    return found


def glob_fit(glob: str, file: str) -> float:
    """1 for the file itself, .9 for its name or folder, .6 for its kind, 0 where the glob does not fit."""
    path = _path(file)
    return _fit(glob, path) if path else 0.0


def _path(text: str) -> str:
    return text.strip().replace("\\", "/").removeprefix("./").strip("/")


def _anchor(glob: str) -> str:
    """The last part of the glob that is a plain name: a file that fits has a part of that name. "" if none is."""
    parts = _CHOICE.sub("*", _path(glob)).split("/")
    return next((part for part in reversed(parts) if not _WILD.search(part)), "")


def _fit(glob: str, path: str) -> float:
    pattern, value = _compiled(glob)
    return value if pattern.search(path) else 0.0


_WILD = re.compile(r"[*?{}]")
_CHOICE = re.compile(r"\{[^{}]*\}")
_PIECE = re.compile(r"\*\*/?|\*|\?|\{[^{}]*\}|[^*?{}]+|[{}]")


@lru_cache(maxsize=8192)
def _compiled(glob: str) -> tuple[re.Pattern[str], float]:
    text, is_folder = _path(glob), glob.rstrip().endswith(("/", "\\"))
    pieces = []
    for piece in _PIECE.findall(text):
        if piece.startswith("**"):
            pieces.append("(?:.*/)?" if piece.endswith("/") else ".*")
        elif piece == "*":
            pieces.append("[^/]*")
        elif piece == "?":
            pieces.append("[^/]")
        elif piece.startswith("{") and len(piece) > 2:
            pieces.append("(?:" + "|".join(re.escape(choice) for choice in piece[1:-1].split(",")) + ")")
        else:
            pieces.append(re.escape(piece))
    # A glob without a folder may name a file or a folder at any depth.
    start = r"\A" if "/" in text else r"(?:\A|/)"
    end = "/" if is_folder else r"(?:\Z|/)"
    return re.compile(start + "".join(pieces) + end), _specificity(text)


def _specificity(glob: str) -> float:
    if not _WILD.search(glob):
        return 1.0 if "/" in glob or "." in glob else 0.9
    folders, _, name = glob.rpartition("/")
    if any(not _WILD.search(part) for part in folders.split("/") if part):
        return 0.9
    plain = _WILD.sub("", name)
    # "*.vue" names a kind of file, "**" everything, "login.*" one name.
    return 0.6 if plain.startswith(".") else 0.9 if plain else 0.1
