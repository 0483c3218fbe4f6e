"""Operators' pages for memories, which change through the store alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db import transaction
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter, RangeDateTimeFilter
from unfold.decorators import action, display

from memories import store
from memories.admin.memory_form import BUTTON, DOORS, IN_USE, MemoryForm, verbs
from memories.admin.provenance import MemoryPieces
from memories.admin.words import STATUS_TONES, WITHHELD_FOR
from memories.models import Memory
from memories.withheld import shown
from projects.admin import CodeFilter, ProjectFilter, StoreAdmin, actor, visible
from projects.admin.fragments import badge, joined, link, moment, quiet, stacked

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString

# The fields of a memory, said instead of written.
LOOKED_AT = (
    "content_said",
    "type_said",
    "key_said",
    "weight",
    "area_said",
    "expires_said",
    "word_tags",
    "file_tags",
)
DONE = {
    "confirm": _("Confirmed: it is in force from the next turn."),
    "reject": _("Rejected: it will not be proposed again."),
    "enable": _("Enabled: it is in force from the next turn."),
    "disable": _("Disabled: from the next turn it is given no more."),
    "restore": _("Restored: it is in force from the next turn."),
    "archive": _("Archived: it is given no more, and its key is free."),
    "undo": _("Undone: it is as it was before its last change."),
}


class WithheldForFilter(CodeFilter):
    title, parameter_name, codes = _("withheld for"), "withheld_for", WITHHELD_FOR


@admin.register(Memory)
class MemoryAdmin(MemoryPieces, StoreAdmin):
    form = MemoryForm
    list_display = ("memory", "came_from", "state", "project_link", "weight", "used", "changed")
    list_filter = (
        ("status", ChoicesDropdownFilter),
        ("type", ChoicesDropdownFilter),
        ("source", ChoicesDropdownFilter),
        ("project", ProjectFilter),
        ("authority", ChoicesDropdownFilter),
        "withheld",
        "spot_check",
        WithheldForFilter,
        "always",
        ("updated_at", RangeDateTimeFilter),
    )
    list_filter_options = visible("status", "type", "source")
    search_fields = ("content", "key", "area")
    search_help_text = _("Words of the content, key or area")
    list_select_related = (
        "project",
        "usage",
        "source_topic",
        "source_chat",
        "extraction",
        "created_by",
        "contradicts",
    )
    autocomplete_fields = ("project",)
    actions = ("confirm", "reject", "enable", "disable", "archive", "restore", "undo")
    actions_submit_line = ("undo", "archive", "reject", "confirm", "enable", "disable", "restore")
    readonly_fields = (
        "state",
        "project_link",
        "whose_word",
        "held_back",
        "standing",
        "provenance",
        "quotes",
        "candidates_table",
        "relations",
        "instructions_list",
        "turns_table",
        "versions_table",
    )
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "content",
                    ("type", "importance", "key"),
                    "always",
                    ("area", "expires_at"),
                    ("keywords", "files"),
                    "reason",
                    "read_version",
                )
            },
        ),
        (
            _("Standing"),
            {"fields": (("state", "project_link", "whose_word"), "held_back", "standing", "relations")},
        ),
        (_("Where it comes from"), {"fields": ("provenance", "quotes", "candidates_table")}),
        (_("What became of it"), {"fields": ("turns_table", "instructions_list", "versions_table")}),
    )
    add_fieldsets = (
        (
            None,
            {
                "fields": (
                    "project",
                    "content",
                    ("type", "importance", "key"),
                    "always",
                    ("area", "expires_at"),
                    ("keywords", "files"),
                    "reason",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Memory]:
        found: QuerySet[Memory] = super().get_queryset(request).select_related(*self.list_select_related)
        return found

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Memory], search_term: str
    ) -> tuple[QuerySet[Memory], bool]:
        return queryset.search(search_term), False  # type: ignore[attr-defined]

    def get_readonly_fields(self, request: HttpRequest, obj: Memory | None = None) -> Any:
        if obj is None:
            return ()
        return self.readonly_fields if self._is_written(request, obj) else (*self.readonly_fields, *LOOKED_AT)

    def get_fieldsets(self, request: HttpRequest, obj: Memory | None = None) -> Any:
        if obj is None or self._is_written(request, obj):
            return super().get_fieldsets(request, obj)
        said = LOOKED_AT + (("reason", "read_version") if self.has_change_permission(request, obj) else ())
        return ((None, {"fields": said}), *self.fieldsets[1:])

    def _is_written(self, request: HttpRequest, obj: Memory) -> bool:
        """What is history is only looked at, even by those who may change memories: its button brings it back."""
        return self.has_change_permission(request, obj) and obj.status in IN_USE

    def get_actions_submit_line(self, request: HttpRequest, object_id: Any) -> list[Any]:
        memory = self.get_object(request, str(object_id))
        if memory is None or not self.has_change_permission(request, memory):
            return []
        wanted = {BUTTON + verb for verb in verbs(memory)}
        if not store.can_undo(project=memory.project, memory_id=memory.pk, by=actor(request)):
            wanted.discard(BUTTON + "undo")
        return [
            one for one in super().get_actions_submit_line(request, object_id) if one.action_name in wanted
        ]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        memory = self.get_object(request, object_id)
        if memory is not None and memory.status not in IN_USE:
            extra_context = {**(extra_context or {}), "show_save": False, "show_save_and_continue": False}
        return super().change_view(
            request, object_id, form_url, {**(extra_context or {}), "show_save_and_add_another": False}
        )

    def response_change(self, request: HttpRequest, obj: Memory) -> HttpResponse:
        verb = next((verb for verb in DOORS if BUTTON + verb in request.POST), None)
        if verb is None:
            return super().response_change(request, obj)
        messages.success(request, DONE[verb])
        return self.response_post_save_change(request, obj)

    def delete_model(self, request: HttpRequest, obj: Memory) -> None:
        store.delete(project=obj.project, memory_id=obj.pk, by=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        with transaction.atomic():
            for memory in queryset.select_related("project").order_by("project_id", "pk"):
                self.delete_model(request, memory)

    @display(description=_("memory"), ordering="content")
    def memory(self, obj: Memory) -> SafeString | str:
        flags = [
            obj.withheld and gettext("withheld by the guard"),
            obj.withheld and str(WITHHELD_FOR.get(obj.withheld_for, obj.withheld_for)),
            obj.contradicts_id and gettext("may contradict another"),
            obj.spot_check and gettext("drawn for a look"),
        ]
        return stacked(
            (
                shown(obj, obj.content),
                quiet(obj.get_type_display(), shown(obj, obj.key), *(flag for flag in flags if flag)),
            )
        )

    @display(description=_("from"), ordering="said_at")
    def came_from(self, obj: Memory) -> SafeString | str:
        return stacked((obj.get_source_display(), quiet(self.author(obj), self.place(obj))))

    @display(description=_("status"), ordering="status")
    def state(self, obj: Memory) -> SafeString:
        return badge(obj.get_status_display(), STATUS_TONES.get(obj.status, ""))

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: Memory) -> SafeString | str:
        return link(obj.project)

    @display(description=_("updated"), ordering="updated_at")
    def changed(self, obj: Memory) -> SafeString | str:
        return moment(obj.updated_at)

    @action(description=_("Confirm"), permissions=["change"], icon="check")
    def confirm(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, "confirm")

    @action(description=_("Reject"), permissions=["change"], icon="close")
    def reject(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, "reject")

    @action(description=_("Enable"), permissions=["change"], icon="power_settings_new")
    def enable(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, "enable")

    @action(description=_("Disable"), permissions=["change"], icon="block")
    def disable(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, "disable")

    @action(description=_("Restore"), permissions=["change"], icon="undo")
    def restore(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, "restore")

    @action(description=_("Archive"), permissions=["change"], icon="archive")
    def archive(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, "archive")

    @action(description=_("Undo the last change"), permissions=["change"], icon="history")
    def undo(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, "undo")

    def _each(self, request: HttpRequest, queryset: QuerySet[Memory], verb: str) -> None:
        """One after the other: what refuses is named, the others change."""
        done = 0
        for memory in queryset.select_related("project").order_by("project_id", "pk"):
            try:
                DOORS[verb](project=memory.project, memory_id=memory.pk, by=actor(request))
                done += 1
            except store.StoreError as refusal:
                messages.error(request, refusal.message)
        if done:
            text = ngettext("%(n)s memory changed.", "%(n)s memories changed.", done) % {"n": done}
            messages.success(request, joined((text, DONE[verb])))
