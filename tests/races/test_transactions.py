"""What the database does when two want the same rows, and that nobody hears of it. Only where rows have locks."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

import pytest
from django.db import OperationalError, connection, transaction
from django.db.models.sql.subqueries import DeleteQuery
from django.utils import timezone

from chats import instructions
from chats.models import Chat, Instruction
from memories import store
from memories.models import Memory, MemoryUsage
from projects.actors import Actor
from projects.http import idempotency
from projects.models import AuditEvent, IdempotencyRecord
from projects.store import delete_project
from projects.transactions import atomic_retry
from tests.chats.turns import opened
from tests.factories import make_memory
from tests.processes import await_true
from tests.races.crowd import WAIT_S, at_once
from tests.races.invariants import assert_gone

if TYPE_CHECKING:
    from collections.abc import Callable

    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _rows_have_locks() -> None:
    if connection.vendor == "sqlite":
        pytest.skip("SQLite locks the whole database: no two writers meet")


class Crossing:
    """Two transactions that lock two memories in opposite order, each holding the first when it asks for the second."""

    def __init__(self, project: Project) -> None:
        self.ids = [make_memory(project, f"Box {number} is red.").pk for number in (1, 2)]
        self.both_hold = threading.Barrier(2)
        self.tries = 0

    def forth(self) -> None:
        self._lock(self.ids)

    def back(self) -> None:
        self._lock(self.ids[::-1])

    def _lock(self, ids: list[int]) -> None:
        self.tries += 1
        Memory.objects.filter(pk=ids[0]).update(importance=4)
        if self.tries <= 2:
            self.both_hold.wait(WAIT_S)
        Memory.objects.filter(pk=ids[1]).update(importance=4)


def test_a_transaction_that_deadlocks_is_run_again(project: Project) -> None:
    crossing = Crossing(project)
    assert at_once(atomic_retry(crossing.forth), atomic_retry(crossing.back)) == [None, None]
    assert crossing.tries == 3


def test_without_that_the_database_ends_one_of_the_two(project: Project) -> None:
    """So that the test above shows something."""
    crossing = Crossing(project)
    done = at_once(transaction.atomic(crossing.forth), transaction.atomic(crossing.back))
    assert sorted(type(one) for one in done if one is not None) == [OperationalError]
    assert [one.args[0] for one in done if one is not None] == [1213]


def test_only_the_outermost_transaction_is_run_again(project: Project) -> None:
    crossing = Crossing(project)
    outer = 0

    @atomic_retry
    def outermost() -> None:
        nonlocal outer
        outer += 1
        atomic_retry(crossing.back)()

    assert at_once(atomic_retry(crossing.forth), outermost) == [None, None]
    assert (crossing.tries, outer) in ((3, 1), (3, 2)), "whichever of the two was ended"


def test_nobody_waits_for_a_lock_longer_than_ten_seconds() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SHOW VARIABLES WHERE Variable_name = 'innodb_lock_wait_timeout'")
        assert cursor.fetchone()[1] == "10"


def test_those_who_wait_for_a_key_that_becomes_free_do_not_deadlock() -> None:
    """Each of them shares the lock of the row that goes, and wants to write in its place."""
    IdempotencyRecord.objects.create(caller="user:1", key="k", fingerprint="f")
    with ThreadPoolExecutor(1) as pool:
        with transaction.atomic():
            IdempotencyRecord.objects.all().delete()
            claims = [lambda: idempotency._claim("user:1", "k", "f")] * 4
            done = pool.submit(at_once, *claims)
            await_true(lambda: others_under_way() == len(claims), within_s=9)
        told = done.result()
    claimed = [one for one in told if isinstance(one, tuple)]
    assert [is_new for _record, is_new in claimed] == [True]
    assert [one.code for one in told if one not in claimed] == ["request_in_progress"] * 3


def others_under_way() -> int:
    """How many other connections to this database are in a statement: here, waiting for a lock."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT COUNT(*) FROM information_schema.processlist"
            " WHERE db = DATABASE() AND command = 'Query' AND id <> CONNECTION_ID()"
        )
        return int(cursor.fetchone()[0])


def test_a_rule_taken_back_while_it_is_promoted_is_taken_back_afterwards(
    project: Project, monkeypatch: pytest.MonkeyPatch, deadlocks: Callable[[], list[str]]
) -> None:
    rule = Instruction.objects.get(chat=opened(project, "From now on use pnpm.").chat)
    by = Actor.for_user(project.owner, transport="web")
    remember = store.remember

    with ThreadPoolExecutor(1) as pool:

        def remember_while_it_is_dismissed(**kwargs: Any) -> store.Remembered:
            dismissing = pool.submit(at_once, lambda: instructions.dismiss(instruction=rule, by=by))
            wait([dismissing], timeout=1.5)  # in vain: its topic is held
            return remember(**kwargs)

        monkeypatch.setattr(store, "remember", remember_while_it_is_dismissed)
        instructions.promote(instruction=Instruction.objects.get(pk=rule.pk), by=by)
    rule.refresh_from_db()
    assert (rule.state, rule.memory_id) == ("dismissed", Memory.objects.get().pk)
    actions = AuditEvent.objects.filter(target_type="instruction").order_by("pk")
    assert list(actions.values_list("action", flat=True)) == ["instruction.promote", "instruction.dismiss"]
    assert deadlocks() == []


def added_while_it_is_deleted(
    monkeypatch: pytest.MonkeyPatch, model: type[Any], add: Callable[[], Any]
) -> list[Any]:
    """Another connection commits what `add` adds just before rows of `model` go, after what hung on them went."""
    delete_batch, added = DeleteQuery.delete_batch, []

    def delete_late(self: DeleteQuery, *args: Any) -> Any:
        if self.model is model and not added:
            added.extend(at_once(add))
        return delete_batch(self, *args)

    monkeypatch.setattr(DeleteQuery, "delete_batch", delete_late)
    return added


def test_a_rule_added_while_its_project_is_deleted_goes_with_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It hangs on its topic and turn, whose rows a deletion locks late."""
    chat = opened(project, "Build it.").chat
    added = added_while_it_is_deleted(
        monkeypatch,
        Chat,
        lambda: Instruction.objects.create(
            topic_id=chat.topic_id, chat=chat, kind="directive", content="Use pnpm.", tokens=3
        ),
    )
    delete_project(project=project, by=Actor.for_user(project.owner, transport="web"))
    assert [type(one) for one in added] == [Instruction]
    assert Instruction.objects.count() == 0
    assert_gone(project.pk)


@pytest.mark.parametrize("verb", ["delete", "purge"])
def test_a_memory_counted_while_it_goes_takes_its_count_along(
    project: Project, monkeypatch: pytest.MonkeyPatch, verb: str
) -> None:
    memory = make_memory(project)
    added = added_while_it_is_deleted(
        monkeypatch,
        Memory,
        lambda: MemoryUsage.objects.create(memory_id=memory.pk, count=1, last_at=timezone.now()),
    )
    by = Actor.for_user(project.owner, transport="web")
    getattr(store, verb)(project=project, memory_id=memory.pk, by=by)
    assert [type(one) for one in added] == [MemoryUsage]
    assert (Memory.objects.count(), MemoryUsage.objects.count()) == (0, 0)
