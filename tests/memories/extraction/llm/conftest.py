"""Every test here has a provider of its own, which is the one that is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.conf import settings

from chats import queue
from memories.extraction import llm
from tests.factories import make_project
from tests.llm_server import llm_server

from ..builders import transcript
from ..builders import turn as spoken
from .runs import KEY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project
    from tests.llm_server import LlmServer


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server() as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def _sdk_is_loaded() -> None:
    """It loads most of itself with the first request, which on a busy machine outlasts a test's time limit."""
    with llm_server() as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "LLM_BASE_URL", running.base_url)
        llm.Llm().extract(transcript(spoken("ready?")))


@pytest.fixture(autouse=True)
def _configured(server: LlmServer, settings: SettingsWrapper, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EXTRACTION_BACKEND = "llm"
    settings.LLM_BASE_URL = server.base_url
    settings.LLM_API_KEY = server.api_key = KEY
    settings.LLM_MODEL = "plain"
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)


@pytest.fixture
def project() -> Project:
    return make_project(review_policy="none")
