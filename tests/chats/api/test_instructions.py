"""The rules of a topic through the API: listed, dismissed, promoted."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chats.models import Instruction, Topic
from memories import store
from memories.models import Memory
from projects.actors import Actor
from projects.models import AuditEvent
from tests.factories import make_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db
RULE = "Always use pnpm for packages"


@pytest.fixture
def rule(agent: Agent) -> Instruction:
    agent.turn(RULE + ".")
    return Instruction.objects.get()


def test_the_rules_in_force_are_listed_oldest_first(agent: Agent, rule: Instruction) -> None:
    turn = agent.turn("From now on write tests first.")
    path = f"topics/{rule.topic_id}/instructions/"
    rows = agent.get(path).json()["results"]
    assert [row["content"] for row in rows] == [RULE, "From now on write tests first"]
    assert rows[1] == {
        "id": rows[1]["id"],
        "kind": "directive",
        "content": "From now on write tests first",
        "state": "active",
        "tokens": Instruction.objects.get(pk=rows[1]["id"]).tokens,
        "turn": turn,
        "memory": None,
        "created_at": rows[1]["created_at"],
    }
    agent.post(f"instructions/{rule.pk}/dismiss/")
    assert [row["id"] for row in agent.get(path).json()["results"]] == [rows[1]["id"]]
    assert [row["id"] for row in agent.get(path, state="dismissed").json()["results"]] == [rule.pk]


def test_a_dismissed_rule_is_told_no_more_and_yields_no_candidate(agent: Agent, rule: Instruction) -> None:
    answer = agent.post(f"instructions/{rule.pk}/dismiss/")
    assert (answer.status_code, answer.json()["state"]) == (200, "dismissed")
    assert agent.post(f"instructions/{rule.pk}/dismiss/").status_code == 200
    assert AuditEvent.objects.filter(action="instruction.dismiss").count() == 1
    assert agent.open("Add a package.")["context"]["instructions"] == []


def test_a_person_promotes_a_rule_at_once(
    api_as: Callable[..., APIClient], project: Project, rule: Instruction
) -> None:
    answer = api_as(project.owner).post(f"/api/v1/instructions/{rule.pk}/promote/")
    memory = Memory.objects.get()
    assert answer.status_code == 200
    assert (answer.json()["outcome"], answer.json()["memory"]["id"]) == ("stored", memory.pk)
    assert (answer.json()["instruction"]["state"], answer.json()["instruction"]["memory"]) == (
        "promoted",
        memory.pk,
    )
    assert (memory.content, memory.status, memory.authority) == (RULE, "active", "person")
    assert (memory.created_by, memory.always, memory.source_chat_id) == (project.owner, True, rule.chat_id)


def test_a_key_promotes_for_a_human_it_names(agent: Agent, project: Project, rule: Instruction) -> None:
    answer = agent.post(f"instructions/{rule.pk}/promote/", {"author": {"ref": "ana"}})
    memory = Memory.objects.get()
    assert answer.json()["outcome"] == "stored"
    assert (memory.status, memory.authority, memory.created_by) == ("active", "person", project.owner)


def test_what_a_key_promotes_by_itself_waits_for_a_person(agent: Agent, rule: Instruction) -> None:
    answer = agent.post(f"instructions/{rule.pk}/promote/")
    memory = Memory.objects.get()
    assert answer.json()["outcome"] == "needs_confirmation"
    assert (memory.status, memory.authority, memory.source, memory.importance) == (
        "proposed",
        "automatic",
        "agent",
        3,
    )
    assert [told["id"] for told in agent.open("Add a package.")["context"]["instructions"]] == [rule.pk]


def test_promoting_what_is_known_links_it(agent: Agent, project: Project, rule: Instruction) -> None:
    known = make_memory(project, RULE)
    answer = agent.post(f"instructions/{rule.pk}/promote/")
    assert (answer.json()["outcome"], answer.json()["memory"]["id"]) == ("already_known", known.pk)
    assert Memory.objects.count() == 1


def test_a_dismissed_rule_is_not_promoted(agent: Agent, rule: Instruction) -> None:
    agent.post(f"instructions/{rule.pk}/dismiss/")
    answer = agent.post(f"instructions/{rule.pk}/promote/", {"author": {"ref": "ana"}})
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_status")
    assert Memory.objects.count() == 0


def test_nothing_is_promoted_while_memory_is_off(agent: Agent, project: Project, rule: Instruction) -> None:
    type(project).objects.filter(pk=project.pk).update(memory_enabled=False)
    answer = agent.post(f"instructions/{rule.pk}/promote/", {"author": {"ref": "ana"}})
    assert (answer.status_code, answer.json()["code"]) == (409, "memory_off")
    assert Memory.objects.count() == 0


def test_rules_end_with_their_topic(agent: Agent, rule: Instruction) -> None:
    agent.client.delete(f"/api/v1/topics/{rule.topic_id}/")
    assert (Topic.objects.count(), Instruction.objects.count()) == (0, 0)


def test_a_rule_goes_with_the_memory_it_became(agent: Agent, project: Project, rule: Instruction) -> None:
    agent.post(f"instructions/{rule.pk}/promote/")
    promoted = Memory.objects.get()
    by = Actor.for_user(project.owner, transport="web")
    store.purge(project=project, memory_id=promoted.pk, by=by)
    assert not Instruction.objects.filter(pk=rule.pk).exists()
    assert agent.open("Go on with the list.")["context"]["instructions"] == []


@pytest.mark.parametrize(
    ("verb", "fields"),
    [
        pytest.param("delete", {}, id="deleted"),
        pytest.param("remember", {"content": "Buttons use the blue theme."}, id="replaced"),
    ],
)
def test_a_rule_does_not_come_back_when_its_memory_is_gone_or_replaced(
    agent: Agent, project: Project, verb: str, fields: dict[str, str]
) -> None:
    by = Actor.for_user(project.owner, transport="web")
    agent.open("From now on buttons use the red theme.")
    rule = Instruction.objects.latest("id")
    agent.post(f"instructions/{rule.pk}/promote/", {"author": {"ref": "ana"}})
    memory = Memory.objects.get()
    # It is in the block, or, where nothing calls for it, told as the rule that it is.
    for message, told in (("Paint the buttons, which theme?", []), ("Hello", [rule.pk])):
        context = agent.open(message)["context"]
        assert [item["id"] for item in context["instructions"]] == (
            [] if memory.pk in context["memory"]["refs"] else told
        )
    if verb == "remember":
        draft = store.Draft(type="constraint", **fields)
        assert store.remember(project=project, draft=draft, by=by).outcome == "replaced"
    else:
        getattr(store, verb)(project=project, memory_id=memory.pk, by=by)
    assert agent.open("Paint the buttons, which theme?")["context"]["instructions"] == []


def test_a_rule_that_is_too_long_is_refused(agent: Agent) -> None:
    opened = agent.open("以后按钮一律用" + "𠮷" * 280)
    assert [refused["code"] for refused in opened["refused"]] == ["rule_too_long"]
    assert Instruction.objects.count() == 0


def test_a_directive_is_what_triggers_the_run(agent: Agent) -> None:
    agent.turn("From now on use pnpm.")
    assert Topic.objects.get().distil_trigger == "directive"
