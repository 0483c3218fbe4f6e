"""How the conventions are told in OpenAPI.

Views say what succeeds and which problems are theirs:

    @extend_schema(responses={200: ProjectAnswer, **problems(403, 404)})

`add_conventions` is the post-processing hook that adds what every operation has.
"""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse

from projects.http.problems import MEDIA_TYPE

PROBLEM = "#/components/schemas/Problem"

# Headers, for the `parameters` of `extend_schema`.
IDEMPOTENCY_KEY = OpenApiParameter(
    "Idempotency-Key",
    str,
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
    400: "`invalid`, `unknown_field`, `unknown_parameter`",
    401: "`key_invalid`",
    403: "`scope_missing`, `role_missing`, `csrf_failed`",
    404: "`not_found`",
    409: "`key_taken`, `content_taken`, `turn_already_finished`, `request_in_progress`, `target_changed`, "
    "`proposal_decided`, `selection_changed`, `wrong_status`, `memory_off`",
    412: "`stale_memory`; `current` is the present state",
    413: "`too_large`; `limit` in bytes",
    422: "`secret_found`, `injection_found`, `hidden_characters`, `invalid_text`, `idempotency_key_reused`",
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


def problems(*statuses: int) -> dict[int, OpenApiResponse]:
    """The responses of `extend_schema` for these refusals."""
    return {status: OpenApiResponse({"$ref": PROBLEM}, _CODES[status]) for status in statuses}


def add_conventions(result: dict[str, Any], generator: Any, request: Any, public: bool) -> dict[str, Any]:
    """drf-spectacular's post-processing hook: what all operations have in common."""
    result.setdefault("components", {}).setdefault("schemas", {})["Problem"] = _PROBLEM_SCHEMA
    for operations in result["paths"].values():
        for operation in operations.values():
            responses = operation["responses"]
            responses.setdefault("401", _problem(_CODES[401]))
            responses.setdefault("429", _problem(_CODES[429]))
            responses.setdefault("default", _problem("Any other refusal."))
            for status, response in responses.items():
                if status >= "400":
                    # drf-spectacular knows only the media types of the renderers.
                    response["content"] = _problem("")["content"]
    return result


def _problem(description: str) -> dict[str, Any]:
    return {"description": description, "content": {MEDIA_TYPE: {"schema": {"$ref": PROBLEM}}}}
