"""A process that dies in the middle of a request, and the caller who sends the request again."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.utils import timezone

from chats.models import Chat, Instruction, Topic
from memories import store
from memories.models import Memory, Recall
from projects.actors import Actor
from projects.http import idempotency
from projects.models import AuditEvent, IdempotencyRecord
from tests.chats.api.agent import Agent
from tests.factories import make_key, make_memory
from tests.processes import environment

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rest_framework.test import APIClient

    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)
OPENING: dict[str, Any] = {
    "topic": {"ref": "conv-1"},
    "ref": "req-1",
    "message": "From now on use pnpm.\n\nShow the amounts.\n\nRemember: amounts are stored in cents.",
}
# Sends one request; `{place}` is replaced by a function that says so and then never ends.
CHILD = """
    import os, time
    import django
    django.setup()
    from django.conf import settings
    settings.ALLOWED_HOSTS.append("testserver")
    from rest_framework.test import APIClient
    from chats import queue
    import {module} as module

    def stand_still(*args, **kwargs):
        print("here", flush=True)
        time.sleep(60)

    queue.distil = lambda topic_id, delay_s=0.0: None
    module.{name} = stand_still
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION="Bearer " + os.environ["KEY"])
    client.post({path!r}, {body!r}, headers={headers!r})
    print("answered", flush=True)
