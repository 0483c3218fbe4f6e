"""Reading turns back: the list with its filters, and the trace of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from chats import distil
from chats.models import Chat, Topic
from memories import store
from memories.models import Memory, Recall
from projects.actors import Actor
from tests.factories import make_memory

if TYPE_CHECKING:
    from pytest_django import DjangoAssertNumQueries

    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db
LIST = "projects/shop/turns/"


def listed(agent: Agent, **parameters: object) -> list[int]:
    answer = agent.get(LIST, **parameters)
    assert answer.status_code == 200, answer.content
    return [turn["id"] for turn in answer.json()["results"]]


def test_a_turn_of_the_list(agent: Agent) -> None:
    turn = agent.turn("Build it. " + "x" * 400, author={"ref": "u-1", "name": "设计组"}, agent="architect")
    chat = Chat.objects.get()
    (row,) = agent.get(LIST).json()["results"]
    assert row == {
        "id": turn,
        "ref": chat.ref,
        "seq": 1,
        "status": "succeeded",
        "topic": {"id": chat.topic_id, "ref": "conv-1", "title": ""},
        "origin": "human",
        "author": {"ref": "u-1", "name": "设计组"},
        "agent": "architect",
        "excerpt": ("Build it. " + "x" * 400)[:300],
        "memory_refs": [],
        "memory_tokens": 0,
        "degraded": [],
        "distil_outcome": None,
        "sent_at": row["sent_at"],
        "finished_at": row["finished_at"],
    }


def test_the_list_is_newest_first_in_pages_and_holds_no_steps(agent: Agent) -> None:
    turns = [agent.open("Build it.")["turn"]["id"] for _ in range(3)]
    agent.post(f"turns/{turns[0]}/steps/", {"agent": "editor"})
    first = agent.get(LIST, limit=2).json()
    assert [turn["id"] for turn in first["results"]] == turns[:0:-1]
    rest = agent.client.get(first["next"]).json()
    assert ([turn["id"] for turn in rest["results"]], rest["next"]) == (turns[:1], None)


def test_filters(agent: Agent, project: Project) -> None:
    memory = make_memory(project, "Amounts are stored in cents.")
    ana = agent.turn(
        "Show the amounts.", author={"ref": "u-1", "name": "设计组"}, reply="Shown in the table."
    )
    noon = timezone.now()
    ben = agent.turn("登录页加一个短信区块", author={"ref": "u-2", "name": "Ben"}, topic="other")
    assert listed(agent, q="TABLE amounts") == [ana]
    assert listed(agent, q="短信") == [ben]
    assert listed(agent, q="amounts 短信") == []
    assert listed(agent, author="u-2") == listed(agent, author="Ben") == [ben]
    assert listed(agent, author="u") == []
    assert listed(agent, memory=memory.pk) == [ana]
    assert listed(agent, since=noon.isoformat()) == [ben]
    assert listed(agent, topic=Topic.objects.get(ref="other").pk) == [ben]
    assert listed(agent) == [ben, ana]


@pytest.mark.parametrize(
    "parameters", [{"since": "2026-11-01T00:00:00"}, {"memory": "x"}, {"autor": "u-1"}, {"cursor": "x"}]
)
def test_wrong_filters_are_refused(agent: Agent, parameters: dict[str, str]) -> None:
    assert agent.get(LIST, **parameters).status_code == 400


def test_the_list_costs_the_same_however_long_it_is(
    agent: Agent, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    memory = make_memory(project, "Amounts are stored in cents.", always=True)
    agent.open("Build it.")
    for _ in range(2):
        with django_assert_num_queries(2):  # the key, the turns
            agent.get(LIST, memory=memory.pk, q="build")
        for number in range(5):
            turn = agent.open("Build it.", topic=f"t-{number}")["turn"]["id"]
            agent.post(f"turns/{turn}/steps/", {"agent": "editor"})


def test_the_trace_tells_what_was_said_given_left_out_and_heard(agent: Agent, project: Project) -> None:
    always = make_memory(project, "Amounts are stored in cents.", always=True)
    ranked = make_memory(project, "Order tables show twenty rows.")
    omitted = make_memory(project, "Archived shops have no order form.")
    earlier = agent.turn("From now on use pnpm.")
    opened = agent.open(
        "Remember: buttons begin with a verb. Show the order tables.",
        files=["src/orders.vue"],
        attached="A picture.",
    )
    turn = opened["turn"]["id"]
    agent.post(f"turns/{turn}/steps/", {"agent": "editor", "message": "Show them.", "status": "succeeded"})
    agent.finish(turn, reply="Shown.")
    trace = agent.get(f"turns/{turn}/").json()
    assert list(trace) == ["turn", "steps", "heard", "given", "recalls", "extraction", "distil"]
    assert (trace["turn"]["message"], trace["turn"]["reply"]) == (Chat.objects.get(pk=turn).message, "Shown.")
    assert (trace["turn"]["files"], trace["turn"]["attached"]) == (["src/orders.vue"], "A picture.")
    assert trace["turn"]["memory_refs"] == opened["context"]["memory"]["refs"]
    assert [(step["agent"], step["message"]) for step in trace["steps"]] == [("editor", "Show them.")]
    assert trace["heard"]["remembered"] == opened["remembered"]
    assert trace["given"]["tokens"] == opened["context"]["tokens"]
    assert trace["given"]["intent"] == opened["context"]["intent"]
    assert trace["given"]["history"] == [earlier]
    assert [rule["content"] for rule in trace["given"]["instructions"]] == ["From now on use pnpm"]
    (recall,) = trace["recalls"]
    assert recall["block"] == opened["context"]["memory"]["block"]
    assert recall["sha256"] == opened["context"]["memory"]["sha256"]
    items = {item["id"]: item for item in recall["items"]}
    assert list(items) == opened["context"]["memory"]["refs"]
    assert (items[always.pk]["tier"], items[ranked.pk]["tier"]) == ("always", "relevant")
    assert items[ranked.pk]["score"] > 0
    assert items[ranked.pk]["parts"]["lexical"] > 0
    assert items[ranked.pk]["now"]["content"] == "Order tables show twenty rows."
    assert [(one["id"], one["reason"]) for one in recall["omitted"]] == [(omitted.pk, "below_floor")]
    assert recall["omitted_counts"] == {"below_floor": 1}
    assert (trace["extraction"], trace["distil"]["state"]) == (None, "pending")


def test_the_trace_shows_what_a_memory_is_now_beside_what_it_was(agent: Agent, project: Project) -> None:
    rows = [
        make_memory(project, f"Amounts of {name} are stored in cents.", always=True) for name in ("a", "b")
    ]
    turn = agent.open("Show the amounts.")["turn"]["id"]
    by = Actor.for_user(project.owner, transport="web")
    store.edit(project=project, memory_id=rows[0].pk, changes={"content": "Changed."}, by=by)
    store.delete(project=project, memory_id=rows[1].pk, by=by)
    items = {item["id"]: item for item in agent.get(f"turns/{turn}/").json()["recalls"][0]["items"]}
    assert (items[rows[0].pk]["version"], items[rows[0].pk]["now"]["version"]) == (1, 2)
    assert items[rows[1].pk]["now"] is None


def test_a_purged_memory_is_in_no_trace(agent: Agent, project: Project) -> None:
    memory = make_memory(project, "Amounts are stored in cents.", always=True)
    opened = agent.open("Show them.", ref="r")
    store.purge(project=project, memory_id=memory.pk, by=Actor.for_user(project.owner, transport="web"))
    trace = agent.get(f"turns/{opened['turn']['id']}/")
    assert "cents" not in trace.content.decode()
    assert trace.json()["recalls"][0]["block"] is None
    again = agent.send("Show them.", ref="r")
    assert (again.status_code, again.json()["context"]["memory"]["block"]) == (200, "")


def test_the_trace_tells_what_distilling_made_of_the_turn(agent: Agent, project: Project) -> None:
    type(project).objects.filter(pk=project.pk).update(review_policy="none")
    turn = agent.turn("以后表格分页一律每页 20 条。")
    Topic.objects.update(distil_due_at=timezone.now())
    distil.run(Topic.objects.get().pk)
    trace = agent.get(f"turns/{turn}/").json()
    memory = Memory.objects.get()
    assert trace["turn"]["distil_outcome"] == "read"
    assert (trace["extraction"]["status"], trace["extraction"]["turns"]) == ("succeeded", [turn])
    assert [(one["turn"], one["outcome"], one["memory"]) for one in trace["extraction"]["candidates"]] == [
        (turn, "stored", memory.pk)
    ]
    assert trace["distil"] == {"state": "idle", "due_at": None}


def test_the_trace_costs_the_same_however_much_was_given(
    agent: Agent, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    def trace_of(number: int) -> int:
        for place in range(number):
            make_memory(project, f"Rule {place} of {number} for amounts.", always=True)
        turn = agent.open("Remember: buttons begin with a verb.\n\nFrom now on use pnpm.")["turn"]["id"]
        for place in range(number):
            agent.post(f"turns/{turn}/steps/", {"agent": f"agent {place}"})
        agent.post(f"turns/{turn}/context/")
        return turn

    for turn in (trace_of(1), trace_of(4)):
        # key, turn, recalls, items, memories given, steps, memories heard, instructions
        with django_assert_num_queries(8):
            assert agent.get(f"turns/{turn}/").status_code == 200
    assert Recall.objects.count() == 4
