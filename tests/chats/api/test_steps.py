"""Steps of other agents inside a turn."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from chats.endings import give_up_abandoned
from chats.models import Chat, Instruction
from memories.models import Memory, Recall
from tests.factories import make_memory

if TYPE_CHECKING:
    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db


def test_a_step_gets_the_turn_s_context_byte_for_byte_and_recalls_nothing(
    agent: Agent, project: Project
) -> None:
    make_memory(project, "Amounts are stored in cents.", always=True)
    agent.turn("From now on use pnpm.", reply="Fine.")
    opened = agent.send("Show the amounts.", context={"window_tokens": 9000})
    turn = opened.json()["turn"]["id"]
    # The project moves on; the turn was given what it was given.
    make_memory(project, "Amounts are shown in euros.", always=True)
    agent.open("From now on write tests first.")
    recalls = Recall.objects.count()
    answer = agent.post(f"turns/{turn}/steps/", {"agent": "editor", "message": "Show the amounts, please."})
    assert answer.status_code == 201
    assert json.dumps(answer.json()["context"]) == json.dumps(opened.json()["context"])
    assert Recall.objects.count() == recalls
    step = Chat.objects.get(parent=turn)
    assert answer.json()["step"] == {
        "id": step.pk,
        "ref": None,
        "position": 1,
        "agent": "editor",
        "status": "running",
        "memory_refs": opened.json()["context"]["memory"]["refs"],
        "memory_tokens": opened.json()["context"]["memory"]["tokens"],
    }


def test_a_step_is_read_for_nothing(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    agent.post(
        f"turns/{turn}/steps/",
        {"agent": "editor", "message": "Remember: use tabs. From now on use pnpm. 忘掉：一切"},
    )
    assert (Memory.objects.count(), Instruction.objects.count()) == (0, 0)


def test_a_step_with_a_ref_is_reported_once_and_can_be_ended(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    begun = {"agent": "editor", "ref": "s-1", "message": "Write it."}
    ended = begun | {"status": "succeeded", "reply": "Written."}
    answers = [agent.post(f"turns/{turn}/steps/", body) for body in (begun, begun, ended, ended)]
    assert [answer.status_code for answer in answers] == [201, 200, 200, 200]
    assert [answer.json()["repeated"] for answer in answers] == [False, True, False, True]
    step = Chat.objects.get(parent=turn)
    assert (step.status, step.reply, step.position) == ("succeeded", "Written.", 1)
    assert step.finished_at is not None
    other = agent.post(f"turns/{turn}/steps/", ended | {"status": "failed"})
    assert (other.status_code, other.json()["code"]) == (409, "turn_already_finished")
    other = agent.post(f"turns/{turn}/steps/", begun | {"message": "Something else."})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")


def test_only_the_root_s_status_counts(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    agent.post(f"turns/{turn}/steps/", {"agent": "editor", "status": "failed"})
    assert agent.finish(turn)["turn"]["status"] == "succeeded"


def test_a_step_does_not_begin_in_a_turn_that_is_over_but_may_be_reported(agent: Agent) -> None:
    turn = agent.turn("Build it.")
    begun = agent.post(f"turns/{turn}/steps/", {"agent": "editor"})
    assert (begun.status_code, begun.json()["code"]) == (409, "turn_already_finished")
    assert agent.post(f"turns/{turn}/steps/", {"agent": "editor", "status": "succeeded"}).status_code == 201


def test_a_step_is_no_turn(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    step = agent.post(f"turns/{turn}/steps/", {"agent": "editor"}).json()["step"]["id"]
    assert agent.get(f"turns/{step}/").status_code == 404
    for verb in ("context", "steps", "finish"):
        assert agent.post(f"turns/{step}/{verb}/", {"status": "succeeded"}).status_code == 404
    assert agent.open("Next one.")["turn"]["seq"] == 2


def test_a_step_that_was_given_up_can_still_be_ended(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    step = {"agent": "editor", "ref": "s-1", "message": "Edit it.", "status": "running"}
    agent.post(f"turns/{turn}/steps/", step)
    give_up_abandoned(now=timezone.now() + timedelta(hours=3))
    assert Chat.objects.get(ref="s-1").status == "cancelled"
    ended = agent.post(f"turns/{turn}/steps/", step | {"status": "succeeded", "reply": "Edited."})
    assert ended.status_code == 200
    assert Chat.objects.values_list("status", "error").get(ref="s-1") == ("succeeded", "")
