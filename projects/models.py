"""Who: projects, the rights people and keys have in them, and the trail of what they did."""

from __future__ import annotations

import secrets
from typing import Any, NoReturn

from django.contrib.auth.models import User
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from guardian.models import UserObjectPermissionBase

from projects.fields import ExactCharField
from projects.querysets import ApiKeyQuerySet, AuditEventQuerySet, ProjectQuerySet


def new_version() -> str:
    """A token that no earlier state of a project ever had."""
    return secrets.token_hex(16)


class ReviewPolicy(models.TextChoices):
    ALL = "all", _("Everything waits for a person")
    IMPORTANT = "important", _("Constraints, important ones and replacements wait")
    NONE = "none", _("Nothing waits")


class ExplicitPolicy(models.TextChoices):
    ANYONE = "anyone", _("Anyone who talks in the project")
    MEMBERS = "members", _("Members only")


class Project(models.Model):
    """The tenant: every memory belongs to exactly one project, never to a user."""

    slug = models.SlugField(_("slug"), max_length=60, unique=True)
    name = models.CharField(_("name"), max_length=120)
    description = models.TextField(_("description"), blank=True, max_length=2000)
    owner = models.ForeignKey(User, models.PROTECT, related_name="owned_projects", verbose_name=_("owner"))
    memory_enabled = models.BooleanField(_("memory on"), default=True)
    memory_switched_at = models.DateTimeField(_("switched at"), null=True, blank=True, editable=False)
    memory_switched_by = models.ForeignKey(
        User,
        models.SET_NULL,
        null=True,
        blank=True,
        editable=False,
        related_name="+",
        verbose_name=_("switched by"),
    )
    review_policy = models.CharField(
        _("review"), max_length=10, choices=ReviewPolicy.choices, default=ReviewPolicy.IMPORTANT
    )
    explicit_policy = models.CharField(
        _("“Remember:” is taken from"),
        max_length=10,
        choices=ExplicitPolicy.choices,
        default=ExplicitPolicy.ANYONE,
    )
    max_items = models.PositiveSmallIntegerField(
        _("items a turn"), default=12, validators=[MinValueValidator(1), MaxValueValidator(12)]
    )
    max_tokens = models.PositiveIntegerField(
        _("tokens a turn"), default=6000, validators=[MinValueValidator(100), MaxValueValidator(6000)]
    )
    window_tokens = models.PositiveIntegerField(
        _("window tokens"), default=40_000, validators=[MinValueValidator(1000), MaxValueValidator(2_000_000)]
    )
    static_instructions = models.TextField(
        _("static instructions"),
        blank=True,
        validators=[MaxLengthValidator(40_000)],
        help_text=_("The agent's own system text, so that distilling does not restate it."),
    )
    guidance = models.CharField(
        _("guidance"), max_length=1000, blank=True, help_text=_("What is worth keeping here.")
    )
    mask_chats = models.BooleanField(_("mask secrets in chats"), default=False)
    debug_mode = models.BooleanField(_("debug mode"), default=False)
    memory_version = models.CharField(max_length=32, default=new_version, editable=False)
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    updated_at = models.DateTimeField(_("updated"), auto_now=True)

    objects = ProjectQuerySet.as_manager()

    class Meta:
        verbose_name = _("project")
        verbose_name_plural = _("projects")
        ordering = ("slug",)
        # What each role may do is decided in projects/roles.py.
        default_permissions = ("add", "change", "delete", "view")
        permissions = (
            ("curate_memories", _("Can add, edit, confirm, switch off and delete memories of the project")),
            ("use_turns", _("Can open and finish turns and recall")),
            ("administer_project", _("Can manage members, keys and settings, purge and delete")),
        )

    def __str__(self) -> str:
        return self.slug


class ProjectGrant(UserObjectPermissionBase):
    """One permission of one user on one project; guardian reads and writes these rows."""

    content_object = models.ForeignKey(Project, models.CASCADE, related_name="grants")
    granted_at = models.DateTimeField(db_default=Now())
    granted_by = models.ForeignKey(User, models.SET_NULL, null=True, related_name="+")

    class Meta(UserObjectPermissionBase.Meta):
        verbose_name = _("grant")
        verbose_name_plural = _("grants")


