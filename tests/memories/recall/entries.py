"""Entries and rankings for the pure tests of recall."""

from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any

from memories.recall.index import Entry, Index
from memories.recall.render import line_tokens
from memories.recall.score import Query, Ranking

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
_numbers = count(1)


def entry(content: str = "页面引用区块要用区块 ID", *, days_ago: float = 1, **values: Any) -> Entry:
    number = values.setdefault("id", next(_numbers))
    values.setdefault("version", 1)
    values.setdefault("type", "fact")
    values.setdefault("key", f"key-{number}")
    values.setdefault("said_at", NOW - timedelta(days=days_ago))
    if "tokens" not in values:
        values["tokens"] = line_tokens(
            type=values["type"],
            id=number,
            said_on=values["said_at"].date(),
            content=content,
            files=values.get("files", ()),
        )
    return Entry(content=content, **values)


def ranking(entries: list[Entry], text: str = "", **query: Any) -> Ranking:
    return Ranking(Index.build(entries), Query.read(text, now=query.pop("now", NOW), **query))


def ids(found: Ranking) -> list[int]:
    """What the query asks for, best first."""
    return [found.index.entries[scored.position].id for scored in found.evident]
