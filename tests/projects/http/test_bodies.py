"""What bodies and query strings may hold: size, depth, text, types, names."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from projects.http.parsers import JSONParser
from projects.http.problems import Problem
from tests.factories import make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django.fixtures import SettingsWrapper
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]
PATH = "/api/v1/probes/body/"


@pytest.fixture
def client(api_as: Callable[..., APIClient]) -> APIClient:
    return api_as(make_user())


def send(client: APIClient, raw: bytes) -> tuple[int, dict[str, Any]]:
    answer = client.generic("POST", PATH, raw, "application/json")
    return answer.status_code, answer.json()


def nested(levels: int) -> bytes:
    """An object in which `levels` arrays are nested: levels + 1 deep."""
    return b'{"free": ' + b"[" * levels + b"]" * levels + b"}"


@pytest.mark.parametrize(
    ("raw", "status", "code"),
    [
        pytest.param(b"{", 400, "invalid", id="cut off"),
        pytest.param(b"[]", 400, "invalid", id="an array"),
        pytest.param(b'"text"', 400, "invalid", id="a string"),
        pytest.param(b"null", 400, "invalid", id="null"),
        pytest.param(b'{"free": {"a": NaN}}', 400, "invalid", id="NaN"),
        pytest.param(b'{"free": {"a": -Infinity}}', 400, "invalid", id="Infinity"),
        pytest.param(b'{"free": {"a": 1e999}}', 400, "invalid", id="a number beyond floats"),
        pytest.param(b'{"number": ' + b"9" * 5000 + b"}", 400, "invalid", id="an integer of 5,000 digits"),
        pytest.param(b'{"text": "\xff"}', 400, "invalid", id="not UTF-8"),
        pytest.param(b'\xef\xbb\xbf{"text": "a"}', 400, "invalid", id="byte order mark"),
        pytest.param('{"text": "a"}'.encode("utf-16"), 400, "invalid", id="UTF-16"),
        pytest.param(b'{"text": "\\ud800"}', 400, "invalid_text", id="lone surrogate"),
        pytest.param(b'{"free": {"a": [1, "\\udfff"]}}', 400, "invalid_text", id="lone surrogate inside"),
        pytest.param(b'{"free": {"\\udfff": 1}}', 400, "invalid_text", id="lone surrogate in a name"),
        pytest.param(b'{"text": "\\u0000"}', 400, "invalid_text", id="NUL"),
        pytest.param(nested(2000), 400, "invalid", id="2,000 deep"),
        pytest.param(b"[" * 200_000, 400, "invalid", id="200,000 open brackets"),
        pytest.param(b'{"free":' * 100_000, 400, "invalid", id="100,000 open objects"),
    ],
)
def test_a_body_that_is_not_fit_is_refused(client: APIClient, raw: bytes, status: int, code: str) -> None:
    answer_status, body = send(client, raw)
    assert (answer_status, body["code"]) == (status, code)


def test_unfit_text_is_pointed_at(client: APIClient) -> None:
    _status, body = send(client, b'{"text": "\\ud800", "free": {"a": {"b/c": ["ok", "\\u0000"]}}}')
    assert [error["pointer"] for error in body["errors"]] == ["/text", "/free/a/b~1c/1"]


def test_a_pair_of_surrogates_is_a_character(client: APIClient) -> None:
    assert send(client, b'{"text": "\\ud83d\\ude00"}') == (200, {"text": "😀"})


@pytest.mark.parametrize(("levels", "status"), [(32, 200), (33, 400)])
def test_depth_is_bounded_exactly(client: APIClient, levels: int, status: int) -> None:
    arrays = levels - 2  # the body and `free` are two
    raw = b'{"free": {"a": ' + b"[" * arrays + b"]" * arrays + b"}}"
    assert send(client, raw)[0] == status


def test_size_is_bounded_exactly_and_the_limit_is_told(client: APIClient, settings: SettingsWrapper) -> None:
    settings.API_MAX_BODY_BYTES = 100
    fits = b'{"free": {"a": "' + b"x" * 81 + b'"}}'
    assert (len(fits), send(client, fits)[0]) == (100, 200)
    status, body = send(client, fits + b" ")
    assert (status, body["code"], body["limit"]) == (413, "too_large", 100)
    assert body["detail"] == "The body is too large; 100 bytes are allowed."


def test_a_body_of_ten_megabytes_is_read_to_its_end_before_it_is_refused() -> None:
    # A server that closes with bytes unread resets the connection, and the client never sees the 413.
    stream = io.BytesIO(b" " * 10_000_000)
    with pytest.raises(Problem) as caught:
        JSONParser().parse(stream)
    assert caught.value.status_code == 413
    assert stream.read() == b""


def test_no_body_is_an_empty_object(client: APIClient) -> None:
    assert client.post(PATH).json() == {}


@pytest.mark.parametrize(
    ("body", "pointer", "code"),
    [
        pytest.param({"text": 5}, "/text", "invalid", id="number as text"),
        pytest.param({"text": True}, "/text", "invalid", id="boolean as text"),
        pytest.param({"text": None}, "/text", "null", id="null"),
        pytest.param({"text": ""}, "/text", "blank", id="blank"),
        pytest.param({"text": "x" * 11}, "/text", "max_length", id="too long"),
        pytest.param({"number": "5"}, "/number", "invalid", id="text as integer"),
        pytest.param({"number": 1.5}, "/number", "invalid", id="fraction as integer"),
        pytest.param({"number": True}, "/number", "invalid", id="boolean as integer"),
        pytest.param({"number": 101}, "/number", "max_value", id="too great"),
        pytest.param({"number": -(2**63)}, "/number", "min_value", id="beyond 64 bits"),
        pytest.param({"ratio": "1.5"}, "/ratio", "invalid", id="text as number"),
        pytest.param({"ratio": False}, "/ratio", "invalid", id="boolean as number"),
        pytest.param({"flag": "true"}, "/flag", "invalid", id="text as boolean"),
        pytest.param({"flag": 1}, "/flag", "invalid", id="number as boolean"),
        pytest.param({"flag": None}, "/flag", "null", id="null as boolean"),
        pytest.param({"kind": "c"}, "/kind", "invalid_choice", id="no such choice"),
        pytest.param({"kind": ["a"]}, "/kind", "invalid_choice", id="list as choice"),
        pytest.param({"at": "2026-12-01T09:30:12"}, "/at", "invalid", id="no offset"),
        pytest.param({"at": "2026-13-01T09:30:12Z"}, "/at", "invalid", id="no such month"),
        pytest.param({"at": "2026-12-01"}, "/at", "invalid", id="date alone"),
        pytest.param({"at": 5}, "/at", "invalid", id="number as date"),
        pytest.param({"at": "0001-01-01T00:00:00+14:00"}, "/at", "overflow", id="before time"),
        pytest.param({"at": "9999-12-31T23:59:59-14:00"}, "/at", "overflow", id="after time"),
        pytest.param({"inner": {}}, "/inner/ref", "required", id="required inside"),
        pytest.param({"inner": {"ref": "a", "x": 1}}, "/inner/x", "unknown_field", id="unknown inside"),
        pytest.param({"inner": "a"}, "/inner", "invalid", id="text as object"),
        pytest.param({"names": "a"}, "/names", "not_a_list", id="text as list"),
        pytest.param({"names": ["a", 5]}, "/names/1", "invalid", id="item"),
        pytest.param({"names": list("abcd")}, "/names", "max_length", id="too many"),
        pytest.param({"rows": [{"ref": "a"}, {"ref": 5}]}, "/rows/1/ref", "invalid", id="item's member"),
        pytest.param({"free": []}, "/free", "not_a_dict", id="list as object"),
        pytest.param({"told": "a"}, "/told", "unknown_field", id="what is only answered"),
        pytest.param({"a/b~": 1}, "/a~1b~0", "unknown_field", id="escaped pointer"),
    ],
)
def test_nothing_is_coerced_and_each_mistake_has_its_pointer(
    client: APIClient, body: dict[str, Any], pointer: str, code: str
) -> None:
    answer = client.post(PATH, body)
    assert answer.status_code == 400
    assert [(error["pointer"], error["code"]) for error in answer.json()["errors"]] == [(pointer, code)]
    assert answer.json()["code"] == ("unknown_field" if code == "unknown_field" else "invalid")


def test_all_mistakes_are_told_at_once(client: APIClient) -> None:
    body = client.post(PATH, {"text": 5, "inner": {"ref": 5, "x": 1}, "nope": 1}).json()
    assert {error["pointer"] for error in body["errors"]} == {"/text", "/inner/ref", "/inner/x", "/nope"}
    assert body["code"] == "unknown_field"


def test_values_come_as_they_were_sent(client: APIClient) -> None:
    body = {"text": "  a  ", "number": -5, "ratio": 2, "flag": False, "kind": "b", "free": {"a": [None, 1.5]}}
    assert client.post(PATH, body).json() == body | {"ratio": 2.0}


def test_to_json_one_point_nought_is_an_integer(client: APIClient) -> None:
    assert client.generic("POST", PATH, '{"number": 7.0}', "application/json").json() == {"number": 7}


def test_a_date_keeps_the_offset_that_was_sent(client: APIClient) -> None:
    body = client.post(PATH, {"at": "2026-12-01T09:30:12+08:00"}).json()
    assert body == {"at": "2026-12-01T09:30:12+08:00", "offset_minutes": 480.0}


def test_answers_are_compact_utf8(client: APIClient) -> None:
    answer = client.post(PATH, {"text": "网店", "number": 1})
    assert answer.content == '{"text":"网店","number":1}'.encode()
    assert answer.headers["Content-Type"] == "application/json"


@pytest.mark.parametrize(
    ("query", "code", "parameter"),
    [
        pytest.param("qq=1", "unknown_parameter", "qq", id="typing error"),
        pytest.param("q=123456", "max_length", "q", id="too long"),
        pytest.param("q=a&q=b", "invalid", "q", id="twice"),
        pytest.param("q=a&q=a", "invalid", "q", id="the same twice"),
        pytest.param("number=+5", "invalid", "number", id="a sign"),
        pytest.param("number=٥", "invalid", "number", id="another script's digits"),
        pytest.param("number=1_0", "invalid", "number", id="an underscore"),
        pytest.param("number=5.0", "invalid", "number", id="a fraction"),
        pytest.param("number=0", "min_value", "number", id="too small"),
        pytest.param(f"number={2**63}", "max_value", "number", id="beyond 64 bits"),
        pytest.param(f"number={'9' * 5000}", "invalid", "number", id="5,000 digits"),
        pytest.param("flag=1", "invalid", "flag", id="a number as boolean"),
        pytest.param("flag=True", "invalid", "flag", id="Python's boolean"),
        pytest.param("flag=", "invalid", "flag", id="an empty boolean"),
    ],
)
def test_parameters_are_checked_too(client: APIClient, query: str, code: str, parameter: str) -> None:
    answer = client.get(f"/api/v1/probes/query/?{query}")
    assert answer.status_code == 400
    assert answer.json()["code"] == ("unknown_parameter" if code == "unknown_parameter" else "invalid")
    assert [(e["pointer"], e["parameter"], e["code"]) for e in answer.json()["errors"]] == [
        ("", parameter, code)
    ]


def test_known_parameters_come_through(client: APIClient) -> None:
    answer = client.get("/api/v1/probes/query/?q=abc&limit=5&number=007&flag=false")
    assert answer.json() == {"q": "abc", "number": 7, "flag": False}


def test_json_of_any_shape_within_bounds_comes_back_equal() -> None:
    value = {"a": [{"b": [1, 2.5, None, True, "é店😀\u2028"]}], "": {}}
    assert JSONParser().parse(io.BytesIO(json.dumps(value).encode())) == value
