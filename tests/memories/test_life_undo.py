"""Taking the last change of a memory back, with all that it did to others; taking that back again."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from memories import store
from memories.models import Authority, Memory, Source, Status, Tombstone
from memories.store import tombstones
from projects.actors import WORKER, Actor
from projects.models import AuditEvent
from tests.factories import make_key, make_memory, make_project, make_user
from tests.memories.test_store import agent, fresh, learned, person, proposal, quote, refused_with, traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from projects.models import Project

pytestmark = pytest.mark.django_db
History = Memory.history.model
# What every write moves on, and what the guard and the renderer make anew.
MOVES_ON = {"version", "updated_at", "updated_by_id", "tokens"}


@pytest.fixture
def project() -> Project:
    return make_project("shop")


def undo(project: Project, memory: Memory | int, **kwargs: Any) -> Memory | None:
    memory_id = memory if isinstance(memory, int) else memory.pk
    return store.undo(
        project=project, memory_id=memory_id, by=kwargs.pop("by", None) or person(project), **kwargs
    )


def state(project: Project) -> dict[int, dict[str, Any]]:
    """Every memory of the project, without what moves on with any write."""
    rows = Memory.objects.of(project).values()
    return {row["id"]: {name: row[name] for name in row if name not in MOVES_ON} for row in rows}


def stones(project: Project) -> list[tuple[int, str]]:
    return sorted(Tombstone.objects.filter(project=project).values_list("memory_id", "reason"))


def draft(content: str, **fields: Any) -> store.Draft:
    return store.Draft(type=fields.pop("type", "fact"), content=content, **fields)


# --- each verb, back and forth -----------------------------------------------------------------------------


def _edit(project: Project) -> int:
    memory = make_memory(project, "The port is 5432.", key="port", files=("a/**",))
    return _then(
        memory, store.edit, project, changes={"content": "The port is 5433.", "key": "db", "importance": 5}
    )


def _confirm(project: Project) -> int:
    old = learned(project, "The main colour is blue.", key="colour")
    return _then(
        proposal(project, "The main colour is green.", key="colour", replaces=old), store.confirm, project
    )


def _reject(project: Project) -> int:
    return _then(proposal(project), store.reject, project)


def _disable(project: Project) -> int:
    return _then(learned(project), store.disable, project)


def _enable(project: Project) -> int:
    return _then(learned(project, status=Status.DISABLED), store.enable, project)


def _archive(project: Project) -> int:
    return _then(proposal(project, "Deploys happen on Friday."), store.archive, project)


def _delete(project: Project) -> int:
    other = learned(project, "The port is 5433.", key="port two")
    memory = learned(project, "The port is 5432.", key="port", contradicts=other)
    learned(project, "The port is 5434.", key="port three", contradicts=memory)
    return _then(memory, store.delete, project)


def _restore_deleted(project: Project) -> int:
    memory = learned(project)
    store.delete(project=project, memory_id=memory.pk, by=person(project))
    return _then(memory, store.restore, project)


def _restore_superseded(project: Project) -> int:
    old = learned(project, "The main colour is blue.", key="colour")
    store.replace(
        project=project,
        target=old,
        draft=draft("The main colour is green."),
        source=Source.EXPLICIT,
        by=person(project),
    )
    return _then(old, store.restore, project)


def _merge(project: Project) -> int:
    source = learned(project, "Builds run on Debian 12.", evidence=(quote("one"),))
    target = learned(project, "The builds run on Debian 12.", key="builds", evidence=(quote("two"),))
    return _then(source, store.merge, project, into_id=target.pk)


def _replace(project: Project) -> int:
    old = learned(project, "The port is 5432.", key="port")
    REMEMBERED[old.pk] = state(project), stones(project)
    store.replace(
        project=project,
        target=old,
        draft=draft("The port is 5433."),
        source=Source.EXTRACTED,
        by=person(project),
    )
    return old.pk


def _remember_again(project: Project) -> int:
    """Said in so many words, what was learned becomes a person's and more important."""
    memory = learned(project, "Lists show 20 rows.")
    REMEMBERED[memory.pk] = state(project), stones(project)
    store.remember(project=project, draft=draft("Lists show 20 rows."), by=person(project))
    return memory.pk


