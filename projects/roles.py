"""The one matrix of who may do what, and the only place that asks guardian.

A role is not stored: the owner is `Project.owner`, a collaborator is a user with the grants of that role. Both
carry guardian object permissions, so that `user.has_perm(…, project)` and the admin agree with this module.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, cast

from django.db.models import Q
from guardian.shortcuts import assign_perm, get_users_with_perms, remove_perm

from projects.models import ProjectGrant
from projects.querysets import SUPERADMINS

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet

    from projects.models import Project


class Permission(StrEnum):
    """Codenames of the object permissions on Project."""

    VIEW = "view_project"
    CURATE = "curate_memories"
    TURNS = "use_turns"
    ADMINISTER = "administer_project"


class Role(StrEnum):
    OWNER = "owner"
    COLLABORATOR = "collaborator"
    SUPERADMIN = "superadmin"


MATRIX: dict[Role, frozenset[Permission]] = {
    Role.OWNER: frozenset(Permission),
    Role.COLLABORATOR: frozenset({Permission.VIEW, Permission.CURATE, Permission.TURNS}),
    Role.SUPERADMIN: frozenset(Permission),
}


def is_superadmin(user: User) -> bool:
    return user.is_active and (user.is_superuser or user.groups.filter(name=SUPERADMINS).exists())


def role_of(user: User, project: Project) -> Role | None:
    """The user's role in the project, None for a stranger."""
    if not user.is_active:
        return None
    if is_superadmin(user):
        return Role.SUPERADMIN
    if project.owner_id == user.pk:
        return Role.OWNER
    if _grants(project, user).filter(permission__codename=Permission.VIEW).exists():
        return Role.COLLABORATOR
    return None


def can(user: User, permission: Permission, project: Project) -> bool:
    role = role_of(user, project)
    return role is not None and permission in MATRIX[role]


def grant(project: Project, user: User, role: Role, *, granted_by: User | None) -> None:
    """Give exactly the grants of `role`, taking others away."""
    wanted = MATRIX[role]
    for permission in Permission:
        if permission in wanted:
            assign_perm(permission, user, project)
        else:
            remove_perm(permission, user, project)
    _grants(project, user).filter(granted_by=None).update(granted_by=granted_by)


def revoke(project: Project, user: User) -> int:
    """Take every grant away; the number of grants that there were."""
    deleted, _ = _grants(project, user).delete()
    return deleted


def members(project: Project) -> QuerySet[User]:
    """Everyone with a grant on the project, the owner among them."""
    return cast("QuerySet[User]", get_users_with_perms(project, with_group_users=False))


def member_by_reference(project: Project, reference: str) -> User | None:
    """The member whose user name, or e-mail address if only one has it, is `reference`."""
    candidates = list(
        members(project).filter(Q(username=reference) | Q(email__iexact=reference, email__gt=""))[:2]
    )
    return candidates[0] if len(candidates) == 1 else None


def _grants(project: Project, user: User) -> QuerySet[ProjectGrant]:
    return ProjectGrant.objects.filter(content_object=project, user=user)
