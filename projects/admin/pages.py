"""What the pages of all apps are made from: rows to look at, and rows that a store writes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.deletion import Collector
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _
from unfold.admin import ModelAdmin
from unfold.contrib.filters.admin import AutocompleteSelectFilter, DropdownFilter

from projects.actors import Actor
from projects.http import request_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from django.db.models import QuerySet
    from django.http import HttpRequest


def actor(request: HttpRequest) -> Actor:
    """Who works in the admin, for the stores."""
    assert isinstance(request.user, User)  # noqa: S101 (the admin lets nobody else in)
    return Actor.for_user(request.user, transport="admin", request_id=request_id.current())


class ProjectFilter(AutocompleteSelectFilter):
    """Projects are looked up as one types: there may be thousands."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.title = _("project")


class CodeFilter(DropdownFilter):
    """A column of codes, offered in words."""

    codes: ClassVar[Mapping[Any, Any]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, Any]]:
        return list(self.codes.items())

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        return queryset.filter(**{str(self.parameter_name): self.value()}) if self.value() else queryset


def visible(*filters: str) -> dict[str, Any]:
    """`list_filter_options` for filters that stand above the list; the others wait behind a button."""
    return {name: {"horizontal": True} for name in filters}


class ReadableAdmin(ModelAdmin):
    """Rows to look at: everything shown, nothing to be changed here."""

    # What has a line of its own only where the row has this field filled.
    where_there: ClassVar[Mapping[str, str]] = {}
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

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> Any:
        # Every name on the page, so that methods and plain fields need no second list.
        return [name for _title, part in self.get_fieldsets(request, obj) for name in _flat(part["fields"])]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        parts = self.fieldsets or ((None, {"fields": self.fields or ()}),)
        absent = {shown for shown, field in self.where_there.items() if obj and not getattr(obj, field)}
        return tuple((title, {**part, "fields": _without(part["fields"], absent)}) for title, part in parts)


class StoreAdmin(ModelAdmin):
    """Rows that a store writes, deletes and audits.

    Django's own log stays empty: it would keep the names of what was deleted for good.
    """

    list_filter_submit = True
    list_fullwidth = True
    show_full_result_count = False
    list_per_page = 50
    warn_unsaved_form = True

    def get_form(self, request: HttpRequest, obj: Any = None, **kwargs: Any) -> Any:
        return type("BoundForm", (super().get_form(request, obj, **kwargs),), {"request": request})

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        """The form has written it already, through the store."""

    def log_addition(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """The audit has it."""

    def log_change(self, request: HttpRequest, obj: Any, message: Any) -> None:
        """The audit has it."""

    def log_deletions(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        """The audit has it."""

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """What goes along, as counts. What belongs to a row needs no right of its own."""
        rows = list(objs)
        collector = Collector(using=self.model._base_manager.db, origin=objs)
        collector.collect(rows)
        counts = {model: len(found) for model, found in collector.data.items()}
        for fast in collector.fast_deletes:
            counts[fast.model] = counts.get(fast.model, 0) + fast.count()
        named = {
            capfirst(str(model._meta.verbose_name_plural)): count for model, count in counts.items() if count
        }
        return [str(row) for row in rows], named, set(), []


class StoreForm(forms.ModelForm):
    """Writes through a store as the last step of its validation: what the store refuses stands at its field,
    and nothing that was typed is lost.
    """

    request: HttpRequest
    # What `write` may raise for reasons that people can do something about.
    refusals: tuple[type[Exception], ...] = ()

    def write(self) -> Any:
        """The row as the store has written it."""
        raise NotImplementedError

    def place(self, refusal: Exception) -> None:
        """Add the refusal to the field that it is about."""
        raise NotImplementedError

    def _post_clean(self) -> None:
        # Not filling the instance: the store decides what is written.
        if self.errors:
            return
        try:
            with transaction.atomic():
                self.instance = self.write()
        except self.refusals as refusal:
            self.place(refusal)

    def save(self, commit: bool = True) -> Any:
        self.save_m2m = lambda: None
        return self.instance


def _without(fields: Any, absent: set[str]) -> tuple[Any, ...]:
    kept = (
        field if isinstance(field, str) else tuple(name for name in field if name not in absent)
        for field in fields
    )
    return tuple(field for field in kept if field and field not in absent)


def _flat(fields: Any) -> list[str]:
    return [name for field in fields for name in ([field] if isinstance(field, str) else field)]
