"""What is kept: memories with their history and usage, what recall gave, and what extraction proposed.

Only `memories/store` writes a Memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.core.validators import MaxLengthValidator, MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import Case, Q, Value, When
from django.dispatch import receiver
from django.utils import timezone
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from simple_history.models import HistoricalRecords
from simple_history.signals import pre_create_historical_record

from memories.querysets import HOLDING_KEYS, LIVE, MemoryQuerySet
from memories.runs import Breaker as Breaker
from memories.runs import Extraction as Extraction
from projects.actors import Actor
from projects.fields import ExactCharField
from projects.models import Project

MAX_CONTENT = 1000
MAX_KEY = 80
MAX_REASON = 300


class MemoryType(models.TextChoices):
    CONSTRAINT = "constraint", _("constraint")
    DECISION = "decision", _("decision")
    PREFERENCE = "preference", _("preference")
    FACT = "fact", _("fact")
    PITFALL = "pitfall", _("pitfall")
    PROCEDURE = "procedure", _("procedure")


class Status(models.TextChoices):
    PROPOSED = "proposed", _("waits for review")
    ACTIVE = "active", _("active")
    DISABLED = "disabled", _("disabled")
    SUPERSEDED = "superseded", _("superseded")
    REJECTED = "rejected", _("rejected")
    ARCHIVED = "archived", _("archived")


LIVE_FOR_KEYS = tuple(map(Status, HOLDING_KEYS))
LIVE_FOR_HASHES = tuple(map(Status, LIVE))


class Source(models.TextChoices):
    MANUAL = "manual", _("written by hand")
    EXPLICIT = "explicit", _("“Remember:”")
    EXTRACTED = "extracted", _("distilled")
    IMPORTED = "imported", _("imported")
    AGENT = "agent", _("written by an agent")


class Authority(models.TextChoices):
    PERSON = "person", _("a person")
    AUTOMATIC = "automatic", _("automatic")


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """Why a Memory is about to be saved; the store sets it, the history row takes it over.

    `token`: what else was written by the same call of the store has it, too.
    """

    action: str
    by: Actor
    reason: str = ""
    token: str = ""


class MemoryVersionBase(models.Model):
    """What a history row tells besides the fields: who and why. The user is simple-history's own column."""

    action = models.CharField(_("action"), max_length=20)
    actor_kind = models.CharField(_("kind of actor"), max_length=10)
    actor_name = models.CharField(_("actor"), max_length=200)
    transport = models.CharField(_("transport"), max_length=10)
    request_id = models.CharField(_("request"), max_length=64, blank=True)
    # The prefix of the key that acted: an agent takes back what its own key did.
    actor_key = models.CharField(max_length=16, blank=True, default="", editable=False)
    # The same on all versions that one call of the store made; they are taken back together.
    change = models.CharField(max_length=32, blank=True, default="", db_index=True, editable=False)

    class Meta:
        abstract = True


def _live_flag(statuses: tuple[Status, ...]) -> models.GeneratedField:
    """1 while the row's status is one of `statuses`, else NULL.

    MariaDB skips conditional unique constraints with a mere warning. NULLs never collide, so a plain unique
    constraint over the real columns and this flag says the same on every database. Read it from no instance.
    """
    return models.GeneratedField(
        expression=Case(
            When(status__in=[str(status) for status in statuses], then=Value(1)), default=Value(None)
        ),
        output_field=models.PositiveSmallIntegerField(null=True),
        db_persist=True,
    )


