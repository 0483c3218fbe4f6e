"""The API's own description: OpenAPI, and a page to try it."""

from csp.decorators import csp_update
from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.permissions import AllowAny

from config import csp

schema = SpectacularAPIView.as_view(
    authentication_classes=[], permission_classes=[AllowAny], serve_public=True
)
swagger = csp_update(csp.DOCS)(
    SpectacularSwaggerView.as_view(
        url_name="schema",
        template_name="docs.html",
        authentication_classes=[],
        permission_classes=[AllowAny],
    )
)
