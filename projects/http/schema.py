"""How the conventions are told in OpenAPI.

Views say what succeeds and which problems are theirs:

    @extend_schema(responses={200: ProjectAnswer, **problems(403, 404)})

`add_conventions` is the post-processing hook that adds what every operation has.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import (
    OpenApiAuthenticationExtension,
    OpenApiSerializerExtension,
    OpenApiSerializerFieldExtension,
)
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from projects.http.problems import MEDIA_TYPE

PROBLEM = "#/components/schemas/Problem"

# Headers, for the `parameters` of `extend_schema`.
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": "^[!-~]+$", "minLength": 1, "maxLength": 200},
    OpenApiParameter.HEADER,
    description="The same request sent again under this key happens once; kept for 24 hours.",
)
IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, required=True, description="The ETag you have seen, or `*`."
)
OPTIONAL_IF_MATCH = OpenApiParameter(
    "If-Match", str, OpenApiParameter.HEADER, description="The ETag that you have seen: 412 if it is no more."
)

_CODES: dict[int, str] = {
    400: "`invalid`, `invalid_text`, `unknown_field`, `unknown_parameter`",
    401: "`key_invalid`",
    403: "`scope_missing`, `role_missing`, `csrf_failed`",
    404: "`not_found`",
    409: "`key_taken`, `content_taken`, `turn_already_finished`, `request_in_progress`, `target_changed`, "
    "`proposal_decided`, `selection_changed`, `wrong_status`, `memory_off`, "
    "`tombstoned`, `nothing_to_undo`, `partner_changed`",
    412: "`stale_memory`; `current` is the present state",
    413: "`too_large`; `limit` in bytes",
    422: "`secret_found`, `injection_found`, `hidden_characters`, `idempotency_key_reused`",
    428: "`if_match_required`",
    429: "`throttled`; see `Retry-After`. `RateLimit` in every answer says how far one is from it",
    503: "`unavailable`; see `Retry-After`",
}

_PROBLEM_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "RFC 9457. Programs read `status`, `code` and `errors[].code`; sentences may change.",
    "required": ["type", "title", "status", "code", "detail"],
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string"},
        "status": {"type": "integer"},
        "code": {"type": "string"},
        "detail": {"type": "string", "description": "In the language of Accept-Language."},
        "request_id": {"type": "string"},
        "errors": {
            "type": "array",
            "items": {
                "type": "object",
                "required": ["pointer", "code", "detail"],
                "properties": {
                    "pointer": {"type": "string", "description": "JSON pointer into the body."},
                    "code": {"type": "string"},
                    "detail": {"type": "string"},
                    "start": {"type": "integer"},
                    "end": {"type": "integer"},
                    "parameter": {"type": "string", "description": "The query parameter at fault."},
                },
            },
        },
    },
    "example": {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "code": "unknown_field",
        "detail": "The request is not valid.",
        "errors": [{"pointer": "/nmae", "code": "unknown_field", "detail": "There is no such field."}],
    },
}


class ApiKeyScheme(OpenApiAuthenticationExtension):
    target_class = "projects.http.authentication.ApiKeyAuthentication"
    name = "apiKey"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "http", "scheme": "bearer", "bearerFormat": "cairn_<prefix>_<secret>"}


class SessionScheme(OpenApiAuthenticationExtension):
    target_class = "projects.http.authentication.SessionAuthentication"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        return {"type": "apiKey", "in": "cookie", "name": settings.SESSION_COOKIE_NAME}


class StrictBody(OpenApiSerializerExtension):
    """A body takes no member that it does not name, and says what goes together (`described`)."""

    target_class = "projects.http.serializers.StrictSerializer"
    match_subclasses = True

    def map_serializer(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer(self.target, direction, bypass_extensions=True)
        if type(self.target).__doc__ is None:
            # Else the docstring of the strict serializer itself would describe every body.
            schema.pop("description", None)
        return schema | {"additionalProperties": False} | self.target.described


class DescribedField(OpenApiSerializerFieldExtension):
    """Fields of projects.http.serializers may add to their schema by `described`."""

    target_class = "rest_framework.fields.Field"
    match_subclasses = True

    @classmethod
    def _matches(cls, target: Any) -> bool:
        return bool(getattr(target, "described", None)) and super()._matches(target)

    def map_serializer_field(self, auto_schema: Any, direction: str) -> dict[str, Any]:
        schema: dict[str, Any] = auto_schema._map_serializer_field(
            self.target, direction, bypass_extensions=True
        )
        if isinstance(schema.get("type"), list):
            # drf-spectacular adds "null" once more to what comes from here.
            schema["type"] = next(one for one in schema["type"] if one != "null")
        return schema | (self.target.described if direction == "request" else {})


def problems(*statuses: int) -> dict[int, OpenApiResponse]:
    """The responses of `extend_schema` for these refusals."""
    return {status: OpenApiResponse({"$ref": PROBLEM}, _CODES[status]) for status in statuses}


def add_conventions(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular's post-processing hook: what all operations have in common."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = _PROBLEM_SCHEMA
    for operations in result["paths"].values():
        for operation in operations.values():
            responses = operation["responses"]
            for parameter in operation.get("parameters", ()):
                if parameter["in"] == "path":
                    parameter["schema"] = _OF_ADDRESSES.get(parameter["name"], _ID)
                if parameter["in"] == "query":
                    responses.setdefault("414", _TOO_LONG)
            responses.setdefault("401", _problem(_CODES[401]))
            responses.setdefault("429", _problem(_CODES[429]))
            responses.setdefault("default", _problem("Any other refusal."))
            for status, response in responses.items():
                if status >= "400" and response is not _TOO_LONG:
                    # drf-spectacular knows only the media types of the renderers.
                    response["content"] = _problem("")["content"]
    return result


# What stands in addresses.
_ID = {"type": "integer", "format": "int64", "minimum": 1, "maximum": 2**63 - 1}
_OF_ADDRESSES = {"slug": {"type": "string", "pattern": "^[a-z0-9][a-z0-9_-]{0,59}$"}}
# Before any of this is asked.
_TOO_LONG = {
    "description": "The address is longer than the web server reads: its own page, no problem.",
    "content": {"text/html": {"schema": {"type": "string"}}},
}


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {MEDIA_TYPE: {"schema": {"$ref": PROBLEM}}}}
