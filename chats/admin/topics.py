"""Operators' pages for topics, and for the rules that hold within one."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.contrib import admin
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from chats import schedule
from chats.models import Chat, Instruction, Topic
from memories.admin.words import RANKERS
from memories.models import Extraction
from projects.admin import ProjectFilter, ReadableAdmin, visible
from projects.admin.fragments import (
    NOTHING,
    badge,
    joined,
    link,
    list_link,
    moment,
    number,
    prose,
    quiet,
    stacked,
    table,
    tags,
)

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

from chats.admin.words import RULE_TONES, SHOWN, TOPIC_TONES, excerpt, given_in_words, instructions_table


@admin.register(Topic)
class TopicAdmin(ReadableAdmin):
    list_display = ("title_said", "project_link", "area", "state", "turns", "distilling", "changed")
    list_filter = (
        ("status", ChoicesDropdownFilter),
        "distil_pending",
        ("project", ProjectFilter),
        ("updated_at", RangeDateTimeFilter),
    )
    list_filter_options = visible("status")
    search_fields = ("title", "ref", "area", "project__slug")
    list_select_related = ("project",)
    where_there: ClassVar = {
        "summary_said": "summary_id",
        "summary_due": "summary_due_at",
        "due": "distil_due_at",
        "retry": "distil_retry_at",
        "distil_failures": "distil_failures",
        "area": "area",
    }
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("project_link", "area", "state"),
                    "ref_tag",
                    "summary_said",
                    ("created", "changed"),
                )
            },
        ),
        (_("What was said"), {"fields": ("turns_table", "rules")}),
        (_("What was kept"), {"fields": ("memories_list", "runs")}),
        (_("Distilling"), {"fields": (("distilling", "due"), ("retry", "distil_failures"), "summary_due")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Topic]:
        return super().get_queryset(request).with_turn_count()  # type: ignore[attr-defined]

    @display(description=_("topic"), ordering="title")
    def title_said(self, obj: Topic) -> SafeString | str:
        return stacked((obj.title or obj.ref, obj.title and quiet(obj.ref)))

    @display(description=_("reference"))
    def ref_tag(self, obj: Topic) -> SafeString | str:
        return tags([obj.ref])

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: Topic) -> SafeString | str:
        return link(obj.project)

    @display(description=_("status"), ordering="status")
    def state(self, obj: Topic) -> SafeString:
        return badge(obj.get_status_display(), TOPIC_TONES.get(obj.status, ""))

    @display(description=_("turns"), ordering="turn_count")
    def turns(self, obj: Topic) -> SafeString:
        return list_link(Chat, number(obj.turn_count), topic__id__exact=obj.pk)  # type: ignore[attr-defined]

    @display(description=_("distilling"))
    def distilling(self, obj: Topic) -> SafeString:
        if obj.distil_lease_token:
            return badge(_("running"), "info")
        state, _due_at = schedule.state_of(obj, memory_enabled=True, now=timezone.now())
        if state == "waiting_for_provider":
            return badge(_("waits for the model provider"), "warning")
        return badge(_("due"), "warning") if obj.distil_pending else badge(_("nothing due"))

    @display(description=_("due"))
    def due(self, obj: Topic) -> SafeString | str:
        trigger = obj.get_distil_trigger_display() if obj.distil_trigger else ""
        return stacked((moment(obj.distil_due_at), quiet(trigger)))

    @display(description=_("not before"))
    def retry(self, obj: Topic) -> SafeString | str:
        return moment(obj.distil_retry_at)

    @display(description=_("created"))
    def created(self, obj: Topic) -> SafeString | str:
        return moment(obj.created_at)

    @display(description=_("updated"), ordering="updated_at")
    def changed(self, obj: Topic) -> SafeString | str:
        return moment(obj.updated_at)

    @display(description=_("summary"))
    def summary_said(self, obj: Topic) -> SafeString | str:
        if (summary := obj.summary) is None:
            return NOTHING
        told = gettext("up to turn %(through)s, %(n)s tokens, made %(how)s") % {
            "through": number(summary.through),
            "n": number(summary.tokens),
            "how": " · ".join(
                filter(None, (str(RANKERS.get(summary.backend, summary.backend)), summary.model))
            ),
        }
        return stacked((prose(summary.text), quiet(told), quiet(moment(summary.created_at))))

    @display(description=_("to be summed up"))
    def summary_due(self, obj: Topic) -> SafeString | str:
        tried = gettext("tries in vain: %(n)s") % {"n": number(obj.summary_failures)}
        return stacked((moment(obj.summary_due_at), obj.summary_failures and quiet(tried)))

    @display(description=_("turns"), wrapper_class="cairn-wide")
    def turns_table(self, obj: Topic) -> SafeString | str:
        turns = list(obj.chats.turns().order_by("-seq")[: SHOWN + 1])  # type: ignore[attr-defined]
        rows = (
            (
                number(turn.seq),
                stacked((link(turn, excerpt(turn)), quiet(turn.author_name))),
                turn.get_status_display(),
                given_in_words(turn),
                turn.get_distil_outcome_display() or NOTHING,
                moment(turn.sent_at),
            )
            for turn in turns[:SHOWN]
        )
        headings = (_("number"), _("message"), _("status"), _("given"), _("distilling"), _("sent"))
        more = list_link(Chat, gettext("all turns"), topic__id__exact=obj.pk) if len(turns) > SHOWN else ""
        return table(headings, rows, more=more)

    @display(description=_("instructions"), wrapper_class="cairn-wide")
    def rules(self, obj: Topic) -> SafeString | str:
        return instructions_table(obj.instructions.select_related("chat", "memory"))  # type: ignore[attr-defined]

    @display(description=_("memories from here"))
    def memories_list(self, obj: Topic) -> SafeString | str:
        return stacked(
            joined((link(memory, memory.content), memory.get_status_display()))
            for memory in obj.memories.order_by("-pk")[:SHOWN]  # type: ignore[attr-defined]
        )

    @display(description=_("extractions"))
    def runs(self, obj: Topic) -> SafeString | str:
        return stacked(
            joined((link(run, f"#{run.pk}"), Extraction.Result(run.result).label, moment(run.started_at)))
            for run in obj.extractions.order_by("-pk")[:SHOWN]  # type: ignore[attr-defined]
        )


@admin.register(Instruction)
class InstructionAdmin(ReadableAdmin):
    list_display = ("content", "kind_said", "in_force", "topic_link", "turn", "memory_link", "at")
    list_filter = (("kind", ChoicesDropdownFilter), ("state", ChoicesDropdownFilter))
    list_filter_options = visible("kind", "state")
    search_fields = ("content",)
    list_select_related = ("topic__project", "chat", "memory")
    fields = ("content_said", ("kind_said", "in_force"), ("topic_link", "turn"), "memory_link", "at")

    @display(description=_("content"))
    def content_said(self, obj: Instruction) -> SafeString | str:
        return prose(obj.content)

    @display(description=_("kind"), ordering="kind")
    def kind_said(self, obj: Instruction) -> str:
        return obj.get_kind_display()

    @display(description=_("state"), ordering="state")
    def in_force(self, obj: Instruction) -> SafeString:
        return badge(obj.get_state_display(), RULE_TONES.get(obj.state, ""))

    @display(description=_("topic"), ordering="topic__title")
    def topic_link(self, obj: Instruction) -> SafeString | str:
        return link(obj.topic)

    @display(description=_("turn"))
    def turn(self, obj: Instruction) -> SafeString | str:
        return link(obj.chat, obj.chat.seq)

    @display(description=_("became"))
    def memory_link(self, obj: Instruction) -> SafeString | str:
        return link(obj.memory, obj.memory and obj.memory.content)

    @display(description=_("at"), ordering="created_at")
    def at(self, obj: Instruction) -> SafeString | str:
        return moment(obj.created_at)
