"""What is done to memories over the API: one at a time, and many at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories import store
from memories.models import Memory, Source, Status, Tombstone
from projects.models import AuditEvent, Project
from tests.factories import make_key, make_memory, make_project
from tests.memories.test_store import learned, person, proposal, quote, traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.memories.urls")]
MEMORIES = "/api/v1/projects/shop/memories/"
BULK = f"{MEMORIES}bulk/"


def do(
    client: APIClient, verb: str, memory: Memory, body: dict[str, Any] | None = None, **headers: str
) -> Any:
    names = {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(f"{MEMORIES}{memory.pk}/{verb}/", body or {}, headers=names)


def statuses(*memories: Memory) -> list[str]:
    found = Memory.objects.in_bulk([memory.pk for memory in memories])
    return [found[memory.pk].status if memory.pk in found else "gone" for memory in memories]


# --- One memory --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("verb", "before", "after"),
    [
        ("disable", "active", "disabled"),
        ("enable", "disabled", "active"),
        ("confirm", "proposed", "active"),
        ("reject", "proposed", "rejected"),
        ("restore", "rejected", "active"),
        ("restore", "archived", "active"),
        ("restore", "superseded", "active"),
    ],
)
def test_a_verb_answers_with_the_memory_as_it_is_now(
    verb: str, before: str, after: str, ana: APIClient, project: Project
) -> None:
    memory = learned(project)
    Memory.objects.update(status=before)
    answer = do(ana, verb, memory, {"reason": "because"})
    body = answer.json()
    assert (answer.status_code, answer["ETag"], body["id"], body["status"]) == (200, '"2"', memory.pk, after)
    assert body == ana.get(f"{MEMORIES}{memory.pk}/").json() | {"undo": body["undo"]}
    assert body["confirmed_by"] == (project.owner.username if verb != "reject" else None)
    event = AuditEvent.objects.get(action=f"memory.{verb}")
    assert (event.reason, event.transport, event.user_id) == ("because", "api", project.owner.pk)


@pytest.mark.parametrize(
    ("verb", "status", "code"),
    [
        ("disable", "proposed", "wrong_status"),
        ("enable", "superseded", "wrong_status"),
        ("confirm", "active", "proposal_decided"),
        ("reject", "rejected", "proposal_decided"),
        ("restore", "active", "wrong_status"),
    ],
)
def test_a_verb_that_does_not_apply_names_the_memory(
    verb: str, status: str, code: str, ana: APIClient, project: Project
) -> None:
    memory = learned(project)
    Memory.objects.update(status=status)
    before = traces(project)[:2]
    answer = do(ana, verb, memory)
    assert (answer.status_code, answer.json()["code"]) == (409, code)
    assert (answer.json()["memory"]["id"], answer.json()["memory"]["status"]) == (memory.pk, status)
    assert traces(project)[:2] == before


def test_if_match_is_heeded_where_it_is_sent(ana: APIClient, project: Project) -> None:
    memory = proposal(project)
    store.edit(project=project, memory_id=memory.pk, changes={"content": "Other."}, by=person(project))
    stale = do(ana, "confirm", memory, If_Match='"1"')
    assert (stale.status_code, stale.json()["code"]) == (412, "stale_memory")
    assert stale.json()["current"]["content"] == "Other."
    assert statuses(memory) == ["proposed"]
    assert do(ana, "confirm", memory, If_Match='"2"').status_code == 200


def test_a_verb_sent_again_happens_once(ana: APIClient, project: Project) -> None:
    memory = proposal(project)
    first, again = (do(ana, "confirm", memory, Idempotency_Key="k") for _ in range(2))
    assert (first.status_code, again.status_code, again.json()) == (200, 200, first.json())
    assert do(ana, "confirm", memory).status_code == 409


@pytest.mark.parametrize("body", [{"note": "x"}, {"reason": 1}, {"reason": "x" * 301}])
def test_a_body_that_is_wrong_changes_nothing(body: dict[str, Any], ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    assert do(ana, "disable", memory, body).status_code == 400
    assert statuses(memory) == ["active"]


@pytest.mark.parametrize("verb", ["confirm", "reject", "purge"])
def test_no_key_decides_or_purges(verb: str, project: Project, api: Callable[..., APIClient]) -> None:
    memory = proposal(project)
    for client in (api(make_key(project)[1]), api(make_key(None)[1])):
        answer = do(client, verb, memory)
        assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert statuses(memory) == ["proposed"]


def test_agents_restore_no_decision_of_a_person(writer: APIClient, project: Project) -> None:
    rejected, superseded = proposal(project), learned(project, "Deploys happen on Friday.")
    store.reject(project=project, memory_id=rejected.pk, by=person(project))
    Memory.objects.filter(pk=superseded.pk).update(status=Status.SUPERSEDED)
    for memory in (rejected, superseded):
        answer = do(writer, "restore", memory)
        assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert statuses(rejected, superseded) == ["rejected", "superseded"]


def test_confirming_against_a_changed_target_shows_the_difference(ana: APIClient, project: Project) -> None:
    old = learned(project, "The database is MySQL.", key="db")
    new = proposal(project, "The database is MariaDB.", replaces=old)
    store.edit(
        project=project,
        memory_id=old.pk,
        changes={"content": "The database is Postgres.", "importance": 4},
        by=person(project),
    )
    answer = do(ana, "confirm", new)
    body = answer.json()
    assert (answer.status_code, body["code"], body["memory"]["id"]) == (409, "target_changed", new.pk)
    assert (body["target"]["id"], body["target"]["version"]) == (old.pk, 2)
    assert body["diff"] == [
        {"field": "content", "seen": "The database is MySQL.", "now": "The database is Postgres."},
        {"field": "importance", "seen": 3, "now": 4},
    ]
    assert statuses(old, new) == ["active", "proposed"]
    assert do(ana, "confirm", new, {"target_version": 2}).status_code == 200
    assert statuses(old, new) == ["superseded", "active"]


def test_restoring_a_superseded_memory_undoes_its_replacement(ana: APIClient, project: Project) -> None:
    old = make_memory(project, "主色用蓝色", key="主色")
    new = store.replace(
        project=project,
        target=old,
        draft=store.Draft(type="fact", content="主色用绿色"),
        source=Source.EXPLICIT,
        by=person(project),
    )
    answer = do(ana, "restore", old)
    assert (answer.status_code, answer.json()["status"], statuses(old, new)) == (
        200,
        "active",
        ["active", "superseded"],
    )


def test_restoring_where_another_took_the_key_names_it(ana: APIClient, project: Project) -> None:
    memory = make_memory(project, key="db")
    store.delete(project=project, memory_id=memory.pk, by=person(project))
    other = make_memory(project, "The database is MariaDB.", key="db")
    answer = do(ana, "restore", memory)
    assert (answer.status_code, answer.json()["code"], answer.json()["memory"]["id"]) == (
        409,
        "key_taken",
        other.pk,
    )
    assert statuses(memory, other) == ["gone", "active"]


def test_merging_answers_with_the_memory_that_stays(ana: APIClient, project: Project) -> None:
    source, target = learned(project, evidence=(quote("a"),)), make_memory(project)
    answer = do(ana, "merge", source, {"into": target.pk})
    body = answer.json()
    assert (answer.status_code, body["id"], [one["quote"] for one in body["evidence"]]) == (
        200,
        target.pk,
        ["a"],
    )
    assert statuses(source, target) == ["superseded", "active"]


def test_merging_into_another_projects_memory_is_not_found(ana: APIClient, project: Project) -> None:
    source, elsewhere = learned(project), make_memory(make_project())
    answer = do(ana, "merge", source, {"into": elsewhere.pk})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert statuses(source, elsewhere) == ["active", "active"]


def test_a_purge_leaves_nothing_to_restore(ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    answer = do(ana, "purge", memory, {"reason": "asked for"}, Idempotency_Key="k")
    assert (answer.status_code, answer.content) == (204, b"")
    assert do(ana, "purge", memory, {"reason": "asked for"}, Idempotency_Key="k").status_code == 204
    assert do(ana, "restore", memory).status_code == 404
    assert ana.get(f"{MEMORIES}{memory.pk}/history/").status_code == 404
    assert Tombstone.objects.get().reason == "purged"


# --- Many --------------------------------------------------------------------------------------------------


@pytest.fixture
def three(project: Project) -> list[Memory]:
    """Two active ones and one that is disabled."""
    three = [make_memory(project, f"The {name} rule.", key=name) for name in ("first", "second", "third")]
    store.disable(project=project, memory_id=three[2].pk, by=person(project))
    return three


def test_bulk_changes_all_that_are_named(ana: APIClient, three: list[Memory]) -> None:
    ids = [memory.pk for memory in three]
    answer = ana.post(BULK, {"action": "disable", "ids": [*ids, ids[0]], "reason": "old"})
    body = answer.json()
    assert answer.status_code == 200
    assert body.pop("selection")
    assert body == {
        "action": "disable",
        "dry_run": False,
        "changed": 2,
        "unchanged": 1,
        "refused": 0,
        "results": [
            {"id": ids[0], "outcome": "changed"},
            {"id": ids[1], "outcome": "changed"},
            {"id": ids[2], "outcome": "unchanged"},
        ],
        "undo": {"method": "POST", "path": BULK, "body": {"action": "enable", "ids": ids[:2]}},
    }
    assert statuses(*three) == ["disabled"] * 3
    assert (
        list(AuditEvent.objects.filter(reason="old").values_list("target_id", flat=True).order_by("id"))
        == ids[:2]
    )
    undo = body["undo"]
    assert ana.post(undo["path"], undo["body"]).status_code == 200
    assert statuses(*three) == ["active", "active", "disabled"]


def test_bulk_changes_all_that_a_filter_finds(ana: APIClient, three: list[Memory], project: Project) -> None:
    elsewhere = make_memory(make_project())
    answer = ana.post(BULK, {"action": "delete", "filter": {"status": ["active"], "q": "rule second"}})
    assert [row["id"] for row in answer.json()["results"]] == [three[1].pk]
    assert statuses(*three, elsewhere) == ["active", "gone", "disabled", "active"]
    undo = answer.json()["undo"]
    assert undo["body"] == {"action": "restore", "ids": [three[1].pk]}
    assert ana.post(undo["path"], undo["body"]).json()["changed"] == 1
    assert statuses(*three) == ["active", "active", "disabled"]


def test_one_that_refuses_stops_them_all(ana: APIClient, three: list[Memory], project: Project) -> None:
    waiting = proposal(project)
    elsewhere = make_memory(make_project())
    before = traces(project)
    ids = [three[0].pk, waiting.pk, elsewhere.pk]
    answer = ana.post(BULK, {"action": "disable", "ids": ids})
    body = answer.json()
    assert (answer.status_code, body["code"]) == (409, "selection_changed")
    assert [(row["id"], row["outcome"], row.get("code")) for row in body["results"]] == [
        (ids[0], "changed", None),
        (ids[1], "refused", "wrong_status"),
        (ids[2], "refused", "not_found"),
    ]
    assert statuses(three[0], waiting, elsewhere) == ["active", "proposed", "active"]
    assert traces(project) == before


def test_a_dry_run_tells_and_changes_nothing(ana: APIClient, three: list[Memory], project: Project) -> None:
    waiting = proposal(project)
    before = traces(project)
    ids = [three[0].pk, waiting.pk]
    answer = ana.post(BULK, {"action": "disable", "ids": ids, "dry_run": True})
    body = answer.json()
    assert (answer.status_code, body["dry_run"], body["undo"]) == (200, True, None)
    assert (body["changed"], body["unchanged"], body["refused"]) == (1, 0, 1)
    assert statuses(three[0], waiting) == ["active", "proposed"]
    assert traces(project) == before


def test_a_dry_run_looks_at_its_idempotency_key_too(ana: APIClient, three: list[Memory]) -> None:
    body = {"action": "disable", "ids": [three[0].pk], "dry_run": True}
    answer = ana.post(f"{MEMORIES}bulk/", body, headers={"Idempotency-Key": "two words"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_a_selection_holds_only_while_nothing_changed(
    ana: APIClient, three: list[Memory], project: Project
) -> None:
    wanted = {"action": "disable", "filter": {"status": ["active"]}}
    selection = ana.post(BULK, wanted | {"dry_run": True}).json()["selection"]
    make_memory(project, "One more rule.")
    before = traces(project)
    answer = ana.post(BULK, wanted | {"selection": selection})
    assert (answer.status_code, answer.json()["code"]) == (409, "selection_changed")
    assert (statuses(*three), traces(project)) == (["active", "active", "disabled"], before)
    selection = ana.post(BULK, wanted | {"dry_run": True}).json()["selection"]
    assert ana.post(BULK, wanted | {"selection": selection}).json()["changed"] == 3


@pytest.mark.parametrize("action", ["confirm", "reject"])
def test_agents_decide_on_none(action: str, writer: APIClient, project: Project) -> None:
    memory = proposal(project)
    answer = writer.post(BULK, {"action": action, "ids": [memory.pk], "dry_run": True})
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert statuses(memory) == ["proposed"]


def test_agents_switch_many_but_no_persons(writer: APIClient, project: Project) -> None:
    its, theirs = learned(project), make_memory(project)
    answer = writer.post(BULK, {"action": "disable", "ids": [its.pk, theirs.pk]})
    assert answer.status_code == 409
    assert [row.get("code") for row in answer.json()["results"]] == [None, "role_missing"]
    assert statuses(its, theirs) == ["active", "active"]
    assert writer.post(BULK, {"action": "disable", "ids": [its.pk]}).json()["changed"] == 1


def test_bulk_sent_again_happens_once_and_tells_the_same(ana: APIClient, three: list[Memory]) -> None:
    body = {"action": "disable", "ids": [memory.pk for memory in three]}
    first, again = (ana.post(BULK, body, headers={"Idempotency-Key": "k"}) for _ in range(2))
    assert again["Idempotent-Replayed"] == "true"
    assert (first.json(), first.json()["changed"]) == (again.json(), 2)


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        pytest.param({"action": "disable"}, "", "invalid", id="nothing selected"),
        pytest.param({"action": "disable", "ids": [1], "filter": {"q": "a"}}, "", "invalid", id="both"),
        pytest.param({"action": "disable", "filter": {}}, "/filter", "invalid", id="empty filter"),
        pytest.param({"action": "disable", "ids": []}, "/ids", "min_length", id="no ids"),
        pytest.param({"action": "disable", "ids": [1] * 501}, "/ids", "max_length", id="too many ids"),
        pytest.param({"action": "purge", "ids": [1]}, "/action", "invalid_choice", id="action"),
        pytest.param(
            {"action": "enable", "filter": {"state": []}}, "/filter/state", "unknown_field", id="filter"
        ),
    ],
)
def test_what_bulk_does_not_understand_changes_nothing(
    body: dict[str, Any], pointer: str, code: str, ana: APIClient, three: list[Memory]
) -> None:
    answer = ana.post(BULK, body)
    assert answer.status_code == 400
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [(pointer, code)]
    assert statuses(*three) == ["active", "active", "disabled"]


def test_a_filter_that_finds_too_many_changes_nothing(
    ana: APIClient, three: list[Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("memories.store.selections.MAX_SELECTED", 2)
    answer = ana.post(BULK, {"action": "enable", "filter": {"q": "rule"}})
    assert answer.status_code == 400
    assert [error["code"] for error in answer.json()["errors"]] == ["too_many"]
    assert statuses(*three) == ["active", "active", "disabled"]