class Memory(models.Model):
    """One lasting conclusion of a project."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="memories", verbose_name=_("project"))
    type = models.CharField(_("type"), max_length=12, choices=MemoryType.choices)
    key = ExactCharField(pgettext_lazy("of a memory", "key"), max_length=MAX_KEY)
    content = models.TextField(_("content"), validators=[MaxLengthValidator(MAX_CONTENT)])
    importance = models.PositiveSmallIntegerField(
        _("importance"), default=3, validators=[MinValueValidator(1), MaxValueValidator(5)]
    )
    always = models.BooleanField(
        _("always"), default=False, help_text=_("In every turn, or only when relevant.")
    )
    keywords = models.JSONField(_("keywords"), default=list, blank=True)
    files = models.JSONField(_("files"), default=list, blank=True, help_text=_("Globs."))
    area = models.CharField(_("area"), max_length=120, blank=True)
    source = models.CharField(_("source"), max_length=10, choices=Source.choices)
    authority = models.CharField(_("authority"), max_length=10, choices=Authority.choices)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices)
    status_changed_by_person = models.BooleanField(default=False, editable=False)

    # Each {"quote", "role", "chat", "said_at"}; a merge adds one instead of a row.
    evidence = models.JSONField(_("evidence"), default=list, blank=True)
    said_at = models.DateTimeField(_("said at"), default=timezone.now)
    source_topic = models.ForeignKey(
        "chats.Topic", models.SET_NULL, null=True, blank=True, related_name="memories"
    )
    source_chat = models.ForeignKey(
        "chats.Chat", models.SET_NULL, null=True, blank=True, related_name="memories"
    )
    extraction = models.ForeignKey(
        "memories.Extraction", models.SET_NULL, null=True, blank=True, related_name="memories"
    )
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated"), default=timezone.now)
    confirmed_at = models.DateTimeField(_("confirmed"), null=True, blank=True)
    created_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    updated_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")
    confirmed_by = models.ForeignKey(User, models.SET_NULL, null=True, blank=True, related_name="+")

    replaces = models.ForeignKey("self", models.SET_NULL, null=True, blank=True, related_name="replaced_by")
    replaces_version = models.PositiveIntegerField(null=True, blank=True)
    contradicts = models.ForeignKey(
        "self", models.SET_NULL, null=True, blank=True, related_name="contradicted_by"
    )

    content_hash = models.CharField(max_length=64, editable=False)
    tokens = models.PositiveIntegerField(_("tokens"), editable=False)
    guard_version = models.PositiveIntegerField(editable=False)
    withheld = models.BooleanField(_("withheld"), default=False, editable=False)
    # The guard's code for why; it says nothing of what was found.
    withheld_for = models.CharField(_("withheld for"), max_length=40, blank=True, default="", editable=False)
    # Active by itself, and drawn for a person to look at all the same.
    spot_check = models.BooleanField(_("drawn for a look"), default=False, editable=False)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    version = models.PositiveIntegerField(_("version"), default=1, editable=False)
    key_live = _live_flag(LIVE_FOR_KEYS)
    hash_live = _live_flag(LIVE_FOR_HASHES)

    objects = MemoryQuerySet.as_manager()
    history = HistoricalRecords(  # type: ignore[no-untyped-call]
        bases=[MemoryVersionBase],
        excluded_fields=["key_live", "hash_live"],
        verbose_name=_("version of a memory"),
        verbose_name_plural=_("versions of memories"),
        history_change_reason_field=models.CharField(max_length=MAX_REASON, null=True),
    )

    # Set by the store for the length of one save.
    _change: Change | None = None

    class Meta:
        verbose_name = _("memory")
        verbose_name_plural = _("memories")
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=["project", "key", "key_live"], name="memories_one_live_per_key"),
            models.UniqueConstraint(
                fields=["project", "content_hash", "hash_live"], name="memories_one_live_per_content"
            ),
            models.CheckConstraint(condition=Q(importance__range=(1, 5)), name="memories_importance_1_to_5"),
        )
        indexes = (
            models.Index(fields=["project", "status", "-id"], name="memories_of_project"),
            models.Index(fields=["guard_version", "id"], name="memories_to_scan_again"),
            models.Index(fields=["expires_at"], name="memories_expiring"),
        )

    def __str__(self) -> str:
        return f"{self.get_type_display()} {self.key}"

    @property
    def _history_user(self) -> User | None:
        return self._change.by.user if self._change else None


@receiver(pre_create_historical_record, sender=Memory.history.model)  # type: ignore[attr-defined]
def _tell_history_why(
    sender: type[models.Model], instance: Memory, history_instance: Any, **kwargs: Any
) -> None:
    """Copy who and why onto the history row. A write without them went around the store."""
    change = instance._change
    if change is None:
        # A cascade: the project goes, and its history with it.
        history_instance.action, history_instance.actor_kind = "cascade", "system"
        return
    history_instance.action = change.action
    history_instance.actor_kind = change.by.kind
    history_instance.actor_name = change.by.name[:200]
    history_instance.transport = change.by.transport
    history_instance.request_id = change.by.request_id
    history_instance.actor_key = change.by.key.prefix if change.by.key else ""
    history_instance.change = change.token
    history_instance.history_change_reason = change.reason[:MAX_REASON] or None


class Tombstone(models.Model):
    """The trace of a deleted or rejected memory, so that it does not come back by itself. No text."""

    class Reason(models.TextChoices):
        DELETED = "deleted", _("deleted")
        REJECTED = "rejected", _("rejected")
        PURGED = "purged", _("purged")

    project = models.ForeignKey(Project, models.CASCADE, related_name="tombstones")
    memory_id = models.BigIntegerField(db_index=True)
    content_mac = models.CharField(max_length=64)
    key_mac = models.CharField(max_length=64)
    # Keyed digests of the shingle signature, so that near-duplicates are known again.
    signature_macs = models.JSONField(default=list)
    reason = models.CharField(_("reason"), max_length=10, choices=Reason.choices)
    created_at = models.DateTimeField(default=timezone.now)

    class Meta:
        verbose_name = _("tombstone")
        verbose_name_plural = _("tombstones")
        indexes = (models.Index(fields=["project", "content_mac"], name="memories_tombstone_of_content"),)

    def __str__(self) -> str:
        return f"#{self.memory_id}"


class MemoryUsage(models.Model):
    """How often a memory was given; rolled up by a job, outside history and versions."""

    memory = models.OneToOneField(Memory, models.CASCADE, primary_key=True, related_name="usage")
    count = models.PositiveIntegerField(default=0)
    last_at = models.DateTimeField(null=True)
    # The newest RecallItem that is in `count`; the highest of all is where the next roll-up goes on.
    through_item = models.BigIntegerField(default=0, db_index=True)

    class Meta:
        verbose_name = _("usage of a memory")
        verbose_name_plural = _("usages of memories")

    def __str__(self) -> str:
        return f"#{self.memory_id}"


class RecallBlock(models.Model):
    """The exact text that went into a prompt, stored once however often it was given.

    Blocks name memories by id, so two projects never share one.
    """

    sha256 = models.CharField(max_length=64, primary_key=True)
    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    text = models.TextField()
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("block")
        verbose_name_plural = _("blocks")

    def __str__(self) -> str:
        return self.sha256[:12]


class Recall(models.Model):
    """What one turn was given, what was left out, and what it cost."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="recalls")
    chat = models.ForeignKey("chats.Chat", models.CASCADE, related_name="recalls")
    query = models.TextField(_("query"), help_text=_("Secrets masked."))
    files = models.JSONField(_("files"), default=list)
    intent = models.JSONField(_("intent"), default=dict)
    block = models.ForeignKey(RecallBlock, models.SET_NULL, null=True, related_name="recalls")
    # Where the block's stable first segment ends, in characters.
    always_length = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(_("tokens"))
    ms = models.FloatField(_("ms"))
    ranker = models.CharField(_("ranker"), max_length=20)
    parameters = models.JSONField(default=dict)
    omitted_counts = models.JSONField(_("omitted"), default=dict)
    omitted = models.JSONField(_("best omitted"), default=list)
    error = models.CharField(_("error"), max_length=60, blank=True)
    created_at = models.DateTimeField(_("at"), default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("recall")
        verbose_name_plural = _("recalls")
        ordering = ("-id",)
        indexes = (models.Index(fields=["project", "-id"], name="memories_recall_of_project"),)

    def __str__(self) -> str:
        return gettext("recall %(id)s") % {"id": self.pk}


class RecallItem(models.Model):
    """One memory in a recall, as it was then. The memory itself may be gone."""

    recall = models.ForeignKey(Recall, models.CASCADE, related_name="items")
    memory = models.ForeignKey(Memory, models.DO_NOTHING, db_constraint=False, related_name="recall_items")
    version = models.PositiveIntegerField(_("version"))
    tier = models.CharField(_("tier"), max_length=10)
    rank = models.PositiveSmallIntegerField(_("rank"))
    score = models.FloatField(_("score"), null=True)
    parts = models.JSONField(_("parts"), default=dict)
    tokens = models.PositiveIntegerField(_("tokens"))

    class Meta:
        verbose_name = _("recalled memory")
        verbose_name_plural = _("recalled memories")
        ordering = ("rank",)

    def __str__(self) -> str:
        return f"{self.memory_id} v{self.version}"


class Candidate(models.Model):
    """What an Extraction proposed, what became of it and why."""

    extraction = models.ForeignKey(Extraction, models.CASCADE, related_name="candidates")
    position = models.PositiveSmallIntegerField()
    type = models.CharField(_("type"), max_length=12, choices=MemoryType.choices)
    key = ExactCharField(pgettext_lazy("of a memory", "key"), max_length=MAX_KEY, blank=True)
    content = models.TextField(_("content"), blank=True)
    quote = models.TextField(_("quote"), blank=True)
    quote_role = models.CharField(_("said by"), max_length=10, blank=True)
    chat = models.ForeignKey("chats.Chat", models.SET_NULL, null=True, related_name="candidates")
    outcome = models.CharField(_("outcome"), max_length=16)
    reason = models.CharField(_("reason"), max_length=40)
    memory = models.ForeignKey(Memory, models.SET_NULL, null=True, related_name="candidates")
    target = models.ForeignKey(Memory, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("candidate")
        verbose_name_plural = _("candidates")
        ordering = ("extraction_id", "position")

    def __str__(self) -> str:
        return self.content[:60] or f"#{self.pk}"
