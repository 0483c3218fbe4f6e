"""What tests of the model backend say, and the runs that read it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from chats import distil
from chats.models import Chat, Topic
from memories.extraction import llm
from memories.models import Candidate, Extraction, Memory

from ..builders import transcript
from ..builders import turn as spoken

if TYPE_CHECKING:
    from projects.models import Project


KEY = "sk-test-" + "Zq81LmVx40PdTn6c"
PORT, LOGIN = "数据库端口是 5432", "我们决定登录态存在 HttpOnly Cookie 里"
SAID = f"{PORT}。{LOGIN}。帮我做登录页"
TIMES_OUT_S = 2.0


def item(content: str, **fields: Any) -> dict[str, Any]:
    """An item of an answer as the prompt asks for it."""
    told: dict[str, Any] = {"type": "fact", "content": content, "quote": content, "turn": 1, "role": "user"}
    told |= {"key": "", "replaces": None, "importance": 3, "always": False, "keywords": [], "files": []}
    return told | fields


def distilled(chat: Chat) -> Extraction:
    """The run that reads the turn now."""
    Topic.objects.filter(pk=chat.topic_id).update(
        distil_due_at=timezone.now() - timedelta(seconds=1), distil_retry_at=None
    )
    distil.run(chat.topic_id)
    chat.refresh_from_db()
    return Extraction.objects.latest("id")


def kept(project: Project) -> list[tuple[str, str]]:
    return list(Memory.objects.of(project).live().order_by("id").values_list("status", "content"))


def reasons() -> list[tuple[str, str]]:
    return list(Candidate.objects.order_by("position").values_list("outcome", "reason"))


def extract(*said: Any, **fields: Any) -> Any:
    return llm.Llm().extract(transcript(*(said or (spoken(PORT),)), **fields))
