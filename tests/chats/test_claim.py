"""The life of a claim: one running, one pending, nothing lost, nothing doubled."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.db import OperationalError, connection, connections
from django.utils import timezone

from chats import distil, queue, schedule, topics
from chats.errors import NothingToRetry
from chats.models import Chat, Topic
from chats.querysets import TopicQuerySet
from memories.extraction import ProviderDown, breaker
from memories.extraction import backend as backend_named
from memories.models import Extraction, Memory
from projects.store import delete_project
from tests.chats.turns import AGENT, finished, opened, turn
from tests.factories import make_project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memories.extraction import Extracted, Transcript
    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)

RULE = "以后表格分页一律每页 20 条。"


@pytest.fixture
def project() -> Project:
    return make_project(review_policy="none")


@pytest.fixture(autouse=True)
def told(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """What workers would be told; the tests are the workers."""
    messages: list[tuple[int, float]] = []
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: messages.append((topic_id, delay_s)))
    return messages


class Held:
    """The rules, held at a barrier until the test lets them go."""

    name, model, prompt_version = "rules", "", ""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go = threading.Event()

    def extract(self, transcript: Transcript) -> Extracted:
        self.reached.set()
        assert self.go.wait(30)
        return backend_named("rules").extract(transcript)


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[Held]:
    backend = Held()
    monkeypatch.setattr(distil.extracting, "backend", lambda name: backend)
    yield backend
    backend.go.set()


def make_all_due() -> None:
    Topic.objects.filter(distil_pending=True).update(distil_due_at=timezone.now() - timedelta(seconds=1))


def end_leases() -> None:
    Topic.objects.exclude(distil_lease_token=None).update(
        distil_lease_until=timezone.now() - timedelta(seconds=1)
    )


def in_thread(function: object, *args: object) -> object:
    try:
        return function(*args)  # type: ignore[operator]
    finally:
        connections.close_all()


def run_until_quiet(topic_id: int) -> int:
    rounds = 1
    while distil.run(topic_id):
        rounds += 1
    return rounds


def statuses() -> list[str]:
    return list(Extraction.objects.order_by("id").values_list("status", flat=True))


def reads_per_turn() -> dict[int, int]:
    """How many succeeded runs read each turn."""
    reads: dict[int, int] = {}
    for run in Extraction.objects.filter(status="succeeded"):
        for chat_id in run.chats_read:
            reads[chat_id] = reads.get(chat_id, 0) + 1
    return reads


def test_twenty_finishes_while_a_run_is_held_make_exactly_one_more_run(project: Project, held: Held) -> None:
    first = turn(project, RULE)
    make_all_due()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_thread, distil.run, first.topic_id)
        assert held.reached.wait(30)
        later = [turn(project, f"第 {number} 个问题：列表怎么排？") for number in range(20)]
        make_all_due()
        assert distil.run(first.topic_id) is False, "the lease is held"
        held.go.set()
        running.result(timeout=30)
    assert run_until_quiet(first.topic_id) == 1
    assert statuses() == ["succeeded", "succeeded"]
    assert reads_per_turn() == {chat.pk: 1 for chat in [first, *later]}
    topic = Topic.objects.get()
    assert (topic.distil_pending, topic.distil_lease_token, topic.distil_due_at) == (False, None, None)


def test_twenty_finishes_within_the_idle_time_make_exactly_one_run(
    project: Project, told: list[tuple[int, float]]
) -> None:
    turns = [turn(project, f"第 {number} 个问题：列表怎么排？") for number in range(20)]
    topic = Topic.objects.get()
    assert len(told) == 20
    assert distil.run(topic.pk) is False, "nothing is due before the idle time has passed"
    make_all_due()
    for topic_id, _ in told:
        distil.run(topic_id)
    assert statuses() == ["succeeded"]
    assert reads_per_turn() == {chat.pk: 1 for chat in turns}


def test_due_is_after_the_idle_time_but_never_later_than_the_longest_wait(
    project: Project, settings: pytest.FixtureRequest
) -> None:
    settings.DISTIL_IDLE_S, settings.DISTIL_MAX_WAIT_S = 60, 90
    turn(project, RULE)
    topic = Topic.objects.get()
    first_due = topic.distil_due_at
    assert first_due == topic.distil_pending_since + timedelta(seconds=60)
    Topic.objects.update(distil_pending_since=timezone.now() - timedelta(seconds=80))
    turn(project, RULE)
    topic.refresh_from_db()
    assert topic.distil_due_at == topic.distil_pending_since + timedelta(seconds=90)


def test_only_one_of_many_claims_wins(project: Project) -> None:
    chat = turn(project, RULE)
    make_all_due()
    with ThreadPoolExecutor(8) as pool:
        claims = list(pool.map(lambda _: in_thread(schedule.claim, chat.topic_id), range(8)))
    assert sum(claim is not None for claim in claims) == 1


def test_a_run_killed_after_its_claim_is_claimed_again_and_nothing_is_doubled(
    project: Project, tmp_path: object
) -> None:
    chat = turn(project, RULE)
    make_all_due()
    child = subprocess.Popen(
        [sys.executable, "-c", KILLED],
        cwd=settings.BASE_DIR,
        env={
            **os.environ,
            "TOPIC": str(chat.topic_id),
            "CHILD_DATABASE": str(connection.settings_dict["NAME"]),
        },
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "reading\n"
        assert distil.run(chat.topic_id) is False, "the child holds the lease"
    finally:
        child.send_signal(signal.SIGKILL)
        child.communicate()
    assert statuses() == ["running"]
    end_leases()
    assert list(schedule.due_topics(now=timezone.now(), limit=10)) == [chat.topic_id]
    run_until_quiet(chat.topic_id)
    assert statuses() == ["abandoned", "succeeded"]
    assert reads_per_turn() == {chat.pk: 1}
    assert Memory.objects.count() == 1


KILLED = textwrap.dedent(
    """
    import os, time
    import django
    from django.conf import settings
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    settings.DATABASES["default"]["NAME"] = os.environ["CHILD_DATABASE"]
    django.setup()
    from chats import distil

    class Hanging:
        name, model, prompt_version = "rules", "", ""
        def extract(self, transcript):
            print("reading", flush=True)
            time.sleep(60)

    distil.extracting.backend = lambda name: Hanging()
    distil.run(int(os.environ["TOPIC"]))
    """
)


def test_a_run_whose_lease_was_taken_over_stores_nothing(project: Project, held: Held) -> None:
    chat = turn(project, RULE)
    make_all_due()
    with ThreadPoolExecutor(1) as pool:
        late = pool.submit(in_thread, distil.run, chat.topic_id)
        assert held.reached.wait(30)
        end_leases()
        assert schedule.claim(chat.topic_id) is not None, "the lease has ended"
        held.go.set()
        late.result(timeout=30)
    assert Memory.objects.count() == 0
    assert statuses() == ["abandoned"]
    assert Chat.objects.undistilled().count() == 1
    end_leases()
    run_until_quiet(chat.topic_id)
    assert statuses() == ["abandoned", "succeeded"]
    assert Memory.objects.count() == 1


def test_four_hundred_long_turns_are_each_read_by_exactly_one_succeeded_run(project: Project) -> None:
    topic_id = opened(project, "开始").chat.topic_id
    started = timezone.now()
    Chat.objects.bulk_create(
        Chat(
            project=project,
            topic_id=topic_id,
            seq=number + 2,
            ref=f"bulk-{number}",
            status="succeeded",
            message=f"第 {number} 轮：" + "请把列表页的查询条件再整理一遍。" * 40,
            message_tokens=400,
            reply_tokens=200,
            sent_at=started,
        )
        for number in range(400)
    )
    finished(project, Chat.objects.get(seq=1))
    make_all_due()
    rounds = run_until_quiet(topic_id)
    turns = Chat.objects.filter(topic_id=topic_id)
    assert turns.undistilled().count() == 0
    assert reads_per_turn() == {chat.pk: 1 for chat in turns}
    assert statuses() == ["succeeded"] * rounds
    # 400 turns of 600 tokens, 20 of them in 12,000.
    assert rounds == 21
    assert not Topic.objects.filter(distil_pending=True).exists()


def test_failed_and_cancelled_turns_are_never_read(project: Project) -> None:
    turn(project, RULE, status="failed")
    turn(project, RULE, status="cancelled")
    assert not Topic.objects.filter(distil_pending=True).exists()
    kept = turn(project, RULE)
    make_all_due()
    run_until_quiet(kept.topic_id)
    assert reads_per_turn() == {kept.pk: 1}


def test_a_run_that_breaks_keeps_its_turns_and_backs_off(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Broken:
        name, model, prompt_version = "rules", "", ""

        def extract(self, transcript: Transcript) -> Extracted:
            raise RuntimeError("数据库密码是 hunter2-hunter2")

    chat = turn(project, RULE)
    make_all_due()
    with monkeypatch.context() as patch:
        patch.setattr(distil.extracting, "backend", lambda name: Broken())
        assert distil.run(chat.topic_id) is False
    run = Extraction.objects.get()
    assert (run.status, run.error_kind, run.error) == ("failed", "input", "RuntimeError")
    topic = Topic.objects.get()
    assert topic.distil_pending
    assert topic.distil_retry_at > timezone.now() + timedelta(seconds=25)
    assert schedule.claim(chat.topic_id) is None, "not before the back-off has passed"
    Topic.objects.update(distil_retry_at=timezone.now() - timedelta(seconds=1))
    make_all_due()
    run_until_quiet(chat.topic_id)
    assert statuses() == ["failed", "succeeded"]
    assert Topic.objects.get().distil_failures == 0


class Allergic:
    """The rules, which break on the word poison and note how many turns they are given."""

    name, model, prompt_version = "rules", "", ""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.given: list[int] = []

    def extract(self, transcript: Transcript) -> Extracted:
        self.given.append(len(transcript.citable))
        if any("poison" in turn.message for turn in transcript.citable):
            raise self.error
        return backend_named("rules").extract(transcript)


def run_through_back_offs(topic_id: int, *, rounds: int) -> None:
    for _ in range(rounds):
        Topic.objects.update(distil_retry_at=None)
        make_all_due()
        run_until_quiet(topic_id)


def test_a_turn_that_cannot_be_read_is_found_by_halving_and_given_up_after_three_tries(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = [
        turn(project, "poison" if number == 3 else f"第 {number} 个问题：怎么排？") for number in range(8)
    ]
    poisoned = chats[3]
    backend = Allergic(ValueError("unreadable"))
    monkeypatch.setattr(distil.extracting, "backend", lambda name: backend)
    run_through_back_offs(poisoned.topic_id, rounds=3)
    # What fails is halved until something is read, then comes all that is left: twice, until the turn is alone.
    assert backend.given == [8, 4, 2, 6, 3, 1, 5, 2, 1, 1, 1, 4]
    assert reads_per_turn() == {chat.pk: 1 for chat in chats if chat != poisoned}
    poisoned.refresh_from_db()
    last_try = Extraction.objects.get(pk=poisoned.extraction_id)
    assert (poisoned.distil_outcome, last_try.attempts, last_try.status) == ("failed", 3, "failed")
    topic = Topic.objects.get()
    assert (topic.distil_pending, topic.distil_due_at, topic.distil_failures) == (False, None, 0)


def test_what_was_given_up_is_read_when_somebody_retries_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = turn(project, RULE + "poison")
    with monkeypatch.context() as patch:
        patch.setattr(distil.extracting, "backend", lambda name: Allergic(ValueError("unreadable")))
        run_through_back_offs(chat.topic_id, rounds=3)
    assert Chat.objects.get().distil_outcome == "failed"
    topics.retry(project=project, extraction=Extraction.objects.first(), by=AGENT)
    run_until_quiet(chat.topic_id)
    assert statuses() == ["failed", "failed", "failed", "succeeded"]
    assert (Chat.objects.get().distil_attempts, Memory.objects.count()) == (0, 1)
    with pytest.raises(NothingToRetry):
        topics.retry(project=project, extraction=Extraction.objects.last(), by=AGENT)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        pytest.param(ProviderDown("503"), "provider_down", id="provider down"),
        pytest.param(OperationalError("gone away"), "internal", id="database away"),
    ],
)
def test_what_is_no_fault_of_the_turns_neither_halves_nor_gives_up(
    project: Project, monkeypatch: pytest.MonkeyPatch, error: Exception, kind: str
) -> None:
    chats = [turn(project, "poison"), turn(project, RULE)]
    backend = Allergic(error)
    monkeypatch.setattr(distil.extracting, "backend", lambda name: backend)
    run_through_back_offs(chats[0].topic_id, rounds=4)
    assert backend.given == [2, 2, 2, 2]
    assert set(Extraction.objects.values_list("status", "error_kind")) == {("failed", kind)}
    assert Chat.objects.undistilled().count() == 2
    assert Topic.objects.get().distil_failures == 4


def test_memory_switched_off_during_a_run_ends_it_quietly(project: Project, held: Held) -> None:
    chat = turn(project, RULE)
    make_all_due()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_thread, distil.run, chat.topic_id)
        assert held.reached.wait(30)
        type(project).objects.update(memory_enabled=False)
        held.go.set()
        running.result(timeout=30)
    assert statuses() == ["cancelled"]
    assert Memory.objects.count() == 0
    assert Chat.objects.get().distil_outcome == "memory_off"


def test_a_topic_deleted_during_a_run_ends_it_quietly(project: Project, held: Held) -> None:
    chat = turn(project, RULE)
    make_all_due()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_thread, distil.run, chat.topic_id)
        assert held.reached.wait(30)
        Topic.objects.get().delete()
        held.go.set()
        assert running.result(timeout=30) is False
    assert Memory.objects.count() == 0
    assert statuses() == ["cancelled"]


def test_a_topic_deleted_before_its_run_is_written_down_ends_it_quietly(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = turn(project, RULE)
    make_all_due()
    admit = breaker.admit

    def admit_while_it_goes(*args: Any, **kwargs: Any) -> breaker.Admission:
        Topic.objects.get().delete()
        return admit(*args, **kwargs)

    monkeypatch.setattr(breaker, "admit", admit_while_it_goes)
    assert distil.run(chat.topic_id) is False
    assert (Extraction.objects.count(), Memory.objects.count()) == (0, 0)


def test_a_project_deleted_during_a_run_ends_it_quietly(project: Project, held: Held) -> None:
    chat = turn(project, "列表怎么排？")
    make_all_due()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(in_thread, distil.run, chat.topic_id)
        assert held.reached.wait(30)
        delete_project(project=project, by=AGENT)
        held.go.set()
        assert running.result(timeout=30) is False
    assert statuses() == []


def test_a_turn_distilled_twice_changes_nothing(project: Project) -> None:
    chat = turn(project, RULE)
    make_all_due()
    run_until_quiet(chat.topic_id)
    before = list(Memory.objects.values("pk", "version", "content"))
    Chat.objects.update(distil_outcome=None)
    Topic.objects.update(distil_pending=True, distil_due_at=timezone.now() - timedelta(seconds=1))
    run_until_quiet(chat.topic_id)
    assert list(Memory.objects.values("pk", "version", "content")) == before
    assert len(before) == 1


def test_a_claim_that_deadlocks_is_tried_again(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    topic_id = turn(project, RULE).topic_id
    make_all_due()
    update, failures = TopicQuerySet.update, [OperationalError(1213, "Deadlock found: locked")]

    def deadlocked_once(self: TopicQuerySet, **values: object) -> int:
        if failures:
            raise failures.pop()
        return update(self, **values)

    monkeypatch.setattr(TopicQuerySet, "update", deadlocked_once)
    distil.run(topic_id)
    assert statuses() == ["succeeded"]
