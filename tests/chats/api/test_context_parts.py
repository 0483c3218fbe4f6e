"""Summary and episodes in a turn's context: when they are given, what they cost, and that they come again alike."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chats import context, episodes, summaries
from chats.models import Chat, Summary, Topic
from memories.tokens import count
from tests.factories import make_memory

if TYPE_CHECKING:
    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db
WORDS = " word" * 125
PARTS = context.PARTS


@pytest.fixture(autouse=True)
def _every_turn_is_summed_up(settings: Any) -> None:
    settings.SUMMARY_AFTER_TOKENS = 1


def sum_up(ref: str = "conv-1") -> None:
    topic = Topic.objects.get(ref=ref)
    Topic.objects.filter(pk=topic.pk).update(summary_due_at=timezone.now())
    summaries.run(topic.pk)


def long_topic(agent: Agent, *, turns: int = 4) -> list[int]:
    """Turns of 250 tokens; in a window of 1,000 the history has 600."""
    made = []
    for number in range(turns):
        made.append(agent.turn(f"Question {number}.{WORDS}", reply=f"Answer {number}.{WORDS}"))
        sum_up()
    return made


def told(given: dict[str, Any]) -> set[int]:
    return {line["turn"] for line in given["history"]}


def test_a_topic_that_history_shows_whole_needs_no_summary(agent: Agent) -> None:
    turns = long_topic(agent)
    given = agent.open("Next one.")["context"]
    assert told(given) == set(turns)
    assert (given["summary"], given["tokens"]["summary"]) == (None, 0)


def test_where_history_ends_the_summary_begins_and_nothing_is_told_twice(agent: Agent) -> None:
    turns = long_topic(agent)
    opened = agent.open("Next one.", context={"window_tokens": 1000})
    given = opened["context"]
    assert told(given) == {turns[3]}, "the summary has taken its tokens from the history"
    chat = Chat.objects.get(pk=opened["turn"]["id"])
    row = Summary.objects.get(pk=chat.given["summary"])
    assert row.through == 3, "of the summaries there are, the one that ends where the history begins"
    assert given["summary"] == row.text
    assert given["tokens"]["summary"] == count(row.text) == row.tokens
    assert given["tokens"]["history"] + given["tokens"]["summary"] <= 600


def test_a_summary_that_lags_behind_is_better_than_none(agent: Agent) -> None:
    long_topic(agent, turns=1)
    late = [agent.turn(f"Later {number}.{WORDS}", reply=WORDS) for number in range(3)]
    given = agent.open("Next one.", context={"window_tokens": 1000})["context"]
    assert given["summary"].startswith("- 1: ")
    assert told(given) == set(late[1:])


def test_turns_beyond_the_most_that_are_read_are_told_by_the_summary(agent: Agent, settings: Any) -> None:
    settings.HISTORY_MAX_TURNS = 2
    turns = long_topic(agent, turns=4)
    given = agent.open("Next one.")["context"]
    assert told(given) == set(turns[2:])
    assert "Question 1" in given["summary"]
    assert "Question 2" not in given["summary"]


def test_a_summary_that_does_not_fit_leaves_the_history_its_room(agent: Agent, settings: Any) -> None:
    long_topic(agent)
    Summary.objects.update(tokens=301)
    given = agent.open("Next one.", context={"window_tokens": 1000})["context"]
    assert given["summary"] is None
    assert len(told(given)) == 2


def test_a_caller_without_history_gets_the_summary_and_one_without_summary_does_not(agent: Agent) -> None:
    long_topic(agent)
    given = agent.open("Next one.", context={"parts": ["summary"]})["context"]
    assert "Question 3" in given["summary"], "the newest: nothing of it is told otherwise"
    body = {"window_tokens": 1000, "parts": ["history"]}
    assert agent.open("Next one.", context=body)["context"]["summary"] is None


def test_with_memory_off_neither_is_given(agent: Agent, project: Project) -> None:
    long_topic(agent)
    agent.turn("Round the invoices half up.", topic="bills")
    sum_up("bills")
    project.memory_enabled = False
    project.save()
    given = agent.open("How did we round invoices?", context={"window_tokens": 1000})["context"]
    assert (given["summary"], given["episodes"]) == (None, [])


def test_a_question_about_the_past_is_given_turns_of_other_topics(agent: Agent, project: Project) -> None:
    asked = agent.turn(
        "Round the invoices half up.",
        reply="Moved to billing/money.py.",
        topic="bills",
    )
    sum_up("bills")
    opened = agent.open("How did we round the invoices?")
    given = opened["context"]
    chat = Chat.objects.get(pk=asked)
    assert given["intent"]["value"] == "lookup"
    assert given["episodes"] == [
        {
            "turn": asked,
            "topic": {"id": chat.topic_id, "ref": "bills", "title": ""},
            "sent_at": chat.sent_at.isoformat().replace("+00:00", "Z"),
            "content": "Round the invoices half up → Moved to billing/money.py",
            "tokens": count("Round the invoices half up → Moved to billing/money.py"),
        }
    ]
    assert given["tokens"]["episodes"] == chat.digest_tokens
    assert Chat.objects.get(pk=opened["turn"]["id"]).given["episodes"] == [asked]


@pytest.mark.parametrize(
    ("message", "first", "intent", "finds"),
    [
        pytest.param("Round the invoices once more.", True, None, False, id="new-task"),
        pytest.param("Round the invoices once more.", True, "lookup", True, id="the-caller-says-lookup"),
        pytest.param("How did we round the invoices?", False, None, True, id="lookup-in-a-topic"),
        pytest.param("How did we round the invoices?", False, "new_task", False, id="the-caller-says-new"),
        pytest.param("Now round the invoices down.", True, None, True, id="goes-on-in-an-empty-topic"),
        pytest.param("Now round the invoices down.", False, None, False, id="goes-on-in-its-topic"),
        pytest.param("继续", True, None, True, id="bare-going-on-in-an-empty-topic"),
        pytest.param("继续", False, None, False, id="bare-going-on-in-its-topic"),
        pytest.param("Hello!", True, None, False, id="greeting"),
    ],
)
def test_when_other_topics_are_looked_into(
    agent: Agent, message: str, first: bool, intent: str | None, finds: bool
) -> None:
    asked = agent.turn("Round the invoices half up.", topic="bills")
    sum_up("bills")
    if not first:
        agent.turn("Build the header.")
    given = agent.open(message, context={"intent": intent} if intent else {})["context"]
    assert [episode["turn"] for episode in given["episodes"]] == ([asked] if finds else [])


def test_episodes_stay_within_their_share_of_the_window(agent: Agent, settings: Any) -> None:
    for number in range(4):
        agent.turn(f"Round the invoices half up in case {number}.", reply="Done.", topic=f"bills-{number}")
        sum_up(f"bills-{number}")
    cost = Chat.objects.filter(digest_tokens__gt=0).values_list("digest_tokens", flat=True)[0]
    settings.CONTEXT_EPISODES_SHARE = (2 * cost + 1) / 1000
    given = agent.open("How did we round the invoices?", context={"window_tokens": 1000})["context"]
    assert (len(given["episodes"]), given["tokens"]["episodes"]) == (2, 2 * cost)


@pytest.mark.parametrize(("parts", "turns"), [(["history"], 2), (["episodes", "history"], 1)])
def test_what_episodes_take_the_history_has_not(agent: Agent, parts: list[str], turns: int) -> None:
    """Two turns of 296 tokens fit the history's 600, but not beside an episode."""
    agent.turn("Round the invoices half up.", reply="Moved to billing/money.py.", topic="bills")
    sum_up("bills")
    for _ in range(2):
        agent.turn(" word" * 148, reply=" word" * 148)
    given = agent.open("How did we round the invoices?", context={"window_tokens": 1000, "parts": parts})
    assert len(told(given["context"])) == turns


