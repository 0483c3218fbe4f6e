"""The model backend against a real HTTP server: answers that end in the right memories."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import connection
from django.utils import timezone

from chats.models import Chat, Topic
from memories import store
from memories.extraction.prompt import PROMPT_VERSION
from memories.models import Candidate, Extraction, Memory, Source, Status
from projects.actors import WORKER
from tests.chats.turns import turn
from tests.llm_server import SHAPES, Answer, envelope, talk
from tests.processes import await_true, worker

if TYPE_CHECKING:
    from pathlib import Path

    from projects.models import Project
    from tests.llm_server import LlmServer

from .runs import KEY, LOGIN, PORT, SAID, distilled, item, kept, reasons

pytestmark = pytest.mark.django_db


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
    assert (run.backend, run.model, run.prompt_version) == ("llm", "plain", PROMPT_VERSION)
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
