"""What turns are given while memories are switched off, deleted and purged under them."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connections

from chats import context
from chats.models import Chat
from memories import recall as recall_package
from memories import store
from memories.models import Memory, Recall, RecallBlock
from projects.actors import Actor
from tests.factories import make_memory
from tests.races.crowd import THREADS, Callers, at_once, rounds, told

if TYPE_CHECKING:
    from projects.models import Project
    from tests.chats.api.agent import Agent
    from tests.races.invariants import Rounds

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/projects/shop/memories/"


def test_what_is_switched_off_is_given_to_nobody_who_asks_afterwards(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    """Each thread switches a memory of its own off and on; each answer says what the next turn is given."""
    memories = [make_memory(project, f"Warehouse {place} closes at {place} o'clock.") for place in range(8)]

    def act(place: int, number: int) -> Any:
        agent, person, memory = callers.agents[place], callers.people[place], memories[place % 8]
        if place >= 8:
            return agent.send(memory.content, topic=f"other-{place}", ref=f"r-{number}")
        given = []
        for verb in ("disable", "enable"):
            person.post(f"{PATH}{memory.pk}/{verb}/")
            opened = agent.send(memory.content, topic=f"own-{place}", ref=f"{verb}-{number}")
            given.append(memory.pk in opened.json()["context"]["memory"]["refs"])
        return given

    for number in rounds():
        acts = [lambda place=place, number=number: act(place, number) for place in range(THREADS)]
        answers = at_once(*acts)
        assert answers[:8] == [[False, True]] * 8
        assert told(answers[8:]) == {(201, ""): 8}
        watched.look()


def test_a_purged_memory_is_left_in_no_block(callers: Callers, project: Project, watched: Rounds) -> None:
    for number in rounds():
        memory = make_memory(project, f"The safe {number} of the shop stands in the cellar.", always=True)

        def act(place: int, memory: Memory = memory, number: int = number) -> Any:
            if place == 5:
                return callers.people[place].post(f"{PATH}{memory.pk}/purge/")
            return callers.agents[place].send(
                f"Where is the safe {number} of the shop?", topic=f"conv-{place}", ref=f"r-{number}"
            )

        answers = at_once(*(lambda place=place: act(place) for place in range(THREADS)))
        assert told(answers) == {(201, ""): THREADS - 1, (204, ""): 1}
        assert not RecallBlock.objects.filter(text__contains=f"The safe {number} ").exists()
        assert not Memory.history.model.objects.filter(id=memory.pk).exists()
        watched.look()


@pytest.mark.parametrize("verb", ["purge", "delete"])
def test_what_goes_between_a_recall_and_its_record_is_not_given(
    agent: Agent, project: Project, monkeypatch: pytest.MonkeyPatch, watched: Rounds, verb: str
) -> None:
    gone = make_memory(project, "The safe of the shop stands in the cellar.")
    kept = make_memory(project, "The safe of the shop is green.")
    recall, left = context.recall, [gone]

    def recall_while_it_goes(*args: Any, **kwargs: Any) -> recall_package.RecallResult:
        result = recall(*args, **kwargs)
        if left:
            by = Actor.for_user(project.owner, transport="web")
            getattr(store, verb)(project=project, memory_id=left.pop().pk, by=by)
        return result

    monkeypatch.setattr(context, "recall", recall_while_it_goes)
    memory = agent.open("Where is the safe of the shop?")["context"]["memory"]
    assert memory["refs"] == [kept.pk]
    assert "cellar" not in memory["block"]
    assert Chat.objects.get().memory_refs == [kept.pk]
    assert list(RecallBlock.objects.values_list("text", flat=True)) == [memory["block"]]
    assert Recall.objects.count() == 1
    watched.look()


def test_a_project_that_deletes_faster_than_it_recalls_gives_nothing_and_says_so(
    agent: Agent, project: Project, monkeypatch: pytest.MonkeyPatch, watched: Rounds
) -> None:
    recall = context.recall

    def recall_while_all_goes(*args: Any, **kwargs: Any) -> recall_package.RecallResult:
        by = Actor.for_user(project.owner, transport="web")
        memory = make_memory(project, "The safe of the shop stands in the cellar.")
        result = recall(*args, **kwargs)
        store.purge(project=project, memory_id=memory.pk, by=by)
        return result

    monkeypatch.setattr(context, "recall", recall_while_all_goes)
    told = agent.open("Where is the safe of the shop?")["context"]
    assert (told["degraded"], told["memory"]["refs"], told["memory"]["block"]) == (["recall_failed"], [], "")
    assert RecallBlock.objects.count() == 0
    watched.look()


def test_contexts_asked_for_at_once_all_count_as_given(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    """Each thread makes a memory and asks anew: whatever an answer held stands in the turn's `memory_refs`."""
    for number in rounds():
        opened = callers.agents[0].open("Where are the doors?", topic=f"conv-{number}")["turn"]["id"]

        def act(place: int, opened: int = opened, number: int = number) -> Any:
            make_memory(project, f"Door {number}-{place} of the doors is locked at {place} o'clock.")
            return callers.agents[place].post(
                f"turns/{opened}/context/",
                {"message": f"Is door {number}-{place} locked at {place} o'clock?"},
            )

        answers = at_once(*(lambda place=place: act(place) for place in range(THREADS)))
        assert told(answers) == {(200, ""): THREADS}
        chat = Chat.objects.get(pk=opened)
        given = {ref for answer in answers for ref in answer.json()["context"]["memory"]["refs"]}
        assert given <= set(chat.memory_refs)
        assert len(chat.further) == THREADS
        watched.look()


def test_an_index_made_during_a_write_is_not_kept(project: Project) -> None:
    """Readers build indexes all the time while a writer adds; after each write, the next recall has it."""
    stop, failures = threading.Event(), []

    def read() -> None:
        try:
            while not stop.is_set():
                recall_package.recall(project, "Which boxes are there?")
        except Exception as error:
            failures.append(error)
        finally:
            connections.close_all()

    readers = [threading.Thread(target=read) for _ in range(6)]
    for reader in readers:
        reader.start()
    try:
        for number in range(20):
            memory = make_memory(project, f"Box {number} is one of the boxes.")
            refs = recall_package.recall(project, f"Which boxes are there, is box {number} there?").refs
            assert memory.pk in refs
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert failures == []
