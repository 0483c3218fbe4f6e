"""Operators' pages for users and groups: Django's own, in the look of the others."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from django.utils.translation import gettext
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from projects import masking

admin.site.unregister(User)
admin.site.unregister(Group)


class WithoutSecrets(forms.ModelForm):  # type: ignore[type-arg]
    """A name that holds a secret would stand in lists, the audit and Django's own log."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name in [name for name in cleaned if not name.startswith("password")]:
            if isinstance(cleaned[name], str) and masking.holds_secret(cleaned[name]):
                self.add_error(name, gettext("Not saved: it contains a password, key or token."))
        return cleaned


class UserForm(WithoutSecrets, UserChangeForm):  # type: ignore[misc]
    pass


class NewUserForm(WithoutSecrets, UserCreationForm):  # type: ignore[misc]
    pass


@admin.register(User)
class UserAdmin(DjangoUserAdmin, ModelAdmin):  # type: ignore[type-arg]
    form = UserForm
    add_form = NewUserForm
    change_password_form = AdminPasswordChangeForm
    list_fullwidth = True
    list_filter_submit = True


@admin.register(Group)
class GroupAdmin(DjangoGroupAdmin, ModelAdmin):  # type: ignore[type-arg]
    form = WithoutSecrets
    list_fullwidth = True
