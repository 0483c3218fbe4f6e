from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from chats import queue
from tests.chats.api.agent import Agent
from tests.factories import make_key, make_project, make_user
from tests.races.crowd import THREADS, Callers
from tests.races.invariants import Rounds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_django.fixtures import SettingsWrapper
    from rest_framework.test import APIClient

    from projects.models import Project


@pytest.fixture(autouse=True)
def told_topics(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """What workers would be told; where a race needs a worker, one of its threads is it."""
    topics: list[int] = []
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: topics.append(topic_id))
    return topics


@pytest.fixture(autouse=True)
def _a_recall_may_take_its_time(settings: SettingsWrapper) -> None:
    """Many threads at once on a small machine: which of them is slow is not what is asked here."""
    settings.RECALL_DEADLINE_MS = 60_000


@pytest.fixture
def project() -> Project:
    return make_project("shop", owner=make_user("ana", email="ana@example.org"), review_policy="none")


@pytest.fixture
def callers(api: Callable[..., APIClient], api_as: Callable[..., APIClient], project: Project) -> Callers:
    secret = make_key(project)[1]
    return Callers(
        agents=[Agent(api(secret)) for _ in range(THREADS)],
        people=[api_as(project.owner) for _ in range(THREADS)],
    )


@pytest.fixture
def agent(callers: Callers) -> Agent:
    return callers.agents[0]


@pytest.fixture
def deadlocks(caplog: pytest.LogCaptureFixture) -> Callable[[], list[str]]:
    """What was run again because it deadlocked. Nobody hears of it; where locks have one order there is none."""
    caplog.set_level(logging.INFO, logger="projects.transactions")
    return lambda: [
        text for record in caplog.records if (text := record.getMessage()).startswith("deadlock in")
    ]


@pytest.fixture
def watched(project: Project) -> Iterator[Rounds]:
    """The rounds of a race; the project is looked over after each of them, and at the end."""
    rounds = Rounds(project)
    yield rounds
    rounds.end()
