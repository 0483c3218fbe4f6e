"""Operators' pages for what recall gave and what extraction proposed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from memories.models import (
    Candidate,
    Extraction,
    Memory,
    MemoryUsage,
    Recall,
    RecallBlock,
    RecallItem,
    Tombstone,
)
from projects.admin import ReadableAdmin, ReadableInline, link

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

RUN_LABELS = {
    "running": "info",
    "succeeded": "success",
    "failed": "danger",
    "cancelled": "warning",
    "abandoned": "warning",
}


class ItemInline(ReadableInline):
    model = RecallItem
    fields = ("rank", "memory", "version", "tier", "score", "parts", "tokens")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RecallItem]:
        return super().get_queryset(request).select_related("memory")


class RecallInline(ReadableInline):
    model = Recall
    fields = ("created_at", "query", "tokens", "ms", "omitted_counts", "error")


class CandidateInline(ReadableInline):
    model = Candidate
    fields = ("type", "content", "quote", "quote_role", "outcome", "reason", "memory")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Candidate]:
        return super().get_queryset(request).select_related("memory")


@admin.register(Recall)
class RecallAdmin(ReadableAdmin):
    list_display = ("created_at", "query_line", "project", "tokens", "ms", "omitted_counts", "error")
    list_filter = ("error", "ranker", ("project", admin.RelatedOnlyFieldListFilter))
    search_fields = ("query",)
    list_select_related = ("project",)
    inlines = (ItemInline,)
    readonly_fields = ("turn", "block_text", "omitted_list")
    fieldsets = (
        (None, {"fields": ("turn", "query", "files", "intent", ("tokens", "ms", "ranker"), "error")}),
        (_("What the agent was given"), {"fields": ("block_text",)}),
        (_("What was left out"), {"fields": ("omitted_counts", "omitted_list")}),
        (_("Parameters"), {"fields": ("parameters",)}),
    )

    @display(description=_("query"))
    def query_line(self, obj: Recall) -> str:
        return obj.query[:80] or "–"

    @display(description=_("turn"))
    def turn(self, obj: Recall) -> SafeString | str:
        return link(obj.chat)

    @display(description=_("block"))
    def block_text(self, obj: Recall) -> SafeString | str:
        return format_html("<pre class='whitespace-pre-wrap'>{}</pre>", obj.block.text) if obj.block else "–"

    @display(description=_("best of them"))
    def omitted_list(self, obj: Recall) -> SafeString | str:
        found = Memory.objects.in_bulk([entry["id"] for entry in obj.omitted])
        rows = (
            (
                link(found[entry["id"]], found[entry["id"]].content) if entry["id"] in found else entry["id"],
                entry["reason"],
            )
            for entry in obj.omitted
        )
        return format_html_join("", "<p>{} · {}</p>", rows) or "–"


@admin.register(Extraction)
class ExtractionAdmin(ReadableAdmin):
    list_display = (
        "started_at",
        "topic",
        "project",
        "trigger",
        "state",
        "backend",
        "turns",
        "counts",
        "error_kind",
    )
    list_filter = (
        "status",
        "trigger",
        "backend",
        "error_kind",
        ("project", admin.RelatedOnlyFieldListFilter),
    )
    search_fields = ("topic__title", "topic__ref", "project__slug")
    list_select_related = ("project", "topic")
    inlines = (CandidateInline,)
    exclude = ("lease_token",)

    @display(description=_("status"), label=RUN_LABELS, ordering="status")
    def state(self, obj: Extraction) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    @display(description=_("turns read"))
    def turns(self, obj: Extraction) -> int:
        return len(obj.chats_read)


@admin.register(Candidate)
class CandidateAdmin(ReadableAdmin):
    list_display = (
        "content",
        "type",
        "outcome",
        "reason",
        "quote_role",
        "memory",
        "extraction",
        "created_at",
    )
    list_filter = ("outcome", "reason", "type", "quote_role")
    search_fields = ("content", "key")
    list_select_related = ("memory", "extraction")


@admin.register(RecallItem)
class RecallItemAdmin(ReadableAdmin):
    list_display = ("recall", "rank", "memory", "version", "tier", "score", "tokens")
    list_filter = ("tier",)
    list_select_related = ("recall", "memory")


@admin.register(RecallBlock)
class RecallBlockAdmin(ReadableAdmin):
    list_display = ("sha256", "project", "created_at")
    list_select_related = ("project",)


@admin.register(MemoryUsage)
class MemoryUsageAdmin(ReadableAdmin):
    list_display = ("memory", "count", "last_at")
    list_select_related = ("memory",)


@admin.register(Tombstone)
class TombstoneAdmin(ReadableAdmin):
    list_display = ("memory_id", "project", "reason", "created_at")
    list_filter = ("reason",)
    list_select_related = ("project",)
    fields = ("memory_id", "project", "reason", "created_at")
