"""Pages by cursor: complete, stable, and closed to tampering."""

from __future__ import annotations

from datetime import timedelta
from itertools import chain
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from projects.models import AuditEvent
from tests.factories import make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django import DjangoAssertNumQueries
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]
PATH = "/api/v1/probes/pages/"


@pytest.fixture
def client(api_as: Callable[..., APIClient]) -> APIClient:
    return api_as(make_user())


def make_events(count: int, *, later: timedelta = timedelta(0)) -> list[int]:
    """Ids in the order in which pages give them: newest first, of one moment the last made first.

    Three share a moment, and time does not run with the ids.
    """
    start = timezone.now() + later
    events = [
        AuditEvent.objects.create(
            actor_kind="system",
            actor_name="a",
            transport="command",
            action="probe",
            created_at=start + timedelta(seconds=number * 5 % 3),
        )
        for number in range(count)
    ]
    return [
        event.pk for event in sorted(events, key=lambda event: (event.created_at, event.pk), reverse=True)
    ]


def walk(client: APIClient, url: str) -> list[list[int]]:
    pages = []
    following: str | None = url
    while following:
        body = client.get(following).json()
        pages.append(body["results"])
        following = body["next"]
        assert len(pages) < 10, "the pages go round in a circle"
    return pages


@pytest.mark.parametrize(
    ("count", "limit", "sizes"),
    [
        pytest.param(0, 3, [0], id="nothing"),
        pytest.param(3, 3, [3], id="exactly one page"),
        pytest.param(7, 2, [2, 2, 2, 1], id="pages that cut through one moment"),
    ],
)
def test_pages_give_every_row_once_and_in_order(
    client: APIClient, count: int, limit: int, sizes: list[int]
) -> None:
    expected = make_events(count)
    pages = walk(client, f"{PATH}?limit={limit}")
    assert [len(page) for page in pages] == sizes
    assert list(chain.from_iterable(pages)) == expected


def test_rows_that_come_and_go_in_between_shift_nothing(client: APIClient) -> None:
    ids = make_events(6)
    first = client.get(f"{PATH}?limit=3").json()
    AuditEvent.objects.filter(pk=ids[1])._raw_delete("default")
    AuditEvent.objects.filter(pk=ids[2])._raw_delete("default")
    make_events(2, later=timedelta(hours=1))
    assert first["results"] + client.get(first["next"]).json()["results"] == ids


def test_a_page_is_one_query_and_has_fifty_rows(
    client: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    make_events(51)
    with django_assert_num_queries(3):  # session, user, rows
        body = client.get(PATH).json()
    assert len(body["results"]) == 50
    assert body["next"].startswith(f"http://testserver{PATH}?cursor=")


@pytest.mark.parametrize("limit", ["0", "-1", "101", "ten", "", "1e1", "٣", "9" * 5000])
def test_a_limit_out_of_range_is_refused(client: APIClient, limit: str) -> None:
    answer = client.get(PATH, {"limit": limit})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["errors"][0]["parameter"] == "limit"


@pytest.mark.parametrize("limit", ["1", "100"])
def test_limits_are_inclusive(client: APIClient, limit: str) -> None:
    assert client.get(PATH, {"limit": limit}).status_code == 200


def spoiled(cursor: str) -> list[Any]:
    payload, *signature = cursor.split(":")
    return [
        pytest.param("", id="empty"),
        pytest.param("x", id="nonsense"),
        pytest.param(payload, id="unsigned"),
        pytest.param(":".join(["A" + payload, *signature]), id="payload"),
        pytest.param(cursor[:-1] + ("A" if cursor[-1] != "A" else "B"), id="signature"),
    ]


@pytest.mark.parametrize(
    "spoil", [pytest.param(number, id=parameter.id) for number, parameter in enumerate(spoiled("a:b:c"))]
)
def test_a_cursor_that_was_tampered_with_is_refused(client: APIClient, spoil: int) -> None:
    make_events(3)
    following = client.get(f"{PATH}?limit=1").json()["next"]
    cursor = following.split("cursor=")[1].split("&")[0].replace("%3A", ":")
    assert client.get(PATH, {"cursor": cursor}).status_code == 200
    answer = client.get(PATH, {"cursor": spoiled(cursor)[spoil].values[0]})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert answer.json()["errors"][0]["parameter"] == "cursor"


def test_a_cursor_is_good_for_its_own_address_only(client: APIClient) -> None:
    make_events(2)
    query = client.get(f"{PATH}?limit=1").json()["next"].split("?")[1]
    answer = client.get(f"/api/v1/probes/other-pages/?{query}")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
