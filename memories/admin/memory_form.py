"""The form of a memory. It writes through `memories.store`, and so do the buttons below it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.urls import reverse
from django.utils.html import format_html
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from memories import store
from memories.models import Memory, Source, Status
from memories.withheld import shown
from projects.admin import StoreForm, actor

if TYPE_CHECKING:
    from collections.abc import Callable

TEXTS = ("content", "key", "area", "keywords", "files")
IN_USE = (Status.PROPOSED, Status.ACTIVE, Status.DISABLED)
# What can be done with a memory besides editing it, by its status.
VERBS: dict[str, tuple[str, ...]] = {
    Status.PROPOSED: ("confirm", "reject", "archive", "undo"),
    Status.ACTIVE: ("disable", "archive", "undo"),
    Status.DISABLED: ("enable", "archive", "undo"),
    Status.SUPERSEDED: ("restore", "undo"),
    Status.REJECTED: ("restore", "undo"),
    Status.ARCHIVED: ("restore", "undo"),
}
BUTTON = "memories_memory_"
DOORS: dict[str, Callable[..., Memory | None]] = {
    "confirm": store.confirm,
    "reject": store.reject,
    "enable": store.enable,
    "disable": store.disable,
    "restore": store.restore,
    "archive": store.archive,
    "undo": store.undo,
}


def verbs(memory: Memory) -> tuple[str, ...]:
    """What can be done with this memory besides editing it."""
    is_in_force = memory.status == Status.ACTIVE
    if is_in_force and memory.spot_check:
        return ("confirm", "reject", *VERBS[memory.status])
    return (("confirm",) if is_in_force and memory.withheld else ()) + VERBS[memory.status]


class CommaListField(forms.CharField):
    """Words with commas between them, Latin or Chinese."""

    widget = UnfoldAdminTextInputWidget

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        return [word.strip() for word in (value or "").replace("，", ",").split(",") if word.strip()]

    def has_changed(self, initial: Any, data: Any) -> bool:
        return list(initial or []) != self.to_python(data)


class MemoryForm(StoreForm):
    # The version that the page showed: somebody may have changed the memory since.
    read_version = forms.IntegerField(widget=forms.HiddenInput, required=False)
    keywords = CommaListField(label=_("Keywords"), required=False, help_text=_("Separated by commas."))
    files = CommaListField(label=_("Files"), required=False, help_text=_("Globs, separated by commas."))
    importance = forms.TypedChoiceField(
        label=_("Importance"),
        coerce=int,
        choices=[(stones, f"{stones} {'●' * stones}{'○' * (5 - stones)}") for stones in range(5, 0, -1)],
        initial=3,
        widget=UnfoldAdminSelectWidget,
    )
    reason = forms.CharField(
        label=_("Reason"),
        required=False,
        max_length=300,
        help_text=_("Kept in history and audit."),
        widget=UnfoldAdminTextInputWidget,
    )
    refusals = (store.StoreError, Memory.DoesNotExist)

    class Meta:
        model = Memory
        fields = ("project", *store.EDITABLE)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if self.instance.pk:
            self.initial["read_version"] = self.instance.version
            for name in TEXTS:
                self.initial[name] = _readable(self.instance, self.initial.get(name))
        if "key" in self.fields:
            self.fields["key"].required = False
            self.fields["key"].help_text = _("Empty: derived from the content.")
        if "content" in self.fields:
            self.fields["content"].widget.attrs["rows"] = 3

    def clean_read_version(self) -> int | None:
        version: int | None = self.cleaned_data["read_version"]
        if self.instance.pk and version is None:
            self.add_error(None, gettext("The page did not say which version it showed. Open it again."))
        return version

    def write(self) -> Memory:
        by, reason = actor(self.request), self.cleaned_data["reason"]
        if not self.instance.pk:
            values: dict[str, Any] = {name: self.cleaned_data[name] for name in store.EDITABLE}
            for name in ("keywords", "files"):
                values[name] = tuple(values[name])
            draft = store.Draft(**values)
            return store.add(
                project=self.cleaned_data["project"],
                draft=draft,
                source=Source.MANUAL,
                by=by,
                reason=reason,
            )
        memory: Memory = self.instance
        verb, version = self.verb(), self.cleaned_data["read_version"]
        named: dict[str, Any] = {
            "project": memory.project,
            "memory_id": memory.pk,
            "by": by,
            "reason": reason,
        }
        if verb == "undo":
            # What is typed over a memory whose last change goes back has nothing to stand on.
            return store.undo(version=version, **named) or memory
        # What is typed and the button below it are one step, and go back as one.
        with store.one_change():
            if memory.status in IN_USE:
                changes = {
                    name: self.cleaned_data[name] for name in self.changed_data if name in store.EDITABLE
                }
                memory = store.edit(changes=changes, version=version, **named)
            if verb is not None:
                memory = DOORS[verb](**named) or memory
        return memory

    def verb(self) -> str | None:
        """The button that was pressed, if it is one of the memory's."""
        return next((verb for verb in DOORS if BUTTON + verb in self.request.POST), None)

    def place(self, refusal: Exception) -> None:
        if isinstance(refusal, store.InvalidMemory):
            for error in refusal.errors:
                self._say(error.field, error.message)
        elif isinstance(refusal, store.GuardRefused):
            self._say(refusal.field, refusal.message)
        elif isinstance(refusal, store.KeyTaken):
            self._say("key", _with_link(refusal.message, refusal.memory))
        elif isinstance(refusal, store.ContentTaken):
            self._say("content", _with_link(refusal.message, refusal.memory))
        elif isinstance(refusal, store.StaleMemory):
            self._say("", _with_link(refusal.message, refusal.current))
        elif isinstance(refusal, store.StoreError):
            self._say("", refusal.message)
        else:
            self._say("", gettext("There is no such memory."))

    def _say(self, field: str, message: str) -> None:
        self.add_error(field if field in self.fields else None, message)


def _readable(memory: Memory, value: Any) -> Any:
    if isinstance(value, list):
        return [shown(memory, text) for text in value]
    return shown(memory, value) if isinstance(value, str) else value


def _with_link(message: str, memory: Memory) -> str:
    """The other memory opens beside this page, so that what was typed here stays."""
    url = reverse("admin:memories_memory_change", args=[memory.pk])
    return format_html(
        '{} <a class="cairn-link" target="_blank" href="{}">{}</a>',
        message,
        url,
        gettext("Open it in a new tab"),
    )
