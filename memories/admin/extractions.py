"""Operators' pages for the runs of the distilling, what they proposed, and what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from django.contrib import admin
from django.utils.translation import gettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from memories.admin.words import (
    FAILURES,
    OUTCOME_TONES,
    OUTCOMES,
    RANKERS,
    REASONS,
    RESULT_TONES,
    ROLES,
    opening,
)
from memories.models import Candidate, Extraction
from projects.admin import CodeFilter, ProjectFilter, ReadableAdmin, visible
from projects.admin.fragments import (
    NOTHING,
    badge,
    counted,
    exact,
    joined,
    link,
    moment,
    number,
    prose,
    quiet,
    quote,
    stacked,
    table,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString


class OutcomeFilter(CodeFilter):
    title, parameter_name, codes = _("outcome"), "outcome", OUTCOMES


class ReasonFilter(CodeFilter):
    title, parameter_name, codes = _("reason"), "reason", REASONS


class ResultFilter(CodeFilter):
    title, parameter_name, codes = _("result"), "result", dict(Extraction.Result.choices)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Extraction]) -> QuerySet[Extraction]:
        return queryset.with_result([self.value()]) if self.value() else queryset  # type: ignore[attr-defined]


class RoleFilter(CodeFilter):
    title, parameter_name, codes = _("said by"), "quote_role", ROLES


def outcome_badge(candidate: Candidate) -> SafeString:
    said = OUTCOMES.get(candidate.outcome, candidate.outcome)  # type: ignore[call-overload]
    return badge(said, OUTCOME_TONES.get(candidate.outcome, ""))


def candidates_table(candidates: Iterable[Candidate]) -> SafeString | str:
    """`candidates` come with chat and memory."""
    rows = (
        (
            stacked(
                (
                    link(candidate, candidate.content or gettext("forgotten")),
                    quiet(candidate.get_type_display()),
                )
            ),
            quote(candidate.quote, ROLES.get(candidate.quote_role, candidate.quote_role))
            if candidate.quote
            else NOTHING,
            link(candidate.chat, candidate.chat and candidate.chat.seq),
            stacked(
                (
                    outcome_badge(candidate),
                    quiet(REASONS.get(candidate.reason, candidate.reason)),
                )
            ),
            link(candidate.memory, candidate.memory and candidate.memory.content),
        )
        for candidate in candidates
    )
    return table((_("candidate"), _("quote"), _("turn"), _("what became of it"), _("memory")), rows)


@admin.register(Extraction)
class ExtractionAdmin(ReadableAdmin):
    list_display = (
        "run",
        "topic_link",
        "project_link",
        "trigger_said",
        "state",
        "backend_said",
        "turns",
        "counts_said",
        "began",
    )
    list_filter = (
        ResultFilter,
        ("trigger", ChoicesDropdownFilter),
        ("project", ProjectFilter),
        ("started_at", RangeDateTimeFilter),
    )
    list_filter_options = visible("result", "trigger")
    search_fields = ("topic__title", "topic__ref", "project__slug")
    list_select_related = ("project", "topic")
    where_there: ClassVar = {"error_said": "error_kind", "raw_text": "raw_output"}
    fieldsets = (
        (None, {"fields": (("topic_link", "project_link"), ("state", "trigger_said"), "error_said", "when")}),
        (_("What was read"), {"fields": ("turns_table",)}),
        (_("What it proposed"), {"fields": ("counts_said", "candidates_table", "memories_list")}),
        (_("How"), {"fields": (("backend_said", "attempts"), "tokens_said", "raw_text")}),
    )

    @display(description=_("extraction"), ordering="pk")
    def run(self, obj: Extraction) -> str:
        return f"#{obj.pk}"

    @display(description=_("topic"), ordering="topic__title")
    def topic_link(self, obj: Extraction) -> SafeString | str:
        return link(obj.topic)

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: Extraction) -> SafeString | str:
        return link(obj.project)

    @display(description=_("trigger"), ordering="trigger")
    def trigger_said(self, obj: Extraction) -> str:
        return obj.get_trigger_display()

    @display(description=_("result"), ordering="status")
    def state(self, obj: Extraction) -> SafeString:
        """Nothing worth keeping, an answer nobody can read and a provider that is down are three things."""
        return badge(Extraction.Result(obj.result).label, RESULT_TONES.get(obj.result, "danger"))

    @display(description=_("backend"), ordering="backend")
    def backend_said(self, obj: Extraction) -> SafeString | str:
        version = obj.prompt_version and gettext("version %(version)s") % {"version": obj.prompt_version}
        return stacked((RANKERS.get(obj.backend, obj.backend), quiet(obj.model, version)))

    @display(description=_("turns read"))
    def turns(self, obj: Extraction) -> str:
        return number(len(obj.chats_read))

    @display(description=_("outcome"))
    def counts_said(self, obj: Extraction) -> str:
        return counted(obj.counts, {**OUTCOMES, **REASONS})

    @display(description=_("started"), ordering="started_at")
    def began(self, obj: Extraction) -> SafeString | str:
        return moment(obj.started_at)

    @display(description=_("time"))
    def when(self, obj: Extraction) -> SafeString | str:
        if obj.finished_at is None:
            return moment(obj.started_at)
        seconds = (obj.finished_at - obj.started_at).total_seconds()
        return joined((moment(obj.started_at), gettext("took %(n)s s") % {"n": number(seconds, 1)}))

    @display(description=_("error"))
    def error_said(self, obj: Extraction) -> SafeString | str:
        if not obj.error_kind:
            return NOTHING
        return stacked((obj.get_error_kind_display(), quiet(FAILURES.get(obj.error, obj.error))))

    @display(description=_("turns read"), wrapper_class="cairn-wide")
    def turns_table(self, obj: Extraction) -> SafeString | str:
        chats = Extraction.chats.rel.related_model.objects.filter(pk__in=obj.chats_read)  # type: ignore[attr-defined]
        rows = (
            (
                number(chat.seq),
                link(chat, opening(chat.message, limit=120) or f"#{chat.pk}"),
                chat.author_name or NOTHING,
                chat.get_distil_outcome_display() or NOTHING,
                moment(chat.sent_at),
            )
            for chat in chats.order_by("topic_id", "seq")
        )
        return table((_("number"), _("turn"), _("author"), _("distilling"), _("sent")), rows)

    @display(description=_("candidates"), wrapper_class="cairn-wide")
    def candidates_table(self, obj: Extraction) -> SafeString | str:
        return candidates_table(obj.candidates.select_related("chat", "memory").order_by("position"))  # type: ignore[attr-defined]

    @display(description=_("memories of this run"))
    def memories_list(self, obj: Extraction) -> SafeString | str:
        return stacked(
            joined((link(memory, memory.content), memory.get_status_display()))
            for memory in obj.memories.order_by("pk")  # type: ignore[attr-defined]
        )

    @display(description=_("tokens"))
    def tokens_said(self, obj: Extraction) -> str:
        return gettext("%(read)s in, %(written)s out") % {
            "read": number(obj.tokens_in),
            "written": number(obj.tokens_out),
        }

    @display(description=_("raw output"), wrapper_class="cairn-wide")
    def raw_text(self, obj: Extraction) -> SafeString | str:
        return exact(obj.raw_output)


@admin.register(Candidate)
class CandidateAdmin(ReadableAdmin):
    list_display = ("candidate", "said", "state", "why", "memory_link", "run", "at")
    list_filter = (OutcomeFilter, ReasonFilter, ("type", ChoicesDropdownFilter), RoleFilter)
    list_filter_options = visible("outcome", "reason", "type")
    search_fields = ("content", "key", "quote")
    list_select_related = ("memory", "extraction__project", "extraction__topic", "chat__topic", "target")
    fieldsets = (
        (None, {"fields": ("content_said", ("type_said", "key_said"), "said", "turn")}),
        (_("What became of it"), {"fields": (("state", "why"), "memory_link", "target_link")}),
        (_("Where it comes from"), {"fields": (("run", "topic_link", "project_link"), "at")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Candidate]:
        found: QuerySet[Candidate] = super().get_queryset(request).select_related(*self.list_select_related)
        return found

    @display(description=_("candidate"), ordering="content")
    def candidate(self, obj: Candidate) -> SafeString | str:
        return stacked((obj.content or gettext("forgotten"), quiet(obj.get_type_display(), obj.key)))

    @display(description=_("content"))
    def content_said(self, obj: Candidate) -> SafeString | str:
        return prose(obj.content)

    @display(description=_("type"))
    def type_said(self, obj: Candidate) -> str:
        return obj.get_type_display()

    @display(description=pgettext_lazy("of a memory", "key"))
    def key_said(self, obj: Candidate) -> str:
        return obj.key or NOTHING

    @display(description=_("quote"))
    def said(self, obj: Candidate) -> SafeString | str:
        return quote(obj.quote, ROLES.get(obj.quote_role, obj.quote_role)) if obj.quote else NOTHING

    @display(description=_("turn"))
    def turn(self, obj: Candidate) -> SafeString | str:
        if obj.chat is None:
            return NOTHING
        where = gettext("%(topic)s, turn %(number)s") % {"topic": obj.chat.topic, "number": obj.chat.seq}
        return joined((link(obj.chat, where), moment(obj.chat.sent_at)))

    @display(description=_("outcome"), ordering="outcome")
    def state(self, obj: Candidate) -> SafeString:
        return outcome_badge(obj)

    @display(description=_("reason"), ordering="reason")
    def why(self, obj: Candidate) -> str:
        return str(REASONS.get(obj.reason, obj.reason))  # type: ignore[call-overload]

    @display(description=_("memory"))
    def memory_link(self, obj: Candidate) -> SafeString | str:
        return link(obj.memory, obj.memory and obj.memory.content)

    @display(description=_("the other memory"))
    def target_link(self, obj: Candidate) -> SafeString | str:
        return link(obj.target, obj.target and obj.target.content)

    @display(description=_("extraction"), ordering="extraction")
    def run(self, obj: Candidate) -> SafeString | str:
        return link(obj.extraction, f"#{obj.extraction_id}")

    @display(description=_("topic"))
    def topic_link(self, obj: Candidate) -> SafeString | str:
        return link(obj.extraction.topic)

    @display(description=_("project"))
    def project_link(self, obj: Candidate) -> SafeString | str:
        return link(obj.extraction.project)

    @display(description=_("at"), ordering="created_at")
    def at(self, obj: Candidate) -> SafeString | str:
        return moment(obj.created_at)
