"""What a run does when something fails: whose fault it is decides whether turns wait, are halved or given up."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.db import IntegrityError, InterfaceError, OperationalError, connections
from django.utils import timezone

from chats import distil, queue, schedule, topics
from chats.errors import NothingToRetry
from chats.models import Chat, Topic
from memories.extraction import Extracted, ProviderDown, Unreadable, Usage, breaker
from memories.extraction import backend as backend_named
from memories.extraction.backends import BACKENDS
from memories.models import Breaker, Candidate, Extraction, Memory
from tests.chats.turns import AGENT, turn
from tests.factories import make_project

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from datetime import datetime

    from memories.extraction import Transcript
    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)

RULE = "以后表格分页一律每页 20 条。"
SECRET = "Xk9#" + "vQ2mLp7w"
DOWN = ProviderDown("server_error")


class Killed(BaseException):
    """What SIGKILL leaves behind: nothing is written any more."""


class Provider:
    """A backend that does what the test says; without a word it reads like the rules."""

    name, model, prompt_version = "fake", "some-model", "1"
    asked: ClassVar[list[int]] = []
    behave: ClassVar[Callable[[Transcript], Extracted | None]]

    def extract(self, transcript: Transcript) -> Extracted:
        type(self).asked.append(len(transcript.citable))
        said = type(self).behave(transcript)
        return backend_named("rules").extract(transcript) if said is None else said


@pytest.fixture(autouse=True)
def provider(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[type[Provider]]:
    monkeypatch.setitem(BACKENDS, "fake", f"{__name__}:Provider")
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)
    monkeypatch.setattr(distil, "PAUSES_S", (0.0, 0.0))
    settings.EXTRACTION_BACKEND = "fake"
    Provider.asked.clear()
    Provider.behave = lambda transcript: None
    yield Provider
    Provider.asked.clear()


@pytest.fixture
def project() -> Project:
    return make_project(review_policy="none")


def raising(error: BaseException) -> Callable[[Transcript], Extracted | None]:
    def behave(transcript: Transcript) -> Extracted | None:
        raise error

    return behave


def allergic(error: BaseException) -> Callable[[Transcript], Extracted | None]:
    """Breaks on the word poison."""

    def behave(transcript: Transcript) -> Extracted | None:
        if any("poison" in one.message for one in transcript.citable):
            raise error
        return None

    return behave


def in_topics(project: Project, count: int) -> list[Chat]:
    return [turn(project, f"service{n} 的端口是 {n + 1}000。", topic=f"topic {n}") for n in range(count)]


def make_due(**which: Any) -> None:
    past = timezone.now() - timedelta(seconds=1)
    Topic.objects.filter(distil_pending=True, **which).update(distil_due_at=past)


def end_pauses() -> None:
    """Time goes by: whatever waits may be tried again, and every lease has ended."""
    past = timezone.now() - timedelta(seconds=1)
    Topic.objects.exclude(distil_retry_at=None).update(distil_retry_at=past)
    Topic.objects.exclude(distil_lease_token=None).update(distil_lease_until=past)
    Breaker.objects.exclude(retry_at=None).update(retry_at=past)
    make_due()


def distil_all(chats: list[Chat]) -> None:
    make_due()
    for chat in chats:
        while distil.run(chat.topic_id):
            pass


def left_alone(project: Project, provider: type[Provider], topics: int) -> list[Chat]:
    """Turns in so many topics, five of them tried in vain: the provider is down, and nobody asks it now."""
    chats = in_topics(project, topics)
    provider.behave = raising(DOWN)
    distil_all(chats)
    return chats


def through_back_offs(chat: Chat, *, rounds: int) -> None:
    for _ in range(rounds):
        end_pauses()
        while distil.run(chat.topic_id):
            pass


def killed_in(chat: Chat) -> None:
    """A worker dies while it reads the topic; later its lease ends."""
    end_pauses()
    with pytest.raises(Killed):
        distil.run(chat.topic_id)
    end_pauses()


def state(topic_id: int) -> tuple[str, datetime | None]:
    return schedule.state_of(Topic.objects.get(pk=topic_id), memory_enabled=True, now=timezone.now())


def results() -> list[str]:
    return [run.result for run in Extraction.objects.order_by("id")]


def seconds_until(moment: datetime | None) -> float:
    assert moment is not None
    return (moment - timezone.now()).total_seconds()


# --- The provider is down --------------------------------------------------------------------------------------


def test_after_five_failures_in_a_row_nobody_calls_the_provider_and_nothing_is_counted_against_anyone(
    project: Project, provider: type[Provider]
) -> None:
    chats = left_alone(project, provider, 7)
    assert provider.asked == [1] * 5
    assert results() == ["provider_down"] * 5
    waiting = list(Topic.objects.filter(pk__in=[chat.topic_id for chat in chats[5:]]))
    assert [(t.distil_pending, t.distil_failures, t.distil_waits_for) for t in waiting] == [
        (True, 0, "fake")
    ] * 2
    assert [chat.distil_attempts for chat in Chat.objects.all()] == [0] * 7
    assert Chat.objects.undistilled().count() == 7
    retry_at = Breaker.objects.get().retry_at
    for topic in waiting:
        name, due_at = state(topic.pk)
        assert name == "waiting_for_provider"
        assert retry_at <= due_at <= retry_at + timedelta(seconds=1 + 30 / 10)
    assert list(schedule.due_topics(now=timezone.now(), limit=10)) == []


def test_topics_that_wait_for_one_provider_do_not_come_back_all_at_once(
    project: Project, provider: type[Provider]
) -> None:
    left_alone(project, provider, 9)
    times = set(Topic.objects.order_by("-id")[:4].values_list("distil_retry_at", flat=True))
    assert len(times) == 4


def test_a_success_between_failures_keeps_the_provider_in_use(
    project: Project, provider: type[Provider]
) -> None:
    chats = in_topics(project, 9)
    provider.behave = raising(DOWN)
    distil_all(chats[:4])
    provider.behave = lambda transcript: None
    distil_all(chats[4:5])
    provider.behave = raising(DOWN)
    distil_all(chats[5:])
    assert provider.asked == [1] * 9
    assert Breaker.objects.get().opened_at is None


def test_after_the_pause_exactly_one_of_many_workers_tries_and_its_success_makes_all_due(
    project: Project, provider: type[Provider]
) -> None:
    chats = left_alone(project, provider, 10)
    assert provider.asked == [1] * 5
    reached, go = threading.Event(), threading.Event()

    def held(transcript: Transcript) -> None:
        reached.set()
        assert go.wait(30)

    provider.behave = held
    end_pauses()
    with ThreadPoolExecutor(8) as pool:
        running = [pool.submit(in_thread, distil.run, chat.topic_id) for chat in chats[:8]]
        assert reached.wait(30)
        while sum(future.done() for future in running) < 7:
            pass
        assert provider.asked == [1] * 6, "one trial, while it runs"
        assert Breaker.objects.get().state(now=timezone.now()) == "trying"
        assert state(chats[9].topic_id)[0] == "pending", "not tried since the pause ended"
        go.set()
        for future in running:
            future.result(timeout=30)
    assert Breaker.objects.get().state(now=timezone.now()) == "closed"
    assert len(list(schedule.due_topics(now=timezone.now(), limit=20))) == 9
    distil_all(chats)
    assert Chat.objects.undistilled().count() == 0
    assert sorted(results()) == ["kept"] * 10 + ["provider_down"] * 5


def in_thread(function: Callable[..., object], *args: object) -> object:
    try:
        return function(*args)
    finally:
        connections.close_all()


def test_a_trial_that_fails_makes_the_pause_longer(project: Project, provider: type[Provider]) -> None:
    chats = left_alone(project, provider, 6)
    end_pauses()
    distil.run(chats[5].topic_id)
    assert provider.asked == [1] * 6
    retry_at = Breaker.objects.get().retry_at
    assert 55 < seconds_until(retry_at) <= 60
    topic = Topic.objects.get(ref="topic 5")
    assert topic.distil_failures == 1, "its own back-off would be half a minute"
    assert (topic.distil_retry_at, topic.distil_waits_for) == (retry_at, "fake")


def test_a_trial_whose_worker_dies_does_not_keep_the_others_waiting_for_ever(
    project: Project, provider: type[Provider]
) -> None:
    chats = left_alone(project, provider, 6)
    end_pauses()
    provider.behave = raising(Killed())
    with pytest.raises(Killed):
        distil.run(chats[0].topic_id)
    provider.behave = lambda transcript: None
    assert distil.run(chats[5].topic_id) is False
    assert provider.asked == [1] * 6, "the dead trial's lease still runs"
    assert state(chats[5].topic_id)[0] == "waiting_for_provider"
    Breaker.objects.update(probe_until=timezone.now() - timedelta(seconds=1))
    Topic.objects.filter(ref="topic 5").update(distil_retry_at=None)
    distil.run(chats[5].topic_id)
    assert provider.asked == [1] * 7
    assert Breaker.objects.get().opened_at is None


def test_a_trial_that_ends_without_a_word_about_the_provider_lets_the_next_one_try(
    project: Project, provider: type[Provider]
) -> None:
    chats = left_alone(project, provider, 6)
    end_pauses()
    provider.behave = raising(ValueError("a bug"))
    distil.run(chats[0].topic_id)
    assert Breaker.objects.get().state(now=timezone.now()) == "open"
    provider.behave = lambda transcript: None
    distil.run(chats[5].topic_id)
    assert Breaker.objects.get().state(now=timezone.now()) == "closed"


def test_an_answer_that_cannot_be_read_is_an_answer(project: Project, provider: type[Provider]) -> None:
    chats = left_alone(project, provider, 6)
    end_pauses()
    provider.behave = raising(Unreadable("not_json"))
    distil.run(chats[0].topic_id)
    assert Breaker.objects.get().state(now=timezone.now()) == "closed"


def test_a_topic_about_to_wait_is_not_forgotten_when_the_provider_answers_that_very_moment(
    project: Project, provider: type[Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = in_topics(project, 6)
    provider.behave = raising(DOWN)
    distil_all(chats[:5])
    admit = breaker.admit

    def admit_and_close(backend: str, *, now: datetime) -> breaker.Admission:
        try:
            return admit(backend, now=now)
        except breaker.BreakerOpen:
            schedule.answered(breaker.Admission(backend))
            raise

    monkeypatch.setattr(breaker, "admit", admit_and_close)
    make_due(ref="topic 5")
    assert distil.run(chats[5].topic_id) is True
    assert list(schedule.due_topics(now=timezone.now(), limit=10)).count(chats[5].topic_id) == 1


def test_what_the_provider_asks_for_is_the_earliest_next_try(
    project: Project, provider: type[Provider]
) -> None:
    chat = turn(project, RULE)
    provider.behave = raising(ProviderDown("rate_limited", retry_after_s=700))
    distil_all([chat])
    name, due_at = state(chat.topic_id)
    assert (name, Extraction.objects.get().error) == ("waiting_for_provider", "rate_limited")
    assert 695 < seconds_until(due_at) <= 700
    assert Topic.objects.get().distil_failures == 1


def test_no_provider_is_waited_for_longer_than_an_hour(project: Project, provider: type[Provider]) -> None:
    chat = turn(project, RULE)
    provider.behave = raising(ProviderDown("rate_limited", retry_after_s=86_400))
    distil_all([chat])
    assert 3595 < seconds_until(state(chat.topic_id)[1]) <= 3600


def test_a_person_may_have_the_provider_tried_at_once(project: Project, provider: type[Provider]) -> None:
    chats = left_alone(project, provider, 7)
    assert topics.try_provider_now("fake", by=AGENT) == 7
    provider.behave = lambda transcript: None
    distil_all(chats)
    assert (Chat.objects.undistilled().count(), Breaker.objects.get().opened_at) == (0, None)
    assert topics.try_provider_now("fake", by=AGENT) == 0


def test_a_turn_that_is_read_alone_loses_no_try_to_a_provider_that_is_down(
    project: Project, provider: type[Provider]
) -> None:
    chat = turn(project, RULE)
    provider.behave = raising(DOWN)
    through_back_offs(chat, rounds=4)
    chat.refresh_from_db()
    assert (chat.distil_attempts, chat.distil_outcome) == (0, None)
    provider.behave = lambda transcript: None
    through_back_offs(chat, rounds=1)
    assert results() == ["provider_down"] * 4 + ["kept"]


# --- Three things that are three -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("behave", "expected", "outcome"),
    [
        pytest.param(lambda transcript: None, ("succeeded", "", "", "kept"), "read", id="kept"),
        pytest.param(
            lambda transcript: Extracted(candidates=(), raw="[]"),
            ("succeeded", "", "", "nothing"),
            "nothing",
            id="nothing worth keeping",
        ),
        pytest.param(
            raising(Unreadable("not_json")),
            ("failed", "unparsable", "not_json", "unparsable"),
            None,
            id="could not parse",
        ),
        pytest.param(
            lambda transcript: Extracted(candidates=(), raw="[1, 2]", unparsable=2),
            ("failed", "unparsable", "no_item_readable", "unparsable"),
            None,
            id="not one item could be parsed",
        ),
        pytest.param(
            raising(DOWN),
            ("failed", "provider_down", "server_error", "provider_down"),
            None,
            id="provider down",
        ),
        pytest.param(raising(KeyError("x")), ("failed", "input", "KeyError", "input"), None, id="input"),
        pytest.param(
            raising(SoftTimeLimitExceeded()),
            ("failed", "timed_out", "SoftTimeLimitExceeded", "timed_out"),
            None,
            id="took too long",
        ),
        pytest.param(
            raising(InterfaceError()),
            ("failed", "internal", "InterfaceError", "internal"),
            None,
            id="database away",
        ),
    ],
)
def test_what_a_run_came_to_has_one_word(
    project: Project, provider: type[Provider], behave: Any, expected: tuple[str, ...], outcome: str | None
) -> None:
    # No rule and no signal, so that nothing but the backend brings candidates.
    chat = turn(project, "我们决定登录态存在 HttpOnly Cookie 里。")
    provider.behave = behave
    distil_all([chat])
    run = Extraction.objects.get()
    assert (run.status, run.error_kind, run.error, run.result) == expected
    chat.refresh_from_db()
    assert chat.distil_outcome == outcome
    assert list(Extraction.objects.with_result([run.result])) == [run]
    others = set(Extraction.Result.values) - {run.result}
    assert list(Extraction.objects.with_result(others)) == []
    assert Memory.objects.count() == (1 if run.result == "kept" else 0)


def test_an_answer_that_cannot_be_read_is_kept_masked_and_what_it_cost_is_counted(
    project: Project, provider: type[Provider]
) -> None:
    chat = turn(project, RULE)
    raw = f"Sure! 数据库密码是 {SECRET} \ud83d\x00 ```"
    provider.behave = raising(Unreadable("not_json", raw=raw, usage=Usage(input=812, output=44)))
    distil_all([chat])
    run = Extraction.objects.get()
    assert (run.tokens_in, run.tokens_out) == (812, 44)
    assert run.raw_output.startswith("Sure! 数据库密码是 ")
    assert SECRET not in run.raw_output


def test_an_answer_with_characters_that_no_database_takes_is_stored_without_them(
    project: Project, provider: type[Provider]
) -> None:
    chat = turn(project, "谢谢")
    provider.behave = lambda transcript: Extracted(candidates=(), raw="[] \ud83d\x00")
    distil_all([chat])
    assert (results(), Extraction.objects.get().raw_output) == (["nothing"], "[] ?")


# --- The turns are at fault ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "error",
    [
        pytest.param(Unreadable("not_json"), id="unparsable"),
        pytest.param(SoftTimeLimitExceeded(), id="took too long"),
        pytest.param(ValueError("too long"), id="input"),
    ],
)
def test_what_lies_with_the_turns_is_found_by_halving_and_given_up(
    project: Project, provider: type[Provider], error: Exception
) -> None:
    chats = [turn(project, "poison" if n == 1 else f"第 {n} 个问题：怎么排？") for n in range(4)]
    provider.behave = allergic(error)
    through_back_offs(chats[0], rounds=3)
    assert provider.asked == [4, 2, 1, 3, 1, 1, 1, 2]
    assert [chat.distil_outcome for chat in Chat.objects.order_by("seq")] == [
        "nothing",
        "failed",
        "nothing",
        "nothing",
    ]
    assert Topic.objects.get().distil_due_at is None


def test_turns_that_cannot_even_be_gathered_are_halved_and_given_up(
    project: Project, provider: type[Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = [turn(project, "poison"), turn(project, RULE)]
    build = distil.build_transcript

    def build_without_poison(topic: Topic, turns: list[Chat]) -> Transcript:
        if any(chat.message == "poison" for chat in turns):
            raise RecursionError
        return build(topic, turns)

    monkeypatch.setattr(distil, "build_transcript", build_without_poison)
    through_back_offs(chats[0], rounds=3)
    assert (provider.asked, results()) == ([1], ["input"] * 4 + ["kept"])
    assert [chat.distil_outcome for chat in Chat.objects.order_by("seq")] == ["failed", "read"]


def test_a_provider_that_was_down_in_between_does_not_make_a_run_take_more_again(
    project: Project, provider: type[Provider]
) -> None:
    chats = [turn(project, f"第 {n} 个问题：怎么排？") for n in range(8)]
    make_due()
    for error in (ValueError("broken"), DOWN, ValueError("broken"), DOWN):
        provider.behave = raising(error)
        distil.run(chats[0].topic_id)
        end_pauses()
    assert provider.asked == [8, 4, 4, 2]


def test_a_run_that_takes_too_long_to_store_says_nothing_about_its_turns(
    project: Project, provider: type[Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = [turn(project, RULE), turn(project, "谢谢")]
    with monkeypatch.context() as patch:
        patch.setattr(distil.extracting, "settle", lambda **_: (_ for _ in ()).throw(SoftTimeLimitExceeded()))
        distil_all(chats)
    run = Extraction.objects.get()
    assert (run.result, run.error) == ("internal", "SoftTimeLimitExceeded")
    through_back_offs(chats[0], rounds=1)
    assert provider.asked == [2, 2]
    assert Memory.objects.count() == 1


# --- The worker dies -------------------------------------------------------------------------------------------


def test_a_turn_that_kills_its_worker_is_found_by_halving_and_given_up(
    project: Project, provider: type[Provider]
) -> None:
    chats = [turn(project, "poison" if n == 0 else f"第 {n} 个问题：怎么排？") for n in range(4)]
    provider.behave = allergic(Killed())
    for _ in range(5):
        killed_in(chats[0])
    assert provider.asked == [4, 2, 1, 1, 1]
    through_back_offs(chats[0], rounds=1)
    assert provider.asked == [4, 2, 1, 1, 1, 3], "given up without being read a fourth time"
    assert results() == ["abandoned"] * 5 + ["nothing"]
    poisoned = Chat.objects.get(seq=1)
    last = Extraction.objects.filter(status="abandoned").first()
    assert last is not None
    assert (poisoned.distil_outcome, poisoned.extraction_id, last.attempts) == ("failed", last.pk, 3)
    assert (Topic.objects.get().distil_due_at, Chat.objects.undistilled().count()) == (None, 0)


def test_what_was_given_up_because_workers_died_can_be_read_again(
    project: Project, provider: type[Provider]
) -> None:
    chat = turn(project, f"{RULE} poison")
    provider.behave = allergic(Killed())
    for _ in range(3):
        killed_in(chat)
    through_back_offs(chat, rounds=1)
    last = Extraction.objects.first()
    assert last is not None
    topics.retry(project=project, extraction=last, by=AGENT)
    provider.behave = lambda transcript: None
    through_back_offs(chat, rounds=1)
    chat.refresh_from_db()
    assert (chat.distil_outcome, chat.distil_attempts, Memory.objects.count()) == ("read", 0, 1)
    with pytest.raises(NothingToRetry):
        topics.retry(project=project, extraction=last, by=AGENT)


def test_a_worker_that_died_twice_costs_nothing_when_the_third_lives(
    project: Project, provider: type[Provider]
) -> None:
    chat = turn(project, RULE)
    provider.behave = raising(Killed())
    killed_in(chat)
    killed_in(chat)
    provider.behave = lambda transcript: None
    through_back_offs(chat, rounds=1)
    assert results() == ["abandoned", "abandoned", "kept"]
    assert Chat.objects.get().distil_attempts == 0


# --- Our own house ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param((Extraction.objects, "create"), id="the run cannot be written down"),
        pytest.param((distil.extracting, "backend"), id="there is no backend"),
    ],
)
def test_a_run_that_cannot_even_begin_leaves_its_topic_unlocked(
    project: Project, provider: type[Provider], monkeypatch: pytest.MonkeyPatch, broken: tuple[Any, str]
) -> None:
    chat = turn(project, RULE)

    def fail(*args: Any, **kwargs: Any) -> None:
        raise IntegrityError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(*broken, fail)
        distil_all([chat])
    topic = Topic.objects.get()
    assert (topic.distil_lease_token, topic.distil_pending, topic.distil_failures) == (None, True, 1)
    assert 25 < seconds_until(topic.distil_retry_at) <= 30
    assert (Extraction.objects.count(), Chat.objects.get().distil_attempts) == (0, 0)
    through_back_offs(chat, rounds=1)
    assert results() == ["kept"]


def test_a_run_that_cannot_begin_gives_the_trial_back(
    project: Project, provider: type[Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    chats = left_alone(project, provider, 6)
    end_pauses()
    with monkeypatch.context() as patch:
        patch.setattr(Extraction.objects, "create", _broken_create)
        distil.run(chats[0].topic_id)
    assert Breaker.objects.get().state(now=timezone.now()) == "open"
    provider.behave = lambda transcript: None
    distil.run(chats[5].topic_id)
    assert Breaker.objects.get().state(now=timezone.now()) == "closed"


def _broken_create(**fields: Any) -> None:
    raise IntegrityError("broken")


def test_a_database_that_restarts_while_a_run_stores_is_waited_for_and_nothing_is_asked_twice(
    project: Project, provider: type[Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = turn(project, RULE)
    settle, failures = distil.extracting.settle, [OperationalError(2006, "gone away")]

    def settle_later(**fields: Any) -> Any:
        if failures:
            raise failures.pop()
        return settle(**fields)

    monkeypatch.setattr(distil.extracting, "settle", settle_later)
    distil_all([chat])
    assert (results(), provider.asked, Memory.objects.count()) == (["kept"], [1], 1)


def test_a_run_that_does_not_hear_that_its_commit_succeeded_stays_succeeded(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = turn(project, RULE)
    store, failures = distil._store, [OperationalError(2013, "lost connection during query")]

    def store_and_lose_the_answer(*args: Any) -> bool:
        more = store(*args)
        if failures:
            raise failures.pop()
        return more

    monkeypatch.setattr(distil, "_store", store_and_lose_the_answer)
    distil_all([chat])
    assert results() == ["kept"]
    assert (Chat.objects.get().distil_outcome, Candidate.objects.count()) == ("read", 1)


def test_a_failure_that_cannot_be_written_down_at_once_is_written_down_later(
    project: Project, provider: type[Provider], monkeypatch: pytest.MonkeyPatch
) -> None:
    chat = turn(project, RULE)
    provider.behave = raising(ValueError("broken"))
    release, failures = schedule.release_failed, [OperationalError(2003, "cannot connect")]

    def release_later(*args: Any, **kwargs: Any) -> bool:
        if failures:
            raise failures.pop()
        return release(*args, **kwargs)

    monkeypatch.setattr(schedule, "release_failed", release_later)
    distil_all([chat])
    assert (results(), Topic.objects.get().distil_lease_token) == (["input"], None)
