"""Recall for one turn: the project's index, warm where possible, ranked and packed into a block.

Reads persisted memories only, calls no model, waits for no queue. A warm recall costs one query.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import connection
from django.utils import timezone

from memories.models import Memory, Status
from memories.recall.cache import IndexCache
from memories.recall.index import Entry, Index
from memories.recall.pack import Packing, Reason, pack
from memories.recall.parameters import DEFAULT
from memories.recall.render import Line, block, line, section_of
from memories.recall.score import Query, Ranking, Scored
from projects.models import Project

if TYPE_CHECKING:
    from datetime import datetime

RANKER = "rules"
RECALLED = "recalled"
# How many of those below the floor are named.
RUNNERS_UP = 20
_COLUMNS = (
    "id",
    "version",
    "type",
    "key",
    "content",
    "said_at",
    "tokens",
    "importance",
    "authority",
    "always",
    "keywords",
    "files",
    "area",
    "confirmed_at",
    "expires_at",
    "withheld",
)
_PARAMETERS = {
    item.name: dict(DEFAULT.types) if item.name == "types" else getattr(DEFAULT, item.name)
    for item in fields(DEFAULT)
}

cache = IndexCache(
    max_projects=settings.RECALL_INDEX_MAX_PROJECTS, max_memories=settings.RECALL_INDEX_MAX_MEMORIES
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """A memory that is given. One of the always tier is there whatever it scores: its `score` is None."""

    id: int
    version: int
    tier: str
    rank: int
    score: float | None
    parts: Mapping[str, float]
    tokens: int
    entry: Entry
    matched: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Omitted:
    """A memory that the turn asked for, more or less, and why it is not given."""

    id: int
    version: int
    reason: str
    score: float
    parts: Mapping[str, float]

    def as_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "version": self.version,
            "reason": self.reason,
            "score": round(self.score, 4),
            "parts": _rounded(self.parts),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """`block` is `always` followed by `relevant`; `tokens` are those of the whole block, borders included.

    `items` stand in order of rank, `omitted` best first; of what is below the floor `omitted` names only the best
    few, `omitted_counts` counts all. `ms` is what it took, the index included. `memory_version` names the state of the
    project's memories that was recalled from.
    """

    items: tuple[Item, ...]
    omitted: tuple[Omitted, ...]
    omitted_counts: Mapping[str, int]
    block: str
    always: str
    relevant: str
    tokens: int
    ms: float
    memory_version: str
    ranker: str = RANKER
    parameters: Mapping[str, Any] = field(default_factory=lambda: _PARAMETERS)

    @property
    def refs(self) -> tuple[int, ...]:
        return tuple(item.id for item in self.items)

    @property
    def sha256(self) -> str:
        return sha256(self.block.encode()).hexdigest()


@dataclass(frozen=True, slots=True, kw_only=True)
class Explanation:
    """Why a memory is given (`recalled`) or not, with what it scored; no parts where nothing was scored."""

    id: int
    reason: str
    score: float | None = None
    parts: Mapping[str, float] = field(default_factory=dict)
    matched: tuple[str, ...] = ()


def recall(
    project: Project,
    query: str,
    *,
    files: Sequence[str] = (),
    instructions: Iterable[str] = (),
    area: str = "",
    max_items: int | None = None,
    max_tokens: int | None = None,
    now: datetime | None = None,
    keep: Iterable[int] = (),
    version: str | None = None,
) -> RecallResult:
    """Choose the memories for a message.

    `files` are paths that the turn is about, `instructions` the rules of its topic, `area` its sub-project.
    The limits default to the project's. `keep` names memories that need no evidence, as long as they still hold.
    `now` decides what has expired and what is recent. `version` is the project's `memory_version`, if the caller has
    just read it: then a warm recall asks the database nothing.
    """
    started = time.perf_counter()
    index = cache.get(project.pk, version) if version else None
    if version is None or index is None:
        version, index = _current(project)
    ranking = Ranking(
        index,
        Query.read(query, now=now or timezone.now(), files=files, instructions=instructions, area=area),
    )
    limits = _limits(project, max_items, max_tokens)
    return _result(ranking, limits, keep=keep, started=started, version=version)


def explain(
    project: Project,
    query: str,
    ids: Iterable[int],
    *,
    files: Sequence[str] = (),
    instructions: Iterable[str] = (),
    area: str = "",
    max_items: int | None = None,
    max_tokens: int | None = None,
    now: datetime | None = None,
    keep: Iterable[int] = (),
) -> dict[int, Explanation]:
    """For each memory of the project among `ids`: why it is, or is not, in what `recall` gives for these words.

    Reasons are those of `pack.Reason`, `recalled`, or the memory's status when it is not in force. Ids of
    other projects are left out.
    """
    started = time.perf_counter()
    now = now or timezone.now()
    version, index = _current(project)
    ranking = Ranking(index, Query.read(query, now=now, files=files, instructions=instructions, area=area))
    limits = _limits(project, max_items, max_tokens)
    result = _result(ranking, limits, keep=keep, started=started, version=version)
    reasons = {item.id: item.reason for item in result.omitted} | {item.id: RECALLED for item in result.items}
    explained: dict[int, Explanation] = {}
    for memory_id, status in Memory.objects.of(project).filter(pk__in=list(ids)).values_list("pk", "status"):
        position = ranking.index.positions.get(memory_id)
        if status != Status.ACTIVE or position is None:
            explained[memory_id] = Explanation(id=memory_id, reason=str(status))
            continue
        scored = ranking.of(position)
        hidden = _hidden_reason(ranking.index.entries[position], now)
        explained[memory_id] = Explanation(
            id=memory_id,
            reason=reasons.get(memory_id) or hidden or Reason.BELOW_FLOOR,
            score=scored.score,
            parts=scored.parts,
            matched=ranking.index.matched(position, ranking.query.terms),
        )
    return explained


def index_of(project: Project) -> Index:
    """The project's index as of now: one query when it is warm, two when it must be built.

    Inside a transaction an index may hold what is never committed, so it is built but not kept.
    """
    return _current(project)[1]


def _current(project: Project) -> tuple[str, Index]:
    """The index, and the version that was read before its rows."""
    version = Project.objects.values_list("memory_version", flat=True).get(pk=project.pk)
    index = cache.get(project.pk, version)
    if index is None:
        rows = Memory.objects.of(project).active().order_by("pk").values_list(*_COLUMNS)
        index = Index.build(_entry(row) for row in rows)
        if not connection.in_atomic_block:
            cache.put(project.pk, version, index)
    return version, index


def _entry(row: tuple[Any, ...]) -> Entry:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["keywords"], values["files"] = tuple(values["keywords"]), tuple(values["files"])
    return Entry(**values)


def _limits(project: Project, max_items: int | None, max_tokens: int | None) -> tuple[int, int]:
    return (
        project.max_items if max_items is None else max_items,
        project.max_tokens if max_tokens is None else max_tokens,
    )


def _result(
    ranking: Ranking, limits: tuple[int, int], *, keep: Iterable[int], started: float, version: str
) -> RecallResult:
    index = ranking.index
    hidden: dict[int, Omitted] = {}

    def in_force(candidates: Iterable[Scored]) -> list[Scored]:
        found = []
        for scored in candidates:
            reason = _hidden_reason(index.entries[scored.position], ranking.query.now)
            if reason is None:
                found.append(scored)
            else:
                hidden[scored.position] = _omitted(index, scored, reason)
        return found

    kept = [index.positions[memory_id] for memory_id in keep if memory_id in index.positions]
    packing = pack(
        index,
        in_force(ranking.always),
        in_force(ranking.keeping(kept) if kept else ranking.evident),
        max_items=limits[0],
        max_tokens=limits[1],
    )
    items = tuple(_items(ranking, packing))
    omitted = [_omitted(index, left.scored, left.reason) for left in packing.left]
    omitted += hidden.values()
    omitted.sort(key=lambda item: (-item.score, -item.id))
    known = {item.id for item in omitted} | {item.id for item in items}
    below = [
        _omitted(index, scored, Reason.BELOW_FLOOR)
        for scored in ranking.runners_up(RUNNERS_UP)
        if index.entries[scored.position].id not in known
    ]
    counts = Counter(item.reason for item in omitted)
    seen = {index.positions[memory_id] for memory_id in known}.intersection(ranking.below)
    if unseen := len(ranking.below) - len(seen):
        counts[Reason.BELOW_FLOOR] += unseen
    rendered = block(_lines(items))
    return RecallResult(
        items=items,
        # What came close first: a memory below the floor was hardly asked for.
        omitted=(*omitted, *below),
        omitted_counts={str(reason): count for reason, count in counts.items()},
        block=rendered.text,
        always=rendered.always,
        relevant=rendered.relevant,
        tokens=packing.tokens,
        ms=(time.perf_counter() - started) * 1000,
        memory_version=version,
    )


def _hidden_reason(entry: Entry, now: datetime) -> Reason | None:
    if entry.withheld:
        return Reason.WITHHELD
    if entry.expires_at is not None and entry.expires_at <= now:
        return Reason.EXPIRED
    return None


def _items(ranking: Ranking, packing: Packing) -> Iterable[Item]:
    for number, chosen in enumerate(packing.chosen, start=1):
        entry = ranking.index.entries[chosen.scored.position]
        yield Item(
            id=entry.id,
            version=entry.version,
            tier=chosen.tier,
            rank=number,
            score=None if chosen.tier == "always" else chosen.scored.score,
            parts=chosen.scored.parts,
            tokens=entry.tokens,
            entry=entry,
            matched=ranking.index.matched(chosen.scored.position, ranking.query.terms),
        )


def _lines(items: Iterable[Item]) -> Iterable[Line]:
    for item in items:
        entry = item.entry
        text = line(
            type=entry.type,
            id=entry.id,
            said_on=entry.said_at.date(),
            content=entry.content,
            files=entry.files,
        )
        yield Line(
            tier="always" if item.tier == "always" else "relevant",
            section=section_of(entry.authority),
            type=entry.type,
            id=entry.id,
            text=text,
        )


def _omitted(index: Index, scored: Scored, reason: Reason) -> Omitted:
    entry = index.entries[scored.position]
    return Omitted(
        id=entry.id, version=entry.version, reason=str(reason), score=scored.score, parts=scored.parts
    )


def _rounded(parts: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in parts.items()}
