"""Copies: rows besides the memories in which words of people or models stand, and in which secrets are masked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.db.models import Q

from memories import guard
from memories.models import Candidate, Extraction, Memory, Recall, RecallBlock
from memories.tokens import count
from projects.models import AuditEvent

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from django.db import models

    from projects.actors import Actor

BATCH = 200
_EPOCH = datetime.fromtimestamp(0, UTC)


class Copies:
    """Rows that hold words of people or models besides the memories: columns of text, and of JSON."""

    def __init__(
        self,
        model: type[models.Model],
        *,
        texts: Sequence[str] = (),
        values: Sequence[str] = (),
        tokens: Mapping[str, str] | None = None,
        where: Q | None = None,
        label: str = "",
        batch: int = BATCH,
    ) -> None:
        """`tokens`: the columns that count those of a text, by the text's."""
        self.model, self.where, self.batch, self.tokens = model, where or Q(), batch, tokens or {}
        self.columns = (*texts, *values)
        self.label = label or model._meta.label

    def changes(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """The columns of this row in which a secret stands, masked."""
        masked = {name: guard.mask_values(row[name]) for name in self.columns}
        changed = {name: value for name, value in masked.items() if value != row[name]}
        counted = {self.tokens[name]: count(changed[name]) for name in changed if name in self.tokens}
        return changed | counted

    def mend(self, pk: Any, *, by: Actor) -> None:
        """Mask one row, as it is now."""
        rows = self.model._base_manager.filter(pk=pk)
        row = rows.select_for_update().values(*self.columns).first()
        if row is not None and (changes := self.changes(row)):
            rows.update(**changes)

    def after(self, place: int) -> list[dict[str, Any]]:
        """The next rows, each with its place in the order."""
        rows = self.model._base_manager.filter(self.where, pk__gt=place).order_by("pk")
        return [row | {"place": row["pk"]} for row in rows.values("pk", *self.columns)[: self.batch]]


class Blocks(Copies):
    """A block is named by what it says: one that holds a secret goes as a whole. In order of time."""

    def after(self, place: int) -> list[dict[str, Any]]:
        since = _EPOCH + timedelta(microseconds=place)
        rows = RecallBlock.objects.filter(created_at__gt=since).order_by("created_at", "pk")
        return [
            row | {"place": (row["created_at"] - _EPOCH) // timedelta(microseconds=1)}
            for row in rows.values("pk", "created_at", *self.columns)[: self.batch]
        ]

    def mend(self, pk: Any, *, by: Actor) -> None:
        RecallBlock.objects.filter(pk=pk).delete()


# Apps above this one add theirs when they start.
COPIES: list[Copies] = [
    Copies(
        Memory.history.model,  # type: ignore[attr-defined]
        texts=("content", "key", "area", "history_change_reason"),
        values=("keywords", "files", "evidence"),
    ),
    Copies(Candidate, texts=("content", "quote", "key")),
    Copies(Extraction, texts=("raw_output", "error")),
    Copies(Recall, texts=("query",), values=("files",)),
    Blocks(RecallBlock, texts=("text",)),
    Copies(AuditEvent, texts=("reason", "target_key", "actor_name")),
]
