"""Who the caller is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django.fixtures import SettingsWrapper
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]


def test_a_key_learns_its_project_scopes_and_limits(
    api: Callable[..., APIClient], settings: SettingsWrapper
) -> None:
    settings.API_MAX_BODY_BYTES = 1000
    project = make_project("shop", name="网店", max_items=5, max_tokens=900)
    key, plain = make_key(project, ["recall", "turns"], name="platform")
    body = api(plain).get("/api/v1/me/").json()
    assert body == {
        "kind": "key",
        "key": {
            "id": key.pk,
            "name": "platform",
            "prefix": key.prefix,
            "project": {"slug": "shop", "name": "网店"},
            "expires_at": None,
        },
        "user": None,
        "scopes": ["turns", "recall"],
        "limits": {"body_bytes": 1000, "page": 100, "max_items": 5, "max_tokens": 900, "requests": None},
    }
    assert plain not in str(body)


def test_a_platform_key_has_no_project(api: Callable[..., APIClient]) -> None:
    body = api(make_key(None, ["projects"])[1]).get("/api/v1/me/").json()
    assert body["key"]["project"] is None
    assert body["scopes"] == ["projects"]
    assert (body["limits"]["max_items"], body["limits"]["max_tokens"]) == (None, None)


def test_a_person_learns_who_they_are(api_as: Callable[..., APIClient]) -> None:
    user = make_user("ana", first_name="Ana", last_name="Li", email="ana@example.org")
    body = api_as(user).get("/api/v1/me/").json()
    assert body["kind"] == "user"
    assert body["user"] == {"id": user.pk, "username": "ana", "name": "Ana Li"}
    assert (body["key"], body["scopes"]) == (None, [])
