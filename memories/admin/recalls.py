"""Operators' pages for what recall gave, what it left out, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.contrib import admin
from django.db.models import Count, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display

from memories.admin.words import DEGRADED, INTENT_RULES, INTENTS, OMITTED, PARTS, RANKERS, TIERS, opening
from memories.models import Memory, MemoryType, MemoryUsage, Recall, RecallBlock, RecallItem
from projects.admin import CodeFilter, ProjectFilter, ReadableAdmin, visible
from projects.admin.fragments import (
    BETWEEN,
    NOTHING,
    bar,
    counted,
    exact,
    joined,
    link,
    list_link,
    moment,
    number,
    page,
    prose,
    quiet,
    scores,
    stacked,
    table,
    tags,
)

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString


class TierFilter(CodeFilter):
    title, parameter_name, codes = _("given"), "tier", TIERS


class ErrorFilter(CodeFilter):
    title, parameter_name, codes = _("error"), "error", DEGRADED


def in_words(intent: Mapping[str, Any]) -> str:
    """What kind of message the turn was taken for, and by which rule."""
    if not intent:
        return NOTHING
    value, rule = intent.get("value", ""), intent.get("rule", "")
    return BETWEEN.join(str(said) for said in (INTENTS.get(value, value), INTENT_RULES.get(rule, rule)))


def score_parts(parts: Mapping[str, float]) -> SafeString | str:
    """Every part with a bar and its number, always in one order; without those that add nothing."""
    return scores((PARTS.get(name, name), parts[name]) for name in PARTS if parts.get(name))


def given_memories(recall: Recall) -> SafeString | str:
    """The memories of a recall as they were then; one that is gone since is named by its id."""
    items = list(recall.items.order_by("rank"))  # type: ignore[attr-defined]
    found = Memory.objects.in_bulk([item.memory_id for item in items])
    rows = (
        (
            number(item.rank),
            stacked(_named(item.memory_id, found.get(item.memory_id), item.version)),
            TIERS.get(item.tier, item.tier),
            gettext("no score") if item.score is None else stacked((number(item.score, 3), bar(item.score))),
            score_parts(item.parts) if item.score is not None else NOTHING,
            number(item.tokens),
        )
        for item in items
    )
    return table(("#", _("memory"), _("given"), _("score"), _("parts"), _("tokens")), rows)


def left_out(recall: Recall) -> SafeString | str:
    found = Memory.objects.in_bulk([entry["id"] for entry in recall.omitted])
    rows = (
        (
            stacked(_named(entry["id"], found.get(entry["id"]), entry.get("version"))),
            OMITTED.get(entry["reason"], entry["reason"]),
            stacked((number(entry["score"], 3), bar(entry["score"]))) if "score" in entry else NOTHING,
            score_parts(entry.get("parts", {})),
        )
        for entry in recall.omitted
    )
    counts = counted(recall.omitted_counts, OMITTED) if recall.omitted_counts else ""
    return table((_("memory"), _("why"), _("score"), _("parts")), rows, more=counts)


def _named(memory_id: int, memory: Memory | None, version: int | None) -> tuple[Any, ...]:
    if memory is None:
        return (f"#{memory_id}", quiet(gettext("gone since")))
    since = memory.version != version and gettext("now version %(version)s") % {"version": memory.version}
    status = memory.status != "active" and memory.get_status_display()
    return (link(memory, memory.content), quiet(memory.get_type_display(), memory.key, status, since))


class RecallPieces:
    @display(description=_("turn"))
    def turn(self, obj: Recall) -> SafeString | str:
        return link(obj.chat, opening(obj.chat.message, limit=80) or f"#{obj.chat_id}")

    @display(description=_("at"), ordering="created_at")
    def at(self, obj: Recall) -> SafeString | str:
        return moment(obj.created_at)

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: Recall) -> SafeString | str:
        return link(obj.project)

    @display(description=_("took"), ordering="ms")
    def took(self, obj: Recall) -> str:
        return f"{number(obj.ms, 1)} ms"

    @display(description=_("error"), ordering="error")
    def error_said(self, obj: Recall) -> str:
        return str(DEGRADED.get(obj.error, obj.error)) or NOTHING


@admin.register(Recall)
class RecallAdmin(RecallPieces, ReadableAdmin):
    list_display = (
        "asked",
        "at",
        "project_link",
        "items_given",
        "tokens",
        "omitted_said",
        "took",
        "error_said",
    )
    list_filter = (ErrorFilter, ("project", ProjectFilter), ("created_at", RangeDateTimeFilter))
    list_filter_options = visible("error")
    search_fields = ("query",)
    list_select_related = ("project", "chat", "block")
    where_there: ClassVar = {"file_tags": "files", "error_said": "error", "intent_said": "intent"}
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "turn",
                    ("project_link", "at", "took"),
                    "asked",
                    "file_tags",
                    "intent_said",
                    "error_said",
                )
            },
        ),
        (_("What the agent was given"), {"fields": ("items_table", "block_said", "block_text")}),
        (_("What was left out"), {"fields": ("omitted_table",)}),
        (_("Parameters"), {"fields": ("ranker_said", "weights", "limits")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Recall]:
        return super().get_queryset(request).annotate(item_count=_items())

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup == "items__memory_id" or super().lookup_allowed(lookup, value, request)

    @display(description=_("query"))
    def asked(self, obj: Recall) -> SafeString | str:
        return prose(obj.query) if obj.query else str(_("nothing: only what is always given"))

    @display(description=_("given"), ordering="item_count")
    def items_given(self, obj: Recall) -> SafeString:
        return list_link(RecallItem, number(obj.item_count), recall__id__exact=obj.pk)  # type: ignore[attr-defined]

    @display(description=_("left out"))
    def omitted_said(self, obj: Recall) -> SafeString | str:
        return stacked(counted({code: n}, OMITTED) for code, n in obj.omitted_counts.items())

    @display(description=_("files"))
    def file_tags(self, obj: Recall) -> SafeString | str:
        return tags(obj.files)

    @display(description=_("taken for"))
    def intent_said(self, obj: Recall) -> str:
        return in_words(obj.intent)

    @display(description=_("memories"), wrapper_class="cairn-wide")
    def items_table(self, obj: Recall) -> SafeString | str:
        return given_memories(obj)

    @display(description=_("left out"), wrapper_class="cairn-wide")
    def omitted_table(self, obj: Recall) -> SafeString | str:
        return left_out(obj)

    @display(description=_("block"))
    def block_said(self, obj: Recall) -> SafeString | str:
        if obj.block_id is None:
            return NOTHING
        sha = page(RecallBlock, obj.block_id, obj.block_id[:12])
        return joined((ngettext("%(n)s token", "%(n)s tokens", obj.tokens) % {"n": number(obj.tokens)}, sha))

    @display(description=_("exact text"), wrapper_class="cairn-wide")
    def block_text(self, obj: Recall) -> SafeString | str:
        return exact(obj.block.text) if obj.block else NOTHING

    @display(description=_("ranker"))
    def ranker_said(self, obj: Recall) -> str:
        return str(RANKERS.get(obj.ranker, obj.ranker))

    @display(description=_("weights of the parts"))
    def weights(self, obj: Recall) -> SafeString | str:
        return score_parts({name: obj.parameters.get(name, 0) for name in PARTS})

    @display(description=_("other numbers"))
    def limits(self, obj: Recall) -> SafeString | str:
        """Tuning numbers have the names that the code and its documents give them."""
        plain = {name: value for name, value in obj.parameters.items() if name not in PARTS}
        types = plain.pop("types", {})
        named = {
            str(MemoryType(name).label): value for name, value in types.items() if name in MemoryType.values
        }
        return stacked(
            (
                tags(f"{name} {value}" for name, value in plain.items()),
                joined(f"{name} {value}" for name, value in named.items()),
            )
        )


@admin.register(RecallItem)
class RecallItemAdmin(ReadableAdmin):
    list_display = ("memory_said", "recall_link", "at", "rank", "tier_said", "score_said", "tokens")
    list_filter = (TierFilter,)
    list_filter_options = visible("tier")
    list_select_related = ("recall__chat",)
    ordering = ("-pk",)
    fields = (
        "memory_said",
        "recall_link",
        "at",
        "version",
        "rank",
        "tier_said",
        "score_said",
        "parts_said",
        "tokens",
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[RecallItem]:
        # No join to the memory: it may be gone, and its row with it.
        memory = Memory.objects.filter(pk=OuterRef("memory_id"))
        return super().get_queryset(request).annotate(content=Subquery(memory.values("content")[:1]))

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup in {"memory_id", "recall__id__exact"} or super().lookup_allowed(lookup, value, request)

    @display(description=_("memory"))
    def memory_said(self, obj: RecallItem) -> str:
        content = getattr(obj, "content", None)
        return content or gettext("#%(id)s, gone since") % {"id": obj.memory_id}

    @display(description=_("turn"), ordering="recall")
    def recall_link(self, obj: RecallItem) -> SafeString | str:
        recall = link(obj.recall, gettext("recall %(id)s") % {"id": obj.recall_id})
        return stacked(
            (
                link(obj.recall.chat, opening(obj.recall.chat.message, limit=80) or f"#{obj.recall.chat_id}"),
                recall,
            )
        )

    @display(description=_("at"), ordering="recall__created_at")
    def at(self, obj: RecallItem) -> SafeString | str:
        return moment(obj.recall.created_at)

    @display(description=_("given"), ordering="tier")
    def tier_said(self, obj: RecallItem) -> str:
        return str(TIERS.get(obj.tier, obj.tier))

    @display(description=_("score"), ordering="score")
    def score_said(self, obj: RecallItem) -> SafeString | str:
        return str(_("no score")) if obj.score is None else stacked((number(obj.score, 3), bar(obj.score)))

    @display(description=_("parts"))
    def parts_said(self, obj: RecallItem) -> SafeString | str:
        return score_parts(obj.parts)


@admin.register(RecallBlock)
class RecallBlockAdmin(ReadableAdmin):
    list_display = ("short", "project_link", "at", "times")
    list_filter = (("project", ProjectFilter),)
    search_fields = ("sha256",)
    list_select_related = ("project",)
    fields = ("sha_tag", "project_link", "at", "times", "text_said")

    def get_queryset(self, request: HttpRequest) -> QuerySet[RecallBlock]:
        return super().get_queryset(request).annotate(recall_count=Count("recalls"))

    @display(description=_("block"))
    def short(self, obj: RecallBlock) -> str:
        return obj.sha256[:12]

    @display(description="SHA-256")
    def sha_tag(self, obj: RecallBlock) -> SafeString | str:
        return tags([obj.sha256])

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: RecallBlock) -> SafeString | str:
        return link(obj.project)

    @display(description=_("first given"), ordering="created_at")
    def at(self, obj: RecallBlock) -> SafeString | str:
        return moment(obj.created_at)

    @display(description=_("recalls"), ordering="recall_count")
    def times(self, obj: RecallBlock) -> SafeString:
        return list_link(Recall, number(obj.recall_count), block__sha256__exact=obj.pk)  # type: ignore[attr-defined]

    @display(description=_("exact text"), wrapper_class="cairn-wide")
    def text_said(self, obj: RecallBlock) -> SafeString | str:
        return exact(obj.text)


@admin.register(MemoryUsage)
class MemoryUsageAdmin(ReadableAdmin):
    list_display = ("memory_said", "project_link", "turns", "last")
    search_fields = ("memory__content", "memory__key")
    list_select_related = ("memory__project",)
    fields = ("memory_link", "project_link", "turns", "last")

    @display(description=_("memory"))
    def memory_said(self, obj: MemoryUsage) -> str:
        return obj.memory.content

    @display(description=_("memory"))
    def memory_link(self, obj: MemoryUsage) -> SafeString | str:
        return link(obj.memory, obj.memory.content)

    @display(description=_("project"), ordering="memory__project__slug")
    def project_link(self, obj: MemoryUsage) -> SafeString | str:
        return link(obj.memory.project)

    @display(description=_("given in turns"), ordering="count")
    def turns(self, obj: MemoryUsage) -> SafeString:
        return list_link(RecallItem, number(obj.count), memory_id=obj.memory_id)

    @display(description=_("last given"), ordering="last_at")
    def last(self, obj: MemoryUsage) -> SafeString | str:
        return moment(obj.last_at)


def _items() -> Coalesce:
    """How many memories each recall gave: one subquery, instead of a join that multiplies."""
    items = RecallItem.objects.filter(recall=OuterRef("pk")).order_by().values("recall")
    return Coalesce(Subquery(items.annotate(n=Count("pk")).values("n")), 0)
