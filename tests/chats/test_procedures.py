"""A completed topic is read once more as a whole, for the ways of doing a task that it showed."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import timezone

from chats import distil, topics
from chats.endings import FinishRequest, finish_turn
from chats.models import Topic
from chats.steps import add_step
from memories.models import Candidate, Extraction, Memory
from projects.models import Project
from tests.factories import make_project

from .turns import AGENT, opened, turn

pytestmark = pytest.mark.django_db


def worked_on(project: Project, message: str, *tools: dict[str, Any]) -> None:
    chat = opened(project, message).chat
    request = FinishRequest(status="succeeded", reply="好的。", tools=list(tools), files=["dist/app.zip"])
    finish_turn(project=project, chat=chat, request=request, by=AGENT)


def distilled() -> None:
    while distil.run(Topic.objects.get().pk):
        pass


def completed(project: Project) -> None:
    topics.complete_topic(project=project, topic_id=Topic.objects.get().pk, by=AGENT)
    distilled()


@pytest.fixture
def project(settings: Any) -> Project:
    settings.DISTIL_IDLE_S = 0
    return make_project()


def test_what_was_read_before_shows_a_procedure_when_the_topic_is_completed(project: Project) -> None:
    failed = {"name": "push_registry", "ok": False}
    worked_on(
        project, "帮我发布登录页到预发", {"name": "build", "ok": True}, failed, {"name": "upload", "ok": True}
    )
    turn(project, "可以了，没问题。所有接口必须走网关")
    distilled()
    assert not Memory.objects.filter(type="procedure").exists()
    completed(project)
    memory = Memory.objects.get(type="procedure")
    assert (memory.status, memory.content) == (
        "proposed",
        "用于：发布登录页到预发。步骤：1. 发布登录页到预发 (build、upload)。工具：build、upload。产出：dist/app.zip",
    )
    run = Extraction.objects.first()
    assert run is not None
    assert (run.trigger, run.status, run.counts) == ("topic_completed", "succeeded", {"proposed": 1})
    # Nothing is due, and nobody reads it again.
    assert Topic.objects.get().distil_due_at is None
    distilled()
    assert (Memory.objects.count(), Candidate.objects.count()) == (2, 2)


def test_a_completed_topic_is_read_as_a_whole_once(project: Project) -> None:
    worked_on(project, "帮我发布登录页到预发", {"name": "build", "ok": True}, {"name": "upload", "ok": True})
    distilled()
    completed(project)
    runs = Extraction.objects.count()
    due = {"distil_pending": True, "distil_due_at": timezone.now(), "distil_trigger": "topic_completed"}
    Topic.objects.update(**due)
    distilled()
    assert (Extraction.objects.count(), Topic.objects.get().distil_due_at) == (runs, None)


def test_other_agents_whose_steps_succeeded_are_named(project: Project) -> None:
    chat = opened(project, "帮我发布登录页到预发").chat
    for agent, status in (("architect", "succeeded"), ("critic", "failed"), ("editor", "succeeded")):
        add_step(project=project, chat=chat, agent=agent, message="", reply="ok", status=status, ref=agent)
    tools = [{"name": "build", "ok": True}, {"name": "upload", "ok": True}]
    request = FinishRequest(status="succeeded", reply="好的。", tools=tools)
    finish_turn(project=project, chat=chat, request=request, by=AGENT)
    turn(project, "可以了，没问题")
    completed(project)
    assert "(architect、editor、build、upload)" in Memory.objects.get(type="procedure").content


def test_a_completed_topic_without_tools_is_not_read_again(project: Project) -> None:
    turn(project, "帮我发布登录页")
    turn(project, "可以了，没问题")
    distilled()
    runs = Extraction.objects.count()
    topics.complete_topic(project=project, topic_id=Topic.objects.get().pk, by=AGENT)
    assert Topic.objects.get().distil_due_at is None
    distilled()
    assert Extraction.objects.count() == runs
