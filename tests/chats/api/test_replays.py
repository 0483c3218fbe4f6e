"""Every POST of the API with an `Idempotency-Key`: sent again it happens once, and is answered from what is now."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from chats.models import Chat, Instruction, Topic
from memories import store
from memories.models import Extraction, Memory
from projects.actors import Actor
from projects.models import IdempotencyRecord
from tests.factories import make_key, make_memory
from tests.memories.test_store import learned, proposal

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db
MEMORIES = "projects/shop/memories/"
# An opening is idempotent by its ref; trying recall out changes nothing.
WITHOUT_A_KEY = {"chats:turn-list", "memories:recall"}


@dataclass(frozen=True, kw_only=True)
class Sent:
    """A request; `other` is a body that makes it another one. A context is recalled for anew each time: it `writes`."""

    path: str
    status: int
    body: dict[str, Any] = field(default_factory=dict)
    other: dict[str, Any] = field(default_factory=lambda: {"reason": "another"})
    writes: tuple[str, ...] = ()


def _turn(agent: Agent) -> int:
    return agent.open("From now on use pnpm.")["turn"]["id"]


def _memory(project: Project) -> str:
    return f"{MEMORIES}{make_memory(project, 'Amounts are stored in cents.').pk}/"


def _gone(project: Project) -> str:
    memory = make_memory(project)
    store.delete(project=project, memory_id=memory.pk, by=Actor.for_user(project.owner, transport="web"))
    return f"{MEMORIES}{memory.pk}/"


def _failed_run(agent: Agent) -> int:
    turn = agent.turn("We use MariaDB.")
    topic = Topic.objects.get(chats=turn)
    return Extraction.objects.create(
        project=topic.project, topic=topic, trigger="turn", status="failed", backend="rules", lease_token="t"
    ).pk


def _switched(project: Project) -> int:
    memory = make_memory(project)
    by = Actor.for_user(project.owner, transport="web")
    return store.disable(project=project, memory_id=memory.pk, by=by).pk


def _rule(agent: Agent) -> int:
    agent.turn("From now on use pnpm.")
    return Instruction.objects.get().pk


ROUTES: dict[str, Callable[[Project, Agent], Sent]] = {
    "memories:memory-list": lambda project, agent: Sent(
        path=MEMORIES,
        status=201,
        body={"type": "fact", "content": "Amounts are stored in cents."},
        other={"type": "fact", "content": "Amounts are stored in euros."},
    ),
    "memories:memory-bulk": lambda project, agent: Sent(
        path=f"{MEMORIES}bulk/",
        status=200,
        body={"action": "disable", "ids": [make_memory(project).pk]},
        other={"action": "enable", "ids": [1]},
    ),
    "memories:memory-disable": lambda project, agent: Sent(path=f"{_memory(project)}disable/", status=200),
    "memories:memory-enable": lambda project, agent: Sent(
        path=f"{MEMORIES}{learned(project, status='disabled').pk}/enable/", status=200
    ),
    "memories:memory-confirm": lambda project, agent: Sent(
        path=f"{MEMORIES}{proposal(project).pk}/confirm/", status=200
    ),
    "memories:memory-reject": lambda project, agent: Sent(
        path=f"{MEMORIES}{proposal(project).pk}/reject/", status=200
    ),
    "memories:memory-restore": lambda project, agent: Sent(path=f"{_gone(project)}restore/", status=200),
    "memories:memory-archive": lambda project, agent: Sent(path=f"{_memory(project)}archive/", status=200),
    "memories:memory-undo": lambda project, agent: Sent(
        path=f"{MEMORIES}{_switched(project)}/undo/", status=200, other={"undoes_version": 1}
    ),
    "memories:memory-merge": lambda project, agent: Sent(
        path=f"{_memory(project)}merge/",
        status=200,
        body={"into": make_memory(project).pk},
        other={"into": 1},
    ),
    "memories:memory-purge": lambda project, agent: Sent(path=f"{_memory(project)}purge/", status=204),
    "chats:turn-context": lambda project, agent: Sent(
        path=f"turns/{_turn(agent)}/context/",
        status=200,
        body={"message": "Remember: lists show 20 rows."},
        other={"message": "Remember: lists show 50 rows."},
        writes=("memories.Recall", "memories.RecallItem"),
    ),
    "chats:turn-steps": lambda project, agent: Sent(
        path=f"turns/{_turn(agent)}/steps/", status=201, body={"agent": "editor"}, other={"agent": "tester"}
    ),
    "chats:turn-finish": lambda project, agent: Sent(
        path=f"turns/{_turn(agent)}/finish/",
        status=200,
        body={"status": "succeeded", "reply": "Done."},
        other={"status": "succeeded", "reply": "Otherwise."},
    ),
    "chats:topic-complete": lambda project, agent: Sent(
        path=f"topics/{Chat.objects.get(pk=_turn(agent)).topic_id}/complete/", status=200, other={}
    ),
    "chats:instruction-dismiss": lambda project, agent: Sent(
        path=f"instructions/{_rule(agent)}/dismiss/", status=200, other={}
    ),
    "chats:instruction-promote": lambda project, agent: Sent(
        path=f"instructions/{_rule(agent)}/promote/", status=200, other={"author": {"ref": "ana"}}
    ),
    "chats:erase-person": lambda project, agent: Sent(
        path="projects/shop/erase-person/",
        status=200,
        body={"author_ref": "ana"},
        other={"author_ref": "bob"},
    ),
    "chats:extraction-retry": lambda project, agent: Sent(
        path=f"extractions/{_failed_run(agent)}/retry/", status=202, other={}
    ),
}


def posts() -> set[str]:
    """The names of the API's addresses that take a POST."""

    def walk(patterns: Any, space: str = "") -> Any:
        for pattern in patterns:
            if isinstance(pattern, URLResolver):
                yield from walk(pattern.url_patterns, pattern.namespace or space)
            elif isinstance(pattern, URLPattern) and hasattr(getattr(pattern.callback, "cls", None), "post"):
                yield f"{space}:{pattern.name}"

    return set(walk(get_resolver("config.urls").url_patterns))


