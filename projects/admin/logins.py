"""Operators' page for log-ins that failed: what is locked, since when, and how to lift it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from axes.models import AccessAttempt
from django.conf import settings
from django.contrib import admin, messages
from django.contrib.auth.models import User
from django.utils.html import format_html
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext
from unfold.decorators import action, display

from projects import logins, roles
from projects.admin.fragments import NOTHING, badge, moment, page, quiet, stacked, tags
from projects.admin.pages import CodeFilter, ReadableAdmin, actor, visible

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest
    from django.utils.safestring import SafeString

LOCKED, COUNTED = "locked", "counted"


def may_see(request: HttpRequest) -> bool:
    """Superadmins, and whoever was given the right."""
    user = request.user
    return user.has_perm("axes.view_accessattempt") or (isinstance(user, User) and roles.is_superadmin(user))


def may_lift(request: HttpRequest) -> bool:
    user = request.user
    return user.has_perm("axes.delete_accessattempt") or (
        isinstance(user, User) and roles.is_superadmin(user)
    )


class StateFilter(CodeFilter):
    title, parameter_name = _("state"), "state"
    codes = {LOCKED: _("locked"), COUNTED: _("counted, not locked")}  # noqa: RUF012 (as the class has it)

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        limit = settings.AXES_FAILURE_LIMIT
        match self.value():
            case "locked":
                return queryset.filter(failures_since_start__gte=limit)
            case "counted":
                return queryset.filter(failures_since_start__lt=limit)
        return queryset


@admin.register(AccessAttempt)
class FailedLoginAdmin(ReadableAdmin):
    """Failures that no longer count are not shown; a task removes them."""

    list_display = ("who", "address", "state", "failures", "last", "where")
    list_filter = (StateFilter,)
    list_filter_options = visible("state")
    search_fields = ("username", "ip_address")
    ordering = ("-attempt_time",)
    actions = ("lift",)
    fields = list_display

    def has_module_permission(self, request: HttpRequest) -> bool:
        return may_see(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return may_see(request)

    def has_lift_permission(self, request: HttpRequest) -> bool:
        return may_lift(request)

    def get_queryset(self, request: HttpRequest) -> QuerySet[AccessAttempt]:
        return logins.counted().order_by(*self.ordering)

    @display(description=_("user name"), ordering="username")
    def who(self, obj: AccessAttempt) -> SafeString | str:
        if (user := obj.user_pk) is not None:  # type: ignore[attr-defined]
            return page(User, user, obj.username)
        unknown = quiet(_("typed, but nobody’s name"))
        return stacked((unknown, tags([obj.username]))) if obj.username else unknown

    @display(description=_("address"), ordering="ip_address")
    def address(self, obj: AccessAttempt) -> str:
        return obj.ip_address or NOTHING

    @display(description=_("state"), ordering="failures_since_start")
    def state(self, obj: AccessAttempt) -> SafeString | str:
        if not logins.is_locked(obj):
            return badge(_("counted"))
        until = format_html(str(_("until {}")), moment(obj.attempt_time + settings.AXES_COOLOFF_TIME))
        return stacked((badge(_("locked"), "danger"), quiet(until)))

    @display(description=_("failures"), ordering="failures_since_start")
    def failures(self, obj: AccessAttempt) -> str:
        return _("%(count)s of %(limit)s") % {
            "count": obj.failures_since_start,
            "limit": settings.AXES_FAILURE_LIMIT,
        }

    @display(description=_("last one"), ordering="attempt_time")
    def last(self, obj: AccessAttempt) -> SafeString | str:
        return moment(obj.attempt_time)

    @display(description=_("form"))
    def where(self, obj: AccessAttempt) -> SafeString | str:
        return tags([obj.path_info])

    @action(description=_("Lift the lock"), permissions=["lift"])
    def lift(self, request: HttpRequest, queryset: QuerySet[AccessAttempt]) -> None:
        lifted = logins.lift(queryset, by=actor(request))
        if lifted:
            said = ngettext("%(n)s lock lifted.", "%(n)s locks lifted.", lifted) % {"n": lifted}
            self.message_user(request, said, messages.SUCCESS)
        else:
            self.message_user(request, _("None of these is locked."), messages.WARNING)
