"""Every route and method of the API stands in the access matrix, and the matrix names none that is not there."""

from __future__ import annotations

from typing import Any

from tests.access.routes import PREFIX, PUBLIC, ROUTES, SIGNED_IN, normalised
from tests.architecture.test_house import UNSCOPED, routes

METHODS = ("get", "post", "put", "patch", "delete")


def operations() -> set[str]:
    """What views of the API answer to, as `METHOD route`."""
    found = set()
    for route, pattern in routes():
        if not route.startswith(PREFIX[1:]):
            continue
        view: Any = getattr(pattern.callback, "cls", None) or pattern.callback.view_class  # type: ignore[attr-defined]
        found |= {f"{method.upper()} {normalised(route)}" for method in METHODS if hasattr(view, method)}
    return found


def test_every_route_and_method_stands_in_the_access_matrix() -> None:
    assert operations() == {f"{route.method} {route.path}" for route in ROUTES}


def test_what_needs_no_right_in_a_project_is_what_has_no_project() -> None:
    free = {route.path for route in ROUTES if route.permission in (PUBLIC, SIGNED_IN)}
    assert free == {normalised(route) for route in UNSCOPED}


def test_no_two_rows_of_the_matrix_have_one_name() -> None:
    names = [route.name for route in ROUTES]
    assert sorted(set(names)) == sorted(names)
