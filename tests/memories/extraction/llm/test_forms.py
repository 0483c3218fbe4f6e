"""The model backend against a real HTTP server: structured output where it is offered."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memories.extraction import ProviderDown
from tests.llm_server import refusal

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from tests.llm_server import LlmServer

from .runs import PORT, extract

pytestmark = pytest.mark.django_db


# --- Structured output


def forms(server: LlmServer) -> list[str]:
    return [asked.get("response_format", {}).get("type", "none") for asked in server.asked]


@pytest.mark.parametrize(
    ("taken", "asked"),
    [
        pytest.param({"json_schema", "json_object"}, ["json_schema"], id="all of it"),
        pytest.param({"json_object"}, ["json_schema", "json_object"], id="objects"),
        pytest.param(set(), ["json_schema", "json_object", "none"], id="nothing"),
    ],
)
def test_the_strongest_structured_output_that_is_taken_is_found_and_remembered(
    server: LlmServer, taken: set[str], asked: list[str]
) -> None:
    server.forms = taken
    assert [found.content for found in extract().candidates] == [PORT]
    assert forms(server) == asked
    extract()
    assert forms(server) == [*asked, asked[-1]]


def test_a_refusal_that_does_not_name_the_form_is_tried_without_any(server: LlmServer) -> None:
    server.script = [refusal(400, "Invalid request.")]
    assert len(extract().candidates) == 1
    assert forms(server) == ["json_schema", "none"]


def test_the_form_that_is_set_is_the_one_that_is_used(server: LlmServer, settings: SettingsWrapper) -> None:
    settings.LLM_STRUCTURED = "json_object"
    extract()
    server.forms = set()
    with pytest.raises(ProviderDown, match="rejected"):
        extract()
    assert forms(server) == ["json_object"] * 3


def test_what_was_found_out_with_the_last_request_helps_the_next_run(
    server: LlmServer, settings: SettingsWrapper
) -> None:
    settings.EXTRACTION_MAX_REQUESTS = 1
    server.forms = set()
    for _ in range(2):
        with pytest.raises(ProviderDown, match="form_refused"):
            extract()
    assert len(extract().candidates) == 1
    assert forms(server) == ["json_schema", "json_object", "none"]


def test_the_schema_is_as_strict_as_providers_want_it(server: LlmServer) -> None:
    extract()
    told = server.asked[0]["response_format"]["json_schema"]
    one = told["schema"]["properties"]["memories"]["items"]
    assert (told["strict"], sorted(one["required"])) == (True, sorted(one["properties"]))
    assert (one["additionalProperties"], told["schema"]["additionalProperties"]) == (False, False)
