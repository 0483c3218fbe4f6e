"""How memories and recalls are read; every read starts from a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Q
from django.utils import timezone

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from projects.models import Project

# The two uniqueness rules of the database are made from the same values.
HOLDING_KEYS = ("active", "disabled")
LIVE = (*HOLDING_KEYS, "proposed")
# Outcomes of candidates that leave something in memory.
KEEPING = ("stored", "proposed", "merged", "replaced")


class MemoryQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def of(self, project: Project) -> Self:
        return self.filter(project=project)

    def active(self) -> Self:
        return self.filter(status="active")

    def proposed(self) -> Self:
        return self.filter(status="proposed")

    def live(self) -> Self:
        """Active, disabled or proposed: what a new content must not double."""
        return self.filter(status__in=LIVE)

    def holding_keys(self) -> Self:
        """Active or disabled: no other memory may take their key."""
        return self.filter(status__in=HOLDING_KEYS)

    def holding_key(self, key: str) -> Self:
        return self.holding_keys().filter(key=key)

    def recallable(self, *, now: datetime | None = None) -> Self:
        """What a turn may be given at `now`."""
        now = now or timezone.now()
        return self.active().filter(withheld=False).filter(Q(expires_at=None) | Q(expires_at__gt=now))

    def search(self, words: str) -> Self:
        """Every word somewhere in key, content or area."""
        found = self
        for word in words.split():
            # Keys are casefolded and compared byte by byte.
            found = found.filter(
                Q(content__icontains=word) | Q(key__contains=word.casefold()) | Q(area__icontains=word)
            )
        return found

    def with_provenance(self) -> Self:
        """Whatever a memory's own page or answer shows of other rows, in one query."""
        return self.select_related("source_topic", "created_by", "updated_by", "confirmed_by", "usage")


class ExtractionQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def with_result(self, results: Iterable[str]) -> Self:
        """Runs that came to one of these (see Extraction.Result)."""
        wanted = Q(pk__in=())
        for result in results:
            wanted |= _came_to(result)
        return self.filter(wanted)


def _came_to(result: str) -> Q:
    kept = Q(counts__has_any_keys=KEEPING)
    match result:
        case "kept":
            return Q(status="succeeded") & kept
        case "nothing":
            return Q(status="succeeded") & ~kept
        case "running" | "cancelled" | "abandoned":
            return Q(status=result)
        case "internal":
            return Q(status="failed", error_kind__in=("internal", ""))
    return Q(status="failed", error_kind=result)
