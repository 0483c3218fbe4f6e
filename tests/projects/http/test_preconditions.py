"""Nobody overwrites what they have not seen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from rest_framework.request import Request
from rest_framework.test import APIRequestFactory

from projects.http import preconditions
from tests.factories import make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]
PATH = "/api/v1/probes/match/"


@pytest.fixture
def client(api_as: Callable[..., APIClient]) -> APIClient:
    return api_as(make_user())


@pytest.mark.parametrize(
    ("header", "seen"),
    [
        pytest.param('"3"', 3, id="present version"),
        pytest.param('"1", "3"', 3, id="one of several"),
        pytest.param('W/"3"', 3, id="weakened by a proxy"),
        pytest.param("*", None, id="any"),
    ],
)
def test_who_saw_the_present_version_may_write(client: APIClient, header: str, seen: int | None) -> None:
    answer = client.patch(PATH, {}, headers={"If-Match": header})
    assert (answer.status_code, answer.json()) == (200, {"seen": seen})
    assert answer.headers["ETag"] == '"3"'


def test_without_if_match_nothing_is_written(client: APIClient) -> None:
    answer = client.patch(PATH, {})
    assert (answer.status_code, answer.json()["code"]) == (428, "if_match_required")


@pytest.mark.parametrize("header", ['"2"', '"4", "30"', "3", '""', ""])
def test_who_saw_another_version_is_shown_the_present_one(client: APIClient, header: str) -> None:
    answer = client.patch(PATH, {}, headers={"If-Match": header})
    assert (answer.status_code, answer.json()["code"]) == (412, "stale_memory")
    assert answer.json()["current"] == {"version": 3, "text": "now"}
    assert answer.headers["ETag"] == '"3"'


@pytest.mark.parametrize(
    ("header", "unchanged"),
    [('"abc"', True), ('W/"abc"', True), ("*", True), ('"x", "abc"', True), ('"abcd"', False), (None, False)],
)
def test_who_has_it_already_is_told_so(header: str | None, unchanged: bool) -> None:
    headers = {"If-None-Match": header} if header else {}
    request = Request(APIRequestFactory().get("/", headers=headers))
    assert preconditions.is_unchanged(request, preconditions.etag("abc")) is unchanged