def test_a_lookup_that_raises_leaves_the_part_empty_and_the_turn_open(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no table")

    long_topic(agent)
    monkeypatch.setattr(episodes, "find", broken)
    monkeypatch.setattr(summaries, "covering", broken)
    given = agent.open("What did we say?", context={"window_tokens": 1000})["context"]
    assert given["degraded"] == ["episodes_failed", "summary_failed"]
    assert (given["episodes"], given["summary"], len(told(given))) == ([], None, 2)


def test_a_turn_that_already_happened_is_given_neither(agent: Agent) -> None:
    long_topic(agent)
    agent.turn("Round the invoices half up.", topic="bills")
    sum_up("bills")
    given = agent.open(
        "How did we round the invoices?",
        status="succeeded",
        reply="Half up.",
        context={"window_tokens": 1000},
    )["context"]
    assert (given["summary"], given["episodes"]) == (None, [])


def test_what_was_given_is_given_again_byte_for_byte_and_traced(agent: Agent) -> None:
    long_topic(agent)
    agent.turn("Round the invoices half up.", topic="bills")
    sum_up("bills")
    body = {"message": "How did we round the invoices?", "ref": "same", "context": {"window_tokens": 1000}}
    first = agent.send(**body)
    given = first.json()["context"]
    assert given["summary"]
    assert given["episodes"]
    # What is summed up, digested and said meanwhile changes nothing of it.
    agent.turn("Round the invoices half down.", topic="more")
    sum_up("more")
    sum_up()
    again = agent.send(**body)
    assert (again.status_code, again.json()["context"]) == (200, given)
    assert again["ETag"] == first["ETag"]
    turn = first.json()["turn"]["id"]
    step = agent.post(f"turns/{turn}/steps/", {"agent": "editor", "ref": "s", "message": "Go."}).json()
    assert step["context"] == given
    trace = agent.get(f"turns/{turn}/").json()["given"]
    row = Summary.objects.get(pk=Chat.objects.get(pk=turn).given["summary"])
    assert trace["summary"] == {
        "id": row.pk,
        "through": row.through,
        "text": given["summary"],
        "tokens": row.tokens,
    }
    assert trace["episodes"] == given["episodes"]


def test_what_was_erased_since_is_not_given_again(agent: Agent) -> None:
    long_topic(agent)
    asked = agent.turn("Round the invoices half up.", topic="bills")
    sum_up("bills")
    body = {"message": "How did we round the invoices?", "ref": "same", "context": {"window_tokens": 1000}}
    turn = agent.send(**body).json()["turn"]["id"]
    Chat.objects.filter(pk=asked).update(digest="", digest_tokens=None, erased_at=timezone.now())
    summaries.forget([Topic.objects.get(ref="conv-1").pk], now=timezone.now())
    given = agent.send(**body).json()["context"]
    assert (given["summary"], given["episodes"]) == (None, [])
    trace = agent.get(f"turns/{turn}/").json()["given"]
    assert (trace["summary"], trace["episodes"]) == (None, [])


def test_erased_turns_leave_no_empty_line_in_the_history(agent: Agent) -> None:
    erased, kept = agent.turn("First."), agent.turn("Second.")
    Chat.objects.filter(pk=erased).update(
        message="", reply="", message_tokens=0, reply_tokens=0, erased_at=timezone.now()
    )
    assert [line["turn"] for line in agent.open("Next one.")["context"]["history"]] == [kept, kept]


def test_a_changed_summary_is_a_changed_context(agent: Agent) -> None:
    long_topic(agent)
    opened = agent.send("Next one.", context={"window_tokens": 1000})
    path = f"turns/{opened.json()['turn']['id']}/context/"
    assert agent.post(path, {}, **{"If-None-Match": opened["ETag"]}).status_code == 304
    Summary.objects.update(text="- 1: something else")
    assert agent.post(path, {}, **{"If-None-Match": opened["ETag"]}).status_code == 200


@pytest.mark.parametrize("window", [1000, 3000])
def test_the_account_adds_up_whatever_is_asked_for(agent: Agent, project: Project, window: int) -> None:
    """Every combination of parts: what is given is what is counted, and the sum is the window."""
    make_memory(project, "Invoices are stored in cents.", always=True)
    agent.turn("Round the invoices half up.", topic="bills")
    sum_up("bills")
    agent.turn("From now on use pnpm.")
    long_topic(agent, turns=3)
    for size in range(len(PARTS) + 1):
        for parts in combinations(PARTS, size):
            given = agent.open(
                "How did we round the invoices?", context={"window_tokens": window, "parts": list(parts)}
            )["context"]
            account = given["tokens"]
            costs = {
                "instructions": sum(count(rule["content"]) for rule in given["instructions"]),
                "memory": count(given["memory"]["block"]) if given["memory"] else 0,
                "summary": count(given["summary"] or ""),
                "episodes": sum(count(episode["content"]) for episode in given["episodes"]),
                "history": sum(count(line["content"]) for line in given["history"]),
                "message": count("How did we round the invoices?"),
            }
            assert {name: account[name] for name in costs} == costs
            assert account["window"] == window == sum(costs.values()) + account["free"]
            assert account["free"] >= window // 10
            assert {name for name, cost in costs.items() if cost} <= {*parts, "message"}
            assert costs["summary"] + costs["episodes"] + costs["history"] <= int(window * 0.6)


def test_a_message_larger_than_the_window_is_told_by_less_than_nothing_left(agent: Agent) -> None:
    long_topic(agent, turns=2)
    given = agent.open("How did we do it?" + " word" * 1200, context={"window_tokens": 1000})["context"]
    assert (given["summary"], given["episodes"], given["history"]) == (None, [], [])
    account = given["tokens"]
    assert account["free"] < 0
    assert account["window"] == sum(account[name] for name in (*context.SPENT, "free"))


def test_a_long_topic_costs_one_query_more_and_a_question_about_the_past_two(agent: Agent) -> None:
    agent.turn("Round the invoices half up.", topic="bills")
    sum_up("bills")
    long_topic(agent)
    costs = []
    for message, window in (
        ("Next one.", 40_000),
        ("Next one.", 1000),
        ("How did we round invoices?", 40_000),
    ):
        with CaptureQueriesContext(connection) as queries:
            agent.open(message, context={"window_tokens": window})
        costs.append(len(queries))
    assert [cost - costs[0] for cost in costs] == [0, 1, 2]
