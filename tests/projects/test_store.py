"""Projects, members and keys: what each write does, and that its audit event shares its fate."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest
from django.core.exceptions import ValidationError
from django.db import connection

from chats.models import Chat, Topic
from memories.models import Memory
from projects import audit, keys, roles, store
from projects.actors import Actor
from projects.models import ApiKey, AuditEvent, IdempotencyRecord, Project, ProjectGrant, Scope
from projects.roles import Permission, Role
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User

pytestmark = pytest.mark.django_db


def web(user: User) -> Actor:
    return Actor.for_user(user, transport="web", request_id="r-1")


def last_event() -> dict[str, Any]:
    event = AuditEvent.objects.order_by("id").last()
    assert event is not None
    return {
        "action": event.action,
        "user": event.user_id,
        "project": event.project_slug,
        "target": event.target_key,
        "reason": event.reason,
        "request": event.request_id,
    }


def test_a_new_project_has_its_owner_with_every_right_and_one_audit_event() -> None:
    owner = make_user("ana")
    project = store.create_project(name="网店", slug="shop", owner=owner, by=web(owner), max_items=5)

    assert (project.slug, project.name, project.max_items) == ("shop", "网店", 5)
    assert roles.role_of(owner, project) == Role.OWNER
    assert set(ProjectGrant.objects.values_list("permission__codename", "granted_by")) == {
        (permission.value, owner.pk) for permission in Permission
    }
    assert AuditEvent.objects.count() == 1
    assert last_event() == {
        "action": "project.create",
        "user": owner.pk,
        "project": "shop",
        "target": "ana",
        "reason": "",
        "request": "r-1",
    }


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        pytest.param("My Shop", r"my-shop", id="latin name"),
        pytest.param("网店", r"project-[0-9a-f]{8}", id="no latin letter"),
        pytest.param("Taken", r"taken-[0-9a-f]{8}", id="name of another project"),
        pytest.param("x" * 90, r"x{50}", id="long name"),
    ],
)
def test_a_slug_is_derived_from_the_name(name: str, slug: str) -> None:
    owner = make_user()
    make_project("taken")
    derived = store.create_project(name=name[:120], owner=owner, by=web(owner)).slug
    assert re.fullmatch(slug, derived)


@pytest.mark.parametrize("slug", ["Shop", "-shop", "sh op", "a" * 61, "店"])
def test_a_slug_out_of_shape_is_refused_and_nothing_is_written(slug: str) -> None:
    owner = make_user()
    with pytest.raises(store.InvalidSlug):
        store.create_project(name="n", slug=slug, owner=owner, by=web(owner))
    assert (Project.objects.count(), AuditEvent.objects.count()) == (0, 0)


def test_a_slug_is_given_once() -> None:
    make_project("shop")
    before = AuditEvent.objects.count()
    owner = make_user()
    with pytest.raises(store.SlugTaken):
        store.create_project(name="n", slug="shop", owner=owner, by=web(owner))
    assert (Project.objects.count(), AuditEvent.objects.count()) == (1, before)


def test_settings_that_no_project_has_are_a_mistake_of_the_programmer() -> None:
    project = make_project()
    with pytest.raises(TypeError, match="memory_version"):
        store.update_project(project=project, changes={"memory_version": "x"}, by=web(project.owner))


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"name": ""}, id="no name"),
        pytest.param({"max_items": 13}, id="too many items"),
        pytest.param({"review_policy": "maybe"}, id="no such policy"),
        pytest.param({"description": "x" * 2001}, id="long description"),
        pytest.param({"static_instructions": "x" * 40_001}, id="long instructions"),
    ],
)
def test_settings_out_of_range_are_refused_whoever_calls(changes: dict[str, Any]) -> None:
    project = make_project()
    before = AuditEvent.objects.count()
    with pytest.raises(ValidationError) as caught:
        store.update_project(project=project, changes=changes, by=web(project.owner))
    assert set(caught.value.message_dict) == set(changes)
    assert AuditEvent.objects.count() == before


def test_the_switch_of_memory_notes_who_and_when_and_is_audited_apart() -> None:
    project = make_project()
    member = make_user("li")
    changed = store.update_project(
        project=project, changes={"memory_enabled": False, "name": "new", "guidance": "g"}, by=web(member)
    )
    project.refresh_from_db()
    assert (project.memory_enabled, project.memory_switched_by, project.name) == (False, member, "new")
    assert project.memory_switched_at == changed.memory_switched_at is not None
    told = AuditEvent.objects.order_by("id").values_list("action", "reason")
    assert list(told)[-2:] == [("project.disable_memory", ""), ("project.edit", "guidance, name")]


def test_setting_what_is_already_so_writes_nothing() -> None:
    project = make_project()
    before = (AuditEvent.objects.count(), project.updated_at)
    store.update_project(project=project, changes={"memory_enabled": True}, by=web(project.owner))
    project.refresh_from_db()
    assert (AuditEvent.objects.count(), project.updated_at) == before
    assert project.memory_switched_at is None


def test_members_come_change_and_go() -> None:
    project = make_project("shop")
    member, by = make_user("li"), web(project.owner)

    store.add_member(project=project, user=member, by=by)
    assert roles.role_of(member, project) == Role.COLLABORATOR
    assert last_event()["action"] == "member.add"
    assert last_event()["target"] == "li"
    with pytest.raises(store.AlreadyMember):
        store.add_member(project=project, user=member, by=by)

    ProjectGrant.objects.filter(user=member, permission__codename=Permission.CURATE).delete()
    store.change_member(project=project, user=member, role=Role.COLLABORATOR, by=by)
    assert ProjectGrant.objects.filter(user=member).count() == 3

    store.remove_member(project=project, user=member, by=by)
    assert roles.role_of(member, project) is None
    assert last_event()["action"] == "member.remove"
    for call in (store.remove_member, store.change_member):
        more = {"role": Role.COLLABORATOR} if call is store.change_member else {}
        with pytest.raises(store.NotAMember):
            call(project=project, user=member, by=by, **more)


@pytest.mark.parametrize("role", [Role.OWNER, Role.SUPERADMIN])
def test_no_one_becomes_owner_or_superadmin_as_a_member(role: Role) -> None:
    member = make_user()
    project = make_project(members=[member])
    for user, call in ((make_user(), store.add_member), (member, store.change_member)):
        with pytest.raises(store.RoleNotAssignable):
            call(project=project, user=user, role=role, by=web(project.owner))
    assert roles.role_of(member, project) == Role.COLLABORATOR


def test_who_cannot_log_in_gets_no_role() -> None:
    project = make_project()
    with pytest.raises(store.InactiveUser):
        store.add_member(project=project, user=make_user(is_active=False), by=web(project.owner))
    assert roles.members(project).count() == 1


def test_a_member_leaves_but_the_owner_must_transfer_first() -> None:
    member = make_user("li")
    project = make_project("shop", members=[member])
    owner = project.owner
    for call in (
        lambda: store.leave(project=project, by=web(owner)),
        lambda: store.remove_member(project=project, user=owner, by=web(owner)),
        lambda: store.change_member(project=project, user=owner, role=Role.COLLABORATOR, by=web(owner)),
    ):
        with pytest.raises(store.OwnerMustTransfer):
            call()
    assert roles.role_of(owner, project) == Role.OWNER

    project = store.transfer(project=project, to=member, by=web(owner))
    assert (roles.role_of(member, project), roles.role_of(owner, project)) == (Role.OWNER, Role.COLLABORATOR)
    assert not owner.has_perm("projects.administer_project", project)
    assert last_event()["action"] == "project.transfer"

    store.leave(project=project, by=web(owner))
    assert roles.role_of(owner, project) is None
    assert last_event()["action"] == "member.leave"


def test_a_project_is_handed_to_members_only() -> None:
    project = make_project()
    with pytest.raises(store.NotAMember):
        store.transfer(project=project, to=make_user(), by=web(project.owner))


def test_a_key_is_shown_once_and_stored_nowhere() -> None:
    project = make_project("shop")
    key, plain = store.issue_key(
        project=project, name="agent", scopes=["turns", "recall"], by=web(project.owner)
    )
    assert re.fullmatch(r"cairn_[0-9a-f]{12}_[0-9a-f]{48}", plain)
    assert plain.split("_")[1] == key.prefix
    assert key.digest == keys.digest_of(plain)
    assert key.scopes == ["turns", "recall"]
    assert last_event() | {"user": None} == {
        "action": "key.issue",
        "user": None,
        "project": "shop",
        "target": key.prefix,
        "reason": "turns, recall",
        "request": "r-1",
    }
    secret = plain.rsplit("_", 1)[1]
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names():
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608
            assert all(secret not in str(row) for row in cursor.fetchall()), table


def test_a_platform_key_is_made_by_superadmins_alone() -> None:
    project = make_project()
    key, _plain = make_key(None)
    refused = [web(project.owner), web(make_user(is_staff=True)), Actor.for_key(key)]
    for by in refused:
        with pytest.raises(store.PlatformKeyRefused):
            store.issue_key(project=None, name="k", scopes=["turns"], by=by)
    assert list(ApiKey.objects.all()) == [key]
    for admin in (make_user(is_superuser=True), make_user(groups=["superadmins"])):
        assert store.issue_key(project=None, name="k", scopes=["projects"], by=web(admin))[0].project is None


@pytest.mark.parametrize("scopes", [["everything"], ["turns", "projects"]])
def test_a_scope_that_means_nothing_on_the_key_is_refused(scopes: list[str]) -> None:
    project = make_project()
    with pytest.raises(store.UnknownScope):
        store.issue_key(project=project, name="k", scopes=scopes, by=web(project.owner))
    assert ApiKey.objects.count() == 0


def test_a_key_is_revoked_once() -> None:
    project = make_project()
    key, _plain = make_key(project)
    assert key.is_usable
    revoked = store.revoke_key(key=key, by=web(project.owner))
    assert not revoked.is_usable
    assert last_event()["action"] == "key.revoke"
    before, at = AuditEvent.objects.count(), revoked.revoked_at
    assert store.revoke_key(key=key, by=web(project.owner)).revoked_at == at
    assert AuditEvent.objects.count() == before


def test_a_deleted_project_leaves_no_row_but_audit() -> None:
    kept = make_project("kept")
    make_key(kept)
    tables = {table: count(table) for table in connection.introspection.table_names()}

    project = make_project("gone", owner=kept.owner, members=[make_user()])
    key, _plain = make_key(project)
    IdempotencyRecord.objects.create(caller=f"key:{key.pk}", key="k", fingerprint="f")
    topic = Topic.objects.create(project=project, ref="t")
    chat = Chat.objects.create(project=project, topic=topic, seq=1, message="m")
    memory = Memory.objects.create(
        project=project,
        type="fact",
        key="k",
        content="c",
        source="manual",
        authority="person",
        status="active",
        content_hash="h",
        tokens=1,
        guard_version=1,
        source_topic=topic,
        source_chat=chat,
    )
    history = type(memory).history.model  # type: ignore[attr-defined]
    assert history.objects.filter(project_id=project.pk).count() == 1

    store.delete_project(project=project, by=web(project.owner))

    changed = {table for table, before in tables.items() if count(table) != before}
    assert changed == {AuditEvent._meta.db_table, "auth_user"}  # the member remains
    event = AuditEvent.objects.get(action="project.delete")
    assert (event.project_slug, event.project_id) == ("gone", project.pk)
    assert event.counts["memories.Memory"] == 1
    with pytest.raises(store.ProjectGone):
        store.update_project(project=project, changes={"name": "n"}, by=web(kept.owner))


def count(table: str) -> int:
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*) FROM {connection.ops.quote_name(table)}")  # noqa: S608
        return int(cursor.fetchone()[0])


def writes() -> list[Any]:
    """Every write of the store, as a function of a project with a member, and the members it speaks of."""

    def key_of(project: Project) -> ApiKey:
        return project.api_keys.get()

    return [
        pytest.param(
            lambda p, m, by: store.create_project(name="n", slug="n", owner=m, by=by), id="create_project"
        ),
        pytest.param(
            lambda p, m, by: store.update_project(project=p, changes={"memory_enabled": False}, by=by),
            id="update_project",
        ),
        pytest.param(lambda p, m, by: store.delete_project(project=p, by=by), id="delete_project"),
        pytest.param(lambda p, m, by: store.add_member(project=p, user=make_user(), by=by), id="add_member"),
        pytest.param(
            lambda p, m, by: store.change_member(project=p, user=m, role=Role.COLLABORATOR, by=by),
            id="change_member",
        ),
        pytest.param(lambda p, m, by: store.remove_member(project=p, user=m, by=by), id="remove_member"),
        pytest.param(lambda p, m, by: store.leave(project=p, by=web(m)), id="leave"),
        pytest.param(lambda p, m, by: store.transfer(project=p, to=m, by=by), id="transfer"),
        pytest.param(
            lambda p, m, by: store.issue_key(project=p, name="k", scopes=[Scope.TURNS], by=by), id="issue_key"
        ),
        pytest.param(lambda p, m, by: store.revoke_key(key=key_of(p), by=by), id="revoke_key"),
    ]


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("write", writes())
def test_a_write_whose_audit_fails_did_not_happen(
    write: Callable[..., object], monkeypatch: pytest.MonkeyPatch
) -> None:
    member = make_user()
    project = make_project(members=[member])
    make_key(project)

    def state() -> Any:
        models = (Project, ProjectGrant, ApiKey, AuditEvent)
        return [list(model._base_manager.order_by("pk").values()) for model in models]

    def fail(*args: Any, **kwargs: Any) -> None:
        raise RuntimeError("no audit")

    before = state()
    with monkeypatch.context() as patch:
        patch.setattr(audit, "record", fail)
        with pytest.raises(RuntimeError, match="no audit"):
            write(project, member, web(project.owner))
    assert state() == before
    write(project, member, web(project.owner))
    assert state() != before


def test_every_write_of_the_store_is_in_that_list() -> None:
    public = {
        name
        for name, value in vars(store).items()
        if callable(value)
        and getattr(value, "__module__", "") == store.__name__
        and hasattr(value, "__wrapped__")
    }
    assert public == {parameter.id for parameter in writes()}
