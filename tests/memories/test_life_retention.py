"""How long traces are kept: what is older goes, what still refers to something stays, 0 keeps for good."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import call_command

from chats.models import Chat, Summary, Topic
from memories import retention, store, tasks
from memories.models import (
    Candidate,
    Extraction,
    Memory,
    Recall,
    RecallBlock,
    RecallItem,
    Tombstone,
)
from memories.store import removal
from projects import audit
from projects.actors import SYSTEM
from projects.models import AuditEvent
from tests.factories import make_memory, make_project
from tests.memories.test_store import person

if TYPE_CHECKING:
    from projects.models import Project

pytestmark = pytest.mark.django_db
NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
History = Memory.history.model
NOTHING = dict.fromkeys(
    ("recalls", "blocks", "raw_outputs", "candidates", "deleted_memories", "audit", "summaries"), 0
)


def ago(days: float) -> datetime:
    return NOW - timedelta(days=days)


@pytest.fixture
def project() -> Project:
    made = make_project("shop")
    AuditEvent.objects.all()._raw_delete("default")
    return made


@pytest.fixture
def chat(project: Project) -> Chat:
    topic = Topic.objects.create(project=project, ref="t")
    return Chat.objects.create(project=project, topic=topic, seq=1, message="Which port?")


def recall(chat: Chat, days: float, *, block: RecallBlock | None = None) -> Recall:
    made = Recall.objects.create(
        project=chat.project,
        chat=chat,
        query="q",
        tokens=1,
        ms=1,
        ranker="r",
        block=block,
        created_at=ago(days),
    )
    for memory_id in (1, 2):
        RecallItem.objects.create(
            recall=made, memory_id=memory_id, version=1, tier="always", rank=memory_id, tokens=1
        )
    return made


def block(project: Project, name: str, days: float) -> RecallBlock:
    return RecallBlock.objects.create(sha256=name * 64, project=project, text=name, created_at=ago(days))


def extraction(project: Project, days: float, **fields: Any) -> Extraction:
    return Extraction.objects.create(
        project=project,
        trigger="turn",
        backend="llm",
        lease_token=f"{days} {fields}",
        raw_output="{}",
        started_at=ago(days),
        **fields,
    )


def candidate(run: Extraction, days: float) -> Candidate:
    return Candidate.objects.create(
        extraction=run, position=0, type="fact", outcome="stored", reason="new", created_at=ago(days)
    )


# --- each kind ---------------------------------------------------------------------------------------------


def test_recalls_go_after_ninety_days_with_their_items_and_blocks(project: Project, chat: Chat) -> None:
    old, new = block(project, "a", 100), block(project, "b", 100)
    recall(chat, 90.01, block=old)
    kept = recall(chat, 89.99, block=new)
    block(project, "c", 89)
    assert retention.due(now=NOW) == NOTHING | {"recalls": 1}
    # The block is nobody's once its recall is gone.
    assert retention.run(now=NOW) == NOTHING | {"recalls": 1, "blocks": 1}
    assert list(Recall.objects.all()) == [kept]
    assert set(RecallItem.objects.values_list("recall", flat=True)) == {kept.pk}
    assert sorted(RecallBlock.objects.values_list("text", flat=True)) == ["b", "c"]
    assert Chat.objects.count() == 1


def test_what_a_model_answered_goes_after_fourteen_days_and_the_run_stays(project: Project) -> None:
    old, new = extraction(project, 14.01, counts={"stored": 2}), extraction(project, 13.99)
    assert retention.run(now=NOW) == NOTHING | {"raw_outputs": 1}
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.raw_output, old.counts, new.raw_output) == ("", {"stored": 2}, "{}")
    assert retention.run(now=NOW) == NOTHING


def test_candidates_go_after_half_a_year(project: Project) -> None:
    run = extraction(project, 1)
    candidate(run, 180.01)
    kept = candidate(run, 179.99)
    assert retention.run(now=NOW) == NOTHING | {"candidates": 1}
    assert list(Candidate.objects.all()) == [kept]
    assert Extraction.objects.count() == 1


def test_the_trail_goes_after_four_hundred_days(project: Project) -> None:
    for days in (400.01, 399.99):
        event = audit.record("memory.edit", by=SYSTEM, project=project, target_id=int(days))
        audit._change(AuditEvent.objects.filter(pk=event.pk), created_at=ago(days))
    assert retention.run(now=NOW) == NOTHING | {"audit": 1}
    assert [event.target_id for event in AuditEvent.objects.all()] == [399]


def test_the_history_of_what_was_deleted_goes_when_nothing_brings_it_back(project: Project) -> None:
    by = person(project)
    gone, recent, back, again, live = (
        make_memory(project, f"Shelf {number} holds {number + 7} boxes.") for number in range(5)
    )
    for memory in (gone, recent, back, again):
        store.edit(project=project, memory_id=memory.pk, changes={"importance": 5}, by=by)
        store.delete(project=project, memory_id=memory.pk, by=by)
    store.restore(project=project, memory_id=back.pk, by=by)
    store.restore(project=project, memory_id=again.pk, by=by)
    History.objects.update(history_date=ago(31))
    History.objects.filter(id=recent.pk, history_type="-").update(history_date=ago(29))
    # Deleted, restored and deleted again: the last time counts.
    store.delete(project=project, memory_id=again.pk, by=by)
    last = History.objects.filter(id=again.pk).latest("history_id")
    History.objects.filter(pk=last.pk).update(history_date=ago(29))
    AuditEvent.objects.all()._raw_delete("default")
    assert retention.due(now=NOW) == NOTHING | {"deleted_memories": 1}
    assert retention.run(now=NOW) == NOTHING | {"deleted_memories": 1}
    left = set(History.objects.values_list("id", flat=True))
    assert left == {recent.pk, back.pk, again.pk, live.pk}
    assert History.objects.filter(id=back.pk).count() == 4
    # What stands against its return stays.
    assert Tombstone.objects.filter(memory_id=gone.pk).exists()


def test_summaries_go_with_the_recalls_unless_they_are_current(chat: Chat) -> None:
    topic = chat.topic

    def summary(through: int, days: float) -> Summary:
        return Summary.objects.create(
            topic=topic, through=through, text="…", tokens=1, backend="rules", created_at=ago(days)
        )

    summary(1, 120)
    kept, current = summary(2, 80), summary(3, 100)
    Topic.objects.filter(pk=topic.pk).update(summary=current)
    assert retention.run(now=NOW) == NOTHING | {"summaries": 1}
    assert set(Summary.objects.all()) == {kept, current}


# --- all of them -------------------------------------------------------------------------------------------


def everything_old(project: Project, chat: Chat) -> None:
    recall(chat, 9999, block=block(project, "a", 9999))
    candidate(extraction(project, 9999), 9999)
    memory = make_memory(project)
    store.delete(project=project, memory_id=memory.pk, by=person(project))
    History.objects.update(history_date=ago(9999))
    audit._change(AuditEvent.objects.all(), created_at=ago(9999))
    Summary.objects.create(
        topic=chat.topic, through=1, text="…", tokens=1, backend="rules", created_at=ago(9999)
    )


ALL = {
    "recalls": 1,
    "blocks": 1,
    "raw_outputs": 1,
    "candidates": 1,
    "deleted_memories": 1,
    "audit": 2,
    "summaries": 1,
}


@pytest.mark.parametrize("kind", retention.kinds(), ids=lambda kind: kind.name)
def test_zero_days_keep_a_kind_for_good(
    kind: retention.Kind, project: Project, chat: Chat, settings: Any
) -> None:
    everything_old(project, chat)
    setattr(settings, kind.setting, 0)
    off = {one.name: 0 for one in retention.kinds() if one.setting == kind.setting}
    assert retention.run(now=NOW) == ALL | off
    assert kind.before(NOW) is None


def test_more_than_a_batch_goes_batch_by_batch(
    project: Project, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 2)
    monkeypatch.setattr(removal, "FORGOTTEN_AT_ONCE", 2)
    monkeypatch.setattr(audit, "FORGOTTEN_AT_ONCE", 2)
    for number in range(5):
        recall(chat, 100 + number)
        candidate(extraction(project, 100 + number), 200 + number)
        memory = make_memory(project, f"Shelf {number} holds {number + 7} boxes.")
        store.delete(project=project, memory_id=memory.pk, by=person(project))
    History.objects.update(history_date=ago(31))
    audit._change(AuditEvent.objects.all(), created_at=ago(401))
    kinds = {kind.name: kind for kind in retention.kinds()}
    assert list(kinds["recalls"].forget(ago(90))) == [2, 2, 1]
    assert list(kinds["raw_outputs"].forget(ago(14))) == [2, 2, 1]
    assert list(kinds["candidates"].forget(ago(180))) == [2, 2, 1]
    assert sum(kinds["deleted_memories"].forget(ago(30))) == 5
    assert list(kinds["audit"].forget(ago(400))) == [2, 2, 2, 2, 2]
    assert retention.due(now=NOW) == NOTHING


def test_what_a_run_has_no_time_for_is_left_to_the_next(
    project: Project, chat: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retention, "BATCH", 1)
    for number in range(3):
        recall(chat, 100 + number)
    candidate(extraction(project, 1), 200)
    assert retention.run(now=NOW, budget_s=0) == NOTHING
    # The clock strikes with the second batch.
    ticks = iter((0.0, 0.0, 0.0, 10.0))
    monkeypatch.setattr(retention, "time", SimpleNamespace(monotonic=lambda: next(ticks, 10.0)))
    assert retention.run(now=NOW, budget_s=5) == NOTHING | {"recalls": 2}
    monkeypatch.undo()
    assert retention.run(now=NOW) == NOTHING | {"recalls": 1, "candidates": 1}


def test_a_dry_run_tells_and_changes_nothing(
    project: Project, chat: Chat, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    settings.RETAIN_CANDIDATES_DAYS = 0
    everything_old(project, chat)
    out = StringIO()
    call_command("retain", "--dry-run", stdout=out)
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert lines[0] == ["kind", "setting", "days", "from", "before", "would", "go"]
    assert lines[1] == ["recalls", "RETAIN_RECALLS_DAYS", "90", "2026-09-02", "12:00", "1"]
    assert lines[4] == ["candidates", "RETAIN_CANDIDATES_DAYS", "0", "kept", "for", "good", "0"]
    # A block that a recall still shows is not due before that is gone.
    assert {line[0]: int(line[-1]) for line in lines[1:]} == ALL | {"blocks": 0, "candidates": 0}
    assert (Recall.objects.count(), Candidate.objects.count(), Summary.objects.count()) == (1, 1, 1)
    out = StringIO()
    call_command("retain", stdout=out)
    assert out.getvalue().splitlines()[0].endswith("gone")
    assert Recall.objects.count() == 0


def test_the_worker_does_so_too(project: Project, chat: Chat) -> None:
    Recall.objects.filter(pk=recall(chat, 0).pk).update(created_at=datetime(2020, 1, 1, tzinfo=UTC))
    tasks.retain()
    assert (Recall.objects.count(), RecallItem.objects.count()) == (0, 0)


def test_the_trail_itself_refuses_changes_still(project: Project) -> None:
    audit.record("memory.edit", by=SYSTEM, project=project)
    with pytest.raises(TypeError):
        AuditEvent.objects.filter(action="memory.edit").update(action="x")
    with pytest.raises(TypeError):
        AuditEvent.objects.all().delete()
