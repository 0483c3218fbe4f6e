"""The addresses of this app and of the app below it."""

from django.urls import include, path

handler400 = "projects.http.problems.handler400"
handler404 = "projects.http.problems.handler404"
handler500 = "projects.http.problems.handler500"

urlpatterns = [
    path("api/v1/", include("projects.urls")),
    path("api/v1/", include("memories.urls")),
]
