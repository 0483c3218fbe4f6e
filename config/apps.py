"""Other people's apps under names of ours."""

from __future__ import annotations

from axes.apps import AppConfig as AxesAppConfig
from django.utils.translation import gettext_lazy as _


class FailedLoginsConfig(AxesAppConfig):
    """django-axes, whose rows stand among those of people and keys in the admin."""

    verbose_name = _("Who")
