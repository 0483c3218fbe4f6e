"""Which caller reaches which project, and that who is refused changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from projects.models import AuditEvent, Project
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django import DjangoAssertNumQueries
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.projects.urls")]

CALLERS = [
    pytest.param("anonymous", 401, "key_invalid", id="anonymous"),
    pytest.param("stranger", 404, "not_found", id="stranger"),
    pytest.param("collaborator", 200, None, id="collaborator"),
    pytest.param("owner", 200, None, id="owner"),
    pytest.param("own key", 200, None, id="own key"),
    pytest.param("own key without scope", 403, "scope_missing", id="own key without scope"),
    pytest.param("other project's key", 404, "not_found", id="other project's key"),
    pytest.param("platform key", 200, None, id="platform key"),
    pytest.param("platform key without scope", 403, "scope_missing", id="platform key without scope"),
    pytest.param("operator", 404, "not_found", id="operator"),
    pytest.param("auditor", 404, "not_found", id="auditor"),
    pytest.param("superadmin", 200, None, id="superadmin"),
]


@pytest.fixture
def client_of(api: Callable[..., APIClient], api_as: Callable[..., APIClient]) -> Callable[[str], APIClient]:
    def client(caller: str) -> APIClient:
        project = Project.objects.get(slug="shop")
        match caller:
            case "anonymous":
                return api()
            case "owner":
                return api_as(project.owner)
            case "collaborator":
                return api_as(project.grants.exclude(user=project.owner)[0].user)
            case "own key":
                return api(make_key(project)[1])
            case "own key without scope":
                return api(make_key(project, ["turns"])[1])
            case "other project's key":
                return api(make_key(make_project())[1])
            case "platform key":
                return api(make_key(None)[1])
            case "platform key without scope":
                return api(make_key(None, ["turns"])[1])
            case "operator" | "auditor" | "superadmin":
                return api_as(make_user(groups=[f"{caller}s"], is_staff=True))
        return api_as(make_user())

    return client


@pytest.mark.parametrize(("caller", "status", "code"), CALLERS)
def test_callers_of_a_project(
    caller: str, status: int, code: str | None, client_of: Callable[[str], APIClient]
) -> None:
    project = make_project("shop", members=[make_user()])
    client = client_of(caller)
    events = AuditEvent.objects.count()
    answer = client.post("/api/v1/probes/access/shop/")
    assert (answer.status_code, answer.json().get("code")) == (status, code)
    project.refresh_from_db()
    assert project.description == ("touched" if status == 200 else "")
    assert AuditEvent.objects.count() == events + (status == 200)


@pytest.mark.parametrize("caller", ["own key", "platform key"])
def test_what_only_people_may_do_no_key_does(caller: str, client_of: Callable[[str], APIClient]) -> None:
    project = make_project("shop")
    answer = client_of(caller).post("/api/v1/probes/people/shop/")
    assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    project.refresh_from_db()
    assert project.description == ""


@pytest.mark.parametrize(
    ("caller", "status"),
    [
        pytest.param("collaborator", 403, id="collaborator lacks the right"),
        pytest.param("stranger", 404, id="stranger"),
        pytest.param("owner", 200, id="owner"),
        pytest.param("own key", 200, id="own key"),
        pytest.param("own key without scope", 200, id="one of two scopes is enough"),
        pytest.param("other project's key", 404, id="other project's key"),
        pytest.param("platform key", 200, id="platform key"),
        pytest.param("operator", 404, id="operator"),
    ],
)
def test_a_row_named_by_its_id_is_reached_through_its_project(
    caller: str, status: int, client_of: Callable[[str], APIClient]
) -> None:
    row, _plain = make_key(make_project("shop", members=[make_user()]))
    answer = client_of(caller).get(f"/api/v1/probes/rows/{row.pk}/")
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "role_missing"


def test_what_is_hidden_looks_like_what_does_not_exist(client_of: Callable[[str], APIClient]) -> None:
    row, _plain = make_key(make_project("shop"))
    for caller in ("stranger", "other project's key", "operator"):
        client = client_of(caller)
        bodies = []
        for path in (f"/api/v1/probes/rows/{row.pk}/", "/api/v1/probes/rows/999999/"):
            body = client.get(path).json()
            del body["request_id"]
            bodies.append(body)
        assert bodies[0] == bodies[1]


def test_the_keys_own_project_costs_no_query(
    api: Callable[..., APIClient], django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    project = make_project("shop")
    row, plain = make_key(project)
    api(plain).get("/api/v1/me/")  # notes the use
    with django_assert_num_queries(1):
        assert api(plain).get("/api/v1/projects/shop/").status_code == 200
    with django_assert_num_queries(2):
        assert api(plain).get(f"/api/v1/probes/rows/{row.pk}/").status_code == 200


def test_an_address_has_one_spelling(client_of: Callable[[str], APIClient]) -> None:
    make_project("shop", members=[make_user()])
    for caller in ("owner", "own key", "platform key", "superadmin"):
        assert client_of(caller).post("/api/v1/probes/access/Shop/").status_code == 404


def test_the_actor_is_the_caller(client_of: Callable[[str], APIClient]) -> None:
    project = make_project("shop")
    client_of("owner").post("/api/v1/probes/access/shop/", headers={"X-Request-ID": "r-7"})
    event = AuditEvent.objects.latest("id")
    assert (event.actor_kind, event.user_id, event.transport) == ("user", project.owner_id, "api")
    assert event.request_id == "r-7"

    Project.objects.update(description="")
    client_of("own key").post("/api/v1/probes/access/shop/")
    event = AuditEvent.objects.latest("id")
    assert (event.actor_kind, event.user_id, event.actor_name) == ("key", None, "agent")
    assert event.key_prefix == project.api_keys.get().prefix
