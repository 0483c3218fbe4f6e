from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ProjectsConfig(AppConfig):
    name = "projects"
    verbose_name = _("Who")

    def ready(self) -> None:
        from projects import checks  # noqa: F401, PLC0415  (registers the checks)
