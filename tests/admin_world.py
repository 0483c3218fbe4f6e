"""A project in which everything that the admin lists has happened at least once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from axes.models import AccessAttempt
from django.utils import timezone

from chats import distil
from chats.steps import add_step
from chats.topics import complete_topic
from memories import store as memory_store
from memories.extraction import ProviderDown, breaker
from memories.models import Memory, Source
from memories.usage import roll_up
from projects import logins
from projects.actors import Actor
from projects.models import IdempotencyRecord
from tests.chats.turns import finished, opened, turn
from tests.factories import make_key, make_memory, make_project, make_user

if TYPE_CHECKING:
    from chats.models import Chat
    from projects.models import ApiKey, Project


@dataclass(frozen=True, kw_only=True)
class World:
    """The turns: `told` said “remember”, `ruled` set a rule for its topic, `asked` was given memories."""

    project: Project
    key: ApiKey
    memory: Memory
    proposal: Memory
    told: Chat
    ruled: Chat
    asked: Chat


def make_world(slug: str = "shop") -> World:
    """Signals to workers must be off; the distilling is done here."""
    project = make_project(slug, members=[make_user()])
    by = Actor.for_user(project.owner, transport="web")
    key, _secret = make_key(project)
    gone = make_memory(project, "Order numbers have sixteen digits.")
    memory = make_memory(project, "Page references use block ids.", keywords=("block",), files=("src/**",))
    memory = memory_store.edit(
        project=project, memory_id=memory.pk, changes={"importance": 5}, by=by, reason="agreed"
    )
    newer = memory_store.Draft(type="fact", content="Lists show fifty rows.")
    older = make_memory(project, "Lists show twenty rows.", keywords=("list",), files=("src/lists/**",))
    memory_store.replace(project=project, target=older, draft=newer, source=Source.MANUAL, by=by)
    told = turn(
        project,
        "记住：主色用绿色 #1f9d55",
        topic="conv-1",
        topic_title="登录页",
        author_name="梅",
    )
    turn(project, "记住：管理员密码是 Ab12cd34!x9Kq", topic="conv-1")
    ruled = turn(project, "以后按钮文案一律用动词开头。", topic="conv-1")
    turn(project, "不对，应该是先校验手机号再发验证码。", topic="conv-1")
    complete_topic(project=project, topic_id=told.topic_id, by=by)
    assert distil.run(told.topic_id) is False
    running = opened(
        project, "Which block ids do page references use?", topic="conv-2", files=("src/pages/a.vue",)
    )
    add_step(project=project, chat=running.chat, agent="editor", message="go", reply="ok", status="succeeded")
    asked = finished(project, running.chat)
    # Given once, and deleted since: its traces must stay readable.
    turn(project, "How many digits do order numbers have, sixteen?", topic="conv-2")
    memory_store.delete(project=project, memory_id=gone.pk, by=by, reason="wrong")
    roll_up(now=timezone.now() + timedelta(minutes=5))
    IdempotencyRecord.objects.create(
        caller=f"key:{key.pk}", key="once", fingerprint="f", status=201, result={"memory": memory.pk}
    )
    for _failure in range(breaker.FAILURES):
        breaker.failed(breaker.Admission(slug), ProviderDown("timeout"), now=timezone.now())
    for name in (project.owner.get_username(), logins.UNKNOWN + "0123456789abcdef"):
        AccessAttempt.objects.get_or_create(
            username=name,
            ip_address="192.0.2.7",
            defaults={"failures_since_start": 5, "path_info": "/login/"},
        )
    proposal = Memory.objects.of(project).proposed().first()
    assert proposal is not None
    return World(
        project=project, key=key, memory=memory, proposal=proposal, told=told, ruled=ruled, asked=asked
    )
