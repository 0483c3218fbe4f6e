"""The same memory written, decided on and changed by many at one moment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories.models import Memory, Tombstone
from tests.factories import make_memory
from tests.memories.test_store import proposal
from tests.races.crowd import THREADS, Callers, at_once, rounds, told

if TYPE_CHECKING:
    from projects.models import Project
    from tests.races.invariants import Rounds

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/projects/shop/memories/"
REST = THREADS - 1
# One for each round: what differs by a number alone would replace what the round before said.
SUBJECTS = ("orders", "carts", "coupons", "invoices", "returns", "suppliers")


def test_the_same_explicit_text_said_at_once_is_kept_once(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        text = f"Remember: list {number} shows {number + 20} rows."
        answers = callers.of_agents(
            lambda agent, place, text=text, number=number: agent.send(
                text, topic=f"conv-{number}-{place % 4}", ref=f"r-{number}-{place}"
            )
        )
        assert told(answers) == {(201, ""): THREADS}
        outcomes = sorted(answer.json()["remembered"][0]["outcome"] for answer in answers)
        assert outcomes == ["already_known"] * REST + ["stored"]
        assert len({answer.json()["remembered"][0]["memory"]["id"] for answer in answers}) == 1
        assert Memory.objects.live().count() == number + 1
        watched.look()


def test_values_of_one_subject_said_at_once_replace_each_other_and_one_is_left(
    callers: Callers, watched: Rounds
) -> None:
    for number in rounds():
        answers = callers.of_agents(
            lambda agent, place, number=number: agent.send(
                f"Remember: the {SUBJECTS[number]} table shows {place + 20} rows.",
                topic=f"conv-{number}-{place}",
                ref=f"r-{number}-{place}",
            )
        )
        assert told(answers) == {(201, ""): THREADS}
        outcomes = [answer.json()["remembered"][0]["outcome"] for answer in answers]
        assert sorted(outcomes) == ["replaced"] * REST + ["stored"]
        assert Memory.objects.active().count() == number + 1
        assert Memory.objects.filter(status="superseded").count() == (number + 1) * REST
        watched.look()


def test_one_key_written_at_once_is_given_once(callers: Callers, watched: Rounds) -> None:
    for number in rounds():
        answers = callers.of_people(
            lambda person, place, number=number: person.post(
                PATH,
                {"type": "fact", "key": f"key-{number}", "content": f"Server {number} has port {place}."},
            )
        )
        assert told(answers) == {(201, ""): 1, (409, "key_taken"): REST}
        holder = Memory.objects.get(key=f"key-{number}")
        named = {answer.json()["memory"]["id"] for answer in answers if answer.status_code == 409}
        assert named == {holder.pk}
        assert Memory.objects.count() == number + 1
        watched.look()


def test_keys_said_at_once_for_other_contents_differ(callers: Callers, watched: Rounds) -> None:
    """A key that nobody wrote down is derived from the subject, and gets a suffix where it is taken."""
    subjects = ["cents", "euros", "yen", "pounds", "francs", "crowns", "pesos", "rupees"] * 2
    for number in rounds():
        answers = callers.of_agents(
            lambda agent, place, number=number: agent.send(
                f"Remember: amounts of shop {number} use {subjects[place]} on page p{place}.",
                topic=f"conv-{number}-{place}",
                ref=f"r-{number}-{place}",
            )
        )
        assert told(answers) == {(201, ""): THREADS}
        watched.look()


def test_a_proposal_is_confirmed_once(callers: Callers, project: Project, watched: Rounds) -> None:
    for number in rounds():
        old = make_memory(project, f"Build {number} runs on Debian 11.")
        memory = proposal(project, f"Build {number} runs on Debian 12.", replaces=old)
        answers = callers.of_people(
            lambda person, _, memory=memory: person.post(f"{PATH}{memory.pk}/confirm/")
        )
        assert told(answers) == {(200, ""): 1, (409, "proposal_decided"): REST}
        old.refresh_from_db()
        memory.refresh_from_db()
        assert (old.status, old.version, memory.status, memory.version) == ("superseded", 2, "active", 2)
        watched.look()


def test_a_proposal_is_confirmed_or_rejected_never_both(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    verbs = ("confirm", "reject")
    for number in rounds():
        memory = proposal(project, f"Build {number} runs on Debian 12.")
        answers = callers.of_people(
            lambda person, place, memory=memory: person.post(f"{PATH}{memory.pk}/{verbs[place % 2]}/")
        )
        assert told(answers) == {(200, ""): 1, (409, "proposal_decided"): REST}
        won = verbs[[answer.status_code for answer in answers].index(200) % 2]
        memory.refresh_from_db()
        assert memory.status == {"confirm": "active", "reject": "rejected"}[won]
        assert Tombstone.objects.filter(memory_id=memory.pk).count() == (won == "reject")
        watched.look()


def test_of_edits_of_one_version_one_is_written(callers: Callers, project: Project, watched: Rounds) -> None:
    for number in rounds():
        memory = make_memory(project, f"Port of server {number} is 80.")
        answers = callers.of_people(
            lambda person, place, memory=memory, number=number: person.patch(
                f"{PATH}{memory.pk}/",
                {"content": f"Port of server {number} is {8000 + place}."},
                headers={"If-Match": '"1"'},
            )
        )
        assert told(answers) == {(200, ""): 1, (412, "stale_memory"): REST}
        written = next(answer.json()["content"] for answer in answers if answer.status_code == 200)
        memory.refresh_from_db()
        assert (memory.content, memory.version) == (written, 2)
        refused = [answer.json()["current"] for answer in answers if answer.status_code == 412]
        assert {(current["version"], current["content"]) for current in refused} == {(2, written)}
        watched.look()


def test_a_memory_is_edited_or_deleted_and_restored_as_somebody_saw_it(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        memory = make_memory(project, f"Port of server {number} is 80.")
        path = f"{PATH}{memory.pk}/"

        def act(person: Any, place: int, path: str = path, number: int = number) -> Any:
            match place % 3:
                case 0:
                    changes = {"content": f"Port of server {number} is {8000 + place}."}
                    return person.patch(path, changes, headers={"If-Match": "*"})
                case 1:
                    return person.delete(path, headers={"If-Match": "*"})
            return person.post(f"{path}restore/")

        kinds = told(callers.of_people(act))
        assert set(kinds) <= {(200, ""), (204, ""), (404, "not_found"), (409, "wrong_status")}
        stones = Tombstone.objects.filter(memory_id=memory.pk).count()
        assert stones == (not Memory.objects.filter(pk=memory.pk).exists())
        watched.look()


def test_what_is_merged_while_it_is_edited_keeps_one_story(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        first = make_memory(project, f"Port of server {number} is 80.")
        second = make_memory(project, f"Server {number} listens on port 80 only.")

        def act(
            person: Any, place: int, first: Memory = first, second: Memory = second, number: int = number
        ) -> Any:
            if place % 2:
                changes = {"content": f"Port of server {number} is {8000 + place}."}
                return person.patch(f"{PATH}{first.pk}/", changes, headers={"If-Match": "*"})
            return person.post(f"{PATH}{first.pk}/merge/", {"into": second.pk})

        kinds = told(callers.of_people(act))
        assert set(kinds) <= {(200, ""), (409, "wrong_status")}
        first.refresh_from_db()
        second.refresh_from_db()
        assert (first.status, second.status, second.version) == ("superseded", "active", 2), "merged once"
        watched.look()


def test_two_memories_merged_into_each_other_at_once_leave_one(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        pair = [
            make_memory(project, f"Port of server {number} is 80."),
            make_memory(project, f"Server {number} listens on port 80 only."),
        ]
        answers = callers.of_people(
            lambda person, place, pair=pair: person.post(
                f"{PATH}{pair[place % 2].pk}/merge/", {"into": pair[1 - place % 2].pk}
            )
        )
        assert told(answers) == {(200, ""): 1, (409, "wrong_status"): REST}
        pair_now = Memory.objects.filter(pk__in=[one.pk for one in pair])
        assert sorted(pair_now.values_list("status", flat=True)) == ["active", "superseded"]
        watched.look()


def test_a_selection_changed_by_an_edit_is_changed_as_a_whole_or_not_at_all(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        memories = [make_memory(project, f"Port of server {number}-{place} is 80.") for place in range(8)]
        ids = [memory.pk for memory in memories]
        body = {"action": "disable", "ids": ids}
        seen = callers.people[0].post(f"{PATH}bulk/", body | {"dry_run": True}).json()["selection"]

        def act(person: Any, place: int, ids: list[int] = ids, seen: str = seen, body: Any = body) -> Any:
            if place % 2:
                return person.post(f"{PATH}bulk/", body | {"selection": seen})
            return person.patch(f"{PATH}{ids[place // 2]}/", {"importance": 5}, headers={"If-Match": "*"})

        kinds = told(callers.of_people(act))
        assert set(kinds) <= {(200, ""), (409, "selection_changed")}
        statuses = set(Memory.objects.filter(pk__in=ids).values_list("status", flat=True))
        assert len(statuses) == 1
        # An edit that came first took every selection away, else exactly the first one was taken.
        assert kinds[200, ""] == THREADS // 2 + (statuses == {"disabled"})
        watched.look()


def test_bulk_changes_of_overlapping_selections_in_opposite_order_do_not_deadlock(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    ids = [make_memory(project, f"Port of server {place} is 80.").pk for place in range(12)]
    for number in rounds():
        action = ("disable", "enable")[number % 2]
        answers = callers.of_people(
            lambda person, place, action=action: person.post(
                f"{PATH}bulk/", {"action": action, "ids": ids[:: 1 if place % 2 else -1][: 8 + place % 4]}
            )
        )
        assert told(answers) == {(200, ""): THREADS}
        assert sum(answer.json()["changed"] for answer in answers) == len(
            set(ids[:8] + ids[:9] + ids[:11] + ids[::-1][:10])
        )
        watched.look()


def test_a_replacement_and_an_edit_of_its_target_leave_one_in_force(
    callers: Callers, project: Project, watched: Rounds
) -> None:
    for number in rounds():
        old = make_memory(project, f"Tables of page {number} show 20 rows.")

        def talk(place: int, number: int = number) -> Any:
            return lambda: callers.agents[place].send(
                f"Remember: tables of page {number} show 50 rows.",
                topic=f"conv-{number}-{place}",
                ref=f"r-{number}-{place}",
                author={"ref": "ana"},
            )

        def edit(place: int, old: Memory = old, number: int = number) -> Any:
            return lambda: callers.people[place].patch(
                f"{PATH}{old.pk}/",
                {"content": f"Tables of page {number} show {60 + place} rows."},
                headers={"If-Match": "*"},
            )

        acts = [talk(place) if place % 2 else edit(place) for place in range(THREADS)]
        kinds = told(at_once(*acts))
        assert set(kinds) <= {(201, ""), (200, ""), (409, "wrong_status")}
        in_force = Memory.objects.active().filter(content__contains=f"page {number} show")
        assert [memory.content for memory in in_force] == [f"tables of page {number} show 50 rows"]
        watched.look()
