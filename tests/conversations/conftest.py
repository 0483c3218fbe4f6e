"""A stage for each test: with the rules, or with a model that answers over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chats import queue
from tests.factories import make_project
from tests.llm_server import llm_server

from .stage import Clock, Stage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_django.fixtures import SettingsWrapper

    from tests.llm_server import LlmServer


@pytest.fixture(scope="session")
def provider() -> Iterator[LlmServer]:
    with llm_server() as running:
        yield running


@pytest.fixture(autouse=True)
def _nobody_else_distils(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)


@pytest.fixture
def set_up(
    monkeypatch: pytest.MonkeyPatch, settings: SettingsWrapper, request: pytest.FixtureRequest
) -> Callable[..., Stage]:
    """`set_up("rules" | "model", **fields of the project)`: an empty stage."""

    def stage(backend: str, **fields: str) -> Stage:
        server = None
        if backend == "model":
            server = request.getfixturevalue("provider")
            settings.EXTRACTION_BACKEND, settings.LLM_BASE_URL = "llm", server.base_url
            settings.LLM_MODEL, settings.LLM_API_KEY = "scripted", ""
        project = make_project(**fields)
        return Stage(project=project, clock=Clock(monkeypatch), server=server)

    return stage
