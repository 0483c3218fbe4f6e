"""What fades, when and why; what never does; and what the job and its dry run make of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.core.management import CommandError, call_command
from hypothesis import given, settings
from hypothesis import strategies as st

from memories import store, tasks
from memories.fading import Facts, Fate, Pace, Why, fate
from memories.models import Memory, MemoryUsage, Source, Status, Tombstone
from memories.store import archiving
from projects.actors import SYSTEM, WORKER
from projects.models import AuditEvent
from tests.factories import make_memory, make_project
from tests.memories.test_store import fresh, learned, person, proposal, refused_with

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project

NOW = datetime(2026, 12, 1, 12, tzinfo=UTC)
PACE = Pace(half_life_days=30, review_days=30)
TYPES = ("constraint", "decision", "preference", "fact", "pitfall", "procedure")


def days(number: float) -> timedelta:
    return timedelta(days=number)


def facts(**changes: Any) -> Facts:
    """A fact that was learned a hundred days ago, of importance 1, and never used."""
    plain: dict[str, Any] = {
        "type": "fact",
        "status": "active",
        "source": "extracted",
        "authority": "automatic",
        "importance": 1,
        "always": False,
        "touched_at": NOW - days(100),
        "used_at": None,
        "expires_at": None,
    }
    return Facts(**(plain | changes))


# --- when and why ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("importance", [1, 2, 3, 4, 5])
def test_two_half_lives_after_its_last_use_it_is_at_a_quarter_and_goes(importance: int) -> None:
    end = fate(facts(importance=importance), pace=PACE)
    assert end == Fate(NOW - days(100) + days(60 * importance), Why.FADED)


@pytest.mark.parametrize("kind", TYPES)
def test_four_types_fade(kind: str) -> None:
    end = fate(facts(type=kind), pace=PACE)
    assert (end is not None) == (kind in ("preference", "fact", "decision", "procedure"))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"always": True}, id="in every turn"),
        pytest.param({"authority": "person"}, id="a person's"),
        pytest.param({"source": "agent"}, id="an agent wrote it with a key"),
        pytest.param({"source": "imported"}, id="imported"),
        pytest.param({"status": "disabled"}, id="switched off"),
        pytest.param({"status": "superseded"}, id="superseded"),
        pytest.param({"status": "rejected"}, id="rejected"),
        pytest.param({"status": "archived"}, id="archived already"),
    ],
)
def test_what_never_fades(changes: dict[str, Any]) -> None:
    assert fate(facts(**changes), pace=PACE) is None


def test_use_and_change_begin_it_anew_whichever_came_last() -> None:
    used = fate(facts(used_at=NOW - days(10)), pace=PACE)
    assert used == Fate(NOW + days(50), Why.FADED)
    changed = fate(facts(used_at=NOW - days(200), touched_at=NOW - days(5)), pace=PACE)
    assert changed == Fate(NOW + days(55), Why.FADED)


@pytest.mark.parametrize("kind", TYPES)
def test_a_proposal_of_any_type_waits_thirty_days(kind: str) -> None:
    end = fate(facts(type=kind, status="proposed", importance=5, always=True, source="agent"), pace=PACE)
    assert end == Fate(NOW - days(70), Why.UNREVIEWED)


def test_what_a_person_said_waits_for_review_as_long_as_it_takes() -> None:
    assert fate(facts(status="proposed", authority="person"), pace=PACE) is None


@pytest.mark.parametrize("status", ["active", "disabled", "proposed"])
@pytest.mark.parametrize("authority", ["person", "automatic"])
def test_a_date_ends_anything_in_use(status: str, authority: str) -> None:
    at = NOW - days(99)
    ends = fate(facts(status=status, authority=authority, type="constraint", expires_at=at), pace=PACE)
    assert ends == Fate(at, Why.EXPIRED)


def test_whatever_ends_it_first_counts() -> None:
    assert fate(facts(expires_at=NOW + days(900)), pace=PACE) == Fate(NOW - days(40), Why.FADED)
    assert fate(facts(expires_at=NOW - days(41)), pace=PACE) == Fate(NOW - days(41), Why.EXPIRED)


@pytest.mark.parametrize("status", ["active", "proposed"])
def test_zero_days_say_never(status: str) -> None:
    assert fate(facts(status=status), pace=Pace(half_life_days=0, review_days=0)) is None


@settings(derandomize=True, max_examples=60)
@given(
    kind=st.sampled_from(TYPES),
    status=st.sampled_from(Status.values),
    source=st.sampled_from(Source.values),
    importance=st.integers(1, 5),
    always=st.booleans(),
    idle=st.integers(0, 2000),
    used=st.none() | st.integers(0, 2000),
)
def test_more_important_and_more_used_never_goes_earlier(
    kind: str, status: str, source: str, importance: int, always: bool, idle: int, used: int | None
) -> None:
    changes: dict[str, Any] = {"type": kind, "status": status, "source": source, "always": always}
    changes["touched_at"] = NOW - days(idle)
    changes["used_at"] = None if used is None else NOW - days(used)
    end = fate(facts(importance=importance, **changes), pace=PACE)
    stronger = fate(facts(importance=min(5, importance + 1), **changes), pace=PACE)
    renewed = fate(facts(importance=importance, **changes | {"used_at": NOW}), pace=PACE)
    assert (end is None) == (stronger is None) == (renewed is None)
    if end and stronger and renewed:
        assert stronger.at >= end.at
        assert renewed.at >= end.at
    assert fate(facts(importance=importance, **changes | {"authority": "person"}), pace=PACE) is None


# --- the job -----------------------------------------------------------------------------------------------


@pytest.fixture
def project() -> Project:
    return make_project("shop")


def aged(memory: Memory, by: float) -> Memory:
    Memory.objects.filter(pk=memory.pk).update(updated_at=NOW - days(by))
    return memory


def used(memory: Memory, ago: float) -> Memory:
    MemoryUsage.objects.create(memory=memory, count=1, last_at=NOW - days(ago))
    return memory


@pytest.fixture
def faded(project: Project) -> dict[str, Memory]:
    """One of each that goes."""
    return {
        "faded": aged(learned(project, "Builds run on Debian 12.", key="builds", importance=2), 121),
        "used": used(aged(learned(project, "Lists show 20 rows.", importance=1), 500), 61),
        "unreviewed": aged(proposal(project, "Never deploy on Friday.", type="constraint"), 31),
        "expired": make_memory(project, "The sale ends soon.", type="constraint", expires_at=NOW - days(1)),
    }


@pytest.fixture
def kept(project: Project) -> list[Memory]:
    """One of each that stays, however old."""
    mine = aged(make_memory(project, "Colours come from tokens."), 9999)
    return [
        mine,
        aged(learned(project, "The API speaks JSON.", importance=4), 239),
        used(aged(learned(project, "Ports start at 8000.", importance=1), 500), 59),
        aged(learned(project, "Pages need a title.", type="constraint"), 9999),
        aged(learned(project, "The cache lies.", type="pitfall"), 9999),
        aged(learned(project, "Dates are in UTC.", always=True), 9999),
        aged(proposal(project, "The team likes tabs."), 29),
        make_memory(project, "The fair is in March.", expires_at=NOW + days(1)),
    ]


@pytest.mark.django_db
def test_the_job_archives_what_is_due_and_says_why(
    faded: dict[str, Memory], kept: list[Memory], project: Project
) -> None:
    expected = {"faded": "faded", "used": "faded", "unreviewed": "unreviewed", "expired": "expired"}
    before = project.memory_version
    assert store.fade(now=NOW, by=WORKER) == {"faded": 2, "unreviewed": 1, "expired": 1}
    for name, memory in faded.items():
        gone = fresh(memory)
        assert (gone.status, gone.status_changed_by_person) == ("archived", False)
        row = memory.history.first()
        assert (row.action, row.actor_kind, row.history_change_reason) == (
            "archive",
            "worker",
            expected[name],
        )
        event = AuditEvent.objects.get(action="memory.archive", target_id=memory.pk)
        assert (event.actor_kind, event.reason) == ("worker", expected[name])
    assert {fresh(memory).status for memory in kept} == {"active", "proposed"}
    assert AuditEvent.objects.get(action="memories.fade").counts == {
        "faded": 2,
        "unreviewed": 1,
        "expired": 1,
    }
    project.refresh_from_db()
    assert project.memory_version != before
    assert not Tombstone.objects.exists()
    assert store.fade(now=NOW, by=WORKER) == {}


@pytest.mark.django_db
def test_a_project_with_nothing_due_is_not_touched(kept: list[Memory], project: Project) -> None:
    project.refresh_from_db()
    before = project.memory_version
    assert store.fade(now=NOW, by=WORKER) == {}
    project.refresh_from_db()
    assert project.memory_version == before


@pytest.mark.django_db
def test_more_than_a_batch_goes_batch_by_batch(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(archiving, "BATCH", 2)
    for number in range(5):
        aged(learned(project, f"Shelf {number} holds {number + 7} boxes."), 999)
    other = make_project()
    aged(learned(other, "Boxes are blue."), 999)
    assert store.fade(now=NOW, by=WORKER) == {"faded": 6}
    counts = AuditEvent.objects.filter(action="memories.fade").order_by("id")
    assert [event.counts for event in counts] == [{"faded": number} for number in (2, 2, 1, 1)]


@pytest.mark.django_db
def test_what_there_is_no_time_for_is_left_to_the_next_hour(
    faded: dict[str, Memory], project: Project
) -> None:
    assert store.fade(now=NOW, by=WORKER, budget_s=0) == {}
    assert store.fade(now=NOW, by=WORKER).total() == 4


@pytest.mark.django_db
def test_the_key_and_the_words_of_what_is_archived_are_free(
    faded: dict[str, Memory], project: Project
) -> None:
    store.fade(now=NOW, by=WORKER)
    again = make_memory(project, "Builds run on Debian 12.", key="builds")
    assert (again.key, again.status) == ("builds", "active")


@pytest.mark.django_db
def test_what_a_person_brings_back_stays(faded: dict[str, Memory], project: Project) -> None:
    store.fade(now=NOW, by=WORKER)
    by = person(project)
    restored = store.restore(project=project, memory_id=faded["faded"].pk, by=by)
    undone = store.undo(project=project, memory_id=faded["used"].pk, by=by)
    expired = store.restore(project=project, memory_id=faded["expired"].pk, by=by)
    assert undone is not None
    assert [memory.status for memory in (restored, undone, expired)] == ["active"] * 3
    assert [memory.authority for memory in (restored, undone, expired)] == ["person"] * 3
    assert expired.expires_at is None
    proposed = store.undo(project=project, memory_id=faded["unreviewed"].pk, by=by)
    assert proposed is not None
    assert (proposed.status, proposed.authority) == ("proposed", "automatic")
    assert store.fade(now=NOW + days(20), by=WORKER) == {}


@pytest.mark.django_db
def test_an_expired_memory_whose_end_is_undone_holds_without_an_end(
    faded: dict[str, Memory], project: Project
) -> None:
    store.fade(now=NOW, by=WORKER)
    back = store.undo(project=project, memory_id=faded["expired"].pk, by=person(project))
    assert back is not None
    assert (back.status, back.expires_at) == ("active", None)


@pytest.mark.django_db
def test_the_database_finds_what_the_rule_says(project: Project) -> None:
    """Every kind of row at every age around its end: the query and the pure rule agree."""
    number = 0
    for kind in ("fact", "constraint"):
        for importance in (1, 3):
            for status in (Status.ACTIVE, Status.PROPOSED):
                for age in (29, 31, 59, 61, 179, 181):
                    number += 1
                    row = learned(
                        project,
                        f"Shelf {number} holds {number + 7} boxes.",
                        type=kind,
                        importance=importance,
                        status=status,
                    )
                    aged(row, age)
                    if number % 3 == 0:
                        used(row, age / 2)
    wanted = {
        memory.pk
        for memory in Memory.objects.select_related("usage")
        if (end := fate(archiving.facts_of(memory), pace=PACE)) and end.at <= NOW
    }
    assert len(wanted) == 23
    found = {one.memory.pk for one in store.fading_now(now=NOW)}
    assert found == wanted
    assert store.fade(now=NOW, by=WORKER).total() == 23


# --- by hand -----------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_archiving_by_hand_asks_whose_it_is_and_where_it_stands(project: Project) -> None:
    memory = make_memory(project)
    with refused_with(store.PersonRequired):
        store.archive(project=project, memory_id=memory.pk, by=WORKER)
    archived = store.archive(project=project, memory_id=memory.pk, by=person(project), reason="over")
    assert (archived.status, archived.version, archived.status_changed_by_person) == ("archived", 2, True)
    again = store.archive(project=project, memory_id=memory.pk, by=person(project))
    assert again.version == 2
    rejected = store.reject(
        project=project, memory_id=proposal(project, "Tabs are nice.").pk, by=person(project)
    )
    with refused_with(store.WrongStatus):
        store.archive(project=project, memory_id=rejected.pk, by=person(project))


# --- the command and the task ------------------------------------------------------------------------------


def said(*arguments: str) -> str:
    out = StringIO()
    call_command("fade", *arguments, stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_a_dry_run_prints_what_would_go_and_why_and_changes_nothing(
    faded: dict[str, Memory], kept: list[Memory], project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    rows = list(Memory.objects.values())
    text = said("--dry-run")
    lines = text.splitlines()
    assert lines[-1] == "4 would be archived: expired 1, faded 2, unreviewed 1"
    assert len(lines) == 6
    told = {int(line.split()[1]): line for line in lines[1:-1]}
    assert set(told) == {memory.pk for memory in faded.values()}
    assert told[faded["faded"].pk].split() == [
        "shop",
        str(faded["faded"].pk),
        "fact",
        "2",
        "faded",
        "2026-11-30",
        "12:00",
        "builds",
    ]
    assert "Debian" not in text
    assert list(Memory.objects.values()) == rows
    assert not AuditEvent.objects.filter(action="memory.archive").exists()


@pytest.mark.django_db
def test_the_command_archives_one_project_or_all(
    faded: dict[str, Memory], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("django.utils.timezone.now", lambda: NOW)
    make_project("other")
    assert said("--project", "other") == "0 archived\n"
    assert said("--project", "shop") == "4 archived: expired 1, faded 2, unreviewed 1\n"
    assert AuditEvent.objects.filter(action="memory.archive", actor_kind=SYSTEM.kind).count() == 4
    with pytest.raises(CommandError, match="no project"):
        said("--project", "nowhere")


@pytest.mark.django_db
def test_the_worker_does_so_every_hour(project: Project) -> None:
    memory = learned(project)
    Memory.objects.update(updated_at=datetime(2020, 1, 1, tzinfo=UTC))
    tasks.fade()
    assert fresh(memory).status == Status.ARCHIVED


@pytest.mark.django_db
@pytest.mark.urls("tests.memories.urls")
def test_the_api_says_when_it_will_fade(project: Project, api_as: Callable[..., APIClient]) -> None:
    memory, mine = aged(learned(project, importance=3), 10), make_memory(project, "Mine.")
    client = api_as(project.owner)
    path = "/api/v1/projects/shop/memories/"
    assert client.get(f"{path}{memory.pk}/").json()["fades_at"] == "2027-05-20T12:00:00Z"
    assert client.get(f"{path}{mine.pk}/").json()["fades_at"] is None