REMEMBERED: dict[int, tuple[Any, Any]] = {}


def _then(memory: Memory, verb: Callable[..., Any], project: Project, **kwargs: Any) -> int:
    memory_id = memory.pk
    REMEMBERED[memory_id] = state(project), stones(project)
    verb(project=project, memory_id=memory_id, by=person(project), **kwargs)
    return memory_id


@pytest.mark.parametrize(
    "change",
    [
        _edit,
        _confirm,
        _reject,
        _disable,
        _enable,
        _archive,
        _delete,
        _restore_deleted,
        _restore_superseded,
        _merge,
        _replace,
        _remember_again,
    ],
)
def test_a_change_goes_back_and_forth_with_all_that_it_did(
    change: Callable[[Project], int], project: Project
) -> None:
    memory_id = change(project)
    before, stones_before = REMEMBERED.pop(memory_id)
    after, stones_after = state(project), stones(project)
    assert after != before
    assert store.can_undo(project=project, memory_id=memory_id, by=person(project))
    undo(project, memory_id, reason="too quick")
    assert state(project) == before
    # What came with the change is gone as if it had been deleted.
    assert stones(project) == sorted({*stones_before, *((pk, "deleted") for pk in after.keys() - before)})
    rows = History.objects.filter(history_change_reason="too quick")
    assert {(row.action, row.actor_kind) for row in rows} == {("undo", "user")}
    assert AuditEvent.objects.filter(action="memory.undo", reason="too quick").count() == len(rows)
    undo(project, memory_id)
    assert state(project) == after
    assert stones(project) == stones_after
    undo(project, memory_id)
    assert state(project) == before
    connection.check_constraints()


@pytest.mark.parametrize("end", ["old", "new"])
def test_a_replacement_goes_back_from_either_end(end: str, project: Project) -> None:
    old = learned(project, "The port is 5432.", key="port")
    told = store.remember(project=project, draft=draft("The port is 5433."), by=person(project))
    new = told.memory
    assert (told.outcome, new is not None) == ("replaced", True)
    undo(project, old if end == "old" else new)
    assert (fresh(old).status, fresh(old).key) == ("active", "port")
    assert not Memory.objects.filter(pk=new.pk).exists()
    assert stones(project) == [(new.pk, "deleted")]


def test_what_was_added_is_gone_and_stays_away_until_that_is_undone(project: Project) -> None:
    memory = make_memory(project, "Deploys happen on Friday.")
    assert undo(project, memory) is None
    met = tombstones.meet(project, content=memory.content, key="")
    assert met is not None
    assert (met.kind, met.tombstone.reason) == ("content", "deleted")
    back = undo(project, memory)
    assert back is not None
    assert (back.pk, back.content, back.status) == (memory.pk, memory.content, "active")
    assert tombstones.meet(project, content=memory.content, key="") is None


# --- what an undo passes over ------------------------------------------------------------------------------


def test_evidence_that_came_since_stays_and_does_not_count_as_a_change(project: Project) -> None:
    memory = learned(project, evidence=(quote("first"),))
    store.disable(project=project, memory_id=memory.pk, by=person(project))
    store.add_evidence(project=project, memory=memory, evidence=quote("second"), by=WORKER)
    undo(project, memory)
    assert fresh(memory).status == Status.ACTIVE
    assert [entry["quote"] for entry in fresh(memory).evidence] == ["first", "second"]


def test_a_merge_takes_back_only_the_quotes_that_it_brought(project: Project) -> None:
    source = learned(project, "Builds run on Debian 12.", evidence=(quote("of the source"),))
    target = learned(project, "The builds run on Debian 12.", key="builds", evidence=(quote("own"),))
    store.merge(project=project, memory_id=source.pk, into_id=target.pk, by=person(project))
    store.add_evidence(project=project, memory=target, evidence=quote("since"), by=WORKER)
    undo(project, target)
    assert [entry["quote"] for entry in fresh(target).evidence] == ["own", "since"]
    assert (fresh(source).status, fresh(target).authority) == ("active", "automatic")


