from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chats import queue
from tests.chats.api.agent import Agent
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The topics that workers would be told of."""
    topics: list[int] = []
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: topics.append(topic_id))
    return topics


@pytest.fixture
def project() -> Project:
    return make_project("shop", owner=make_user("ana", email="ana@example.org"))


@pytest.fixture
def agent(api: Callable[..., APIClient], project: Project) -> Agent:
    return Agent(api(make_key(project)[1]))
