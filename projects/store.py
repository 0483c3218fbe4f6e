"""The one door for writes of this app: projects, members and keys.

Each function is one transaction that locks the project's row first and holds the audit event of what it did.
Whether the actor may do it, the caller has asked of `roles` or `http.access`; what must never be is refused
here.
"""

from __future__ import annotations

import re
import secrets
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.core.exceptions import ValidationError
from django.core.validators import MaxLengthValidator
from django.db import IntegrityError, models, transaction
from django.utils import timezone
from django.utils.text import slugify

from projects import audit, keys, masking, roles
from projects.models import ApiKey, IdempotencyRecord, Project, Scope
from projects.roles import Role
from projects.transactions import atomic_retry, delete_whole

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping
    from datetime import datetime

    from django.contrib.auth.models import User

    from projects.actors import Actor

# What `create_project` and `update_project` may set.
SETTINGS = frozenset(
    {
        "name",
        "description",
        "memory_enabled",
        "review_policy",
        "explicit_policy",
        "max_items",
        "max_tokens",
        "window_tokens",
        "static_instructions",
        "guidance",
        "mask_chats",
        "debug_mode",
    }
)
# The agent's own instructions are words for a model, whatever they say.
FOR_MODELS = frozenset({"static_instructions"})
# Owners come by `transfer`, superadmins from Django's groups.
ASSIGNABLE_ROLES = frozenset({Role.COLLABORATOR})
_SWITCH = ("memory_switched_at", "memory_switched_by")
# A TextField's own max_length is known to forms only.
_description_fits = MaxLengthValidator(2000)
_SLUG = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}\Z")


class ProjectGone(Exception):
    """The project was deleted meanwhile."""


class SlugTaken(Exception):
    """Another project has this slug."""


class InvalidSlug(ValueError):
    """A slug is 1 to 60 of a-z, 0-9, hyphen and underscore, and begins with a letter or digit."""


class AlreadyMember(Exception):
    """The user is in the project already."""


class NotAMember(Exception):
    """The user is not in the project."""


class OwnerMustTransfer(Exception):
    """A project always has its owner: who wants to go hands it on first."""


class RoleNotAssignable(ValueError):
    """This role is not given by adding or changing a member."""


class InactiveUser(Exception):
    """Someone who cannot log in gets no role."""


class PlatformKeyRefused(Exception):
    """A key for all projects is made by superadmins alone."""


class UnknownScope(ValueError):
    """There is no such scope, or it means nothing on a key of one project (`projects`)."""


@atomic_retry
def create_project(*, name: str, owner: User, by: Actor, slug: str = "", **settings: Any) -> Project:
    """A new project with its owner; without `slug` one is derived from the name."""
    if not owner.is_active:
        raise InactiveUser(owner.pk)
    if slug and not _SLUG.match(slug):
        raise InvalidSlug(slug)
    masking.refuse({"name": name, "slug": slug, **settings}, for_models=FOR_MODELS)
    project = Project(name=name, slug=slug or _free_slug(name), owner=owner)
    _set(project, settings)
    try:
        with transaction.atomic():
            project.save(force_insert=True)
    except IntegrityError:
        raise SlugTaken(project.slug) from None
    roles.grant(project, owner, Role.OWNER, granted_by=by.user)
    audit.record("project.create", by=by, project=project, **_target_user(owner))
    return project


@atomic_retry
def update_project(*, project: Project, changes: Mapping[str, Any], by: Actor) -> Project:
    """Set what differs; the switch of memory notes who and when. Nothing differs: nothing is written."""
    project = _lock(project)
    _require_settings(changes)
    changed = sorted(name for name, value in changes.items() if getattr(project, name) != value)
    masking.refuse({name: changes[name] for name in changed}, for_models=FOR_MODELS)
    _set(project, changes)
    if not changed:
        return project
    switched = "memory_enabled" in changed
    if switched:
        project.memory_switched_at, project.memory_switched_by = timezone.now(), by.user
    project.save(update_fields=[*changed, "updated_at", *(_SWITCH if switched else ())])
    if switched:
        verb = "enable" if project.memory_enabled else "disable"
        audit.record(f"project.{verb}_memory", by=by, project=project)
    if others := [name for name in changed if name != "memory_enabled"]:
        audit.record("project.edit", by=by, project=project, reason=", ".join(others))
    return project


@atomic_retry
def delete_project(*, project: Project, by: Actor) -> None:
    """Remove the project and every row of it in every table; its audit events stay, they hold no content."""
    project = _lock(project)
    callers = [f"key:{key_id}" for key_id in project.api_keys.values_list("pk", flat=True)]
    pk = project.pk
    counts = delete_whole(project)
    project.pk = pk
    IdempotencyRecord.objects.filter(caller__in=callers).delete()
    # History keeps its project without a constraint, so that no cascade reaches it.
    for model, column in _unconstrained():
        left = model._base_manager.filter(**{column: pk})
        counts[model._meta.label] = left._raw_delete(left.db)
    audit.record("project.delete", by=by, project=project, counts=counts)


@atomic_retry
def add_member(*, project: Project, user: User, by: Actor, role: Role = Role.COLLABORATOR) -> None:
    project = _lock(project)
    _require_assignable(role)
    if not user.is_active:
        raise InactiveUser(user.pk)
    if is_member(project, user):
        raise AlreadyMember(user.pk)
    roles.grant(project, user, role, granted_by=by.user)
    audit.record("member.add", by=by, project=project, reason=role, **_target_user(user))