class Scope(models.TextChoices):
    TURNS = "turns", _("open and finish turns")
    RECALL = "recall", _("recall")
    MEMORIES_READ = "memories:read", _("read memories")
    MEMORIES_PROPOSE = "memories:propose", _("propose memories")
    MEMORIES_WRITE = "memories:write", _("write memories as an agent")
    TRACES_READ = "traces:read", _("read turns and what they were given")
    PROJECTS = "projects", _("create and change projects")


class ApiKey(models.Model):
    """What an agent service signs in with. Only a digest is stored; the prefix tells keys apart."""

    project = models.ForeignKey(
        Project,
        models.CASCADE,
        null=True,
        blank=True,
        related_name="api_keys",
        verbose_name=_("project"),
        help_text=_("Empty: a platform key, for all projects."),
    )
    name = models.CharField(_("name"), max_length=120)
    prefix = models.CharField(_("prefix"), max_length=16, unique=True, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    scopes = models.JSONField(_("scopes"), default=list)
    created_by = models.ForeignKey(
        User, models.SET_NULL, null=True, editable=False, related_name="+", verbose_name=_("created by")
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    revoked_at = models.DateTimeField(_("revoked"), null=True, blank=True, editable=False)
    last_used_at = models.DateTimeField(_("last used"), null=True, blank=True, editable=False)

    objects = ApiKeyQuerySet.as_manager()

    class Meta:
        verbose_name = _("API key")
        verbose_name_plural = _("API keys")
        ordering = ("-id",)

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"

    @property
    def is_usable(self) -> bool:
        return self.revoked_at is None and (self.expires_at is None or self.expires_at > timezone.now())


class AppendOnly(Exception):
    """An audit event is written once and never touched again."""


class AuditEvent(models.Model):
    """Who did what to what, and when. Never content, never a secret.

    Projects, users and keys are named by value: the trail outlives what it speaks of.
    """

    created_at = models.DateTimeField(_("when"), default=timezone.now, db_index=True)
    actor_kind = models.CharField(_("kind of actor"), max_length=10)
    actor_name = models.CharField(_("actor"), max_length=200)
    user_id = models.BigIntegerField(_("user"), null=True)
    key_prefix = models.CharField(_("key"), max_length=16, blank=True)
    transport = models.CharField(_("transport"), max_length=10)
    action = models.CharField(_("action"), max_length=60, db_index=True)
    project_id = models.BigIntegerField(_("project id"), null=True)
    project_slug = models.CharField(_("project"), max_length=60, blank=True)
    target_type = models.CharField(_("kind of target"), max_length=30, blank=True)
    target_id = models.BigIntegerField(_("target"), null=True)
    target_key = ExactCharField(_("key of target"), max_length=200, blank=True)
    reason = models.CharField(_("reason"), max_length=300, blank=True)
    counts = models.JSONField(_("counts"), default=dict)
    request_id = models.CharField(_("request"), max_length=64, blank=True)

    objects = AuditEventQuerySet.as_manager()

    class Meta:
        verbose_name = _("audit event")
        verbose_name_plural = _("audit")
        ordering = ("-id",)
        indexes = (models.Index(fields=["project_id", "-id"], name="projects_audit_of_project"),)

    def __str__(self) -> str:
        return f"{self.action} by {self.actor_name}"

    def save(self, *args: Any, **kwargs: Any) -> None:
        if not self._state.adding:
            raise AppendOnly
        super().save(*args, **kwargs)

    def delete(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise AppendOnly


class IdempotencyRecord(models.Model):
    """What a POST with an `Idempotency-Key` led to: status and ids, never a body. `key` is a keyed digest."""

    caller = models.CharField(max_length=60)
    key = ExactCharField(max_length=200)
    fingerprint = models.CharField(max_length=64)
    status = models.PositiveSmallIntegerField(null=True)
    result = models.JSONField(default=dict)
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("repeated request")
        verbose_name_plural = _("repeated requests")
        constraints = (
            models.UniqueConstraint(fields=["caller", "key"], name="projects_one_result_per_idempotency_key"),
        )

    def __str__(self) -> str:
        return f"{self.caller} {self.key}"
