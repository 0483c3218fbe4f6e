"""Who may do what, and what each person sees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from projects import roles
from projects.models import AppendOnly, AuditEvent, Project, ProjectGrant
from projects.roles import Permission, Role
from tests.factories import make_project, make_user

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from pytest_django import DjangoAssertNumQueries

pytestmark = pytest.mark.django_db

ALL = {"view_project", "curate_memories", "use_turns", "administer_project"}
COLLABORATORS = {"view_project", "curate_memories", "use_turns"}

PEOPLE = {
    "owner": (Role.OWNER, ALL),
    "collaborator": (Role.COLLABORATOR, COLLABORATORS),
    "stranger": (None, set()),
    "owner of another project": (None, set()),
    "inactive collaborator": (None, set()),
    "operator": (None, set()),
    "auditor": (None, set()),
    "staff": (None, set()),
    "superuser": (Role.SUPERADMIN, ALL),
    "superadmin": (Role.SUPERADMIN, ALL),
    "inactive superuser": (None, set()),
}


def person(who: str, project: Project) -> User:
    match who:
        case "owner":
            return project.owner
        case "collaborator" | "inactive collaborator":
            user = make_user()
            roles.grant(project, user, Role.COLLABORATOR, granted_by=None)
            user.is_active = not who.startswith("inactive")
            user.save()
            return user
        case "owner of another project":
            return make_project().owner
        case "operator" | "auditor" | "superadmin":
            return make_user(groups=[f"{who}s"], is_staff=True)
        case "staff":
            return make_user(is_staff=True)
        case "superuser" | "inactive superuser":
            return make_user(is_superuser=True, is_active=who == "superuser")
    return make_user()


@pytest.mark.parametrize("who", PEOPLE)
def test_each_role_has_exactly_its_rights(who: str) -> None:
    project = make_project()
    user = person(who, project)
    role, rights = PEOPLE[who]
    assert roles.role_of(user, project) == role
    assert {permission.value for permission in Permission if roles.can(user, permission, project)} == rights


@pytest.mark.parametrize("who", PEOPLE)
def test_people_see_the_projects_that_they_have_a_role_in_with_one_query(
    who: str, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    project, other = make_project("a-project"), make_project("b-project")
    user = person(who, project)
    role, _rights = PEOPLE[who]
    expected = {None: [], Role.SUPERADMIN: ["a-project", "b-project"]}.get(role, ["a-project"])
    with django_assert_num_queries(0 if not user.is_active else 1):
        seen = list(Project.objects.visible_to(user).filter(pk__in=[project.pk, other.pk]))
    assert [project.slug for project in seen] == expected


def test_a_grant_of_something_else_does_not_make_a_project_visible() -> None:
    project, user = make_project(), make_user()
    roles.grant(project, user, Role.COLLABORATOR, granted_by=None)
    ProjectGrant.objects.filter(user=user, permission__codename="view_project").delete()
    assert not Project.objects.visible_to(user).exists()
    assert roles.role_of(user, project) is None


def test_object_permissions_agree_with_the_matrix() -> None:
    member = make_user()
    project = make_project(members=[member])
    for user, rights in ((project.owner, ALL), (member, COLLABORATORS), (make_user(), set())):
        assert {name for name in ALL if user.has_perm(f"projects.{name}", project)} == rights


def test_the_groups_of_the_staff_can_look() -> None:
    def rights(group: str) -> set[str]:
        user = make_user(groups=[group])
        return {permission for permission in user.get_all_permissions() if permission.startswith("projects.")}

    assert rights("operators") == {"projects.view_project", "projects.view_apikey"}
    assert rights("auditors") == {"projects.view_project", "projects.view_auditevent"}
    assert rights("superadmins") == {
        "projects.view_project",
        "projects.view_projectgrant",
        "projects.view_apikey",
        "projects.view_auditevent",
    }


def test_an_audit_event_is_never_changed_or_deleted() -> None:
    make_project()
    event = AuditEvent.objects.get()
    for call in (event.save, event.delete):
        with pytest.raises(AppendOnly):
            call()
    for query in (
        lambda: AuditEvent.objects.update(reason="x"),
        lambda: AuditEvent.objects.filter(pk=event.pk).update(reason="x"),
        lambda: AuditEvent.objects.all().delete(),
    ):
        with pytest.raises(TypeError):
            query()
    event.refresh_from_db()
    assert event.reason == ""
