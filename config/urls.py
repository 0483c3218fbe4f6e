"""Where everything hangs."""

from django.contrib import admin
from django.urls import include, path
from django.views.generic import RedirectView

from config.views import schema, swagger

handler400 = "projects.http.problems.handler400"
handler404 = "projects.http.problems.handler404"
handler500 = "projects.http.problems.handler500"

api = [
    path("", include("projects.urls")),
    path("", include("memories.urls")),
    path("", include("chats.urls")),
]
urlpatterns = [
    path("", RedirectView.as_view(pattern_name="admin:index"), name="home"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include(api)),
    path("api/v1/schema/", schema, name="schema"),
    path("api/v1/docs/", swagger, name="docs"),
]
