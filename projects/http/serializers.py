"""What bodies and query strings may hold: nothing unknown, nothing coerced.

Derive from `StrictSerializer` and use the fields of this module; `read_body` gives the checked values.
A query string is text, so `Parameters` uses DRF's own converting fields; `read_parameters` gives its values.
"""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar, cast

from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from projects.http.problems import FieldError, Problem

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rest_framework.request import Request

_INT64 = 2**63 - 1
_EARLIEST = datetime(1970, 1, 1, tzinfo=UTC)
_LATEST = datetime(9000, 1, 1, tzinfo=UTC)


class StrictSerializer(serializers.Serializer[Any]):
    """Refuses members that it does not know, and those that are only ever answered."""

    def to_internal_value(self, data: Any) -> Any:
        if not isinstance(data, dict):
            return super().to_internal_value(data)
        known = {field.field_name for field in self._writable_fields}
        errors: dict[str, Any] = {
            name: [serializers.ErrorDetail(str(_("There is no such field.")), "unknown_field")]
            for name in data
            if name not in known
        }
        try:
            values = super().to_internal_value(data)
        except serializers.ValidationError as error:
            errors |= cast("dict[str, Any]", error.detail)
        if errors:
            raise serializers.ValidationError(errors)
        return values


class StringField(serializers.CharField):
    """A JSON string, as it was sent unless `trim_whitespace`."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("trim_whitespace", False)
        super().__init__(**kwargs)

    def run_validation(self, data: Any = serializers.empty) -> Any:
        if data is not serializers.empty and data is not None and not isinstance(data, str):
            self.fail("invalid")
        return super().run_validation(data)


class IntegerField(serializers.IntegerField):
    """A JSON integer that fits a database's 64 bits."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("min_value", -_INT64)
        kwargs.setdefault("max_value", _INT64)
        super().__init__(**kwargs)

    def to_internal_value(self, data: Any) -> int:
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
        try:
            if not _EARLIEST <= moment.astimezone(UTC) < _LATEST:
                self.fail("overflow")
        except OverflowError:
            self.fail("overflow")
        return moment


class ListField(serializers.ListField):
    """A JSON array. Give `child` and `max_length`."""


class ObjectField(serializers.DictField):
    """A JSON object whose members are the caller's own affair; the parser has bounded its depth."""


class Parameters(serializers.Serializer[Any]):
    """The query parameters of one operation; also describes them for OpenAPI."""


def read_body(
    serializer: type[serializers.Serializer[Any]], request: Request, **kwargs: Any
) -> dict[str, Any]:
    """The body's checked values, or 400 with pointers."""
    checked = serializer(data=request.data, **kwargs)
    checked.is_valid(raise_exception=True)
    return dict(checked.validated_data)


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
    """400 `unknown_parameter`: a filter with a typing error must not answer as if there were none."""
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
