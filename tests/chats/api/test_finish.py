"""Finishing a turn: once, late, abandoned; what it yields, and its receipt in both languages."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from chats import tasks
from chats.models import Chat, Topic
from memories.models import Memory
from tests.factories import make_memory

if TYPE_CHECKING:
    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(("ref", "is_member"), [("ana", True), ("stranger", False)])
def test_a_finished_turn_knows_which_member_spoke(
    agent: Agent, project: Project, ref: str, is_member: bool
) -> None:
    agent.turn("Build it.", author={"ref": ref})
    assert Chat.objects.get().author_user == (project.owner if is_member else None)


def test_the_answer_has_the_shape_of_the_contract(agent: Agent, settings: Any) -> None:
    settings.SITE_URL = "https://cairn.example"
    turn = agent.open("Remember: pages reference blocks by id.")["turn"]["id"]
    answer = agent.post(
        f"turns/{turn}/finish/",
        {
            "status": "succeeded",
            "reply": "Done.",
            "files": ["src/pages/login.vue"],
            "tools": [{"name": "create_page", "ok": True}],
            "steps": [],
            "milestone": "",
            "model": "some-model",
            "usage": {"input": 5120, "output": 830},
        },
    )
    assert answer.status_code == 200
    chat, topic = Chat.objects.get(), Topic.objects.get()
    assert answer.json() == {
        "turn": {"id": turn, "status": "succeeded"},
        "repeated": False,
        "distil": {"state": "pending", "due_at": topic.distil_due_at.isoformat().replace("+00:00", "Z")},
        "receipt": {
            "text": f"Remembered 1 · Used 1 memory ({chat.memory_tokens} tokens)",
            "remembered": 1,
            "refused": 0,
            "used": 1,
            "tokens": chat.memory_tokens,
            "url": f"https://cairn.example/api/v1/turns/{turn}/",
        },
    }
    assert (chat.reply, chat.model, chat.usage) == ("Done.", "some-model", {"input": 5120, "output": 830})
    assert (chat.files, chat.tools) == (["src/pages/login.vue"], [{"name": "create_page", "ok": True}])


def test_the_same_ending_again_is_repeated_and_another_is_refused(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    first = agent.finish(turn, reply="Done.")
    again = agent.finish(turn, reply="Done.")
    assert (first["repeated"], again["repeated"]) == (False, True)
    for ending in ({"status": "failed", "reply": "Done."}, {"status": "succeeded", "reply": "Otherwise."}):
        answer = agent.post(f"turns/{turn}/finish/", ending)
        assert (answer.status_code, answer.json()["code"]) == (409, "turn_already_finished")
        assert answer.json()["turn"] == {"id": turn, "status": "succeeded"}
    assert Chat.objects.get().reply == "Done."


def test_an_idempotency_key_replays_the_first_answer(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    body = {"status": "succeeded", "reply": "Done."}
    first = agent.post(f"turns/{turn}/finish/", body, **{"Idempotency-Key": "k"})
    again = agent.post(f"turns/{turn}/finish/", body, **{"Idempotency-Key": "k"})
    assert again["Idempotent-Replayed"] == "true"
    assert again.json() == first.json()
    assert again.json()["repeated"] is False


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize(
    ("status", "is_due"),
    [("succeeded", True), ("failed", False), ("cancelled", False)],
)
def test_only_a_succeeded_turn_is_distilled(agent: Agent, told: list[int], status: str, is_due: bool) -> None:
    turn = agent.open("We decided to use MariaDB.")["turn"]["id"]
    body = agent.finish(turn, status=status)
    topic = Topic.objects.get()
    assert topic.distil_pending is is_due
    assert body["distil"]["state"] == ("pending" if is_due else "idle")
    assert told == ([topic.pk] if is_due else [])


def test_a_machine_s_turn_is_not_distilled(agent: Agent) -> None:
    turn = agent.open("Nightly build.", origin="machine")["turn"]["id"]
    assert agent.finish(turn)["distil"] == {"state": "idle", "due_at": None}
    assert Chat.objects.get().distil_outcome == "machine"


def test_with_memory_off_nothing_is_distilled(agent: Agent, project: Project) -> None:
    type(project).objects.filter(pk=project.pk).update(memory_enabled=False)
    body = agent.finish(agent.open("We decided to use MariaDB.")["turn"]["id"])
    assert body["distil"] == {"state": "off", "due_at": None}
    assert body["receipt"]["text"] == "Memory is off"
    assert (body["receipt"]["used"], body["receipt"]["tokens"]) == (0, 0)
    assert Chat.objects.get().distil_outcome == "memory_off"


def test_a_turn_nobody_touched_for_two_hours_is_given_up_and_may_be_ended_once(agent: Agent) -> None:
    turn = agent.open("We decided to use MariaDB.")["turn"]["id"]
    Chat.objects.update(touched_at=timezone.now() - timedelta(hours=2, seconds=1))
    tasks.sweep()
    chat = Chat.objects.get()
    assert (chat.status, chat.error) == ("cancelled", "abandoned")
    late = agent.finish(turn, reply="Sorry, late.")
    assert (late["turn"]["status"], late["repeated"], late["distil"]["state"]) == (
        "succeeded",
        False,
        "pending",
    )
    chat.refresh_from_db()
    assert (chat.status, chat.error, chat.reply) == ("succeeded", "", "Sorry, late.")
    assert agent.post(f"turns/{turn}/finish/", {"status": "cancelled"}).status_code == 409


def test_a_turn_that_was_touched_is_not_given_up(agent: Agent) -> None:
    agent.open("Build it.")
    Chat.objects.update(touched_at=timezone.now() - timedelta(hours=1, minutes=59))
    tasks.sweep()
    assert Chat.objects.get().status == "running"


def test_a_cancelled_turn_stays_cancelled(agent: Agent) -> None:
    turn = agent.turn("Build it.", status="cancelled", reply="")
    assert agent.post(f"turns/{turn}/finish/", {"status": "succeeded"}).status_code == 409


@pytest.mark.parametrize(
    ("language", "told"),
    [
        pytest.param("zh-hans", "已记住 1 条 · 用到 4 条记忆（{tokens} tokens）", id="zh-hans"),
        pytest.param("zh-CN,zh;q=0.9", "已记住 1 条 · 用到 4 条记忆（{tokens} tokens）", id="zh-CN"),
        pytest.param("en", "Remembered 1 · Used 4 memories ({tokens} tokens)", id="en"),
        pytest.param("fr", "Remembered 1 · Used 4 memories ({tokens} tokens)", id="others get English"),
    ],
)
def test_the_receipt_speaks_the_language_of_the_request(
    agent: Agent, project: Project, language: str, told: str
) -> None:
    for content in ("金额按分存储", "日期显示到分钟", "图片必须压缩"):
        make_memory(project, content, always=True)
    opened = agent.open("记住：页面引用区块要用区块 ID")
    receipt = agent.finish(opened["turn"]["id"], language=language)["receipt"]
    assert receipt["text"] == told.format(tokens=opened["context"]["memory"]["tokens"])
    assert (receipt["remembered"], receipt["used"]) == (1, 4)


def test_the_receipt_names_what_was_refused_and_what_waits(agent: Agent, project: Project) -> None:
    make_memory(project, "表格分页每页 20 条")
    secret = "Ab12cd34" + "!x9Kq"
    message = f"记住：\n- 表格分页每页 50 条\n- 数据库密码是 {secret}"
    turn = agent.open(message, author={"ref": "stranger"}, context={"parts": []})["turn"]["id"]
    receipt = agent.finish(turn, language="zh-hans")["receipt"]
    assert receipt["text"] == "待确认 1 条 · 未保存 1 条 · 没有相关的记忆"
    assert (receipt["remembered"], receipt["refused"]) == (0, 1)


def test_in_debug_mode_the_receipt_tells_what_was_remembered_refused_and_used(
    agent: Agent, project: Project
) -> None:
    type(project).objects.filter(pk=project.pk).update(debug_mode=True)
    old = make_memory(project, "Amounts are stored in cents.", always=True)
    opened = agent.open("Remember: tables show 20 rows.")
    detail = agent.finish(opened["turn"]["id"])["receipt"]["detail"]
    assert detail["remembered"] == opened["remembered"]
    assert (detail["refused"], detail["forgotten"]) == ([], [])
    assert [memory["id"] for memory in detail["used"]] == opened["context"]["memory"]["refs"]
    assert old.pk in opened["context"]["memory"]["refs"]


def test_steps_of_the_ending_are_stored_and_those_reported_before_are_not_doubled(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    agent.post(f"turns/{turn}/steps/", {"agent": "editor", "ref": "s-1", "message": "Write it."})
    agent.finish(
        turn,
        steps=[
            {"agent": "editor", "ref": "s-1", "message": "Write it.", "reply": "Written."},
            {"agent": "reviewer", "message": "Look at it.", "status": "failed"},
        ],
    )
    steps = Chat.objects.filter(parent=turn).order_by("position")
    assert [(step.agent, step.status, step.reply) for step in steps] == [
        ("editor", "succeeded", "Written."),
        ("reviewer", "failed", ""),
    ]


def test_a_milestone_is_the_trigger_of_its_run(agent: Agent) -> None:
    agent.finish(agent.open("Ship it.")["turn"]["id"], milestone="beta")
    assert Topic.objects.get().distil_trigger == "milestone"


def test_secrets_of_an_error_are_masked(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    agent.finish(turn, status="failed", reply="", error="login failed, password is " + "Ab12cd34" + "!x9Kq")
    assert Chat.objects.get().error == "login failed, password is Ab***"


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        pytest.param({}, "/status", id="no status"),
        pytest.param({"status": "running"}, "/status", id="no ending"),
        pytest.param({"status": "succeeded", "usage": {"input": -1}}, "/usage/input", id="negative"),
        pytest.param({"status": "succeeded", "tools": [{"ok": True}]}, "/tools/0/name", id="nameless tool"),
        pytest.param(
            {"status": "succeeded", "steps": [{"agent": "a", "status": "running"}]},
            "/steps/0/status",
            id="step",
        ),
    ],
)
def test_what_is_wrong_is_pointed_at_and_the_turn_goes_on(
    agent: Agent, body: dict[str, Any], pointer: str
) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    answer = agent.post(f"turns/{turn}/finish/", body)
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert Chat.objects.get().status == "running"


def test_a_reply_over_the_limit_is_too_large_wherever_it_stands(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    steps = [{"agent": "a"}, {"agent": "b", "reply": "x" * 200_001}]
    answer = agent.post(f"turns/{turn}/finish/", {"status": "succeeded", "steps": steps})
    assert (answer.status_code, answer.json()["limit"]) == (413, 200_000)
    assert answer.json()["errors"][0]["pointer"] == "/steps/1/reply"
    assert Chat.objects.get().status == "running"


def test_due_is_told_with_the_back_off_of_failed_runs(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    retry_at = timezone.now() + timedelta(minutes=5)
    Topic.objects.update(distil_retry_at=retry_at)
    assert datetime.fromisoformat(agent.finish(turn)["distil"]["due_at"]) == retry_at


def test_a_provider_that_is_down_is_told_with_its_next_try(agent: Agent) -> None:
    turn = agent.turn("Build it.")
    retry_at = timezone.now() + timedelta(minutes=5)
    Topic.objects.update(distil_retry_at=retry_at, distil_waits_for="llm")
    told = agent.finish(turn)["distil"]
    assert (told["state"], datetime.fromisoformat(told["due_at"])) == ("waiting_for_provider", retry_at)
    assert agent.get(f"topics/{Topic.objects.get().pk}/").json()["distil"] == told
    assert agent.get(f"turns/{turn}/").json()["distil"]["state"] == "waiting_for_provider"
    Topic.objects.update(distil_retry_at=timezone.now())
    assert agent.finish(turn)["distil"]["state"] == "pending"


def test_running_is_told_while_a_lease_holds_and_nothing_more_is_due(agent: Agent) -> None:
    turn = agent.turn("Build it.")
    until = timezone.now() + timedelta(minutes=1)
    Topic.objects.update(distil_pending=False, distil_lease_token="t", distil_lease_until=until)
    assert agent.finish(turn)["distil"] == {"state": "running", "due_at": None}


def test_due_is_told_again_when_the_lease_of_a_run_has_ended(agent: Agent) -> None:
    turn = agent.turn("Build it.")
    until = timezone.now()
    Topic.objects.update(distil_pending=False, distil_lease_token="t", distil_lease_until=until)
    told = agent.finish(turn)["distil"]
    assert (told["state"], datetime.fromisoformat(told["due_at"])) == ("pending", until)
    Topic.objects.update(distil_lease_token=None, distil_lease_until=None)
    assert agent.finish(turn)["distil"] == {"state": "idle", "due_at": None}


def test_finishing_writes_no_memory(agent: Agent) -> None:
    agent.finish(agent.open("Build it.")["turn"]["id"], reply="Remember: tables show 20 rows.")
    assert Memory.objects.count() == 0
