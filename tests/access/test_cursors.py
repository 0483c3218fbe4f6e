"""A cursor is good for the list that gave it, and for nothing else."""

from __future__ import annotations

import base64
import json
from urllib.parse import parse_qs, urlsplit

import pytest
from django.core import signing

from tests.access.routes import ROUTES, Route
from tests.access.world import THEIRS, World, changed, state

LISTS = [
    route
    for route in ROUTES
    if route.method == "GET"
    and route.path.endswith(
        ("turns/", "topics/", "instructions/", "extractions/", "memories/", "history/", "projects/")
    )
    and not route.at
]
# Lists with one row in this world: their cursors are made by hand, signed as the product signs.
EACH = [pytest.param(route, id=route.name) for route in LISTS]


def cursor_of(world: World, route: Route) -> str:
    """The cursor behind the list's first row."""
    answer = world.clients["superadmin"].get(route.address(world.ours), {"limit": 1})
    following = answer.json()["next"]
    if following is not None:
        return parse_qs(urlsplit(following).query)["cursor"][0]
    ordering = {"topics/": ("-updated_at", "-id"), "history/": ("-history_id",), "projects/": ("slug",)}
    names = next((one for end, one in ordering.items() if route.path.endswith(end)), ("-id",))
    names = ("id",) if route.path.endswith("instructions/") else names
    values = ["2026-01-01T00:00:00+00:00", 1] if len(names) == 2 else [1]
    return signing.dumps(values, salt=f"projects.http.paging {route.address(world.ours)} {','.join(names)}")


def ask(
    world: World, route: Route, cursor: str, caller: str = "owner", **more: str
) -> tuple[int, str | None]:
    answer = world.clients[caller].get(route.address(world.ours), {"cursor": cursor, **more})
    assert THEIRS not in answer.content.decode()
    return answer.status_code, answer.json().get("code")


@pytest.mark.parametrize("route", EACH)
def test_a_cursor_of_another_list_is_refused(world: World, route: Route) -> None:
    assert ask(world, route, cursor_of(world, route)) == (200, None)
    for other in LISTS:
        if other is not route:
            assert ask(world, route, cursor_of(world, other)) == (400, "invalid")


@pytest.mark.parametrize("route", [one for one in EACH if "{" in one.values[0].path])
def test_a_cursor_of_another_project_is_refused(world: World, route: Route) -> None:
    address = route.address(world.theirs)
    answer = world.clients["superadmin"].get(address, {"limit": 1})
    following = answer.json()["next"]
    foreign = (
        parse_qs(urlsplit(following).query)["cursor"][0] if following else signing.dumps([1], salt=address)
    )
    assert ask(world, route, foreign) == (400, "invalid")
    # And ours opens nothing of theirs.
    answer = world.clients["owner"].get(address, {"cursor": cursor_of(world, route)})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.parametrize("route", EACH)
def test_a_cursor_that_was_tampered_with_is_refused(world: World, route: Route) -> None:
    good = cursor_of(world, route)
    payload, made_at, signature = good.split(":")
    forged = base64.urlsafe_b64encode(json.dumps([10**9]).encode()).decode().rstrip("=")
    spoiled = [
        "",
        "x",
        "::",
        payload,
        f"{payload}:{made_at}:",
        f"{forged}:{made_at}:{signature}",
        f"{payload}:0:{signature}",
        f".{payload}:{made_at}:{signature}",
        good[:-1] + ("A" if good[-1] != "A" else "B"),
        good + "%00",
        "\x00",
        "😀",
        "' OR 1=1 --",
        "A" * 100_000,
        signing.dumps([1], salt="another"),
        signing.dumps(
            [1], key="another secret", salt=f"projects.http.paging {route.address(world.ours)} -id"
        ),
    ]
    for bad in spoiled:
        assert (bad[:50], ask(world, route, bad)) == (bad[:50], (400, "invalid"))
    assert changed(world.state, state()) == set()


def test_a_cursor_carries_no_right(world: World) -> None:
    for route in LISTS:
        cursor = cursor_of(world, route)
        answer = world.clients["anonymous"].get(route.address(world.ours), {"cursor": cursor})
        assert answer.status_code == 401
        if "{" in route.path:
            assert ask(world, route, cursor, caller="stranger") == (404, "not_found")


def test_a_cursor_taken_to_another_filter_shows_only_what_that_filter_finds(world: World) -> None:
    route = next(one for one in LISTS if one.path.endswith("memories/"))
    cursor = cursor_of(world, route)
    answer = world.clients["owner"].get(route.address(world.ours), {"cursor": cursor, "status": "disabled"})
    assert {memory["status"] for memory in answer.json()["results"]} == {"disabled"}