# --- whose word ----------------------------------------------------------------------------------------------


def test_what_a_person_takes_back_from_a_machine_has_that_persons_authority(project: Project) -> None:
    old = learned(project, "The port is 5432.", key="port")
    store.replace(
        project=project, target=old, draft=draft("The port is 5433."), source=Source.EXTRACTED, by=WORKER
    )
    undo(project, old)
    back = fresh(old)
    assert (back.status, back.authority, back.confirmed_by, back.status_changed_by_person) == (
        "active",
        "person",
        project.owner,
        True,
    )


def test_what_a_person_takes_back_from_a_person_has_the_authority_it_had(project: Project) -> None:
    memory = learned(project)
    store.edit(project=project, memory_id=memory.pk, changes={"importance": 2}, by=person(project))
    assert fresh(memory).authority == Authority.PERSON
    undo(project, memory)
    assert (fresh(memory).authority, fresh(memory).confirmed_at) == ("automatic", None)


def test_an_agent_takes_back_what_its_own_key_did_and_nothing_else(project: Project) -> None:
    mine, others = agent(project), Actor.for_key(make_key(project)[0])
    memory = learned(project)
    store.edit(project=project, memory_id=memory.pk, changes={"importance": 2}, by=mine)
    for by in (others, WORKER):
        assert not store.can_undo(project=project, memory_id=memory.pk, by=by)
        before = traces(project)
        with refused_with(store.PersonRequired):
            undo(project, memory, by=by)
        assert traces(project) == before
    undo(project, memory, by=mine)
    assert (fresh(memory).importance, fresh(memory).authority) == (3, "automatic")
    store.disable(project=project, memory_id=memory.pk, by=person(project))
    with refused_with(store.PersonRequired):
        undo(project, memory, by=mine)
    assert fresh(memory).status == Status.DISABLED


def test_an_agent_takes_back_nothing_that_also_changed_a_persons_memory(project: Project) -> None:
    """The key's own edit, of what a person confirmed since and unconfirmed again."""
    memory, mine = learned(project), agent(project)
    store.edit(project=project, memory_id=memory.pk, changes={"importance": 2}, by=mine)
    Memory.objects.filter(pk=memory.pk).update(authority=Authority.PERSON)
    with refused_with(store.PersonRequired):
        undo(project, memory, by=mine)
    assert fresh(memory).importance == 2


# --- refusals ----------------------------------------------------------------------------------------------


def test_a_partner_that_changed_since_is_named_and_nothing_goes_back(project: Project) -> None:
    old = learned(project, "The main colour is blue.", key="colour")
    new = proposal(project, "The main colour is green.", key="colour", replaces=old)
    store.confirm(project=project, memory_id=new.pk, by=person(project))
    store.edit(project=project, memory_id=new.pk, changes={"importance": 2}, by=person(project))
    before = traces(project)
    assert not store.can_undo(project=project, memory_id=old.pk, by=person(project))
    with refused_with(store.PartnerChanged) as refused:
        undo(project, old)
    assert (refused.value.code, refused.value.partner_id) == ("partner_changed", new.pk)
    assert traces(project) == before
    # The partner's own last change still goes back, and then the one that they share.
    undo(project, new)
    with refused_with(store.PartnerChanged):
        undo(project, old)


def test_whoever_saw_another_version_undoes_nothing(project: Project) -> None:
    memory = make_memory(project)
    store.disable(project=project, memory_id=memory.pk, by=person(project))
    with refused_with(store.StaleMemory):
        undo(project, memory, version=1)
    assert fresh(memory).status == Status.DISABLED
    undo(project, memory, version=2)
    assert fresh(memory).status == Status.ACTIVE


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
    store.archive(project=project, memory_id=memory.pk, by=person(project))
    other = make_memory(project, content, key=key)
    before = traces(project)
    with refused_with(error) as refused:
        undo(project, memory)
    assert refused.value.memory == other
    assert traces(project) == before


