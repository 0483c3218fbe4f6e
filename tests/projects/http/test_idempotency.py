"""A POST with an `Idempotency-Key` happens once, whatever goes wrong."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from projects.http import idempotency
from projects.models import AuditEvent, IdempotencyRecord, Project
from tests.factories import make_user
from tests.projects import urls

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]
PATH = "/api/v1/probes/once/"


def post(client: APIClient, slug: str = "shop", key: str | None = "k-1", path: str = PATH) -> Any:
    return client.post(path, {"slug": slug}, headers={"Idempotency-Key": key} if key else {})


@pytest.fixture
def client(api_as: Callable[..., APIClient]) -> APIClient:
    return api_as(make_user("ana"))


def test_a_repeated_request_is_answered_again_from_the_present_state(client: APIClient) -> None:
    first = post(client)
    assert (first.status_code, first.json()) == (201, {"name": "shop"})
    assert "Idempotent-Replayed" not in first.headers
    Project.objects.update(name="renamed since")

    again = post(client)
    assert (again.status_code, again.json()) == (201, {"name": "renamed since"})
    assert again.headers["Idempotent-Replayed"] == "true"
    assert (Project.objects.count(), AuditEvent.objects.count()) == (1, 1)


def test_what_is_stored_is_status_and_ids(client: APIClient) -> None:
    post(client)
    record = IdempotencyRecord.objects.get()
    assert (record.status, record.result) == (201, {"project": Project.objects.get().pk})
    assert "shop" not in str(IdempotencyRecord.objects.values().get())


@pytest.mark.parametrize(
    ("slug", "path"),
    [
        pytest.param("other", PATH, id="other body"),
        pytest.param("shop", PATH + "?dry_run=1", id="other query"),
    ],
)
def test_a_key_is_not_for_another_request(client: APIClient, slug: str, path: str) -> None:
    post(client)
    answer = post(client, slug, path=path)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert Project.objects.count() == 1


def test_each_caller_has_keys_of_their_own(client: APIClient, api_as: Callable[..., APIClient]) -> None:
    assert post(client).status_code == 201
    assert post(api_as(make_user()), "second").status_code == 201
    assert IdempotencyRecord.objects.count() == 2


def test_keys_differ_byte_by_byte(client: APIClient) -> None:
    assert [post(client, slug, key).status_code for slug, key in (("a", "k"), ("b", "K"))] == [201, 201]


def test_without_a_key_nothing_is_stored(client: APIClient) -> None:
    assert post(client, key=None).status_code == 201
    assert IdempotencyRecord.objects.count() == 0


@pytest.mark.parametrize("key", ["", "a b", "x" * 201, "é"])
def test_a_key_out_of_shape_is_refused(client: APIClient, key: str) -> None:
    answer = client.post(PATH, {"slug": "shop"}, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert Project.objects.count() == 0


def test_the_same_request_while_the_first_is_under_way_is_409(
    client: APIClient, api_as: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    second = []
    monkeypatch.setattr(urls, "during_act", lambda: second.append(post(client)))
    assert post(client).status_code == 201
    assert (second[0].status_code, second[0].json()["code"]) == (409, "request_in_progress")
    assert second[0].headers["Retry-After"] == "1"
    assert Project.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_a_request_that_was_refused_may_be_sent_again(
    client: APIClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail() -> None:
        raise idempotency.Problem(409, "key_taken", "taken")

    with monkeypatch.context() as patch:
        patch.setattr(urls, "during_act", fail)
        assert post(client).json()["code"] == "key_taken"
    assert (Project.objects.count(), IdempotencyRecord.objects.count()) == (0, 0)
    assert post(client).status_code == 201


def test_a_claim_whose_process_died_is_taken_over_after_a_minute(client: APIClient) -> None:
    post(client)
    Project.objects.all().delete()
    record = IdempotencyRecord.objects.get()
    age = timedelta(seconds=idempotency.CLAIM_S)
    IdempotencyRecord.objects.update(status=None, result={}, created_at=timezone.now() - age / 2)
    assert post(client).status_code == 409
    assert Project.objects.count() == 0

    IdempotencyRecord.objects.update(created_at=timezone.now() - age)
    assert post(client).status_code == 201
    assert IdempotencyRecord.objects.get().pk == record.pk
    assert post(client).headers["Idempotent-Replayed"] == "true"


@pytest.mark.django_db(transaction=True)
def test_who_lost_the_claim_rolls_back(client: APIClient, monkeypatch: pytest.MonkeyPatch) -> None:
    taken_at = timezone.now() + timedelta(seconds=90)

    def lose_it() -> None:
        IdempotencyRecord.objects.update(created_at=taken_at)

    monkeypatch.setattr(urls, "during_act", lose_it)
    answer = post(client)
    assert (answer.status_code, answer.json()["code"]) == (409, "request_in_progress")
    assert (Project.objects.count(), AuditEvent.objects.count()) == (0, 0)


def test_after_a_day_the_key_is_free_again(client: APIClient) -> None:
    post(client)
    Project.objects.update(slug="renamed")
    for age, status in ((timedelta(hours=23, minutes=59), 422), (timedelta(hours=24, seconds=1), 201)):
        IdempotencyRecord.objects.update(created_at=timezone.now() - age)
        assert post(client, "another").status_code == status


def test_the_clean_up_deletes_what_is_over(client: APIClient) -> None:
    for number in range(3):
        post(client, f"p{number}", f"k{number}")
    now = timezone.now()
    assert idempotency.forget_expired(now=now) == 0
    later = now + timedelta(hours=24, seconds=1)
    assert idempotency.forget_expired(now=later, limit=2) == 2
    assert idempotency.forget_expired(now=later) == 1


@pytest.mark.django_db(transaction=True)
def test_eight_at_once_do_it_once(api_as: Callable[..., APIClient]) -> None:
    user = make_user()
    clients = [api_as(user) for _ in range(8)]
    barrier = threading.Barrier(len(clients))
    answers: list[tuple[int, str]] = []

    def send(client: APIClient) -> None:
        barrier.wait()
        answer = post(client)
        answers.append((answer.status_code, answer.json().get("code", "")))
        connection.close()

    threads = [threading.Thread(target=send, args=(client,)) for client in clients]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) <= {(201, ""), (409, "request_in_progress")}
    assert (201, "") in answers
    assert len(answers) == 8
    assert (Project.objects.count(), AuditEvent.objects.count()) == (1, 1)
    assert post(clients[0]).headers["Idempotent-Replayed"] == "true"
