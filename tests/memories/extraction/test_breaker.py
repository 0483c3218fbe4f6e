"""The breaker: when it opens, how long it stays open, who may try, and what closes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from memories.extraction import ProviderDown, breaker
from memories.extraction.breaker import Admission, BreakerOpen
from memories.models import Breaker

if TYPE_CHECKING:
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db

NOW = datetime(2026, 3, 6, 9, tzinfo=UTC)
LLM = Admission("llm")


def fail(
    times: int = 1, *, at: datetime = NOW, admission: Admission = LLM, asked_s: float | None = None
) -> None:
    for _ in range(times):
        breaker.failed(admission, ProviderDown("timeout", retry_after_s=asked_s), now=at)


def pause_s(since: datetime = NOW) -> float:
    retry_at = Breaker.objects.get().retry_at
    assert retry_at is not None
    return (retry_at - since).total_seconds()


def state(now: datetime = NOW) -> str:
    return Breaker.objects.get().state(now=now)


def test_the_fifth_failure_in_a_row_opens_it() -> None:
    fail(4)
    assert (state(), breaker.admit("llm", now=NOW)) == ("closed", LLM)
    fail()
    assert state() == "open"
    row = Breaker.objects.get()
    assert (row.failures, row.reason, row.opened_at, row.failed_at) == (5, "timeout", NOW, NOW)
    with pytest.raises(BreakerOpen) as refused:
        breaker.admit("llm", now=NOW)
    assert refused.value.until == NOW + timedelta(seconds=30)


def test_one_backend_does_not_speak_for_another() -> None:
    fail(5)
    assert breaker.admit("rules", now=NOW) == Admission("rules")


def test_each_trial_that_fails_makes_the_pause_longer_up_to_an_hour() -> None:
    fail(5)
    pauses, now = [pause_s()], NOW
    for _ in range(7):
        now += timedelta(seconds=pauses[-1])
        trial = breaker.admit("llm", now=now)
        assert trial.probe
        fail(at=now, admission=trial)
        pauses.append(pause_s(now))
    assert pauses == [30, 60, 120, 300, 600, 1800, 3600, 3600]


@pytest.mark.parametrize(
    ("asked_s", "expected"),
    [
        pytest.param(None, 30, id="nothing asked"),
        pytest.param(10, 30, id="less than the pause"),
        pytest.param(400, 400, id="more than the pause"),
        pytest.param(90_000, 3600, id="a day"),
        pytest.param(-5, 30, id="the past"),
    ],
)
def test_how_long_the_provider_asks_to_be_left_alone_counts(asked_s: float | None, expected: float) -> None:
    fail(4)
    fail(asked_s=asked_s)
    assert pause_s() == expected


def test_one_may_try_and_the_others_wait_for_the_outcome() -> None:
    fail(5)
    later = NOW + timedelta(seconds=30)
    trial = breaker.admit("llm", now=later)
    assert (bool(trial.probe), state(later)) == (True, "trying")
    with pytest.raises(BreakerOpen) as refused:
        breaker.admit("llm", now=later)
    # As long as three calls of a minute and 20 s to store may take.
    assert refused.value.until == later + timedelta(seconds=200)
    assert breaker.answered(trial) is True
    assert (state(later), breaker.admit("llm", now=later)) == ("closed", LLM)


def test_a_trial_that_nobody_ends_gives_way_to_the_next() -> None:
    fail(5)
    later = NOW + timedelta(seconds=30)
    dead = breaker.admit("llm", now=later)
    much_later = later + timedelta(seconds=200)
    alive = breaker.admit("llm", now=much_later)
    assert alive.probe not in ("", dead.probe)
    # The dead one was only slow. Its failure is no second trial's, and frees no place.
    fail(at=much_later, admission=dead)
    assert (Breaker.objects.get().trips, state(much_later)) == (0, "trying")


def test_a_trial_let_go_may_be_made_by_the_next() -> None:
    fail(5)
    later = NOW + timedelta(seconds=30)
    breaker.let_go(breaker.admit("llm", now=later))
    assert breaker.admit("llm", now=later).probe
    breaker.let_go(LLM)
    assert state(later) == "trying", "whoever has no trial ends none"


def test_a_success_closes_it_and_forgets_what_was() -> None:
    fail(5)
    later = NOW + timedelta(seconds=30)
    fail(at=later, admission=breaker.admit("llm", now=later))
    assert breaker.answered(LLM) is True, "asked before it opened, answered since"
    row = Breaker.objects.get()
    assert (row.failures, row.trips, row.reason, row.opened_at, row.retry_at) == (0, 0, "", None, None)
    fail(5, at=later)
    assert pause_s(later) == 30


def test_a_failure_of_a_call_made_before_it_opened_does_not_make_the_pause_longer() -> None:
    fail(5)
    fail(3)
    assert (pause_s(), Breaker.objects.get().failures) == (30, 8)
    fail(asked_s=500)
    assert pause_s() == 500, "but what the provider asks for counts"


def test_while_all_is_well_a_run_writes_nothing(django_assert_num_queries: DjangoAssertNumQueries) -> None:
    with django_assert_num_queries(2) as asked:
        assert breaker.answered(breaker.admit("llm", now=NOW)) is False
    assert [query["sql"].split()[0] for query in asked.captured_queries] == ["SELECT", "SELECT"]
    assert Breaker.objects.count() == 0


def test_whoever_is_to_wait_is_told_until_when() -> None:
    assert breaker.open_until("llm") is None
    fail(4)
    assert breaker.open_until("llm") is None
    fail()
    assert breaker.open_until("llm") == NOW + timedelta(seconds=30)


def test_the_pause_may_be_ended_by_somebody_who_knows_better() -> None:
    assert breaker.end_pause("llm", now=NOW) is False
    fail(5)
    assert breaker.end_pause("llm", now=NOW) is True
    assert breaker.admit("llm", now=NOW).probe


def test_a_long_reason_is_cut_where_the_column_ends() -> None:
    error: Any = ProviderDown("x" * 100)
    breaker.failed(LLM, error, now=NOW)
    assert Breaker.objects.get().reason == "x" * 40
