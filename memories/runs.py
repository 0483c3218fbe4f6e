"""The runs of the distilling, and the breaker that leaves a failing provider alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from memories.querysets import KEEPING, ExtractionQuerySet
from projects.models import Project

if TYPE_CHECKING:
    from datetime import datetime


class Extraction(models.Model):
    """One run of the distilling of a topic."""

    class Trigger(models.TextChoices):
        TURN = "turn", _("turn")
        DIRECTIVE = "directive", _("directive")
        MILESTONE = "milestone", _("milestone")
        TOPIC_COMPLETED = "topic_completed", _("topic completed")
        RETRY = "retry", _("retry")
        SWEEP = "sweep", _("sweep")

    class RunStatus(models.TextChoices):
        RUNNING = "running", _("running")
        SUCCEEDED = "succeeded", _("succeeded")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("ended early")
        ABANDONED = "abandoned", _("taken over")

    class ErrorKind(models.TextChoices):
        NONE = "", _("none")
        PROVIDER = "provider_down", _("provider down")
        INPUT = "input", _("input refused")
        UNPARSABLE = "unparsable", _("answer could not be parsed")
        TIMED_OUT = "timed_out", _("took too long")
        INTERNAL = "internal", _("internal error")

    class Result(models.TextChoices):
        """What a run came to, in one word: its status, the kind of its error and its counts taken together."""

        RUNNING = "running", _("running")
        KEPT = "kept", _("something kept")
        NOTHING = "nothing", _("nothing worth keeping")
        UNPARSABLE = "unparsable", _("answer could not be parsed")
        PROVIDER_DOWN = "provider_down", _("provider down")
        INPUT = "input", _("input refused")
        TIMED_OUT = "timed_out", _("took too long")
        INTERNAL = "internal", _("internal error")
        CANCELLED = "cancelled", _("ended early")
        ABANDONED = "abandoned", _("taken over")

    project = models.ForeignKey(Project, models.CASCADE, related_name="extractions")
    topic = models.ForeignKey("chats.Topic", models.SET_NULL, null=True, related_name="extractions")
    trigger = models.CharField(_("trigger"), max_length=16, choices=Trigger.choices)
    status = models.CharField(
        _("status"), max_length=10, choices=RunStatus.choices, default=RunStatus.RUNNING
    )
    backend = models.CharField(_("backend"), max_length=20)
    model = models.CharField(_("model"), max_length=120, blank=True)
    prompt_version = models.CharField(_("prompt version"), max_length=20, blank=True)
    lease_token = models.CharField(max_length=32, unique=True)
    chats_read = models.JSONField(_("turns read"), default=list)
    attempts = models.PositiveSmallIntegerField(_("attempts"), default=1)
    counts = models.JSONField(_("counts"), default=dict)
    tokens_in = models.PositiveIntegerField(_("tokens in"), default=0)
    tokens_out = models.PositiveIntegerField(_("tokens out"), default=0)
    raw_output = models.TextField(_("raw output"), blank=True)
    error_kind = models.CharField(_("kind of error"), max_length=16, choices=ErrorKind.choices, blank=True)
    error = models.CharField(_("error"), max_length=300, blank=True)
    started_at = models.DateTimeField(_("started"), default=timezone.now, db_index=True)
    finished_at = models.DateTimeField(_("finished"), null=True)

    objects = ExtractionQuerySet.as_manager()

    class Meta:
        verbose_name = _("extraction")
        verbose_name_plural = _("extractions")
        ordering = ("-id",)
        indexes = (models.Index(fields=["project", "-id"], name="memories_extraction_of_project"),)

    def __str__(self) -> str:
        return gettext("extraction %(id)s") % {"id": self.pk}

    @property
    def result(self) -> str:
        """One of Result; `ExtractionQuerySet.with_result` asks the database for the same."""
        if self.status == self.RunStatus.SUCCEEDED:
            return self.Result.KEPT if any(self.counts.get(one) for one in KEEPING) else self.Result.NOTHING
        if self.status == self.RunStatus.FAILED:
            return self.error_kind or self.Result.INTERNAL
        return self.status


class Breaker(models.Model):
    """A backend whose provider failed: how often in a row, and until when nobody calls it. All workers share it.

    Open from `opened_at` until a call succeeds. From `retry_at` on one run at a time may try: it holds
    `probe_token` until `probe_until`, so that a trial whose worker dies keeps nobody waiting for ever.
    """

    class State(models.TextChoices):
        CLOSED = "closed", _("answers")
        OPEN = "open", _("left alone")
        TRYING = "trying", _("being tried")

    backend = models.CharField(_("backend"), max_length=20, primary_key=True)
    failures = models.PositiveIntegerField(_("failures in a row"), default=0)
    failed_at = models.DateTimeField(_("last failure"), null=True)
    reason = models.CharField(_("reason"), max_length=40, blank=True)
    opened_at = models.DateTimeField(_("left alone since"), null=True)
    retry_at = models.DateTimeField(_("next try"), null=True)
    # Trials in a row that failed: each makes the pause longer.
    trips = models.PositiveIntegerField(_("trials that failed"), default=0)
    probe_token = models.CharField(max_length=32, blank=True, editable=False)
    probe_until = models.DateTimeField(null=True, editable=False)

    class Meta:
        verbose_name = _("model provider")
        verbose_name_plural = _("model providers")
        ordering = ("backend",)

    def __str__(self) -> str:
        return self.backend

    def state(self, *, now: datetime) -> str:
        if self.opened_at is None:
            return self.State.CLOSED
        is_trying = self.probe_until is not None and self.probe_until > now
        return self.State.TRYING if is_trying else self.State.OPEN
