"""Addresses with and without the final slash."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from projects.models import Project
from tests.factories import make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]
MIDDLEWARE = "projects.http.slashes.TrailingSlashMiddleware"


@pytest.fixture(autouse=True)
def _with_the_middleware(settings: SettingsWrapper) -> None:
    others = [name for name in settings.MIDDLEWARE if name != MIDDLEWARE]
    common = others.index("django.middleware.common.CommonMiddleware")
    settings.MIDDLEWARE = [*others[:common], MIDDLEWARE, *others[common:]]


def test_a_write_without_the_slash_works(api_as: Callable[..., APIClient]) -> None:
    client = api_as(make_user())
    assert client.put("/api/v1/projects/shop", {"name": "Shop"}).status_code == 201
    assert client.post("/api/v1/probes/access/shop?x=1", {}).json()["project"] == "shop"
    assert client.patch("/api/v1/projects/shop", {"name": "New"}).json()["name"] == "New"
    assert client.delete("/api/v1/projects/shop").status_code == 204
    assert not Project.objects.exists()


def test_with_or_without_it_is_the_same_request(api_as: Callable[..., APIClient]) -> None:
    client = api_as(make_user())
    key = {"Idempotency-Key": "k"}
    first = client.post("/api/v1/probes/once", {"slug": "shop"}, headers=key)
    again = client.post("/api/v1/probes/once/", {"slug": "shop"}, headers=key)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.headers["Idempotent-Replayed"] == "true"


def test_a_read_without_the_slash_is_sent_on(api_as: Callable[..., APIClient]) -> None:
    answer = api_as(make_user()).get("/api/v1/me?x=1")
    assert (answer.status_code, answer.headers["Location"]) == (301, "/api/v1/me/?x=1")


def test_an_address_that_leads_nowhere_stays_404(client: Client) -> None:
    answer = client.post("/api/v1/nowhere", {})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")


@pytest.mark.urls("config.urls")  # the page of a wrong address is the site's
def test_outside_the_api_nothing_changes(client: Client) -> None:
    assert client.post("/nowhere", {}).status_code == 404
