"""The same with real processes: what gunicorn and a worker write holds nothing that was sent, whatever goes wrong."""

from __future__ import annotations

import json
import socket
import urllib.error
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
from django.db import connection

from chats.models import Topic
from memories.models import Extraction, Memory
from tests.canary.canaries import KINDS, canary
from tests.canary.rows import VERBATIM, leaks
from tests.factories import make_key, make_project
from tests.processes import await_true, web, worker

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.canary.canaries import Canary

pytestmark = pytest.mark.django_db(transaction=True)
# What Celery's command and Python say before, or beside, any logging; nothing that was sent can stand in it.
PLAIN = (
    "worker: ",
    "SecurityWarning",
    "absolutely not",
    "Please specify",
    "User information",
    "_warn_or_raise",
)


class Site:
    def __init__(self, url: str, secret: str) -> None:
        self.url, self.secret = url, secret

    def send(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
        """Status, and the answer with its headers."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode() if body is not None else None
        headers = {"Content-Type": "application/json", "Authorization": f"Bearer {self.secret}"} | headers
        asked = urllib.request.Request(self.url + path, data, headers, method=method)
        try:
            with urllib.request.urlopen(asked, timeout=60) as answer:
                return answer.status, f"{answer.headers}{answer.read().decode()}"
        except urllib.error.HTTPError as refusal:
            with refusal:
                return refusal.code, f"{refusal.headers}{refusal.read().decode()}"

    def raw(self, request: str) -> str:
        host, port = self.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as server:
            server.sendall(request.encode())
            return server.recv(65536).decode(errors="replace")


@contextmanager
def broken(table: str, column: str) -> Iterator[None]:
    """Rows whose text says “boom” make the database fail, and quote it."""
    name = f"canary_{table}"
    with connection.cursor() as cursor:
        if connection.vendor == "mysql":
            cursor.execute(
                f"CREATE TRIGGER {name} BEFORE INSERT ON {table} FOR EACH ROW IF NEW.{column} LIKE '%boom%' THEN "
                f"SIGNAL SQLSTATE '23000' SET MYSQL_ERRNO = 1062, MESSAGE_TEXT = NEW.{column}; END IF"
            )
        else:
            # SQLite has only fixed words for it; they are in the log as little as others.
            cursor.execute(
                f"CREATE TRIGGER {name} BEFORE INSERT ON {table} WHEN NEW.{column} LIKE '%boom%' "
                "BEGIN SELECT RAISE(ABORT, 'canarywordofthedatabase'); END"
            )
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TRIGGER {name}")


def lines(log: Path) -> list[dict[str, Any]]:
    said = log.read_text().splitlines()
    unknown = [
        line
        for line in said
        if line.strip() and not line.startswith("{") and not any(p in line for p in PLAIN)
    ]
    assert unknown == []
    return [json.loads(line) for line in said if line.startswith("{")]


def nothing_is_due() -> bool:
    connection.close()
    return not Topic.objects.filter(distil_pending=True, distil_retry_at=None).exists() and not (
        Extraction.objects.filter(status="running").exists()
    )


def doors(site: Site, one: Canary) -> list[tuple[int, str]]:
    """One canary through every kind of door."""
    turns = "/api/v1/projects/shop/turns/"
    ref = one.door
    body = {"topic": {"ref": ref}, "ref": ref, "message": f"我们决定{one.text}。", "attached": one.text}
    answers = [opened := site.send("POST", turns, body, **{"X-Request-ID": f"open-{ref}"})]
    turn = json.loads(opened[1][opened[1].index("{") :])["turn"]["id"]
    finish = {"status": "succeeded", "reply": one.text, "error": one.text, "model": one.text}
    answers += [
        site.send("POST", f"/api/v1/turns/{turn}/context/", {"message": f"不对，应该是 {one.text}"}),
        site.send("POST", f"/api/v1/turns/{turn}/finish/", finish, **{"X-Request-ID": f"finish-{ref}"}),
    ]
    memory = {"type": "fact", "content": f"a {one.text}", "reason": one.text}
    sent = json.dumps(body, ensure_ascii=False)
    refused = [
        # By the name of a member that there is not: nothing but a secret is masked there.
        site.send(
            "POST", "/api/v1/projects/shop/memories/", memory | {one.text if one.is_secret else "no": 1}
        ),
        site.send("POST", turns, sent[:-1].encode()),
        site.send("POST", turns, f"[{sent}]".encode()),
        site.send("POST", turns, sent.encode("utf-16")),
        site.send("POST", turns, sent.encode(), **{"Content-Type": f"text/{one.secret}"}),
        site.send("POST", turns, sent.replace(one.secret, f"{one.secret}\\ud800").encode()),
        site.send("POST", turns, body | {"message": one.text * 9000}),
        site.send(
            "GET",
            f"/api/v1/projects/shop/memories/?{quote(one.text) if one.is_secret else 'no'}={one.secret}",
        ),
        site.send("GET", f"/api/v1/projects/{one.secret}/", Authorization=f"Bearer {one.secret}"),
        site.send("GET", f"/{one.secret}?next={one.secret}", **{"Accept-Language": one.secret}),
        site.send("GET", "/login/", Host=f"{one.secret}.example.com"),
        site.send("POST", "/login/", f"username={one.secret}&password={one.secret}".encode()),
        site.send(
            "POST",
            "/api/v1/projects/shop/memories/",
            memory | {"content": ""},
            **{"Idempotency-Key": one.secret},
        ),
        # What nobody expects: the database itself refuses, and quotes.
        site.send("POST", turns, body | {"ref": f"boom-{ref}", "message": f"boom {one.text}"}),
    ]
    assert all(status >= 400 for status, _answer in refused), refused
    assert refused[-1][0] == 500
    # What is no HTTP gunicorn answers by itself, and repeats to its sender; it must not stand in its log.
    for unread in (
        f"GET /x?{one.secret} HTTP/1.1\r\nHost: localhost\r\n{one.secret} {one.secret}: 1\r\n\r\n",
        f"{one.secret.upper()[:12]}? / HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ):
        assert " 400 " in site.raw(unread)
    return [*answers, *refused]


def test_what_the_processes_write_holds_nothing_that_was_sent(tmp_path: Path) -> None:
    project = make_project("shop", review_policy="none")
    _key, secret = make_key(project)
    web_log, worker_log = tmp_path / "web.log", tmp_path / "worker.log"
    sent = [canary(kind, f"door-{number}") for number, kind in enumerate(KINDS)]
    common = {"LOG_LEVEL": "DEBUG", "ALLOWED_HOSTS": "127.0.0.1,localhost"}
    with (
        broken("chats_chat", "message"),
        web(web_log, **common) as url,
        worker(worker_log, SWEEP_EVERY_S="3600", DISTIL_IDLE_S="0.1", **common),
    ):
        site = Site(url, secret)
        for one in sent:
            for status, answer in doors(site, one):
                if status >= 400:
                    assert one.secret.casefold() not in answer.casefold(), (one.kind, status, answer)
        await_true(nothing_is_due, told=worker_log)
    said = web_log.read_text() + worker_log.read_text()
    assert [one.kind for one in sent if one.secret.casefold() in said.casefold()] == []
    assert secret not in said
    assert "canarywordofthedatabase" not in said
    assert leaks(sent, allowed=VERBATIM) == {}

    told, worked = lines(web_log), lines(worker_log)
    requests = [line for line in told if line["event"] == "request" and "finish" in line.get("route", "")]
    assert [(line["status"], line["request_id"]) for line in requests] == [
        (200, f"finish-{one.door}") for one in sent
    ]
    # The finishing is what caused the distilling.
    tasks = [line for line in worked if line.get("task") == "chats.distil"]
    assert {f"finish-{one.door}" for one in sent} <= {line["request_id"] for line in tasks}
    assert {line["outcome"] for line in tasks} == {"succeeded"}
    # And so do the rows that it wrote. (A message of an earlier test may have been quicker than the finishing's.)
    written = set(Memory.history.filter(actor_kind="worker").values_list("request_id", flat=True))
    assert written
    assert written <= {line["request_id"] for line in tasks}
    # Five times the database failed, and each time it is told where.
    failed = [line for line in told if line["logger"] == "django.request"]
    assert [line["exception"]["class"] for line in failed] == ["django.db.utils.IntegrityError"] * len(sent)
