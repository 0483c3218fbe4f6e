"""Writing the audit trail; called inside the transaction of what it records."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import transaction

from projects.models import AuditEvent

if TYPE_CHECKING:
    from collections.abc import Mapping

    from projects.actors import Actor
    from projects.models import Project


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
