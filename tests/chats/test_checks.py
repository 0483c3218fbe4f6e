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


@pytest.fixture
def with_model(settings: SettingsWrapper) -> SettingsWrapper:
    settings.EXTRACTION_BACKEND = "llm"
    settings.LLM_BASE_URL, settings.LLM_MODEL = "https://models.example.com/v1", "some-model"
    return settings


def test_a_model_with_its_address_and_name_is_in_order(with_model: SettingsWrapper) -> None:
    assert found() == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        pytest.param("LLM_BASE_URL", "", "LLM_BASE_URL is no address.", id="no address"),
        pytest.param("LLM_BASE_URL", "models.example.com", "LLM_BASE_URL is no address.", id="no scheme"),
        pytest.param("LLM_BASE_URL", "http://a:b/v1", "LLM_BASE_URL is no address.", id="no port"),
        pytest.param("LLM_MODEL", "", "LLM_MODEL is empty.", id="no model"),
        pytest.param("LLM_MODEL", "m" * 121, "LLM_MODEL is too long.", id="a model no row can name"),
        pytest.param(
            "LLM_API_KEY", "sk-1\n", "LLM_API_KEY has characters that no HTTP header takes.", id="line end"
        ),
        pytest.param("LLM_STRUCTURED", "yes", "LLM_STRUCTURED is 'yes'.", id="structured output"),
        pytest.param(
            "EXTRACTION_MAX_REQUESTS", 0, "EXTRACTION_MAX_REQUESTS is less than 1.", id="no request allowed"
        ),
    ],
)
def test_what_is_wrong_with_a_models_settings_is_named(
    with_model: SettingsWrapper, name: str, value: object, message: str
) -> None:
    setattr(with_model, name, value)
    assert found() == [("chats.E003", message)]


def test_the_settings_of_a_model_do_not_matter_to_the_rules(settings: SettingsWrapper) -> None:
    settings.LLM_BASE_URL, settings.LLM_STRUCTURED = "nowhere", "no"
    assert found() == []
