"""What bodies and query strings may hold: nothing unknown, nothing coerced.

Derive from `StrictSerializer` and use the fields of this module; `read_body` gives the checked values.
A query string is text: `Parameters` has fields that convert, `read_parameters` gives its values.
"""

from __future__ import annotations

import re
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from projects.http.problems import FieldError, Problem, invalid

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from rest_framework.request import Request

_INT64 = 2**63 - 1
# Any white space but nothing else is blank.
SAYS_SOMETHING = r"\S"
# The years of a date, as it was sent: far from the ends of what databases and Python's datetime can hold.
_YEARS = range(1970, 9000)
_DESCRIBED_YEARS = r"^(19[7-9][0-9]|[2-8][0-9]{3})-"


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses members that it does not know, and those that are only ever answered.

    What `validate` asks beyond single fields is told by `described`, a part of the body's JSON schema.
    """

    described: ClassVar[dict[str, Any]] = {}

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(field.field_name or "" for field in self._writable_fields)

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            return super().to_internal_value(data)
        errors: dict[str, Any] = {
            name: [serializers.ErrorDetail(str(_("There is no such field.")), "unknown_field")]
            for name in data
            if name not in self._known
        }
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            errors |= cast("dict[str, Any]", error.detail)
        if errors:
            raise serializers.ValidationError(errors)
        return values


class StringField(serializers.CharField):
    """A JSON string, as it was sent unless `trim_whitespace`.

    Trimmed or with `says_something`, white space alone counts as blank.
    """

    def __init__(self, *, says_something: bool = False, **kwargs: Any) -> None:
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)
        self.says_something = not self.allow_blank and (says_something or self.trim_whitespace)
        self.described = {"pattern": SAYS_SOMETHING} if self.says_something else {}

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is not serializers.empty and data is not None and not isinstance(data, str):
            self.fail("invalid")
        if isinstance(data, str):
            if self.says_something and not data.strip():
                self.fail("blank")
            if self.max_length is not None and len(data) > self.max_length:
                # Of what was sent, blanks around it included: that is what the description says.
                message = self.error_messages["max_length"].format(max_length=self.max_length)
                raise serializers.ValidationError(message, "max_length")
        return super().run_validation(data)


class IntegerField(serializers.IntegerField):
    """A JSON integer that fits a database's 64 bits. To JSON, 1.0 is one."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("min_value", -_INT64)
        kwargs.setdefault("max_value", _INT64)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        if isinstance(data, float) and data.is_integer():
            return int(data)
        if type(data) is not int:
            self.fail("invalid")
        return data


class NumberField(serializers.FloatField):
    def to_internal_value(self, data: Any) -> float:
        if isinstance(data, bool) or not isinstance(data, int | float):
            self.fail("invalid")
        return super().to_internal_value(data)


class BooleanField(serializers.BooleanField):
    """`true` or `false`."""

    def to_internal_value(self, data: Any) -> bool:
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


class ChoiceField(serializers.ChoiceField):
    default_error_messages: ClassVar = {"invalid_choice": _("Choose one of: {choices}.")}

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, str) and (data in self.choices or (data == "" and self.allow_blank)):
            return data
        self.fail("invalid_choice", choices=", ".join(str(choice) for choice in self.choices))


class DateTimeField(serializers.DateTimeField):
    """RFC 3339 with an offset; the value keeps the offset that was sent."""

    described: ClassVar = {"pattern": _DESCRIBED_YEARS}

    default_error_messages: ClassVar = {
        "invalid": _("Give date, time and offset, such as 2026-12-01T09:30:12+08:00."),
        "overflow": _("This date is out of range."),
    }

    def to_internal_value(self, value: Any) -> datetime:
        try:
            moment = parse_datetime(value) if isinstance(value, str) else None
        except ValueError:
            moment = None
        if moment is None or moment.tzinfo is None:
            self.fail("invalid")
        if moment.year not in _YEARS:
            self.fail("overflow")
        return moment


class ListField(serializers.ListField):
    """A JSON array. Give `child` and `max_length`."""


class ObjectField(serializers.DictField):
    """A JSON object whose members are the caller's own affair; the parser has bounded its depth."""


class QueryInteger(serializers.IntegerField):
    """A number in a query string: digits, and nothing that merely looks like a number to Python."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("min_value", 1)
        kwargs.setdefault("max_value", _INT64)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
        if not re.fullmatch("[0-9]{1,19}", str(data)):
            self.fail("invalid")
        return int(data)


class QueryBoolean(serializers.BooleanField):
    """`true` or `false` in a query string."""

    def to_internal_value(self, data: Any) -> bool:
        if data not in ("true", "false"):
            self.fail("invalid", input=data)
        return bool(data == "true")


class Parameters(serializers.Serializer[Any]):
    """The query parameters of one operation; also describes them for OpenAPI."""


def read_body(
    serializer: type[serializers.Serializer[Any]], request: Request, *, partial: bool = False
) -> dict[str, Any]:
    """The body's checked values, or 400 with pointers."""
    return dict(_reader(serializer, partial).run_validation(request.data))


@cache
def _reader(serializer: type[serializers.Serializer[Any]], partial: bool) -> serializers.Serializer[Any]:
    """One for all requests and threads: validating keeps no state, and copying all its fields took longer."""
    return serializer(partial=partial)


def read_parameters(
    parameters: type[Parameters], request: Request, *, also: Iterable[str] = ()
) -> dict[str, Any]:
    """The query string's checked values, or 400; `also` names what something else reads (paging)."""
    checked = parameters(data=request.query_params.dict())
    reject_unknown_parameters(request, [*checked.fields, *also])
    if not checked.is_valid():
        raise Problem(
            400,
            "invalid",
            _("The request is not valid."),
            [
                FieldError("", getattr(error, "code", "invalid"), str(error), parameter=name)
                for name, errors in checked.errors.items()
                for error in errors
            ],
        )
    return dict(checked.validated_data)


def reject_unknown_parameters(request: Request, allowed: Iterable[str] = ()) -> None:
    """400 `unknown_parameter`: a filter with a typing error must not answer as if there were none.

    400 `invalid` for a parameter that comes twice: only one of them would be heeded.
    """
    if unknown := sorted(set(request.query_params) - set(allowed)):
        raise Problem(
            400,
            "unknown_parameter",
            _("There is no such parameter here."),
            [
                FieldError("", "unknown_parameter", _("There is no such parameter here."), parameter=name)
                for name in unknown
            ],
        )
    if doubled := sorted(name for name, values in request.query_params.lists() if len(values) > 1):
        detail = _("Give this parameter once.")
        raise invalid(*(FieldError("", "invalid", detail, parameter=name) for name in doubled))
