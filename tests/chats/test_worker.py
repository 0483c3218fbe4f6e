"""The main job with its real parts: the API, a broker, a worker in its own process, the database."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection

from chats.models import Topic
from memories.models import Extraction, Memory
from tests.factories import make_key, make_project
from tests.processes import await_true, worker

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from rest_framework.test import APIClient

    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)


def post(client: APIClient, path: str, body: dict[str, Any]) -> Any:
    response = client.post(f"/api/v1{path}", body)
    assert response.status_code in (200, 201), response.content
    return response.json()


def say(client: APIClient, project: Project, topic: str, ref: str, message: str) -> Any:
    body = {"topic": {"ref": topic}, "ref": ref, "message": message}
    return post(client, f"/projects/{project.slug}/turns/", body)


def finish(client: APIClient, opened: Any) -> Any:
    body = {"status": "succeeded", "reply": "好的。"}
    return post(client, f"/turns/{opened['turn']['id']}/finish/", body)


def nothing_is_due() -> bool:
    connection.close()  # A new transaction: this one would not see what others commit.
    return not Topic.objects.exclude(distil_due_at=None).exists()


@pytest.mark.parametrize("sweep_every_s", ["3600", "0.3"], ids=["by message", "by sweep"])
def test_what_is_said_in_one_topic_is_in_the_block_of_the_next(
    api: Callable[..., APIClient], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sweep_every_s: str
) -> None:
    if sweep_every_s != "3600":
        # The broker loses every message: only the sweep is left.
        monkeypatch.setattr("chats.queue.distil", lambda topic_id, delay_s=0.0: None)
    project = make_project(review_policy="none")
    client = api(make_key(project)[1])
    log = tmp_path / "worker.log"
    with worker(log, SWEEP_EVERY_S=sweep_every_s, DISTIL_IDLE_S="0.1"):
        explicit = say(client, project, "A", "a-1", "记住：页面引用区块要用区块ID。现在做登录页")
        assert [item["outcome"] for item in explicit["remembered"]] == ["stored"]
        finish(client, explicit)
        distilled = say(client, project, "A", "a-2", "我们决定登录态存在 HttpOnly Cookie 里。")
        assert finish(client, distilled)["distil"]["state"] in ("pending", "running")
        await_true(nothing_is_due, told=log)

    assert {run.status for run in Extraction.objects.all()} == {"succeeded"}
    said, kept = Memory.objects.order_by("id")
    assert (said.source, said.content) == ("explicit", "页面引用区块要用区块ID")
    assert (kept.source, kept.type, kept.status) == ("extracted", "decision", "active")
    assert "HttpOnly Cookie" in kept.content

    first = say(client, project, "B", "b-1", "做商品页：引用推荐区块")["context"]["memory"]
    assert first["refs"] == [said.pk]
    assert "页面引用区块要用区块ID" in first["block"]
    second = say(client, project, "B", "b-2", "登录态要怎么存？")["context"]["memory"]
    assert second["refs"] == [kept.pk]
    assert "HttpOnly Cookie" in second["block"]
    turns = Topic.objects.get(ref="B").chats.order_by("seq")
    assert [(turn.memory_refs, turn.memory_tokens) for turn in turns] == [
        (given["refs"], given["tokens"]) for given in (first, second)
    ]
