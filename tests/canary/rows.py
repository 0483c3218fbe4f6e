"""Where a text was found again: in rows, in log lines."""

from __future__ import annotations

import io
import logging
from typing import TYPE_CHECKING

from django.apps import apps

from chats.models import Chat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.canary.canaries import Canary

# The words of the talk itself, as they were said.
VERBATIM = frozenset(
    f"{Chat._meta.db_table}.{name}"
    for name in ("message", "attached", "further", "reply", "files", "tools", "milestone", "model", "usage")
)
# What a plain word never gets into: these hold who, what and when, no content. Names of people, keys and memories
# and the reasons that people give are what they are for.
NO_CONTENT = (
    "projects_auditevent",
    "projects_idempotencyrecord",
    "memories_tombstone",
    "django_",
    "axes_",
    "auth_",
)
NAMES = ("projects_auditevent.actor_name", "projects_auditevent.target_key", "projects_auditevent.reason")


class Log(logging.StreamHandler[io.StringIO]):
    def __init__(self) -> None:
        super().__init__(io.StringIO())

    def text(self) -> str:
        return self.stream.getvalue()


def everything() -> dict[str, str]:
    """All that the database holds, as one text for each column."""
    columns: dict[str, list[str]] = {}
    for model in apps.get_models(include_auto_created=True):
        for row in model._base_manager.values():
            for name, value in row.items():
                columns.setdefault(f"{model._meta.db_table}.{name}", []).append(str(value))
    return {column: "\n".join(values).casefold() for column, values in columns.items()}


def leaks(canaries: Iterable[Canary], *, allowed: frozenset[str]) -> dict[str, set[str]]:
    """Doors by the column into which what went through them got."""
    found: dict[str, set[str]] = {}
    columns = everything()
    for canary in canaries:
        for column, text in columns.items():
            if canary.secret.casefold() not in text:
                continue
            may = column in allowed if canary.is_secret else not _is_without_content(column)
            if not may:
                found.setdefault(column, set()).add(f"{canary.kind}: {canary.door}")
    return found


def _is_without_content(column: str) -> bool:
    return column.startswith(NO_CONTENT) and column not in NAMES
