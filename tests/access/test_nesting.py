"""What belongs to another project is not there: whatever place in an address or body its id is put in."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.access.routes import ADMINISTER, ROUTES, Route
from tests.access.world import THEIRS, World, changed, rows_of, state

# Every place in an address that names a row, with the route's other condition.
PLACES = [
    (route, name)
    for route in ROUTES
    for name in ("memory_id", "topic_id", "turn_id", "instruction_id", "extraction_id")
    if f"{{{name}}}" in route.path
]
IDS = [pytest.param(route, name, id=f"{route.name} {name}") for route, name in PLACES]
NO_SUCH_IDS = ("0", "999999", str(2**31), str(2**63 - 1), str(2**63), "9" * 40)
NO_IDS = ("-1", "1.0", "1e3", "１", "0x1", "1;2", "%00", "..", "1%2f2", "a", "'")
# Of all projects; an address that names none is theirs to reach.
EVERYWHERE = ("superadmin", "platform key")
CALLERS = ("owner", "own key with every scope", *EVERYWHERE)


def client_of(world: World, caller: str) -> Any:
    return world.clients.get(caller) or world.key_with(max(world.keys, key=len))


def assert_refused(answer: Any, world: World, status: int = 404) -> None:
    """Nothing happened, and nothing of the other project is told."""
    assert answer.status_code == status, answer.content
    assert changed(world.state, state()) == set()
    assert THEIRS not in answer.content.decode()


@pytest.mark.parametrize(
    ("route", "name", "caller"),
    [
        pytest.param(route, name, caller, id=f"{route.name} {name} {caller}")
        for route, name in PLACES
        for caller in CALLERS
        if "{slug}" in route.path or caller not in EVERYWHERE
    ],
)
def test_a_row_of_another_project_is_not_reached(world: World, route: Route, name: str, caller: str) -> None:
    theirs = world.theirs.ids[route.at.get(name, name)]
    answer = route.call(client_of(world, caller), world.ours, **{name: theirs})
    # What no key may do, it may not ask for either.
    is_closed = "key" in caller and not route.scopes
    assert_refused(answer, world, 403 if is_closed else 404)


@pytest.mark.parametrize(("route", "name"), IDS)
def test_an_id_that_does_not_exist_is_404(world: World, route: Route, name: str) -> None:
    for bad in (*NO_SUCH_IDS, *NO_IDS):
        answer = route.call(world.clients["owner"], world.ours, **{name: bad})
        assert (bad, answer.status_code, answer.json()["code"]) == (bad, 404, "not_found")
        assert answer.headers["Content-Type"] == "application/problem+json"
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize("caller", ["owner", "own key with every scope"])
@pytest.mark.parametrize(("route", "name"), IDS)
def test_what_is_hidden_looks_like_what_does_not_exist(
    world: World, route: Route, name: str, caller: str
) -> None:
    client = client_of(world, caller)
    told = []
    for wanted in (world.theirs.ids[route.at.get(name, name)], 999_999):
        body = route.call(client, world.ours, **{name: wanted}).json()
        del body["request_id"]
        told.append(body)
    assert told[0] == told[1]


IN_BODIES = [
    pytest.param("merge/", {"into": "@memory_id"}, 404, id="merged into theirs"),
    pytest.param("confirm/", {"target_version": 1, "replaces": "@memory_id"}, 400, id="replacing theirs"),
    pytest.param("confirm/", {"contradicts": "@memory_id"}, 400, id="contradicting theirs"),
]


@pytest.mark.parametrize(("verb", "body", "status"), IN_BODIES)
def test_no_body_names_a_memory_of_another_project(
    world: World, verb: str, body: dict[str, Any], status: int
) -> None:
    path = f"/api/v1/projects/shop/memories/{world.ours.ids['proposed']}/{verb}"
    body = {
        name: world.theirs.ids[value[1:]] if isinstance(value, str) else value for name, value in body.items()
    }
    assert_refused(world.clients["owner"].post(path, body), world, status)


@pytest.mark.parametrize("action", ["enable", "disable", "confirm", "reject", "delete", "restore", "purge"])
@pytest.mark.parametrize("mixed", [False, True], ids=["theirs alone", "theirs among ours"])
def test_bulk_touches_nothing_of_another_project(world: World, action: str, mixed: bool) -> None:
    theirs = world.theirs.ids
    ids = [theirs["memory_id"], theirs["disabled"], theirs["proposed"]]
    ids += [world.ours.ids["twin"]] if mixed else []
    answer = world.clients["owner"].post(
        "/api/v1/projects/shop/memories/bulk/", {"action": action, "ids": ids}
    )
    assert answer.status_code in (400, 409), answer.content
    assert changed(world.state, state()) == set()
    assert THEIRS not in answer.content.decode()


def test_bulk_by_filter_finds_nothing_of_another_project(world: World) -> None:
    body = {"action": "disable", "filter": {"ids": list(world.theirs.ids.values()), "q": THEIRS}}
    answer = world.clients["owner"].post("/api/v1/projects/shop/memories/bulk/", body)
    assert (answer.status_code, answer.json()["results"]) == (200, [])
    assert rows_of(world.theirs) == world.their_rows


def test_why_says_nothing_of_another_projects_memories(world: World) -> None:
    wanted = [world.theirs.ids["memory_id"], world.theirs.ids["proposed"], 999_999]
    body = {"message": f"Page references use block ids {THEIRS}", "why": wanted}
    for client in (world.clients["owner"], client_of(world, "own key with every scope")):
        answer = client.post("/api/v1/projects/shop/recall/", body)
        assert [one["reason"] for one in answer.json()["why"]] == ["not_found"] * 3
        assert THEIRS not in answer.content.decode()


@pytest.mark.parametrize(
    ("path", "query"),
    [
        ("projects/shop/turns/", "memory={memory_id}"),
        ("projects/shop/turns/", "topic={topic_id}"),
        ("projects/shop/turns/", f"q={THEIRS}"),
        ("projects/shop/turns/", f"author={THEIRS}"),
        ("projects/shop/topics/", f"q={THEIRS}"),
        ("projects/shop/extractions/", "topic={topic_id}"),
        ("projects/shop/memories/", "ids={memory_id},{proposed},{twin}"),
        ("projects/shop/memories/", f"q={THEIRS}"),
    ],
)
def test_no_filter_finds_anything_of_another_project(world: World, path: str, query: str) -> None:
    address = f"/api/v1/{path}?{query.format(**world.theirs.ids)}"
    answer = world.clients["owner"].get(address)
    assert (answer.status_code, answer.json()["results"]) == (200, [])


def test_one_ref_in_two_projects_is_two_topics(world: World) -> None:
    topic = {"ref": f"conv-{THEIRS}"}
    answer = world.clients["owner"].post(
        "/api/v1/projects/shop/turns/", {"topic": topic, "ref": "new", "message": "hello"}
    )
    assert (answer.status_code, answer.json()["turn"]["topic"]["created"]) == (201, True)
    assert answer.json()["context"]["history"] == []
    assert rows_of(world.theirs) == world.their_rows


# --- Re-parenting and mass assignment ----------------------------------------------------------------------

# What no body sets, wherever it is sent.
NOT_TO_BE_SET: dict[str, Any] = {
    "id": 1,
    "pk": 1,
    "project": "mine",
    "project_id": 2,
    "slug": "mine",
    "owner_id": 1,
    "topic_id": 1,
    "turn": 1,
    "chat": 1,
    "parent": 1,
    "seq": 1,
    "authority": "person",
    "source": "manual",
    "version": 99,
    "created_by": "shop-owner",
    "created_at": "2026-12-01T00:00:00Z",
    "updated_by": "shop-owner",
    "confirmed_at": "2026-12-01T00:00:00Z",
    "confirmed_by": "shop-owner",
    "content_hash": "0" * 64,
    "key_live": 1,
    "hash_live": 1,
    "withheld": False,
    "withheld_for": "override",
    "findings": [],
    "spot_check": True,
    "evidence": [],
    "said_at": "2026-12-01T00:00:00Z",
    "source_topic": 1,
    "source_chat": 1,
    "extraction": 1,
    "replaces": 1,
    "replaces_version": 1,
    "contradicts": 1,
    "guard_version": 1,
    "status_changed_by_person": True,
    "memory_version": "0" * 32,
    "memory_switched_by": 1,
    "memory_refs": [],
    "memory_tokens": 0,
    "distil_outcome": "read",
    "distil_pending": False,
    "distil_lease_token": "mine",
    "author_user": 1,
    "scopes": ["projects"],
    "is_superuser": True,
    "__class__": "x",
    "": 1,
}
WRITING = [
    pytest.param(route, caller, id=f"{route.name} {caller}")
    for route in ROUTES
    for caller in ("owner", "own key with every scope")
    if route.method in ("POST", "PUT", "PATCH")
    and (caller == "owner" or (route.scopes and route.permission != ADMINISTER))
]


@pytest.mark.parametrize(("route", "caller"), WRITING)
def test_no_body_sets_what_the_service_decides(world: World, route: Route, caller: str) -> None:
    address = route.address(world.ours) + route.query
    sent = route.sent(world.ours) or {}
    foreign = {name: value for name, value in NOT_TO_BE_SET.items() if name not in sent}
    answer = client_of(world, caller).generic(
        route.method, address, json.dumps(sent | foreign), "application/json", headers=dict(route.headers)
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    refused = {error["pointer"] for error in answer.json()["errors"] if error["code"] == "unknown_field"}
    assert refused == {f"/{name}" for name in foreign}
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize(
    ("path", "body"),
    [
        pytest.param(
            "turns/{turn_id}/context/", {"message": "x", "context": {"project": "mine"}}, id="context"
        ),
        pytest.param(
            "turns/{turn_id}/finish/", {"status": "failed", "tools": [{"name": "a", "id": 1}]}, id="tool"
        ),
        pytest.param(
            "turns/{turn_id}/finish/", {"status": "failed", "steps": [{"agent": "a", "turn": 1}]}, id="step"
        ),
        pytest.param(
            "projects/shop/turns/", {"topic": {"ref": "n", "id": 1}, "ref": "n", "message": "x"}, id="topic"
        ),
        pytest.param(
            "projects/shop/turns/",
            {"topic": {"ref": "n"}, "ref": "n", "message": "x", "author": {"ref": "a", "user": 1}},
            id="author",
        ),
        pytest.param(
            "projects/shop/memories/bulk/",
            {"action": "disable", "filter": {"q": "x", "project": 2}},
            id="filter",
        ),
        pytest.param(
            "instructions/{instruction_id}/promote/", {"author": {"ref": "a", "id": 1}}, id="promotion"
        ),
    ],
)
def test_nor_does_anything_inside_a_body(world: World, path: str, body: dict[str, Any]) -> None:
    answer = world.clients["owner"].post(f"/api/v1/{path.format(**world.ours.ids)}", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    assert changed(world.state, state()) == set()


def test_an_owner_named_in_put_is_no_transfer(world: World) -> None:
    answer = world.clients["owner"].put("/api/v1/projects/shop/", {"name": "New", "owner": "stranger"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/owner")
    assert changed(world.state, state()) == set()
