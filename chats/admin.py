"""Operators' pages for topics, turns and instructions: what was said, and where each thing came from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.utils.html import format_html
from django.utils.safestring import mark_safe
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import display

from chats.models import Chat, Instruction, Topic
from memories.admin import CandidateInline, RecallInline
from memories.models import Memory
from projects.admin import ReadableAdmin, ReadableInline, link, list_link

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

TURN_LABELS = {"running": "info", "succeeded": "success", "failed": "danger", "cancelled": "warning"}


class InstructionInline(ReadableInline):
    model = Instruction
    fields = ("content", "kind", "state", "memory", "created_at")
    fk_name = "topic"


class TurnInline(ReadableInline):
    model = Chat
    fk_name = "topic"
    verbose_name_plural = _("turns")
    fields = ("seq", "message", "status", "memory_tokens", "distil_outcome", "sent_at")
    ordering = ("seq",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chat]:
        return super().get_queryset(request).filter(parent=None)


class StepInline(ReadableInline):
    model = Chat
    fk_name = "parent"
    verbose_name_plural = _("steps of other agents")
    fields = ("position", "agent", "message", "reply", "status")


@admin.register(Topic)
class TopicAdmin(ReadableAdmin):
    list_display = ("title_or_ref", "project", "area", "status", "turns", "distilling", "updated_at")
    list_filter = ("status", "distil_pending", ("project", admin.RelatedOnlyFieldListFilter))
    search_fields = ("title", "ref", "area", "project__slug")
    list_select_related = ("project",)
    inlines = (TurnInline, InstructionInline)

    @display(description=_("topic"), ordering="title")
    def title_or_ref(self, obj: Topic) -> str:
        return str(obj)

    @display(description=_("turns"))
    def turns(self, obj: Topic) -> SafeString:
        return list_link(Chat, _("turns"), topic__id__exact=obj.pk)

    @display(description=_("distilling"), label={"running": "info", "due": "warning", "idle": "success"})
    def distilling(self, obj: Topic) -> tuple[str, str]:
        if obj.distil_lease_token:
            return "running", str(_("running"))
        return ("due", str(_("due"))) if obj.distil_pending else ("idle", str(_("nothing due")))


@admin.register(Chat)
class ChatAdmin(ReadableAdmin):
    list_display = ("short", "topic", "project", "author_name", "state", "given", "distil_outcome", "sent_at")
    list_filter = ("status", "distil_outcome", "origin", ("project", admin.RelatedOnlyFieldListFilter))
    search_fields = ("message", "reply", "ref", "author_name")
    list_select_related = ("project", "topic")
    inlines = (RecallInline, CandidateInline, StepInline)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    ("topic_link", "seq", "parent_link"),
                    ("author_name", "author_user", "agent", "status"),
                )
            },
        ),
        (_("Conversation"), {"fields": ("message", "attached", "further", "reply", "error")}),
        (
            _("Memory"),
            {"fields": ("given", "memories_given", "degraded", ("distil_outcome", "extraction_link"))},
        ),
        (
            _("More"),
            {"fields": ("files", "tools", ("model", "usage"), ("sent_at", "started_at", "finished_at"))},
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chat]:
        found = super().get_queryset(request)
        return (
            found
            if request.resolver_match and "object_id" in request.resolver_match.kwargs
            else found.turns()
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Chat | None = None) -> list[str]:
        return ["topic_link", "parent_link", "given", "memories_given", "extraction_link"]

    @display(description=_("message"))
    def short(self, obj: Chat) -> str:
        return obj.message[:80] or f"#{obj.pk}"

    @display(description=_("status"), label=TURN_LABELS, ordering="status")
    def state(self, obj: Chat) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    @display(description=_("given"))
    def given(self, obj: Chat) -> str:
        if obj.memory_refs is None:
            return str(_("memory off"))
        if not obj.memory_refs:
            return ", ".join(obj.degraded) or str(_("nothing relevant"))
        memories = ngettext("%(n)s memory", "%(n)s memories", len(obj.memory_refs)) % {
            "n": len(obj.memory_refs)
        }
        return f"{memories} · {obj.memory_tokens} tokens"

    @display(description=_("memories given"))
    def memories_given(self, obj: Chat) -> SafeString | str:
        found = Memory.objects.in_bulk(obj.memory_refs or [])
        lines = [
            format_html("<li>{}</li>", link(found[pk], found[pk].content) if pk in found else f"#{pk}")
            for pk in obj.memory_refs or []
        ]
        return mark_safe(f"<ul>{''.join(lines)}</ul>") if lines else "–"  # noqa: S308 (each line is escaped)

    @display(description=_("topic"))
    def topic_link(self, obj: Chat) -> SafeString | str:
        return link(obj.topic)

    @display(description=_("step of"))
    def parent_link(self, obj: Chat) -> SafeString | str:
        return link(obj.parent)

    @display(description=_("read by"))
    def extraction_link(self, obj: Chat) -> SafeString | str:
        return link(obj.extraction)


@admin.register(Instruction)
class InstructionAdmin(ReadableAdmin):
    list_display = ("content", "kind", "state", "topic", "memory", "created_at")
    list_filter = ("kind", "state")
    search_fields = ("content",)
    list_select_related = ("topic", "memory")
