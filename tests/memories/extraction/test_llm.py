"""The model backend against a real HTTP server, through the real SDK, down to the rows of a run."""

from __future__ import annotations

import json
import logging
import os
import signal
import threading
import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import TYPE_CHECKING, Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import connection
from django.utils import timezone

from chats import distil, queue
from chats.models import Chat, Topic
from memories import store
from memories.extraction import InputRefused, ProviderDown, Unreadable, breaker, llm
from memories.models import Breaker, Candidate, Extraction, Memory, Source, Status
from projects.actors import WORKER
from projects.models import AuditEvent
from tests.chats.turns import turn
from tests.factories import make_project
from tests.llm_server import SHAPES, Answer, envelope, llm_server, refusal, talk
from tests.processes import await_true, worker

from .builders import transcript
from .builders import turn as spoken

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project
    from tests.llm_server import LlmServer

pytestmark = pytest.mark.django_db

KEY = "sk-test-" + "Zq81LmVx40PdTn6c"
PORT, LOGIN = "数据库端口是 5432", "我们决定登录态存在 HttpOnly Cookie 里"
SAID = f"{PORT}。{LOGIN}。帮我做登录页"
TIMES_OUT_S = 2.0


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with llm_server() as running:
        yield running


@pytest.fixture(scope="module", autouse=True)
def _sdk_is_loaded() -> None:
    """It loads most of itself with the first request, which on a busy machine outlasts a test's time limit."""
    with llm_server() as running, pytest.MonkeyPatch.context() as patch:
        patch.setattr(settings, "LLM_BASE_URL", running.base_url)
        llm.Llm().extract(transcript(spoken("ready?")))


@pytest.fixture(autouse=True)
def _configured(server: LlmServer, settings: SettingsWrapper, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.EXTRACTION_BACKEND = "llm"
    settings.LLM_BASE_URL = server.base_url
    settings.LLM_API_KEY = server.api_key = KEY
    settings.LLM_MODEL = "plain"
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)


@pytest.fixture
def project() -> Project:
    return make_project(review_policy="none")


def item(content: str, **fields: Any) -> dict[str, Any]:
    """An item of an answer as the prompt asks for it."""
    told: dict[str, Any] = {"type": "fact", "content": content, "quote": content, "turn": 1, "role": "user"}
    told |= {"key": "", "replaces": None, "importance": 3, "always": False, "keywords": [], "files": []}
    return told | fields


def distilled(chat: Chat) -> Extraction:
    """The run that reads the turn now."""
    Topic.objects.filter(pk=chat.topic_id).update(
        distil_due_at=timezone.now() - timedelta(seconds=1), distil_retry_at=None
    )
    distil.run(chat.topic_id)
    chat.refresh_from_db()
    return Extraction.objects.latest("id")


def kept(project: Project) -> list[tuple[str, str]]:
    return list(Memory.objects.of(project).live().order_by("id").values_list("status", "content"))


def reasons() -> list[tuple[str, str]]:
    return list(Candidate.objects.order_by("position").values_list("outcome", "reason"))


def extract(*said: Any, **fields: Any) -> Any:
    return llm.Llm().extract(transcript(*(said or (spoken(PORT),)), **fields))


# --- Shapes that end in the right memories


