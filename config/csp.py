"""What a browser may do with what we send: nothing that a page does not need.

Pages of our own load style sheets, pictures and later scripts from this site alone, and hold neither inline. The
admin's theme evaluates expressions in its mark-up and styles elements in place; the page to try the API holds one
script and one style that its nonce names. Whatever is no page at all may do nothing.
"""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from csp.constants import HEADER, NONCE, NONE, SELF, UNSAFE_EVAL, UNSAFE_HASHES, UNSAFE_INLINE
from csp.middleware import CSPMiddleware
from csp.utils import build_policy

if TYPE_CHECKING:
    from csp.middleware import PolicyParts
    from django.http import HttpRequest, HttpResponseBase

DATA = "data:"
STRICT: dict[str, list[Any]] = {
    "default-src": [NONE],
    "script-src": [SELF],
    "style-src": [SELF],
    "img-src": [SELF],
    "font-src": [SELF],
    "connect-src": [SELF],
    "form-action": [SELF],
    "base-uri": [NONE],
    "frame-ancestors": [NONE],
}
# The theme's one handler in an attribute: a filter above a list takes effect as soon as it is chosen.
HANDLERS = ("this.submit()",)


def digest_of(script: str) -> str:
    """The source that allows exactly this script."""
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"


# What is added to STRICT.
ADMIN: dict[str, list[Any]] = {
    "script-src": [UNSAFE_EVAL],
    "script-src-attr": [UNSAFE_HASHES, *map(digest_of, HANDLERS)],
    "style-src": [UNSAFE_INLINE],
    "img-src": [DATA],
}
DOCS: dict[str, list[Any]] = {"script-src": [NONCE], "style-src": [NONCE], "img-src": [DATA]}
NO_PAGE = build_policy(
    {"default-src": [NONE], "form-action": [NONE], "base-uri": [NONE], "frame-ancestors": [NONE]}
)
PERMISSIONS = ", ".join(
    f"{feature}=()"
    for feature in ("camera", "geolocation", "microphone", "payment", "usb", "browsing-topics")
)


class PolicyMiddleware(CSPMiddleware):
    """Content-Security-Policy for every answer, and Permissions-Policy for pages."""

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        if not response.get("Content-Type", "").startswith("text/html"):
            response.headers.setdefault(HEADER, NO_PAGE)
            return response
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return super().process_response(request, response)

    def get_policy_parts(
        self, request: HttpRequest, response: HttpResponseBase, report_only: bool = False
    ) -> PolicyParts:
        parts = super().get_policy_parts(request, response, report_only)
        match = request.resolver_match
        if not report_only and match is not None and match.app_names == ["admin"]:
            parts.update = {**ADMIN, **(parts.update or {})}
        return parts
