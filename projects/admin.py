"""Operators' pages for projects, people, keys and the audit; the bases that other apps' pages share."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin, messages
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.db.models import Count, Q
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin, TabularInline
from unfold.decorators import action, display
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from projects import store
from projects.actors import Actor
from projects.http import request_id
from projects.models import ApiKey, AuditEvent, IdempotencyRecord, Project, ProjectGrant, Scope

if TYPE_CHECKING:
    from django.db.models import Model, QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

admin.site.unregister(User)
admin.site.unregister(Group)


def actor(request: HttpRequest) -> Actor:
    """Who works in the admin, for the stores."""
    assert isinstance(request.user, User)  # noqa: S101 (the admin lets nobody else in)
    return Actor.for_user(request.user, transport="admin", request_id=request_id.current())


def link(target: Model | None, text: Any = None) -> SafeString | str:
    """A link to the target's own page in the admin; a dash for nothing."""
    if target is None:
        return "–"
    name = f"admin:{target._meta.app_label}_{target._meta.model_name}_change"
    return format_html(
        '<a class="underline" href="{}">{}</a>', reverse(name, args=[target.pk]), text or target
    )


def list_link(model: type[Model], text: Any, **filters: Any) -> SafeString:
    """A link to the filtered list of another model."""
    query = "&".join(f"{name}={value}" for name, value in filters.items())
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return format_html('<a class="underline" href="{}?{}">{}</a>', url, query, text)


class ReadableAdmin(ModelAdmin):
    """Rows to look at: everything shown, nothing to be changed here."""

    compressed_fields = True
    list_filter_submit = True
    list_fullwidth = True
    show_full_result_count = False
    list_per_page = 50

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class ReadableInline(TabularInline):
    """Rows of another model below the one they belong to."""

    extra = 0
    can_delete = False
    show_change_link = True
    per_page = 20

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False


class GrantInline(ReadableInline):
    model = ProjectGrant
    verbose_name_plural = _("members' rights")
    fields = ("user", "permission", "granted_at", "granted_by")
    show_change_link = False

    def get_queryset(self, request: HttpRequest) -> QuerySet[ProjectGrant]:
        return super().get_queryset(request).select_related("user", "permission__content_type", "granted_by")


class KeyInline(ReadableInline):
    model = ApiKey
    fields = ("name", "prefix", "scopes", "created_at", "expires_at", "revoked_at", "last_used_at")


