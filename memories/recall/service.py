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
from memories.recall.score import Query, Scored, rank, score
from projects.models import Project

if TYPE_CHECKING:
    from datetime import datetime

RANKER = "rules"
RECALLED = "recalled"
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

    `items` stand in order of rank, `omitted` best first; `ms` is what it took, the index included.
    """

    items: tuple[Item, ...]
    omitted: tuple[Omitted, ...]
    block: str
    always: str
    relevant: str
    tokens: int
    ms: float
    ranker: str = RANKER
    parameters: Mapping[str, Any] = field(default_factory=lambda: _PARAMETERS)

    @property
    def refs(self) -> tuple[int, ...]:
        return tuple(item.id for item in self.items)

    @property
    def sha256(self) -> str:
        return sha256(self.block.encode()).hexdigest()

    @property
    def omitted_counts(self) -> dict[str, int]:
        return dict(Counter(item.reason for item in self.omitted))


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
) -> RecallResult:
    """Choose the memories for a message.

    `files` are paths that the turn is about, `instructions` the rules of its topic, `area` its sub-project.
    The limits default to the project's. `keep` names memories that need no evidence, as long as they still hold.
    `now` decides what has expired and what is recent.
    """
    started = time.perf_counter()
    now = now or timezone.now()
    index = index_of(project)
    asked = Query.read(query, now=now, files=files, instructions=instructions, area=area)
    packing, hidden = _choose(
        index,
        asked,
        keep=keep,
        max_items=project.max_items if max_items is None else max_items,
        max_tokens=project.max_tokens if max_tokens is None else max_tokens,
    )
    items = tuple(_items(index, asked, packing))
    rendered = block(_lines(items))
    omitted = [_omitted(index, left.scored, left.reason) for left in packing.left] + hidden
    # What came close first: a memory below the floor was hardly asked for.
    omitted.sort(key=lambda item: (item.reason == Reason.BELOW_FLOOR, -item.score, -item.id))
    return RecallResult(
        items=items,
        omitted=tuple(omitted),
        block=rendered.text,
        always=rendered.always,
        relevant=rendered.relevant,
        tokens=packing.tokens,
        ms=(time.perf_counter() - started) * 1000,
    )


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
) -> dict[int, Explanation]:
    """For each memory of the project among `ids`: why it is, or is not, in what `recall` gives for these words.

    Reasons are those of `pack.Reason`, `recalled`, or the memory's status when it is not in force. Ids of
    other projects are left out.
    """
    now = now or timezone.now()
    result = recall(
        project,
        query,
        files=files,
        instructions=instructions,
        area=area,
        max_items=max_items,
        max_tokens=max_tokens,
        now=now,
    )
    index = index_of(project)
    asked = Query.read(query, now=now, files=files, instructions=instructions, area=area)
    given = {item.id: item for item in result.items}
    left = {item.id: item for item in result.omitted}
    explained: dict[int, Explanation] = {}
    for memory_id, status in Memory.objects.of(project).filter(pk__in=list(ids)).values_list("pk", "status"):
        position = index.positions.get(memory_id)
        matched = index.matched(position, asked.terms) if position is not None else ()
        if status != Status.ACTIVE or position is None:
            explained[memory_id] = Explanation(id=memory_id, reason=str(status))
        elif memory_id in given:
            item = given[memory_id]
            explained[memory_id] = Explanation(
                id=memory_id, reason=RECALLED, score=item.score, parts=item.parts, matched=matched
            )
        elif memory_id in left:
            omitted = left[memory_id]
            explained[memory_id] = Explanation(
                id=memory_id, reason=omitted.reason, score=omitted.score, parts=omitted.parts, matched=matched
            )
        else:
            # Nothing in the turn asks for it at all.
            bare = score(index, position, asked, 0.0, 0.0)
            reason = _hidden_reason(index.entries[position], now) or Reason.BELOW_FLOOR
            explained[memory_id] = Explanation(
                id=memory_id, reason=reason, score=bare.score, parts=_rounded(bare.parts)
            )
    return explained


def index_of(project: Project) -> Index:
    """The project's index as of now: one query when it is warm, two when it must be built.

    Inside a transaction an index may hold what is never committed, so it is built but not kept.
    """
    version = Project.objects.values_list("memory_version", flat=True).get(pk=project.pk)
    index = cache.get(project.pk, version)
    if index is None:
        rows = Memory.objects.of(project).active().order_by("pk").values_list(*_COLUMNS)
        index = Index.build(_entry(row) for row in rows)
        if not connection.in_atomic_block:
            cache.put(project.pk, version, index)
    return index


def _entry(row: tuple[Any, ...]) -> Entry:
    values = dict(zip(_COLUMNS, row, strict=True))
    values["keywords"], values["files"] = tuple(values["keywords"]), tuple(values["files"])
    return Entry(**values)


def _choose(
    index: Index, asked: Query, *, keep: Iterable[int], max_items: int, max_tokens: int
) -> tuple[Packing, list[Omitted]]:
    """What fits, and what was asked for but must not be shown."""
    ranked = rank(index, asked)
    ranked = _with_kept(index, asked, ranked, keep)
    by_position = {scored.position: scored for scored in ranked}
    always = [
        by_position.get(position) or score(index, position, asked, 0.0, 0.0) for position in index.always
    ]
    always.sort(key=lambda scored: (-scored.score, index.entries[scored.position].id))
    hidden: dict[int, Omitted] = {}

    def shown(candidates: Iterable[Scored]) -> list[Scored]:
        kept = []
        for scored in candidates:
            reason = _hidden_reason(index.entries[scored.position], asked.now)
            if reason is None:
                kept.append(scored)
            else:
                hidden[scored.position] = _omitted(index, scored, reason)
        return kept

    packing = pack(index, shown(always), shown(ranked), max_items=max_items, max_tokens=max_tokens)
    return packing, list(hidden.values())


def _with_kept(index: Index, asked: Query, ranked: list[Scored], keep: Iterable[int]) -> list[Scored]:
    """`ranked` with the memories to keep counted as evident."""
    kept = {index.positions[memory_id] for memory_id in keep if memory_id in index.positions}
    if not kept:
        return ranked
    by_position = {scored.position: scored for scored in ranked}
    for position in kept:
        scored = by_position.get(position) or score(index, position, asked, 0.0, 0.0)
        by_position[position] = Scored(position, scored.score, scored.parts, is_evident=True)
    return sorted(by_position.values(), key=lambda one: (-one.score, -index.entries[one.position].id))


def _hidden_reason(entry: Entry, now: datetime) -> Reason | None:
    if entry.withheld:
        return Reason.WITHHELD
    if entry.expires_at is not None and entry.expires_at <= now:
        return Reason.EXPIRED
    return None


def _items(index: Index, asked: Query, packing: Packing) -> Iterable[Item]:
    for number, chosen in enumerate(packing.chosen, start=1):
        entry = index.entries[chosen.scored.position]
        yield Item(
            id=entry.id,
            version=entry.version,
            tier=chosen.tier,
            rank=number,
            score=None if chosen.tier == "always" else round(chosen.scored.score, 4),
            parts=_rounded(chosen.scored.parts),
            tokens=entry.tokens,
            entry=entry,
            matched=index.matched(chosen.scored.position, asked.terms),
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
