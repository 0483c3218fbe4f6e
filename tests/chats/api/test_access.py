"""Who reaches what: one matrix over all routes, and nobody reaches another project."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from chats.models import Chat, Instruction, Topic
from memories.models import Extraction, Memory
from projects import store
from projects.actors import SYSTEM
from projects.models import Scope
from tests.chats.api.agent import Agent
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.response import Response
    from rest_framework.test import APIClient

    from projects.models import Project

pytestmark = pytest.mark.django_db

TURN = {"topic": {"ref": "new"}, "ref": "new", "message": "Remember: use tabs."}
# (method, path, body, the scopes that open it, its status then)
ROUTES = [
    pytest.param("post", "projects/shop/turns/", TURN, {"turns"}, 201, id="open"),
    pytest.param("get", "projects/shop/turns/", {}, {"traces:read"}, 200, id="list turns"),
    pytest.param("get", "turns/{turn}/", {}, {"traces:read"}, 200, id="trace"),
    pytest.param("post", "turns/{turn}/context/", {"message": "x"}, {"turns"}, 200, id="context"),
    pytest.param("post", "turns/{turn}/steps/", {"agent": "editor"}, {"turns"}, 201, id="steps"),
    pytest.param("post", "turns/{turn}/finish/", {"status": "failed"}, {"turns"}, 200, id="finish"),
    pytest.param("get", "projects/shop/topics/", {}, {"traces:read"}, 200, id="list topics"),
    pytest.param("get", "topics/{topic}/", {}, {"traces:read"}, 200, id="topic"),
    pytest.param("patch", "topics/{topic}/", {"title": "x"}, {"turns"}, 200, id="name a topic"),
    pytest.param("delete", "topics/{topic}/", {}, {"turns"}, 204, id="delete a topic"),
    pytest.param("post", "topics/{topic}/complete/", {}, {"turns"}, 200, id="complete"),
    pytest.param("get", "topics/{topic}/instructions/", {}, {"turns", "traces:read"}, 200, id="rules"),
    pytest.param("post", "instructions/{rule}/dismiss/", {}, {"turns"}, 200, id="dismiss"),
    pytest.param("post", "instructions/{rule}/promote/", {}, {"turns"}, 200, id="promote"),
    pytest.param("post", "extractions/{run}/retry/", {}, {"turns"}, 202, id="retry"),
]


@dataclass
class House:
    project: Project
    ids: dict[str, int]

    def call(self, client: APIClient, method: str, path: str, body: dict[str, Any]) -> Response:
        address = "/api/v1/" + path.format(**self.ids)
        return client.get(address) if method == "get" else getattr(client, method)(address, body)

    def state(self) -> tuple[object, ...]:
        """All that a refused call must leave as it is."""
        return (
            list(Chat.objects.order_by("id").values("id", "status", "further", "touched_at")),
            list(
                Topic.objects.order_by("id").values(
                    "id", "title", "status", "distil_due_at", "distil_trigger"
                )
            ),
            list(Instruction.objects.order_by("id").values("id", "state")),
            Memory.objects.count(),
        )


@pytest.fixture
def house(agent: Agent, project: Project) -> House:
    agent.turn("From now on use pnpm.")
    turn = agent.open("Build it.")["turn"]["id"]
    topic = Topic.objects.get()
    run = Extraction.objects.create(
        project=project, topic=topic, trigger="turn", status="failed", backend="rules", lease_token="gone"
    )
    ids = {"turn": turn, "topic": topic.pk, "rule": Instruction.objects.get().pk, "run": run.pk}
    return House(project, ids)


@pytest.mark.parametrize(("method", "path", "body", "scopes", "status"), ROUTES)
def test_each_scope_opens_its_routes_and_no_other(
    api: Callable[..., APIClient],
    house: House,
    method: str,
    path: str,
    body: dict[str, Any],
    scopes: set[str],
    status: int,
) -> None:
    before = house.state()
    closed = [scope for scope in Scope.values if scope not in scopes and scope != Scope.PROJECTS]
    answer = house.call(api(make_key(house.project, closed)[1]), method, path, body)
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert house.state() == before
    for scope in scopes:
        opened = house.call(api(make_key(house.project, [scope])[1]), method, path, body)
        assert opened.status_code == status, opened.content


@pytest.mark.parametrize(("method", "path", "body", "scopes", "status"), ROUTES)
def test_nobody_reaches_another_project(
    api: Callable[..., APIClient],
    api_as: Callable[..., APIClient],
    house: House,
    method: str,
    path: str,
    body: dict[str, Any],
    scopes: set[str],
    status: int,
) -> None:
    before = house.state()
    stranger, staff = make_user(), make_user(is_staff=True)
    other = make_project("other", owner=stranger)
    for client in (api(make_key(other)[1]), api_as(stranger), api_as(staff)):
        answer = house.call(client, method, path, body)
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    answer = house.call(api(), method, path, body)
    assert (answer.status_code, answer.json()["code"]) == (401, "key_invalid")
    assert house.state() == before


@pytest.mark.parametrize(("method", "path", "body", "scopes", "status"), ROUTES)
def test_collaborators_do_all_of_it(
    api_as: Callable[..., APIClient],
    house: House,
    method: str,
    path: str,
    body: dict[str, Any],
    scopes: set[str],
    status: int,
) -> None:
    ben = make_user("ben")
    store.add_member(project=house.project, user=ben, by=SYSTEM)
    assert house.call(api_as(ben), method, path, body).status_code == status


@pytest.mark.parametrize("path", ["turns/999999/", "topics/999999/"])
def test_what_does_not_exist_looks_like_another_s(agent: Agent, path: str) -> None:
    answer = agent.get(path)
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
