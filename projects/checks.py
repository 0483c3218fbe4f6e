"""`manage.py check --deploy` for what Django cannot know of this site."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Tags, Warning, register


@register(Tags.security, deploy=True)
def callers_are_throttled(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    if not settings.THROTTLE_RATE:
        return [
            Warning(
                "No caller of the API is throttled.",
                hint="Set THROTTLE_RATE, such as 1200/minute.",
                id="projects.W001",
            )
        ]
    if settings.THROTTLE_STORAGE_URL.startswith("memory:"):
        return [
            Warning(
                "Each process counts requests for itself: callers may send THROTTLE_RATE to each of them.",
                hint="Set THROTTLE_STORAGE_URL to a Redis, redis://….",
                id="projects.W002",
            )
        ]
    return []


@register(Tags.security, deploy=True)
def links_lead_here_by_tls(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Receipts show links that are made from SITE_URL."""
    site = urlsplit(settings.SITE_URL)
    if site.scheme == "https" and site.hostname not in ("127.0.0.1", "localhost", "::1", None):
        return []
    return [
        Warning(
            f"SITE_URL is {settings.SITE_URL}: links in receipts would lead there.",
            hint="Set it to the site’s public address, https://….",
            id="projects.W003",
        )
    ]
