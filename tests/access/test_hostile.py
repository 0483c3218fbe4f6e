"""What no honest client sends: huge and deep bodies, foreign media types, unknown parameters, other methods."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.access.routes import PREFIX, PUBLIC, ROUTES, Route
from tests.access.world import World, changed, state

METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "CONNECT", "PROPFIND")
WRITING = [pytest.param(route, id=route.name) for route in ROUTES if route.method in ("POST", "PUT", "PATCH")]
# The pages of the description are drf-spectacular's own, with parameters of theirs.
OURS = [pytest.param(route, id=route.name) for route in ROUTES if route.path not in ("schema/", "docs/")]
PATHS = sorted({route.path for route in ROUTES})
MAX_BODY = 1_500_000


def send(world: World, route: Route, raw: bytes, media_type: str = "application/json", **headers: str) -> Any:
    return world.clients["owner"].generic(
        route.method,
        route.address(world.ours) + route.query,
        raw,
        media_type,
        headers=dict(route.headers) | headers,
    )


def told(answer: Any) -> tuple[int, str]:
    assert answer.headers["Content-Type"] == "application/problem+json"
    return answer.status_code, answer.json()["code"]


DEEP = b'{"a": ' + b"[" * 2000 + b"]" * 2000 + b"}"
HUGE = b'{"message": "' + b"a" * 10_000_000 + b'"}'
BODIES = [
    pytest.param(HUGE, 413, "too_large", id="10 MB"),
    pytest.param(b" " * (MAX_BODY + 1), 413, "too_large", id="one byte too many"),
    pytest.param(DEEP, 400, "invalid", id="2,000 deep"),
    pytest.param(b'{"a":' * 2000 + b"1" + b"}" * 2000, 400, "invalid", id="2,000 objects deep"),
    pytest.param(b"[" * 1_000_000, 400, "invalid", id="a million open brackets"),
    pytest.param(b'{"a": ' + b"9" * 100_000 + b"}", 400, "invalid", id="an integer of 100,000 digits"),
    pytest.param(b'{"a": 1e400}', 400, "invalid", id="a number beyond floats"),
    pytest.param(b"\xff\xfe{\x00}\x00", 400, "invalid", id="UTF-16"),
    pytest.param(b'["a"]', 400, "invalid", id="an array"),
    pytest.param(b"null", 400, "invalid", id="null"),
    pytest.param(b'{"reason": "\\ud800"}', 400, "invalid_text", id="half a surrogate pair"),
    pytest.param(b'{"reason": "\\u0000"}', 400, "invalid_text", id="a NUL"),
]


@pytest.mark.parametrize(("raw", "status", "code"), BODIES)
@pytest.mark.parametrize("route", WRITING)
def test_a_body_that_is_not_fit_changes_nothing(
    world: World, route: Route, raw: bytes, status: int, code: str
) -> None:
    assert told(send(world, route, raw)) == (status, code)
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize(
    "media_type",
    [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/xml",
        "application/json-patch+json",
        "application/merge-patch+json",
        "x",
    ],
)
@pytest.mark.parametrize("route", WRITING)
def test_only_json_is_read(world: World, route: Route, media_type: str) -> None:
    raw = json.dumps(route.sent(world.ours) or {"a": 1}).encode()
    assert told(send(world, route, raw, media_type)) == (415, "unsupported_media_type")
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize("route", OURS)
def test_a_parameter_that_nobody_reads_is_refused(world: World, route: Route) -> None:
    glue = "&" if route.query else "?"
    for query in ("project=mine", "format=json", "_method=DELETE", "%00=1", "user=1"):
        address = f"{route.address(world.ours)}{route.query}{glue}{query}"
        body = json.dumps(route.sent(world.ours) or {})
        answer = world.clients["owner"].generic(
            route.method, address, body, "application/json", headers=dict(route.headers)
        )
        assert told(answer) == (400, "unknown_parameter")
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize("path", PATHS)
def test_a_method_that_a_route_does_not_have_does_nothing(world: World, path: str) -> None:
    rows = [route for route in ROUTES if route.path == path]
    allowed = {route.method for route in rows}
    for method in METHODS:
        if method in allowed:
            continue
        answer = world.clients["owner"].generic(method, rows[0].address(world.ours), "{}", "application/json")
        assert (method, told(answer)) == (method, (405, "method_not_allowed"))
        offered = set(answer.headers["Allow"].split(", "))
        assert offered - {"HEAD", "OPTIONS"} == allowed
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize("path", PATHS)
def test_asking_for_options_or_a_head_tells_a_stranger_nothing_more(world: World, path: str) -> None:
    row = next(route for route in ROUTES if route.path == path)
    address = row.address(world.ours)
    for caller in ("anonymous", "revoked key", "stranger", "other project's key"):
        head = world.clients[caller].head(address)
        got = world.clients[caller].get(address)
        assert (caller, head.status_code, head.content) == (caller, got.status_code, b"")
    options = world.clients["anonymous"].options(address)
    assert options.status_code in ((200, 405) if row.permission == PUBLIC else (401, 405))
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize(
    "header", ["X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method", "X-Original-Method"]
)
def test_no_header_makes_another_method_of_a_request(world: World, header: str) -> None:
    address = f"{PREFIX}projects/shop/memories/{world.ours.ids['memory_id']}/"
    answer = world.clients["owner"].get(address, headers={header: "DELETE", "If-Match": "*"})
    assert answer.status_code == 200
    assert changed(world.state, state()) == set()


@pytest.mark.parametrize(
    "header", ["X-Original-URL", "X-Rewrite-URL", "X-Forwarded-Prefix", "X-Forwarded-User", "Remote-User"]
)
def test_no_header_makes_another_caller_or_address(world: World, header: str) -> None:
    answer = world.clients["anonymous"].get(f"{PREFIX}me/", headers={header: "/api/v1/health/live/"})
    assert told(answer) == (401, "key_invalid")
    answer = world.clients["stranger"].get(f"{PREFIX}projects/shop/", headers={header: "shop-owner"})
    assert told(answer) == (404, "not_found")
