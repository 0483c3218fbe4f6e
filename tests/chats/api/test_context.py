"""What a turn is given: history, tokens, greeting, continuation, further messages, 304, degraded."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from chats import context, records
from chats.models import Chat, Instruction, Topic
from memories.models import Memory, Recall
from memories.recall import recall
from memories.tokens import count
from tests.factories import make_memory

if TYPE_CHECKING:
    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db


def refs(body: dict[str, Any]) -> list[int]:
    return body["context"]["memory"]["refs"]


def test_the_token_account_adds_up(agent: Agent, project: Project) -> None:
    make_memory(project, "Amounts are stored in cents.", always=True)
    agent.turn("From now on use pnpm.", reply="Fine, pnpm it is.")
    message = "Show the amounts of the order."
    given = agent.open(message)["context"]
    account = given["tokens"]
    assert (account["encoding"], account["window"]) == ("o200k_base", 40_000)
    assert account["message"] == count(message)
    assert account["memory"] == count(given["memory"]["block"]) == given["memory"]["tokens"]
    assert account["instructions"] == sum(count(rule["content"]) for rule in given["instructions"])
    assert account["history"] == sum(count(line["content"]) for line in given["history"])
    assert min(account[part] for part in ("message", "memory", "instructions", "history")) > 0
    assert account["window"] == sum(account[part] for part in (*context.SPENT, "free"))


def test_history_is_succeeded_turns_whole_and_failed_ones_marked(agent: Agent) -> None:
    first = agent.turn("First.", reply="One.")
    failed = agent.turn("Second.", status="failed", reply="Half an answ")
    agent.turn("Third.", status="cancelled", reply="Thr")
    running = agent.open("Fourth.")["turn"]["id"]
    body = agent.open("Fifth.")
    assert body["context"]["history"] == [
        {"turn": first, "role": "user", "content": "First."},
        {"turn": first, "role": "assistant", "content": "One."},
        {"turn": failed, "role": "user", "content": "Second.", "note": "failed"},
    ]
    assert running not in {line["turn"] for line in body["context"]["history"]}


def test_history_holds_the_newest_turns_that_fit_whole(agent: Agent) -> None:
    """A window of 1,000 has 600 tokens for history: two turns of 250 fit, a third does not."""
    text = " word" * 125
    assert count(text) == 125
    turns = [agent.turn(text, reply=text) for _ in range(3)]
    given = agent.open("Next one.", context={"window_tokens": 1000})["context"]
    assert [line["turn"] for line in given["history"]] == [turns[1], turns[1], turns[2], turns[2]]
    assert given["tokens"]["history"] == 500


def test_history_has_no_gaps(agent: Agent) -> None:
    """The turn that does not fit ends the history, even if an older one would."""
    for words in (10, 700, 10):
        last = agent.turn(" word" * words)
    given = agent.open("Next one.", context={"window_tokens": 1000})["context"]
    assert {line["turn"] for line in given["history"]} == {last}


def test_a_long_message_leaves_less_room_for_history_and_the_reserve_stays(agent: Agent) -> None:
    text = " word" * 125
    turns = [agent.turn(text, reply=text) for _ in range(3)]
    message = "Summarise:" + " word" * 500
    given = agent.open(message, context={"window_tokens": 1000})["context"]
    assert {line["turn"] for line in given["history"]} == {turns[2]}
    assert given["tokens"]["free"] >= 100


def test_rules_and_block_share_the_static_part_of_the_window(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def recall(*args: Any, max_tokens: int, **kwargs: Any) -> None:
        asked.append(max_tokens)
        raise RuntimeError

    monkeypatch.setattr(context, "recall", recall)
    agent.open("From now on use pnpm.", context={"window_tokens": 1000})
    agent.open("Install it.", context={"window_tokens": 40_000})
    rule = Instruction.objects.get()
    assert asked == [300 - rule.tokens, 6000]


def test_a_greeting_is_given_the_always_tier_only(agent: Agent, project: Project) -> None:
    always = make_memory(project, "Answer in Chinese.", always=True)
    make_memory(project, "Hello pages greet the user by first name.")
    agent.turn("From now on greet the user by first name.")
    body = agent.open("Hello")
    assert body["context"]["intent"] == {"value": "continue", "rule": "greeting"}
    assert refs(body) == [always.pk]


@pytest.mark.parametrize("word", ["继续", "go on"])
def test_go_on_recalls_with_the_last_message_that_had_content_and_keeps_what_was_given(
    agent: Agent, project: Project, word: str
) -> None:
    make_memory(project, "Checkout amounts are stored in cents.")
    make_memory(project, "Deploys happen on Tuesdays.")
    body = agent.open("Build the checkout with its amounts.")
    agent.finish(body["turn"]["id"])
    given = refs(body)
    assert len(given) == 1
    for _ in range(2):
        body = agent.open(word)
        assert body["context"]["intent"] == {"value": "continue", "rule": "contentless_continuation"}
        assert refs(body) == given
        agent.finish(body["turn"]["id"])
    assert "checkout" in Recall.objects.first().query


def test_go_on_keeps_what_was_given_for_other_reasons_than_words(agent: Agent, project: Project) -> None:
    memory = make_memory(project, "Deploys happen on Tuesdays.", files=("src/pages/**",))
    body = agent.open("Build the header.", files=["src/pages/login.vue"])
    assert refs(body) == [memory.pk]
    agent.finish(body["turn"]["id"])
    assert refs(agent.open("继续")) == [memory.pk]


def test_go_on_drops_what_was_switched_off_meanwhile(agent: Agent, project: Project) -> None:
    memory = make_memory(project, "Checkout amounts are stored in cents.")
    agent.turn("Build the checkout with its amounts.")
    Memory.objects.filter(pk=memory.pk).update(withheld=True)
    type(project).objects.filter(pk=project.pk).update(memory_version="changed")
    assert refs(agent.open("继续")) == []


def test_the_caller_may_say_the_intent(agent: Agent) -> None:
    body = agent.open("What now?", context={"intent": "lookup"})
    assert body["context"]["intent"] == {"value": "lookup", "rule": "caller"}


def test_recall_that_raises_leaves_the_part_empty_and_the_turn_open(
    agent: Agent, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_memory(project, "Amounts are stored in cents.", always=True)

    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no index")

    with monkeypatch.context() as patched:
        patched.setattr(context, "recall", broken)
        body = agent.open("Remember: tables show 20 rows.", ref="1")
    assert body["context"]["degraded"] == ["recall_failed"]
    assert (body["context"]["memory"]["block"], refs(body)) == ("", [])
    assert [item["outcome"] for item in body["remembered"]] == ["stored"], "what was said is kept"
    chat = Chat.objects.get()
    assert (chat.status, chat.memory_refs, chat.degraded) == ("running", [], ["recall_failed"])
    assert Recall.objects.get().error == "recall_failed"
    again = agent.send("Remember: tables show 20 rows.", ref="1").json()
    assert again["context"]["degraded"] == [], "a repeated request recalls where the first could not"
    assert len(refs(again)) == 2


def test_recall_that_is_late_leaves_the_part_empty_and_the_turn_open(
    agent: Agent, project: Project, settings: Any
) -> None:
    make_memory(project, "Amounts are stored in cents.", always=True)
    settings.RECALL_DEADLINE_MS = 0
    body = agent.open("Show the amounts.")
    assert body["context"]["degraded"] == ["recall_deadline"]
    assert refs(body) == []
    finished = agent.finish(body["turn"]["id"])
    assert finished["receipt"]["text"] == "Memory could not be recalled"


def test_a_correction_mid_turn_is_heard_and_the_context_is_fresh(agent: Agent, project: Project) -> None:
    opened = agent.open("Build the login page.")
    turn = opened["turn"]["id"]
    answer = agent.post(
        f"turns/{turn}/context/",
        {"message": "不对，应该是先校验手机号再发验证码", "files": ["src/login.vue"]},
    )
    body = answer.json()
    assert answer.status_code == 200
    assert body["turn"] == {"id": turn, "status": "running"}
    assert [rule["kind"] for rule in body["context"]["instructions"]] == ["correction"]
    chat = Chat.objects.get()
    assert [entry["text"] for entry in chat.further] == ["不对，应该是先校验手机号再发验证码"]
    assert chat.files == ["src/login.vue"]
    assert (
        body["context"]["tokens"]["message"] == chat.message_tokens > opened["context"]["tokens"]["message"]
    )
    agent.finish(turn)
    history = agent.open("Next one.")["context"]["history"]
    assert history[0]["content"] == "Build the login page.\n不对，应该是先校验手机号再发验证码"


def test_a_further_remember_is_told_once_and_the_refs_add_up(agent: Agent, project: Project) -> None:
    first = make_memory(project, "Login pages use block ids.", always=True)
    opened = agent.open("Remember: tables show 20 rows.")
    turn = opened["turn"]["id"]
    body = agent.post(f"turns/{turn}/context/", {"message": "Remember: buttons begin with a verb."}).json()
    assert [item["memory"]["content"] for item in body["remembered"]] == ["buttons begin with a verb"]
    assert len(Chat.objects.get().explicit["remembered"]) == 2
    assert Chat.objects.get().memory_refs[0] == first.pk
    assert set(Chat.objects.get().memory_refs) == set(refs(opened)) | set(refs(body))


def test_a_further_message_with_an_idempotency_key_is_heard_once(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    answers = [
        agent.post(f"turns/{turn}/context/", {"message": "Remember: use tabs."}, **{"Idempotency-Key": "k-1"})
        for _ in range(2)
    ]
    assert answers[0].json() == answers[1].json()
    assert answers[1]["Idempotent-Replayed"] == "true"
    assert len(Chat.objects.get().further) == 1


def test_an_unchanged_context_is_304_and_a_changed_one_is_not(agent: Agent) -> None:
    opened = agent.send("Build it.")
    turn = opened.json()["turn"]["id"]
    path = f"turns/{turn}/context/"
    unchanged = agent.post(path, {}, **{"If-None-Match": opened["ETag"]})
    assert (unchanged.status_code, unchanged["ETag"], unchanged.content) == (304, opened["ETag"], b"")
    small_talk = agent.post(path, {"message": "The one on the left."}, **{"If-None-Match": opened["ETag"]})
    assert small_talk.status_code == 304
    changed = agent.post(path, {"message": "From now on use pnpm."}, **{"If-None-Match": opened["ETag"]})
    assert changed.status_code == 200
    assert changed["ETag"] != opened["ETag"]
    assert agent.post(path, {}, **{"If-None-Match": changed["ETag"]}).status_code == 304
    assert agent.post(path, {}, **{"If-None-Match": opened["ETag"]}).status_code == 200


def test_a_refusal_is_told_though_the_context_is_unchanged(agent: Agent) -> None:
    opened = agent.send("Build it.")
    secret = "Ab12cd34" + "!x9Kq"
    answer = agent.post(
        f"turns/{opened.json()['turn']['id']}/context/",
        {"message": f"Remember: the database password is {secret}"},
        **{"If-None-Match": opened["ETag"]},
    )
    assert answer.status_code == 200
    assert answer["ETag"] == opened["ETag"]
    assert [item["code"] for item in answer.json()["refused"]] == ["secret_found"]


def test_window_and_parts_of_the_opening_hold_for_the_turn(agent: Agent) -> None:
    agent.turn("First.")
    turn = agent.open("Build it.", context={"window_tokens": 8000, "parts": ["memory"]})["turn"]["id"]
    given = agent.post(f"turns/{turn}/context/").json()["context"]
    assert (given["tokens"]["window"], given["history"]) == (8000, [])
    given = agent.post(f"turns/{turn}/context/", {"context": {"parts": ["history"]}}).json()["context"]
    assert (given["tokens"]["window"], len(given["history"]), given["memory"]) == (8000, 2, None)


def test_a_turn_that_is_over_gets_no_context_and_hears_nothing(agent: Agent) -> None:
    turn = agent.turn("Build it.")
    for body in ({}, {"message": "Remember: use tabs."}):
        answer = agent.post(f"turns/{turn}/context/", body)
        assert (answer.status_code, answer.json()["code"]) == (409, "turn_already_finished")
        assert answer.json()["turn"] == {"id": turn, "status": "succeeded"}
    assert Memory.objects.count() == 0
    assert Recall.objects.count() == 1


def test_asking_for_the_context_keeps_a_turn_alive(agent: Agent) -> None:
    turn = agent.open("Build it.")["turn"]["id"]
    Chat.objects.update(touched_at=timezone.now() - timedelta(hours=3))
    agent.post(f"turns/{turn}/context/")
    assert Chat.objects.abandoned(timezone.now() - timedelta(hours=2)).count() == 0


def test_what_was_recalled_on_is_masked_and_bounded(agent: Agent) -> None:
    secret = "Ab12cd34" + "!x9Kq"
    agent.open(f"The database password is {secret}. " + "word " * 3000)
    query = Recall.objects.get().query
    assert len(query) == records.QUERY_KEPT
    assert "password is Ab***." in query


def test_a_turn_whose_topic_goes_while_it_is_recalled_for_is_not_found(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def deleting(*args: Any, **kwargs: Any) -> Any:
        Topic.objects.all().delete()
        return recall(*args, **kwargs)

    monkeypatch.setattr(context, "recall", deleting)
    answer = agent.send("Build it.")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert Recall.objects.count() == 0
