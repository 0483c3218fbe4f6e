"""Turns opened, continued and finished at the same moment."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from chats import endings, topics, turns
from chats.models import Chat, Instruction, Topic
from memories.models import Memory, Recall
from projects.actors import Actor
from projects.models import AuditEvent, Project
from projects.store import delete_project
from tests.factories import make_memory
from tests.races.crowd import THREADS, Callers, at_once, rounds, told
from tests.races.invariants import assert_gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.chats.api.agent import Agent
    from tests.races.invariants import Rounds

pytestmark = pytest.mark.django_db(transaction=True)
REST = THREADS - 1


def test_the_same_opening_sent_at_once_makes_one_turn(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        text = f"Remember: list {number} shows {number + 20} rows."
        answers = callers.of_agents(
            lambda agent, _, text=text, number=number: agent.send(text, topic=f"new-{number}", ref="r")
        )
        assert told(answers) == {(201, ""): 1, (200, ""): REST}
        chat = Chat.objects.get(topic__ref=f"new-{number}")
        assert {answer.json()["turn"]["id"] for answer in answers} == {chat.pk}
        assert {answer.json()["remembered"][0]["outcome"] for answer in answers} == {"stored"}
        assert (Memory.objects.count(), Recall.objects.filter(chat=chat, error="").count() >= 1) == (
            number + 1,
            True,
        )
        watched.look()


def test_one_ref_for_two_messages_belongs_to_the_first(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        answers = callers.of_agents(
            lambda agent, place, number=number: agent.send(
                f"Build page {place % 2}.", topic=f"new-{number}", ref="r"
            )
        )
        half = THREADS // 2
        assert told(answers) == {
            (201, ""): 1,
            (200, ""): half - 1,
            (422, "idempotency_key_reused"): half,
        }
        assert Chat.objects.filter(topic__ref=f"new-{number}").count() == 1
        watched.look()


def test_openings_of_one_topic_at_once_get_a_number_each(callers: Callers, watched: Rounds) -> None:
    """Half of them say something to remember, so that they lock the project first; the others only their topic."""
    for number in rounds():
        answers = callers.of_agents(
            lambda agent, place, number=number: agent.send(
                "Build it." if place % 2 else f"Remember: list {number}-{place} shows 20 rows.",
                topic=f"new-{number}",
                ref=f"r-{place}",
            )
        )
        assert told(answers) == {(201, ""): THREADS}
        assert sorted(answer.json()["turn"]["seq"] for answer in answers) == list(range(1, THREADS + 1))
        assert [answer.json()["turn"]["topic"]["created"] for answer in answers].count(True) == 1
        watched.look()


def test_different_endings_sent_at_once_leave_one(callers: Callers, watched: Rounds) -> None:
    endings = ("succeeded", "failed", "cancelled")
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]
        answers = callers.of_agents(
            lambda agent, place, turn=turn: agent.post(
                f"turns/{turn}/finish/", {"status": endings[place % 3], "reply": f"Answer {place}."}
            )
        )
        assert told(answers) == {(200, ""): 1, (409, "turn_already_finished"): REST}
        won = [answer.status_code for answer in answers].index(200)
        chat = Chat.objects.get(pk=turn)
        assert (chat.status, chat.reply) == (endings[won % 3], f"Answer {won}.")
        refused = [answer.json()["turn"]["status"] for answer in answers if answer.status_code == 409]
        assert set(refused) == {chat.status}
        assert Topic.objects.get(pk=chat.topic_id).distil_pending is (chat.status == "succeeded")
        watched.look()


def test_the_same_ending_sent_at_once_is_repeated(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]
        steps = [{"agent": "editor", "ref": "s-1", "reply": "Written."}, {"agent": "tester"}]
        answers = callers.of_agents(
            lambda agent, _, turn=turn, steps=steps: agent.post(
                f"turns/{turn}/finish/", {"status": "succeeded", "reply": "Done.", "steps": steps}
            )
        )
        assert told(answers) == {(200, ""): THREADS}
        assert sorted(answer.json()["repeated"] for answer in answers) == [False] + [True] * REST
        assert Chat.objects.filter(parent=turn).count() == 2
        watched.look()


def test_an_ending_that_comes_while_the_turn_is_given_up_is_kept(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]
        Chat.objects.filter(pk=turn).update(touched_at=timezone.now() - timedelta(hours=3))

        def act(place: int, turn: int = turn) -> Any:
            if place % 2:
                return endings.give_up_abandoned(now=timezone.now())
            return callers.agents[place].post(
                f"turns/{turn}/finish/", {"status": "succeeded", "reply": "Done."}
            )

        answers = at_once(*(lambda place=place: act(place) for place in range(THREADS)))
        assert told(answers[::2]) == {(200, ""): THREADS // 2}
        assert sum(answers[1::2]) <= 1
        assert Chat.objects.get(pk=turn).status == "succeeded"
        watched.look()


def test_steps_sent_at_once_get_a_position_each(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]
        answers = callers.of_agents(
            lambda agent, place, turn=turn: agent.post(f"turns/{turn}/steps/", {"agent": f"a{place}"})
        )
        assert told(answers) == {(201, ""): THREADS}
        assert sorted(answer.json()["step"]["position"] for answer in answers) == list(range(1, THREADS + 1))
        watched.look()


def test_a_step_reported_at_once_is_stored_once(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]
        answers = callers.of_agents(
            lambda agent, _, turn=turn: agent.post(f"turns/{turn}/steps/", {"agent": "a", "ref": "s-1"})
        )
        assert told(answers) == {(201, ""): 1, (200, ""): REST}
        assert Chat.objects.filter(parent=turn).count() == 1
        watched.look()


def test_further_messages_at_once_are_all_heard_and_each_answer_tells_its_own(
    callers: Callers, watched: Rounds
) -> None:
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]

        def text(place: int, number: int = number) -> str:
            return f"Remember: list {number}-{place} shows {place + 20} rows."

        answers = callers.of_agents(
            lambda agent, place, turn=turn, text=text: agent.post(
                f"turns/{turn}/context/", {"message": text(place)}
            )
        )
        assert told(answers) == {(200, ""): THREADS}
        for place, answer in enumerate(answers):
            contents = [item["memory"]["content"] for item in answer.json()["remembered"]]
            assert contents == [f"list {number}-{place} shows {place + 20} rows"]
        chat = Chat.objects.get(pk=turn)
        assert sorted(entry["text"] for entry in chat.further) == sorted(map(text, range(THREADS)))
        assert len(chat.explicit["remembered"]) == THREADS
        watched.look()


def test_a_message_heard_while_its_turn_ends_is_answered_for(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]

        def act(agent: Agent, place: int, turn: int = turn, number: int = number) -> Any:
            if place == 7:
                return agent.post(f"turns/{turn}/finish/", {"status": "succeeded", "reply": "Done."})
            message = f"Remember: list {number}-{place} shows {place + 20} rows."
            return agent.post(f"turns/{turn}/context/", {"message": message})

        kinds = told(callers.of_agents(act))
        assert set(kinds) <= {(200, ""), (409, "turn_already_finished")}
        kept = Memory.objects.filter(content__startswith=f"list {number}-").count()
        assert kept == kinds[200, ""] - 1, "what was heard is said to be, what is refused was not heard"
        watched.look()


@pytest.mark.parametrize("kind", ["opening", "steps", "contexts", "endings"])
def test_what_is_said_to_be_remembered_meets_no_deadlock_in_its_topic(
    callers: Callers, watched: Rounds, deadlocks: Callable[[], list[str]], kind: str
) -> None:
    """Memories are written with the project locked first; whatever adds rows to the same topic must do alike."""
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]
        others = openings(callers, number) if kind == "endings" else []

        def act(
            agent: Agent, place: int, turn: int = turn, others: list[int] = others, number: int = number
        ) -> Any:
            if place % 2:
                message = f"Remember: list {number}-{place} shows {place + 20} rows."
                return agent.post(f"turns/{turn}/context/", {"message": message})
            match kind:
                case "opening":
                    return agent.send("Show the list.", topic=f"conv-{number}", ref=f"r-{place}")
                case "steps":
                    return agent.post(f"turns/{turn}/steps/", {"agent": f"a{place}"})
                case "endings":
                    ending = {"status": "succeeded", "reply": "Done."}
                    return agent.post(f"turns/{others[place // 2]}/finish/", ending)
            return agent.post(f"turns/{turn}/context/")

        assert set(told(callers.of_agents(act))) <= {(200, ""), (201, "")}
        watched.look()
    assert deadlocks() == []


def openings(callers: Callers, number: int) -> list[int]:
    """Turns of the round's topic that are to end."""
    return [
        callers.agents[0].open("Build it.", topic=f"conv-{number}", ref=f"e-{place}")["turn"]["id"]
        for place in range(THREADS // 2)
    ]


@pytest.mark.parametrize(
    "verbs",
    [
        pytest.param(("dismiss", "promote"), id="taken back"),
        pytest.param(("complete", "promote"), id="ended"),
        pytest.param(("dismiss", "complete", "promote", "promote"), id="both"),
    ],
)
def test_a_rule_is_taken_back_or_promoted_and_ends_with_its_topic(
    callers: Callers, project: Project, watched: Rounds, verbs: tuple[str, ...]
) -> None:
    for number in rounds():
        opened = callers.agents[0].open(f"From now on use tool{number} for packages.", topic=f"conv-{number}")
        topic_id = opened["turn"]["topic"]["id"]
        rule = Instruction.objects.get(topic_id=topic_id)
        callers.agents[0].finish(opened["turn"]["id"])

        def act(person: Any, place: int, rule: int = rule.pk, topic_id: int = topic_id) -> Any:
            match verbs[place % len(verbs)]:
                case "complete":
                    return person.post(f"/api/v1/topics/{topic_id}/complete/")
                case verb:
                    return person.post(f"/api/v1/instructions/{rule}/{verb}/")

        kinds = told(callers.of_people(act))
        assert set(kinds) <= {(200, ""), (409, "wrong_status")}
        rule.refresh_from_db()
        assert rule.state in {"dismiss": ("dismissed",), "complete": ("ended",)}.get(
            verbs[0] if len(verbs) == 2 else "", ("dismissed", "ended")
        )
        dismissals = AuditEvent.objects.filter(action="instruction.dismiss", target_id=rule.pk).count()
        assert dismissals == (rule.state == "dismissed")
        is_completed = Topic.objects.get(pk=topic_id).status == "completed"
        assert is_completed is ("complete" in verbs)
        assert Memory.objects.filter(content__contains=f"tool{number} ").count() <= 1
        watched.look()


def test_a_topic_deleted_under_its_turns_takes_them_along_and_leaves_its_memories(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        opened = callers.agents[0].open(
            f"Remember: list {number} shows 20 rows. From now on use pnpm.", topic=f"conv-{number}"
        )
        turn, topic_id = opened["turn"]["id"], opened["turn"]["topic"]["id"]
        by = Actor.for_user(project.owner, transport="web")

        def act(
            agent: Agent, place: int, turn: int = turn, topic_id: int = topic_id, number: int = number
        ) -> Any:
            match place % 5:
                case 0:
                    return agent.send(f"Show page {place}.", topic=f"conv-{number}", ref=f"r-{place}")
                case 1:
                    message = f"From now on use tool{place} for packages."
                    return agent.post(f"turns/{turn}/context/", {"message": message})
                case 2:
                    return agent.post(f"turns/{turn}/steps/", {"agent": f"a{place}"})
                case 3:
                    return agent.post(f"turns/{turn}/finish/", {"status": "succeeded", "reply": "Done."})
            return agent.client.delete(f"/api/v1/topics/{topic_id}/")

        kinds = told(callers.of_agents(act))
        assert set(kinds) <= {
            (200, ""),
            (201, ""),
            (204, ""),
            (404, "not_found"),
            (409, "turn_already_finished"),
        }
        assert not Topic.objects.filter(pk=topic_id).exists()
        assert kinds[204, ""] >= 1
        # An opening that came afterwards began the topic anew.
        assert Topic.objects.filter(ref=f"conv-{number}").count() <= 1
        for topic in Topic.objects.filter(ref=f"conv-{number}"):
            topics.delete_topic(project=project, topic_id=topic.pk, by=by)
        kept = Memory.objects.get(content__contains=f"list {number} shows")
        assert (kept.source_chat_id, kept.source_topic_id, kept.evidence) == (None, None, [])
        watched.look()


def test_a_project_deleted_under_its_turns_leaves_no_row(callers: Callers, project: Project) -> None:
    opened = callers.agents[0].open("From now on use pnpm. Remember: lists show 20 rows.")
    turn, topic_id = opened["turn"]["id"], opened["turn"]["topic"]["id"]
    make_memory(project, "Doors are locked at night.")

    def act(agent: Agent, place: int) -> Any:
        match place % 5:
            case 0:
                return agent.send("Are doors locked?", topic=f"other-{place}", ref="r")
            case 1:
                message = f"From now on use tool{place} for packages."
                return agent.post(f"turns/{turn}/context/", {"message": message})
            case 2:
                return agent.send(f"Remember: list {place} shows 20 rows.", topic="conv-1", ref=f"r-{place}")
            case 3:
                return agent.post(f"turns/{turn}/finish/", {"status": "succeeded", "reply": "Done."})
        if place == 9:
            by = Actor.for_user(project.owner, transport="web")
            return delete_project(project=Project.objects.get(pk=project.pk), by=by)
        return agent.post(f"topics/{topic_id}/complete/")

    answers = at_once(
        *(lambda place=place, agent=agent: act(agent, place) for place, agent in enumerate(callers.agents))
    )
    assert answers[9] is None
    kinds = told([answer for place, answer in enumerate(answers) if place != 9])
    # A key that went with its project is unknown.
    assert set(kinds) <= {
        (200, ""),
        (201, ""),
        (404, "not_found"),
        (401, "key_invalid"),
        (409, "turn_already_finished"),
    }
    assert_gone(project.pk)


def test_opening_a_turn_of_a_project_that_goes_at_that_moment_finds_nothing(
    callers: Callers, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = turns._read

    def deleting(*args: Any) -> Any:
        delete_project(project=project, by=Actor.for_user(project.owner, transport="web"))
        return read(*args)

    monkeypatch.setattr(turns, "_read", deleting)
    answer = callers.agents[0].send("Build it.")
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert_gone(project.pk)
