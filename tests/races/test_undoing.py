"""The last change of a memory taken back while others change the memory, or take it back, too."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories import store
from memories.models import Memory, Tombstone
from tests.factories import make_memory
from tests.memories.test_store import learned, person, proposal
from tests.races.crowd import THREADS, Callers, rounds, told

if TYPE_CHECKING:
    from collections.abc import Callable

    from projects.models import Project
    from tests.races.invariants import Rounds

pytestmark = pytest.mark.django_db(transaction=True)
PATH = "/api/v1/projects/shop/memories/"
VERBS = ("undo", "purge", "undo", "undo")
REFUSED = {
    (404, "not_found"),
    (409, "wrong_status"),
    (409, "proposal_decided"),
    (409, "nothing_to_undo"),
    (409, "partner_changed"),
    (409, "target_changed"),
    (409, "key_taken"),
    (409, "content_taken"),
    (409, "selection_changed"),
    (412, "stale_memory"),
}


def test_of_many_who_undo_the_change_they_saw_one_does(
    callers: Callers, project: Project, watched: Rounds, deadlocks: Callable[[], list[str]]
) -> None:
    for number in rounds():
        memory = make_memory(project, f"Port of server {number} is 80.")
        store.edit(
            project=project,
            memory_id=memory.pk,
            changes={"content": f"Port of server {number} is 81."},
            by=person(project),
        )
        answers = callers.of_people(
            lambda someone, _, memory=memory: someone.post(f"{PATH}{memory.pk}/undo/", {"undoes_version": 2})
        )
        assert told(answers) == {(200, ""): 1, (412, "stale_memory"): THREADS - 1}
        memory.refresh_from_db()
        assert (memory.content, memory.version) == (f"Port of server {number} is 80.", 3)
        watched.look()
    assert deadlocks() == []


def test_undone_by_many_at_once_it_goes_back_and_forth_and_both_memories_agree(
    callers: Callers, project: Project, watched: Rounds, deadlocks: Callable[[], list[str]]
) -> None:
    for number in rounds():
        old = learned(project, f"Build {number} runs on Debian 11.")
        new = proposal(project, f"Build {number} runs on Debian 12.", replaces=old)
        store.confirm(project=project, memory_id=new.pk, by=person(project))
        pair = (old.pk, new.pk)
        answers = callers.of_people(
            lambda someone, place, pair=pair: someone.post(f"{PATH}{pair[place % 2]}/undo/")
        )
        assert told(answers) == {(200, ""): THREADS}
        old.refresh_from_db()
        new.refresh_from_db()
        assert (old.status, new.status) == ("superseded", "active"), (
            "undone and redone, an even number of times"
        )
        watched.look()
    assert deadlocks() == []


def test_whatever_is_done_to_memories_while_it_is_undone_their_stories_stay_whole(
    callers: Callers, project: Project, watched: Rounds, deadlocks: Callable[[], list[str]]
) -> None:
    for number in rounds():
        old = learned(project, f"Build {number} runs on Debian 11.")
        new = proposal(project, f"Build {number} runs on Debian 12.", replaces=old)
        other = make_memory(project, f"Port of server {number} is 80.")
        ids = [old.pk, new.pk, other.pk]

        def act(someone: Any, place: int, number: int = number, ids: list[int] = ids) -> Any:
            one, match = ids[place // 8 % 2], {"If-Match": "*"}
            path = f"{PATH}{one}/"
            match place % 8:
                case 0 | 1:
                    return someone.post(f"{path}undo/")
                case 2:
                    return someone.post(f"{PATH}{ids[1]}/confirm/")
                case 3:
                    content = f"Build {number} runs on Debian {20 + place}."
                    return someone.patch(path, {"content": content}, headers=match)
                case 4:
                    return someone.post(f"{path}{('disable', 'archive')[place // 8]}/")
                case 5:
                    return someone.delete(path, headers=match)
                case 6:
                    body = {"action": ("undo", "delete")[place // 8], "ids": ids}
                    return someone.post(f"{PATH}bulk/", body)
            return someone.post(
                f"{path}{('merge', 'restore')[place // 8]}/", ({"into": ids[2]}, {})[place // 8]
            )

        kinds = set(told(callers.of_people(act)))
        assert kinds - {(200, ""), (204, "")} <= REFUSED
        for one in ids:
            stones = Tombstone.objects.filter(memory_id=one).values_list("reason", flat=True)
            row = Memory.objects.filter(pk=one).first()
            gone = row is None
            assert list(stones) == (["deleted"] if gone else ["rejected"] if row.status == "rejected" else [])
        watched.look()
    assert deadlocks() == []


def test_what_is_purged_while_it_is_undone_is_gone(
    callers: Callers, project: Project, watched: Rounds, deadlocks: Callable[[], list[str]]
) -> None:
    for number in rounds():
        memory = make_memory(project, f"Port of server {number} is 80.")
        store.disable(project=project, memory_id=memory.pk, by=person(project))
        answers = callers.of_people(
            lambda someone, place, memory=memory: someone.post(f"{PATH}{memory.pk}/{VERBS[place % 4]}/")
        )
        assert set(told(answers)) <= {(200, ""), (204, ""), (404, "not_found")}
        assert not Memory.objects.filter(pk=memory.pk).exists()
        assert not Memory.history.filter(id=memory.pk).exists()
        assert list(Tombstone.objects.filter(memory_id=memory.pk).values_list("reason", flat=True)) == [
            "purged"
        ]
        watched.look()
    assert deadlocks() == []
