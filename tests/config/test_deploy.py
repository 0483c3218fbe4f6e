"""The settings that `docs/operations.md` asks for in production, as a process of its own reads them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from django.conf import settings

if TYPE_CHECKING:
    from pathlib import Path

PRODUCTION = {
    "SECRET_KEY": "0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ",
    "ALLOWED_HOSTS": "cairn.example.org",
    "SITE_URL": "https://cairn.example.org",
    "HTTPS": "1",
    "BEHIND_PROXY": "1",
    "CELERY_BROKER_URL": "redis://127.0.0.1:1/0",
}
ANSWERS = """
import json, sys, django
django.setup()
from django.test import Client
client = Client(headers={"host": "cairn.example.org"})
answers = [
    client.get("/login/"),
    client.get("/login/", headers={"x-forwarded-proto": "https"}),
    client.get("/login/", headers={"host": "other.example.org", "x-forwarded-proto": "https"}),
]
json.dump([
    [answer.status_code, dict(answer.headers), answer.cookies.output(header="").strip()] for answer in answers
], sys.stdout)
"""


def python(folder: Path, *arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
    """Python with nothing in its environment but what is set here."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
    environment = kept | PRODUCTION | {"CAIRN_DATA_DIR": str(folder), "PYTHONWARNINGS": "default"} | changes
    return subprocess.run(
        [sys.executable, *arguments],
        cwd=settings.BASE_DIR,
        env={name: value for name, value in environment.items() if value != "unset"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def check(folder: Path, **changes: str) -> subprocess.CompletedProcess[str]:
    return python(folder, "manage.py", "check", "--deploy", "--fail-level", "WARNING", **changes)


def test_production_settings_leave_nothing_to_say(tmp_path: Path) -> None:
    checked = check(tmp_path)
    assert (checked.returncode, checked.stdout.strip()) == (
        0,
        "System check identified no issues (0 silenced).",
    ), checked.stderr
    assert checked.stderr == ""


@pytest.mark.parametrize(
    ("changes", "ids"),
    [
        pytest.param(
            {"HTTPS": "0", "SECRET_KEY": "short", "DEBUG": "1"},
            [f"security.W{number}" for number in ("004", "008", "009", "012", "016", "018")],
            id="plain HTTP, a short key, debugging",
        ),
        pytest.param(
            {"THROTTLE_RATE": "", "SITE_URL": "http://cairn.example.org"},
            ["projects.W001", "projects.W003"],
            id="no throttle, links without TLS",
        ),
        pytest.param(
            {"CELERY_BROKER_URL": "unset", "SITE_URL": "unset"},
            ["projects.W002", "projects.W003"],
            id="each process counts for itself, links to this machine",
        ),
    ],
)
def test_what_is_wrong_is_named(changes: dict[str, str], ids: list[str], tmp_path: Path) -> None:
    checked = check(tmp_path, **changes)
    assert checked.returncode == 1
    said = [
        line.partition("(")[2].partition(")")[0] for line in checked.stderr.splitlines() if "?: (" in line
    ]
    assert sorted(said) == sorted(ids)


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        pytest.param(
            {"THROTTLE_RATE": "many"},
            "THROTTLE_RATE is 'many', but must read like 1200/minute; empty for no throttle.",
            id="a rate that is none",
        ),
        pytest.param(
            {"THROTTLE_RATE": "5/second;1200/minute"},
            "THROTTLE_RATE is '5/second;1200/minute', but must read like 1200/minute; empty for no throttle.",
            id="two rates",
        ),
        pytest.param(
            {"THROTTLE_RATE": "0/minute"},
            "THROTTLE_RATE is '0/minute', but must read like 1200/minute; empty for no throttle.",
            id="a rate that lets nobody in",
        ),
        pytest.param(
            {"PROXY_COUNT": "0"},
            "PROXY_COUNT is how many proxies a request passes: 1 or more.",
            id="behind no proxy",
        ),
    ],
)
def test_the_site_does_not_start_with(changes: dict[str, str], sentence: str, tmp_path: Path) -> None:
    checked = check(tmp_path, **changes)
    assert checked.returncode == 1
    assert (
        checked.stderr.strip().splitlines()[-1] == f"django.core.exceptions.ImproperlyConfigured: {sentence}"
    )


def test_what_production_answers(tmp_path: Path) -> None:
    asked = python(tmp_path, "-W", "ignore", "-c", ANSWERS, DJANGO_SETTINGS_MODULE="config.settings")
    assert asked.returncode == 0, asked.stderr
    plain, by_tls, other = json.loads(asked.stdout)
    assert (plain[0], plain[1]["Location"]) == (301, "https://cairn.example.org/login/")
    status, headers, cookies = by_tls
    assert status == 200
    assert headers["Strict-Transport-Security"] == "max-age=31536000; includeSubDomains; preload"
    assert headers["Content-Security-Policy"].count("'self'") == 6
    for flag in ("Secure", "HttpOnly", "SameSite=Lax"):
        assert flag in cookies
    assert other[0] == 400
