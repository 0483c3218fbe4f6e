"""The forms of projects and keys, which write through `projects.store`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminCheckboxSelectMultipleWidget

from projects import masking, roles, store
from projects.admin.pages import StoreForm, actor
from projects.models import ApiKey, Project, Scope

if TYPE_CHECKING:
    from django.contrib.auth.models import User


class ProjectForm(StoreForm):
    refusals = (
        store.InvalidSlug,
        store.SlugTaken,
        store.InactiveUser,
        store.ProjectGone,
        masking.TextRefused,
    )

    class Meta:
        model = Project
        fields = ("slug", "owner", *sorted(store.SETTINGS))

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for name in {"description", "static_instructions"} & set(self.fields):
            self.fields[name].widget.attrs["rows"] = 3
        if "slug" in self.fields:
            self.fields["slug"].required = False
            self.fields["slug"].help_text = _("Empty: derived from the name.")

    def write(self) -> Project:
        by = actor(self.request)
        if self.instance.pk:
            changes = {name: self.cleaned_data[name] for name in self.changed_data}
            return store.update_project(project=self.instance, changes=changes, by=by)
        given = dict(self.cleaned_data)
        name, slug, owner = given.pop("name"), given.pop("slug"), given.pop("owner")
        return store.create_project(name=name, slug=slug, owner=owner, by=by, **given)

    def place(self, refusal: Exception) -> None:
        if isinstance(refusal, store.InvalidSlug):
            rule = gettext(
                "A slug is made of a-z, 0-9, - and _, at most 60, and begins with a letter or digit."
            )
            self.add_error("slug", rule)
        elif isinstance(refusal, store.SlugTaken):
            self.add_error("slug", gettext("Another project has this slug."))
        elif isinstance(refusal, masking.TextRefused):
            self.add_error(refusal.field, refusal.message)
        elif isinstance(refusal, store.InactiveUser):
            self.add_error("owner", gettext("This person cannot log in."))
        else:
            self.add_error(None, gettext("This project was deleted meanwhile."))


class ApiKeyForm(StoreForm):
    scopes = forms.MultipleChoiceField(
        label=_("Scopes"), choices=Scope.choices, widget=UnfoldAdminCheckboxSelectMultipleWidget
    )
    refusals = (store.PlatformKeyRefused, store.UnknownScope, store.ProjectGone, masking.TextRefused)
    # The plain text of the key just made; nothing else keeps it.
    secret = ""

    class Meta:
        model = ApiKey
        fields = ("project", "name", "scopes", "expires_at")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        user: User = self.request.user  # type: ignore[assignment]
        if "project" in self.fields and not roles.is_superadmin(user):
            self.fields["project"].required = True

    def write(self) -> ApiKey:
        key, self.secret = store.issue_key(by=actor(self.request), **self.cleaned_data)
        return key

    def place(self, refusal: Exception) -> None:
        if isinstance(refusal, store.UnknownScope):
            self.add_error("scopes", gettext("A key of one project cannot create projects."))
        elif isinstance(refusal, masking.TextRefused):
            self.add_error(refusal.field, refusal.message)
        elif isinstance(refusal, store.PlatformKeyRefused):
            self.add_error("project", gettext("A key for all projects is made by superadmins alone."))
        else:
            self.add_error("project", gettext("This project was deleted meanwhile."))
