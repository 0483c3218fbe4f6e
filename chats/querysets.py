"""How topics, turns and instructions are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from django.db import models
from django.db.models import Count, Exists, IntegerField, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce, Left

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project


EXCERPT = 300

# The error of a turn or step that nobody touched for too long; a late ending may replace it once.
ABANDONED = "abandoned"

HISTORY_COLUMNS = (
    "id",
    "seq",
    "ref",
    "topic_id",
    "status",
    "message",
    "further",
    "reply",
    "message_tokens",
    "reply_tokens",
    "memory_refs",
)


class TopicQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def of(self, project: Project) -> Self:
        return self.filter(project=project)

    def matching(self, *, q: str = "", status: str = "") -> Self:
        """Every word of `q` in title, area or ref."""
        found = self
        for word in q.split():
            found = found.filter(Q(title__icontains=word) | Q(area__icontains=word) | Q(ref__icontains=word))
        return found.filter(status=status) if status else found

    def with_turn_count(self) -> Self:
        turns = (
            self.model.chats.rel.related_model.objects.filter(topic=OuterRef("pk"), parent=None)
            .order_by()
            .values("topic")
            .annotate(n=Count("pk"))
            .values("n")
        )
        return self.annotate(turn_count=Coalesce(Subquery(turns, output_field=IntegerField()), 0))

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

    def history_of(self, topic_id: int) -> Self:
        """The topic's turns, newest first, with what a context needs of them: on the hot path every column counts."""
        return self.turns().filter(topic_id=topic_id).order_by("-seq").only(*HISTORY_COLUMNS)

    def undistilled(self) -> Self:
        """Succeeded turns that no run has read."""
        return self.turns().filter(status="succeeded", distil_outcome=None)

    def abandoned(self, before: datetime) -> Self:
        return self.filter(status="running", touched_at__lt=before)

    def endable(self) -> Self:
        """Turns that may still be given an ending: running ones, and those that were only given up."""
        return self.filter(Q(status="running") | Q(status="cancelled", error=ABANDONED))

    def matching(
        self,
        *,
        q: str = "",
        author: str = "",
        memory: int | None = None,
        topic: int | None = None,
        since: datetime | None = None,
    ) -> Self:
        """Every word of `q` in message or reply; `author` by ref or name; turns that were given `memory`."""
        found = self
        for word in q.split():
            found = found.filter(Q(message__icontains=word) | Q(reply__icontains=word))
        if author:
            found = found.filter(Q(author_ref=author) | Q(author_name=author))
        if memory is not None:
            given = self.model.recalls.rel.related_model.objects.filter(
                chat=OuterRef("pk"), items__memory_id=memory
            )
            found = found.filter(Exists(given))
        if topic is not None:
            found = found.filter(topic_id=topic)
        if since is not None:
            found = found.filter(sent_at__gte=since)
        return found

    def with_excerpt(self) -> Self:
        """The beginning of the message, and none of the long texts."""
        return self.annotate(excerpt=Left("message", EXCERPT)).defer(
            "message", "attached", "further", "reply", "error", "digest", "tools", "given", "explicit"
        )


class InstructionQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def in_force(self) -> Self:
        """Active ones, and promoted ones: those leave only when their memory is in the turn's block."""
        return self.filter(state__in=("active", "promoted"))
