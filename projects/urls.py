"""The API of this app, under `/api/v1/`."""

from django.urls import path

from projects.api.views import MeView, ProjectListView, ProjectView

app_name = "projects"
urlpatterns = [
    path("me/", MeView.as_view(), name="me"),
    path("projects/", ProjectListView.as_view(), name="project-list"),
    path("projects/<slug:slug>/", ProjectView.as_view(), name="project"),
]
