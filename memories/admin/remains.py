"""Operators' pages for what outlives a memory: its versions, and the traces of deleted ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.contrib import admin
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter
from unfold.decorators import display

from memories.admin.words import STATUS_TONES
from memories.models import Memory, Tombstone
from projects.admin import ProjectFilter, ReadableAdmin, visible
from projects.admin.fragments import (
    NOTHING,
    badge,
    link,
    list_link,
    moment,
    page,
    prose,
    quiet,
    stacked,
    tags,
)
from projects.admin.words import ACTIONS, ACTORS, TRANSPORTS, UNNAMED, reason_said, who

if TYPE_CHECKING:
    from typing import Any

    from django.utils.safestring import SafeString

Version = Memory.history.model  # type: ignore[attr-defined]


@admin.register(Version)
class VersionAdmin(ReadableAdmin):
    list_display = ("memory", "version", "what", "who", "state", "project_link", "why", "when")
    list_filter = (("status", ChoicesDropdownFilter), ("history_date", RangeDateTimeFilter))
    search_fields = ("content", "key")
    list_select_related = ("project",)
    ordering = ("-history_id",)
    fieldsets = (
        (None, {"fields": ("memory_link", ("version", "what", "when"), "who", "why", "request_tag")}),
        (
            _("The memory then"),
            {
                "fields": (
                    "content_said",
                    ("type_said", "key", "importance", "given"),
                    ("state", "authority_said"),
                    ("word_tags", "file_tags", "area"),
                    "project_link",
                )
            },
        ),
    )

    @display(description=_("memory"))
    def memory(self, obj: Any) -> SafeString | str:
        return stacked((obj.content, quiet(f"#{obj.id}", obj.get_type_display(), obj.key)))

    @display(description=_("memory"))
    def memory_link(self, obj: Any) -> SafeString | str:
        if Memory.objects.filter(pk=obj.id).exists():
            return page(Memory, obj.id, f"#{obj.id}")
        return stacked((f"#{obj.id}", quiet(_("gone since"))))

    @display(description=_("what"), ordering="action")
    def what(self, obj: Any) -> str:
        return str(ACTIONS.get(f"memory.{obj.action}", obj.action))

    @display(description=_("who"), ordering="actor_name")
    def who(self, obj: Any) -> SafeString | str:
        kind = "" if obj.actor_kind in UNNAMED else ACTORS.get(obj.actor_kind, obj.actor_kind)
        name = who(obj.actor_kind, obj.actor_name) or NOTHING
        return stacked((name, quiet(kind, TRANSPORTS.get(obj.transport, obj.transport))))

    @display(description=_("status"), ordering="status")
    def state(self, obj: Any) -> SafeString:
        return badge(obj.get_status_display(), STATUS_TONES.get(obj.status, ""))

    @display(description=_("project"))
    def project_link(self, obj: Any) -> SafeString | str:
        return link(obj.project)

    @display(description=_("reason"))
    def why(self, obj: Any) -> str:
        return reason_said(obj.history_change_reason) or NOTHING

    @display(description=_("when"), ordering="history_date")
    def when(self, obj: Any) -> SafeString | str:
        return moment(obj.history_date)

    @display(description=_("request"))
    def request_tag(self, obj: Any) -> SafeString | str:
        return tags([obj.request_id]) if obj.request_id else NOTHING

    @display(description=_("content"))
    def content_said(self, obj: Any) -> SafeString | str:
        return prose(obj.content)

    @display(description=_("type"))
    def type_said(self, obj: Any) -> str:
        return obj.get_type_display()

    @display(description=_("authority"))
    def authority_said(self, obj: Any) -> str:
        return obj.get_authority_display()

    @display(description=_("given"))
    def given(self, obj: Any) -> str:
        return str(_("always") if obj.always else _("when relevant"))

    @display(description=_("keywords"))
    def word_tags(self, obj: Any) -> SafeString | str:
        return tags(obj.keywords)

    @display(description=_("files"))
    def file_tags(self, obj: Any) -> SafeString | str:
        return tags(obj.files)


@admin.register(Tombstone)
class TombstoneAdmin(ReadableAdmin):
    list_display = ("which", "why", "project_link", "versions", "at")
    list_filter = (("reason", ChoicesDropdownFilter), ("project", ProjectFilter))
    list_filter_options = visible("reason")
    search_fields = ("memory_id",)
    list_select_related = ("project",)
    fields = ("which", "why", "project_link", "versions", "at")

    @display(description=_("memory"), ordering="memory_id")
    def which(self, obj: Tombstone) -> str:
        return f"#{obj.memory_id}"

    @display(description=_("reason"), ordering="reason")
    def why(self, obj: Tombstone) -> str:
        return obj.get_reason_display()

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: Tombstone) -> SafeString | str:
        return link(obj.project)

    @display(description=_("history"))
    def versions(self, obj: Tombstone) -> SafeString:
        return list_link(Version, _("its versions"), id=obj.memory_id)

    @display(description=_("since"), ordering="created_at")
    def at(self, obj: Tombstone) -> SafeString | str:
        return moment(obj.created_at)
