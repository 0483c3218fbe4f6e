"""The example agent, run as its readers run it, against a live site and a server that speaks the OpenAI protocol."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings

from chats.models import Chat
from memories import tokens
from memories.models import Memory
from tests.factories import make_key, make_project
from tests.llm_server import LlmServer, llm_server

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_django.live_server_helper import LiveServer

    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)

REPLY = "好的，登录页已建好。"


@pytest.fixture
def project() -> Project:
    return make_project(slug="shop")


@pytest.fixture
def llm() -> Iterator[LlmServer]:
    with llm_server(REPLY) as server:
        yield server


class Runner:
    def __init__(self, project: Project, llm: LlmServer, folder: Path) -> None:
        self.key = make_key(project)[1]
        self.llm = llm
        self.outbox = folder / "outbox.jsonl"

    def __call__(self, cairn: str, message: str, *, topic: str = "A") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [
                sys.executable,
                "examples/agent.py",
                *("--topic", topic, "--author", "mei", "--outbox", str(self.outbox)),
                message,
            ],
            cwd=settings.BASE_DIR,
            env={
                **os.environ,
                "CAIRN_URL": cairn,
                "CAIRN_KEY": self.key,
                "CAIRN_PROJECT": "shop",
                "LLM_BASE_URL": self.llm.base_url,
                "LLM_API_KEY": "unused",
                "LLM_MODEL": "fake",
                "PYTHONIOENCODING": "utf-8",
            },
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )


@pytest.fixture(autouse=True)
def _warm(live_server: LiveServer) -> None:
    """The agent waits two seconds for Cairn; a process that has just started would use them up for imports."""
    tokens.count("warm")
    with urllib.request.urlopen(f"{live_server.url}/api/v1/health/ready/", timeout=60) as answer:
        assert answer.status == 200


@pytest.fixture
def run(project: Project, llm: LlmServer, tmp_path: Path) -> Runner:
    return Runner(project, llm, tmp_path)


def asked(llm: LlmServer) -> list[dict[str, Any]]:
    return llm.asked[-1]["messages"]


def test_it_opens_assembles_streams_and_finishes(
    run: Runner, llm: LlmServer, live_server: LiveServer
) -> None:
    first = run(live_server.url, "记住：页面引用区块必须用区块ID。做登录页")
    assert (first.returncode, first.stdout) == (0, REPLY + "\n")
    tokens_given = Chat.objects.get(topic__ref="A").memory_tokens
    assert first.stderr.splitlines() == [
        "[stored] 页面引用区块必须用区块ID",
        f"[已记住 1 条 · 用到 1 条记忆（{tokens_given} tokens）]",
    ]
    second = run(live_server.url, "继续", topic="B")
    assert second.returncode == 0
    chat = Chat.objects.get(topic__ref="B")
    assert (chat.status, chat.reply, chat.author_name) == ("succeeded", REPLY, "mei")

    system, user = asked(llm)
    assert system["role"] == "system"
    # A rule for every turn belongs to the stable prefix.
    assert "页面引用区块必须用区块ID" in system["content"]
    assert user == {"role": "user", "content": "继续"}


def test_history_and_rules_of_the_topic_stand_where_they_belong(
    run: Runner, llm: LlmServer, live_server: LiveServer
) -> None:
    run(live_server.url, "以后按钮文案一律用动词开头。做登录页")
    run(live_server.url, "再加一个注册按钮")
    roles = [message["role"] for message in asked(llm)]
    assert roles == ["system", "user", "assistant", "system", "user"]
    assert "按钮文案一律用动词开头" in asked(llm)[3]["content"]


def dribble(listener: socket.socket, stopped: threading.Event) -> None:
    """Answer one caller a byte at a time, for ever: no single read is late, only the whole."""
    listener.settimeout(30)
    caller, _ = listener.accept()
    with caller:
        caller.sendall(
            b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n"
        )
        while not stopped.wait(0.2):
            try:
                caller.sendall(b" ")
            except OSError:
                return


@pytest.mark.parametrize("kind", ["refuses", "hangs", "dribbles"])
def test_without_cairn_it_goes_on_and_reports_the_turn_afterwards(
    run: Runner, llm: LlmServer, live_server: LiveServer, kind: str
) -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    dead = f"http://127.0.0.1:{listener.getsockname()[1]}"
    stopped = threading.Event()
    dribbler = threading.Thread(target=dribble, args=(listener, stopped), daemon=True)
    if kind == "refuses":
        listener.close()
    elif kind == "dribbles":
        dribbler.start()
    try:
        alone = run(dead, "记住：金额单位是分。做订单页")
    finally:
        stopped.set()
        if dribbler.ident is not None:
            dribbler.join()
        listener.close()
    assert (alone.returncode, alone.stdout) == (0, REPLY + "\n")
    assert "[no memory this time" in alone.stderr
    assert [message["role"] for message in asked(llm)] == ["system", "user"]
    assert json.loads(run.outbox.read_text())["status"] == "succeeded"
    assert Chat.objects.count() == 0

    assert run(live_server.url, "做商品页").returncode == 0
    late, now = Chat.objects.order_by("id")
    assert (late.message, late.status, late.reply) == ("记住：金额单位是分。做订单页", "succeeded", REPLY)
    assert now.message == "做商品页"
    assert not run.outbox.exists()
    # It happened before anyone could object, so a person decides.
    assert Memory.objects.get().status == "proposed"


def test_a_wrong_key_is_a_mistake_to_be_seen(run: Runner, live_server: LiveServer) -> None:
    run.key = "cairn_wrong"
    wrong = run(live_server.url, "做登录页")
    assert wrong.returncode == 1
    assert "401" in wrong.stderr
    assert Chat.objects.count() == 0


def test_a_key_that_cairn_does_not_know_is_said_in_one_sentence(
    live_server: LiveServer, project: Project, llm: LlmServer, tmp_path: Path
) -> None:
    run = Runner(project, llm, tmp_path)
    run.key = "cairn_wrong"
    done = run(live_server.url, "做登录页")
    assert done.returncode == 1
    assert done.stderr.startswith("Cairn refused with status 401: ")
    assert "key_invalid" in done.stderr
    assert "Traceback" not in done.stderr


def test_settings_that_are_missing_are_named() -> None:
    bare = {name: value for name, value in os.environ.items() if not name.startswith(("CAIRN_", "LLM_"))}
    done = subprocess.run(
        [sys.executable, "examples/agent.py", "hello"],
        cwd=settings.BASE_DIR,
        env={**bare, "CAIRN_URL": "http://127.0.0.1:1", "LLM_MODEL": "fake"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2
    assert "set CAIRN_KEY, CAIRN_PROJECT, LLM_BASE_URL in the environment" in done.stderr