@pytest.mark.parametrize(
    ("shape", "counts"),
    [
        pytest.param("plain", {"stored": 2}, id="as asked for"),
        pytest.param("fenced", {"stored": 2}, id="fenced"),
        pytest.param("prose", {"stored": 2}, id="prose with braces around it"),
        pytest.param("thinking", {"stored": 2}, id="thoughts with JSON inside"),
        pytest.param("thinking-unopened", {"stored": 2}, id="thoughts that only end"),
        pytest.param("cut-off", {"stored": 2, "unparsable": 1}, id="cut off, and said so"),
        pytest.param("cut-off-silently", {"stored": 2, "unparsable": 1}, id="cut off without a word"),
        pytest.param("bare-object", {"stored": 2}, id="bare objects"),
        pytest.param("bare-list", {"stored": 2}, id="a bare list"),
        pytest.param("damaged", {"stored": 2}, id="trailing commas and a comment"),
        pytest.param("beside-rubbish", {"stored": 2, "unparsable": 3}, id="null and wrong types beside it"),
        pytest.param("surrogates", {"stored": 2, "dropped": 2}, id="lone surrogates"),
        pytest.param("in-parts", {"stored": 2}, id="text in parts"),
        pytest.param("echo", {"stored": 2, "dropped": 2}, id="our example echoed"),
    ],
)
def test_whatever_shape_the_answer_has_its_items_become_memories(
    project: Project, server: LlmServer, shape: str, counts: dict[str, int]
) -> None:
    server.script = [SHAPES[shape]([item(PORT), item(LOGIN, type="decision")])]
    run = distilled(chat := turn(project, SAID))
    assert kept(project) == [("active", PORT), ("active", LOGIN)]
    assert (run.status, run.error_kind, run.counts) == ("succeeded", "", counts)
    assert (run.backend, run.model, run.prompt_version) == ("llm", "plain", "llm-1")
    assert (run.tokens_in, run.tokens_out) == (900, 60)
    assert (chat.distil_outcome, len(server.asked)) == ("read", 1)
    assert set(Memory.objects.values_list("source", "authority")) == {("extracted", "automatic")}


def test_the_evidence_of_a_memory_is_what_the_turn_said(project: Project, server: LlmServer) -> None:
    server.script = [Answer(content=envelope([item(PORT, quote="数据库端口是５４３２", turn=999)]))]
    chat = turn(project, SAID)
    distilled(chat)
    (evidence,) = Memory.objects.get().evidence
    assert (evidence["quote"], evidence["role"], evidence["chat"]) == (PORT, "user", chat.pk)


def test_fifteen_items_are_cut_to_the_eight_that_one_run_may_bring(
    project: Project, server: LlmServer
) -> None:
    said = [f"service{number} 的端口是 {9000 + number}" for number in range(15)]
    server.script = [Answer(content=envelope([item(text) for text in said]))]
    run = distilled(turn(project, "。".join(said)))
    assert run.counts == {"stored": 8, "dropped": 7}
    assert [content for _, content in kept(project)] == said[:8]
    assert reasons()[8:] == [("dropped", "over_limit")] * 7


def test_an_example_echoed_back_leaves_nothing(project: Project, server: LlmServer) -> None:
    server.script = [SHAPES["echo"]([])]
    run = distilled(chat := turn(project, SAID))
    assert (run.status, run.counts, kept(project)) == ("succeeded", {"dropped": 2}, [])
    assert reasons() == [("dropped", "no_evidence")] * 2
    assert chat.distil_outcome == "nothing"


def test_an_empty_list_is_an_answer(project: Project, server: LlmServer) -> None:
    server.script = [SHAPES["nothing"]([])]
    run = distilled(chat := turn(project, "你好"))
    assert (run.status, run.counts, run.raw_output) == ("succeeded", {}, '{"memories": []}')
    assert (chat.distil_outcome, kept(project), len(server.asked)) == ("nothing", [], 1)


# --- Replacements, keys, files


def known(project: Project, content: str, **fields: Any) -> Memory:
    return store.propose(
        project=project,
        draft=store.Draft(type="fact", content=content, said_at=timezone.now() - timedelta(days=3), **fields),
        source=Source.EXTRACTED,
        by=WORKER,
        status=Status.ACTIVE,
    )


def test_a_replacement_of_a_known_memory_takes_its_place_and_its_key(
    project: Project, server: LlmServer
) -> None:
    old = known(project, "生产数据库的端口是 5432", key="db-port")
    new = "生产库改到 6432 端口"
    server.script = [Answer(content=envelope([item(new, replaces="DB-Port")]))]
    distilled(turn(project, new + "，原来那个端口不用了。数据库也换机房了"))
    told = [
        json.loads(line)
        for line in server.asked[0]["messages"][1]["content"].splitlines()
        if "db-port" in line
    ]
    assert told == [{"key": "db-port", "type": "fact", "content": "生产数据库的端口是 5432"}]
    old.refresh_from_db()
    assert (old.status, kept(project)) == ("superseded", [("active", new)])
    assert Memory.objects.get(content=new).key == "db-port"


