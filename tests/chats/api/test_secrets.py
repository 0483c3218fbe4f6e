"""A secret that is sent through any door is refused or masked: the words of the talk alone may hold it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps

from chats import distil
from chats.models import Chat, Topic
from memories.models import Memory, Recall

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db
PASSWORD = "Canary-Passw0rd-9x"
TOKEN = "AKIAQX7TZ4MWP2RN9KBV"
MEMORIES = "/api/v1/projects/shop/memories/"


def holding_a_secret() -> set[str]:
    """Tables and columns, but for those of chats."""
    return {
        f"{model._meta.db_table}.{column}"
        for model in apps.get_models()
        if model is not Chat
        for row in model._base_manager.values()
        for column, value in row.items()
        if any(secret.casefold() in str(value).casefold() for secret in (PASSWORD, TOKEN))
    }


def test_what_is_said_stays_in_the_chat(agent: Agent) -> None:
    turns = [
        agent.open(message, files=[f"{TOKEN}.env"], attached=f"password={PASSWORD}")["turn"]["id"]
        for message in (
            f"记住：数据库密码是 {PASSWORD}",
            f"记住[{TOKEN}]：端口用 8080",
            f"Remember [password={PASSWORD}]: tables show 20 rows",
            f"以后都用密码 {PASSWORD} 登录测试库。",
            f"忘掉：密码是 {PASSWORD}",
            f"我们决定访问密钥一律用 {TOKEN}。",
        )
    ]
    agent.post(f"turns/{turns[0]}/context/", {"message": f"不对，密码应该是 {PASSWORD}"})
    agent.post(f"turns/{turns[0]}/steps/", {"agent": "a", "message": TOKEN, "reply": PASSWORD})
    for turn in turns:
        agent.finish(turn, reply=f"Use {TOKEN}.", error=f"password={PASSWORD}", milestone=TOKEN)
    Topic.objects.update(distil_due_at=Topic.objects.first().created_at)  # type: ignore[union-attr]
    for topic in Topic.objects.all():
        distil.run(topic.pk)
    assert Chat.objects.undistilled().count() == 0
    assert Recall.objects.exclude(files=[]).exists()
    assert holding_a_secret() == set()


@pytest.mark.parametrize("key", [TOKEN, f"password={PASSWORD}", f"密码是 {PASSWORD}"])
def test_a_key_is_guarded_as_it_was_written(
    key: str, project: Project, agent: Agent, api_as: Callable[..., APIClient]
) -> None:
    person = api_as(project.owner)
    made = person.post(MEMORIES, {"type": "fact", "content": "Tables show 20 rows.", "key": "rows"})
    answers: list[Any] = [
        person.post(MEMORIES, {"type": "fact", "content": "Builds run on Debian.", "key": key}),
        person.patch(f"{MEMORIES}{made.json()['id']}/", {"key": key}, headers={"If-Match": "*"}),
    ]
    assert [answer.status_code for answer in answers] == [422, 422]
    assert [answer.json()["errors"][0]["pointer"] for answer in answers] == ["/key", "/key"]
    told = agent.open(f"记住[{key}]：端口用 8080")
    assert [refused["code"] for refused in told["refused"]] == ["secret_found"]
    assert Memory.objects.get().key == "rows"
    assert holding_a_secret() == set()
