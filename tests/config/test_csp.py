"""What browsers may do with what the site sends."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import unfold
from django.conf import settings as site_settings
from django.test import Client

from config import csp
from tests.factories import make_user

if TYPE_CHECKING:
    from django.http import HttpResponse

pytestmark = pytest.mark.django_db

TEMPLATES = Path(site_settings.BASE_DIR) / "templates"
THEME = Path(unfold.__path__[0]) / "templates"
_HANDLER = re.compile(r"""\s(on[a-z]+)=["']([^"']*)["']""")
# A script, a style or a handler that stands in the page itself.
_INLINE = re.compile(
    r"""<script\b(?![^>]*\s(?:src|nonce)=)|<style\b(?![^>]*\snonce=)|\sstyle=|\son[a-z]+=|javascript:"""
)
STRICT = {
    "default-src": "'none'",
    "script-src": "'self'",
    "style-src": "'self'",
    "img-src": "'self'",
    "font-src": "'self'",
    "connect-src": "'self'",
    "form-action": "'self'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}
ADMIN = STRICT | {
    "script-src": "'self' 'unsafe-eval'",
    "script-src-attr": "'unsafe-hashes' 'sha256-ef14l//dtiQD0cXeBAxNzbiuyrvqLIKWTYpqIl2LdMY='",
    "style-src": "'self' 'unsafe-inline'",
    "img-src": "'self' data:",
}
NO_PAGE = {
    "default-src": "'none'",
    "form-action": "'none'",
    "base-uri": "'none'",
    "frame-ancestors": "'none'",
}


def policy(answer: HttpResponse) -> dict[str, str]:
    return dict(part.split(" ", 1) for part in answer["Content-Security-Policy"].split("; "))


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


@pytest.mark.parametrize(
    ("path", "status", "allowed"),
    [
        pytest.param("/", 200, STRICT, id="home"),
        pytest.param("/nowhere/", 404, STRICT, id="a wrong address"),
        pytest.param("/admin/", 200, ADMIN, id="the admin's first page"),
        pytest.param("/admin/memories/memory/", 200, ADMIN, id="a list"),
        pytest.param("/admin/memories/memory/add/", 200, ADMIN, id="a form"),
        pytest.param("/admin/nowhere/", 404, ADMIN, id="a wrong address of the admin"),
        pytest.param("/admin/jsi18n/", 200, NO_PAGE, id="a script of the admin"),
        pytest.param("/administrator/", 404, STRICT, id="what only begins like the admin"),
        pytest.param("/api/v1/me/", 200, NO_PAGE, id="JSON"),
        pytest.param("/api/v1/projects/shop/", 404, NO_PAGE, id="a problem"),
        pytest.param("/api/v1/schema/", 200, NO_PAGE, id="the API's description"),
        pytest.param("/api/nowhere/", 404, NO_PAGE, id="a wrong address of the API"),
    ],
)
def test_each_answer_says_what_it_may_do(
    path: str, status: int, allowed: dict[str, str], browser: Client
) -> None:
    answer = browser.get(path)
    assert (answer.status_code, policy(answer)) == (status, allowed)


@pytest.mark.parametrize(
    ("path", "allowed"),
    [pytest.param("/login/", STRICT, id="site"), pytest.param("/admin/login/", ADMIN, id="admin")],
)
def test_both_forms_to_log_in_send_to_this_site_alone(
    path: str, allowed: dict[str, str], client: Client
) -> None:
    answer = client.get(path)
    assert policy(answer) == allowed
    assert policy(answer)["form-action"] == "'self'"


def test_the_page_to_try_the_api_names_its_script_and_its_style(client: Client) -> None:
    answers = [client.get("/api/v1/docs/") for _ in range(2)]
    nonces = []
    for answer in answers:
        found = set(re.findall(r'nonce="([^"]+)"', answer.content.decode()))
        assert len(found) == 1
        nonces += found
        assert policy(answer) == STRICT | {
            "script-src": f"'self' 'nonce-{nonces[-1]}'",
            "style-src": f"'self' 'nonce-{nonces[-1]}'",
            "img-src": "'self' data:",
        }
    assert nonces[0] != nonces[1]


@pytest.mark.parametrize("path", ["/", "/login/", "/nowhere/", "/api/v1/docs/"])
def test_pages_hold_nothing_inline_that_a_browser_would_refuse(
    path: str, client: Client, browser: Client
) -> None:
    for caller in (client, browser):
        markup = re.sub(r"(?s)(<(script|style)[^>]*>).*?</\2>", r"\1", caller.get(path).content.decode())
        assert _INLINE.findall(markup) == []


def test_no_template_of_ours_has_anything_inline() -> None:
    found = {
        path.relative_to(TEMPLATES).as_posix(): _INLINE.findall(path.read_text())
        for path in TEMPLATES.rglob("*.html")
    }
    assert len(found) > 5
    assert {name: inline for name, inline in found.items() if inline} == {}


def test_what_would_be_refused_is_recognised() -> None:
    for markup in (
        "<script>x</script>",
        '<script type="module">x',
        "<style>",
        '<p style="">',
        '<a href="javascript:x">',
        '<a onclick="x">',
    ):
        assert _INLINE.search(markup), markup
    for markup in ('<script src="x.js"></script>', '<script nonce="n">', "<stylesheet>", "<p class='on'>"):
        assert not _INLINE.search(markup), markup


def test_every_handler_in_the_themes_mark_up_is_allowed_by_its_digest() -> None:
    handlers = {
        (path.relative_to(THEME).as_posix(), script)
        for path in THEME.rglob("*.html")
        for _event, script in _HANDLER.findall(path.read_text())
    }
    assert handlers == {("unfold/helpers/change_list_filter_horizontal.html", "this.submit()")}
    assert {script for _path, script in handlers} == set(csp.HANDLERS)


def test_pages_get_no_device_and_no_other_site_frames_or_opens_them(client: Client) -> None:
    for path in ("/", "/login/", "/admin/login/", "/api/v1/docs/"):
        answer = client.get(path)
        assert answer["Permissions-Policy"] == (
            "camera=(), geolocation=(), microphone=(), payment=(), usb=(), browsing-topics=()"
        )
        assert answer["X-Frame-Options"] == "DENY"
        assert answer["X-Content-Type-Options"] == "nosniff"
        assert answer["Referrer-Policy"] == "same-origin"
        assert answer["Cross-Origin-Opener-Policy"] == "same-origin"
    assert "Permissions-Policy" not in client.get("/api/v1/health/live/")
