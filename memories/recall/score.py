"""What speaks for each memory: weighted parts, each reported, that sum to the score."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from memories.recall.index import Entry, Index
from memories.recall.parameters import DEFAULT, PARTS, Parameters
from memories.text import fold, terms

__all__ = ["DEFAULT", "PARTS", "Parameters", "Query", "Scored", "rank", "score"]


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
        weights: dict[str, float] = {}
        for term, count in Counter(terms(text)).items():
            weights[term] = 1 + 0.5 * min(count - 1, 5)
        for instruction in instructions:
            for term in terms(instruction):
                weights.setdefault(term, parameters.instruction_weight)
        return cls(weights, tuple(files), fold(area).casefold().strip(), now)


@dataclass(frozen=True, slots=True)
class Scored:
    """A memory with what speaks for it. `is_evident`: something in the turn asks for it."""

    position: int
    score: float
    parts: Mapping[str, float]
    is_evident: bool


def rank(index: Index, query: Query, parameters: Parameters = DEFAULT) -> list[Scored]:
    """Every memory that shares a term or a file with the query, best first; equal scores by newer, then by id."""
    lexical, by_files = _evidence(index, query, parameters)
    found = [
        score(index, position, query, lexical.get(position, 0.0), by_files.get(position, 0.0), parameters)
        for position in lexical.keys() | by_files.keys()
    ]
    found.sort(key=lambda one: (-one.score, -index.entries[one.position].id))
    return found


def _evidence(
    index: Index, query: Query, parameters: Parameters
) -> tuple[dict[int, float], dict[int, float]]:
    asked = query.terms
    if len(asked) > parameters.max_query_terms:
        known = [(index.frequency(term), term) for term in asked]
        rarest = sorted((frequency, term) for frequency, term in known if frequency)[
            : parameters.max_query_terms
        ]
        asked = {term: asked[term] for _, term in rarest}
    raw = index.bm25(asked)
    scale = max(raw.values(), default=0.0) + parameters.saturation
    return {position: value / scale for position, value in raw.items()}, index.by_files(query.files)


def score(
    index: Index, position: int, query: Query, lexical: float, files: float, parameters: Parameters = DEFAULT
) -> Scored:
    """The parts of one memory, given its lexical and files values (0 to 1)."""
    entry = index.entries[position]
    parts = {
        "lexical": parameters.lexical * lexical,
        "files": parameters.files * files,
        "area": parameters.area * _area(entry, query.area),
        "importance": parameters.importance * (entry.importance - 1) / 4,
        "type": parameters.type * parameters.types.get(entry.type, 0.0),
        "authority": parameters.authority * (entry.authority == "person"),
        "recency": parameters.recency * _recency(entry, query.now, parameters),
    }
    evident = lexical >= parameters.lexical_floor or files >= parameters.files_floor
    return Scored(position, sum(parts.values()), parts, evident)


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
