"""How projects and their neighbours are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NoReturn, Self

from django.db import models

if TYPE_CHECKING:
    from django.contrib.auth.models import User

SUPERADMINS = "superadmins"


class ProjectQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def visible_to(self, user: User) -> Self:
        """The projects that `user` may see, in one query: those with a grant, for a superadmin all."""
        if not user.is_active:
            return self.none()
        if user.is_superuser:
            return self
        # One EXISTS, one condition over one row: chained filters over `grants` could match two different rows.
        grants = self.model.grants.rel.related_model.objects.filter(
            content_object=models.OuterRef("pk"), user=user, permission__codename="view_project"
        )
        superadmin = user.groups.filter(name=SUPERADMINS)
        return self.filter(models.Exists(grants) | models.Exists(superadmin))


class ApiKeyQuerySet(models.QuerySet):  # type: ignore[type-arg]
    def live(self) -> Self:
        return self.filter(revoked_at=None)


class AuditEventQuerySet(models.QuerySet):  # type: ignore[type-arg]
    """Reads only; retention deletes by `_raw_delete` in its own job."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError("Audit events are never changed.")

    def delete(self) -> NoReturn:
        raise TypeError("Audit events are never deleted.")
