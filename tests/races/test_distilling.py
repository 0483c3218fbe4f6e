"""Workers that distil while people and agents change what they read and write."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from chats import distil
from chats.models import Chat, Instruction, Topic
from memories.models import Candidate, Extraction, Memory
from tests.chats.turns import opened, turn
from tests.memories.test_store import learned
from tests.races.crowd import THREADS, Callers, at_once, rounds, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from projects.models import Project
    from tests.races.invariants import Rounds

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/projects/shop/memories/"


def make_due() -> None:
    Topic.objects.filter(distil_pending=True).update(distil_due_at=timezone.now() - timedelta(seconds=1))


def work_off(topic_id: int) -> None:
    """What is still due after a round, as the sweep would find it."""
    make_due()
    while distil.run(topic_id):
        pass


def act_beside_workers(act: Any, topic_id: int, *, workers: int) -> list[Any]:
    """`act(place)` by all threads but the first few, which are workers; what the acts came to."""
    acts = [
        (lambda: distil.run(topic_id)) if place < workers else (lambda place=place: act(place))
        for place in range(THREADS)
    ]
    done = at_once(*acts)
    for worked in done[:workers]:
        if isinstance(worked, Exception):
            raise worked
    return done[workers:]


def test_turns_finished_while_many_workers_want_their_topic_are_read_once(
    callers: Callers, project: Project, watched: Rounds, deadlocks: Callable[[], list[str]]
) -> None:
    for number in rounds():
        first = turn(project, f"我们决定第 {number} 个页面用 Vue。", topic=f"topic-{number}")
        waiting = [
            opened(project, f"第 {place} 个问题：怎么排？", topic=f"topic-{number}") for place in range(8)
        ]
        make_due()

        def act(place: int, waiting: Any = waiting) -> Any:
            chat = waiting[place - 8].chat
            return callers.agents[place].post(
                f"turns/{chat.pk}/finish/", {"status": "succeeded", "reply": "好的。"}
            )

        answers = act_beside_workers(act, first.topic_id, workers=8)
        assert told(answers) == {(200, ""): 8}
        work_off(first.topic_id)
        runs = Extraction.objects.filter(topic_id=first.topic_id, status="succeeded")
        read = sorted(chat for run in runs for chat in run.chats_read)
        assert read == sorted([first.pk, *(one.chat.pk for one in waiting)])
        watched.look()
    assert deadlocks() == []


def test_a_memory_edited_while_a_run_would_replace_it_stays_a_persons(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        old = learned(project, f"第{number}张表格分页每页 10 条", type="constraint", key=f"table-{number}")
        chat = turn(project, f"以后第{number}张表格分页一律每页 20 条。", topic=f"topic-{number}")
        make_due()

        def act(place: int, old: Memory = old, number: int = number) -> Any:
            changes = {"content": f"第{number}张表格分页每页 {30 + place} 条"}
            return callers.people[place].patch(f"{PATH}{old.pk}/", changes, headers={"If-Match": "*"})

        kinds = told(act_beside_workers(act, chat.topic_id, workers=2))
        assert set(kinds) <= {(200, ""), (409, "wrong_status")}
        work_off(chat.topic_id)
        old.refresh_from_db()
        if kinds.get((200, "")):
            assert (old.status, old.authority) == ("active", "person"), "what a person wrote stays"
        assert Chat.objects.get(pk=chat.pk).extraction.status == "succeeded"
        watched.look()


def test_a_topic_deleted_while_it_is_distilled_leaves_no_quote(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        chat = turn(project, f"以后第{number}张表格分页一律每页 20 条。", topic=f"topic-{number}")
        make_due()

        def act(place: int, topic_id: int = chat.topic_id) -> Any:
            return callers.agents[place].client.delete(f"/api/v1/topics/{topic_id}/")

        kinds = told(act_beside_workers(act, chat.topic_id, workers=4))
        assert kinds == {(204, ""): 1, (404, "not_found"): THREADS - 5}
        assert not Topic.objects.filter(pk=chat.topic_id).exists()
        assert not Candidate.objects.exclude(quote="").exists()
        assert not Extraction.objects.exclude(raw_output="").exists()
        for memory in Memory.objects.filter(content__contains=f"第{number}张"):
            assert (memory.evidence, memory.source_chat_id, memory.source_topic_id) == ([], None, None)
        watched.look()


def test_a_rule_promoted_while_its_turn_is_distilled_becomes_one_memory(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        chat = turn(project, f"以后第{number}张表格分页一律每页 20 条。", topic=f"topic-{number}")
        rule = Instruction.objects.get(chat=chat)
        make_due()

        def act(place: int, rule: int = rule.pk) -> Any:
            return callers.people[place].post(f"/api/v1/instructions/{rule}/promote/")

        answers = act_beside_workers(act, chat.topic_id, workers=3)
        assert told(answers) == {(200, ""): THREADS - 3}
        work_off(chat.topic_id)
        memory = Memory.objects.live().get(content__contains=f"第{number}张表格")
        assert (memory.status, memory.authority) == ("active", "person")
        rule.refresh_from_db()
        assert (rule.state, rule.memory_id) == ("promoted", memory.pk)
        watched.look()


def test_what_is_switched_off_purged_or_deleted_during_a_run_does_not_come_back(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    verbs = ("disable", "purge", "delete")
    for number in rounds():
        verb = verbs[number % 3]
        memory = learned(project, f"第{number}张表格分页每页 20 条", type="constraint")
        chat = turn(project, f"以后第{number}张表格分页一律每页 20 条。", topic=f"topic-{number}")
        make_due()

        def act(place: int, memory: int = memory.pk, verb: str = verb) -> Any:
            path = f"{PATH}{memory}/"
            if verb == "delete":
                return callers.people[place].delete(path, headers={"If-Match": "*"})
            return callers.people[place].post(f"{path}{verb}/")

        kinds = told(act_beside_workers(act, chat.topic_id, workers=3))
        assert set(kinds) <= {(200, ""), (204, ""), (404, "not_found")}
        work_off(chat.topic_id)
        assert not Memory.objects.active().filter(content__contains=f"第{number}张表格").exists()
        watched.look()
