"""One `Idempotency-Key` sent by many at one moment."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from memories import store
from memories.models import Memory, Tombstone
from projects.actors import Actor
from projects.http import idempotency
from projects.models import IdempotencyRecord
from tests.factories import make_memory
from tests.races.crowd import THREADS, Callers, rounds, told

if TYPE_CHECKING:
    from projects.models import Project
    from tests.races.invariants import Rounds

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "projects/shop/memories/"
IN_PROGRESS = (409, "request_in_progress")


def body(number: int, **changes: Any) -> dict[str, Any]:
    return {"type": "fact", "key": f"key-{number}", "content": f"Server {number} runs Debian."} | changes


def test_a_request_sent_many_times_at_once_happens_once(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        answers = callers.of_agents(
            lambda agent, _, number=number: agent.post(
                PATH, body(number), **{"Idempotency-Key": f"k-{number}"}
            )
        )
        assert set(told(answers)) <= {(201, ""), IN_PROGRESS}
        first = [answer for answer in answers if answer.status_code == 201 and not replayed(answer)]
        assert len(first) == 1
        assert all(answer["Retry-After"] == "1" for answer in answers if answer.status_code == 409)
        assert Memory.objects.count() == number + 1
        again = callers.agents[0].post(PATH, body(number), **{"Idempotency-Key": f"k-{number}"})
        assert (again.status_code, replayed(again), again.json()) == (201, True, first[0].json())
        watched.look()


def test_of_two_requests_under_one_key_one_happens(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        answers = callers.of_agents(
            lambda agent, place, number=number: agent.post(
                PATH,
                body(number, content=f"Server {number} runs system {place % 2}."),
                **{"Idempotency-Key": f"k-{number}"},
            )
        )
        kinds = told(answers)
        assert set(kinds) <= {(201, ""), IN_PROGRESS, (422, "idempotency_key_reused")}
        assert kinds[422, "idempotency_key_reused"] >= 1
        assert Memory.objects.count() == number + 1
        watched.look()


def test_a_refused_request_leaves_its_key_free_however_many_send_it(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        make_memory(project, f"Server {number} runs Fedora.", key=f"key-{number}")
        answers = callers.of_people(
            lambda person, _, number=number: person.post(
                f"/api/v1/{PATH}", body(number), headers={"Idempotency-Key": f"k-{number}"}
            )
        )
        kinds = told(answers)
        assert set(kinds) <= {(409, "key_taken"), IN_PROGRESS}
        assert kinds[409, "key_taken"] >= 1
        assert IdempotencyRecord.objects.count() == 0
        assert Memory.objects.count() == number + 1
        watched.look()


def test_a_claim_whose_process_died_is_taken_over_by_one(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        key = {"Idempotency-Key": f"k-{number}"}
        callers.agents[0].post(PATH, body(number), **key)
        first = Memory.objects.get(key=f"key-{number}")
        by = Actor.for_user(watched.project.owner, transport="web")
        store.purge(project=watched.project, memory_id=first.pk, by=by)
        # As if it had never been: an agent does not bring back what was purged.
        Tombstone.objects.filter(memory_id=first.pk).delete()
        IdempotencyRecord.objects.filter(result={"memory": first.pk}).update(
            status=None, result={}, created_at=timezone.now() - timedelta(seconds=idempotency.CLAIM_S)
        )
        happens_once(callers, number, key)
        watched.look()


def test_a_key_whose_day_is_over_is_taken_by_one(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        key = {"Idempotency-Key": f"k-{number}"}
        callers.agents[0].post(
            PATH, body(number, key=f"old-{number}", content=f"Box {number} is red."), **key
        )
        IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
        happens_once(callers, number, key)
        watched.look()


def happens_once(callers: Callers, number: int, key: dict[str, str]) -> None:
    answers = callers.of_agents(lambda agent, _: agent.post(PATH, body(number), **key))
    assert set(told(answers)) <= {(201, ""), IN_PROGRESS}
    assert sum(answer.status_code == 201 and not replayed(answer) for answer in answers) == 1
    assert Memory.objects.filter(key=f"key-{number}").count() == 1


def replayed(answer: Any) -> bool:
    return answer.headers.get("Idempotent-Replayed") == "true"


def test_a_turn_ended_with_a_key_and_without_at_once_ends_once(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        turn = callers.agents[0].open("Build it.", topic=f"conv-{number}")["turn"]["id"]
        ending = {"status": "succeeded", "reply": "Done."}
        answers = callers.of_agents(
            lambda agent, place, turn=turn, ending=ending: agent.post(
                f"turns/{turn}/finish/", ending, **({"Idempotency-Key": f"k-{turn}"} if place % 2 else {})
            )
        )
        kinds = told(answers)
        assert set(kinds) <= {(200, ""), IN_PROGRESS}
        assert kinds[200, ""] >= THREADS // 2
        firsts = [
            answer
            for answer in answers
            if answer.status_code == 200 and not answer.json()["repeated"] and not replayed(answer)
        ]
        assert len(firsts) == 1
        watched.look()
