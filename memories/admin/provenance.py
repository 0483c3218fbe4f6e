"""What a memory's page tells about it: whose word it is, where it comes from, what became of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.html import format_html
from django.utils.translation import gettext, ngettext, pgettext_lazy
from django.utils.translation import gettext_lazy as _
from unfold.decorators import display

from memories.admin.words import KINDS_FOUND, OUTCOMES, REASONS, ROLES, TIERS, WITHHELD_FOR, opening
from memories.models import Memory, RecallItem
from memories.store.archiving import fate_of
from memories.withheld import against, shown
from projects.admin.fragments import (
    NOTHING,
    joined,
    link,
    list_link,
    marked,
    moment,
    number,
    prose,
    quiet,
    quote,
    stacked,
    table,
    tags,
)
from projects.admin.words import ACTIONS, NO_EXPIRY, TRANSPORTS, reason_said, who

if TYPE_CHECKING:
    from typing import Any

    from django.utils.safestring import SafeString

    from memories.withheld import Marked

SHOWN = 20
# What a version may differ in, besides its standing.
COMPARED = {
    "content": _("content"),
    "type": _("type"),
    "key": pgettext_lazy("of a memory", "key"),
    "importance": _("importance"),
    "always": _("given"),
    "keywords": _("keywords"),
    "files": _("files"),
    "area": _("area"),
    "expires_at": _("expires"),
    "status": _("status"),
    "authority": _("authority"),
    "evidence": _("evidence"),
}


class MemoryPieces:
    """The parts of the list and the page of memories that change nothing."""

    def author(self, obj: Memory) -> str:
        """Who said or wrote it, as far as that is known."""
        if obj.source_chat and obj.source_chat.author_name:
            return obj.source_chat.author_name
        return obj.created_by.get_username() if obj.created_by else ""

    def place(self, obj: Memory) -> SafeString | str:
        """The turn in which it was said."""
        if obj.source_chat is None:
            return link(obj.source_topic) if obj.source_topic else ""
        turn = gettext("%(topic)s, turn %(number)s") % {
            "topic": obj.source_topic,
            "number": obj.source_chat.seq,
        }
        return link(obj.source_chat, turn)

    @display(description=_("content"))
    def content_said(self, obj: Memory) -> SafeString | str:
        return prose(shown(obj, obj.content))

    @display(description=_("type"))
    def type_said(self, obj: Memory) -> str:
        return obj.get_type_display()

    @display(description=pgettext_lazy("of a memory", "key"))
    def key_said(self, obj: Memory) -> str:
        return shown(obj, obj.key)

    @display(description=_("area"))
    def area_said(self, obj: Memory) -> str:
        return shown(obj, obj.area) or NOTHING

    @display(description=_("expires"))
    def expires_said(self, obj: Memory) -> SafeString | str:
        return moment(obj.expires_at) if obj.expires_at else str(NO_EXPIRY)

    @display(description=_("keywords"))
    def word_tags(self, obj: Memory) -> SafeString | str:
        return tags(shown(obj, word) for word in obj.keywords)

    @display(description=_("files"))
    def file_tags(self, obj: Memory) -> SafeString | str:
        return tags(shown(obj, glob) for glob in obj.files)

    @display(description=_("importance"), ordering="importance")
    def weight(self, obj: Memory) -> SafeString | str:
        stones = f"{obj.importance} {'●' * obj.importance}{'○' * (5 - obj.importance)}"
        return stacked((stones, quiet(TIERS["always" if obj.always else "relevant"])))

    @display(description=_("used"), ordering="usage__count")
    def used(self, obj: Memory) -> SafeString | str:
        count = obj.usage.count if hasattr(obj, "usage") else 0
        if not count:
            return str(_("never"))
        text = ngettext("in %(n)s turn", "in %(n)s turns", count) % {"n": number(count)}
        return list_link(RecallItem, text, memory_id=obj.pk)

    @display(description=_("authority"))
    def whose_word(self, obj: Memory) -> SafeString | str:
        if obj.confirmed_at is None:
            return obj.get_authority_display()
        by = obj.confirmed_by.get_username() if obj.confirmed_by else ""
        return stacked(
            (obj.get_authority_display(), quiet(gettext("confirmed"), by, moment(obj.confirmed_at)))
        )

    @display(description=_("withheld by the guard"), wrapper_class="cairn-wide")
    def held_back(self, obj: Memory) -> SafeString | str:
        """Why it is not recalled: each text that the guard stopped at, with the part that it means."""
        if not obj.withheld:
            return NOTHING
        texts: dict[tuple[str, int | None], list[Marked]] = {}
        for one in against(obj):
            texts.setdefault((one.field, one.position), []).append(one)
        rows = [
            stacked(
                (
                    marked(found[0].text, [one.span for one in found if one.span]),
                    quiet(COMPARED[field], *_whys(found)),
                )
            )
            for (field, _position), found in texts.items()
        ]
        # The rules may know better by now; looking at it again is due.
        return stacked(rows) if rows else str(WITHHELD_FOR.get(obj.withheld_for, obj.withheld_for))

    @display(description=_("version"))
    def standing(self, obj: Memory) -> SafeString:
        tokens = ngettext("%(n)s token in the block", "%(n)s tokens in the block", obj.tokens)
        parts = (
            number(obj.version),
            tokens % {"n": number(obj.tokens)},
            format_html(gettext("created {when}"), when=moment(obj.created_at)),
            format_html(gettext("updated {when}"), when=moment(obj.updated_at)),
            (end := fate_of(obj))
            and format_html(gettext("archived {when} unless it is needed"), when=moment(end.at)),
        )
        return joined(part for part in parts if part)

    @display(description=_("source"))
    def provenance(self, obj: Memory) -> SafeString:
        run = obj.extraction
        parts = (
            obj.get_source_display(),
            self.author(obj),
            self.place(obj),
            moment(obj.said_at),
            run and link(run, gettext("extraction %(id)s") % {"id": run.pk}),
        )
        return joined(part for part in parts if part)

    @display(description=_("evidence"), wrapper_class="cairn-wide")
    def quotes(self, obj: Memory) -> SafeString | str:
        chats = Memory.source_chat.field.related_model.objects.select_related("topic").in_bulk(  # type: ignore[attr-defined]
            [entry["chat"] for entry in obj.evidence if entry["chat"]]
        )
        return stacked(
            quote(
                entry["quote"],
                ROLES.get(entry["role"], entry["role"]),
                moment(entry["said_at"]),
                (chat := chats.get(entry["chat"]))
                and link(
                    chat, gettext("%(topic)s, turn %(number)s") % {"topic": chat.topic, "number": chat.seq}
                ),
            )
            for entry in obj.evidence
        )

    @display(description=_("candidates"), wrapper_class="cairn-wide")
    def candidates_table(self, obj: Memory) -> SafeString | str:
        rows = (
            (
                link(candidate, candidate.content or gettext("forgotten")),
                OUTCOMES.get(candidate.outcome, candidate.outcome),
                REASONS.get(candidate.reason, candidate.reason),
                link(candidate.extraction, candidate.extraction_id),
            )
            for candidate in obj.candidates.select_related("extraction").order_by("-pk")[:SHOWN]
        )
        return table((_("candidate"), _("outcome"), _("reason"), _("extraction")), rows)

    @display(description=_("other memories"))
    def relations(self, obj: Memory) -> SafeString | str:
        found = [
            (gettext("replaces"), obj.replaces),
            *((gettext("replaced by"), other) for other in obj.replaced_by.all()[:SHOWN]),
            (gettext("may contradict"), obj.contradicts),
            *((gettext("may be contradicted by"), other) for other in obj.contradicted_by.all()[:SHOWN]),
        ]
        return stacked(
            joined((how, link(other, other.content), other.get_status_display()))
            for how, other in found
            if other
        )

    @display(description=_("instructions"))
    def instructions_list(self, obj: Memory) -> SafeString | str:
        """The rules of topics that became it."""
        rules = obj.instructions.select_related("topic").order_by("-pk")[:SHOWN]
        return stacked(joined((link(rule, rule.content), link(rule.topic))) for rule in rules)

    @display(description=_("turns that were given it"), wrapper_class="cairn-wide")
    def turns_table(self, obj: Memory) -> SafeString | str:
        items = list(
            RecallItem.objects.filter(memory_id=obj.pk)
            .select_related("recall__chat__topic")
            .order_by("-pk")[: SHOWN + 1]
        )
        rows = (
            (
                link(
                    item.recall.chat, opening(item.recall.chat.message, limit=80) or f"#{item.recall.chat_id}"
                ),
                link(item.recall.chat.topic),
                moment(item.recall.created_at),
                TIERS.get(item.tier, item.tier),
                number(item.rank),
                NOTHING if item.score is None else number(item.score, 3),
                link(item.recall, gettext("recall %(id)s") % {"id": item.recall_id}),
            )
            for item in items[:SHOWN]
        )
        headings = (_("turn"), _("topic"), _("when"), _("given"), _("rank"), _("score"), _("recall"))
        more = list_link(RecallItem, gettext("all of them"), memory_id=obj.pk) if len(items) > SHOWN else ""
        return table(headings, rows, more=more)

    @display(description=_("history"), wrapper_class="cairn-wide")
    def versions_table(self, obj: Memory) -> SafeString | str:
        versions = list(obj.history.order_by("-history_id")[: SHOWN + 1])  # type: ignore[attr-defined]
        rows = (
            (
                number(version.version),
                moment(version.history_date),
                ACTIONS.get(f"memory.{version.action}", version.action),
                stacked(
                    (
                        who(version.actor_kind, version.actor_name) or NOTHING,
                        quiet(TRANSPORTS.get(version.transport, version.transport)),
                    )
                ),
                changes(version, before),
                reason_said(version.history_change_reason) or NOTHING,
            )
            for version, before in zip(versions[:SHOWN], [*versions[1:], None], strict=False)
        )
        headings = (_("version"), _("when"), _("what"), _("who"), _("changed"), _("reason"))
        model = Memory.history.model  # type: ignore[attr-defined]
        more = list_link(model, gettext("all versions"), id=obj.pk) if len(versions) > SHOWN else ""
        return table(headings, rows, more=more)


def _whys(found: list[Marked]) -> list[str]:
    """Kinds first, then what each of them is about; each once."""
    kinds = dict.fromkeys(str(KINDS_FOUND[one.kind]) for one in found)
    codes = dict.fromkeys(str(WITHHELD_FOR.get(one.code, one.code)) for one in found)
    return [*kinds, *codes]


def changes(version: Any, before: Any) -> SafeString | str:
    """What a version says otherwise than the one before; of the first one its content."""
    if before is None:
        return prose(version.content)
    return stacked(
        joined((name, _value(version, field)))
        for field, name in COMPARED.items()
        if getattr(version, field) != getattr(before, field)
    )


def _value(version: Any, field: str) -> Any:
    value = getattr(version, field)
    if field in {"type", "status", "authority"}:
        return getattr(version, f"get_{field}_display")()
    if field == "always":
        return _("always") if value else _("when relevant")
    if field == "evidence":
        return ngettext("%(n)s quote", "%(n)s quotes", len(value)) % {"n": len(value)}
    if field == "expires_at":
        return moment(value)
    return ", ".join(value) if isinstance(value, list) else value
