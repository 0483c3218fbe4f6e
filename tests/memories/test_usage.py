"""How often memories were given: each turn is counted once, whatever was deleted or runs beside it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from django.utils import timezone

from memories import store, usage
from memories.models import Memory, MemoryUsage, Recall, RecallItem
from tests.chats.turns import opened
from tests.factories import make_memory, make_project
from tests.memories.test_store import person

if TYPE_CHECKING:
    from datetime import datetime

    from projects.models import Project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("shop")


def gave(project: Project, *memories: Memory, at: datetime | None = None) -> None:
    """A turn of which one recall gave these memories."""
    chat = opened(project, "Hello.").chat
    Recall.objects.filter(chat=chat).delete()
    recall = Recall.objects.create(
        project=project, chat=chat, tokens=1, ms=1, created_at=at or timezone.now()
    )
    for rank, memory in enumerate(memories, 1):
        RecallItem.objects.create(
            recall=recall,
            memory_id=memory.pk,
            version=1,
            rank=rank,
            tokens=1,
            tier="relevant",
            score=1.0,
            parts={},
        )


def counts() -> dict[int, int]:
    return dict(MemoryUsage.objects.values_list("memory_id", "count"))


def later() -> datetime:
    return timezone.now() + timedelta(minutes=5)


def test_each_turn_is_counted_once_when_the_memory_given_last_was_deleted(project: Project) -> None:
    kept, last = make_memory(project), make_memory(project, "The port is 5432.")
    gave(project, kept)
    gave(project, kept, last)
    usage.roll_up(now=later())
    assert counts() == {kept.pk: 2, last.pk: 1}
    store.delete(project=project, memory_id=last.pk, by=person(project))
    gave(project, kept)
    for _ in range(2):
        usage.roll_up(now=later())
        assert counts() == {kept.pk: 3}


def test_what_is_too_young_to_be_counted_is_counted_later_though_a_newer_item_is_older(
    project: Project,
) -> None:
    one, other = make_memory(project), make_memory(project, "The port is 5432.")
    now = timezone.now()
    gave(project, one, at=now)
    gave(project, other, at=now - timedelta(minutes=2))
    usage.roll_up(now=now + timedelta(seconds=30))
    usage.roll_up(now=now + timedelta(minutes=2))
    assert counts() == {one.pk: 1, other.pk: 1}


def test_who_finds_that_another_has_counted_meanwhile_counts_anew(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Under READ COMMITTED one may read how far it was counted before another commits, and the counts after it."""
    old, new = make_memory(project), make_memory(project, "The port is 5432.")
    gave(project, old)
    usage.roll_up(now=later())
    gave(project, old, new)
    through, stale = usage._through, [usage._through()]
    usage.roll_up(now=later())
    monkeypatch.setattr(usage, "_through", lambda: stale.pop() if stale else through())
    usage.roll_up(now=later())
    assert (stale, counts()) == ([], {old.pk: 2, new.pk: 1})
