"""Projects as resources."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from projects import roles, store
from projects.actors import SYSTEM
from projects.models import AuditEvent, Project
from projects.roles import Role
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django import DjangoAssertNumQueries
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]
SHOP = "/api/v1/projects/shop/"
DEFAULTS = {
    "description": "",
    "memory_enabled": True,
    "memory_switched_at": None,
    "review_policy": "important",
    "explicit_policy": "anyone",
    "max_items": 12,
    "max_tokens": 6000,
    "window_tokens": 40_000,
    "static_instructions": "",
    "guidance": "",
    "mask_chats": False,
    "debug_mode": False,
}


def without_times(body: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in body.items() if name not in ("created_at", "updated_at")}


def test_anyone_logged_in_creates_a_project_and_owns_it(api_as: Callable[..., APIClient]) -> None:
    ana = make_user("ana")
    answer = api_as(ana).put(SHOP, {"name": "网店"})
    assert answer.status_code == 201
    assert without_times(answer.json()) == {"slug": "shop", "name": "网店", "owner": "ana", **DEFAULTS}
    assert roles.role_of(ana, Project.objects.get()) == Role.OWNER
    assert AuditEvent.objects.get().action == "project.create"


def test_put_again_replaces_all_settings(api_as: Callable[..., APIClient]) -> None:
    project = make_project("shop", guidance="old", max_items=3, debug_mode=True)
    answer = api_as(project.owner).put(SHOP, {"name": "New", "max_tokens": 500})
    assert answer.status_code == 200
    expected = {"slug": "shop", "name": "New", "owner": project.owner.username, **DEFAULTS, "max_tokens": 500}
    assert without_times(answer.json()) == expected
    assert without_times(api_as(project.owner).get(SHOP).json()) == expected


def test_patch_changes_what_is_sent(api_as: Callable[..., APIClient]) -> None:
    project = make_project("shop", guidance="kept")
    body = api_as(project.owner).patch(SHOP, {"memory_enabled": False}).json()
    assert (body["memory_enabled"], body["guidance"]) == (False, "kept")
    project.refresh_from_db()
    assert project.memory_switched_by == project.owner
    assert body["memory_switched_at"] == project.memory_switched_at.isoformat().replace("+00:00", "Z")


@pytest.mark.parametrize(
    ("method", "body", "pointers"),
    [
        pytest.param("put", {}, ["/name"], id="name is required"),
        pytest.param("put", {"name": "  "}, ["/name"], id="blank name"),
        pytest.param("put", {"name": "n", "slug": "other"}, ["/slug"], id="the address is the slug"),
        pytest.param("patch", {"owner": "eve"}, ["/owner"], id="the owner is not patched"),
        pytest.param("patch", {"memory_version": "x"}, ["/memory_version"], id="internal"),
        pytest.param("patch", {"id": 1, "created_at": "x"}, ["/created_at", "/id"], id="answered only"),
        pytest.param("patch", {"max_items": 13, "max_tokens": 99}, ["/max_items", "/max_tokens"], id="range"),
        pytest.param("patch", {"mask_chats": "yes"}, ["/mask_chats"], id="type"),
        pytest.param("patch", {"guidance": "x" * 1001}, ["/guidance"], id="length"),
    ],
)
def test_a_body_that_is_wrong_changes_nothing(
    method: str, body: dict[str, Any], pointers: list[str], api_as: Callable[..., APIClient]
) -> None:
    project = make_project("shop")
    before = Project.objects.values().get()
    answer = getattr(api_as(project.owner), method)(SHOP, body)
    assert answer.status_code == 400
    assert sorted(error["pointer"] for error in answer.json()["errors"]) == pointers
    assert Project.objects.values().get() == before


@pytest.mark.parametrize("slug", ["Shop", "_shop", "a" * 61])
def test_a_slug_out_of_shape_is_refused(slug: str, api_as: Callable[..., APIClient]) -> None:
    answer = api_as(make_user()).put(f"/api/v1/projects/{slug}/", {"name": "n"})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")
    assert not Project.objects.exists()


def test_a_slug_of_others_is_not_created_again(api_as: Callable[..., APIClient]) -> None:
    make_project("shop", name="theirs")
    answer = api_as(make_user()).put(SHOP, {"name": "mine"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert Project.objects.get().name == "theirs"


@pytest.mark.parametrize("is_member", [True, False])
def test_who_comes_second_finds_the_project_of_who_came_first(
    is_member: bool, api_as: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, other = make_user("ana"), make_user("other")
    create = store.create_project

    def too_late(**fields: Any) -> Project:
        create(name="first", slug="shop", owner=ana if is_member else other, by=SYSTEM)
        return create(**fields)

    monkeypatch.setattr(store, "create_project", too_late)
    answer = api_as(ana).put(SHOP, {"name": "second"})
    assert answer.status_code == (200 if is_member else 404)
    assert Project.objects.get().name == ("second" if is_member else "first")


def test_a_project_key_creates_nothing(api: Callable[..., APIClient]) -> None:
    _key, plain = make_key(make_project())
    answer = api(plain).put(SHOP, {"name": "n"})
    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    answer = api(make_key(None, ["turns"])[1]).put(SHOP, {"name": "n"})
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert Project.objects.count() == 1


@pytest.mark.parametrize(
    ("owner", "status", "owned_by"),
    [
        pytest.param(None, 201, "creator of the key", id="nobody named"),
        pytest.param("ana", 201, "ana", id="a user"),
        pytest.param("nobody", 400, None, id="no such user"),
        pytest.param("gone", 400, None, id="a user who cannot log in"),
    ],
)
def test_a_platform_key_creates_projects_for_people(
    owner: str | None, status: int, owned_by: str | None, api: Callable[..., APIClient]
) -> None:
    make_user("ana")
    make_user("gone", is_active=False)
    key, plain = make_key(None, ["projects"])
    answer = api(plain).put(SHOP, {"name": "n"} | ({"owner": owner} if owner else {}))
    assert answer.status_code == status
    if owned_by is None:
        assert answer.json()["errors"][0]["pointer"] == "/owner"
        assert not Project.objects.exists()
    else:
        expected = key.created_by.username if owned_by == "creator of the key" else owned_by
        assert Project.objects.get().owner.username == answer.json()["owner"] == expected


def test_a_platform_key_whose_maker_is_gone_must_name_the_owner(api: Callable[..., APIClient]) -> None:
    key, plain = make_key(None, ["projects"])
    key.created_by.delete()
    answer = api(plain).put(SHOP, {"name": "n"})
    assert (answer.status_code, answer.json()["errors"][0]["code"]) == (400, "required")
    assert not Project.objects.exists()


def test_only_superadmins_create_for_others(api_as: Callable[..., APIClient]) -> None:
    make_user("ana")
    answer = api_as(make_user("eve")).put(SHOP, {"name": "n", "owner": "ana"})
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert not Project.objects.exists()
    assert (
        api_as(make_user("eva")).put("/api/v1/projects/own/", {"name": "n", "owner": "eva"}).status_code
        == 201
    )
    admin = make_user(groups=["superadmins"])
    assert api_as(admin).put(SHOP, {"name": "n", "owner": "ana"}).json()["owner"] == "ana"


def test_a_project_is_not_handed_on_by_put(api_as: Callable[..., APIClient]) -> None:
    member = make_user("li")
    project = make_project("shop", name="old", members=[member])
    answer = api_as(project.owner).put(SHOP, {"name": "new", "owner": "li"})
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/owner")
    project.refresh_from_db()
    assert (project.name, project.owner == member) == ("old", False)
    assert (
        api_as(project.owner).put(SHOP, {"name": "new", "owner": project.owner.username}).status_code == 200
    )


def test_a_deleted_project_is_gone(api_as: Callable[..., APIClient]) -> None:
    project = make_project("shop")
    client = api_as(project.owner)
    answer = client.delete(SHOP)
    assert (answer.status_code, answer.content) == (204, b"")
    assert client.get(SHOP).status_code == client.delete(SHOP).status_code == 404


@pytest.mark.parametrize(
    ("caller", "seen"),
    [
        pytest.param("owner", ["a", "b"], id="owner of one, member of another"),
        pytest.param("stranger", [], id="stranger"),
        pytest.param("operator", [], id="operator"),
        pytest.param("superadmin", ["a", "b", "c"], id="superadmin"),
        pytest.param("key", ["a"], id="project key"),
        pytest.param("platform key", ["a", "b", "c"], id="platform key"),
    ],
)
def test_the_list_shows_what_the_caller_may_see(
    caller: str, seen: list[str], api: Callable[..., APIClient], api_as: Callable[..., APIClient]
) -> None:
    ana = make_user()
    a = make_project("a", owner=ana)
    make_project("b", members=[ana])
    make_project("c")
    match caller:
        case "owner":
            client = api_as(ana)
        case "key":
            client = api(make_key(a, ["recall"])[1])
        case "platform key":
            client = api(make_key(None)[1])
        case "stranger":
            client = api_as(make_user())
        case _:
            client = api_as(make_user(groups=[f"{caller}s"], is_staff=True))
    body = client.get("/api/v1/projects/").json()
    assert [project["slug"] for project in body["results"]] == seen
    assert body["next"] is None


def test_a_platform_key_lists_projects_by_scope(api: Callable[..., APIClient]) -> None:
    answer = api(make_key(None, ["turns"])[1]).get("/api/v1/projects/")
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")
    assert answer.json()["scopes"] == ["projects"]


def test_the_list_is_one_query_however_many_there_are(
    api_as: Callable[..., APIClient], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    ana = make_user()
    for number in range(3):
        make_project(f"p{number}", owner=ana, members=[make_user()])
    client = api_as(ana)
    with django_assert_num_queries(3):  # session, user, projects
        assert len(client.get("/api/v1/projects/").json()["results"]) == 3


@pytest.mark.parametrize("path", ["/api/v1/projects/?q=x", f"{SHOP}?x=1", "/api/v1/me/?x=1"])
def test_parameters_that_nobody_reads_are_refused(path: str, api_as: Callable[..., APIClient]) -> None:
    answer = api_as(make_project("shop").owner).get(path)
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_parameter")
