"""Operators' pages for users and groups: Django's own, in the look of the others."""

from __future__ import annotations

from typing import Any

from django import forms
from django.contrib import admin
from django.contrib.auth.admin import GroupAdmin as DjangoGroupAdmin
from django.contrib.auth.admin import UserAdmin as DjangoUserAdmin
from django.contrib.auth.models import Group, User
from unfold.admin import ModelAdmin
from unfold.forms import AdminPasswordChangeForm, UserChangeForm, UserCreationForm

from projects import masking

admin.site.unregister(User)
admin.site.unregister(Group)


class Guarded(forms.ModelForm):  # type: ignore[type-arg]
    """What must not be kept would stand, as a name, in lists, the audit and Django's own log."""

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or self.cleaned_data
        for name in [name for name in cleaned if not name.startswith("password")]:
            try:
                masking.refuse({name: cleaned[name]})
            except masking.TextRefused as refusal:
                self.add_error(name, refusal.message)
        return cleaned


class UserForm(Guarded, UserChangeForm):  # type: ignore[misc]
    pass


class NewUserForm(Guarded, UserCreationForm):  # type: ignore[misc]
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
    form = Guarded
    list_fullwidth = True
