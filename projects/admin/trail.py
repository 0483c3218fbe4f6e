"""Operators' pages for the audit, and for what repeated requests are answered from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import RangeDateTimeFilter
from unfold.decorators import display

from projects.admin.fragments import BETWEEN, NOTHING, counted, link, moment, page, quiet, stacked, tags
from projects.admin.pages import CodeFilter, ReadableAdmin, visible
from projects.admin.words import ACTIONS, ACTORS, COUNTS, TARGETS, TRANSPORTS, UNNAMED, reason_said, who
from projects.http.idempotency import stored_key
from projects.models import AuditEvent, IdempotencyRecord, Project

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString


TARGET_MODELS = {
    "memory": "memories.Memory",
    "topic": "chats.Topic",
    "instruction": "chats.Instruction",
    "extraction": "memories.Extraction",
    "api_key": "projects.ApiKey",
    "user": "auth.User",
    "login": "auth.User",
}


class ActionFilter(CodeFilter):
    title, parameter_name, codes = _("action"), "action", ACTIONS


class ActorFilter(CodeFilter):
    title, parameter_name, codes = _("kind of actor"), "actor_kind", ACTORS


class TransportFilter(CodeFilter):
    title, parameter_name, codes = _("transport"), "transport", TRANSPORTS


@admin.register(AuditEvent)
class AuditEventAdmin(ReadableAdmin):
    list_display = ("what", "when", "who", "project_slug", "about", "why", "request_tag")
    list_filter = (ActionFilter, ActorFilter, TransportFilter, ("created_at", RangeDateTimeFilter))
    list_filter_options = visible("action", "actor_kind", "transport")
    search_fields = ("action", "actor_name", "project_slug", "target_key", "request_id")
    where_there: ClassVar = {"counts_said": "counts", "why": "reason", "key_prefix": "key_prefix"}
    fieldsets = (
        (None, {"fields": ("what", "code", "when", "who", "key_prefix", "why")}),
        (_("About"), {"fields": ("project_link", "target_link", "counts_said")}),
        (_("Request"), {"fields": ("request_tag",)}),
    )

    def lookup_allowed(self, lookup: str, value: str, request: HttpRequest) -> bool:
        return lookup in {"project_id", "target_type", "target_id"} or super().lookup_allowed(
            lookup, value, request
        )

    @display(description=_("action"), ordering="action")
    def what(self, obj: AuditEvent) -> str:
        return str(ACTIONS.get(obj.action, obj.action))

    @display(description=_("code"))
    def code(self, obj: AuditEvent) -> SafeString | str:
        return tags([obj.action])

    @display(description=_("when"), ordering="created_at")
    def when(self, obj: AuditEvent) -> SafeString | str:
        return moment(obj.created_at)

    @display(description=_("who"), ordering="actor_name")
    def who(self, obj: AuditEvent) -> SafeString | str:
        called = who(obj.actor_kind, obj.actor_name)
        name = page(User, obj.user_id, called) if obj.user_id else called
        kind = "" if obj.actor_kind in UNNAMED else ACTORS.get(obj.actor_kind, obj.actor_kind)
        return stacked((name, quiet(kind, TRANSPORTS.get(obj.transport, obj.transport))))

    @display(description=_("about"))
    def about(self, obj: AuditEvent) -> SafeString | str:
        if obj.target_id is None and not obj.target_key:
            return NOTHING
        kind = TARGETS.get(obj.target_type, obj.target_type)
        # A failed log-in may be nobody's.
        named = kind if obj.target_id is None else f"{kind} {obj.target_id}"
        # The guard's key is the kind of row that it looked at.
        key = COUNTS.get(obj.target_key, obj.target_key) if obj.target_type == "guard" else obj.target_key
        return stacked((named, quiet(str(key))))

    @display(description=_("reason"), ordering="reason")
    def why(self, obj: AuditEvent) -> str:
        return reason_said(obj.reason) or NOTHING

    @display(description=_("project"))
    def project_link(self, obj: AuditEvent) -> SafeString | str:
        if obj.project_id and Project.objects.filter(pk=obj.project_id).exists():
            return page(Project, obj.project_id, obj.project_slug)
        return obj.project_slug or NOTHING

    @display(description=_("target"))
    def target_link(self, obj: AuditEvent) -> SafeString | str:
        """A link while it is still there."""
        if (label := TARGET_MODELS.get(obj.target_type)) is None or obj.target_id is None:
            return self.about(obj)
        target = apps.get_model(label)._base_manager.filter(pk=obj.target_id).first()
        return link(target, self.about(obj)) if target else self.about(obj)

    @display(description=_("counts"))
    def counts_said(self, obj: AuditEvent) -> str:
        return counted({name: n for name, n in obj.counts.items() if n}, COUNTS)

    @display(description=_("request"))
    def request_tag(self, obj: AuditEvent) -> SafeString | str:
        return tags([obj.request_id]) if obj.request_id else NOTHING


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadableAdmin):
    list_display = ("key", "when", "caller", "status_said")
    search_fields = ("key", "caller")
    fields = ("key", "caller", "when", "status_said", "result_said")

    def get_search_results(
        self, request: HttpRequest, queryset: QuerySet[Any], search_term: str
    ) -> tuple[QuerySet[Any], bool]:
        """Also by the key as the caller sent it, of which only a digest is stored."""
        found, may_repeat = super().get_search_results(request, queryset, search_term)
        if search_term:
            found |= queryset.filter(key=stored_key(search_term))
        return found, may_repeat

    @display(description=_("when"), ordering="created_at")
    def when(self, obj: IdempotencyRecord) -> SafeString | str:
        return moment(obj.created_at)

    @display(description=_("answered with"), ordering="status")
    def status_said(self, obj: IdempotencyRecord) -> str:
        return str(obj.status or _("still under way"))

    @display(description=_("result"))
    def result_said(self, obj: IdempotencyRecord) -> str:
        return BETWEEN.join(f"{name} {value}" for name, value in obj.result.items()) or NOTHING
