"""How long summaries are kept that a newer one has replaced."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Exists, OuterRef

from chats.models import Summary, Topic
from memories import retention

if TYPE_CHECKING:
    from datetime import datetime

    from django.db.models import QuerySet


def _replaced(before: datetime) -> QuerySet[Any]:
    """A turn that was given one is shown word for word as long as what it recalled."""
    current = Topic.objects.filter(summary=OuterRef("pk"))
    return Summary.objects.filter(~Exists(current), created_at__lt=before).order_by("created_at")


SUMMARIES = retention.Kind(
    name="summaries",
    setting="RETAIN_RECALLS_DAYS",
    count=lambda before: _replaced(before).count(),
    forget=lambda before: retention.batches(_replaced(before)),
)
