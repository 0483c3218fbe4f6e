"""Each task is one line, however it ends, with the id of the request that caused it and without what it was given."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from kombu import Connection

from chats import queue
from config import task_log
from config.celery import app
from projects.http import request_id
from tests.config.tasks import SECRET
from tests.processes import await_true, worker

if TYPE_CHECKING:
    from pathlib import Path


def task_lines(log: Path) -> list[dict[str, Any]]:
    lines = (json.loads(line) for line in log.read_text().splitlines() if line.startswith("{"))
    return [line for line in lines if line["logger"] == "config.task_log"]


@pytest.fixture
def broker(tmp_path: Path) -> Connection:
    """The worker's own, made of files."""
    folder = tmp_path / "broker"
    for name in ("queue", "processed", "control"):
        (folder / name).mkdir(parents=True)
    options = {
        "data_folder_in": str(folder / "queue"),
        "data_folder_out": str(folder / "queue"),
        "processed_folder": str(folder / "processed"),
        "control_folder": str(folder / "control"),
    }
    return Connection("filesystem://localhost/", transport_options=options)


def test_a_task_is_one_line_however_it_ends(tmp_path: Path, broker: Connection) -> None:
    ends = {
        "tests.succeed": [("info", "succeeded", None, 0)],
        "tests.fail": [("error", "failed", "IntegrityError", 0)],
        "tests.try_again": [("info", "retried", "ValueError", 0), ("error", "failed", "ValueError", 1)],
        "tests.dawdle": [("error", "timed_out", "SoftTimeLimitExceeded", 0)],
        "tests.hang": [("error", "timed_out", "TimeLimitExceeded", 0)],
        "tests.die": [("error", "lost", "WorkerLostError", 0)],
    }
    log = tmp_path / "worker.log"
    changes = {
        "CAIRN_DATA_DIR": str(tmp_path),
        "DATABASE_URL": f"sqlite:///{tmp_path / 'db.sqlite3'}",
        "CELERY_BROKER_URL": "filesystem://localhost/",
        "SWEEP_EVERY_S": "3600",
    }
    with worker(log, include="tests.config.tasks", **changes), broker:
        for topic, name in enumerate(ends):
            headers = {request_id.HEADER: f"req-{topic}"}
            app.send_task(name, args=[topic, SECRET], connection=broker, headers=headers)
        await_true(lambda: len(task_lines(log)) >= 7, told=log)
    lines = task_lines(log)
    found: dict[str, list[Any]] = {name: [] for name in ends}
    for line in lines:
        found[line["task"]].append((line["level"], line["outcome"], line.get("error"), line["retries"]))
    assert found == ends
    assert {(line["task"], line["topic"], line["request_id"]) for line in lines} == {
        (name, topic, f"req-{topic}") for topic, name in enumerate(ends)
    }
    assert all(line["ms"] >= 0 and line["task_id"] for line in lines)
    assert SECRET not in log.read_text()
    # What nobody expected has its traceback in a line of its own, of the same request.
    [error] = [
        line
        for line in map(json.loads, filter(lambda line: line.startswith("{"), log.read_text().splitlines()))
        if line.get("exception", {}).get("class") == "django.db.utils.IntegrityError"
    ]
    assert error["request_id"] == "req-1"
    assert any(frame.startswith("tests/config/tasks.py:") for frame in error["exception"]["frames"])


def test_a_worker_is_told_which_request_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    sent: list[dict[str, Any]] = []
    monkeypatch.setattr(
        "chats.queue.current_app", type("App", (), {"send_task": lambda *_, **told: sent.append(told)})
    )
    request_id.begin("req-9")
    queue.distil(7)
    assert [told["headers"] for told in sent] == [{"X-Request-ID": "req-9"}]


@pytest.mark.parametrize("unheard", [None, {}, {"X-Request-ID": 7}, {"X-Request-ID": "two\nlines"}])
def test_a_task_that_no_request_caused_has_an_id_of_its_own(unheard: Any) -> None:
    made = request_id.begin(task_log.caused_by(unheard))
    assert len(made) == 32
    assert made.isalnum()
