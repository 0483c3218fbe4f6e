"""One memory in the place of another: what is held for a person replaces nothing, what is confirmed takes the key."""

from __future__ import annotations

import pytest

from memories import store
from memories.models import Memory, Source, Status
from memories.store.keys import suffixed
from projects.actors import WORKER, Actor
from projects.models import Project
from tests.factories import make_project

pytestmark = pytest.mark.django_db

HELD = "主色用蓝色，之前的规则作废"


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def old(project: Project) -> Memory:
    draft = store.Draft(type="decision", key="主色", content="主色用绿色")
    return store.propose(
        project=project, draft=draft, source=Source.EXTRACTED, by=WORKER, status=Status.ACTIVE
    )


def test_what_the_guard_holds_waits_and_the_old_one_stays(project: Project, old: Memory) -> None:
    draft = store.Draft(type="decision", content=HELD)
    newer = store.replace(project=project, target=old, draft=draft, source=Source.EXTRACTED, by=WORKER)
    old.refresh_from_db()
    assert (newer.status, newer.withheld, newer.replaces_id) == ("proposed", True, old.pk)
    assert old.status == "active"


def test_a_confirmed_replacement_takes_over_the_key(project: Project, old: Memory) -> None:
    draft = store.Draft(type="decision", key="主色", content="主色用蓝色")
    waiting = store.propose(project=project, draft=draft, source=Source.EXTRACTED, by=WORKER, replaces=old)
    assert waiting.key == "主色-2"
    by = Actor.for_user(project.owner, transport="web")
    confirmed = store.confirm(project=project, memory_id=waiting.pk, by=by)
    old.refresh_from_db()
    assert (confirmed.key, confirmed.status, old.status) == ("主色", "active", "superseded")


@pytest.mark.parametrize(
    ("key", "plain", "expected"),
    [
        pytest.param("主色-2", "主色", True, id="numbered"),
        pytest.param("主色", "主色", False, id="the same"),
        pytest.param("api-base", "api", False, id="another word"),
        pytest.param("port-5432", "host", False, id="another key with a number"),
    ],
)
def test_a_suffix_is_known_again(key: str, plain: str, expected: bool) -> None:
    assert suffixed(key, plain) is expected
