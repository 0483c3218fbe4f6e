"""Owners, members and projects that change while others write."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories.models import Memory
from projects import roles, store
from projects.actors import Actor
from projects.models import AuditEvent, Project
from projects.roles import Role
from tests.factories import make_project, make_user
from tests.races.crowd import THREADS, Callers, at_once, rounds, told
from tests.races.invariants import Rounds, assert_whole

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

pytestmark = pytest.mark.django_db(transaction=True)
REST = THREADS - 1
PATH = "/api/v1/projects/shop/memories/"


def test_an_owner_who_hands_on_and_is_removed_while_they_write_ends_up_outside(
    api_as: Callable[..., APIClient],
) -> None:
    for number in rounds():
        slug = f"shop-{number}"
        first, second = make_user(), make_user()
        project = make_project(slug, owner=first, members=[second])
        clients = [api_as(first) for _ in range(THREADS)]
        watched = Rounds(project)

        def hand_on_and_remove(project: Project = project, first: Any = first, second: Any = second) -> None:
            store.transfer(project=project, to=second, by=Actor.for_user(first, transport="web"))
            store.remove_member(project=project, user=first, by=Actor.for_user(second, transport="web"))

        def write(place: int, slug: str = slug, clients: Any = clients) -> Any:
            body = {"type": "fact", "content": f"Server {place} has port {place}."}
            return clients[place].post(f"/api/v1/projects/{slug}/memories/", body)

        done = at_once(*(lambda place=place: write(place) for place in range(REST)), hand_on_and_remove)
        assert done[-1] is None
        kinds = told(done[:-1])
        assert set(kinds) <= {(201, ""), (404, "not_found")}
        assert Memory.objects.of(project).count() == kinds.get((201, ""), 0), "404 wrote nothing"
        assert write(0).status_code == 404, "from now on they are a stranger"
        assert roles.role_of(first, Project.objects.get(pk=project.pk)) is None
        watched.look()


def test_a_project_handed_to_many_at_once_has_one_owner(project: Project, watched: Rounds) -> None:
    members = [make_user() for _ in range(8)]
    by = Actor.for_user(project.owner, transport="web")
    for member in members:
        store.add_member(project=project, user=member, by=by)

    def hand_on(place: int) -> Any:
        return store.transfer(project=project, to=members[place % 8], by=by)

    def remove(place: int) -> Any:
        return store.remove_member(project=project, user=members[place % 8], by=by)

    for _ in rounds():
        acts = [hand_on if place < 8 else remove for place in range(THREADS)]
        done = at_once(*(lambda act=act, place=place: act(place) for place, act in enumerate(acts)))
        refused = [one for one in done if isinstance(one, Exception)]
        assert {type(one) for one in refused} <= {store.NotAMember, store.OwnerMustTransfer}
        watched.look()
        now = Project.objects.get(pk=project.pk)
        for member in members:
            if member.pk != now.owner_id and not store.is_member(project, member):
                store.add_member(project=project, user=member, by=by)


def test_a_member_added_and_removed_at_once_has_all_rights_or_none(project: Project, watched: Rounds) -> None:
    by = Actor.for_user(project.owner, transport="web")
    for _ in rounds():
        member = make_user()

        def act(place: int, member: Any = member) -> None:
            verb = store.remove_member if place % 2 else store.add_member
            verb(project=project, user=member, by=by)

        done = at_once(*(lambda place=place: act(place) for place in range(THREADS)))
        refused = [one for one in done if one is not None]
        assert {type(one) for one in refused} <= {store.NotAMember, store.AlreadyMember}
        added, removed = (
            AuditEvent.objects.filter(action=action, target_id=member.pk, target_type="user").count()
            for action in ("member.add", "member.remove")
        )
        assert roles.role_of(member, project) == (Role.COLLABORATOR if added > removed else None)
        assert added + removed == THREADS - len(refused)
        watched.look()


def test_a_project_put_at_once_is_created_once(api_as: Callable[..., APIClient]) -> None:
    user, other = make_user(), make_user()
    for number in rounds():
        clients = [api_as(other if place % 4 == 3 else user) for place in range(THREADS)]

        def put(place: int, number: int = number, clients: Any = clients) -> Any:
            return clients[place].put(f"/api/v1/projects/new-{number}/", {"name": f"New {number}"})

        answers = at_once(*(lambda place=place: put(place) for place in range(THREADS)))
        kinds = told(answers)
        project = Project.objects.get(slug=f"new-{number}")
        theirs = 12 if project.owner == user else 4
        assert kinds == {(201, ""): 1, (200, ""): theirs - 1, (404, "not_found"): THREADS - theirs}
        assert AuditEvent.objects.filter(action="project.create", project_id=project.pk).count() == 1
        assert_whole(project)


def test_a_key_is_revoked_once_and_for_all(callers: Callers, project: Project, watched: Rounds) -> None:
    key = project.api_keys.get()
    by = Actor.for_user(project.owner, transport="web")

    def act(place: int) -> Any:
        if place % 2:
            return store.revoke_key(key=key, by=by)
        return callers.agents[place].send("Build it.", topic=f"conv-{place}", ref="r")

    done = at_once(*(lambda place=place: act(place) for place in range(THREADS)))
    assert set(told(done[::2])) <= {(201, ""), (401, "key_invalid")}
    assert not [one for one in done[1::2] if isinstance(one, Exception)]
    assert AuditEvent.objects.filter(action="key.revoke").count() == 1
    assert callers.agents[0].send("Build it.").status_code == 401
    watched.look()
