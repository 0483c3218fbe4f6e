"""The API's own description: OpenAPI, and a page to try it."""

from drf_spectacular.views import SpectacularAPIView, SpectacularSwaggerView
from rest_framework.permissions import AllowAny

schema = SpectacularAPIView.as_view(
    authentication_classes=[], permission_classes=[AllowAny], serve_public=True
)
swagger = SpectacularSwaggerView.as_view(
    url_name="schema", authentication_classes=[], permission_classes=[AllowAny]
)
