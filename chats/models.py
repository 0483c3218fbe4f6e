"""What was said: topics, their turns and steps, and the rules that hold within one topic.

A turn is a root Chat. The services beside this module write these rows.
"""

from __future__ import annotations

from django.contrib.auth.models import User
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from chats.querysets import ABANDONED, ChatQuerySet, InstructionQuerySet, TopicQuerySet
from memories.models import Extraction, Memory
from projects.fields import ExactCharField
from projects.models import Project

MAX_REF = 200


class Topic(models.Model):
    """One conversation of a project, and the state of its distilling."""

    class TopicStatus(models.TextChoices):
        OPEN = "open", _("open")
        COMPLETED = "completed", _("completed")

    project = models.ForeignKey(Project, models.CASCADE, related_name="topics", verbose_name=_("project"))
    ref = ExactCharField(_("reference"), max_length=MAX_REF)
    title = models.CharField(_("title"), max_length=200, blank=True)
    area = models.CharField(_("area"), max_length=120, blank=True)
    status = models.CharField(
        _("status"), max_length=10, choices=TopicStatus.choices, default=TopicStatus.OPEN
    )
    # The newest of its summaries, and the number of the last turn that is in it: all turns up to it are finished.
    summary = models.ForeignKey(
        "Summary", models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("summary")
    )
    summarised_through = models.PositiveIntegerField(default=0, editable=False)
    # NULL: nothing to digest or to sum up. A run moves it into the future while it works, and so claims the topic.
    summary_due_at = models.DateTimeField(null=True, editable=False)
    summary_failures = models.PositiveSmallIntegerField(default=0, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    updated_at = models.DateTimeField(_("updated"), default=timezone.now)

    # One running, one pending, nothing lost: see chats/distil.py. `distil_due_at` is NULL when nothing is due,
    # so the index over it holds only topics that somebody must look at.
    distil_pending = models.BooleanField(_("distilling is due"), default=False)
    distil_pending_since = models.DateTimeField(null=True, editable=False)
    distil_due_at = models.DateTimeField(_("due"), null=True)
    distil_trigger = models.CharField(max_length=16, choices=Extraction.Trigger.choices, blank=True)
    distil_lease_token = models.CharField(max_length=32, null=True, editable=False)  # noqa: DJ001 (NULL: no run)
    distil_lease_until = models.DateTimeField(null=True, editable=False)
    distil_retry_at = models.DateTimeField(_("not before"), null=True, editable=False)
    # The backend whose provider it waits for until `distil_retry_at`; woken earlier when that answers again.
    distil_waits_for = models.CharField(_("waits for"), max_length=20, blank=True, editable=False)
    distil_failures = models.PositiveSmallIntegerField(_("failures in a row"), default=0, editable=False)

    objects = TopicQuerySet.as_manager()

    class Meta:
        verbose_name = _("topic")
        verbose_name_plural = _("topics")
        ordering = ("-id",)
        constraints = (models.UniqueConstraint(fields=["project", "ref"], name="chats_one_topic_per_ref"),)
        indexes = (
            models.Index(fields=["distil_due_at"], name="chats_topics_due"),
            models.Index(fields=["summary_due_at"], name="chats_topics_to_sum_up"),
            models.Index(fields=["project", "-updated_at"], name="chats_topics_of_project"),
        )

    def __str__(self) -> str:
        return self.title or self.ref


class Chat(models.Model):
    """A turn (no parent) or a step of another agent inside one."""

    class Origin(models.TextChoices):
        HUMAN = "human", _("human")
        MACHINE = "machine", _("machine")

    class ChatStatus(models.TextChoices):
        RUNNING = "running", _("running")
        SUCCEEDED = "succeeded", _("succeeded")
        FAILED = "failed", _("failed")
        CANCELLED = "cancelled", _("cancelled")

    class DistilOutcome(models.TextChoices):
        READ = "read", _("read, something kept")
        NOTHING = "nothing", _("read, nothing worth keeping")
        MACHINE = "machine", _("not read: said by a machine")
        MEMORY_OFF = "memory_off", _("not read: memory was off")
        FAILED = "failed", _("could not be read")

    project = models.ForeignKey(Project, models.CASCADE, related_name="chats", verbose_name=_("project"))
    topic = models.ForeignKey(Topic, models.CASCADE, related_name="chats", verbose_name=_("topic"))
    parent = models.ForeignKey("self", models.CASCADE, null=True, blank=True, related_name="steps")
    # Place among the topic's turns; NULL for a step, and NULLs never collide. Steps are ordered by `position`.
    seq = models.PositiveIntegerField(_("number"), null=True)
    position = models.PositiveSmallIntegerField(null=True, editable=False)
    ref = ExactCharField(_("reference"), max_length=MAX_REF, null=True, blank=True)
    origin = models.CharField(_("origin"), max_length=10, choices=Origin.choices, default=Origin.HUMAN)
    author_ref = ExactCharField(_("author's reference"), max_length=MAX_REF, blank=True)
    author_name = models.CharField(_("author"), max_length=120, blank=True)
    author_user = models.ForeignKey(
        User, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("member")
    )
    agent = models.CharField(_("agent"), max_length=120, blank=True)
    status = models.CharField(
        _("status"), max_length=10, choices=ChatStatus.choices, default=ChatStatus.RUNNING
    )

    message = models.TextField(_("message"))
    attached = models.TextField(_("attached"), blank=True)
    # Further human messages of the same turn: {"text", "sent_at"}.
    further = models.JSONField(_("further messages"), default=list)
    reply = models.TextField(_("reply"), blank=True)
    files = models.JSONField(_("files"), default=list)
    tools = models.JSONField(_("tools"), default=list)
    milestone = models.CharField(_("milestone"), max_length=200, blank=True)
    model = models.CharField(_("model"), max_length=120, blank=True)
    usage = models.JSONField(_("usage"), default=dict)
    error = models.TextField(_("error"), blank=True)
    # What the turn came to, in a line or two, for other topics; its tokens are NULL until it is made.
    digest = models.TextField(_("digest"), blank=True)
    digest_tokens = models.PositiveIntegerField(null=True, editable=False)
    message_tokens = models.PositiveIntegerField(default=0, editable=False)
    reply_tokens = models.PositiveIntegerField(default=0, editable=False)

    # NULL: memory was off; []: nothing was relevant.
    memory_refs = models.JSONField(_("memories given"), null=True)
    memory_tokens = models.PositiveIntegerField(_("tokens given"), null=True)
    degraded = models.JSONField(_("degraded"), default=list)
    # What the last context was made of, as ids and numbers: it can be given again byte for byte and explained.
    given = models.JSONField(_("given"), default=dict, editable=False)
    # Reported after the fact: what it yields is proposed.
    already_happened = models.BooleanField(default=False, editable=False)
    # What the explicit channel made of the message, as ids and codes: a repeated request renders it again.
    explicit = models.JSONField(default=dict, editable=False)
    distil_outcome = models.CharField(  # noqa: DJ001 (NULL: still due)
        _("distilling"), max_length=10, choices=DistilOutcome.choices, null=True
    )
    distil_attempts = models.PositiveSmallIntegerField(default=0, editable=False)
    extraction = models.ForeignKey(Extraction, models.SET_NULL, null=True, related_name="chats")

    sent_at = models.DateTimeField(_("sent"), default=timezone.now)
    # What the caller's clock was offset by, in minutes: "next Monday" is resolved against it.
    sent_offset = models.SmallIntegerField(default=0, editable=False)
    started_at = models.DateTimeField(_("started"), default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now, editable=False)
    finished_at = models.DateTimeField(_("finished"), null=True)
    # Who spoke asked to be forgotten: the words are gone, the place in the topic stays.
    erased_at = models.DateTimeField(_("erased"), null=True, editable=False)

    objects = ChatQuerySet.as_manager()

    class Meta:
        verbose_name = _("turn")
        verbose_name_plural = _("turns")
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=["topic", "ref"], name="chats_one_turn_per_ref"),
            models.UniqueConstraint(fields=["topic", "seq"], name="chats_one_turn_per_number"),
        )
        indexes = (
            models.Index(fields=["project", "-id"], name="chats_of_project"),
            models.Index(fields=["topic", "distil_outcome", "seq"], name="chats_due_in_topic"),
            models.Index(fields=["status", "touched_at"], name="chats_running_since"),
        )

    def __str__(self) -> str:
        if self.parent_id is not None:
            return gettext("%(topic)s, step %(number)s") % {"topic": self.topic, "number": self.position}
        return gettext("%(topic)s, turn %(number)s") % {"topic": self.topic, "number": self.seq}

    @property
    def words(self) -> str:
        """All that the human said in this turn: the message and what came further, a line each."""
        return "\n".join([self.message, *(entry["text"] for entry in self.further)])

    @property
    def was_given_up(self) -> bool:
        """Nobody touched it for too long; its real ending may still come."""
        return self.status == self.ChatStatus.CANCELLED and self.error == ABANDONED