def rows() -> dict[str, int]:
    return {
        model._meta.label: model._base_manager.count()
        for model in apps.get_models()
        if model is not IdempotencyRecord
    }


@pytest.fixture
def ana(api_as: Callable[..., APIClient], project: Project) -> APIClient:
    """The owner, who may everything."""
    return api_as(project.owner)


@pytest.fixture
def sent(request: pytest.FixtureRequest, agent: Agent, project: Project) -> Sent:
    return ROUTES[request.param](project, agent)


def send(client: APIClient, sent: Sent, body: dict[str, Any] | None = None, *, key: str = "k-1") -> Any:
    body = sent.body if body is None else body
    return client.post(f"/api/v1/{sent.path}", body, headers={"Idempotency-Key": key})


every_route = pytest.mark.parametrize("sent", ROUTES, indirect=True)


def test_every_post_is_here() -> None:
    assert posts() - set(ROUTES) == WITHOUT_A_KEY
    assert set(ROUTES) <= posts()


@every_route
def test_sent_again_it_is_answered_again_and_nothing_more_happens(ana: APIClient, sent: Sent) -> None:
    first = send(ana, sent)
    assert (first.status_code, first.headers.get("Idempotent-Replayed")) == (sent.status, None), first.content
    before = rows()
    again = send(ana, sent)
    assert (again.status_code, again.headers["Idempotent-Replayed"]) == (sent.status, "true")
    assert again.content == first.content
    assert {name for name, count in rows().items() if count != before[name]} == set(sent.writes)
    record = IdempotencyRecord.objects.get()
    assert (record.status, record.caller) == (sent.status, f"user:{ana.session['_auth_user_id']}")