@atomic_retry
def change_member(*, project: Project, user: User, role: Role, by: Actor) -> None:
    """Give a member exactly the rights of `role`."""
    project = _lock(project)
    _require_assignable(role)
    _require_plain_member(project, user)
    roles.grant(project, user, role, granted_by=by.user)
    audit.record("member.change", by=by, project=project, reason=role, **_target_user(user))


@atomic_retry
def remove_member(*, project: Project, user: User, by: Actor) -> None:
    project = _lock(project)
    _require_plain_member(project, user)
    roles.revoke(project, user)
    audit.record("member.remove", by=by, project=project, **_target_user(user))


@atomic_retry
def leave(*, project: Project, by: Actor) -> None:
    """The actor, a member, goes by their own will."""
    project = _lock(project)
    if (user := by.user) is None:
        raise NotAMember
    _require_plain_member(project, user)
    roles.revoke(project, user)
    audit.record("member.leave", by=by, project=project, **_target_user(user))


@atomic_retry
def transfer(*, project: Project, to: User, by: Actor) -> Project:
    """Hand the project to another member; the owner until now stays as a collaborator."""
    project = _lock(project)
    if to.pk == project.owner_id:
        return project
    if not to.is_active:
        raise InactiveUser(to.pk)
    if not is_member(project, to):
        raise NotAMember(to.pk)
    before = project.owner
    project.owner = to
    project.save(update_fields=["owner", "updated_at"])
    roles.grant(project, to, Role.OWNER, granted_by=by.user)
    roles.grant(project, before, Role.COLLABORATOR, granted_by=by.user)
    audit.record("project.transfer", by=by, project=project, **_target_user(to))
    return project


@atomic_retry
def issue_key(
    *,
    project: Project | None,
    name: str,
    scopes: Iterable[str],
    by: Actor,
    expires_at: datetime | None = None,
) -> tuple[ApiKey, str]:
    """A new key and its plain text, which nothing stores and nobody can show again.

    `project` None makes a platform key.
    """
    if project is None:
        if by.user is None or not roles.is_superadmin(by.user):
            raise PlatformKeyRefused
    else:
        project = _lock(project)
    wanted = set(scopes)
    known = set(Scope.values) - (set() if project is None else {Scope.PROJECTS.value})
    if unknown := sorted(wanted - known):
        raise UnknownScope(", ".join(unknown))
    masking.refuse({"name": name})
    prefix, plain = keys.new_key()
    key = ApiKey(
        project=project,
        name=name,
        prefix=prefix,
        digest=keys.digest_of(plain),
        scopes=[scope for scope in Scope.values if scope in wanted],
        created_by=by.user,
        expires_at=expires_at,
    )
    key.clean_fields(exclude=["project", "created_by", "scopes"])
    key.save(force_insert=True)
    audit.record("key.issue", by=by, project=project, reason=", ".join(key.scopes), **_target_key(key))
    return key, plain


@atomic_retry
def revoke_key(*, key: ApiKey, by: Actor) -> ApiKey:
    """The key stops working at once and for good; a second time changes nothing."""
    project = _lock(key.project) if key.project else None
    now = timezone.now()
    if ApiKey.objects.live().filter(pk=key.pk).update(revoked_at=now) == 1:
        audit.record("key.revoke", by=by, project=project, **_target_key(key))
    key.refresh_from_db(fields=["revoked_at"])
    return key


def is_member(project: Project, user: User) -> bool:
    return roles.members(project).filter(pk=user.pk).exists()


def _lock(project: Project) -> Project:
    """The project as it is now, its row locked: before topics, before memories, on every path."""
    try:
        locked: Project = Project.objects.select_for_update().get(pk=project.pk)
    except Project.DoesNotExist:
        raise ProjectGone(project.pk) from None
    return locked


def _unconstrained() -> Iterator[tuple[type[models.Model], str]]:
    """Models, with their column, that name a project without a constraint."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            remote = field.remote_field
            if remote and remote.model is Project and not getattr(field, "db_constraint", True):
                yield model, field.attname


def _set(project: Project, values: Mapping[str, Any]) -> None:
    _require_settings(values)
    for name, value in values.items():
        setattr(project, name, value)
    project.clean_fields(exclude=["owner", "memory_switched_by"])
    try:
        _description_fits(project.description)
    except ValidationError as error:
        raise ValidationError({"description": error}) from None


def _require_settings(values: Mapping[str, Any]) -> None:
    if unknown := sorted(set(values) - SETTINGS):
        raise TypeError(f"No setting of a project: {', '.join(unknown)}")


def _free_slug(name: str) -> str:
    """The name as a slug; one that is taken, or has no Latin letters, gets a random end."""
    base = slugify(name)[:50].strip("-_") or "project"
    if base != "project" and not Project.objects.filter(slug=base).exists():
        return base
    return f"{base}-{secrets.token_hex(4)}"


def _require_assignable(role: Role) -> None:
    if role not in ASSIGNABLE_ROLES:
        raise RoleNotAssignable(role)


def _require_plain_member(project: Project, user: User) -> None:
    if user.pk == project.owner_id:
        raise OwnerMustTransfer(project.pk)
    if not is_member(project, user):
        raise NotAMember(user.pk)


def _target_user(user: User) -> dict[str, Any]:
    return {"target_type": "user", "target_id": user.pk, "target_key": user.get_username()}


def _target_key(key: ApiKey) -> dict[str, Any]:
    return {"target_type": "api_key", "target_id": key.pk, "target_key": key.prefix}
