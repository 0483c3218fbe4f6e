"""Topics: listed, named, completed, deleted; and a failed run tried again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from chats import distil, summaries
from chats.models import Chat, Instruction, Summary, Topic
from memories.extraction import Extracted
from memories.models import Candidate, Extraction, Memory, Recall
from memories.tokens import count
from projects.models import AuditEvent

if TYPE_CHECKING:
    from pytest_django import DjangoAssertNumQueries

    from memories.extraction import Transcript
    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db
LIST = "projects/shop/topics/"


def make_due() -> None:
    Topic.objects.filter(distil_pending=True).update(distil_due_at=timezone.now())


def test_topics_are_listed_by_their_latest_ending(
    agent: Agent, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    agent.turn("Build it.", topic="a")
    agent.turn("Build it.", topic="b")
    agent.turn("Build it.", topic="a")
    agent.turn("Build it.", topic="c")
    turn = agent.open("Build it.", topic="b")["turn"]["id"]
    agent.post(f"turns/{turn}/steps/", {"agent": "editor"})
    with django_assert_num_queries(2):  # the key, the topics
        rows = agent.get(LIST).json()["results"]
    assert [(row["ref"], row["turns"]) for row in rows] == [("c", 1), ("a", 2), ("b", 2)]
    first = agent.get(LIST, limit=2).json()
    assert [row["ref"] for row in agent.client.get(first["next"]).json()["results"]] == ["b"]


def test_topics_are_found_by_words_and_status(agent: Agent) -> None:
    agent.turn("Build it.", topic="a")
    named = {"ref": "b", "title": "登录页", "area": "登录"}
    agent.post("projects/shop/turns/", {"topic": named, "ref": "1", "message": "Build it."})
    done = Topic.objects.get(ref="a").pk
    agent.post(f"topics/{done}/complete/")
    assert [row["ref"] for row in agent.get(LIST, q="登录").json()["results"]] == ["b"]
    assert [row["ref"] for row in agent.get(LIST, status="completed").json()["results"]] == ["a"]
    assert agent.get(LIST, status="done").status_code == 400


def test_one_topic(agent: Agent) -> None:
    agent.turn("Build it.")
    topic = Topic.objects.get()
    assert agent.get(f"topics/{topic.pk}/").json() == {
        "id": topic.pk,
        "ref": "conv-1",
        "title": "",
        "area": "",
        "status": "open",
        "turns": 1,
        "summary": None,
        "distil": {"state": "pending", "due_at": topic.distil_due_at.isoformat().replace("+00:00", "Z")},
        "created_at": topic.created_at.isoformat().replace("+00:00", "Z"),
        "updated_at": topic.updated_at.isoformat().replace("+00:00", "Z"),
    }


def test_a_topic_says_what_it_came_to(agent: Agent) -> None:
    agent.turn("Invoices are rounded half up.", reply="Rounding moved to billing/money.py.")
    topic = Topic.objects.get()
    agent.post(f"topics/{topic.pk}/complete/")
    assert summaries.run(topic.pk) is False
    row = Summary.objects.get()
    told = {
        "text": "- 1: Invoices are rounded half up → Rounding moved to billing/money.py",
        "through": 1,
        "tokens": count(row.text),
        "backend": "rules",
        "created_at": row.created_at.isoformat().replace("+00:00", "Z"),
    }
    assert agent.get(f"topics/{topic.pk}/").json()["summary"] == told
    assert agent.get(LIST).json()["results"][0]["summary"] == told


def test_a_topic_is_named(agent: Agent) -> None:
    agent.open("Build it.")
    topic = Topic.objects.get()
    answer = agent.client.patch(f"/api/v1/topics/{topic.pk}/", {"title": "登录页"})
    assert (answer.status_code, answer.json()["title"]) == (200, "登录页")
    assert AuditEvent.objects.filter(action="topic.edit", target_id=topic.pk).count() == 1


def test_a_title_with_a_secret_is_refused(agent: Agent) -> None:
    agent.open("Build it.")
    topic = Topic.objects.get()
    answer = agent.client.patch(
        f"/api/v1/topics/{topic.pk}/", {"title": "the password is " + "Ab12cd34" + "!x9Kq"}
    )
    assert (answer.status_code, answer.json()["code"]) == (422, "secret_found")
    assert answer.json()["errors"][0]["pointer"] == "/title"
    topic.refresh_from_db()
    assert topic.title == ""


@pytest.mark.parametrize("body", [{"ref": "b"}, {"status": "completed"}, {"title": 3}, {"title": "x" * 201}])
def test_nothing_else_of_a_topic_is_changed(agent: Agent, body: dict[str, object]) -> None:
    agent.open("Build it.")
    topic = Topic.objects.get()
    assert agent.client.patch(f"/api/v1/topics/{topic.pk}/", body).status_code == 400
    assert AuditEvent.objects.filter(action="topic.edit").count() == 0


def test_completing_distils_at_once_and_ends_the_rules(agent: Agent) -> None:
    agent.turn("From now on use pnpm.")
    topic = Topic.objects.get()
    answer = agent.post(f"topics/{topic.pk}/complete/")
    topic.refresh_from_db()
    assert (answer.status_code, answer.json()["status"]) == (200, "completed")
    assert answer.json()["distil"]["state"] == "pending"
    assert (topic.distil_trigger, topic.distil_due_at <= timezone.now()) == ("topic_completed", True)
    assert Instruction.objects.get().state == "ended"
    due_at = topic.distil_due_at
    assert agent.post(f"topics/{topic.pk}/complete/").status_code == 200
    topic.refresh_from_db()
    assert topic.distil_due_at == due_at, "twice changes nothing"
    agent.open("One more thing.")
    topic.refresh_from_db()
    assert topic.status == "open"


def test_a_rule_of_a_completed_topic_is_still_a_candidate(agent: Agent, project: Project) -> None:
    """Completing ends the rule in its topic; whether the project keeps it is for the run that follows."""
    type(project).objects.filter(pk=project.pk).update(review_policy="none")
    agent.turn("From now on always use pnpm for packages.")
    topic = Topic.objects.get()
    agent.post(f"topics/{topic.pk}/complete/")
    distil.run(topic.pk)
    assert Memory.objects.count() == 1


def test_a_deleted_topic_takes_its_turns_and_quotes_along_and_leaves_the_memories(
    agent: Agent, project: Project
) -> None:
    type(project).objects.filter(pk=project.pk).update(review_policy="none")
    agent.turn("Remember: buttons begin with a verb.")
    agent.turn("以后表格分页一律每页 20 条。")
    make_due()
    topic = Topic.objects.get()
    distil.run(topic.pk)
    # A candidate of no single turn quotes the topic, too.
    Candidate.objects.create(extraction=Extraction.objects.get(), position=9, type="fact", quote="20 条")
    kept = agent.open("Remember: amounts are stored in cents.", topic="other")
    assert Memory.objects.exclude(evidence=[]).count() == 3
    assert agent.client.delete(f"/api/v1/topics/{topic.pk}/").status_code == 204
    assert Topic.objects.get().ref == "other"
    assert Chat.objects.get().pk == kept["turn"]["id"]
    assert Recall.objects.get().chat_id == kept["turn"]["id"]
    memories = Memory.objects.order_by("id")
    assert memories[0].content == "buttons begin with a verb"
    assert [bool(memory.evidence) for memory in memories] == [False, False, True]
    assert [memory.source_topic_id is None for memory in memories] == [True, True, False]
    history = Memory.history.filter(id__in=[memory.pk for memory in memories[:2]])
    assert {str(version.evidence) for version in history} == {"[]"}
    run = Extraction.objects.get()
    assert (run.topic_id, run.chats_read, run.raw_output) == (None, [], "")
    assert sum(run.counts.values()) == 1
    assert list(Candidate.objects.values_list("quote", flat=True)) == ["", ""]
    assert agent.get(f"topics/{topic.pk}/").status_code == 404


@pytest.mark.django_db(transaction=True)
def test_what_a_rule_said_is_a_candidate_although_the_topic_was_completed_at_once(
    agent: Agent, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Silent:
        name, model, prompt_version = "silent", "", ""

        def extract(self, transcript: Transcript) -> Extracted:
            return Extracted(candidates=())

    monkeypatch.setattr(distil.extracting, "backend", lambda name: Silent())
    agent.turn("From now on use pnpm.")
    agent.turn("From now on indent with tabs.")
    agent.post(f"instructions/{Instruction.objects.last().pk}/dismiss/")
    topic = Topic.objects.get()
    agent.post(f"topics/{topic.pk}/complete/")
    distil.run(topic.pk)
    candidate = Candidate.objects.get()
    kept, dismissed = Instruction.objects.all()
    assert (candidate.content, kept.memory_id) == ("use pnpm", candidate.memory_id)
    assert (kept.state, dismissed.state, dismissed.memory) == ("ended", "dismissed", None)
    assert Instruction.objects.in_force().count() == 0


def failed_run(agent: Agent) -> Extraction:
    """A run that failed and left its topic in back-off."""
    agent.turn("We decided to use MariaDB.")
    topic = Topic.objects.get()
    later = timezone.now() + timedelta(hours=1)
    Topic.objects.update(distil_retry_at=later, distil_failures=4, distil_due_at=later)
    return Extraction.objects.create(
        project=topic.project,
        topic=topic,
        trigger="turn",
        status="failed",
        backend="rules",
        lease_token="gone",
    )


@pytest.mark.django_db(transaction=True)
def test_a_failed_run_is_tried_again_at_once(agent: Agent, told: list[int]) -> None:
    run = failed_run(agent)
    told.clear()
    answer = agent.post(f"extractions/{run.pk}/retry/")
    topic = Topic.objects.get()
    assert answer.status_code == 202
    assert (answer.json()["topic"], answer.json()["distil"]["state"]) == (topic.pk, "pending")
    assert told == [topic.pk]
    assert (topic.distil_trigger, topic.distil_retry_at) == ("retry", None)
    assert topic.distil_due_at <= timezone.now()
    assert AuditEvent.objects.filter(action="extraction.retry", target_id=run.pk).count() == 1
    distil.run(topic.pk)
    assert Extraction.objects.first().trigger == "retry"


@pytest.mark.django_db(transaction=True)
def test_a_run_that_was_taken_over_may_be_tried_again_if_something_of_it_waits(agent: Agent) -> None:
    run = failed_run(agent)
    Extraction.objects.update(status="abandoned")
    Chat.objects.update(distil_outcome="failed", extraction=run, distil_attempts=3)
    assert agent.post(f"extractions/{run.pk}/retry/").status_code == 202
    chat = Chat.objects.get()
    assert (chat.distil_outcome, chat.distil_attempts) == (None, 0)
    again = agent.post(f"extractions/{run.pk}/retry/")
    assert again.status_code == 202, "it still waits"
    Chat.objects.update(distil_outcome="read")
    assert agent.post(f"extractions/{run.pk}/retry/").status_code == 409


@pytest.mark.parametrize(
    "reason", ["it succeeded", "its topic is gone", "all was read since", "memory is off"]
)
def test_there_is_nothing_to_retry_when(agent: Agent, project: Project, reason: str) -> None:
    run = failed_run(agent)
    match reason:
        case "it succeeded":
            Extraction.objects.update(status="succeeded")
        case "its topic is gone":
            Extraction.objects.update(topic=None)
        case "all was read since":
            Chat.objects.update(distil_outcome="nothing")
        case "memory is off":
            type(project).objects.filter(pk=project.pk).update(memory_enabled=False)
    answer = agent.post(f"extractions/{run.pk}/retry/")
    assert (answer.status_code, answer.json()["code"]) == (409, "wrong_status")
    assert Topic.objects.get().distil_failures == 4
    assert Topic.objects.get().distil_retry_at is not None
