"""One matrix: every route of the API, every kind of caller, the exact answer, and the tables that changed.

Who is refused changes no row of any table and learns no word of the project; who is allowed changes exactly
the tables that the route says and sees no word of the other project.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from projects.models import Scope
from projects.roles import MATRIX, Role
from tests.access.routes import PUBLIC, ROUTES, SIGNED_IN, Refusal, Route
from tests.access.world import OURS, THEIRS, World, changed, rows_of, state
from tests.factories import PROJECT_SCOPES

if TYPE_CHECKING:
    from rest_framework.test import APIClient

UNKNOWN = ("anonymous", "deactivated collaborator", "unknown key", "revoked key", "expired key")
OUTSIDE = ("stranger", "former collaborator", "other project's key", "operator", "auditor")
INSIDE = {"collaborator": Role.COLLABORATOR, "owner": Role.OWNER, "superadmin": Role.SUPERADMIN}
OWN_KEYS = ("own key", "own key without scope", "own key with every scope")
CALLERS = (
    *UNKNOWN,
    *OUTSIDE,
    *INSIDE,
    "owner without CSRF token",
    *OWN_KEYS,
    "own key with a platform's scope",
    "platform key",
    "platform key without scope",
)
# Who sees more projects than ours.
SEES_ALL = ("superadmin", "platform key", *OUTSIDE)


def expected(route: Route, caller: str) -> int | Refusal:
    """The status of the answer, with its code where the caller is refused."""
    if route.permission == PUBLIC:
        return route.status
    if caller in UNKNOWN:
        return 401, "key_invalid"
    if caller == "owner without CSRF token":
        return route.status if route.is_safe else (403, "csrf_failed")
    if caller in route.otherwise:
        return route.otherwise[caller]
    if route.permission == SIGNED_IN:
        return route.status
    if caller in OUTSIDE:
        return 404, "not_found"
    if caller in INSIDE:
        return route.status if route.permission in MATRIX[INSIDE[caller]] else (403, "role_missing")
    if not route.scopes:
        return 403, "role_missing"
    if caller.endswith(("without scope", "platform's scope")) or (
        caller in OWN_KEYS and not set(route.scopes) & set(PROJECT_SCOPES)
    ):
        return 403, "scope_missing"
    return route.status


def client_for(world: World, route: Route, caller: str) -> APIClient:
    own = [scope for scope in route.scopes if scope != Scope.PROJECTS]
    match caller:
        case "own key":
            return world.key_with(own[:1] or PROJECT_SCOPES)
        case "own key without scope":
            return world.key_with(set(PROJECT_SCOPES) - set(own))
        case "own key with every scope":
            return world.key_with(PROJECT_SCOPES)
    return world.clients[caller]


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_caller_of_every_route(world: World, route: Route, caller: str) -> None:
    wanted = expected(route, caller)
    answer = route.call(client_for(world, route, caller), world.ours)
    code = answer.json()["code"] if answer.status_code >= 400 else None
    told = answer.status_code if code is None else (answer.status_code, code)
    assert told == wanted
    differ = changed(world.state, state())
    assert differ == (route.tables if code is None else set())
    if differ:
        assert rows_of(world.theirs) == world.their_rows
    if code is not None:
        assert OURS not in answer.content.decode()
    if caller not in SEES_ALL:
        assert THEIRS not in answer.content.decode()


@pytest.mark.parametrize(
    ("route", "scope"),
    [
        pytest.param(route, scope, id=f"{route.name} {scope}")
        for route in ROUTES
        for scope in PROJECT_SCOPES
        if route.permission not in (PUBLIC, SIGNED_IN)
    ],
)
def test_every_scope_alone_opens_its_routes_and_no_other(world: World, route: Route, scope: str) -> None:
    answer = route.call(world.key_with([scope]), world.ours)
    is_open = scope in route.scopes and "own key" not in route.otherwise
    assert (answer.status_code == route.status) is is_open
    assert changed(world.state, state()) == (route.tables if is_open else set())


def test_the_table_has_a_caller_of_every_kind(world: World) -> None:
    assert set(world.clients) | set(OWN_KEYS) == set(CALLERS)


def test_the_other_project_has_rows_of_every_kind_to_lose(world: World) -> None:
    rare = {"MemoryUsage", "RecallBlock", "RecallItem"}
    assert {name for name, rows in world.their_rows.items() if not rows} <= rare
