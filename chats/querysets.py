"""How topics, turns and instructions are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import F, Q

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project


class TopicQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def of(self, project: Project) -> Self:
        return self.filter(project=project)

    def claimable(self, now: datetime) -> Self:
        """Topics whose distilling may start at `now`: the one definition for claim, task and sweep.

        Due, not in back-off, and nobody holds a lease that still runs. A lease that ran out is as good as
        pending: its run died.
        """
        return self.filter(
            Q(distil_pending=True) | Q(distil_lease_token__isnull=False),
            Q(distil_lease_until=None) | Q(distil_lease_until__lte=now),
            Q(distil_retry_at=None) | Q(distil_retry_at__lte=now),
            distil_due_at__lte=now,
        )


class ChatQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def of(self, project: Project) -> Self:
        return self.filter(project=project)

    def turns(self) -> Self:
        return self.filter(parent=None)

    def undistilled(self) -> Self:
        """Succeeded turns that no run has read."""
        return self.turns().filter(status="succeeded", distil_outcome=None)

    def abandoned(self, before: datetime) -> Self:
        return self.filter(status="running", touched_at__lt=before)

    def endable(self, abandoned: str) -> Self:
        """Turns that may still be given an ending: running ones, and those that were only given up."""
        return self.filter(Q(status="running") | Q(status="cancelled", error=abandoned))

    def with_total_tokens(self) -> Self:
        return self.annotate(total_tokens=F("message_tokens") + F("reply_tokens"))


class InstructionQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def in_force(self) -> Self:
        """Active ones, and promoted ones: those leave only when their memory is in the turn's block."""
        return self.filter(state__in=("active", "promoted"))
