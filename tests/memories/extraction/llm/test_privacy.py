"""The model backend against a real HTTP server: what leaves, where it goes, and who hears of it."""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING

import pytest

from chats.models import Chat, Topic
from memories.extraction import ProviderDown, llm
from memories.models import Candidate, Extraction, Memory
from projects.models import AuditEvent
from tests.chats.turns import turn
from tests.llm_server import Answer, envelope, llm_server, refusal

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project
    from tests.llm_server import LlmServer

from .runs import KEY, PORT, SAID, distilled, extract, item, kept, reasons

pytestmark = pytest.mark.django_db


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
