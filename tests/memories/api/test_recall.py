"""Recall tried out over the API."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from memories import store
from memories.api.recalls import DryRecallAnswer, RecalledItem, WhyItem
from memories.models import Memory, Recall, RecallItem, Status
from memories.recall.service import cache
from projects.models import Project, Scope
from tests.factories import make_key, make_memory, make_project
from tests.memories.test_store import person, proposal, traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.memories.urls")]
RECALL = "/api/v1/projects/shop/recall/"


@pytest.fixture
def agent(project: Project, api: Callable[..., APIClient]) -> APIClient:
    return api(make_key(project, [Scope.RECALL])[1])


def ask(client: APIClient, message: str, **fields: Any) -> dict[str, Any]:
    answer = client.post(RECALL, {"message": message} | fields)
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def make_shelf(project: Project) -> None:
    """What a project knows besides; a word is telling only where not every memory has it."""
    for number in range(12):
        make_memory(project, f"Supplier {number} delivers to warehouse {number}.", key=f"supplier-{number}")


def test_it_tells_what_a_turn_would_be_given(agent: APIClient, project: Project) -> None:
    always = make_memory(project, "Never delete production data.", type="constraint", always=True)
    relevant = make_memory(project, "登录页引用区块要用区块 ID", key="登录页区块")
    make_memory(project, "Deploys happen on Friday.")
    body = ask(agent, "做登录页，引用页头区块")
    assert set(body) == set(DryRecallAnswer().get_fields())
    assert (body["memory"]["refs"], body["memory_enabled"]) == ([always.pk, relevant.pk], True)
    assert [(item["id"], item["tier"], item["rank"]) for item in body["items"]] == [
        (always.pk, "always", 1),
        (relevant.pk, "relevant", 2),
    ]
    assert set(body["items"][0]) == set(RecalledItem().get_fields())
    assert body["memory"]["block"] == body["memory"]["always"] + body["memory"]["relevant"]
    assert "登录页引用区块要用区块 ID" in body["memory"]["relevant"]
    assert "区块" in body["items"][1]["matched"]


def test_it_writes_nothing(agent: APIClient, project: Project) -> None:
    make_memory(project, "Never delete production data.", always=True)
    before = traces(project)
    ask(agent, "hello", why=[1])
    assert traces(project) == before
    assert not Recall.objects.exists()
    assert not RecallItem.objects.exists()


def test_each_id_is_explained(agent: APIClient, project: Project) -> None:
    by = person(project)
    given = make_memory(project, "登录页引用区块要用区块 ID")
    far = make_memory(project, "Deploys happen on Friday.")
    off = make_memory(project, "登录页用蓝色")
    store.disable(project=project, memory_id=off.pk, by=by)
    waits = proposal(project, "登录页用 SSO")
    gone = make_memory(project, "登录页引用区块要用区块名", expires_at=timezone.now() - timedelta(hours=1))
    withheld = make_memory(project, "登录页引用区块要用区块号")
    superseded = make_memory(project, "登录页引用区块要用区块码")
    Memory.objects.filter(pk=withheld.pk).update(withheld=True)
    Memory.objects.filter(pk=superseded.pk).update(status=Status.SUPERSEDED)
    cache.clear()
    elsewhere = make_memory(make_project(), "登录页引用区块")
    expected = {
        given.pk: "recalled",
        far.pk: "below_floor",
        off.pk: "disabled",
        waits.pk: "proposed",
        gone.pk: "expired",
        withheld.pk: "withheld",
        superseded.pk: "superseded",
        elsewhere.pk: "not_found",
    }
    why = ask(agent, "登录页引用区块", why=[*expected, given.pk])["why"]
    assert {row["id"]: row["reason"] for row in why} == expected
    assert [row["id"] for row in why] == list(expected)
    assert set(why[0]) == set(WhyItem().get_fields())


def test_what_does_not_fit_is_told(agent: APIClient, project: Project) -> None:
    make_shelf(project)
    contents = [f"登录页区块 {name} 由设计组定" for name in ("alpha", "beta", "gamma")]
    memories = [make_memory(project, content, key=f"k{number}") for number, content in enumerate(contents)]
    body = ask(agent, "登录页区块由谁定", max_items=1, why=[memory.pk for memory in memories])
    assert len(body["items"]) == 1
    assert sum(body["omitted_counts"].values()) == len(body["omitted"]) == 2
    assert {item["reason"] for item in body["omitted"]} <= {"over_items", "near_duplicate"}
    assert {row["id"]: row["reason"] for row in body["why"]} == {body["items"][0]["id"]: "recalled"} | {
        item["id"]: item["reason"] for item in body["omitted"]
    }


def test_files_and_rules_of_the_topic_are_recalled_on(agent: APIClient, project: Project) -> None:
    make_shelf(project)
    memory = make_memory(project, "Forms validate on blur.", files=("src/pages/**",))
    assert ask(agent, "go")["items"] == []
    assert [item["id"] for item in ask(agent, "go", files=["src/pages/login.vue"])["items"]] == [memory.pk]
    assert [item["id"] for item in ask(agent, "", instructions=["Forms validate on blur"])["items"]] == [
        memory.pk
    ]


def test_it_says_when_turns_are_given_nothing(agent: APIClient, project: Project) -> None:
    memory = make_memory(project, "Never delete production data.", always=True)
    Project.objects.update(memory_enabled=False)
    body = ask(agent, "hello")
    assert (body["memory_enabled"], body["memory"]["refs"]) == (False, [memory.pk])


@pytest.mark.django_db(transaction=True)
def test_a_warm_recall_takes_one_query_beside_the_keys(
    project: Project, api: Callable[..., APIClient], django_assert_num_queries: Any
) -> None:
    make_memory(project, "Never delete production data.", always=True)
    client = api(make_key(project, [Scope.RECALL])[1])
    ask(client, "hello")
    assert not connection.in_atomic_block
    with django_assert_num_queries(2):
        assert len(ask(client, "hello")["items"]) == 1


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        pytest.param({}, "/message", id="no message"),
        pytest.param({"message": "a", "query": "b"}, "/query", id="unknown"),
        pytest.param({"message": "a", "max_items": 13}, "/max_items", id="max_items"),
        pytest.param({"message": "a", "max_tokens": 6001}, "/max_tokens", id="max_tokens"),
        pytest.param({"message": "a", "why": ["x"]}, "/why/0", id="why"),
        pytest.param({"message": "a", "why": [1] * 51}, "/why", id="why too often"),
    ],
)
def test_a_body_that_is_wrong_is_refused(body: dict[str, Any], pointer: str, agent: APIClient) -> None:
    answer = agent.post(RECALL, body)
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
