"""Who fails to log in too often waits; what was typed is not kept; superadmins see and lift locks."""

from __future__ import annotations

import logging
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from axes.models import AccessAttempt
from django.apps import apps
from django.contrib.auth.models import Permission, User
from django.contrib.sessions.models import Session
from django.core import serializers
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from projects import logins
from projects.models import AuditEvent
from projects.tasks import forget_logins
from tests.factories import make_user

if TYPE_CHECKING:
    from django.http import HttpResponse
    from pytest_django.fixtures import SettingsWrapper

pytestmark = pytest.mark.django_db

RIGHT = "a long pass phrase"
FORMS = pytest.mark.parametrize("form", ["/login/", "/admin/login/"])
LIST = "admin:axes_accessattempt_changelist"


@pytest.fixture(autouse=True)
def _quick_passwords(settings: SettingsWrapper) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]


@pytest.fixture
def ana() -> User:
    return make_user("ana", password=RIGHT, is_staff=True)


def log_in(
    form: str, name: str = "ana", *, password: str = "", address: str = "192.0.2.1", **headers: str
) -> HttpResponse:
    return Client().post(
        form, {"username": name, "password": password or "wrong"}, REMOTE_ADDR=address, headers=headers
    )


def failed(times: int, form: str = "/login/", name: str = "ana", **how: str) -> list[int]:
    return [log_in(form, name, **how).status_code for _ in range(times)]


def wait(time: timedelta) -> None:
    for attempt in AccessAttempt.objects.all():
        AccessAttempt.objects.filter(pk=attempt.pk).update(attempt_time=attempt.attempt_time - time)


def everything_stored() -> str:
    """All rows of all tables."""
    return "\n".join(
        serializers.serialize("json", model._base_manager.all(), ensure_ascii=False)
        for model in apps.get_models()
        if model._meta.managed
    )


@FORMS
def test_the_fifth_failure_locks_and_the_right_password_no_longer_helps(form: str, ana: User) -> None:
    assert failed(4, form) == [200, 200, 200, 200]
    locking = log_in(form)
    assert (locking.status_code, locking["Retry-After"]) == (429, "900")
    words = " ".join(locking.content.decode().split())
    assert "Log-in locked" in words
    assert "for 15 more minutes" in words
    assert f'href="{form}"' in words
    refused = log_in(form, password=RIGHT)
    assert refused.status_code == 429
    assert "sessionid" not in refused.cookies
    assert Session.objects.count() == 0
    assert log_in("/login/", password=RIGHT).status_code == 429, "both forms"
    assert log_in("/admin/login/", password=RIGHT).status_code == 429, "both forms"


def test_the_page_speaks_chinese(ana: User) -> None:
    failed(5)
    words = log_in("/login/", **{"accept-language": "zh-hans"}).content.decode()
    assert "登录已锁定" in words
    assert "15 分钟" in words


@FORMS
def test_other_names_and_other_addresses_are_not_locked(form: str, ana: User) -> None:
    make_user("ben", password=RIGHT, is_staff=True)
    assert failed(5, form)[-1] == 429
    assert log_in(form, "ben", password=RIGHT).status_code == 302
    assert log_in(form, "ana", password=RIGHT, address="192.0.2.2").status_code == 302
    assert log_in(form, "ana", password=RIGHT).status_code == 429


def test_a_lock_ends_after_a_quarter_of_an_hour_whatever_is_tried_meanwhile(ana: User) -> None:
    failed(5)
    wait(timedelta(minutes=10))
    answer = log_in("/login/")
    assert (answer.status_code, answer["Retry-After"]) == (429, "300")
    wait(timedelta(minutes=5))
    assert log_in("/login/", password=RIGHT).status_code == 302
    assert AccessAttempt.objects.count() == 0


def test_a_success_forgives_earlier_failures(ana: User) -> None:
    failed(4)
    assert log_in("/login/", password=RIGHT).status_code == 302
    assert failed(5) == [200, 200, 200, 200, 429]


