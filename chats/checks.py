"""`manage.py check` for what distilling needs of the settings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from memories.extraction.backends import BACKENDS


@register()
def time_limits_obey_one_inequality(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """A run must end before its lease does, and its lease before the broker delivers the task again."""
    chain = [
        (
            "EXTRACTION_MAX_REQUESTS × EXTRACTION_TIMEOUT_S + DISTIL_STORE_BUDGET_S",
            settings.EXTRACTION_MAX_REQUESTS * settings.EXTRACTION_TIMEOUT_S + settings.DISTIL_STORE_BUDGET_S,
        ),
        ("DISTIL_SOFT_LIMIT_S", settings.DISTIL_SOFT_LIMIT_S),
        ("DISTIL_HARD_LIMIT_S", settings.DISTIL_HARD_LIMIT_S),
        ("DISTIL_LEASE_S", settings.DISTIL_LEASE_S),
        ("BROKER_VISIBILITY_TIMEOUT_S", settings.BROKER_VISIBILITY_TIMEOUT_S),
    ]
    return [
        Error(
            f"{small} ({low} s) must be less than {large} ({high} s).",
            hint="Raise the second or lower the first in the environment.",
            id="chats.E001",
        )
        for (small, low), (large, high) in pairwise(chain)
        if low >= high
    ]


@register()
def the_extraction_backend_is_known(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """Found out at start, not by the first run that fails."""
    if settings.EXTRACTION_BACKEND in BACKENDS:
        return []
    known = ", ".join(sorted(BACKENDS))
    message = f"There is no extraction backend “{settings.EXTRACTION_BACKEND}”."
    return [Error(message, hint=f"Set EXTRACTION_BACKEND to one of: {known}.", id="chats.E002")]
