"""Pages by cursor: `{"results": […], "next": url or null}`.

    return paging.paged(request, memories, render, ordering=("-updated_at", "-id"))

A cursor holds the ordering values of the last row that was given, signed, and is good for one address only:
rows that come or go in between shift nothing. The last of `ordering` must be unique, none may be NULL.
"""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.core import signing
from django.db.models import Q
from django.utils.translation import gettext_lazy as _
from rest_framework.pagination import BasePagination
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from projects.http.problems import FieldError, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from django.db.models import Model, QuerySet
    from rest_framework.request import Request

PARAMETERS = ("cursor", "limit")
DEFAULT_LIMIT = 50
MAX_LIMIT = 100


class CursorPagination(BasePagination):
    def __init__(self, ordering: Sequence[str] = ("-id",)) -> None:
        self.ordering = tuple(ordering)
        self._next: str | None = None

    def paginate_queryset(self, queryset: Any, request: Request, view: Any = None) -> list[Any]:
        limit = self._limit(request)
        rows = queryset.order_by(*self.ordering)
        if (cursor := request.query_params.get("cursor")) is not None:
            rows = rows.filter(self._after(self._read(cursor, request)))
        page = list(rows[: limit + 1])
        if len(page) > limit:
            page.pop()
            self._next = replace_query_param(
                request.build_absolute_uri(), "cursor", self._cursor(page[-1], request)
            )
        return page

    def get_paginated_response(self, data: Any) -> Response:
        return Response({"results": data, "next": self._next})

    def get_paginated_response_schema(self, schema: dict[str, Any]) -> dict[str, Any]:
        return {
            "type": "object",
            "required": ["results", "next"],
            "properties": {
                "results": schema,
                "next": {
                    "type": ["string", "null"],
                    "format": "uri",
                    "description": "The next page.",
                    "example": None,
                },
            },
        }

    def get_schema_operation_parameters(self, view: Any) -> list[dict[str, Any]]:
        return [
            {
                "name": "cursor",
                "in": "query",
                "required": False,
                "description": "Where the page starts; take it from `next`.",
                "schema": {"type": "string"},
            },
            {
                "name": "limit",
                "in": "query",
                "required": False,
                "schema": {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
            },
        ]

    def _limit(self, request: Request) -> int:
        given = request.query_params.get("limit", str(DEFAULT_LIMIT))
        if given.isascii() and given.isdigit() and len(given) <= 3 and 1 <= int(given) <= MAX_LIMIT:
            return int(given)
        raise invalid(
            FieldError(
                "", "invalid", _("Give a number from 1 to %(most)s.") % {"most": MAX_LIMIT}, parameter="limit"
            )
        )

    def _cursor(self, row: Any, request: Request) -> str:
        values = [getattr(row, name.removeprefix("-")) for name in self.ordering]
        return signing.dumps(
            [value.isoformat() if isinstance(value, datetime) else value for value in values],
            salt=self._salt(request),
        )

    def _read(self, cursor: str, request: Request) -> list[Any]:
        try:
            values: list[Any] = signing.loads(cursor, salt=self._salt(request))
        except signing.BadSignature:
            raise invalid(
                FieldError("", "invalid", _("This cursor was not made for this address."), parameter="cursor")
            ) from None
        return values

    def _salt(self, request: Request) -> str:
        return f"projects.http.paging {request.path} {','.join(self.ordering)}"

    def _after(self, values: list[Any]) -> Q:
        """Rows behind `values`: the first differing column decides."""
        condition, equal = Q(), Q()
        for name, value in zip(self.ordering, values, strict=True):
            column, side = name.removeprefix("-"), "lt" if name.startswith("-") else "gt"
            condition |= equal & Q(**{f"{column}__{side}": value})
            equal &= Q(**{column: value})
        return condition


def paged[M: Model](
    request: Request,
    queryset: QuerySet[M],
    render: Callable[[M], Any],
    *,
    ordering: Sequence[str] = ("-id",),
) -> Response:
    """One page of `queryset`, each row through `render`. Read other parameters with `also=PARAMETERS`."""
    pages = CursorPagination(ordering)
    return pages.get_paginated_response([render(row) for row in pages.paginate_queryset(queryset, request)])
