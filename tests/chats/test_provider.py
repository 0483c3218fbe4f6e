"""A real worker whose model provider fails over HTTP, or takes the worker along."""

from __future__ import annotations

import time
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.utils import timezone

from chats import queue, topics
from chats.models import Chat, Topic
from memories.models import Breaker, Extraction, Memory
from tests.chats.turns import AGENT, turn
from tests.factories import make_project
from tests.llm_server import Answer, llm_server, refusal
from tests.processes import await_true, worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from projects.models import Project
    from tests.llm_server import LlmServer

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _only_the_sweep_tells_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)


@pytest.fixture
def project() -> Project:
    return make_project(review_policy="none")


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server() as running:
        yield running


# Loaded once, before the processes that do the work are forked from it.
SDK = "memories.extraction.llm"


def model_at(server: LlmServer, **changes: str) -> dict[str, str]:
    """The environment of a worker that distils with this server's model."""
    return {
        "EXTRACTION_BACKEND": "llm",
        "LLM_BASE_URL": server.base_url,
        "LLM_API_KEY": "some-key",
        "LLM_MODEL": "plain",
        "SWEEP_EVERY_S": "0.3",
        **changes,
    }


def make_due() -> None:
    past = timezone.now() - timedelta(seconds=1)
    Topic.objects.filter(distil_pending=True).update(distil_due_at=past)


def fresh() -> None:
    """This process sees what the worker committed since."""
    connection.close()


def test_a_provider_that_fails_is_left_alone_and_asked_again_when_its_pause_is_over(
    project: Project, server: LlmServer, tmp_path: Path
) -> None:
    for number in range(7):
        turn(project, f"service{number} 的端口是 {number + 1}000。", topic=f"topic {number}")
    server.script = [refusal(status, "Something broke.") for status in (500, 502, 503, 529)]
    server.script += [refusal(429, "Slow down.", headers={"Retry-After": "90"})]
    make_due()
    log = tmp_path / "worker.log"
    with worker(log, include=SDK, **model_at(server)):
        await_true(lambda: (fresh(), Topic.objects.exclude(distil_waits_for="").count() == 7)[1], told=log)
        time.sleep(1.5)  # several sweeps
        assert len(server.asked) == 5
        row = Breaker.objects.get()
        assert (row.backend, row.failures, row.reason) == ("llm", 5, "rate_limited")
        assert 60 < (row.retry_at - timezone.now()).total_seconds() <= 90
        assert list(Extraction.objects.order_by("id").values_list("error", flat=True)) == [
            *["server_error"] * 4,
            "rate_limited",
        ]
        assert Chat.objects.filter(distil_attempts=0, distil_outcome=None).count() == 7
        topics.try_provider_now("llm", by=AGENT)
        await_true(lambda: (fresh(), not Chat.objects.undistilled().exists())[1], told=log)
    assert Breaker.objects.get().opened_at is None
    assert sorted(run.result for run in Extraction.objects.all()) == ["kept"] * 7 + ["provider_down"] * 5
    assert Memory.objects.count() == 7


def test_a_model_that_takes_longer_than_a_run_may_does_not_take_the_worker_along(
    project: Project, server: LlmServer, tmp_path: Path
) -> None:
    chat = turn(project, "service1 的端口是 1000。")
    server.script = [Answer(wait_s=60, drop=True)]
    make_due()
    log = tmp_path / "worker.log"
    limits = {"DISTIL_SOFT_LIMIT_S": "4", "DISTIL_HARD_LIMIT_S": "50", "CELERY_SKIP_CHECKS": "1"}
    with worker(log, include=SDK, **model_at(server, **limits)):
        await_true(lambda: (fresh(), Extraction.objects.filter(status="failed").exists())[1], told=log)
    assert [run.result for run in Extraction.objects.all()] == ["timed_out"]
    topic = Topic.objects.get(pk=chat.topic_id)
    assert (topic.distil_lease_token, topic.distil_pending) == (None, True)


def test_a_turn_whose_worker_is_killed_each_time_is_given_up(
    project: Project, server: LlmServer, tmp_path: Path
) -> None:
    chat = turn(project, "service1 的端口是 1000。")
    server.script = [Answer(wait_s=60, drop=True) for _ in range(5)]
    make_due()
    log = tmp_path / "worker.log"
    limits = {"DISTIL_SOFT_LIMIT_S": "0", "DISTIL_HARD_LIMIT_S": "3", "DISTIL_LEASE_S": "4"}
    with worker(log, include=SDK, **model_at(server, CELERY_SKIP_CHECKS="1", **limits)):
        await_true(lambda: (fresh(), not Chat.objects.undistilled().exists())[1], told=log, within_s=150)
    runs = Extraction.objects.order_by("id")
    assert [(run.result, run.attempts) for run in runs] == [("abandoned", number) for number in (1, 2, 3)]
    chat.refresh_from_db()
    assert (chat.distil_outcome, chat.extraction.attempts) == ("failed", 3)
    assert Topic.objects.get().distil_due_at is None
