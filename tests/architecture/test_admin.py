"""Every page of the admin opens, in both languages, whoever's app it belongs to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.utils import flatten_fieldsets
from django.contrib.auth.models import Permission
from django.db import connection
from django.db.models import JSONField
from django.test import Client, RequestFactory
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from chats import queue
from tests.admin_world import World, make_world
from tests.factories import make_user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from django.db.models import Model

pytestmark = pytest.mark.django_db

REGISTERED = sorted(admin.site._registry, key=lambda model: model._meta.label)
OURS = ("projects", "memories", "chats")
# May be written by hand; everything else is only looked at.
WRITABLE = {"auth.Group", "auth.User", "memories.Memory", "projects.ApiKey", "projects.Project"}
# Shown with the topic or turn they belong to.
WITHOUT_PAGES = {"chats.EpisodeTerm", "chats.Summary"}
# What a list may ask of the database, whatever its length: session, user, count and rows, and the filters' own.
MOST_QUERIES = 6
LANGUAGES = pytest.mark.parametrize("language", ["en", "zh-hans"])


@pytest.fixture(autouse=True)
def _no_worker_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)


@pytest.fixture
def world() -> World:
    make_user(groups=["operators"])
    return make_world()


@pytest.fixture
def browser() -> Client:
    client = Client()
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


def url(model: type[Model], page: str, *args: object) -> str:
    return reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_{page}", args=args)


def rows() -> Iterator[tuple[type[Model], Model]]:
    for model in REGISTERED:
        for row in model._base_manager.all():
            yield model, row


def test_every_model_of_ours_is_registered() -> None:
    ours = {model for app in OURS for model in apps.get_app_config(app).get_models()}
    assert {model._meta.label for model in ours - set(REGISTERED)} == WITHOUT_PAGES


@LANGUAGES
def test_every_list_opens_with_a_row(language: str, world: World, browser: Client) -> None:
    shown = {}
    for model in REGISTERED:
        answer = browser.get(url(model, "changelist"), headers={"accept-language": language})
        shown[model._meta.label] = answer.status_code == 200 and answer.context["cl"].result_count > 0
    assert {label for label, has_rows in shown.items() if not has_rows} == set()


@LANGUAGES
def test_every_row_has_a_page_that_opens_and_speaks_in_words(
    language: str, world: World, browser: Client
) -> None:
    raw = re.compile(r"(?<!content-)[{\[(]&(?:#x27|quot);|<pre style=")  # not Tailwind's content-['']
    wrong = []
    for model, row in rows():
        answer = browser.get(url(model, "change", row.pk), headers={"accept-language": language})
        speaks = model._meta.app_label not in OURS or not raw.search(answer.content.decode())
        if answer.status_code != 200 or not speaks:
            wrong.append((model._meta.label, row.pk, answer.status_code))
    assert wrong == []


def test_no_page_shows_a_structure_as_it_is_stored(world: World, rf: RequestFactory) -> None:
    """Whoever looks: those who may change what they see, and those who may not."""
    watcher = make_user(is_staff=True)
    watcher.user_permissions.set(Permission.objects.filter(codename__startswith="view_"))
    shown = set()
    for user in (make_user(is_staff=True, is_superuser=True), watcher):
        request = rf.get("/")
        request.user = user
        for model, row in rows():
            page = admin.site._registry[model]
            names = set(flatten_fieldsets(page.get_fieldsets(request, row)))
            if page.has_change_permission(request, row):
                names &= set(page.get_readonly_fields(request, row))
            structures = {field.name for field in model._meta.fields if isinstance(field, JSONField)}
            shown |= {(model._meta.label, name) for name in names & structures}
    assert shown == set()


def test_what_may_be_added_has_a_form_and_nothing_else_has(browser: Client) -> None:
    expected = {model._meta.label: 200 if model._meta.label in WRITABLE else 403 for model in REGISTERED}
    assert {model._meta.label: browser.get(url(model, "add")).status_code for model in REGISTERED} == expected


def test_what_is_only_looked_at_is_neither_changed_nor_deleted(world: World, browser: Client) -> None:
    for model in REGISTERED:
        if model._meta.label in WRITABLE:
            continue
        row = model._base_manager.first()
        assert row is not None
        answers = [
            browser.post(url(model, "change", row.pk), {"_save": "1"}).status_code,
            browser.post(url(model, "delete", row.pk), {"post": "yes"}).status_code,
        ]
        assert (model._meta.label, answers) == (model._meta.label, [403, 403])
        assert model._base_manager.filter(pk=row.pk).exists()


def test_every_search_and_every_filter_opens(world: World, browser: Client) -> None:
    asked = 0
    for model in REGISTERED:
        page = url(model, "changelist")
        opened = browser.get(page, {"q": "区块 block"} if admin.site._registry[model].search_fields else {})
        for name, value in _choices(opened.context["cl"]):
            asked += 1
            answer = browser.get(page, {name: value})
            assert (model._meta.label, name, value, answer.status_code) == (
                model._meta.label,
                name,
                value,
                200,
            )
            assert "e=1" not in answer.request["QUERY_STRING"]
    assert asked > 100


def _choices(changelist: Any) -> Iterator[tuple[str, str]]:
    for spec in changelist.filter_specs:
        for choice in spec.choices(changelist):
            for name, field in choice["form"].fields.items() if "form" in choice else ():
                yield from ((name, str(value)) for value, _label in getattr(field, "choices", ()))


def test_a_longer_list_costs_no_more_queries(browser: Client) -> None:
    make_world("one")
    lists = [model for model in REGISTERED if model._meta.app_label in OURS]
    short = {model: _cost(browser, model) for model in lists}
    make_world("two")
    make_world("three")
    for model in lists:
        (few, before), (many, after) = short[model], _cost(browser, model)
        assert (model._meta.label, after) == (model._meta.label, before * 3)
        assert (model._meta.label, many) == (model._meta.label, few)
        assert (model._meta.label, many <= MOST_QUERIES) == (model._meta.label, True)


def _cost(browser: Client, model: type[Model]) -> tuple[int, int]:
    """Queries and rows of a list."""
    with CaptureQueriesContext(connection) as queries:
        answer = browser.get(url(model, "changelist"))
    return len(queries), answer.context["cl"].result_count


@LANGUAGES
def test_the_first_page_and_the_login_open(language: str, browser: Client) -> None:
    asked = {"accept-language": language}
    assert browser.get(reverse("admin:index"), headers=asked).status_code == 200
    assert Client().get(reverse("admin:login"), headers=asked).status_code == 200


def test_the_menu_names_only_what_one_may_see() -> None:
    stranger = Client()
    stranger.force_login(make_user(is_staff=True))
    page = stranger.get(reverse("admin:index"))
    menu = [item for group in page.context["sidebar_navigation"] for item in group["items"]]
    assert len(menu) == 22
    assert [item["title"] for item in menu if item["has_permission"]] == []
