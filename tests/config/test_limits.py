"""What is too large, or no text at all, is refused over HTTP with the limit told: by the API and by every page."""

from __future__ import annotations

import json
import socket
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.test import Client
from django.urls import reverse
from django.utils.translation import override

from memories.models import Memory
from projects.models import AuditEvent
from tests.factories import make_key, make_project, make_user
from tests.processes import web

if TYPE_CHECKING:
    from pathlib import Path

PASTE = "字" * 700_000
FORM = "application/x-www-form-urlencoded"


def post(url: str, path: str, body: bytes, **headers: str) -> tuple[int, str]:
    """Status and body of what a client gets that sends all of `body` before it reads."""
    host, port = url.removeprefix("http://").split(":")
    lines = [f"POST {path} HTTP/1.1", f"Host: {host}:{port}", "Connection: close"]
    lines += [f"{name}: {value}" for name, value in {"Content-Length": str(len(body)), **headers}.items()]
    with socket.create_connection((host, int(port)), timeout=20) as server:
        server.sendall("\r\n".join([*lines, "", ""]).encode() + body)
        answer = b""
        while chunk := server.recv(65536):
            answer += chunk
    head, _blank, told = answer.decode().partition("\r\n\r\n")
    return int(head.split()[1]), told


@pytest.mark.django_db(transaction=True)
def test_two_megabytes_and_half_a_surrogate_pair_are_refused_over_http(tmp_path: Path) -> None:
    project = make_project("shop")
    _key, secret = make_key(project)
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {secret}"}
    turns = "/api/v1/projects/shop/turns/"
    said = {"topic": {"ref": "a"}, "ref": "1", "message": PASTE}
    with web(tmp_path / "web.log") as url:
        status, told = post(url, turns, json.dumps(said, ensure_ascii=False).encode(), **headers)
        problem = json.loads(told)
        assert (status, problem["code"], problem["limit"]) == (413, "too_large", 1_500_000)
        assert problem["detail"] == "The body is too large; 1500000 bytes are allowed."

        half = json.dumps(said | {"message": "up to \ud83d here"}).encode()
        status, told = post(url, turns, half, **headers)
        problem = json.loads(told)
        assert (status, problem["code"], problem["errors"][0]["pointer"]) == (400, "invalid_text", "/message")

        form = {"Content-Type": FORM, "Cookie": f"csrftoken={'a' * 32}"}
        for page in ("/admin/login/", "/login/"):
            status, told = post(url, page, f"username={PASTE}".encode(), **form)
            assert (status, "1500000 bytes are allowed" in told) == (413, True), page
    assert not project.topics.exists()


@pytest.mark.django_db
@pytest.mark.parametrize("media_type", [FORM, "multipart/form-data; boundary=x"])
@pytest.mark.parametrize(
    "page",
    [
        "admin:memories_memory_add",
        "admin:projects_project_add",
        "admin:auth_user_add",
        "admin:login",
        "login",
    ],
)
def test_a_form_that_is_too_large_says_how_much_is_allowed(page: str, media_type: str) -> None:
    client = Client()
    client.force_login(make_user("boss", is_staff=True, is_superuser=True))
    fields = (
        f"content={PASTE}"
        if media_type == FORM
        else f'--x\r\nContent-Disposition: form-data; name="content"\r\n\r\n{PASTE}\r\n--x--\r\n'
    )
    before = Memory.objects.count(), AuditEvent.objects.count()
    with override("zh-hans"):
        answer = client.post(
            reverse(page), fields.encode(), content_type=media_type, headers={"Accept-Language": "zh-hans"}
        )
    assert answer.status_code == 413
    assert f"请求体过大，最多 {settings.API_MAX_BODY_BYTES} 字节。" in answer.content.decode()
    assert (Memory.objects.count(), AuditEvent.objects.count()) == before
