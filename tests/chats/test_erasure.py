"""Erasing a person: not a word of theirs is left anywhere, and all that is not theirs stays."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.core.management import CommandError, call_command
from django.utils import timezone

from chats import distil, episodes, erasure, schedule, summaries
from chats.endings import FinishRequest, finish_turn
from chats.errors import TurnAlreadyFinished
from chats.models import Chat, EpisodeTerm, Instruction, Summary, Topic
from memories import store
from memories.models import Candidate, Extraction, Memory, Recall, Source
from projects import store as project_store
from projects.actors import SYSTEM, WORKER, Actor
from projects.models import AuditEvent
from tests.chats.turns import AGENT, finished, opened, turn
from tests.factories import make_key, make_memory, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from rest_framework.test import APIClient

    from projects.models import Project

pytestmark = pytest.mark.django_db
History = Memory.history.model
# In every word of theirs, and in nothing that anybody else said.
NEEDLE = "Zanzibar"
URL = "/api/v1/projects/shop/erase-person/"


@pytest.fixture
def project() -> Project:
    return make_project("shop")


def by(project: Project) -> Actor:
    return Actor.for_user(project.owner, transport="api")


def copies(project: Project) -> dict[str, int]:
    """The tables with a row in which the needle still stands, in any column."""
    found = {}
    for model in apps.get_models(include_auto_created=True):
        rows = [row for row in model._base_manager.values() if NEEDLE.casefold() in str(row).casefold()]
        if rows:
            found[model._meta.label] = len(rows)
    return found


def erase(project: Project, **kwargs: Any) -> dict[str, int]:
    counts = erasure.erase_person(project=project, by=kwargs.pop("by", None) or by(project), **kwargs)
    return {name: count for name, count in counts.items() if count}


def a_life(project: Project) -> dict[str, Any]:
    """What a person leaves behind in two topics, beside somebody else."""
    who = {"author_ref": "u-7", "author_name": f"{NEEDLE} Smith"}
    first = opened(
        project,
        f"Remember: the port is 5432.\nFrom now on always greet {NEEDLE} first.",
        attached=f"attached {NEEDLE}",
        files=[f"{NEEDLE}.vue"],
        **who,
    ).chat
    finish_turn(
        project=project,
        chat=first,
        by=AGENT,
        request=FinishRequest(
            status="succeeded",
            reply=f"Hello {NEEDLE}.",
            files=[f"src/{NEEDLE}.vue"],
            tools=[{"name": "edit", "ok": True, "note": NEEDLE}],
            steps=[{"agent": "editor", "message": f"do {NEEDLE}", "reply": NEEDLE, "status": "succeeded"}],
            milestone=NEEDLE,
        ),
    )
    other = turn(project, "Lists show 20 rows.", author_ref="u-8", author_name="Bob")
    failed = turn(
        project, f"We decided to host in {NEEDLE}.", status="failed", reply="", topic="second", **who
    )
    Chat.objects.filter(pk=failed.pk).update(error=f"{NEEDLE} is down")
    told = turn(project, f"We use {NEEDLE} for hosting.", topic="second", **who)
    distil.run(told.topic_id)
    store.add_evidence(
        project=project,
        memory=Memory.objects.get(source=Source.EXPLICIT),
        evidence=store.Evidence(quote=f"in {NEEDLE}", role="user", chat_id=told.pk, said_at=timezone.now()),
        by=WORKER,
    )
    run = Extraction.objects.create(
        project=project,
        topic=told.topic,
        trigger="turn",
        status="succeeded",
        backend="llm",
        lease_token="raw",
        raw_output=f"raw {NEEDLE}",
        chats_read=[told.pk],
    )
    Candidate.objects.create(
        extraction=run,
        position=0,
        type="fact",
        key=NEEDLE,
        content=f"It is {NEEDLE}.",
        quote=NEEDLE,
        chat=told,
        outcome="dropped",
        reason="not_entailed",
    )
    episodes.keep(project, told.pk, f"hosting → {NEEDLE}", (1, 2))
    summary = Summary.objects.create(
        topic=told.topic, through=told.seq, text=f"All about {NEEDLE}.", tokens=3, backend="rules"
    )
    Topic.objects.filter(pk=told.topic_id).update(summary=summary, summarised_through=told.seq)
    # "Go on" looks up what was said before, whoever said it.
    again = turn(project, "go on", topic="second", author_ref="u-8", author_name="Bob")
    return {"first": first, "other": other, "failed": failed, "told": told, "again": again}


# --- everywhere --------------------------------------------------------------------------------------------


def test_not_a_word_is_left_in_any_column_of_any_table(project: Project) -> None:
    a_life(project)
    # What was learned of their words is the project's now; here it would only be in the way.
    told = Memory.objects.get(source=Source.EXPLICIT)
    for memory in Memory.objects.exclude(pk=told.pk):
        store.purge(project=project, memory_id=memory.pk, by=by(project))
    before = copies(project)
    assert {"chats.Chat", "chats.Summary", "chats.Instruction", "memories.Recall"} <= set(before)
    assert {"memories.HistoricalMemory", "projects.AuditEvent", "memories.Extraction"} <= set(before)
    erase(project, author_ref="u-7", reason="asked for")
    assert copies(project) == {}


def test_turns_keep_their_places_and_counts_and_lose_the_rest(project: Project) -> None:
    life = a_life(project)
    rows = {row["id"]: row for row in Chat.objects.values()}
    at = timezone.now()
    counts = erase(project, author_ref="u-7")
    assert (counts["turns"], counts["steps"], counts["topics"]) == (3, 1, 2)
    for name in ("first", "failed", "told"):
        row = Chat.objects.values().get(pk=life[name].pk)
        was = rows[row["id"]]
        assert row["erased_at"] >= at
        assert (row["message"], row["reply"], row["attached"], row["further"]) == ("", "", "", [])
        assert (row["files"], row["tools"], row["author_ref"], row["author_name"]) == ([], [], "", "")
        assert (row["digest"], row["digest_tokens"], row["explicit"]) == ("", None, {})
        assert (row["message_tokens"], row["reply_tokens"]) == (0, 0)
        kept = (
            "seq",
            "ref",
            "status",
            "memory_refs",
            "memory_tokens",
            "usage",
            "model",
            "sent_at",
            "finished_at",
        )
        assert {field: row[field] for field in kept} == {field: was[field] for field in kept}
    step = Chat.objects.get(parent=life["first"].pk)
    assert (step.message, step.reply, step.agent, step.position) == ("", "", "editor", 1)
    for name in ("other", "again"):
        assert Chat.objects.values().get(pk=life[name].pk) == rows[life[name].pk]
    assert not EpisodeTerm.objects.exists()
    assert not Instruction.objects.exists()
    assert not Summary.objects.exists()
    topic = Topic.objects.get(pk=life["told"].topic_id)
    assert (topic.summary, topic.summarised_through) == (None, 0)
    assert topic.summary_due_at is not None


def test_what_others_looked_up_of_it_goes_and_what_they_said_stays(project: Project) -> None:
    life = a_life(project)
    queries = {recall.chat_id: recall.query for recall in Recall.objects.all()}
    assert NEEDLE in queries[life["again"].pk]
    erase(project, author_ref="u-7")
    queries = {recall.chat_id: recall.query for recall in Recall.objects.all()}
    assert queries[life["again"].pk] == ""
    assert queries[life["other"].pk] == "Lists show 20 rows."


def test_memories_stay_without_quotes_and_names(project: Project) -> None:
    life = a_life(project)
    told = Memory.objects.get(source=Source.EXPLICIT)
    said = (told.content, told.status, told.authority, told.version)
    assert [entry["chat"] for entry in told.evidence] == [life["first"].pk, life["told"].pk]
    erase(project, author_ref="u-7")
    told.refresh_from_db()
    assert (told.content, told.status, told.authority) == said[:3]
    # Its source was taken away, as when a topic is deleted.
    assert (told.evidence, told.source_chat, told.source_topic) == ([], None, None)
    rows = History.objects.filter(id=told.pk).order_by("history_id")
    assert [(row.action, row.actor_kind, row.actor_name) for row in rows] == [
        ("create", "author", "erased"),
        ("add_evidence", "worker", "worker"),
        ("forget_source", "user", project.owner.username),
    ]
    assert {entry["quote"] for row in rows for entry in row.evidence} == set()


def test_the_trail_says_what_was_done_and_no_longer_who(project: Project) -> None:
    a_life(project)
    actions = list(AuditEvent.objects.order_by("id").values_list("action", flat=True))
    erase(project, author_ref="u-7", reason="asked for")
    events = AuditEvent.objects.order_by("id")
    assert list(events.values_list("action", flat=True))[: len(actions)] == actions
    last = events.get(action="person.erase")
    assert (last.actor_name, last.reason, last.target_key, last.target_id) == (
        project.owner.username,
        "asked for",
        "",
        None,
    )
    assert last.counts["turns"] == 3
    names = set(events.filter(actor_kind="author").values_list("actor_name", flat=True))
    assert names == {"erased"}


# --- members -----------------------------------------------------------------------------------------------


@pytest.fixture
def ana(project: Project) -> User:
    user = make_user("ana", email="ana@example.org")
    project_store.add_member(project=project, user=user, by=by(project))
    return user


@pytest.mark.parametrize("named", [{"author_ref": "u-7"}, {"user": True}], ids=["as author", "as user"])
def test_a_member_is_one_person_however_they_are_named(
    named: dict[str, Any], project: Project, ana: User
) -> None:
    spoken = turn(project, f"We host in {NEEDLE}.", author_ref="u-7", author_name="A.")
    Chat.objects.filter(pk=spoken.pk).update(author_user=ana)
    unmatched = turn(project, f"And in {NEEDLE} again.", author_ref="ana@example.org", topic="second")
    web = make_memory(project, "The port is 5432.", by=Actor.for_user(ana, transport="web"))
    store.edit(project=project, memory_id=web.pk, changes={"importance": 5}, by=by(project))
    counts = erase(project, **({"user": ana} if "user" in named else named))
    assert (counts["turns"], counts["memories"]) == (2, 1)
    assert not Chat.objects.exclude(message="").filter(pk__in=[spoken.pk, unmatched.pk]).exists()
    web.refresh_from_db()
    assert (web.content, web.created_by, web.updated_by, web.confirmed_by) == (
        "The port is 5432.",
        None,
        project.owner,
        project.owner,
    )
    first, second = History.objects.filter(id=web.pk).order_by("history_id")
    assert (first.actor_name, first.history_user, first.created_by_id) == ("erased", None, None)
    assert (second.actor_name, second.created_by_id) == (project.owner.username, None)
    assert not AuditEvent.objects.filter(user_id=ana.pk).exists()
    assert not AuditEvent.objects.filter(target_type="user", target_id=ana.pk).exists()
    assert AuditEvent.objects.filter(action="member.add", target_key="").exists()


def test_what_an_erased_member_decided_is_undone_by_no_stranger(project: Project, ana: User) -> None:
    memory = make_memory(project, "主色用蓝色", key="主色", by=Actor.for_user(ana, transport="web"))
    erase(project, user=ana)
    stranger = AGENT.speaking_for(name="Eve", user=None)
    told = store.remember(
        project=project, draft=store.Draft(type="decision", content="主色用绿色"), by=stranger
    )
    assert told.outcome == "needs_confirmation"
    memory.refresh_from_db()
    assert (memory.status, memory.created_by) == ("active", None)


# --- what runs meanwhile -----------------------------------------------------------------------------------


def test_a_running_turn_is_over_and_no_ending_brings_words_back(project: Project) -> None:
    chat = opened(project, f"Build it in {NEEDLE}.", author_ref="u-7").chat
    erase(project, author_ref="u-7")
    chat.refresh_from_db()
    assert (chat.status, chat.error, chat.finished_at is not None) == ("cancelled", "erased", True)
    with pytest.raises(TurnAlreadyFinished):
        finished(project, chat, reply=f"Done in {NEEDLE}.")
    assert copies(project) == {}


def test_a_distilling_under_way_stores_nothing_of_it(project: Project) -> None:
    chat = turn(project, f"We use {NEEDLE} for hosting.", author_ref="u-7")
    Topic.objects.filter(pk=chat.topic_id).update(distil_due_at=timezone.now())
    claim = schedule.claim(chat.topic_id)
    assert claim is not None
    run = Extraction.objects.create(
        project=project, topic_id=chat.topic_id, trigger="turn", backend="llm", lease_token=claim.token
    )
    erase(project, author_ref="u-7")
    with pytest.raises(schedule.LeaseLost):
        schedule.hold(claim)
    run.refresh_from_db()
    assert run.status == "cancelled"
    assert distil.run(chat.topic_id) is False
    chat.refresh_from_db()
    assert (chat.distil_outcome, Memory.objects.count()) == ("nothing", 0)


def test_the_topic_is_summed_up_anew_without_them(project: Project) -> None:
    a_life(project)
    erase(project, author_ref="u-7")
    for topic in Topic.objects.all():
        while summaries.run(topic.pk):
            pass
    assert not Summary.objects.filter(text__icontains=NEEDLE).exists()
    assert not Chat.objects.filter(digest__icontains=NEEDLE).exists()


# --- dry run, twice, others --------------------------------------------------------------------------------


def state() -> dict[str, list[Any]]:
    return {
        model._meta.label: list(model._base_manager.order_by("pk").values()) for model in apps.get_models()
    }


def test_a_dry_run_counts_and_changes_nothing(project: Project) -> None:
    a_life(project)
    project.refresh_from_db()
    before, version = state(), project.memory_version
    expected = erase(project, author_ref="u-7", dry_run=True)
    assert (state(), project.memory_version) == (before, version)
    assert erase(project, author_ref="u-7") == expected


def test_a_second_time_finds_nobody(project: Project) -> None:
    a_life(project)
    erase(project, author_ref="u-7")
    assert erase(project, author_ref="u-7") == {}
    assert AuditEvent.objects.filter(action="person.erase").count() == 1


def test_another_projects_same_author_is_somebody_else(project: Project) -> None:
    elsewhere = make_project("elsewhere")
    a_life(elsewhere)
    before = state()["chats.Chat"]
    assert erase(project, author_ref="u-7") == {}
    assert state()["chats.Chat"] == before


# --- command and API ---------------------------------------------------------------------------------------


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("erase_person", *arguments, stdout=out)
    return out.getvalue()


def test_the_command_goes_through_every_project_or_one(project: Project) -> None:
    other = make_project("other")
    make_project("third")
    for one in (project, other):
        turn(one, f"We host in {NEEDLE}.", author_ref="u-7")
    text = said("--author-ref", "u-7", "--dry-run")
    assert text.splitlines()[-1] == "2 projects would be touched"
    assert "shop: turns 1, recalls 1, topics 1" in text
    assert Chat.objects.exclude(message="").count() == 2
    assert said("--author-ref", "u-7", "--project", "other").splitlines()[-1] == "1 project touched"
    assert said("--author-ref", "u-7").splitlines()[-1] == "1 project touched"
    assert copies(project) == {}
    assert AuditEvent.objects.filter(action="person.erase", actor_kind=SYSTEM.kind).count() == 2
    for wrong in (["--user", "nobody"], ["--author-ref", "u-7", "--project", "nowhere"], []):
        with pytest.raises(CommandError):
            said(*wrong)


def test_only_owners_erase_over_the_api(
    project: Project, ana: User, api: Callable[..., APIClient], api_as: Callable[..., APIClient]
) -> None:
    turn(project, f"We host in {NEEDLE}.", author_ref="u-7")
    body = {"author_ref": "u-7"}
    for client, status in (
        (api(make_key(project)[1]), 403),
        (api_as(ana), 403),
        (api_as(make_user("eve")), 404),
    ):
        assert client.post(URL, body).status_code == status
    assert Chat.objects.get().message != ""
    client = api_as(project.owner)
    dry = client.post(URL, body | {"dry_run": True}).json()
    assert (dry["dry_run"], dry["turns"], dry["recalls"]) == (True, 1, 1)
    assert Chat.objects.get().message != ""
    answer = client.post(URL, body, headers={"Idempotency-Key": "once"})
    assert answer.json() == dry | {"dry_run": False}
    again = client.post(URL, body, headers={"Idempotency-Key": "once"})
    assert (again.json(), again.headers["Idempotent-Replayed"]) == (answer.json(), "true")
    assert Chat.objects.get().message == ""


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, id="nobody"),
        pytest.param({"author_ref": "u-7", "user": "ana"}, id="two people"),
        pytest.param({"author_ref": " "}, id="blank"),
        pytest.param({"author_ref": "u-7", "everything": True}, id="unknown member"),
    ],
)
def test_what_names_nobody_is_refused(
    body: dict[str, Any], project: Project, api_as: Callable[..., APIClient]
) -> None:
    assert api_as(project.owner).post(URL, body).status_code == 400


def test_whether_a_user_name_exists_is_not_told(project: Project, api_as: Callable[..., APIClient]) -> None:
    make_user("known")
    client = api_as(project.owner)
    known, unknown = (client.post(URL, {"user": name}) for name in ("known", "unknown"))
    assert known.json() == unknown.json() == {"dry_run": False} | dict.fromkeys(erasure.COUNTS, 0)
