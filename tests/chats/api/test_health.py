"""Health for probes: no key; the database, migrations and the tokenizer are needed, the broker is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from celery import current_app
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from memories import tokens

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db
READY = "/api/v1/health/ready/"


def test_live_needs_no_key_and_no_database(
    api: Callable[..., APIClient], django_assert_num_queries: Callable[..., object]
) -> None:
    with django_assert_num_queries(0):  # type: ignore[attr-defined]
        answer = api().get("/api/v1/health/live/")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_ready(api: Callable[..., APIClient]) -> None:
    answer = api().get(READY)
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "checks": {"database": "ok", "migrations": "ok", "tokenizer": "ok", "broker": "ok"},
    }


def checks(api: Callable[..., APIClient]) -> dict[str, str]:
    answer = api().get(READY)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer["Retry-After"] == "5"
    return answer.json()["checks"]


def test_not_ready_while_migrations_wait(api: Callable[..., APIClient]) -> None:
    MigrationRecorder.Migration.objects.filter(app="chats", name="0002_initial").delete()
    assert checks(api) == {"database": "ok", "migrations": "missing", "tokenizer": "ok", "broker": "ok"}


def test_not_ready_without_the_database(
    api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise DatabaseError("gone")

    monkeypatch.setattr(connection, "cursor", gone)
    assert checks(api) == {"database": "missing", "migrations": "unknown", "tokenizer": "ok", "broker": "ok"}


def test_not_ready_without_the_tokenizer(
    api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def damaged() -> None:
        raise tokens.TokenizerUnavailable("damaged")

    monkeypatch.setattr(tokens, "check", damaged)
    assert checks(api)["tokenizer"] == "missing"


def test_ready_without_the_broker_which_is_told(
    api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unreachable() -> None:
        raise OSError("connection refused")

    monkeypatch.setattr(current_app, "connection_for_write", unreachable)
    answer = api().get(READY)
    assert (answer.status_code, answer.json()["checks"]["broker"]) == (200, "missing")
