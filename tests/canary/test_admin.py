"""The admin shows no secret that was said, and takes none through its forms; so does the log-in."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.auth.models import User
from django.test import Client
from django.urls import reverse

from chats.endings import FinishRequest, finish_turn
from chats.models import Chat
from chats.turns import hear_further
from memories.models import Memory
from projects.models import ApiKey, AuditEvent, Project
from tests.canary.canaries import KINDS, PASSWORD, WORD, Canary, canary
from tests.canary.kinds import ORDER, UNSEEN, Stopped, stopped
from tests.canary.place import Place, distil_everything
from tests.canary.rows import VERBATIM, Log, everything, leaks
from tests.chats.turns import AGENT, opened
from tests.factories import make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import Model
    from django.http import HttpResponse

pytestmark = pytest.mark.django_db(transaction=True)
SECRETS = tuple(kind for kind in KINDS if kind != WORD)
TALK = (
    "{text}",
    "记住：{text}",
    "Remember: {text}",
    "以后都用 {text} 登录。",
    "不对，应该是 {text}",
    "我们决定一律用 {text}。",
    "忘掉：{text}",
)


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(
        make_user("root", is_staff=True, is_superuser=True),
        backend="django.contrib.auth.backends.ModelBackend",
    )
    return client


@pytest.fixture
def place() -> Place:
    return Place(make_project("shop", review_policy="none"))


def pages() -> Iterator[tuple[type[Model], str]]:
    for model in admin.site._registry:
        label = f"{model._meta.app_label}_{model._meta.model_name}"
        yield model, reverse(f"admin:{label}_changelist")
        for pk in model._base_manager.values_list("pk", flat=True):
            yield model, reverse(f"admin:{label}_change", args=[pk])


def test_no_page_shows_a_secret_that_was_said(place: Place, browser: Client, log: Log) -> None:
    said: list[Canary] = []
    for kind, form in zip(itertools.cycle(SECRETS), (*TALK, "{text}", "{text}"), strict=False):
        one = canary(kind, f"{form} of {len(said)}")
        said.append(one)
        text = form.format(text=one.text)
        turn = opened(place.project, text, topic=form, attached=text, files=(one.text,)).chat
        ending = FinishRequest(
            status="succeeded",
            reply=text,
            error=text,
            tools=[{"name": one.text, "ok": False, "error": text}],
            steps=[{"agent": "a", "message": text, "reply": text, "status": "failed"}],
            milestone=text,
            model=text,
            usage={text: 1},
        )
        finish_turn(project=place.project, chat=turn, request=ending, by=AGENT)
    turn = opened(place.project, "Lists show rows.", topic="further").chat
    hear_further(project=place.project, chat=turn, message=said[0].text, by=AGENT)
    distil_everything(place.project)
    assert Chat.objects.turns().filter(distil_outcome=None, status="succeeded").count() == 0
    assert leaks(said, allowed=VERBATIM) == {}
    showing: dict[str, set[str]] = {}
    for model, page in [*pages(), (Project, reverse("admin:index"))]:
        answer = browser.get(page)
        assert answer.status_code == 200, page
        text = answer.content.decode().casefold()
        if any(one.secret.casefold() in text for one in said):
            showing.setdefault(model._meta.label, set()).add(page)
    assert showing == {}
    assert [one.door for one in said if one.secret.casefold() in log.text().casefold()] == []


# --- Forms -------------------------------------------------------------------------------------------------

MEMORY = {
    "type": "fact", "importance": "3", "content": "Lists show rows.", "key": "", "area": "", "keywords": "",
    "files": "", "reason": "", "expires_at_0": "", "expires_at_1": "",
}  # fmt: skip
PROJECT = {
    "name": "Plain", "slug": "", "description": "", "memory_enabled": "on", "review_policy": "important",
    "explicit_policy": "anyone", "max_items": "12", "max_tokens": "6000", "window_tokens": "40000", "guidance": "",
    "static_instructions": "",
}  # fmt: skip
KEY = {"name": "plain", "scopes": ["turns"], "expires_at_0": "", "expires_at_1": ""}
USER = {
    "username": "plain",
    "usable_password": "true",
    "password1": "Plain-9381-pass",
    "password2": "Plain-9381-pass",
}


def forms(place: Place, boss: User) -> Iterator[tuple[str, dict[str, Any], str]]:
    """(address, what is typed, the field that takes a text)."""
    project = place.project
    memory = place.memory()
    change = reverse("admin:memories_memory_change", args=[memory.pk])
    for field in ("content", "key", "area", "keywords", "files", "reason"):
        yield reverse("admin:memories_memory_add"), MEMORY | {"project": project.pk}, field
        yield change, MEMORY | {"content": memory.content, "read_version": memory.version}, field
    for field in ("name", "slug", "description", "guidance", "static_instructions"):
        yield reverse("admin:projects_project_add"), PROJECT | {"owner": project.owner_id}, field
    for field in ("name", "description", "guidance", "static_instructions"):
        yield (
            reverse("admin:projects_project_change", args=[project.pk]),
            PROJECT | {"name": project.name},
            field,
        )
    yield reverse("admin:projects_apikey_add"), KEY | {"project": project.pk}, "name"
    for field in ("username", "password1"):
        yield reverse("admin:auth_user_add"), USER, field
    user = reverse("admin:auth_user_change", args=[boss.pk])
    joined = {"date_joined_0": "2026-01-02", "date_joined_1": "03:04:05", "is_active": "on", "is_staff": "on"}
    for field in ("username", "first_name", "last_name", "email"):
        yield user, {"username": boss.username, **joined}, field
    yield reverse("admin:auth_group_add"), {"name": "plain"}, "name"
    yield reverse("login"), {"username": "plain", "password": "plain"}, "username"
    yield reverse("login"), {"username": "plain", "password": "plain"}, "password"
    yield reverse("admin:login"), {"username": "plain", "password": "plain"}, "username"
    yield reverse("admin:login"), {"username": "plain", "password": "plain"}, "password"
    yield reverse("set_language"), {"language": "en", "next": "/"}, "language"
    yield reverse("set_language"), {"language": "en", "next": "/"}, "next"


def test_no_form_takes_a_secret_and_none_is_logged(place: Place, browser: Client, log: Log) -> None:
    boss = make_user("boss", is_staff=True)
    sent: list[Canary] = []
    for address, typed, field in forms(place, boss):
        for kind in (PASSWORD, "key of ours"):
            one = canary(kind, f"{address} {field}")
            sent.append(one)
            client = Client() if "login" in address else browser
            answer: HttpResponse = client.post(address, typed | {field: one.text})
            assert answer.status_code in (200, 302, 403, 429), one.door
    assert [one.door for one in sent if one.secret.casefold() in log.text().casefold()] == []
    assert leaks(sent, allowed=frozenset()) == {}


@pytest.mark.parametrize("kind", [ORDER, UNSEEN])
def test_no_form_takes_what_a_model_must_not_read(kind: str, place: Place, browser: Client, log: Log) -> None:
    boss = make_user("boss", is_staff=True)
    sent: dict[str, Stopped] = {}
    for address, typed, field in forms(place, boss):
        # Orders to a model are what these are; reasons are for people.
        if "login" in address or field in ("static_instructions", "reason", "password1", "next", "language"):
            continue
        one = sent.setdefault(f"{address} {field}", stopped(kind))
        answer = browser.post(address, typed | {field: one.text})
        assert answer.status_code == 200, (address, field)
        assert answer.context["adminform"].form.errors.keys() <= {field}, (address, field)
    columns = everything()
    assert [
        (door, column)
        for door, one in sent.items()
        for column, held in columns.items()
        if one.mark.casefold() in held
    ] == []
    assert [door for door, one in sent.items() if one.mark in log.text()] == []
    assert len(sent) == 24


def test_the_forms_take_plain_texts(place: Place, browser: Client) -> None:
    """So that what the others find missing was refused for what it is."""
    boss = make_user("boss", is_staff=True)
    numbers = itertools.count(1)
    before = {model: model._base_manager.count() for model in (Memory, Project, ApiKey, User, AuditEvent)}
    for address, typed, field in forms(place, boss):
        if "login" in address or field in ("password1", "language"):
            continue
        number = next(numbers)
        value = f"plain {field}s of {number}"
        if field in ("slug", "username"):
            value = f"plain-{number}"
        elif field == "email":
            value = "plain@example.com"
        if address == reverse("admin:memories_memory_add"):
            typed = typed | {"content": f"Rule of {field} about {field}s."}
        if "change" in address and "memory" in address:
            typed = typed | {"read_version": Memory.objects.get(pk=int(address.split("/")[-3])).version}
        answer = browser.post(address, typed | {field: value})
        errors = answer.context["adminform"].form.errors if answer.status_code == 200 else {}
        assert answer.status_code == 302, (address, field, errors)
    grown = {model._meta.label for model in before if model._base_manager.count() > before[model]}
    assert grown == {
        "memories.Memory",
        "projects.Project",
        "projects.ApiKey",
        "auth.User",
        "projects.AuditEvent",
    }
    assert apps.get_model("admin.LogEntry").objects.filter(content_type__app_label="memories").count() == 0