@pytest.mark.parametrize("replaces", ["no-such-key", "shown-to-nobody"])
def test_a_replacement_for_a_key_it_was_not_shown_is_a_new_candidate(
    project: Project, server: LlmServer, replaces: str
) -> None:
    hidden = known(project, "Invoices are numbered per year", key="shown-to-nobody")
    server.script = [Answer(content=envelope([item(PORT, replaces=replaces)]))]
    distilled(turn(project, SAID))
    assert "shown-to-nobody" not in json.dumps(server.asked)
    assert kept(project) == [("active", hidden.content), ("active", PORT)]
    assert reasons() == [("stored", "new")]


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"content": "数据库端口是 6432"}, "no_evidence", id="never said"),
        pytest.param(
            {"content": "数据库密码是 " + "Tr0ub4dor&3x", "quote": PORT}, "secret_found", id="a secret"
        ),
        pytest.param({"content": "x" * 1001, "quote": PORT}, "too_long", id="too long"),
        pytest.param({"type": "opinion", "quote": PORT}, "unknown_type", id="of no type"),
    ],
)
def test_an_invalid_replacement_leaves_the_old_memory(
    project: Project, server: LlmServer, fields: dict[str, str], reason: str
) -> None:
    old = known(project, "数据库端口是 7000", key="db-port")
    server.script = [
        Answer(content=envelope([item(**{"content": "端口换了", "replaces": "db-port"} | fields)]))
    ]
    run = distilled(turn(project, SAID))
    old.refresh_from_db()
    assert (old.status, old.version, kept(project)) == ("active", 1, [("active", "数据库端口是 7000")])
    assert (run.status, reasons()) == ("succeeded", [("dropped", reason)])


def test_an_invented_path_is_left_out_and_those_of_the_talk_stay(project: Project, server: LlmServer) -> None:
    files = ["src/login.vue", "./src/api.ts", "src/invented.py", "login.vu"]
    server.script = [Answer(content=envelope([item(PORT, files=files)]))]
    distilled(turn(project, SAID + "，改 src/api.ts", files=("src/login.vue",)))
    assert Memory.objects.get().files == ["src/login.vue", "./src/api.ts"]


@pytest.mark.parametrize(
    "field",
    [
        pytest.param({"key": "password=" + "Hunter2!xyZ9"}, id="key"),
        pytest.param({"keywords": ["password=" + "Hunter2!xyZ9"]}, id="keyword"),
        pytest.param({"files": ["password=" + "Hunter2!xyZ9"]}, id="file"),
        pytest.param({"content": PORT + "，password=" + "Hunter2!xyZ9"}, id="content"),
    ],
)
def test_a_secret_is_refused_in_whatever_field_it_comes(
    project: Project, server: LlmServer, field: dict[str, Any]
) -> None:
    # It was said, so that only the guard stands between it and the memory.
    said = PORT + "，password=" + "Hunter2!xyZ9"
    server.script = [Answer(content=envelope([item(**{"content": PORT, "quote": PORT} | field)]))]
    distilled(turn(project, said))
    assert (kept(project), reasons()) == ([], [("dropped", "secret_found")])
    rows = [*Candidate.objects.values(), *Extraction.objects.values("raw_output", "error")]
    assert "hunter2" not in json.dumps(rows, default=str).casefold()


# --- What leaves, and what comes back of it


def test_secrets_are_masked_before_they_leave_wherever_they_recur(
    project: Project, server: LlmServer, settings: SettingsWrapper
) -> None:
    secret, token = "Tr0ub4dor&3x" + "Y", "ghp_" + "a8Kd73nMqLw92ZxVbT4rYc01PeUsHj5Gf6Ok"
    project.static_instructions = f"Deploy with {token}."
    project.guidance = f"Keep names. token: {token}"
    project.save()
    turn(project, "数据库的密码是什么来着？", reply=f"密码是 {secret}")
    chat = turn(project, f"对，{secret} 没错。{PORT}", files=(f"{secret}.env",))
    distilled(chat)
    sent = json.dumps(server.asked, ensure_ascii=False)
    assert PORT in sent
    assert "Tr***" in sent
    assert secret not in sent
    assert token not in sent