def test_no_undo_brings_back_what_the_guard_refuses(project: Project) -> None:
    memory = make_memory(project, "The port is 5432.")
    store.edit(
        project=project, memory_id=memory.pk, changes={"content": "The port is 5433."}, by=person(project)
    )
    History.objects.filter(id=memory.pk, version=1).update(content="The database password is Ab12cd34!x9Kq")
    with refused_with(store.GuardRefused):
        undo(project, memory)
    assert fresh(memory).content == "The port is 5433."


def test_a_deletion_goes_back_for_thirty_days(project: Project) -> None:
    memory = make_memory(project)
    store.delete(project=project, memory_id=memory.pk, by=person(project))
    gone = History.objects.filter(history_type="-")
    gone.update(history_date=timezone.now() - timedelta(days=30, minutes=1))
    assert not store.can_undo(project=project, memory_id=memory.pk, by=person(project))
    with refused_with(store.NothingToUndo):
        undo(project, memory)
    gone.update(history_date=timezone.now() - timedelta(days=29, hours=23))
    assert undo(project, memory) is not None


def test_what_came_by_itself_is_undone_for_thirty_days_and_deleted_later(project: Project) -> None:
    memory, old = make_memory(project), learned(project, "The port is 5432.")
    store.replace(
        project=project, target=old, draft=draft("The port is 5433."), source=Source.EXTRACTED, by=WORKER
    )
    History.objects.update(history_date=timezone.now() - timedelta(days=30, minutes=1))
    with refused_with(store.NothingToUndo):
        undo(project, memory)
    # What pushed something out goes whenever that is wanted back.
    undo(project, old)
    assert (fresh(old).status, Memory.objects.count()) == ("active", 2)
    History.objects.filter(id=memory.pk).update(history_date=timezone.now() - timedelta(days=29, hours=23))
    assert undo(project, memory) is None


def test_nothing_is_left_to_undo_of_what_was_purged_or_belongs_to_another(project: Project) -> None:
    memory = make_memory(project)
    elsewhere = make_project()
    with refused_with(Memory.DoesNotExist):
        undo(elsewhere, memory)
    store.purge(project=project, memory_id=memory.pk, by=person(project))
    with refused_with(Memory.DoesNotExist):
        undo(project, memory)


def test_changes_from_before_versions_told_what_belongs_together(project: Project) -> None:
    """An edit touches one memory; of a confirmation nobody knows any more what else it did."""
    edited, confirmed = make_memory(project, "The port is 5432."), proposal(project)
    store.edit(project=project, memory_id=edited.pk, changes={"importance": 1}, by=person(project))
    store.confirm(project=project, memory_id=confirmed.pk, by=person(project))
    History.objects.update(change="")
    undo(project, edited)
    assert fresh(edited).importance == 3
    with refused_with(store.NothingToUndo):
        undo(project, confirmed)


def test_many_at_once_go_back_one_by_one(project: Project) -> None:
    first, second = make_memory(project, "The port is 5432."), make_memory(project, "The colour is blue.")
    store.bulk(project=project, action="disable", ids=[first.pk, second.pk], by=person(project))
    undo(project, first)
    assert (fresh(first).status, fresh(second).status) == ("active", "disabled")


def test_a_user_who_is_gone_does_not_keep_a_change_from_going_back(project: Project) -> None:
    guest = make_user("guest")
    memory = learned(project)
    store.edit(
        project=project,
        memory_id=memory.pk,
        changes={"importance": 1},
        by=Actor.for_user(guest, transport="web"),
    )
    store.edit(project=project, memory_id=memory.pk, changes={"importance": 2}, by=person(project))
    guest.delete()
    undo(project, memory)
    assert (fresh(memory).importance, fresh(memory).confirmed_by) == (1, None)
    connection.check_constraints()
