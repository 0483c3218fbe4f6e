"""`manage.py check` says what is wrong with the settings of distilling before a worker finds out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.core.checks import run_checks

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper


def found() -> list[tuple[str | None, str]]:
    return [(message.id, message.msg) for message in run_checks() if (message.id or "").startswith("chats.")]


def test_the_defaults_are_in_order() -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        pytest.param(
            "DISTIL_SOFT_LIMIT_S",
            200,
            "EXTRACTION_MAX_REQUESTS × EXTRACTION_TIMEOUT_S + DISTIL_STORE_BUDGET_S (200 s) must be less than "
            "DISTIL_SOFT_LIMIT_S (200 s).",
            id="a provider may outlast the soft limit",
        ),
        pytest.param(
            "DISTIL_LEASE_S",
            600,
            "DISTIL_LEASE_S (600 s) must be less than BROKER_VISIBILITY_TIMEOUT_S (600 s).",
            id="the broker may deliver again while the lease holds",
        ),
    ],
)
def test_time_limits_out_of_order_are_named(
    settings: SettingsWrapper, name: str, value: int, message: str
) -> None:
    setattr(settings, name, value)
    assert found() == [("chats.E001", message)]


def test_an_unknown_backend_is_named(settings: SettingsWrapper) -> None:
    settings.EXTRACTION_BACKEND = "oracle"
    assert found() == [("chats.E002", "There is no extraction backend “oracle”.")]