def test_a_caller_cannot_make_up_another_address(ana: User, settings: SettingsWrapper) -> None:
    for number in range(5):
        answer = log_in("/login/", **{"x-forwarded-for": f"203.0.113.{number}"})
    assert answer.status_code == 429
    assert [attempt.ip_address for attempt in AccessAttempt.objects.all()] == ["192.0.2.1"]
    settings.BEHIND_PROXY = True
    for number in range(5):
        answer = log_in("/login/", **{"x-forwarded-for": f"198.51.100.{number}, 203.0.113.9"})
    assert answer.status_code == 429
    assert {attempt.ip_address for attempt in logins.locks()} == {"203.0.113.9", "192.0.2.1"}
    assert log_in("/login/", password=RIGHT, **{"x-forwarded-for": "203.0.113.10"}).status_code == 302


def test_the_addresses_of_one_net_of_ipv6_are_one(ana: User) -> None:
    answers = [log_in("/login/", address=f"2001:db8:1:2::{number}").status_code for number in range(5)]
    assert answers == [200, 200, 200, 200, 429]


def test_another_user_agent_does_not_help(ana: User) -> None:
    answers = [log_in("/login/", **{"user-agent": f"robot {number}"}).status_code for number in range(5)]
    assert answers == [200, 200, 200, 200, 429]
    assert AccessAttempt.objects.count() == 1


def test_a_name_that_nobody_has_is_locked_like_any_other(ana: User) -> None:
    known = [log_in("/login/") for _ in range(5)]
    unknown = [log_in("/login/", "nobody") for _ in range(5)]
    assert [a.status_code for a in unknown] == [a.status_code for a in known]
    assert unknown[-1].content.partition(b"<main")[2] == known[-1].content.partition(b"<main")[2]


@pytest.mark.skipif(connection.vendor != "mysql", reason="only MySQL finds a name in another spelling")
def test_another_spelling_of_a_name_is_the_same_name(ana: User) -> None:
    assert [log_in("/login/", name).status_code for name in ("ana", "Ana", "ANA", "aná", "ana")][-1] == 429
    assert [attempt.username for attempt in AccessAttempt.objects.all()] == ["ana"]


@FORMS
def test_what_was_typed_or_sent_is_in_no_row_and_in_no_log(
    form: str, ana: User, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    secrets = [f"Xk9-canary-{number}" for number in range(7)]
    for name in ("ana", secrets[0]):
        for _ in range(6):
            answer = Client().post(
                f"{form}?password={secrets[1]}&next=/{secrets[2]}",
                {"username": name, "password": secrets[3], "token": secrets[4], secrets[5]: "x"},
                REMOTE_ADDR="192.0.2.1",
                headers={"User-Agent": secrets[6], "Accept": f"text/html, {secrets[6]}"},
            )
    assert answer.status_code == 429
    assert AccessAttempt.objects.count() == 2
    assert "canary" not in everything_stored()
    assert "canary" not in caplog.text
    assert "ana" not in caplog.text, "nor a name"
    assert "a user's name from 192.0.2.1" in caplog.text
    assert AccessAttempt.objects.get(username__startswith=logins.UNKNOWN).username[1:].isalnum()


@FORMS
def test_a_lock_is_audited_once(form: str, ana: User) -> None:
    failed(8, form)
    event = AuditEvent.objects.get()
    assert (event.action, event.actor_kind, event.transport) == (
        "login.lock",
        "system",
        "admin" if form.startswith("/admin/") else "web",
    )
    assert (event.target_type, event.target_id, event.target_key) == ("login", ana.pk, "192.0.2.1")
    assert event.counts == {"failures": 5}
    assert event.request_id != ""
    failed(8, form, "typed by mistake")
    event = AuditEvent.objects.latest("pk")
    assert (event.target_id, AuditEvent.objects.count()) == (None, 2)
    assert "mistake" not in everything_stored()


@pytest.mark.django_db(transaction=True)
def test_of_guesses_at_the_same_time_one_locks() -> None:
    make_user("ana", password=RIGHT)
    barrier = threading.Barrier(16)

    def guess(_number: int) -> int:
        barrier.wait(timeout=30)
        try:
            return log_in("/login/").status_code
        finally:
            connection.close()

    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(guess, range(16)))
    assert answers.count(200) == 4
    assert answers.count(429) == 12
    assert AuditEvent.objects.filter(action="login.lock").count() == 1
    assert AccessAttempt.objects.count() == 1
    assert log_in("/login/", password=RIGHT).status_code == 429


