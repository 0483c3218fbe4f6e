"""The front door: what each person meets at `/`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import User
from django.urls import reverse

from chats import views
from memories import store as memory_store
from memories.models import Source
from projects.actors import Actor
from tests.factories import make_memory, make_project, make_user

if TYPE_CHECKING:
    from django.test import Client
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db
PASSWORD = "a long pass phrase"


@pytest.fixture
def tom() -> User:
    return make_user("tom", password=PASSWORD)


def words_of(client: Client, path: str = "/", language: str = "en") -> str:
    answer = client.get(path, headers={"Accept-Language": language})
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


@pytest.mark.parametrize(
    ("language", "says", "log_in"),
    [
        ("en", "with people in charge of it", "Log in"),
        ("zh-hans", "由人掌管", "登录"),
    ],
)
def test_a_stranger_is_told_what_this_is_and_how_to_log_in(
    client: Client, language: str, says: str, log_in: str
) -> None:
    words = words_of(client, language=language)
    assert says in words
    assert f'<a class="btn btn-main" href="/login/">{log_in}</a>' in words


def test_a_collaborator_logs_in_by_the_form_and_lands_on_their_projects(client: Client, tom: User) -> None:
    make_project("shop", name="Storefront", members=[tom])
    make_project("secret", name="Somebody else's")
    answer = client.post("/login/", {"username": "tom", "password": PASSWORD}, follow=True)
    assert answer.redirect_chain == [("/", 302)]
    words = answer.content.decode()
    assert "Storefront" in words
    assert "shop · collaborator" in words
    assert "Somebody else" not in words
    assert reverse("admin:index") not in words, "a link that would turn them away"


def test_a_wrong_password_is_said_and_nothing_about_staff(client: Client, tom: User) -> None:
    answer = client.post("/login/", {"username": "tom", "password": "wrong"})
    assert answer.status_code == 200
    assert b'role="alert">Please enter a correct username and password.' in answer.content
    assert b"staff" not in answer.content


def test_logging_out_ends_at_the_front_door(client: Client, tom: User) -> None:
    client.force_login(tom, backend="django.contrib.auth.backends.ModelBackend")
    assert client.post("/logout/").headers["Location"] == "/"
    assert "Log in" in words_of(client)


def test_projects_come_with_their_counts(client: Client) -> None:
    mei = make_user("mei")
    shop = make_project("shop", owner=mei)
    make_project("blog", owner=mei, memory_enabled=False)
    make_memory(shop, "Prices carry a currency sign.")
    make_memory(shop, "Images are stored as webp.")
    memory_store.propose(
        project=shop,
        draft=memory_store.Draft(type="fact", content="The queue listens on port 5433."),
        source=Source.AGENT,
        by=Actor.for_user(mei, transport="api"),
    )
    client.force_login(mei, backend="django.contrib.auth.backends.ModelBackend")
    words = words_of(client)
    blog_card, shop_card = words.split("<section")[1:3]
    assert "2 memories in force" in shop_card
    assert "1 waits for review" in shop_card
    assert "0 topics" in shop_card
    assert "switched off" not in shop_card
    assert "blog · owner" in blog_card
    assert "0 memories in force" in blog_card
    assert "wait for review" not in blog_card
    assert "Memory is switched off" in blog_card
    chinese = words_of(client, language="zh-hans")
    assert "2 条记忆生效中" in chinese
    assert "1 条待审" in chinese


def test_someone_without_a_project_is_told_how_to_get_one(client: Client, tom: User) -> None:
    client.force_login(tom, backend="django.contrib.auth.backends.ModelBackend")
    assert "No project yet" in words_of(client)


def test_staff_find_the_admin(client: Client) -> None:
    staff = make_user("ops", is_staff=True, groups=["operators"])
    client.force_login(staff, backend="django.contrib.auth.backends.ModelBackend")
    assert f'href="{reverse("admin:index")}"' in words_of(client)


def test_more_projects_cost_no_more_queries(
    client: Client, tom: User, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for _ in range(3):
        make_memory(make_project(members=[tom]))
    client.force_login(tom, backend="django.contrib.auth.backends.ModelBackend")
    words_of(client)
    # Session, user; number of projects, projects; three counts; is this a superadmin?
    with django_assert_num_queries(8):
        words_of(client)


def test_many_projects_stand_on_several_pages(
    client: Client, tom: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(views, "PROJECTS_A_PAGE", 2)
    for name in ("anna", "bert", "carl"):
        make_project(name, members=[tom])
    client.force_login(tom, backend="django.contrib.auth.backends.ModelBackend")
    first, second = words_of(client), words_of(client, "/?page=2")
    assert ("bert" in first, "carl" in first, "carl" in second) == (True, False, True)
    assert 'rel="next" href="?page=2"' in first
    assert 'rel="prev" href="?page=1"' in second


@pytest.mark.parametrize(
    ("language", "says"), [("en", "may not use the admin"), ("zh-hans", "不能使用管理后台")]
)
def test_a_member_whom_the_admin_turns_away_is_told_so(
    client: Client, tom: User, language: str, says: str
) -> None:
    client.force_login(tom, backend="django.contrib.auth.backends.ModelBackend")
    answer = client.get("/admin/", headers={"Accept-Language": language}, follow=True)
    words = answer.content.decode()
    assert says in words
    assert 'href="/"' in words


def test_an_address_that_leads_nowhere_shows_the_way_back(client: Client, tom: User) -> None:
    answer = client.get("/nowhere/")
    assert answer.status_code == 404
    assert 'href="/login/"' in answer.content.decode()
    client.force_login(tom, backend="django.contrib.auth.backends.ModelBackend")
    assert "Your projects" in client.get("/nowhere/").content.decode()
