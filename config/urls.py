"""Where everything hangs."""

from django.contrib import admin
from django.contrib.auth.views import LoginView, LogoutView
from django.urls import include, path

from chats.views import home
from config.views import docs, schema

handler400 = "projects.http.problems.handler400"
handler404 = "projects.http.problems.handler404"
handler500 = "projects.http.problems.handler500"

api = [
    path("", include("projects.urls")),
    path("", include("memories.urls")),
    path("", include("chats.urls")),
]
urlpatterns = [
    path("", home, name="home"),
    path(
        "login/",
        LoginView.as_view(template_name="login.html", redirect_authenticated_user=True),
        name="login",
    ),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("admin/", admin.site.urls),
    path("i18n/", include("django.conf.urls.i18n")),
    path("api/v1/", include(api)),
    path("api/v1/schema/", schema, name="schema"),
    path("api/v1/docs/", docs, name="docs"),
]