def staff(*permissions: str, **fields: object) -> Client:
    user = make_user(is_staff=True, **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    browser = Client()
    browser.force_login(user)
    return browser


def lift(browser: Client) -> HttpResponse:
    chosen = [str(pk) for pk in AccessAttempt.objects.values_list("pk", flat=True)]
    return browser.post(
        reverse(LIST), {"action": "lift", "_selected_action": chosen, "index": "0"}, follow=True
    )


@pytest.mark.parametrize(
    ("permissions", "fields"),
    [
        pytest.param((), {"is_superuser": True}, id="superuser"),
        pytest.param((), {"groups": ["superadmins"]}, id="superadmin"),
        pytest.param(("view_accessattempt", "delete_accessattempt"), {}, id="somebody with the rights"),
    ],
)
def test_locks_are_seen_and_lifted_by(
    permissions: tuple[str, ...], fields: dict[str, object], ana: User
) -> None:
    failed(5)
    failed(2, name="typed by mistake")
    AuditEvent.objects.all()._raw_delete(using="default")
    browser = staff(*permissions, **fields)
    words = browser.get(reverse(LIST)).content.decode()
    assert "ana" in words
    assert "5 of 5" in words
    assert "2 of 5" in words
    assert "typed by mistake" not in words
    assert [
        item.username for item in browser.get(reverse(LIST), {"state": "locked"}).context["cl"].queryset
    ] == ["ana"]
    assert "1 lock lifted." in lift(browser).content.decode()
    event = AuditEvent.objects.get()
    assert (event.action, event.transport, event.target_id) == ("login.unlock", "admin", ana.pk)
    assert event.actor_name == browser.get(reverse(LIST)).wsgi_request.user.get_username()
    assert AccessAttempt.objects.count() == 1, "what was no lock still counts"
    assert log_in("/login/", password=RIGHT).status_code == 302


@pytest.mark.parametrize(
    ("permissions", "fields", "status"),
    [
        pytest.param((), {"groups": ["operators"]}, 403, id="operator"),
        pytest.param((), {"groups": ["auditors"]}, 403, id="auditor"),
        pytest.param(("delete_accessattempt",), {}, 403, id="who may not see them"),
        pytest.param(("view_accessattempt",), {}, 200, id="who may only see them"),
    ],
)
def test_locks_are_not_lifted_by(
    permissions: tuple[str, ...], fields: dict[str, object], status: int, ana: User
) -> None:
    failed(5)
    events = AuditEvent.objects.count()
    browser = staff(*permissions, **fields)
    assert browser.get(reverse(LIST)).status_code == status
    assert lift(browser).status_code == status
    assert (logins.locks().count(), AuditEvent.objects.count()) == (1, events)
    menu = browser.get(reverse("admin:index")).context["sidebar_navigation"]
    shown = [item["link"] for group in menu for item in group["items"] if item["has_permission"]]
    assert (reverse(LIST) in shown) == (status == 200)


def test_lifting_what_is_no_lock_says_so(ana: User) -> None:
    failed(2)
    events = AuditEvent.objects.count()
    assert "None of these is locked." in lift(staff(is_superuser=True)).content.decode()
    assert (AccessAttempt.objects.count(), AuditEvent.objects.count()) == (1, events)


def test_what_no_longer_counts_and_sessions_that_are_over_are_forgotten(ana: User) -> None:
    failed(5)
    wait(timedelta(minutes=15))
    failed(1, name="ben")
    over = Session.objects.create(session_key="over", expire_date=timezone.now() - timedelta(seconds=1))
    held = Session.objects.create(session_key="held", expire_date=timezone.now() + timedelta(minutes=1))
    AccessAttempt.objects.create(username="old", ip_address="192.0.2.9", failures_since_start=5)
    AccessAttempt.objects.filter(username="old").update(attempt_time=timezone.now() - timedelta(minutes=16))
    forget_logins()
    assert [attempt.failures_since_start for attempt in AccessAttempt.objects.all()] == [1]
    assert list(Session.objects.all()) == [held]
    assert over.session_key == "over"


def test_cookies_are_for_this_site_and_not_for_scripts(ana: User) -> None:
    cookies = log_in("/login/", password=RIGHT).cookies
    session = cookies["sessionid"]
    assert (session["httponly"], session["samesite"], session["max-age"]) == (True, "Lax", 604_800)
    assert (cookies["csrftoken"]["httponly"], cookies["csrftoken"]["samesite"]) == (True, "Lax")
