"""The model backend against a real HTTP server: what ends in the right failure, and costs no turn."""

from __future__ import annotations

import json
import os
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.utils import timezone

from chats.models import Topic
from memories.extraction import InputRefused, ProviderDown, Unreadable, breaker
from memories.models import Breaker, Candidate
from tests.chats.turns import turn
from tests.llm_server import SHAPES, refusal
from tests.processes import await_true

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project
    from tests.llm_server import LlmServer

from .runs import PORT, SAID, TIMES_OUT_S, distilled, extract, item, kept

pytestmark = pytest.mark.django_db


# --- Shapes that end in the right failure


@pytest.mark.parametrize(
    ("shape", "kind", "error", "requests"),
    [
        pytest.param("rate-limited", "provider_down", "rate_limited", 1, id="429"),
        pytest.param("server-error", "provider_down", "server_error", 1, id="500"),
        pytest.param("hang", "provider_down", "timeout", 1, id="hang"),
        pytest.param("dribble", "provider_down", "timeout", 1, id="a byte now and then"),
        pytest.param("drop", "provider_down", "connection", 1, id="connection closed"),
        pytest.param("wrong-key", "provider_down", "unauthorized", 1, id="wrong key"),
        pytest.param("wrong-model", "provider_down", "not_found", 1, id="wrong model"),
        pytest.param("no-body", "provider_down", "no_completion", 1, id="empty body"),
        pytest.param("not-json", "provider_down", "no_completion", 1, id="a page of a gateway"),
        pytest.param("no-choice", "provider_down", "no_completion", 1, id="no choice"),
        pytest.param("refused", "unparsable", "refused", 1, id="refusal"),
        pytest.param("filtered", "unparsable", "refused", 1, id="content filter"),
        pytest.param("cut-off-at-once", "unparsable", "cut_off", 1, id="cut off in the first item"),
        pytest.param("small-talk", "unparsable", "not_json", 2, id="no JSON"),
        pytest.param("rubbish", "unparsable", "no_item_readable", 2, id="no item that can be read"),
        pytest.param("empty", "unparsable", "empty", 2, id="empty content"),
        pytest.param("null", "unparsable", "empty", 2, id="null content"),
        pytest.param("too-long", "input", "too_long", 1, id="longer than the context"),
    ],
)
def test_a_failure_is_told_as_what_it_is_and_costs_no_turn(
    project: Project,
    server: LlmServer,
    settings: SettingsWrapper,
    shape: str,
    kind: str,
    error: str,
    requests: int,
) -> None:
    settings.EXTRACTION_TIMEOUT_S = TIMES_OUT_S
    settings.LLM_MODEL = shape
    began = time.monotonic()
    run = distilled(chat := turn(project, SAID))
    assert time.monotonic() - began < requests * TIMES_OUT_S + 5
    assert (run.status, run.error_kind, run.error) == ("failed", kind, error)
    assert len(server.asked) == requests
    paid = (900 * requests, 60 * requests) if kind == "unparsable" else (0, 0)
    assert (run.tokens_in, run.tokens_out) == paid
    assert (kept(project), Candidate.objects.count()) == ([], 0)
    assert (chat.distil_outcome, chat.extraction) == (None, None)
    # Only what may lie with the turn counts against it.
    assert chat.distil_attempts == (0 if kind == "provider_down" else 1)
    topic = Topic.objects.get()
    assert (topic.distil_pending, topic.distil_lease_token) == (True, None)
    assert topic.distil_retry_at is not None


def test_a_call_that_is_given_up_leaves_no_thread_behind(
    server: LlmServer, settings: SettingsWrapper
) -> None:
    settings.EXTRACTION_TIMEOUT_S = 0.5
    for shape in ("hang", "dribble"):
        settings.LLM_MODEL = shape
        with pytest.raises(ProviderDown, match="timeout"):
            extract()
    assert calls_going_on() == []


def calls_going_on() -> list[threading.Thread]:
    """Those that have not ended after a while."""
    deadline = time.monotonic() + 5
    while (
        going := [one for one in threading.enumerate() if one.name == "llm"]
    ) and time.monotonic() < deadline:
        time.sleep(0.02)
    return going


def test_a_tasks_own_time_limit_interrupts_the_waiting_and_ends_the_call(
    project: Project, server: LlmServer, settings: SettingsWrapper
) -> None:
    settings.LLM_MODEL = "hang"

    def limit(number: int, frame: object) -> None:
        raise SoftTimeLimitExceeded

    def strike() -> None:
        await_true(lambda: bool(server.asked))
        os.kill(os.getpid(), signal.SIGALRM)

    before = signal.signal(signal.SIGALRM, limit)
    striking = threading.Thread(target=strike)
    striking.start()
    try:
        run = distilled(turn(project, SAID))
    finally:
        striking.join()
        signal.signal(signal.SIGALRM, before)
    assert (run.status, run.error_kind, len(server.asked)) == ("failed", "timed_out", 1)
    assert calls_going_on() == []


