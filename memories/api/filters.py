"""Which memories are meant: by query string in lists, by body in bulk."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from memories.models import Authority, MemoryType, Source, Status
from memories.store import MAX_SELECTED
from projects.http.serializers import (
    BooleanField,
    ChoiceField,
    IntegerField,
    ListField,
    Parameters,
    QueryBoolean,
    StrictSerializer,
    StringField,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from memories.querysets import MemoryQuerySet

MAX_WORDS = 200
MAX_CODE = 40
_LISTS = ("type", "status", "source", "authority")


class SeveralOf(serializers.CharField):
    """One choice, or several separated by commas."""

    default_error_messages: ClassVar = {"invalid_choice": _("Choose from: {choices}.")}

    def __init__(self, choices: list[tuple[str, Any]], **kwargs: Any) -> None:
        self.choices = [value for value, _label in choices]
        kwargs.setdefault("required", False)
        kwargs.setdefault("help_text", f"One or several, separated by commas: {', '.join(self.choices)}.")
        one = f"({'|'.join(map(re.escape, self.choices))})"
        self.described = {"pattern": f"^{one}(,{one})*$"}
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> Any:
        chosen = str(data).split(",")
        if not set(chosen) <= set(self.choices):
            self.fail("invalid_choice", choices=", ".join(self.choices))
        return chosen


class SeveralIds(serializers.CharField):
    described: ClassVar = {"pattern": f"^[0-9]{{1,18}}(,[0-9]{{1,18}}){{0,{MAX_SELECTED - 1}}}$"}
    default_error_messages: ClassVar = {
        "not_ids": _("Give ids separated by commas."),
        "too_many": _("At most {most} ids at once."),
    }

    def to_internal_value(self, data: Any) -> Any:
        given = str(data).split(",")
        if not all(one.isascii() and one.isdigit() and len(one) <= 18 for one in given):
            self.fail("not_ids")
        if len(given) > MAX_SELECTED:
            self.fail("too_many", most=MAX_SELECTED)
        return [int(one) for one in given]


class MemoryParameters(Parameters):
    type = SeveralOf(MemoryType.choices)
    status = SeveralOf(Status.choices)
    source = SeveralOf(Source.choices)  # type: ignore[assignment]
    authority = SeveralOf(Authority.choices)
    area = StringField(
        required=False, allow_blank=True, max_length=120, help_text="Exactly this; empty: of no area."
    )
    always = QueryBoolean(required=False)
    withheld = QueryBoolean(required=False)
    spot_check = QueryBoolean(required=False)
    withheld_for = StringField(
        required=False, max_length=MAX_CODE, help_text="The guard’s code for why it is withheld."
    )
    q = StringField(required=False, max_length=MAX_WORDS, help_text="Every word in content, key or area.")
    ids = SeveralIds(required=False, help_text="Separated by commas.")


class MemoryFilter(StrictSerializer):
    """The same as members of a body."""

    type = ListField(child=ChoiceField(choices=MemoryType.choices), max_length=6, required=False)
    status = ListField(child=ChoiceField(choices=Status.choices), max_length=6, required=False)
    source = ListField(  # type: ignore[assignment]
        child=ChoiceField(choices=Source.choices), max_length=5, required=False
    )
    authority = ListField(child=ChoiceField(choices=Authority.choices), max_length=2, required=False)
    area = StringField(max_length=120, allow_blank=True, required=False)
    always = BooleanField(required=False)
    withheld = BooleanField(required=False)
    spot_check = BooleanField(required=False)
    withheld_for = StringField(max_length=MAX_CODE, required=False)
    q = StringField(max_length=MAX_WORDS, required=False)
    ids = ListField(child=IntegerField(min_value=1), max_length=MAX_SELECTED, required=False)

    described: ClassVar = {"minProperties": 1}


def narrowed(memories: MemoryQuerySet, wanted: Mapping[str, Any]) -> MemoryQuerySet:
    """Those that all of `wanted`, the checked values of either serializer, speak of."""
    for name in _LISTS:
        if name in wanted:
            memories = memories.filter(**{f"{name}__in": wanted[name]})
    for name in ("area", "always", "withheld", "withheld_for", "spot_check"):
        if name in wanted:
            memories = memories.filter(**{name: wanted[name]})
    if "ids" in wanted:
        memories = memories.filter(pk__in=wanted["ids"])
    return memories.search(wanted["q"]) if "q" in wanted else memories
