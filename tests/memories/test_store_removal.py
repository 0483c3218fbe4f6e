"""Deleting, coming back, purging, forgetting sources: what goes, what stays, what stands against a return."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.db import connection
from django.utils import timezone

from chats.models import Chat, Instruction, Topic
from memories import store
from memories.models import (
    Candidate,
    Extraction,
    Memory,
    MemoryUsage,
    Recall,
    RecallBlock,
    RecallItem,
    Source,
    Status,
    Tombstone,
)
from memories.store import tombstones
from projects.models import AuditEvent
from tests.factories import make_memory, make_project
from tests.memories.test_store import agent, fresh, learned, person, proposal, quote, refused_with, traces

if TYPE_CHECKING:
    from projects.models import Project

pytestmark = pytest.mark.django_db
History = Memory.history.model


@pytest.fixture
def project() -> Project:
    return make_project("shop")


def delete(memory: Memory, **kwargs: Any) -> None:
    by = kwargs.pop("by", None) or person(memory.project)
    store.delete(project=memory.project, memory_id=memory.pk, by=by, **kwargs)


def restore(memory: Memory, **kwargs: Any) -> Memory:
    by = kwargs.pop("by", None) or person(memory.project)
    return store.restore(project=memory.project, memory_id=memory.pk, by=by, **kwargs)


def make_chat(project: Project, message: str, *, seq: int = 1, topic: Topic | None = None) -> Chat:
    topic = topic or Topic.objects.create(project=project, ref=f"topic of {message}"[:60])
    return Chat.objects.create(project=project, topic=topic, seq=seq, message=message, sent_at=timezone.now())


def make_candidate(project: Project, memory: Memory, words: str) -> Candidate:
    extraction = Extraction.objects.create(
        project=project,
        trigger="turn",
        backend="rules",
        lease_token=f"run {memory.pk}",
        raw_output=f"raw: {words}",
    )
    return Candidate.objects.create(
        extraction=extraction,
        position=0,
        type="fact",
        key="k",
        content=words,
        quote=words,
        outcome="stored",
        reason="new",
        memory=memory,
    )


# --- delete ------------------------------------------------------------------------------------------------


def test_deleting_removes_the_row_and_leaves_a_tombstone_without_text(project: Project) -> None:
    memory = make_memory(project, "The port is called quayside.", key="port")
    delete(memory, reason="wrong")
    assert not Memory.objects.exists()
    stone = Tombstone.objects.get()
    assert (stone.memory_id, stone.reason, stone.project) == (memory.pk, "deleted", project)
    told = " ".join(str(value) for value in Tombstone.objects.values().get().values())
    assert "port" not in told
    assert "quayside" not in told
    row = History.objects.order_by("-history_id")[0]
    assert (row.history_type, row.action, row.history_change_reason) == ("-", "delete", "wrong")
    event = AuditEvent.objects.get(action="memory.delete")
    assert (event.target_id, event.target_key, event.reason) == (memory.pk, "port", "wrong")


@pytest.mark.parametrize(
    ("content", "key", "kind"),
    [
        pytest.param("the PORT of the API is 5432", "other", "near", id="other words"),
        pytest.param("The port of the API is 5432", "other", "content", id="the same"),
        pytest.param("The port of the API is 5433.", "other", None, id="another number"),
        pytest.param("The colour is blue.", "port", "key", id="the same key"),
        pytest.param("The colour is blue.", "", None, id="something else"),
    ],
)
def test_what_a_tombstone_stands_against(content: str, key: str, kind: str | None, project: Project) -> None:
    delete(make_memory(project, "The port of the API is 5432.", key="port"))
    met = tombstones.meet(project, content=content, key=key)
    assert (met.kind if met else None) == kind
    assert tombstones.meet(make_project(), content=content, key=key) is None


def test_a_rejected_proposal_leaves_a_tombstone_too(project: Project) -> None:
    memory = proposal(project)
    store.reject(project=project, memory_id=memory.pk, by=person(project))
    met = tombstones.meet(project, content=memory.content, key="")
    assert met is not None
    assert (met.kind, met.tombstone.reason, met.tombstone.memory_id) == ("content", "rejected", memory.pk)


# --- restore -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", Status.values)
def test_a_deleted_memory_comes_back_as_it_was_with_its_id(status: str, project: Project) -> None:
    memory = make_memory(
        project, "主色用蓝色", key="主色", files=("a/**",), keywords=("色",), evidence=(quote("q"),)
    )
    Memory.objects.filter(pk=memory.pk).update(status=status)
    before = Memory.objects.values().get()
    delete(memory)
    back = restore(memory)
    after = Memory.objects.values().get()
    changed = {name for name in after if after[name] != before[name]}
    assert changed <= {"version", "updated_at", "confirmed_at", "confirmed_by_id", "status_changed_by_person"}
    assert (back.pk, back.status, back.version) == (memory.pk, status, 2)
    assert not Tombstone.objects.exists()
    row = History.objects.order_by("-history_id")[0]
    assert (row.history_type, row.action, row.version) == ("+", "restore", 2)


def test_a_restored_proposal_still_waits_and_is_nobodys_word(project: Project) -> None:
    memory = proposal(project)
    delete(memory)
    back = restore(memory)
    assert (back.status, back.authority, back.confirmed_at) == ("proposed", "automatic", None)
    assert store.confirm(project=project, memory_id=back.pk, by=person(project)).status == Status.ACTIVE


@pytest.mark.parametrize("status", ["rejected", "archived"])
def test_what_was_rejected_or_archived_comes_back_in_force_by_a_person_alone(
    status: str, project: Project
) -> None:
    memory = learned(project)
    Memory.objects.filter(pk=memory.pk).update(status=status)
    with refused_with(store.PersonRequired):
        restore(memory, by=agent(project))
    back = restore(memory)
    assert (back.status, back.authority, back.confirmed_by) == ("active", "person", project.owner)


@pytest.mark.parametrize("verb", [store.reject, store.archive])
def test_a_replacement_that_was_turned_down_replaces_when_it_is_brought_back(
    verb: Any, project: Project
) -> None:
    old = learned(project, "The main colour is blue.", key="colour")
    new = proposal(project, "The main colour is green.", key="colour", replaces=old)
    assert new.key == "colour-2"
    verb(project=project, memory_id=new.pk, by=person(project))
    restore(new)
    assert (fresh(old).status, fresh(new).status, fresh(new).key) == ("superseded", "active", "colour")
    store.undo(project=project, memory_id=new.pk, by=person(project))
    assert (fresh(old).status, fresh(new).key) == ("active", "colour-2")


def test_an_agent_brings_back_what_an_agent_deleted_and_nothing_else(project: Project) -> None:
    mine, theirs = learned(project), learned(project, "Deploys happen on Friday.")
    delete(mine, by=agent(project))
    delete(theirs)
    assert restore(mine, by=agent(project)).authority == "automatic"
    with refused_with(store.PersonRequired):
        restore(theirs, by=agent(project))
    assert not Memory.objects.filter(pk=theirs.pk).exists()


@pytest.mark.parametrize(
    ("content", "key", "error"),
    [
        pytest.param("The colour is blue.", "port", store.KeyTaken, id="key"),
        pytest.param("The port is 5432.", "other", store.ContentTaken, id="content"),
    ],
)
def test_what_took_its_place_keeps_it(
    content: str, key: str, error: type[store.KeyTaken], project: Project
) -> None:
    memory = make_memory(project, "The port is 5432.", key="port")
    delete(memory)
    other = make_memory(project, content, key=key)
    before = traces(project)
    with refused_with(error) as refused:
        restore(memory)
    assert refused.value.memory == other
    assert traces(project) == before
    assert Tombstone.objects.count() == 1


def test_the_way_back_is_open_for_thirty_days(project: Project) -> None:
    memory = make_memory(project)
    delete(memory)
    gone = History.objects.filter(history_type="-")
    gone.update(history_date=timezone.now() - timedelta(days=30, minutes=1))
    with refused_with(Memory.DoesNotExist):
        restore(memory)
    gone.update(history_date=timezone.now() - timedelta(days=29, hours=23))
    assert restore(memory).status == Status.ACTIVE


def test_it_comes_back_without_what_is_gone_meanwhile(project: Project) -> None:
    old = make_memory(project, "主色用蓝色", key="主色")
    chat = make_chat(project, "主色用绿色")
    new = store.replace(
        project=project,
        target=old,
        draft=store.Draft(type="fact", content="主色用绿色", topic_id=chat.topic_id, chat_id=chat.pk),
        source=Source.EXPLICIT,
        by=person(project),
    )
    delete(new)
    store.purge(project=project, memory_id=old.pk, by=person(project))
    chat.topic.delete()
    back = fresh(restore(new))
    assert (back.replaces, back.source_topic, back.source_chat) == (None, None, None)
    connection.check_constraints()


def test_what_referred_to_it_refers_to_it_again_unless_it_found_another(project: Project) -> None:
    gone = learned(project, "The port is 5432.", key="port")
    one = proposal(project, "The port is 5433.", key="port one", replaces=gone)
    two = learned(project, "The port is 5434.", key="port two", contradicts=gone)
    other = learned(project, "The port is 5435.", key="port three")
    delete(gone)
    assert (fresh(one).replaces, fresh(two).contradicts) == (None, None)
    # A change in between says so: that it contradicts nothing any more.
    store.edit(project=project, memory_id=two.pk, changes={"importance": 5}, by=person(project))
    restore(gone)
    assert (fresh(one).replaces_id, fresh(two).contradicts) == (gone.pk, None)
    assert fresh(other).contradicts is None
    assert (fresh(one).version, fresh(two).version) == (1, 2)


# --- purge -------------------------------------------------------------------------------------------------

NEEDLE = "Zanzibar"


def copies() -> dict[str, int]:
    """The tables in which the needle still stands, in any of their columns, audit included; the talk itself is not
    a copy.
    """
    found = {}
    for model in apps.get_models(include_auto_created=True):
        if model in (Chat, Topic):
            continue
        rows = [row for row in model._base_manager.values() if NEEDLE in str(row)]
        if rows:
            found[model._meta.label] = len(rows)
    return found


@pytest.mark.parametrize("deleted_before", [False, True], ids=["live", "deleted before"])
def test_a_purge_leaves_no_copy(deleted_before: bool, project: Project) -> None:
    chat = make_chat(project, f"The port in {NEEDLE} is 5432.")
    memory = learned(project, f"The port in {NEEDLE} is 5432.", key="port", evidence=(quote(f"in {NEEDLE}"),))
    store.edit(project=project, memory_id=memory.pk, changes={"area": NEEDLE}, by=person(project))
    candidate = make_candidate(project, memory, f"The port in {NEEDLE} is 5432.")
    block = RecallBlock.objects.create(sha256="f" * 64, project=project, text=f"- {NEEDLE}")
    recall = Recall.objects.create(
        project=project, chat=chat, query="port", block=block, tokens=1, ms=1, ranker="r"
    )
    RecallItem.objects.create(recall=recall, memory=memory, version=2, tier="always", rank=1, tokens=1)
    other = make_memory(project, "The colour is blue.")
    kept = History.objects.filter(id=other.pk).count()
    if deleted_before:
        delete(fresh(memory))
        assert Candidate.objects.get().memory is None
    assert copies()["memories.HistoricalMemory"] == 2 + deleted_before
    store.purge(project=project, memory_id=memory.pk, by=person(project), reason="asked for")
    assert copies() == {}
    candidate.refresh_from_db()
    assert (candidate.content, candidate.quote, candidate.key, candidate.outcome) == ("", "", "", "stored")
    assert (Memory.objects.get(), History.objects.filter(id=other.pk).count()) == (other, kept)
    stone = Tombstone.objects.get()
    assert (stone.reason, stone.memory_id) == ("purged", memory.pk)
    event = AuditEvent.objects.get(action="memory.purge")
    assert (event.target_id, event.target_key, event.reason) == (memory.pk, "", "asked for")
    with refused_with(Memory.DoesNotExist):
        restore(memory)


def test_a_purge_takes_key_and_reasons_out_of_the_trail_and_leaves_what_was_done(project: Project) -> None:
    memory, other = make_memory(project, "The port is 5432.", key=f"port of {NEEDLE}"), make_memory(project)
    store.edit(
        project=project,
        memory_id=memory.pk,
        changes={"importance": 5},
        by=person(project),
        reason=f"said so in {NEEDLE}",
    )
    delete(other, reason="kept")
    elsewhere = make_memory(make_project(), key=f"{NEEDLE} elsewhere")
    actions = list(AuditEvent.objects.filter(project_id=project.pk).values_list("action", flat=True))
    store.purge(project=project, memory_id=memory.pk, by=person(project), reason="asked for")
    events = AuditEvent.objects.filter(project_id=project.pk)
    assert list(events.exclude(action="memory.purge").values_list("action", flat=True)) == actions
    of_it = events.filter(target_type="memory", target_id=memory.pk)
    assert set(of_it.values_list("action", "target_key", "reason")) == {
        ("memory.create", "", ""),
        ("memory.edit", "", ""),
        ("memory.purge", "", "asked for"),
    }
    assert events.get(action="memory.delete").reason == "kept"
    assert AuditEvent.objects.get(project_id=elsewhere.project_id, action="memory.create").target_key == (
        f"{NEEDLE.lower()}-elsewhere"
    )


def test_a_purge_finds_the_quotes_that_a_merge_took_elsewhere(project: Project) -> None:
    source = learned(project, "Builds run on Debian 12.", evidence=(quote(f"in {NEEDLE}"), quote("plain")))
    target = learned(project, "The builds run on Debian 12.", key="builds", evidence=(quote("own"),))
    store.merge(project=project, memory_id=source.pk, into_id=target.pk, by=person(project))
    version = fresh(target).version
    assert [entry["quote"] for entry in fresh(target).evidence] == ["own", f"in {NEEDLE}", "plain"]
    store.purge(project=project, memory_id=source.pk, by=person(project))
    assert [entry["quote"] for entry in fresh(target).evidence] == ["own"]
    assert fresh(target).version == version
    assert copies() == {}


def test_a_purge_leaves_no_trace_of_what_was_left_out(project: Project) -> None:
    memory, other = make_memory(project), make_memory(project, "The colour is blue.")
    chat = make_chat(project, "Which port?")
    omitted = [
        {"id": pk, "version": 1, "reason": "below_floor", "score": 0.1, "parts": {}}
        for pk in (memory.pk, other.pk, int(f"{memory.pk}1"))
    ]
    recall = Recall.objects.create(
        project=project, chat=chat, query="port", tokens=1, ms=1, ranker="r", omitted=omitted
    )
    store.purge(project=project, memory_id=memory.pk, by=person(project))
    recall.refresh_from_db()
    assert [entry["id"] for entry in recall.omitted] == [other.pk, int(f"{memory.pk}1")]


def test_a_purge_takes_usage_and_working_copies_along(project: Project) -> None:
    memory, chat = make_memory(project, f"In {NEEDLE}."), make_chat(project, "From now on …")
    MemoryUsage.objects.create(memory=memory, count=3)
    Instruction.objects.create(
        topic=chat.topic, chat=chat, kind="directive", content=f"In {NEEDLE}.", tokens=3, memory=memory
    )
    store.purge(project=project, memory_id=memory.pk, by=person(project))
    assert (MemoryUsage.objects.count(), Instruction.objects.count(), copies()) == (0, 0, {})


def test_a_purge_touches_no_other_projects_candidates(project: Project) -> None:
    memory, elsewhere = make_memory(project, f"In {NEEDLE}."), make_project()
    candidate = make_candidate(elsewhere, make_memory(elsewhere, f"In {NEEDLE}."), f"In {NEEDLE}.")
    store.purge(project=project, memory_id=memory.pk, by=person(project))
    candidate.refresh_from_db()
    assert (candidate.content, candidate.extraction.raw_output) == (f"In {NEEDLE}.", f"raw: In {NEEDLE}.")


def test_what_was_purged_is_known_again(project: Project) -> None:
    memory = make_memory(project)
    store.purge(project=project, memory_id=memory.pk, by=person(project))
    met = tombstones.meet(project, content=memory.content, key="")
    assert met is not None
    assert met.kind == "content"


# --- forget_sources ----------------------------------------------------------------------------------------


def test_deleted_chats_take_their_quotes_along_and_leave_the_memories(project: Project) -> None:
    chat, other = make_chat(project, "first"), make_chat(project, "second")

    def said(words: str, where: Chat) -> store.Evidence:
        return store.Evidence(quote=words, role="user", chat_id=where.pk, said_at=timezone.now())

    of_chat = learned(
        project,
        "One from the chat.",
        topic_id=chat.topic_id,
        chat_id=chat.pk,
        evidence=(said("gone", chat), said("kept", other)),
    )
    of_other = learned(
        project,
        "Two from elsewhere.",
        topic_id=other.topic_id,
        chat_id=other.pk,
        evidence=(said("kept", other), said("merged", chat)),
    )
    untouched = learned(project, "Three by hand.", evidence=(said("kept", other),))
    candidate = make_candidate(project, of_chat, "gone")
    Candidate.objects.filter(pk=candidate.pk).update(chat=chat)

    assert store.forget_sources(project=project, chat_ids=[chat.pk], by=person(project)) == 2

    assert (fresh(of_chat).source_chat, fresh(of_chat).source_topic) == (None, None)
    assert [entry["quote"] for entry in fresh(of_chat).evidence] == ["kept"]
    assert (fresh(of_other).source_chat, fresh(of_other).source_topic) == (other, other.topic)
    assert [entry["quote"] for entry in fresh(of_other).evidence] == ["kept"]
    assert fresh(untouched).version == 1
    rows = History.objects.all()
    assert {entry["quote"] for row in rows for entry in row.evidence} == {"kept"}
    assert set(rows.filter(id=of_chat.pk).values_list("source_chat_id", "source_topic_id")) == {(None, None)}
    candidate.refresh_from_db()
    assert (candidate.quote, candidate.chat, candidate.content) == ("", None, "gone")
    actions = AuditEvent.objects.filter(action="memory.forget_source").values_list("target_id", flat=True)
    assert sorted(actions) == [of_chat.pk, of_other.pk]
