"""Statements of the hot path, compiled once.

Django puts a query together and compiles it anew each time it runs, which takes longer than the database does.
Where every request asks the same, the ORM's own SQL is kept, and only its values change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection
from django.db.models.constants import OnConflict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from django.db.models import Model, QuerySet

# Values that no row has, to be found again in the compiled statement.
_MARKS: dict[type, Callable[[int], Any]] = {
    int: lambda place: -7_000_000_000 - place,
    str: lambda place: f"\x1fvalue {place}\x1f",
}


class Select[M: Model]:
    """A queryset as a function of its values, which are ints and strs and stand in it once each.

    `Select(lambda topic_id: Instruction.objects.filter(topic_id=topic_id).in_force(), int)`
    """

    def __init__(self, queryset: Callable[..., QuerySet[M]], *kinds: type) -> None:
        self._queryset, self._kinds = queryset, kinds
        self._compiled: tuple[type[M], str, tuple[Any, ...], tuple[int, ...]] | None = None

    def __call__(self, *values: int | str) -> list[M]:
        model, sql, constants, places = self._compiled or self._compile()
        parameters = list(constants)
        for place, value in zip(places, values, strict=True):
            parameters[place] = value
        return list(model._default_manager.raw(sql, parameters))

    def _compile(self) -> tuple[type[M], str, tuple[Any, ...], tuple[int, ...]]:
        marks = [_MARKS[kind](place) for place, kind in enumerate(self._kinds)]
        queryset = self._queryset(*marks)
        sql, parameters = queryset.query.sql_with_params()
        if any(parameters.count(mark) != 1 for mark in marks):
            raise ValueError("Each value must stand in the statement once.")
        self._compiled = (queryset.model, sql, parameters, tuple(parameters.index(mark) for mark in marks))
        return self._compiled


class Insert:
    """Rows of a model with these columns, by default all but the id; no signal is sent.

    `Insert(RecallItem, "recall_id", "memory_id", …)`
    """

    def __init__(self, model: type[Model], *columns: str, ignore_conflicts: bool = False) -> None:
        every = {field.attname: field for field in model._meta.concrete_fields}
        self._fields = [every[name] for name in columns or every if columns or not every[name].primary_key]
        operations = connection.ops
        conflict = OnConflict.IGNORE if ignore_conflicts else None
        into = ", ".join(operations.quote_name(field.column or "") for field in self._fields)
        places = ", ".join(["%s"] * len(self._fields))
        self._sql = (
            f"{operations.insert_statement(on_conflict=conflict)} "
            f"{operations.quote_name(model._meta.db_table)} ({into}) VALUES ({places}) "
            f"{operations.on_conflict_suffix_sql(self._fields, conflict, [], [])}"
        ).strip()

    def __call__(self, rows: Iterable[Sequence[Any]]) -> None:
        """Write many rows, given as their values; no id comes back."""
        with connection.cursor() as cursor:
            cursor.executemany(self._sql, [self._prepared(row) for row in rows])

    def save(self, row: Model) -> None:
        """Write one new instance, and give it its id."""
        with connection.cursor() as cursor:
            cursor.execute(self._sql, self._prepared([getattr(row, field.attname) for field in self._fields]))
            row.pk = cursor.lastrowid
        row._state.adding, row._state.db = False, connection.alias

    def _prepared(self, values: Sequence[Any]) -> list[Any]:
        return [
            field.get_db_prep_save(value, connection)
            for field, value in zip(self._fields, values, strict=True)
        ]
