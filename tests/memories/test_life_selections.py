"""Many memories undone at once: what changed together is taken back together, and once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memories import store
from memories.models import Memory, Source
from tests.factories import make_project
from tests.memories.test_life_undo import draft, state
from tests.memories.test_store import learned, person, proposal

if TYPE_CHECKING:
    from projects.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("shop")


def test_undone_in_one_selection_what_changed_together_is_taken_back_once(project: Project) -> None:
    old = learned(project, "The main colour is blue.", key="colour")
    new = proposal(project, "The main colour is green.", key="colour", replaces=old)
    alone = learned(project, "The port is 5432.", key="port")
    store.disable(project=project, memory_id=alone.pk, by=person(project))
    before = state(project)
    store.confirm(project=project, memory_id=new.pk, by=person(project))
    ids = [old.pk, new.pk, alone.pk]
    done = store.bulk(project=project, action="undo", ids=ids, by=person(project))
    assert [result.outcome for result in done.results] == ["changed"] * 3
    assert {pk: row["status"] for pk, row in state(project).items()} == {
        old.pk: "active",
        new.pk: "proposed",
        alone.pk: "active",
    }
    assert state(project)[old.pk] == before[old.pk]
    store.bulk(project=project, action="undo", ids=ids, by=person(project))
    assert {pk: row["status"] for pk, row in state(project).items()} == {
        old.pk: "superseded",
        new.pk: "active",
        alone.pk: "disabled",
    }


def test_undone_in_one_selection_what_came_with_another_is_gone_once(project: Project) -> None:
    old = learned(project, "The main colour is blue.", key="colour")
    new = store.replace(
        project=project,
        target=old,
        draft=draft("The main colour is green."),
        source=Source.EXPLICIT,
        by=person(project),
    )
    new_id = new.pk
    there = []
    for _ in range(2):
        done = store.bulk(project=project, action="undo", ids=[old.pk, new_id], by=person(project))
        assert [result.outcome for result in done.results] == ["changed", "changed"]
        there.append(dict(Memory.objects.of(project).values_list("pk", "status")))
    assert there == [{old.pk: "active"}, {old.pk: "superseded", new_id: "active"}]
