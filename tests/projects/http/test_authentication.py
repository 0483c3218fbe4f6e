"""Who calls: keys and sessions."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from projects import store
from projects.actors import SYSTEM
from projects.models import ApiKey, Project
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django import DjangoAssertNumQueries
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]


def test_a_key_signs_in_with_one_query_and_its_use_is_noted_once_a_minute(
    api: Callable[..., APIClient], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    key, plain = make_key(make_project("shop"))
    client = api(plain)
    with django_assert_num_queries(2):
        assert client.get("/api/v1/me/").status_code == 200
    key.refresh_from_db()
    first = key.last_used_at
    assert first is not None
    with django_assert_num_queries(1):
        assert client.get("/api/v1/me/").status_code == 200
    key.refresh_from_db()
    assert key.last_used_at == first

    ApiKey.objects.update(last_used_at=first - timedelta(seconds=61))
    with django_assert_num_queries(2):
        client.get("/api/v1/me/")
    key.refresh_from_db()
    assert first < key.last_used_at <= timezone.now()


def other_secret(plain: str, key: ApiKey) -> str:
    return plain[:-1] + ("0" if plain[-1] != "0" else "1")


def revoked(plain: str, key: ApiKey) -> str:
    store.revoke_key(key=key, by=SYSTEM)
    return plain


def expired(plain: str, key: ApiKey) -> str:
    ApiKey.objects.filter(pk=key.pk).update(expires_at=timezone.now())
    return plain


@pytest.mark.parametrize(
    "spoil",
    [
        other_secret,
        revoked,
        expired,
        pytest.param(lambda plain, key: f"cairn_{key.prefix}", id="prefix alone"),
        pytest.param(lambda plain, key: f"cairn_{key.prefix}_{key.digest}", id="digest as secret"),
        pytest.param(lambda plain, key: f"cairn_ffffffffffff_{plain.split('_')[2]}", id="other prefix"),
        pytest.param(lambda plain, key: plain.upper(), id="upper case"),
        pytest.param(lambda plain, key: "", id="empty"),
        pytest.param(lambda plain, key: f"{plain} {plain}", id="twice"),
        pytest.param(lambda plain, key: "clé", id="not ascii"),
    ],
)
def test_a_key_that_is_not_good_is_401_and_does_nothing(
    spoil: Callable[[str, ApiKey], str], api: Callable[..., APIClient]
) -> None:
    project = make_project("shop")
    key, plain = make_key(project)
    answer = api(spoil(plain, key)).post("/api/v1/probes/access/shop/")
    assert (answer.status_code, answer.json()["code"]) == (401, "key_invalid")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="cairn", error="invalid_token"'
    assert Project.objects.get().description == ""
    assert ApiKey.objects.get().last_used_at is None


def test_a_key_still_works_until_it_expires(api: Callable[..., APIClient]) -> None:
    _key, plain = make_key(make_project(), expires_at=timezone.now() + timedelta(minutes=1))
    assert api(plain).get("/api/v1/me/").status_code == 200


@pytest.mark.parametrize("header", [None, "Basic dTpw", "Token x", "Bearerx"])
def test_no_key_and_no_session_is_401(header: str | None, api: Callable[..., APIClient]) -> None:
    client = api()
    if header:
        client.credentials(HTTP_AUTHORIZATION=header)
    answer = client.get("/api/v1/me/")
    assert (answer.status_code, answer.json()["code"]) == (401, "key_invalid")
    assert answer.headers["WWW-Authenticate"] == 'Bearer realm="cairn"'


@pytest.mark.parametrize("header", ["Bearer cairn_a_b", "Bearer", "Basic dTpw", "Token x", "x"])
def test_a_bad_key_is_not_rescued_by_a_session(header: str, api_as: Callable[..., APIClient]) -> None:
    client = api_as(make_user())
    client.credentials(HTTP_AUTHORIZATION=header)
    assert client.get("/api/v1/me/").status_code == 401


def test_a_session_writes_with_the_csrf_token_only(api_as: Callable[..., APIClient]) -> None:
    project = make_project("shop")
    client = api_as(project.owner, csrf=True)
    assert client.get("/api/v1/me/").json()["user"]["username"] == project.owner.username
    answer = client.post("/api/v1/probes/access/shop/", {})
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")
    project.refresh_from_db()
    assert project.description == ""

    client.cookies["csrftoken"] = token = "a" * 32
    answer = client.post("/api/v1/probes/access/shop/", {}, headers={"X-CSRFToken": token})
    assert answer.status_code == 200
    project.refresh_from_db()
    assert project.description == "touched"


def test_a_key_needs_no_csrf_token(api: Callable[..., APIClient]) -> None:
    _key, plain = make_key(make_project("shop"))
    client = api(plain)
    client.handler.enforce_csrf_checks = True
    assert client.post("/api/v1/probes/access/shop/", {}).status_code == 200


def test_a_user_who_was_switched_off_is_signed_out(api_as: Callable[..., APIClient]) -> None:
    user = make_user()
    client = api_as(user)
    user.is_active = False
    user.save()
    assert client.get("/api/v1/me/").status_code == 401
