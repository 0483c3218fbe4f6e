"""`manage.py check` for what distilling needs of the settings."""

from __future__ import annotations

from itertools import pairwise
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.checks import CheckMessage, Error, register

from memories.extraction.backends import BACKENDS
from memories.models import Extraction


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


STRUCTURED = ("auto", "json_schema", "json_object", "none")


@register()
def the_model_backend_is_set_up(app_configs: Any, **kwargs: Any) -> list[CheckMessage]:
    """With EXTRACTION_BACKEND=llm: where the model is, which it is, and how it is asked. Never says the key."""
    if settings.EXTRACTION_BACKEND != "llm":
        return []
    longest = Extraction._meta.get_field("model").max_length or 0
    wrong = [
        (
            not _is_address(settings.LLM_BASE_URL),
            "LLM_BASE_URL is no address.",
            "As in https://api.example.com/v1.",
        ),
        (not settings.LLM_MODEL, "LLM_MODEL is empty.", "Set it to a model that the endpoint serves."),
        (len(settings.LLM_MODEL) > longest, "LLM_MODEL is too long.", f"At most {longest} characters."),
        (
            not all("!" <= sign <= "~" for sign in settings.LLM_API_KEY),
            "LLM_API_KEY has characters that no HTTP header takes.",
            "Copy it again, without spaces and line ends.",
        ),
        (
            settings.LLM_STRUCTURED not in STRUCTURED,
            f"LLM_STRUCTURED is {settings.LLM_STRUCTURED!r}.",
            f"Set it to one of: {', '.join(STRUCTURED)}.",
        ),
        (settings.EXTRACTION_MAX_REQUESTS < 1, "EXTRACTION_MAX_REQUESTS is less than 1.", "Three will do."),
    ]
    return [Error(message, hint=hint, id="chats.E003") for is_wrong, message, hint in wrong if is_wrong]


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        return False
