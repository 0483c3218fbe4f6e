"""Operators' pages for turns and their steps: what was said, and what memory had to do with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib import admin
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from chats import episodes, summaries
from chats.hearing import refusal_message
from chats.models import Chat
from memories import guard
from memories.admin import candidates_table, in_words
from memories.admin.words import DEGRADED
from memories.models import Candidate, Memory, Recall
from projects.admin import CodeFilter, ProjectFilter, ReadableAdmin, visible
from projects.admin.fragments import (
    NOTHING,
    badge,
    counted,
    joined,
    link,
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

from chats.admin.words import (
    ACCOUNT,
    HEARD,
    SHOWN,
    TURN_TONES,
    USAGE,
    excerpt,
    given_in_words,
    instructions_table,
)


class DistilFilter(CodeFilter):
    """Turns by what the distilling made of them; `due`: nothing yet."""

    title, parameter_name = _("distilling"), "distil_outcome"
    codes: ClassVar = {"due": _("still due"), **dict(Chat.DistilOutcome.choices)}

    def queryset(self, request: HttpRequest, queryset: QuerySet[Chat]) -> QuerySet[Chat]:
        return queryset.undistilled() if self.value() == "due" else super().queryset(request, queryset)  # type: ignore[attr-defined]


@admin.register(Chat)
class ChatAdmin(ReadableAdmin):
    list_display = ("said", "topic_link", "project_link", "author", "state", "chip", "distilled", "sent")
    list_filter = (
        ("status", ChoicesDropdownFilter),
        DistilFilter,
        ("origin", ChoicesDropdownFilter),
        ("project", ProjectFilter),
        ("sent_at", RangeDateTimeFilter),
    )
    list_filter_options = visible("status", "distil_outcome", "origin")
    search_fields = ("message", "reply", "ref", "author_name")
    list_select_related = ("project", "topic", "parent", "extraction", "author_user")
    where_there: ClassVar = {
        "parent_link": "parent_id",
        "attached_said": "attached",
        "further_said": "further",
        "error_said": "error",
        "file_tags": "files",
        "tools_said": "tools",
        "usage_said": "usage",
        "model_said": "model",
        "milestone_said": "milestone",
        "account": "given",
        "summary_given": "given",
        "episodes_given": "given",
        "digest_said": "digest",
        "intent_said": "given",
        "heard": "explicit",
        "ref_tag": "ref",
    }
    fieldsets = (
        (
            None,
            {"fields": (("project_link", "topic_link", "seq"), ("author", "agent", "state"), "parent_link")},
        ),
        (
            _("Conversation"),
            {"fields": ("said_whole", "attached_said", "further_said", "reply_said", "error_said")},
        ),
        (
            _("What it was given"),
            {
                "fields": (
                    "chip",
                    "memories_given",
                    "recalls",
                    "summary_given",
                    "episodes_given",
                    "account",
                )
            },
        ),
        (_("What it brought"), {"fields": ("heard", "rules", "distilled", "candidates", "digest_said")}),
        (
            _("More"),
            {
                "fields": (
                    "steps",
                    ("file_tags", "tools_said"),
                    ("model_said", "usage_said"),
                    "milestone_said",
                    ("sent", "began", "ended"),
                    ("ref_tag", "intent_said"),
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Chat]:
        found: QuerySet[Chat] = super().get_queryset(request).select_related(*self.list_select_related)
        # The list is of turns; a step has a page, too.
        is_page = request.resolver_match and "object_id" in request.resolver_match.kwargs
        return found if is_page else found.turns()  # type: ignore[attr-defined]

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup == "topic__id__exact" or super().lookup_allowed(lookup, value, request)

    @display(description=_("message"))
    def said(self, obj: Chat) -> str:
        return excerpt(obj)

    @display(description=_("message"))
    def said_whole(self, obj: Chat) -> SafeString | str:
        return prose(guard.mask(obj.message))

    @display(description=_("attached"))
    def attached_said(self, obj: Chat) -> SafeString | str:
        return prose(guard.mask(obj.attached))

    @display(description=_("further messages"))
    def further_said(self, obj: Chat) -> SafeString | str:
        return stacked(
            stacked((prose(guard.mask(one["text"])), quiet(moment(one.get("sent_at")))))
            for one in obj.further
        )

    @display(description=_("reply"))
    def reply_said(self, obj: Chat) -> SafeString | str:
        return prose(guard.mask(obj.reply))

    @display(description=_("error"))
    def error_said(self, obj: Chat) -> SafeString | str:
        return prose(obj.error)

    @display(description=_("topic"), ordering="topic__title")
    def topic_link(self, obj: Chat) -> SafeString | str:
        return link(obj.topic)

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: Chat) -> SafeString | str:
        return link(obj.project)

    @display(description=_("step of"))
    def parent_link(self, obj: Chat) -> SafeString | str:
        return link(obj.parent, obj.parent and excerpt(obj.parent))

    @display(description=_("author"), ordering="author_name")
    def author(self, obj: Chat) -> SafeString | str:
        member = obj.author_user and link(obj.author_user, obj.author_user.get_username())
        return stacked((obj.author_name or obj.author_ref or NOTHING, quiet(member)))

    @display(description=_("status"), ordering="status")
    def state(self, obj: Chat) -> SafeString:
        return badge(obj.get_status_display(), TURN_TONES.get(obj.status, ""))

    @display(description=_("given"), ordering="memory_tokens")
    def chip(self, obj: Chat) -> str:
        return given_in_words(obj)

    @display(description=_("distilling"), ordering="distil_outcome")
    def distilled(self, obj: Chat) -> SafeString | str:
        run = obj.extraction and link(
            obj.extraction, gettext("extraction %(id)s") % {"id": obj.extraction_id}
        )
        return stacked((obj.get_distil_outcome_display() or NOTHING, quiet(run)))

    @display(description=_("memories"), wrapper_class="cairn-wide")
    def memories_given(self, obj: Chat) -> SafeString | str:
        refs = obj.memory_refs or []
        found = Memory.objects.in_bulk(refs)
        rows = (
            (
                link(found[pk], found[pk].content)
                if pk in found
                else gettext("#%(id)s, gone since") % {"id": pk},
                found[pk].get_type_display() if pk in found else NOTHING,
                found[pk].get_status_display() if pk in found else NOTHING,
            )
            for pk in refs
        )
        return table((_("memory"), _("type"), _("status today")), rows)

    @display(description=_("recalls"), wrapper_class="cairn-wide")
    def recalls(self, obj: Chat) -> SafeString | str:
        rows = (
            (
                link(recall, gettext("recall %(id)s") % {"id": recall.pk}),
                moment(recall.created_at),
                in_words(recall.intent),
                number(recall.tokens),
                f"{number(recall.ms, 1)} ms",
                str(DEGRADED.get(recall.error, recall.error)) or NOTHING,
            )
            for recall in Recall.objects.filter(chat=obj).order_by("-pk")[:SHOWN]
        )
        return table((_("recall"), _("at"), _("taken for"), _("tokens"), _("took"), _("error")), rows)

    @display(description=_("summary given"))
    def summary_given(self, obj: Chat) -> SafeString | str:
        summary = summaries.given(obj.given.get("summary"))
        if summary is None:
            return gettext("forgotten since") if obj.given.get("summary") else NOTHING
        return stacked(
            (
                prose(summary.text),
                quiet(
                    gettext("up to turn %(through)s, %(n)s tokens")
                    % {"through": number(summary.through), "n": number(summary.tokens)}
                ),
            )
        )

    @display(description=_("turns of other topics"), wrapper_class="cairn-wide")
    def episodes_given(self, obj: Chat) -> SafeString | str:
        given = episodes.given(obj.given.get("episodes", []))
        turns = Chat.objects.select_related("topic").in_bulk([episode.turn for episode in given])
        rows = (
            (
                link(turns[episode.turn], episode.content),
                link(turns[episode.turn].topic),
                moment(episode.sent_at),
                number(episode.tokens),
            )
            for episode in given
            if episode.turn in turns
        )
        return table((_("turn"), _("topic"), _("sent"), _("tokens")), rows)

    @display(description=_("digest"))
    def digest_said(self, obj: Chat) -> SafeString | str:
        return prose(obj.digest)

    @display(description=_("tokens"))
    def account(self, obj: Chat) -> str:
        tokens = obj.given.get("tokens", {})
        return (
            " · ".join(f"{name} {number(tokens[what])}" for what, name in ACCOUNT.items() if what in tokens)
            or NOTHING
        )

    @display(description=_("“Remember:”"), wrapper_class="cairn-wide")
    def heard(self, obj: Chat) -> SafeString | str:
        """What the explicit channel made of the message."""
        told = {name: obj.explicit.get(name, []) for name in ("remembered", "refused", "forgotten")}
        ids = [entry["memory"] for entry in (*told["remembered"], *told["forgotten"]) if entry["memory"]]
        found = Memory.objects.in_bulk(ids) if ids else {}

        def memory(pk: int | None) -> Any:
            return link(found[pk], found[pk].content) if pk in found else NOTHING

        return stacked(
            (
                *(
                    joined((HEARD.get(one["outcome"], one["outcome"]), memory(one["memory"])))
                    for one in told["remembered"]
                ),
                *(joined((refusal_message(one["code"]), one["text"])) for one in told["refused"]),
                *(
                    joined((gettext("switched off"), memory(one["memory"])))
                    if one["memory"]
                    else gettext("Nothing was switched off.")
                    for one in told["forgotten"]
                ),
            )
        )

    @display(description=_("instructions"), wrapper_class="cairn-wide")
    def rules(self, obj: Chat) -> SafeString | str:
        return instructions_table(obj.instructions.select_related("chat", "memory"))  # type: ignore[attr-defined]

    @display(description=_("candidates"), wrapper_class="cairn-wide")
    def candidates(self, obj: Chat) -> SafeString | str:
        found = Candidate.objects.filter(chat=obj).select_related("chat", "memory").order_by("pk")
        return candidates_table(found[:SHOWN])

    @display(description=_("steps of other agents"), wrapper_class="cairn-wide")
    def steps(self, obj: Chat) -> SafeString | str:
        rows = (
            (number(step.position), step.agent, link(step, excerpt(step)), step.get_status_display())
            for step in obj.steps.order_by("position")[:SHOWN]  # type: ignore[attr-defined]
        )
        return table((_("number"), _("agent"), _("message"), _("status")), rows)

    @display(description=_("files"))
    def file_tags(self, obj: Chat) -> SafeString | str:
        return tags([guard.mask(file) for file in obj.files])

    @display(description=_("tools"))
    def tools_said(self, obj: Chat) -> SafeString | str:
        return stacked(
            joined(
                (
                    guard.mask(tool.get("name", NOTHING)),
                    gettext("succeeded") if tool.get("ok", True) else gettext("failed"),
                )
            )
            for tool in obj.tools
        )

    @display(description=_("model"))
    def model_said(self, obj: Chat) -> str:
        return guard.mask(obj.model)

    @display(description=_("milestone"))
    def milestone_said(self, obj: Chat) -> str:
        return guard.mask(obj.milestone)

    @display(description=_("usage"))
    def usage_said(self, obj: Chat) -> str:
        return counted({guard.mask(kind): n for kind, n in obj.usage.items()}, USAGE)

    @display(description=_("intent"))
    def intent_said(self, obj: Chat) -> str:
        return in_words(obj.given.get("intent") or {})

    @display(description=_("reference"))
    def ref_tag(self, obj: Chat) -> SafeString | str:
        return tags([obj.ref]) if obj.ref else NOTHING

    @display(description=_("sent"), ordering="sent_at")
    def sent(self, obj: Chat) -> SafeString | str:
        return moment(obj.sent_at)

    @display(description=_("started"))
    def began(self, obj: Chat) -> SafeString | str:
        return moment(obj.started_at)

    @display(description=_("finished"))
    def ended(self, obj: Chat) -> SafeString | str:
        return moment(obj.finished_at)
