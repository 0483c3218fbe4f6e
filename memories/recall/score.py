"""What speaks for each memory: weighted parts, each reported, that sum to the score."""

import heapq
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property

from memories.recall.index import Entry, Index
from memories.recall.parameters import DEFAULT, PARTS, Parameters
from memories.text import fold, terms

__all__ = ["DEFAULT", "PARTS", "Parameters", "Query", "Ranking", "Scored", "rank"]

# A term that `terms` also gives in parts: "ecommerce-api", "user_name", "src/login.vue".
_COMPOUND = re.compile(r"[^\W\d][^\w+#%]|[^\w+#%][^\W\d]|_")
_PATH = re.compile(r"(?<![\w@./-])(?:[\w@.-]+/)+[\w@.-]+|(?<![\w@./-])[\w-]+(?:\.[\w-]+)*\.[a-zA-Z]{1,5}\b")
_MAX_PATHS = 20


@dataclass(frozen=True, slots=True)
class Query:
    """What a turn asks of memory. `terms` are weighted; `area` is casefolded."""

    terms: Mapping[str, float]
    files: tuple[str, ...]
    area: str
    now: datetime

    @classmethod
    def read(
        cls,
        text: str,
        *,
        now: datetime,
        files: Sequence[str] = (),
        instructions: Iterable[str] = (),
        area: str = "",
        parameters: Parameters = DEFAULT,
    ) -> "Query":
        """Paths that the text names count as files, too."""
        if len(text) > parameters.max_query_characters:
            half = parameters.max_query_characters // 2
            text = f"{text[:half]}\n{text[-half:]}"
        weights: dict[str, float] = {}
        for term, count in Counter(terms(text)).items():
            whole = parameters.compound_weight if _COMPOUND.search(term) else 1.0
            weights[term] = whole * (1 + 0.5 * min(count - 1, 5))
        for instruction in instructions:
            for term in terms(instruction):
                weights.setdefault(term, parameters.instruction_weight)
        named = _PATH.findall(text)[:_MAX_PATHS]
        return cls(weights, tuple(dict.fromkeys((*files, *named))), fold(area).casefold().strip(), now)


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory with what speaks for it. `is_evident`: something in the turn asks for it."""

    position: int
    score: float
    parts: Mapping[str, float]
    is_evident: bool


class Ranking:
    """The memories of an index in the light of one query."""

    def __init__(self, index: Index, query: Query, parameters: Parameters = DEFAULT) -> None:
        self.index, self.query, self.parameters = index, query, parameters
        self._bm25 = index.bm25(_rarest(index, query.terms, parameters.max_query_terms))
        self._scale = max(self._bm25, default=0.0) + parameters.saturation
        self._files = index.by_files(query.files)

    def of(self, position: int) -> Scored:
        """One memory, whether anything asks for it or not."""
        entry, weight = self.index.entries[position], self.parameters
        lexical = self._bm25[position] / self._scale
        files = self._files.get(position, 0.0)
        parts = {
            "lexical": weight.lexical * lexical,
            "files": weight.files * files,
            "area": weight.area * _area(entry, self.query.area),
            "importance": weight.importance * (entry.importance - 1) / 4,
            "type": weight.type * weight.types.get(entry.type, 0.0),
            "authority": weight.authority * (entry.authority == "person"),
            "recency": weight.recency * _recency(entry, self.query.now, weight),
        }
        return Scored(position, sum(parts.values()), parts, self._is_evident(position))

    @cached_property
    def always(self) -> list[Scored]:
        """The always tier, best first, by what neither the query nor the clock changes: its text is cached."""

        def standing(scored: Scored) -> float:
            return sum(scored.parts[part] for part in ("importance", "type", "authority"))

        return sorted(map(self.of, self.index.always), key=lambda one: (-standing(one), one.position))

    @cached_property
    def evident(self) -> list[Scored]:
        """What the turn asks for, best first; equal scores by newer id."""
        floor = self.parameters.lexical_floor * self._scale
        found = {position for position, value in enumerate(self._bm25) if value >= floor}
        found.update(p for p, value in self._files.items() if value >= self.parameters.files_floor)
        return self._sorted(found)

    @cached_property
    def below(self) -> list[int]:
        """Positions of what shares something with the query, but too little."""
        # Of ten thousand memories half may be here: a call for each would cost more than all the rest.
        floor, files_floor = self.parameters.lexical_floor * self._scale, self.parameters.files_floor
        by_files = {p for p, value in self._files.items() if value >= files_floor}
        found = [p for p, value in enumerate(self._bm25) if 0 < value < floor and p not in by_files]
        files_alone = [p for p in self._files if self._bm25[p] <= 0 and p not in by_files]
        return sorted((*found, *files_alone)) if files_alone else found

    def runners_up(self, count: int) -> list[Scored]:
        """The best `count` below the floor."""

        def nearness(position: int) -> tuple[float, int]:
            return self._bm25[position], self.index.entries[position].id

        near = self.below
        if len(near) > count:
            least = heapq.nlargest(count, map(self._bm25.__getitem__, near))[-1]
            near = [position for position in near if self._bm25[position] >= least]
        return self._sorted(heapq.nlargest(count, near, key=nearness))

    def keeping(self, positions: Iterable[int]) -> list[Scored]:
        """`evident`, with these memories counted as evident whatever the query says."""
        kept = {p: replace(self.of(p), is_evident=True) for p in positions}
        rest = [scored for scored in self.evident if scored.position not in kept]
        return sorted((*rest, *kept.values()), key=self._order)

    def _is_evident(self, position: int) -> bool:
        return (
            self._bm25[position] >= self.parameters.lexical_floor * self._scale
            or self._files.get(position, 0.0) >= self.parameters.files_floor
        )

    def _sorted(self, positions: Iterable[int]) -> list[Scored]:
        return sorted(map(self.of, positions), key=self._order)

    def _order(self, scored: Scored) -> tuple[float, int]:
        return -scored.score, -self.index.entries[scored.position].id


def rank(index: Index, query: Query, parameters: Parameters = DEFAULT) -> list[Scored]:
    """Every memory that shares anything with the query, best first: the full ranking, for measuring."""
    ranking = Ranking(index, query, parameters)
    return sorted([*ranking.evident, *map(ranking.of, ranking.below)], key=ranking._order)


def _rarest(index: Index, asked: Mapping[str, float], most: int) -> Mapping[str, float]:
    if len(asked) <= most:
        return asked
    known = sorted((frequency, term) for term in asked if (frequency := index.frequency(term)))
    return {term: asked[term] for _, term in known[:most]}


def _area(entry: Entry, area: str) -> float:
    """1 in the query's own area, a little for what belongs to the whole project, 0 elsewhere."""
    if not area:
        return 0.0
    own = fold(entry.area).casefold().strip()
    return 1.0 if own == area else 0.4 if not own else 0.0


def _recency(entry: Entry, now: datetime, parameters: Parameters) -> float:
    """Of what was said or confirmed, never of use: what is shown often must not be shown for that."""
    latest = max(entry.said_at, entry.confirmed_at) if entry.confirmed_at else entry.said_at
    days = max((now - latest).total_seconds(), 0.0) / 86400
    return parameters.half_fresh_days / (parameters.half_fresh_days + days)