class Summary(models.Model):
    """What a topic's turns up to number `through` came to. Rolling: each is made of the one before and what came since.

    Older ones stay for a while, so that what a turn was given can be shown word for word.
    """

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="summaries", verbose_name=_("topic"))
    through = models.PositiveIntegerField(_("up to turn"))
    text = models.TextField(_("text"))
    tokens = models.PositiveIntegerField(_("tokens"))
    backend = models.CharField(_("backend"), max_length=20)
    model = models.CharField(_("model"), max_length=120, blank=True)
    tokens_in = models.PositiveIntegerField(_("tokens in"), default=0)
    tokens_out = models.PositiveIntegerField(_("tokens out"), default=0)
    created_at = models.DateTimeField(_("created"), default=timezone.now, db_index=True)

    class Meta:
        verbose_name = _("summary")
        verbose_name_plural = _("summaries")
        ordering = ("-id",)
        constraints = (
            models.UniqueConstraint(fields=["topic", "through"], name="chats_one_summary_per_reach"),
        )

    def __str__(self) -> str:
        return f"summary of {self.topic_id} up to {self.through}"


class EpisodeTerm(models.Model):
    """A word of a turn's digest, as a 64-bit digest of it, by which the turn is found from other topics."""

    project = models.ForeignKey(Project, models.CASCADE, related_name="+")
    term = models.BigIntegerField()
    chat = models.ForeignKey(Chat, models.CASCADE, related_name="episode_terms")

    class Meta:
        verbose_name = _("word of an episode")
        verbose_name_plural = _("words of episodes")
        constraints = (
            models.UniqueConstraint(fields=["project", "term", "chat"], name="chats_one_episode_per_term"),
        )

    def __str__(self) -> str:
        return f"{self.term} of {self.chat_id}"


