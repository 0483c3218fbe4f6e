"""Requests that arrive at the same moment."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from chats import turns
from chats.models import Chat, Topic
from memories.models import Memory, Recall
from projects.actors import Actor
from projects.store import delete_project
from tests.chats.api.agent import Agent
from tests.factories import make_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.response import Response
    from rest_framework.test import APIClient

    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)
AT_ONCE = 6


@pytest.fixture
def at_once(api: Callable[..., APIClient], project: Project) -> Callable[..., list[Response]]:
    """Call `act(agent, number)` in several threads, each with a client and a connection of its own."""
    secret = make_key(project)[1]

    def run(act: Callable[[Agent, int], Response]) -> list[Response]:
        def one(number: int) -> Response:
            try:
                return act(Agent(api(secret)), number)
            finally:
                connections.close_all()

        with ThreadPoolExecutor(AT_ONCE) as pool:
            return list(pool.map(one, range(AT_ONCE)))

    return run


def statuses(answers: list[Response]) -> list[int]:
    return sorted(answer.status_code for answer in answers)


def test_the_same_opening_sent_at_once_makes_one_turn(at_once: Callable[..., list[Any]]) -> None:
    answers = at_once(lambda agent, _: agent.send("Remember: tables show 20 rows.", topic="new", ref="r"))
    assert statuses(answers) == [200] * (AT_ONCE - 1) + [201]
    assert (Topic.objects.count(), Chat.objects.count(), Memory.objects.count()) == (1, 1, 1)
    assert {answer.json()["turn"]["id"] for answer in answers} == {Chat.objects.get().pk}
    assert {answer.json()["remembered"][0]["outcome"] for answer in answers} == {"stored"}
    assert Recall.objects.filter(error="").count() >= 1


def test_openings_of_one_topic_at_once_get_a_number_each(at_once: Callable[..., list[Any]]) -> None:
    answers = at_once(lambda agent, number: agent.send("Build it.", topic="new", ref=f"r-{number}"))
    assert statuses(answers) == [201] * AT_ONCE
    assert sorted(answer.json()["turn"]["seq"] for answer in answers) == list(range(1, AT_ONCE + 1))


def test_different_endings_sent_at_once_leave_one(agent: Agent, at_once: Callable[..., list[Any]]) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    answers = at_once(
        lambda caller, number: caller.post(
            f"turns/{turn}/finish/", {"status": "succeeded", "reply": f"Answer {number}."}
        )
    )
    assert statuses(answers) == [200] + [409] * (AT_ONCE - 1)
    assert Chat.objects.get().status == "succeeded"


def test_steps_sent_at_once_get_a_position_each(agent: Agent, at_once: Callable[..., list[Any]]) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    answers = at_once(lambda caller, number: caller.post(f"turns/{turn}/steps/", {"agent": f"a{number}"}))
    assert sorted(answer.json()["step"]["position"] for answer in answers) == list(range(1, AT_ONCE + 1))


def test_opening_a_turn_of_a_project_that_goes_at_that_moment_finds_nothing(
    agent: Agent, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = turns._read

    def deleting(*args: Any) -> Any:
        delete_project(project=project, by=Actor.for_user(project.owner, transport="web"))
        return read(*args)

    monkeypatch.setattr(turns, "_read", deleting)
    answer = agent.send("Build it.")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert (Topic.objects.count(), Chat.objects.count()) == (0, 0)
