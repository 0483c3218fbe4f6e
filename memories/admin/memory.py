"""Operators' pages for memories, which change through the store alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.urls import reverse
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.translation import gettext as _now
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.admin import ModelAdmin
from unfold.decorators import action, display

from memories import store
from memories.models import (
    Memory,
    Source,
)
from memories.store.lifecycle import EDITABLE
from projects.admin import actor, link

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

STATUS_LABELS = {
    "active": "success",
    "proposed": "warning",
    "disabled": "danger",
    "superseded": "info",
    "rejected": "danger",
    "archived": "info",
}


class MemoryForm(forms.ModelForm):
    """Writes through the store as part of its validation: what the store refuses stands at its field, and
    nothing that was typed is lost.
    """

    read_version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    keywords = forms.CharField(label=_("keywords"), required=False, help_text=_("Separated by commas."))
    files = forms.CharField(label=_("files"), required=False, help_text=_("Globs, separated by commas."))
    reason = forms.CharField(
        label=_("reason"), required=False, max_length=300, help_text=_("Kept in history and audit.")
    )
    request: HttpRequest

    class Meta:
        model = Memory
        fields = ("project", *EDITABLE)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.initial["read_version"] = self.instance.version if self.instance.pk else None
        for name in ("keywords", "files"):
            self.initial[name] = ", ".join(getattr(self.instance, name) or [])
        if "key" in self.fields:
            self.fields["key"].required = False
            self.fields["key"].help_text = _("Empty: derived from the content.")

    def clean_keywords(self) -> list[str]:
        return _split(self.cleaned_data["keywords"])

    def clean_files(self) -> list[str]:
        return _split(self.cleaned_data["files"])

    def _post_clean(self) -> None:
        """Instead of filling the instance: the store decides what is written."""
        if self.errors:
            return
        values = {name: self.cleaned_data[name] for name in EDITABLE if name in self.cleaned_data}
        by, reason = actor(self.request), self.cleaned_data["reason"]
        try:
            if self.instance.pk:
                saved = store.edit(
                    project=self.instance.project,
                    memory_id=self.instance.pk,
                    changes={name: value for name, value in values.items() if name in self.changed_data},
                    version=self.cleaned_data["read_version"],
                    by=by,
                    reason=reason,
                )
            else:
                draft = store.Draft(
                    **{
                        name: tuple(value) if isinstance(value, list) else value
                        for name, value in values.items()
                    }
                )
                saved = store.add(
                    project=self.cleaned_data["project"],
                    draft=draft,
                    source=Source.MANUAL,
                    by=by,
                    reason=reason,
                )
        except store.InvalidMemory as invalid:
            for error in invalid.errors:
                self.add_error(error.field if error.field in self.fields else None, error.message)
        except store.GuardRefused as refused:
            self.add_error(refused.field if refused.field in self.fields else None, refused.message)
        except store.KeyTaken as taken:
            self.add_error("key", taken.message)
        except store.ContentTaken as taken:
            self.add_error("content", taken.message)
        except store.StoreError as error:
            self.add_error(None, error.message)
        else:
            self.instance = saved

    def save(self, commit: bool = True) -> Memory:
        self.save_m2m = lambda: None
        saved: Memory = self.instance
        return saved


def _split(words: str) -> list[str]:
    return [word.strip() for word in words.replace("，", ",").split(",") if word.strip()]


@admin.register(Memory)
class MemoryAdmin(ModelAdmin):
    form = MemoryForm
    list_display = (
        "content_line",
        "type",
        "state",
        "project",
        "source",
        "stones",
        "always",
        "used",
        "updated_at",
    )
    list_display_links = ("content_line",)
    list_filter = (
        "status",
        "type",
        "source",
        "authority",
        "withheld",
        "always",
        ("project", admin.RelatedOnlyFieldListFilter),
    )
    list_filter_submit = True
    list_fullwidth = True
    list_per_page = 50
    show_full_result_count = False
    search_fields = ("content", "key", "area")
    list_select_related = ("project", "usage")
    autocomplete_fields = ("project",)
    actions = ("confirm", "reject", "enable", "disable")
    readonly_fields = (
        "state",
        "authority",
        "source_line",
        "evidence_list",
        "relations",
        "tokens",
        "version_shown",
        "history_list",
        "turns_given",
    )
    fieldsets = (
        (
            None,
            {"fields": ("content", ("type", "key"), ("importance", "always", "area"), ("keywords", "files"))},
        ),
        (_("Standing"), {"fields": (("state", "authority", "expires_at"), ("tokens", "version_shown"))}),
        (_("Where it comes from"), {"fields": ("source_line", "evidence_list", "relations")}),
        (_("What became of it"), {"fields": ("turns_given", "history_list")}),
        (_("This change"), {"fields": ("reason", "read_version")}),
    )

    def get_fieldsets(self, request: HttpRequest, obj: Memory | None = None) -> Any:
        if obj is None:
            first = {"fields": ("project", *self.fieldsets[0][1]["fields"], "expires_at")}
            return ((None, first), (_("This change"), {"fields": ("reason",)}))
        if not self.has_change_permission(request, obj):
            return self.fieldsets[:-1]
        return self.fieldsets

    def get_form(self, request: HttpRequest, obj: Memory | None = None, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, **kwargs)
        return type("BoundMemoryForm", (form,), {"request": request})

    def save_model(self, request: HttpRequest, obj: Memory, form: Any, change: bool) -> None:
        """The form has written it already, through the store."""

    def delete_model(self, request: HttpRequest, obj: Memory) -> None:
        store.delete(project=obj.project, memory_id=obj.pk, by=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        for memory in queryset:
            self.delete_model(request, memory)

    @display(description=_("content"), ordering="content")
    def content_line(self, obj: Memory) -> SafeString:
        withheld = f" · {_now('withheld')}" if obj.withheld else ""
        return format_html(
            '{}<br><span class="text-xs opacity-70">{}{}</span>', obj.content, obj.key, withheld
        )

    @display(description=_("status"), label=STATUS_LABELS, ordering="status")
    def state(self, obj: Memory) -> tuple[str, str]:
        return obj.status, obj.get_status_display()

    @display(description=_("importance"), ordering="importance")
    def stones(self, obj: Memory) -> str:
        return f"{'●' * obj.importance}{'○' * (5 - obj.importance)} {obj.importance}"

    @display(description=_("used"), ordering="usage__count")
    def used(self, obj: Memory) -> str:
        count = obj.usage.count if hasattr(obj, "usage") else 0
        return ngettext("in %(n)s turn", "in %(n)s turns", count) % {"n": count}

    @display(description=_("version"))
    def version_shown(self, obj: Memory) -> int:
        return obj.version

    @display(description=_("source"))
    def source_line(self, obj: Memory) -> SafeString:
        author = obj.source_chat.author_name if obj.source_chat else ""
        return format_html(
            "{} · {} · {} · {} {} · {}",
            obj.get_source_display(),
            author or (obj.created_by.get_username() if obj.created_by else "–"),
            date_format(obj.said_at, "DATETIME_FORMAT"),
            link(obj.source_topic),
            link(obj.source_chat),
            link(obj.extraction),
        )

    @display(description=_("evidence"))
    def evidence_list(self, obj: Memory) -> SafeString | str:
        rows = ((entry["quote"], entry["role"], entry["said_at"][:16]) for entry in obj.evidence)
        return format_html_join("", "<p>“{}” <span class='opacity-70'>{} · {}</span></p>", rows) or "–"

    @display(description=_("replaces / contradicts"))
    def relations(self, obj: Memory) -> SafeString:
        newer = obj.replaced_by.first()
        return format_html(
            "{} {} · {} {} · {} {}",
            _now("replaces"),
            link(obj.replaces, obj.replaces and obj.replaces.content),
            _now("replaced by"),
            link(newer, newer and newer.content),
            _now("contradicts"),
            link(obj.contradicts, obj.contradicts and obj.contradicts.content),
        )

    @display(description=_("history"))
    def history_list(self, obj: Memory) -> SafeString:
        rows = (
            (
                date_format(version.history_date, "DATETIME_FORMAT"),
                version.action,
                version.actor_name or "–",
                version.transport,
                version.content,
                version.history_change_reason or "",
            )
            for version in obj.history.all()[:50]
        )
        return format_html_join("", "<p>{} · <b>{}</b> · {} ({}) · {} {}</p>", rows)

    @display(description=_("last turns that were given it"))
    def turns_given(self, obj: Memory) -> SafeString | str:
        items = obj.recall_items.select_related("recall__chat").order_by("-id")[:10]
        rows = (
            (
                reverse("admin:chats_chat_change", args=[item.recall.chat_id]),
                item.recall.chat.message[:60],
                f"{item.tier} · #{item.rank}",
            )
            for item in items
        )
        return format_html_join("", '<p><a class="underline" href="{}">{}</a> {}</p>', rows) or "–"

    @action(description=_("Confirm"), permissions=["change"])
    def confirm(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, store.confirm)

    @action(description=_("Reject"), permissions=["change"])
    def reject(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, store.reject)

    @action(description=_("Enable"), permissions=["change"])
    def enable(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, store.enable)

    @action(description=_("Disable"), permissions=["change"])
    def disable(self, request: HttpRequest, queryset: QuerySet[Memory]) -> None:
        self._each(request, queryset, store.disable)

    def _each(self, request: HttpRequest, queryset: QuerySet[Memory], verb: Callable[..., Memory]) -> None:
        done = 0
        for memory in queryset.select_related("project").order_by("project_id", "pk"):
            try:
                verb(project=memory.project, memory_id=memory.pk, by=actor(request))
                done += 1
            except store.StoreError as error:
                messages.error(request, error.message)
        if done:
            text = ngettext("%(n)s memory changed.", "%(n)s memories changed.", done) % {"n": done}
            messages.success(request, text)