class Instruction(models.Model):
    """A rule that holds in one topic at once, before it is (or is not) a memory."""

    class Kind(models.TextChoices):
        DIRECTIVE = "directive", _("directive")
        CORRECTION = "correction", _("correction")
        TEMPORARY = "temporary", _("for now")

    class State(models.TextChoices):
        ACTIVE = "active", _("in force")
        PROMOTED = "promoted", _("became a memory")
        DISMISSED = "dismissed", _("dismissed")
        # With its topic, or for want of room. Nobody took it back: the run that reads its turn still weighs it.
        ENDED = "ended", _("ended")

    topic = models.ForeignKey(Topic, models.CASCADE, related_name="instructions", verbose_name=_("topic"))
    chat = models.ForeignKey(Chat, models.CASCADE, related_name="instructions", verbose_name=_("turn"))
    kind = models.CharField(_("kind"), max_length=10, choices=Kind.choices)
    content = models.TextField(_("content"))
    tokens = models.PositiveIntegerField(editable=False)
    # Goes with its memory: a working copy must not outlive what a person deleted or purged.
    memory = models.ForeignKey(
        Memory, models.CASCADE, null=True, blank=True, related_name="instructions", verbose_name=_("memory")
    )
    state = models.CharField(_("state"), max_length=10, choices=State.choices, default=State.ACTIVE)
    created_at = models.DateTimeField(_("created"), default=timezone.now)

    objects = InstructionQuerySet.as_manager()

    class Meta:
        verbose_name = _("instruction")
        verbose_name_plural = _("instructions")
        ordering = ("id",)
        indexes = (models.Index(fields=["topic", "state"], name="chats_instructions_in_force"),)

    def __str__(self) -> str:
        return f"{self.kind} of {self.topic_id}"

    @property
    def is_undecided(self) -> bool:
        """It is to last, is no memory, and nobody took it back: a candidate of the run that reads its turn."""
        return self.state in (self.State.ACTIVE, self.State.ENDED) and self.kind != self.Kind.TEMPORARY