"""


@pytest.fixture
def secret(project: Project) -> str:
    return make_key(project)[1]


@pytest.fixture
def agent(api: Callable[..., APIClient], secret: str) -> Agent:
    return Agent(api(secret))


@contextmanager
def killed_at(place: str, secret: str, path: str, body: dict[str, Any], **headers: str) -> Iterator[None]:
    """Another process sends the request and comes to `place`, a function by its address; then it is killed."""
    module, _dot, name = place.rpartition(".")
    code = textwrap.dedent(CHILD).format(
        module=module, name=name, path=f"/api/v1/{path}", body=body, headers=headers
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=settings.BASE_DIR,
        env=environment(KEY=secret, DJANGO_SETTINGS_MODULE="config.settings"),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert "here\n" in iter(child.stdout.readline, ""), "the request never came there"
        yield
    finally:
        child.kill()
        child.communicate(timeout=30)


def test_killed_between_the_stored_turn_and_its_recall_the_same_request_gets_turn_and_context(
    agent: Agent, project: Project, secret: str
) -> None:
    known = make_memory(project, "Amounts have two digits.", always=True)
    with killed_at("chats.context.build", secret, "projects/shop/turns/", OPENING):
        pass
    chat = Chat.objects.get()
    kept = Memory.objects.exclude(pk=known.pk).get()
    assert (chat.given, chat.memory_refs, Recall.objects.count()) == ({}, [], 0)

    again = agent.post("projects/shop/turns/", OPENING)
    assert again.status_code == 200
    told = again.json()
    assert (told["turn"]["id"], told["turn"]["status"]) == (chat.pk, "running")
    assert [(item["outcome"], item["memory"]["id"]) for item in told["remembered"]] == [("stored", kept.pk)]
    assert sorted(told["context"]["memory"]["refs"]) == sorted([known.pk, kept.pk])
    assert [rule["content"] for rule in told["context"]["instructions"]] == ["From now on use pnpm"]
    assert agent.post("projects/shop/turns/", OPENING).json() == told
    counts = (Topic, Chat, Instruction, Recall)
    assert [model.objects.count() for model in counts] == [1, 1, 1, 1]
    assert AuditEvent.objects.filter(action="memory.create").count() == 2
    chat.refresh_from_db()
    assert chat.memory_refs == told["context"]["memory"]["refs"]


def test_killed_before_the_turn_was_stored_the_same_request_opens_it(
    agent: Agent, project: Project, secret: str
) -> None:
    with killed_at("chats.hearing._signals", secret, "projects/shop/turns/", OPENING):
        pass
    assert (Topic.objects.count(), Chat.objects.count(), Memory.objects.count()) == (0, 0, 0)
    assert agent.post("projects/shop/turns/", OPENING).status_code == 201
    assert (Chat.objects.count(), Memory.objects.count()) == (1, 1)


def test_a_turn_that_never_got_its_context_says_so_when_it_ends(agent: Agent, secret: str) -> None:
    with killed_at("chats.context.build", secret, "projects/shop/turns/", OPENING):
        pass
    receipt = agent.finish(Chat.objects.get().pk)["receipt"]
    assert receipt["text"] == "Remembered 1 · Memory could not be recalled"
    assert (receipt["used"], receipt["tokens"]) == (0, 0)


def test_killed_between_claim_and_work_the_request_is_under_way_for_a_minute_and_then_happens(
    agent: Agent, project: Project, secret: str
) -> None:
    body, key = {"type": "fact", "content": "Amounts are stored in cents."}, {"Idempotency-Key": "k-1"}
    path = "projects/shop/memories/"
    with killed_at("memories.store.add", secret, path, body, **key):
        pass
    assert (Memory.objects.count(), IdempotencyRecord.objects.get().status) == (0, None)
    early = agent.post(path, body, **key)
    assert (early.status_code, early.json()["code"]) == (409, "request_in_progress")
    assert early.headers["Retry-After"] == "1"
    assert Memory.objects.count() == 0

    age = timedelta(seconds=idempotency.CLAIM_S)
    IdempotencyRecord.objects.update(created_at=timezone.now() - age)
    first = agent.post(path, body, **key)
    assert (first.status_code, "Idempotent-Replayed" in first.headers) == (201, False)
    again = agent.post(path, body, **key)
    assert (again.status_code, again.headers["Idempotent-Replayed"], again.json()) == (
        201,
        "true",
        first.json(),
    )
    assert Memory.objects.count() == 1


def test_killed_between_work_and_answer_the_request_is_answered_and_nothing_is_doubled(
    agent: Agent, project: Project, secret: str
) -> None:
    body, key = {"type": "fact", "content": "Amounts are stored in cents."}, {"Idempotency-Key": "k-1"}
    path = "projects/shop/memories/"
    with killed_at("memories.api.views.changed_json", secret, path, body, **key):
        pass
    memory = Memory.objects.get()
    again = agent.post(path, body, **key)
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (201, "true")
    assert (again.json()["id"], Memory.objects.count()) == (memory.pk, 1)


def test_killed_while_it_finishes_a_turn_ends_once(agent: Agent, secret: str) -> None:
    turn = agent.open("We use MariaDB.")["turn"]["id"]
    ending = {"status": "succeeded", "reply": "Done."}
    with killed_at("chats.schedule.make_due", secret, f"turns/{turn}/finish/", ending):
        pass
    assert (Chat.objects.get().status, Topic.objects.get().distil_pending) == ("running", False)
    with killed_at("chats.api.turns.receipt_json", secret, f"turns/{turn}/finish/", ending):
        pass
    assert (Chat.objects.get().status, Topic.objects.get().distil_pending) == ("succeeded", True)
    assert agent.finish(turn, reply="Done.")["repeated"] is True


@pytest.mark.parametrize("verb", ["edit", "disable", "delete", "purge"])
def test_an_opening_repeated_after_its_memory_changed_tells_what_is_and_gives_what_it_gave(
    agent: Agent, project: Project, verb: str
) -> None:
    first = agent.post("projects/shop/turns/", OPENING).json()
    memory, by = Memory.objects.get(), Actor.for_user(project.owner, transport="web")
    changes = {"changes": {"content": "Amounts are stored in euros."}} if verb == "edit" else {}
    getattr(store, verb)(project=project, memory_id=memory.pk, by=by, **changes)
    again = agent.post("projects/shop/turns/", OPENING)
    assert again.status_code == 200
    told, given = again.json()["remembered"][0], again.json()["context"]["memory"]
    assert told["outcome"] == "stored"
    expected = {
        "edit": ("active", 2, "Amounts are stored in euros."),
        "disable": ("disabled", 2, "amounts are stored in cents"),
    }
    if verb in expected:
        assert (told["memory"]["status"], told["memory"]["version"], told["memory"]["content"]) == expected[
            verb
        ]
    else:
        assert told["memory"] is None
    assert given["refs"] == first["context"]["memory"]["refs"] == [memory.pk]
    assert given["block"] == ("" if verb == "purge" else first["context"]["memory"]["block"])
    assert (Chat.objects.count(), Recall.objects.count()) == (1, 1)
    if verb == "purge":
        assert "cents" not in again.json()["context"]["memory"]["block"]
