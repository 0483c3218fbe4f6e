"""The shape of every refusal, in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from projects.http.problems import pointer
from tests.factories import make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]


@pytest.mark.parametrize(
    ("language", "detail", "field_detail"),
    [
        pytest.param("en", "The request is not valid.", "There is no such field.", id="en"),
        pytest.param("zh-CN,zh;q=0.9", "请求无效。", "没有这个字段。", id="zh"),
        pytest.param("zh-hans", "请求无效。", "没有这个字段。", id="zh-hans"),
        pytest.param("xx", "The request is not valid.", "There is no such field.", id="unknown"),
    ],
)
def test_a_problem_speaks_the_language_of_the_request(
    language: str, detail: str, field_detail: str, api_as: Callable[..., APIClient]
) -> None:
    answer = api_as(make_user()).post(
        "/api/v1/probes/body/", {"nope": 1}, headers={"Accept-Language": language, "X-Request-ID": "r-9"}
    )
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Bad Request",
        "status": 400,
        "code": "unknown_field",
        "detail": detail,
        "errors": [{"pointer": "/nope", "code": "unknown_field", "detail": field_detail}],
        "request_id": "r-9",
    }
    assert detail in answer.content.decode()  # UTF-8, not escaped


def test_a_finding_has_its_place_and_extra_members_stand_beside_the_code(
    api_as: Callable[..., APIClient],
) -> None:
    body = api_as(make_user()).get("/api/v1/probes/finding/").json()
    assert body["errors"] == [
        {"pointer": "/content", "code": "secret_found", "detail": "A key.", "start": 4, "end": 9}
    ]
    assert (body["status"], body["code"], body["memory"]) == (422, "secret_found", 7)


@pytest.mark.parametrize(
    ("call", "status", "code"),
    [
        pytest.param(lambda c: c.get("/api/v1/nowhere/"), 404, "not_found", id="no such address"),
        pytest.param(lambda c: c.delete("/api/v1/me/"), 405, "method_not_allowed", id="method"),
        pytest.param(
            lambda c: c.get("/api/v1/me/", headers={"Accept": "text/csv"}), 406, "not_acceptable", id="accept"
        ),
        pytest.param(
            lambda c: c.generic("POST", "/api/v1/probes/body/", b"a=1", "text/plain"),
            415,
            "unsupported_media_type",
            id="media type",
        ),
        pytest.param(lambda c: c.get("/api/v1/probes/database/"), 503, "unavailable", id="database away"),
    ],
)
def test_refusals_of_the_framework_are_problems_too(
    call: Callable[[APIClient], Any], status: int, code: str, api_as: Callable[..., APIClient]
) -> None:
    answer = call(api_as(make_user()))
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json()["status"] == status
    if status == 503:
        assert answer.headers["Retry-After"] == "1"
    if status == 405:
        assert answer.headers["Allow"] == "GET, HEAD, OPTIONS"


def test_what_nobody_expected_is_a_problem_that_tells_nothing(api_as: Callable[..., APIClient]) -> None:
    client = api_as(make_user())
    client.raise_request_exception = False
    answer = client.get("/api/v1/probes/boom/", headers={"Accept-Language": "zh-hans", "X-Request-ID": "r-1"})
    assert answer.status_code == 500
    assert answer.headers["Content-Type"] == "application/problem+json"
    assert answer.json() == {
        "type": "about:blank",
        "title": "Internal Server Error",
        "status": 500,
        "code": "internal",
        "detail": "服务器出错，可凭请求编号在日志中查到。",
        "request_id": "r-1",
    }


def test_a_host_that_is_not_ours_is_a_problem_under_the_api_only(client: Client) -> None:
    answer = client.get("/api/v1/me", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    answer = client.get("/elsewhere", headers={"Host": "evil.example"})
    assert (answer.status_code, answer.headers["Content-Type"]) == (400, "text/html; charset=utf-8")


@pytest.mark.urls("config.urls")  # the page of a wrong address is the site's
def test_outside_the_api_pages_stay_pages(client: Client) -> None:
    answer = client.get("/nowhere/")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/html; charset=utf-8")


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        pytest.param((), "", id="the whole"),
        pytest.param(("a", 0, "b"), "/a/0/b", id="path"),
        pytest.param(("a/b", "m~n", "~1"), "/a~1b/m~0n/~01", id="escaped"),
    ],
)
def test_pointers_follow_rfc_6901(steps: tuple[str | int, ...], expected: str) -> None:
    assert pointer(*steps) == expected