def test_a_quote_of_masked_words_is_held_by_the_words_around_the_secret(
    project: Project, server: LlmServer
) -> None:
    secret = "Tr0ub4dor&3x" + "Y"
    server.script = [Answer(content=envelope([item(PORT, quote=f"密码是 Tr***，{PORT}")]))]
    distilled(turn(project, f"密码是 {secret}，{PORT}。"))
    assert kept(project) == [("active", PORT)]
    assert Memory.objects.get().evidence[0]["quote"] == "，" + PORT


def test_what_is_left_of_a_masked_secret_becomes_no_memory(project: Project, server: LlmServer) -> None:
    server.script = [Answer(content=envelope([item("数据库密码是 Tr***", quote="数据库密码是 Tr***，端口")]))]
    distilled(turn(project, "数据库密码是 " + "Tr0ub4dor&3xY，端口是 5432"))
    assert (kept(project), reasons()) == ([], [("dropped", "secret_found")])


def test_the_key_goes_into_the_request_and_nowhere_else(
    project: Project, server: LlmServer, caplog: pytest.LogCaptureFixture, settings: SettingsWrapper
) -> None:
    caplog.set_level(logging.DEBUG)
    distilled(turn(project, SAID))
    assert server.headers[0]["authorization"] == f"Bearer {KEY}"
    server.api_key = "another"
    run = distilled(turn(project, "服务名是 checkout", topic="b"))
    assert (run.status, run.error_kind, run.error) == ("failed", "provider_down", "unauthorized")
    with pytest.raises(ProviderDown) as raised:
        extract()
    backend = llm.Llm()
    tables = [Extraction, Candidate, AuditEvent, Topic, Chat]
    rows = [row for table in tables for row in table.objects.values()]
    seen = [
        caplog.text,
        repr(raised.value),
        repr(raised.value.__cause__),
        repr(vars(backend)),
        json.dumps(rows, default=str),
    ]
    assert [KEY in text for text in seen] == [False] * 5


