"""Undoing and archiving over the API, and what each verb's answer says about taking it back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories import store
from memories.models import Memory, Tombstone
from projects.actors import Actor
from projects.models import AuditEvent, Project
from tests.factories import make_key, make_memory
from tests.memories.api.test_verbs import BULK, MEMORIES, do, statuses
from tests.memories.test_store import learned, person, proposal, traces

if TYPE_CHECKING:
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.memories.urls")]
SECRET = "The database password is Ab12cd34!x9Kq"


def take_back(client: APIClient, answer: Any) -> Any:
    undo = answer.json()["undo"]
    return client.generic(undo["method"], undo["path"], **_encoded(client, undo["body"]))


def _encoded(client: APIClient, body: dict[str, Any]) -> dict[str, Any]:
    data, content_type = client._encode_data(body, format="json")
    return {"data": data, "content_type": content_type}


@pytest.mark.parametrize(
    ("verb", "before", "after"),
    [
        ("disable", "active", "disabled"),
        ("enable", "disabled", "active"),
        ("confirm", "proposed", "active"),
        ("reject", "proposed", "rejected"),
        ("archive", "active", "archived"),
        ("archive", "proposed", "archived"),
        ("archive", "disabled", "archived"),
        ("restore", "archived", "active"),
    ],
)
def test_each_verb_says_how_it_is_taken_back(
    verb: str, before: str, after: str, ana: APIClient, project: Project
) -> None:
    memory = proposal(project)
    Memory.objects.filter(pk=memory.pk).update(status=before)
    # What a row was before is what its history says.
    memory.history.update(status=before)
    answer = do(ana, verb, memory)
    assert (answer.status_code, answer.json()["status"]) == (200, after)
    path = f"{MEMORIES}{memory.pk}/undo/"
    assert answer.json()["undo"] == {"method": "POST", "path": path, "body": {"undoes_version": 2}}
    back = take_back(ana, answer)
    assert (back.status_code, back.json()["status"], back.json()["authority"]) == (200, before, "automatic")
    assert back.json()["undo"]["body"] == {"undoes_version": 3}
    assert take_back(ana, back).json()["status"] == after


def test_a_merge_is_taken_back_at_the_one_that_stays(ana: APIClient, project: Project) -> None:
    source, target = (
        make_memory(project, "Amounts are in cents."),
        make_memory(project, "All amounts: cents."),
    )
    answer = do(ana, "merge", source, {"into": target.pk})
    assert statuses(source, target) == ["superseded", "active"]
    assert take_back(ana, answer).status_code == 200
    assert statuses(source, target) == ["active", "active"]


def test_whoever_undoes_something_older_than_they_saw_is_shown_what_is_now(
    ana: APIClient, project: Project
) -> None:
    memory = make_memory(project)
    answer = do(ana, "disable", memory)
    do(ana, "enable", memory)
    stale = take_back(ana, answer)
    assert (stale.status_code, stale.json()["code"], stale.json()["current"]["version"]) == (
        412,
        "stale_memory",
        3,
    )
    assert statuses(memory) == ["active"]


def test_a_memory_whose_coming_is_undone_is_gone_and_comes_back_the_same_way(
    ana: APIClient, project: Project
) -> None:
    memory = make_memory(project)
    answer = do(ana, "undo", memory, {"reason": "not meant"})
    assert (answer.status_code, answer.content, statuses(memory)) == (204, b"", ["gone"])
    assert Tombstone.objects.get().memory_id == memory.pk
    back = do(ana, "undo", memory)
    assert (back.status_code, back.json()["id"], back.json()["content"]) == (200, memory.pk, memory.content)
    assert not Tombstone.objects.exists()


def test_a_deleted_memory_is_undeleted(ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    ana.delete(f"{MEMORIES}{memory.pk}/", headers={"If-Match": "*"})
    assert statuses(memory) == ["gone"]
    assert do(ana, "undo", memory).status_code == 200
    assert statuses(memory) == ["active"]


def test_refusals_have_codes_of_their_own(ana: APIClient, project: Project) -> None:
    old, new = learned(project, "The port is 5432.", key="port"), None
    new = proposal(project, "The port is 5433.", key="port", replaces=old)
    do(ana, "confirm", new)
    do(ana, "disable", new)
    answer = do(ana, "undo", old)
    body = answer.json()
    assert (answer.status_code, body["code"], body["partner"]) == (409, "partner_changed", new.pk)
    make_memory(project).history.update(change="", action="merge")
    last = Memory.objects.latest("pk")
    answer = do(ana, "undo", last)
    assert (answer.status_code, answer.json()["code"]) == (409, "nothing_to_undo")
    assert do(ana, "undo", Memory(pk=last.pk + 1)).status_code == 404


def test_an_agent_undoes_what_it_did_and_is_offered_nothing_else(writer: APIClient, project: Project) -> None:
    memory = learned(project)
    # It is in force already, and that was a worker's doing.
    assert do(writer, "enable", memory).json()["undo"] is None
    answer = do(writer, "disable", memory)
    assert answer.json()["undo"] is not None
    assert take_back(writer, answer).json()["status"] == "active"
    by = person(project)
    store.edit(project=project, memory_id=memory.pk, changes={"importance": 2}, by=by)
    before = traces(project)[:2]
    answer = do(writer, "undo", memory)
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert traces(project)[:2] == before
    other = learned(project, "Lists show 20 rows.")
    store.disable(project=project, memory_id=other.pk, by=by)
    assert do(writer, "archive", other).json()["code"] == "role_missing"
    assert statuses(other) == ["disabled"]


# --- edit and confirm --------------------------------------------------------------------------------------


def test_a_proposal_is_changed_and_confirmed_in_one_step_and_goes_back_in_one(
    ana: APIClient, project: Project
) -> None:
    memory = proposal(project, "Builds run on Debian 12.")
    body = {"changes": {"content": "Builds run on Debian 13.", "importance": 4}, "reason": "moved on"}
    answer = do(ana, "confirm", memory, body)
    told = answer.json()
    assert (answer.status_code, told["status"], told["content"], told["importance"], told["version"]) == (
        200,
        "active",
        "Builds run on Debian 13.",
        4,
        3,
    )
    rows = memory.history.order_by("history_id").values_list("action", "history_change_reason")
    assert list(rows) == [("create", None), ("edit", "moved on"), ("confirm", "moved on")]
    back = take_back(ana, answer).json()
    assert (back["status"], back["content"], back["importance"], back["authority"]) == (
        "proposed",
        "Builds run on Debian 12.",
        3,
        "automatic",
    )


@pytest.mark.parametrize(
    ("changes", "status", "code", "pointer"),
    [
        pytest.param({"content": SECRET}, 422, "secret_found", "/changes/content", id="secret"),
        pytest.param({"keywords": ["a", SECRET]}, 422, "secret_found", "/changes/keywords/1", id="in a list"),
        pytest.param({"content": ""}, 400, "invalid", "/changes/content", id="empty"),
        pytest.param({"colour": "blue"}, 400, "unknown_field", "/changes/colour", id="unknown"),
        pytest.param({"reason": "x"}, 400, "unknown_field", "/changes/reason", id="a reason of its own"),
    ],
)
def test_what_may_not_be_confirmed_so_is_said_at_its_place_and_stays_proposed(
    changes: dict[str, Any], status: int, code: str, pointer: str, ana: APIClient, project: Project
) -> None:
    memory = proposal(project)
    before = traces(project)[:2]
    answer = do(ana, "confirm", memory, {"changes": changes})
    body = answer.json()
    assert (answer.status_code, body["code"], body["errors"][0]["pointer"]) == (status, code, pointer)
    assert (statuses(memory), traces(project)[:2]) == (["proposed"], before)


def test_of_two_approvals_one_counts(ana: APIClient, project: Project) -> None:
    memory = proposal(project)
    codes = [do(ana, "confirm", memory).status_code, do(ana, "confirm", memory).status_code]
    assert codes == [200, 409]
    late = do(ana, "confirm", memory, {"changes": {"content": "Something else."}})
    assert (late.status_code, late.json()["code"]) == (409, "proposal_decided")
    assert memory.history.filter(action="confirm").count() == 1
    memory.refresh_from_db()
    assert memory.content == "Builds run on Debian 12."


# --- many at once ------------------------------------------------------------------------------------------


def test_more_than_a_page_of_them_are_deleted_and_come_back(ana: APIClient, project: Project) -> None:
    for number in range(60):
        make_memory(project, f"Shelf {number} holds {number + 7} boxes.", key=f"shelf {number}")
    body = {"action": "delete", "filter": {"status": ["active"]}}
    answer = ana.post(BULK, body)
    assert (answer.status_code, answer.json()["changed"], Memory.objects.count()) == (200, 60, 0)
    assert Tombstone.objects.count() == 60
    assert AuditEvent.objects.filter(action="memory.delete").count() == 60
    undo = answer.json()["undo"]
    assert ana.post(undo["path"], undo["body"]).json()["changed"] == 60
    assert (Memory.objects.count(), Tombstone.objects.count()) == (60, 0)


@pytest.mark.parametrize(
    ("action", "after"), [("confirm", "active"), ("reject", "rejected"), ("archive", "archived")]
)
def test_decisions_on_many_go_back_as_long_as_nothing_came_after(
    action: str, after: str, ana: APIClient, project: Project
) -> None:
    waiting = [proposal(project, f"Rule number {number} of the shop.") for number in range(2)]
    body = ana.post(BULK, {"action": action, "filter": {"status": ["proposed"]}}).json()
    assert (body["changed"], statuses(*waiting)) == (2, [after, after])
    undo = body["undo"]
    assert undo["body"].keys() == {"action", "ids", "selection"}
    assert (undo["body"]["action"], undo["body"]["ids"]) == ("undo", [memory.pk for memory in waiting])
    back = ana.post(undo["path"], undo["body"]).json()
    assert (back["changed"], statuses(*waiting)) == (2, ["proposed", "proposed"])
    assert not Tombstone.objects.exists()


def test_what_changed_since_a_decision_stays(ana: APIClient, project: Project) -> None:
    waiting = [proposal(project, f"Rule number {number} of the shop.") for number in range(2)]
    undo = ana.post(BULK, {"action": "confirm", "filter": {"status": ["proposed"]}}).json()["undo"]
    store.edit(project=project, memory_id=waiting[0].pk, changes={"importance": 5}, by=person(project))
    answer = ana.post(undo["path"], undo["body"])
    assert (answer.status_code, answer.json()["code"]) == (409, "selection_changed")
    assert statuses(*waiting) == ["active", "active"]
    store.undo(project=project, memory_id=waiting[0].pk, by=person(project))
    again = ana.post(BULK, {"action": "undo", "ids": [waiting[1].pk]})
    assert (again.json()["changed"], statuses(*waiting)) == (1, ["active", "proposed"])


def test_agents_undo_many_of_their_own_and_no_persons(writer: APIClient, project: Project) -> None:
    mine, theirs = learned(project), learned(project, "Lists show 20 rows.")
    key = Actor.for_key(make_key(project)[0])
    store.disable(project=project, memory_id=theirs.pk, by=key)
    do(writer, "disable", mine)
    answer = writer.post(BULK, {"action": "undo", "ids": [mine.pk, theirs.pk]})
    assert (answer.status_code, answer.json()["code"]) == (409, "selection_changed")
    assert statuses(mine, theirs) == ["disabled", "disabled"]
    assert writer.post(BULK, {"action": "undo", "ids": [mine.pk]}).json()["changed"] == 1
    assert statuses(mine, theirs) == ["active", "disabled"]