@every_route
def test_another_request_under_its_key_is_refused(ana: APIClient, sent: Sent) -> None:
    send(ana, sent)
    before = rows()
    if not sent.other:
        # It takes no body: what another request could be is one of another address.
        sent = Sent(path=MEMORIES, status=201, other={"type": "fact", "content": "Lists show 20 rows."})
    answer = send(ana, sent, sent.other)
    assert (answer.status_code, answer.json()["code"]) == (422, "idempotency_key_reused")
    assert rows() == before


@every_route
def test_while_the_first_is_under_way_it_is_told_to_wait(ana: APIClient, sent: Sent) -> None:
    send(ana, sent)
    IdempotencyRecord.objects.update(status=None, result={})
    before = rows()
    answer = send(ana, sent)
    assert (answer.status_code, answer.json()["code"]) == (409, "request_in_progress")
    assert answer.headers["Retry-After"] == "1"
    assert rows() == before


@every_route
def test_somebody_elses_same_key_is_a_request_of_its_own(
    ana: APIClient, api: Callable[..., APIClient], project: Project, sent: Sent
) -> None:
    send(ana, sent)
    answer = send(api(make_key(project)[1]), sent)
    assert "Idempotent-Replayed" not in answer.headers
    callers = IdempotencyRecord.objects.values_list("caller", flat=True)
    assert sorted(caller.split(":")[0] for caller in callers) in (["user"], ["key", "user"])


@every_route
def test_after_a_day_the_key_is_forgotten(ana: APIClient, sent: Sent) -> None:
    send(ana, sent)
    IdempotencyRecord.objects.update(created_at=timezone.now() - timedelta(hours=24, seconds=1))
    answer = send(ana, sent)
    assert "Idempotent-Replayed" not in answer.headers


def test_a_replay_after_an_edit_tells_what_is_now(ana: APIClient, agent: Agent, project: Project) -> None:
    sent = ROUTES["memories:memory-list"](project, agent)
    first = send(ana, sent)
    path = f"/api/v1/{MEMORIES}{first.json()['id']}/"
    edited = ana.patch(path, {"content": "Amounts are stored in yen."}, headers={"If-Match": '"1"'})
    assert edited.status_code == 200
    again = send(ana, sent)
    assert (again.status_code, again.json(), again.headers["ETag"]) == (201, edited.json(), '"2"')
    ana.delete(path, headers={"If-Match": "*"})
    gone = send(ana, sent)
    assert (gone.status_code, gone.json()["code"]) == (404, "not_found")
    assert Memory.objects.count() == 0


def test_a_context_replayed_after_its_turn_ended_is_the_one_that_was_given_last(agent: Agent) -> None:
    turn = _turn(agent)
    body, key = {"message": "Remember: lists show 20 rows."}, {"Idempotency-Key": "k-1"}
    first = agent.post(f"turns/{turn}/context/", body, **key).json()
    agent.finish(turn)
    again = agent.post(f"turns/{turn}/context/", body, **key)
    assert again.status_code == 200
    assert again.json() == first | {"turn": {"id": turn, "status": "succeeded"}}
    refused = agent.post(f"turns/{turn}/context/", body)
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_already_finished")
    refused = agent.post(f"turns/{turn}/context/")
    assert (refused.status_code, refused.json()["code"]) == (409, "turn_already_finished")
    assert len(Chat.objects.get(pk=turn).further) == 1


def test_the_same_address_without_its_slash_is_the_same_request(ana: APIClient, project: Project) -> None:
    body = {"type": "fact", "content": "Amounts are stored in cents."}
    paths = itertools.islice(itertools.cycle((f"/api/v1/{MEMORIES}", f"/api/v1/{MEMORIES[:-1]}")), 4)
    answers = [ana.post(path, body, headers={"Idempotency-Key": "k-1"}) for path in paths]
    assert [answer.status_code for answer in answers] == [201] * 4
    assert Memory.objects.count() == 1