def test_nothing_that_is_sent_or_answered_is_logged(
    server: LlmServer, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    echo = {"X-Echo": "canary-in-a-header"}
    server.script = [refusal(400, f"cannot read {PORT}", headers=echo) for _ in range(3)]
    with pytest.raises(ProviderDown):
        extract()
    extract()
    assert len(server.asked) == 4
    assert [word for word in (PORT, "canary") if word in caplog.text] == []


def test_accounts_in_the_environment_are_not_told_to_the_endpoint(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_ORG_ID", "org-1")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "proj-1")
    extract()
    assert [name for name in server.headers[0] if name.startswith("openai")] == []


def test_a_redirect_is_not_followed(server: LlmServer) -> None:
    with llm_server() as elsewhere:
        to = f"{elsewhere.base_url}/chat/completions"
        server.script = [Answer(status=307, body="", headers={"Location": to})]
        with pytest.raises(ProviderDown, match="rejected"):
            extract()
        assert elsewhere.asked == []


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


# --- Structured output


def forms(server: LlmServer) -> list[str]:
    return [asked.get("response_format", {}).get("type", "none") for asked in server.asked]


@pytest.mark.parametrize(
    ("taken", "asked"),
    [
        pytest.param({"json_schema", "json_object"}, ["json_schema"], id="all of it"),
        pytest.param({"json_object"}, ["json_schema", "json_object"], id="objects"),
        pytest.param(set(), ["json_schema", "json_object", "none"], id="nothing"),
    ],
)
def test_the_strongest_structured_output_that_is_taken_is_found_and_remembered(
    server: LlmServer, taken: set[str], asked: list[str]
) -> None:
    server.forms = taken
    assert [found.content for found in extract().candidates] == [PORT]
    assert forms(server) == asked
    extract()
    assert forms(server) == [*asked, asked[-1]]


def test_a_refusal_that_does_not_name_the_form_is_tried_without_any(server: LlmServer) -> None:
    server.script = [refusal(400, "Invalid request.")]
    assert len(extract().candidates) == 1
    assert forms(server) == ["json_schema", "none"]


def test_the_form_that_is_set_is_the_one_that_is_used(server: LlmServer, settings: SettingsWrapper) -> None:
    settings.LLM_STRUCTURED = "json_object"
    extract()
    server.forms = set()
    with pytest.raises(ProviderDown, match="rejected"):
        extract()
    assert forms(server) == ["json_object"] * 3


def test_what_was_found_out_with_the_last_request_helps_the_next_run(
    server: LlmServer, settings: SettingsWrapper
) -> None:
    settings.EXTRACTION_MAX_REQUESTS = 1
    server.forms = set()
    for _ in range(2):
        with pytest.raises(ProviderDown, match="form_refused"):
            extract()
    assert len(extract().candidates) == 1
    assert forms(server) == ["json_schema", "json_object", "none"]


def test_the_schema_is_as_strict_as_providers_want_it(server: LlmServer) -> None:
    extract()
    told = server.asked[0]["response_format"]["json_schema"]
    one = told["schema"]["properties"]["memories"]["items"]
    assert (told["strict"], sorted(one["required"])) == (True, sorted(one["properties"]))
    assert (one["additionalProperties"], told["schema"]["additionalProperties"]) == (False, False)


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


# --- Dates


def test_a_day_named_by_the_day_of_the_talk_is_kept_written_out(project: Project, server: LlmServer) -> None:
    content = "2025-12-15 前把支付迁到新网关"
    server.script = [Answer(content=envelope([item(content, quote="下周一前把支付迁到新网关")]))]
    # Where it was said it was Monday already; in UTC it was Sunday.
    monday = datetime.fromisoformat("2025-12-08T00:30:00+08:00")
    distilled(turn(project, "下周一前把支付迁到新网关", sent_at=monday))
    assert kept(project) == [("active", content)]
    (told,) = talk(server.asked[0])
    assert (told["sent_at"], told["weekday"]) == ("2025-12-08T00:30+08:00", "Monday")


def test_a_day_that_was_not_named_waits_for_a_person(project: Project, server: LlmServer) -> None:
    content = "2025-12-08 前把支付迁到新网关"
    server.script = [Answer(content=envelope([item(content, quote="下周一前把支付迁到新网关")]))]
    # Where it was said it was Monday already; in UTC it was Sunday.
    monday = datetime.fromisoformat("2025-12-08T00:30:00+08:00")
    distilled(turn(project, "下周一前把支付迁到新网关", sent_at=monday))
    assert (kept(project), reasons()) == ([("proposed", content)], [("proposed", "not_entailed")])


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


# --- The whole way


def both_are_read(chats: list[Chat]) -> bool:
    connection.close()  # A new transaction: this one would not see what others commit.
    return Chat.objects.filter(pk__in=[chat.pk for chat in chats], distil_outcome="read").count() == len(
        chats
    )


@pytest.mark.django_db(transaction=True)
def test_a_worker_of_its_own_distils_with_the_model(
    project: Project, server: LlmServer, tmp_path: Path
) -> None:
    log = tmp_path / "worker.log"
    chats = [turn(project, f"{PORT}。", topic="a"), turn(project, f"{LOGIN}。", topic="b")]
    model = {"LLM_BASE_URL": server.base_url, "LLM_API_KEY": KEY, "LLM_MODEL": "fenced", "LOG_LEVEL": "DEBUG"}
    Topic.objects.update(distil_due_at=timezone.now())
    with worker(log, EXTRACTION_BACKEND="llm", SWEEP_EVERY_S="0.3", **model):
        await_true(lambda: both_are_read(chats), within_s=120, told=log)
    assert sorted(content for _, content in kept(project)) == [LOGIN, PORT]
    runs = set(Extraction.objects.values_list("backend", "model", "status"))
    assert (runs, len(server.asked)) == ({("llm", "fenced", "succeeded")}, 2)
    said = log.read_text()
    assert [word for word in (KEY, PORT, "HttpOnly") if word in said] == []