def test_an_endpoint_that_is_not_there_is_down(settings: SettingsWrapper, server: LlmServer) -> None:
    settings.LLM_BASE_URL = "http://127.0.0.1:9/v1"
    with pytest.raises(ProviderDown, match="connection"):
        extract()
    assert server.asked == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        pytest.param("120", 120.0, id="seconds"),
        pytest.param("0.5", 0.5, id="a fraction"),
        pytest.param("86400", 3600.0, id="at most an hour"),
        pytest.param("-5", 0.0, id="not in the past"),
        pytest.param("nan", None, id="no number"),
        pytest.param("soon", None, id="no time"),
        pytest.param("", None, id="empty"),
        pytest.param("Thu, 01 Jan 1970 00:00:00 GMT", 0.0, id="a date that is over"),
    ],
)
def test_how_long_the_provider_wants_to_be_left_alone(
    server: LlmServer, header: str, seconds: float | None
) -> None:
    server.script = [refusal(429, "Slow down.", headers={"Retry-After": header})]
    with pytest.raises(ProviderDown) as raised:
        extract()
    assert (raised.value.reason, raised.value.retry_after_s) == ("rate_limited", seconds)


def test_retry_after_may_be_a_date_and_holds_for_an_overloaded_server_too(server: LlmServer) -> None:
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    server.script = [refusal(503, "Overloaded.", headers={"Retry-After": at})]
    with pytest.raises(ProviderDown, match="server_error") as raised:
        extract()
    assert raised.value.retry_after_s == pytest.approx(100, abs=5)


def test_a_topic_waits_as_long_as_the_provider_asked(project: Project, server: LlmServer) -> None:
    server.script = [refusal(429, "Slow down.", headers={"Retry-After": "1000"})]
    distilled(turn(project, SAID))
    wait = Topic.objects.get().distil_retry_at - timezone.now()  # type: ignore[operator]
    assert timedelta(seconds=990) < wait < timedelta(seconds=1200)


def test_a_request_larger_than_a_minutes_tokens_is_a_matter_of_its_length(server: LlmServer) -> None:
    server.script = [
        refusal(429, "Request too large for gpt on tokens per min (TPM)", code="rate_limit_exceeded")
    ]
    with pytest.raises(InputRefused, match="too_long"):
        extract()


def test_an_exhausted_account_is_no_moments_limit(server: LlmServer) -> None:
    server.script = [refusal(429, "You exceeded your current quota.", code="insufficient_quota")]
    with pytest.raises(ProviderDown, match="quota"):
        extract()


# --- Once more


def test_an_unreadable_answer_is_asked_for_once_more_with_a_reminder(
    project: Project, server: LlmServer
) -> None:
    server.script = [SHAPES["small-talk"]([]), SHAPES["plain"]([item(PORT)])]
    run = distilled(turn(project, SAID))
    assert kept(project) == [("active", PORT)]
    assert (run.status, run.tokens_in, run.tokens_out) == ("succeeded", 1800, 120)
    first, second = (asked["messages"][1]["content"] for asked in server.asked)
    assert "could not be read" not in first
    assert second.endswith('if there is nothing to note, with {"memories": []}.')


def test_the_raw_answer_of_an_unreadable_run_is_kept_masked(project: Project, server: LlmServer) -> None:
    secret = "Tr0ub4dor&3x" + "Y"
    server.reply = f"I found the password: {secret}. \ud800"
    run = distilled(turn(project, SAID))
    assert (run.error_kind, run.raw_output) == ("unparsable", "I found the password: Tr***. ?")


@pytest.mark.parametrize(("allowed", "shape"), [(1, "small-talk"), (2, "small-talk"), (3, "small-talk")])
def test_a_run_makes_no_more_requests_than_it_may(
    server: LlmServer, settings: SettingsWrapper, allowed: int, shape: str
) -> None:
    settings.EXTRACTION_MAX_REQUESTS = allowed
    settings.LLM_MODEL = shape
    server.forms = set()
    with pytest.raises((Unreadable, ProviderDown)):
        extract()
    assert len(server.asked) == allowed


# --- Whose fault is a 400?


@pytest.mark.parametrize("status", [400, 403, 422])
def test_a_request_refused_for_what_it_says_is_laid_to_the_turns(
    project: Project, server: LlmServer, status: int
) -> None:
    extract()
    server.script = [refusal(status, "Your input was flagged.")]
    run = distilled(turn(project, SAID))
    assert (run.error_kind, run.error) == ("input", "refused")
    # What shows it: the same endpoint takes a request that says nothing.
    assert SAID not in json.dumps(server.asked[-1], ensure_ascii=False)
    assert len(server.asked) == 3


@pytest.mark.parametrize("status", [400, 403, 422])
def test_an_endpoint_that_refuses_everything_costs_no_turn(
    project: Project, server: LlmServer, status: int
) -> None:
    server.script = [refusal(status, "Model Not Exist") for _ in range(3)]
    run = distilled(chat := turn(project, SAID))
    assert (run.error_kind, run.error) == ("provider_down", "rejected")
    assert (chat.distil_outcome, chat.distil_attempts) == (None, 0)


def test_a_provider_that_only_will_not_read_this_is_not_left_alone(
    project: Project, server: LlmServer
) -> None:
    server.script = [SHAPES["server-error"]([]) for _ in range(breaker.FAILURES)]
    chats = [turn(project, PORT, topic=f"t{number}") for number in range(breaker.FAILURES)]
    assert {distilled(chat).error for chat in chats} == {"server_error"}
    assert Breaker.objects.get().opened_at is not None
    breaker.end_pause("llm", now=timezone.now())
    server.script = [SHAPES["too-long"]([])]
    assert distilled(chats[0]).error == "too_long"
    assert Breaker.objects.get().opened_at is None
