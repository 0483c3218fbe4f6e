"""Pages that belong to no app: the API's description, a page to try it, and what a locked log-in shows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from csp.decorators import csp_update
from django.shortcuts import render
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.permissions import AllowAny

from config import csp
from projects import logins
from projects.http.address import address_of

if TYPE_CHECKING:
    from django.http import HttpRequest, HttpResponse
    from rest_framework.request import Request
    from rest_framework.response import Response

# OPTIONS would be answered in the media types of these pages, which have no words for it.
READ_ONLY = ("get", "head")

schema = SpectacularAPIView.as_view(
    authentication_classes=[], permission_classes=[AllowAny], serve_public=True, http_method_names=READ_ONLY
)


class DocsView(SpectacularSwaggerView):
    """Signing in needs no window of another site, so that none may keep hold of this one."""

    url_name = "schema"
    template_name = "docs.html"
    http_method_names = READ_ONLY
    authentication_classes = ()
    permission_classes = (AllowAny,)

    @extend_schema(exclude=True)
    def get(self, request: Request, *args: Any, **kwargs: Any) -> Response:
        response = super().get(request, *args, **kwargs)
        del response["Cross-Origin-Opener-Policy"]
        return response


docs = csp_update(csp.DOCS)(DocsView.as_view())


def locked(
    request: HttpRequest, response: HttpResponse | None, credentials: dict[str, Any] | None
) -> HttpResponse:
    """Instead of the form, for whom axes refuses: 429 with the time to wait."""
    seconds = logins.seconds_locked(logins.name_of(request, credentials), address_of(request))
    page = render(request, "locked.html", {"minutes": math.ceil(seconds / 60)}, status=429)
    page["Retry-After"] = str(seconds)
    return page
