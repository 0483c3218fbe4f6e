"""Opening a turn: what is stored, what is answered, and what a repeated request gets."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from chats.models import Chat, Topic
from memories.models import Memory, Recall
from tests.factories import make_memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db
BODY: dict[str, Any] = {
    "topic": {"ref": "conv-88213", "title": "登录页", "area": "登录"},
    "ref": "req-5c1e",
    "message": "记住：页面引用区块要用区块 ID。现在做登录页",
    "attached": "",
    "files": ["src/pages/login.vue"],
    "author": {"ref": "u-1007", "name": "设计组"},
    "agent": "architect",
    "sent_at": "2026-11-01T09:30:12+08:00",
    "context": {
        "window_tokens": 40000,
        "parts": ["instructions", "memory", "summary", "episodes", "history"],
    },
}


def test_the_answer_has_the_shape_of_the_contract(agent: Agent) -> None:
    answer = agent.post("projects/shop/turns/", BODY)
    chat, memory = Chat.objects.get(), Memory.objects.get()
    assert answer.status_code == 201
    body = answer.json()
    assert body["turn"] == {
        "id": chat.pk,
        "ref": "req-5c1e",
        "seq": 1,
        "status": "running",
        "topic": {"id": chat.topic_id, "ref": "conv-88213", "created": True},
    }
    assert body["remembered"] == [
        {
            "outcome": "stored",
            "memory": {
                "id": memory.pk,
                "version": 1,
                "key": memory.key,
                "type": "constraint",
                "status": "active",
                "content": "页面引用区块要用区块 ID",
            },
        }
    ]
    assert (body["refused"], body["forgotten"]) == ([], [])
    context = body["context"]
    assert list(context) == [
        "memory_enabled",
        "degraded",
        "intent",
        "instructions",
        "memory",
        "summary",
        "episodes",
        "history",
        "tokens",
    ]
    assert context["memory_enabled"] is True
    assert context["degraded"] == []
    assert context["intent"] == {"value": "new_task", "rule": "first_in_topic"}
    assert (context["summary"], context["episodes"], context["history"]) == (None, [], [])
    assert list(context["memory"]) == ["block", "always", "relevant", "sha256", "refs", "tokens"]
    assert context["memory"]["refs"] == [memory.pk]
    assert list(context["tokens"]) == [
        "encoding",
        "window",
        "instructions",
        "memory",
        "summary",
        "episodes",
        "history",
        "message",
        "free",
    ]


def test_what_was_sent_is_stored(agent: Agent) -> None:
    agent.post("projects/shop/turns/", BODY)
    chat = Chat.objects.select_related("topic").get()
    assert (chat.topic.title, chat.topic.area) == ("登录页", "登录")
    assert (chat.author_ref, chat.author_name, chat.agent) == ("u-1007", "设计组", "architect")
    assert chat.files == ["src/pages/login.vue"]
    assert (chat.sent_at, chat.sent_offset) == (datetime(2026, 11, 1, 1, 30, 12, tzinfo=UTC), 480)
    assert (chat.memory_refs, chat.memory_tokens) == ([Memory.objects.get().pk], Recall.objects.get().tokens)
    memory = Memory.objects.get()
    assert (memory.source_chat_id, memory.said_at, memory.area) == (chat.pk, chat.sent_at, "登录")


def test_the_same_request_again_is_the_same_turn_word_for_word(agent: Agent) -> None:
    first = agent.post("projects/shop/turns/", BODY)
    again = agent.post("projects/shop/turns/", BODY)
    assert (first.status_code, again.status_code) == (201, 200)
    expected = first.json()
    expected["turn"]["topic"]["created"] = False
    assert again.json() == expected
    assert again["ETag"] == first["ETag"]
    assert (Chat.objects.count(), Memory.objects.count(), Recall.objects.count()) == (1, 1, 1)


def test_a_ref_of_another_message_is_refused(agent: Agent) -> None:
    first = agent.post("projects/shop/turns/", BODY).json()
    answer = agent.post("projects/shop/turns/", BODY | {"message": "记住：别的"})
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert answer.json()["turn"] == {"id": first["turn"]["id"], "status": "running"}
    assert Memory.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_ref_of_a_step_is_refused(agent: Agent) -> None:
    turn = agent.open("Build it.", topic="conv-1")["turn"]["id"]
    agent.post(f"turns/{turn}/steps/", {"agent": "editor", "ref": "taken"})
    answer = agent.send("Go.", topic="conv-1", ref="taken")
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")


def test_refs_are_compared_exactly_and_within_their_topic(agent: Agent) -> None:
    for topic, ref in [("a", "r"), ("a", "R"), ("b", "r"), ("A", "r")]:
        agent.open("Build it.", topic=topic, ref=ref)
    assert Topic.objects.count() == 3
    assert Chat.objects.count() == 4


def test_numbers_count_up_within_a_topic(agent: Agent) -> None:
    turns = [agent.open("Build it.", topic=topic)["turn"] for topic in ("a", "a", "b", "a")]
    assert [turn["seq"] for turn in turns] == [1, 2, 1, 3]
    assert [turn["topic"]["created"] for turn in turns] == [True, False, True, False]


def test_title_and_area_follow_the_latest_request_that_names_them(agent: Agent) -> None:
    agent.open("Build it.", topic="a")
    agent.post("projects/shop/turns/", BODY | {"topic": {"ref": "a", "title": "New", "area": "shop"}})
    agent.open("Go on with it.", topic="a")
    topic = Topic.objects.get()
    assert (topic.title, topic.area) == ("New", "shop")


def test_the_first_turn_of_topic_b_holds_what_topic_a_said(agent: Agent) -> None:
    kept = agent.open("记住：页面引用区块要用区块ID", topic="a")["remembered"][0]["memory"]
    opened = agent.open("做结算页，引用收货地址区块", topic="b")
    memory = opened["context"]["memory"]
    assert "页面引用区块要用区块ID" in memory["block"]
    assert memory["refs"] == [kept["id"]]
    chat = Chat.objects.get(pk=opened["turn"]["id"])
    assert (chat.memory_refs, chat.memory_tokens) == ([kept["id"]], memory["tokens"])


def test_memory_off_gives_null_and_keeps_nothing(agent: Agent, project: Project) -> None:
    make_memory(project, "Amounts are stored in cents.")
    type(project).objects.filter(pk=project.pk).update(memory_enabled=False)
    body = agent.open("Remember: amounts are shown in euros. Show the amounts.")
    assert body["context"]["memory"] is None
    assert body["context"]["memory_enabled"] is False
    assert body["remembered"] == []
    assert [(item["code"], item["text"]) for item in body["refused"]] == [
        ("memory_off", "amounts are shown in euros")
    ]
    chat = Chat.objects.get()
    assert (chat.memory_refs, chat.memory_tokens) == (None, None)
    assert Recall.objects.count() == 0
    assert Memory.objects.count() == 1


def test_a_part_that_is_not_asked_for_is_left_out(agent: Agent, project: Project) -> None:
    make_memory(project, "Amounts are stored in cents.", always=True)
    agent.turn("From now on use pnpm.")
    body = agent.open("Show the amounts.", context={"parts": ["instructions"]})
    context = body["context"]
    assert [rule["content"] for rule in context["instructions"]] == ["From now on use pnpm"]
    assert (context["memory"], context["history"]) == (None, [])
    assert Chat.objects.get(pk=body["turn"]["id"]).memory_refs == [], "nothing was given"


def test_a_turn_that_already_happened_is_over_at_once_and_its_words_wait(agent: Agent) -> None:
    body = agent.open(
        "Remember: amounts are stored in cents.",
        status="succeeded",
        reply="Noted.",
        sent_at="2026-11-01T09:30:12Z",
    )
    assert [item["outcome"] for item in body["remembered"]] == ["needs_confirmation"]
    assert body["turn"]["status"] == "succeeded"
    chat, memory = Chat.objects.get(), Memory.objects.get()
    assert (chat.reply, chat.already_happened) == ("Noted.", True)
    assert chat.finished_at is not None
    assert (memory.status, memory.said_at) == ("proposed", datetime(2026, 11, 1, 9, 30, 12, tzinfo=UTC))
    assert Topic.objects.get().distil_pending is True
    assert (chat.memory_refs, Recall.objects.count()) == ([], 0), "it can be given nothing any more"


def test_a_whole_turn_reported_after_its_opening_was_lost_ends_it(agent: Agent) -> None:
    opened = agent.open("Remember: amounts are stored in cents.", ref="lost")
    answer = agent.send(
        "Remember: amounts are stored in cents.", ref="lost", status="succeeded", reply="Noted."
    )
    assert answer.status_code == 200
    assert answer.json()["turn"] == opened["turn"] | {
        "status": "succeeded",
        "topic": opened["turn"]["topic"] | {"created": False},
    }
    assert answer.json()["remembered"] == opened["remembered"], "it was heard when it was said"
    assert Chat.objects.get().reply == "Noted."
    other = agent.send("Remember: amounts are stored in cents.", ref="lost", status="failed")
    assert (other.status_code, other.json()["code"]) == (409, "turn_already_finished")


def test_words_are_never_newer_than_their_arrival(agent: Agent) -> None:
    before = timezone.now()
    agent.open("Remember: amounts are stored in cents.", sent_at=(before + timedelta(days=3)).isoformat())
    chat = Chat.objects.get()
    assert before <= chat.sent_at <= timezone.now()
    assert Memory.objects.get().said_at == chat.sent_at


def test_a_person_opens_a_turn_in_their_own_name(api_as: Callable[..., APIClient], project: Project) -> None:
    body = {"topic": {"ref": "a"}, "ref": "1", "message": "Remember: amounts are stored in cents."}
    answer = api_as(project.owner).post("/api/v1/projects/shop/turns/", body)
    assert answer.status_code == 201
    chat = Chat.objects.get()
    assert (chat.author_ref, chat.author_name, chat.author_user) == ("ana", "ana", project.owner)
    assert Memory.objects.get().created_by == project.owner


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        pytest.param({"sent_at": "2026-11-01T09:30:12"}, "/sent_at", id="a time without offset"),
        pytest.param({"sent_at": "yesterday"}, "/sent_at", id="no time"),
        pytest.param({"topic": {}}, "/topic/ref", id="no topic"),
        pytest.param({"topic": {"ref": " "}}, "/topic/ref", id="blank topic"),
        pytest.param({"ref": ""}, "/ref", id="blank ref"),
        pytest.param({"ref": "r" * 201}, "/ref", id="long ref"),
        pytest.param({"message": "", "files": []}, "/message", id="nothing said"),
        pytest.param({"message": 7}, "/message", id="no text"),
        pytest.param({"reply": "Done."}, "/reply", id="a running turn has no reply"),
        pytest.param({"status": "done"}, "/status", id="no such status"),
        pytest.param({"context": {"parts": ["episode"]}}, "/context/parts/0", id="no such part"),
        pytest.param({"context": {"window_tokens": 10}}, "/context/window_tokens", id="small window"),
        pytest.param({"context": {"intent": "chat"}}, "/context/intent", id="no such intent"),
        pytest.param({"author": {"name": "设计组"}}, "/author/ref", id="an author without ref"),
    ],
)
def test_what_is_wrong_is_pointed_at_and_nothing_is_stored(
    agent: Agent, change: dict[str, Any], pointer: str
) -> None:
    answer = agent.post("projects/shop/turns/", BODY | change)
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert (Topic.objects.count(), Chat.objects.count(), Memory.objects.count()) == (0, 0, 0)


def test_unknown_fields_and_parameters_are_refused(agent: Agent) -> None:
    answer = agent.post("projects/shop/turns/", BODY | {"mesage": "x"})
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    answer = agent.post("projects/shop/turns/?dry_run=1", BODY)
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_parameter")
    assert Chat.objects.count() == 0


@pytest.mark.parametrize("field", ["message", "attached", "reply"])
def test_a_text_over_the_limit_is_too_large_and_one_at_it_is_not(agent: Agent, field: str) -> None:
    body = BODY | {"status": "succeeded", field: "x " * 100_000}
    assert agent.post("projects/shop/turns/", body).status_code == 201
    answer = agent.post("projects/shop/turns/", body | {"ref": "next", field: "x " * 100_000 + "x"})
    assert (answer.status_code, answer.json()["code"], answer.json()["limit"]) == (413, "too_large", 200_000)
    assert answer.json()["errors"][0]["pointer"] == f"/{field}"
    assert Chat.objects.count() == 1


def test_half_a_surrogate_pair_is_no_text(agent: Agent) -> None:
    answer = agent.client.post(
        "/api/v1/projects/shop/turns/",
        data='{"topic": {"ref": "a"}, "ref": "1", "message": "\\ud83d"}',
        content_type="application/json",
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid_text")
    assert Chat.objects.count() == 0


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        pytest.param({"topic": {"ref": "a", "title": "key sk-{}"}}, "/topic/title", id="title"),
        pytest.param({"topic": {"ref": "a", "area": "key sk-{}"}}, "/topic/area", id="area"),
        pytest.param({"author": {"ref": "u", "name": "key sk-{}"}}, "/author/name", id="author"),
        pytest.param({"agent": "key sk-{}"}, "/agent", id="agent"),
    ],
)
def test_names_pass_the_guard(agent: Agent, change: dict[str, Any], pointer: str) -> None:
    token = "proj-Zx81Qm" + "Ty5wLk3vRb7NcPd9Hf2Jg4"

    def filled(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: filled(inner) for name, inner in value.items()}
        return value.format(token)

    answer = agent.post("projects/shop/turns/", BODY | filled(change))
    assert (answer.status_code, answer.json()["code"]) == (422, "secret_found")
    assert [error["pointer"] for error in answer.json()["errors"]] == [pointer]
    assert token not in answer.content.decode()
    assert (Topic.objects.count(), Chat.objects.count(), Memory.objects.count()) == (0, 0, 0)


def test_a_project_that_masks_its_chats_stores_no_secret(agent: Agent, project: Project) -> None:
    type(project).objects.filter(pk=project.pk).update(mask_chats=True)
    secret = "the database password is " + "Ab12cd34!x9Kq"
    body = {"attached": secret, "status": "succeeded", "reply": secret}
    assert agent.send(f"Note that {secret}", ref="1", **body).status_code == 201
    assert agent.send(f"Note that {secret}", ref="1", **body).status_code == 200, "the same message"
    chat = Chat.objects.get()
    masked = "the database password is Ab***"
    assert (chat.message, chat.attached, chat.reply) == (f"Note that {masked}", masked, masked)


def test_the_answer_says_where_its_time_went(agent: Agent) -> None:
    header = agent.send("Build it.").headers["Server-Timing"]
    assert re.fullmatch(r"recall;dur=\d+\.\d, total;dur=\d+\.\d", header)
