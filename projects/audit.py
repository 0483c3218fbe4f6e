"""Writing the audit trail; called inside the transaction of what it records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.db.models import Q, QuerySet

from projects.models import AuditEvent
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping
    from datetime import datetime

    from projects.actors import Actor
    from projects.models import Project

FORGOTTEN_AT_ONCE = 1000
ERASED = "erased"


def record(
    action: str,
    *,
    by: Actor,
    project: Project | None,
    target_type: str = "",
    target_id: int | None = None,
    target_key: str = "",
    reason: str = "",
    counts: Mapping[str, int] | None = None,
) -> AuditEvent:
    """Store one event. `action` is what and verb (`memory.create`, `key.revoke`); `reason` must already be free of
    secrets, and content never comes here.
    """
    if not transaction.get_connection().in_atomic_block:
        raise transaction.TransactionManagementError(
            f"The audit of {action!r} must share a transaction with it."
        )
    return AuditEvent.objects.create(
        actor_kind=by.kind,
        actor_name=by.name[:200],
        user_id=by.user.pk if by.user else None,
        key_prefix=by.key.prefix if by.key else "",
        transport=by.transport,
        action=action,
        project_id=project.pk if project else None,
        project_slug=project.slug if project else "",
        target_type=target_type,
        target_id=target_id,
        target_key=target_key,
        reason=reason[:300],
        counts=dict(counts or {}),
        request_id=by.request_id,
    )


def forget_target(project: Project, *, target_type: str, target_id: int) -> int:
    """What was done stays, what the target was called and the reasons given go: it is being removed for good.

    How many events that changed.
    """
    events = AuditEvent.objects.filter(
        project_id=project.pk, target_type=target_type, target_id=target_id
    ).exclude(target_key="", reason="")
    return _change(events, target_key="", reason="")


def forget_person(project: Project, *, user_ids: Collection[int] = (), names: Collection[str] = ()) -> int:
    """What a person did in the project stays, who it was goes: users, and an author of these names.

    How many events that changed.
    """
    events, users = AuditEvent.objects.filter(project_id=project.pk), list(user_ids)
    acted = events.filter(Q(actor_kind="author", actor_name__in=list(names)) | Q(user_id__in=users))
    changed = _change(acted, actor_name=ERASED, user_id=None)
    met = events.filter(target_type="user", target_id__in=users).exclude(target_key="")
    return changed + _change(met, target_key="", target_id=None)


def knows(project: Project, user_ids: Collection[int]) -> bool:
    """Whether the trail of the project names one of these users."""
    events, users = AuditEvent.objects.filter(project_id=project.pk), list(user_ids)
    return events.filter(Q(user_id__in=users) | Q(target_type="user", target_id__in=users)).exists()


def older_than(before: datetime) -> QuerySet[AuditEvent]:
    events: QuerySet[AuditEvent] = AuditEvent.objects.filter(created_at__lt=before).order_by("created_at")
    return events


def forget(before: datetime) -> Iterator[int]:
    """Remove the events from before a time, some at a time; how many each time."""
    while keys := list(older_than(before).values_list("pk", flat=True)[:FORGOTTEN_AT_ONCE]):
        _remove(keys)
        yield len(keys)


@atomic_retry
def _remove(keys: list[int]) -> None:
    events = AuditEvent.objects.filter(pk__in=keys)
    events._raw_delete(events.db)


def _change(events: QuerySet[AuditEvent], **values: Any) -> int:
    """The trail refuses every change; that a name goes from it is asked for here alone."""
    plain: QuerySet[AuditEvent] = QuerySet(AuditEvent)
    return plain.filter(pk__in=list(events.values_list("pk", flat=True))).update(**values)
