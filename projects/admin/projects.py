"""Operators' pages for projects, the rights in them and their keys."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from django.contrib import admin, messages
from django.db.models import Count, OuterRef, Q, Subquery
from django.db.models.functions import Coalesce
from django.utils.translation import gettext_lazy as _
from unfold.contrib.filters.admin import ChoicesDropdownFilter
from unfold.decorators import action, display

from projects import store
from projects.admin.forms import ApiKeyForm, ProjectForm
from projects.admin.fragments import (
    NOTHING,
    badge,
    joined,
    link,
    list_link,
    moment,
    number,
    stacked,
    table,
    tags,
)
from projects.admin.pages import ProjectFilter, ReadableAdmin, StoreAdmin, actor
from projects.admin.words import NO_EXPIRY
from projects.models import ApiKey, AuditEvent, Project, ProjectGrant, Scope

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

PERMISSIONS = {
    "view_project": _("see the project"),
    "curate_memories": _("curate memories"),
    "use_turns": _("open and finish turns, recall"),
    "administer_project": _("manage members, keys and settings"),
}


class KeyPieces:
    """What the list of keys and the page of one both show."""

    @display(description=_("state"))
    def state(self, obj: ApiKey) -> SafeString:
        return _state(obj)

    @display(description=_("scopes"))
    def scope_names(self, obj: ApiKey) -> SafeString | str:
        return _scopes(obj)

    @display(description=_("prefix"), ordering="prefix")
    def prefix_tag(self, obj: ApiKey) -> SafeString | str:
        return tags([obj.prefix])

    @display(description=_("created"), ordering="created_at")
    def created(self, obj: ApiKey) -> SafeString | str:
        return moment(obj.created_at)

    @display(description=_("last used"), ordering="last_used_at")
    def last_used(self, obj: ApiKey) -> SafeString | str:
        return moment(obj.last_used_at)

    @display(description=_("expires"), ordering="expires_at")
    def expires(self, obj: ApiKey) -> SafeString | str:
        return moment(obj.expires_at) if obj.expires_at else str(NO_EXPIRY)

    @display(description=_("revoked"))
    def revoked(self, obj: ApiKey) -> SafeString | str:
        return moment(obj.revoked_at)


@admin.register(Project)
class ProjectAdmin(StoreAdmin):
    list_display = ("name", "slug", "owner", "memory", "active_memories", "waiting", "changed")
    list_filter = ("memory_enabled", ("review_policy", ChoicesDropdownFilter))
    search_fields = ("slug", "name")
    list_select_related = ("owner",)
    autocomplete_fields = ("owner",)
    form = ProjectForm
    readonly_fields = ("switched", "created", "changed", "contents", "members_table", "keys_table")
    fieldsets = (
        (None, {"fields": ("name", "slug", "owner", "description", "contents")}),
        (
            _("Memory"),
            {
                "fields": (
                    "memory_enabled",
                    "switched",
                    ("review_policy", "explicit_policy"),
                    ("max_items", "max_tokens", "window_tokens"),
                    "guidance",
                    "static_instructions",
                    "mask_chats",
                    "debug_mode",
                )
            },
        ),
        (_("Members and keys"), {"fields": ("members_table", "keys_table")}),
        (_("Dates"), {"fields": (("created", "changed"),)}),
    )
    add_fieldsets = (
        (None, {"fields": ("name", "slug", "owner", "description")}),
        (
            _("Memory"),
            {
                "fields": (
                    "memory_enabled",
                    ("review_policy", "explicit_policy"),
                    ("max_items", "max_tokens", "window_tokens"),
                    "guidance",
                    "static_instructions",
                    "mask_chats",
                    "debug_mode",
                )
            },
        ),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Project]:
        return (
            super()
            .get_queryset(request)
            .annotate(
                active_count=_memories(Q(status="active")), waiting_count=_memories(Q(status="proposed"))
            )
        )

    def get_readonly_fields(self, request: HttpRequest, obj: Project | None = None) -> Any:
        # The owner changes by handing over, the slug never: links would break.
        return (*self.readonly_fields, "slug", "owner") if obj else self.readonly_fields

    @display(description=_("memory"), ordering="memory_enabled")
    def memory(self, obj: Project) -> SafeString:
        return badge(_("on"), "success") if obj.memory_enabled else badge(_("off"), "warning")

    @display(description=_("in force"), ordering="active_count")
    def active_memories(self, obj: Project) -> SafeString:
        return _list_of(obj, "memories", number(obj.active_count), status__exact="active")  # type: ignore[attr-defined]

    @display(description=_("waiting for review"), ordering="waiting_count")
    def waiting(self, obj: Project) -> SafeString:
        return _list_of(obj, "memories", number(obj.waiting_count), status__exact="proposed")  # type: ignore[attr-defined]

    @display(description=_("updated"), ordering="updated_at")
    def changed(self, obj: Project) -> SafeString | str:
        return moment(obj.updated_at)

    @display(description=_("created"), ordering="created_at")
    def created(self, obj: Project) -> SafeString | str:
        return moment(obj.created_at)

    @display(description=_("last switched"))
    def switched(self, obj: Project) -> SafeString | str:
        if obj.memory_switched_at is None:
            return str(_("never"))
        by = obj.memory_switched_by
        return joined([moment(obj.memory_switched_at), by.get_username() if by else NOTHING])

    @display(description=_("all of it"))
    def contents(self, obj: Project) -> SafeString:
        names = {
            "memories": _("memories"),
            "topics": _("topics"),
            "chats": _("turns"),
            "recalls": _("recalls"),
            "extractions": _("extractions"),
            "tombstones": _("tombstones"),
            "api_keys": _("API keys"),
            "audit": _("audit"),
        }
        return joined(
            list_link(AuditEvent, name, project_id=obj.pk) if what == "audit" else _list_of(obj, what, name)
            for what, name in names.items()
        )

    @display(description=_("members"), wrapper_class="cairn-wide")
    def members_table(self, obj: Project) -> SafeString | str:
        grants = obj.grants.select_related("user", "permission", "granted_by").order_by(
            "user__username", "pk"
        )
        rows = [
            (link(user), stacked(_right(grant) for grant in own), moment(own[0].granted_at), _by(own[0]))
            for user, own in ((user, list(own)) for user, own in groupby(grants, key=lambda one: one.user))
        ]
        return table((_("member"), _("may"), _("since"), _("granted by")), rows)

    @display(description=_("API keys"), wrapper_class="cairn-wide")
    def keys_table(self, obj: Project) -> SafeString | str:
        rows = [
            (link(key, key.name), tags([key.prefix]), _scopes(key), _state(key), moment(key.last_used_at))
            for key in obj.api_keys.all()
        ]
        return table((_("name"), _("prefix"), _("scopes"), _("state"), _("last used")), rows)

    def delete_model(self, request: HttpRequest, obj: Project) -> None:
        store.delete_project(project=obj, by=actor(request))

    def delete_queryset(self, request: HttpRequest, queryset: QuerySet[Project]) -> None:
        for project in queryset.order_by("pk"):
            store.delete_project(project=project, by=actor(request))


@admin.register(ApiKey)
class ApiKeyAdmin(KeyPieces, StoreAdmin):
    form = ApiKeyForm
    list_display = ("name", "prefix_tag", "project_link", "state", "created_by", "created", "last_used")
    list_filter = (("project", ProjectFilter),)
    search_fields = ("name", "prefix", "project__slug")
    list_select_related = ("project", "created_by")
    autocomplete_fields = ("project",)
    actions = ("revoke",)
    fields = ("project", "name", "scopes", "expires_at")

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def get_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        if obj is None:
            return self.fields
        return (
            "name",
            "prefix_tag",
            "project_link",
            "scope_names",
            "state",
            "expires",
            "revoked",
            "created_by",
            "created",
            "last_used",
        )

    def get_readonly_fields(self, request: HttpRequest, obj: ApiKey | None = None) -> Any:
        return self.get_fields(request, obj) if obj else ()

    @display(description=_("project"), ordering="project__slug")
    def project_link(self, obj: ApiKey) -> SafeString | str:
        return link(obj.project) if obj.project else str(_("all projects"))

    def save_model(self, request: HttpRequest, obj: ApiKey, form: Any, change: bool) -> None:
        messages.warning(request, _("The key, shown this once: %(secret)s") % {"secret": form.secret})

    @action(description=_("Revoke"), permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[ApiKey]) -> None:
        for key in queryset.select_related("project").order_by("project_id", "pk"):
            store.revoke_key(key=key, by=actor(request))
        self.message_user(request, _("Revoked; from now on these keys are refused."), messages.SUCCESS)

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("projects.change_apikey")


@admin.register(ProjectGrant)
class ProjectGrantAdmin(ReadableAdmin):
    list_display = ("member", "project_link", "right", "since", "by")
    list_filter = (("content_object", ProjectFilter),)
    search_fields = ("user__username", "content_object__slug")
    list_select_related = ("user", "content_object", "permission", "granted_by")
    fields = list_display

    @display(description=_("member"), ordering="user__username")
    def member(self, obj: ProjectGrant) -> SafeString | str:
        return link(obj.user)

    @display(description=_("may"))
    def right(self, obj: ProjectGrant) -> str:
        return _right(obj)

    @display(description=_("since"), ordering="granted_at")
    def since(self, obj: ProjectGrant) -> SafeString | str:
        return moment(obj.granted_at)

    @display(description=_("granted by"))
    def by(self, obj: ProjectGrant) -> str:
        return _by(obj)

    @display(description=_("project"), ordering="content_object__slug")
    def project_link(self, obj: ProjectGrant) -> SafeString | str:
        return link(obj.content_object)


def _memories(which: Q) -> Coalesce:
    """How many memories of each project: one subquery a column, instead of a join that multiplies."""
    memories: Any = Project.memories.rel.related_model
    counted = memories.objects.filter(which, project=OuterRef("pk")).order_by().values("project")
    return Coalesce(Subquery(counted.annotate(n=Count("pk")).values("n")), 0)


def _state(key: ApiKey) -> SafeString:
    if key.revoked_at:
        return badge(_("revoked"), "danger")
    return badge(_("usable"), "success") if key.is_usable else badge(_("expired"), "warning")


def _scopes(key: ApiKey) -> SafeString | str:
    return stacked(Scope(scope).label for scope in key.scopes if scope in Scope.values)


def _right(grant: ProjectGrant) -> str:
    return str(PERMISSIONS.get(grant.permission.codename, grant.permission.codename))


def _by(grant: ProjectGrant) -> str:
    return grant.granted_by.get_username() if grant.granted_by else NOTHING


def _list_of(obj: Project, what: str, text: Any, **filters: Any) -> SafeString:
    """A link to the list of what the other apps hang on a project."""
    return list_link(getattr(obj, what).model, text, project__id__exact=obj.pk, **filters)