@admin.register(Project)
class ProjectAdmin(ModelAdmin):
    list_display = ("name", "slug", "owner", "memory", "active_memories", "waiting", "updated_at")
    list_filter = ("memory_enabled", "review_policy")
    search_fields = ("slug", "name")
    list_select_related = ("owner",)
    autocomplete_fields = ("owner",)
    show_full_result_count = False
    list_fullwidth = True
    inlines = (GrantInline, KeyInline)
    readonly_fields = ("memory_switched_at", "memory_switched_by", "created_at", "updated_at", "contents")
    fieldsets = (
        (None, {"fields": ("name", "slug", "owner", "description", "contents")}),
        (
            _("Memory"),
            {
                "fields": (
                    ("memory_enabled", "memory_switched_at", "memory_switched_by"),
                    ("review_policy", "explicit_policy"),
                    ("max_items", "max_tokens", "window_tokens"),
                    "guidance",
                    "static_instructions",
                    ("mask_chats", "debug_mode"),
                )
            },
        ),
        (_("Dates"), {"fields": (("created_at", "updated_at"),)}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                active_count=Count("memories", filter=Q(memories__status="active")),
                proposed_count=Count("memories", filter=Q(memories__status="proposed")),
            )
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        # The owner changes by handing over, the slug never: links would break.
        return (*self.readonly_fields, "slug", "owner") if obj else self.readonly_fields

    def get_inlines(self, request: HttpRequest, obj: Project | None) -> Any:
        return self.inlines if obj else ()

    @display(description=_("memory"), label={"on": "success", "off": "warning"})
    def memory(self, obj: Project) -> tuple[str, str]:
        return ("on", str(_("on"))) if obj.memory_enabled else ("off", str(_("off")))

    @display(description=_("in force"), ordering="active_count")
    def active_memories(self, obj: Project) -> SafeString:
        memories = obj.memories.model
        return list_link(memories, obj.active_count, project__id__exact=obj.pk, status__exact="active")

    @display(description=_("waiting"), ordering="proposed_count")
    def waiting(self, obj: Project) -> SafeString:
        memories = obj.memories.model
        return list_link(memories, obj.proposed_count, project__id__exact=obj.pk, status__exact="proposed")

    @display(description=_("all of it"))
    def contents(self, obj: Project) -> SafeString | str:
        if obj.pk is None:
            return "–"
        names = {
            obj.memories.model: _("memories"),
            obj.topics.model: _("topics"),
            obj.chats.model: _("turns"),
            obj.recalls.model: _("recalls"),
            obj.extractions.model: _("extractions"),
        }
        links = [list_link(model, name, project__id__exact=obj.pk) for model, name in names.items()]
        audit = list_link(AuditEvent, _("audit"), project_slug=obj.slug)
        return format_html(" · ".join(["{}"] * (len(links) + 1)), *links, audit)

    def save_model(self, request: HttpRequest, obj: Project, form: Any, change: bool) -> None:
        by = actor(request)
        changes = {name: form.cleaned_data[name] for name in form.changed_data}
        if change:
            store.update_project(project=obj, changes=changes, by=by)
            return
        owner = changes.pop("owner")
        name, slug = changes.pop("name"), changes.pop("slug", "")
        obj.pk = store.create_project(name=name, slug=slug, owner=owner, by=by, **changes).pk

    def delete_model(self, request: HttpRequest, obj: Project) -> None:
        store.delete_project(project=obj, by=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Project]) -> None:
        for project in queryset:
            store.delete_project(project=project, by=actor(request))


class ApiKeyForm(forms.ModelForm):
    scopes = forms.MultipleChoiceField(
        label=_("scopes"), choices=Scope.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )

    class Meta:
        model = ApiKey
        fields = ("project", "name", "scopes", "expires_at")


@admin.register(ApiKey)
class ApiKeyAdmin(ModelAdmin):
    form = ApiKeyForm
    list_display = ("name", "prefix", "project", "state", "created_by", "created_at", "last_used_at")
    list_filter = ("revoked_at",)
    search_fields = ("name", "prefix", "project__slug")
    list_select_related = ("project", "created_by")
    autocomplete_fields = ("project",)
    show_full_result_count = False
    actions = ("revoke",)
    fields = ("project", "name", "scopes", "expires_at")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    @display(description=_("state"), label={"usable": "success", "revoked": "danger", "expired": "warning"})
    def state(self, obj: ApiKey) -> tuple[str, str]:
        if obj.revoked_at:
            return "revoked", str(_("revoked"))
        return ("usable", str(_("usable"))) if obj.is_usable else ("expired", str(_("expired")))

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        key, secret = store.issue_key(by=actor(request), **form.cleaned_data)
        obj.pk = key.pk
        message = _("The key, shown this once: %(secret)s") % {"secret": secret}
        messages.warning(request, message)

    @action(description=_("Revoke"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset:
            store.revoke_key(key=key, by=actor(request))
        self.message_user(request, _("Revoked; from now on these keys are refused."))

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("projects.change_apikey")


@admin.register(AuditEvent)
class AuditEventAdmin(ReadableAdmin):
    list_display = (
        "created_at",
        "action",
        "actor_name",
        "actor_kind",
        "transport",
        "project_slug",
        "target_type",
        "target_id",
        "reason",
        "request_id",
    )
    list_filter = ("actor_kind", "transport", "action")
    search_fields = ("action", "actor_name", "project_slug", "target_key", "request_id")


@admin.register(IdempotencyRecord)
class IdempotencyRecordAdmin(ReadableAdmin):
    list_display = ("created_at", "caller", "key", "status")


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]
    form = UserChangeForm
    add_form = UserCreationForm
    change_password_form = AdminPasswordChangeForm


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):  # type: ignore[type-arg]
    pass
