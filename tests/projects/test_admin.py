"""Projects, keys and the audit in the admin: written through the store, or not at all."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings as site_settings
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from memories.models import Memory
from memories.store.copies import COPIES
from projects import audit, roles
from projects.actors import WORKER
from projects.admin.trail import TARGET_MODELS
from projects.admin.words import ACTIONS, COUNTS, TARGETS
from projects.models import ApiKey, AuditEvent, Project, Scope
from tests.factories import make_key, make_memory, make_project, make_user

if TYPE_CHECKING:
    from django.http import HttpResponse

ROOT = Path(site_settings.BASE_DIR)
_ACTION = re.compile(
    r"(?:project|member|key|login|topic|instruction|extraction|provider|memory|guard|person)\.[a-z_]+|memories\.fade"
)
pytestmark = pytest.mark.django_db


def signed_in(*permissions: str, **fields: Any) -> Client:
    user = make_user(is_staff=True, **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=permissions))
    browser = Client()
    browser.force_login(user)
    return browser


@pytest.fixture
def browser() -> Client:
    return signed_in(username="root", is_superuser=True)


def settings(**changes: Any) -> dict[str, Any]:
    """What the form of a project sends."""
    shown: dict[str, Any] = {"name": "Shop", "description": "", "review_policy": "important", "guidance": ""}
    shown |= {"explicit_policy": "anyone", "max_items": 12, "max_tokens": 6000, "window_tokens": 40000}
    return shown | {"static_instructions": "", "memory_enabled": "on", "_save": "1"} | changes


def errors(answer: HttpResponse) -> dict[str, list[str]]:
    return {name: list(said) for name, said in answer.context["adminform"].form.errors.items()}


def test_a_project_is_added_through_the_store(browser: Client) -> None:
    ana = make_user("ana")
    answer = browser.post(reverse("admin:projects_project_add"), settings(owner=ana.pk, slug="", max_items=5))
    assert answer.status_code == 302
    project = Project.objects.get()
    assert (project.slug, project.owner, project.max_items) == ("shop", ana, 5)
    assert roles.role_of(ana, project) == roles.Role.OWNER
    event = AuditEvent.objects.get()
    assert (event.action, event.transport, event.actor_name) == ("project.create", "admin", "root")


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        pytest.param(
            {"slug": "Shop!"},
            "slug",
            "Enter a valid “slug” consisting of letters, numbers",
            id="no slug at all",
        ),
        pytest.param(
            {"slug": "-shop"}, "slug", "A slug is made of a-z, 0-9, - and _", id="a slug of no store"
        ),
        pytest.param({"slug": "taken"}, "slug", "Another project has this slug.", id="taken"),
        pytest.param(
            {"owner": "gone"}, "owner", "This person cannot log in.", id="an owner who cannot log in"
        ),
    ],
)
def test_what_the_store_refuses_stands_at_its_field(
    changes: dict[str, str], field: str, said: str, browser: Client
) -> None:
    make_project("taken")
    people = {"": make_user("ana").pk, "gone": make_user("ben", is_active=False).pk}
    sent = settings(slug="shop") | changes
    sent["owner"] = people[changes.get("owner", "")]
    answer = browser.post(reverse("admin:projects_project_add"), sent)
    assert list(errors(answer)) == [field]
    assert said in errors(answer)[field][0]
    assert Project.objects.count() == 1


def test_a_project_is_changed_through_the_store(browser: Client) -> None:
    project = make_project("shop", name="Shop")
    page = reverse("admin:projects_project_change", args=[project.pk])
    sent = settings(guidance="Rules of the pages.", slug="other", owner=make_user().pk)
    del sent["memory_enabled"]
    assert browser.post(page, sent).status_code == 302
    before = project.owner
    project.refresh_from_db()
    assert (project.guidance, project.memory_enabled) == ("Rules of the pages.", False)
    assert project.memory_switched_by.get_username() == "root"
    assert (project.slug, project.owner) == ("shop", before), "these two are not changed here"
    actions = AuditEvent.objects.filter(transport="admin").order_by("pk").values_list("action", flat=True)
    assert list(actions) == ["project.disable_memory", "project.edit"]


def test_a_project_is_deleted_through_the_store_with_all_that_is_in_it(browser: Client) -> None:
    project = make_project("shop")
    make_memory(project)
    page = reverse("admin:projects_project_delete", args=[project.pk])
    shown = browser.get(page)
    assert shown.context["perms_lacking"] == set()
    assert dict(shown.context["model_count"])["Memories"] == 1
    assert browser.post(page, {"post": "yes"}).status_code == 302
    assert not Project.objects.exists()
    assert Memory.history.count() == 0
    event = AuditEvent.objects.first()
    assert event is not None
    assert (event.action, event.transport) == ("project.delete", "admin")


def test_a_new_key_is_shown_once_and_stored_as_a_digest(browser: Client) -> None:
    project = make_project("shop")
    sent = {"project": project.pk, "name": "agent", "scopes": ["turns", "recall"], "_save": "1"}
    answer = browser.post(reverse("admin:projects_apikey_add"), sent)
    assert answer.status_code == 302
    key = ApiKey.objects.get()
    (message,) = [str(one) for one in answer.wsgi_request._messages if "cairn_" in str(one)]
    secret = message.rsplit(" ", 1)[1]
    assert Client().get("/api/v1/me/", headers={"authorization": f"Bearer {secret}"}).status_code == 200
    page = reverse("admin:projects_apikey_change", args=[key.pk])
    assert [secret in browser.get(page).content.decode() for _ in range(2)] == [True, False]
    assert key.scopes == ["turns", "recall"]


def test_a_key_of_one_project_cannot_create_projects(browser: Client) -> None:
    sent = {"project": make_project().pk, "name": "agent", "scopes": [Scope.PROJECTS], "_save": "1"}
    answer = browser.post(reverse("admin:projects_apikey_add"), sent)
    assert errors(answer) == {"scopes": ["A key of one project cannot create projects."]}
    assert not ApiKey.objects.exists()


def test_a_key_for_all_projects_is_made_by_superadmins_alone() -> None:
    browser = signed_in("add_apikey", "view_apikey", "view_project")
    answer = browser.post(
        reverse("admin:projects_apikey_add"), {"name": "agent", "scopes": ["turns"], "_save": "1"}
    )
    assert errors(answer) == {"project": ["This field is required."]}
    assert not ApiKey.objects.exists()


def test_keys_are_revoked_through_the_store(browser: Client) -> None:
    key, _secret = make_key(make_project())
    page = reverse("admin:projects_apikey_changelist")
    browser.post(page, {"action": "revoke", "_selected_action": [str(key.pk)], "index": "0"})
    key.refresh_from_db()
    assert key.revoked_at is not None
    assert AuditEvent.objects.filter(action="key.revoke", transport="admin").count() == 1


def test_who_may_only_look_changes_nothing() -> None:
    project = make_project("shop", name="Shop")
    key, _secret = make_key(project)
    browser = signed_in("view_project", "view_apikey")
    audited = AuditEvent.objects.count()
    answers = [
        browser.post(reverse("admin:projects_project_change", args=[project.pk]), settings(name="Other")),
        browser.post(reverse("admin:projects_project_delete", args=[project.pk]), {"post": "yes"}),
        browser.post(reverse("admin:projects_project_add"), settings(slug="new", owner=project.owner.pk)),
        browser.post(
            reverse("admin:projects_apikey_add"), {"project": project.pk, "name": "x", "scopes": ["recall"]}
        ),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403, 403]
    revoke = {"action": "revoke", "_selected_action": [str(key.pk)], "index": "0"}
    assert browser.post(reverse("admin:projects_apikey_changelist"), revoke).status_code == 200
    key.refresh_from_db()
    project.refresh_from_db()
    assert (project.name, key.revoked_at, AuditEvent.objects.count()) == ("Shop", None, audited)


def test_the_audit_says_who_did_what_in_words_and_links_to_what_is_still_there(browser: Client) -> None:
    memory = make_memory(make_project("shop"))
    event = AuditEvent.objects.get(action="memory.create")
    page = browser.get(reverse("admin:projects_auditevent_change", args=[event.pk])).content.decode()
    assert "memory added" in page
    assert reverse("admin:memories_memory_change", args=[memory.pk]) in page
    found = browser.get(reverse("admin:projects_auditevent_changelist"), {"action": "memory.create"})
    assert list(found.context["cl"].queryset) == [event]


def test_every_action_and_every_target_of_the_audit_has_words() -> None:
    named = set(ACTIONS)
    recorded = set()
    for path in (path for app in ("projects", "memories", "chats") for path in (ROOT / app).rglob("*.py")):
        if {"admin", "migrations"} & set(path.parts):
            continue
        for node in ast.walk(ast.parse(path.read_text())):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and _ACTION.fullmatch(node.value)
            ):
                recorded.add(node.value)
            if isinstance(node, ast.keyword) and node.arg == "action" and "store" in path.parts:
                verb = getattr(node.value, "value", None)
                recorded |= {f"memory.{verb}"} if isinstance(verb, str) else set()
    recorded |= {
        "project.enable_memory",
        "project.disable_memory",
        "memory.cascade",
    }  # put together at run time
    assert recorded == named
    # The guard's rules are no row.
    assert set(TARGET_MODELS) == set(TARGETS) - {"guard"}


def test_the_kinds_of_row_that_the_guard_looked_at_have_words(browser: Client) -> None:
    assert [copies.label for copies in COPIES if copies.label not in COUNTS] == []
    audit.record(
        "guard.rescan",
        by=WORKER,
        project=None,
        target_type="guard",
        target_id=3,
        target_key="chats.Chat as said",
    )
    html = browser.get(reverse("admin:projects_auditevent_changelist")).content.decode()
    assert "turns and steps, as they were said" in html
    assert "chats.Chat as said" not in html


def test_who_is_refused_reads_so_on_a_page_of_the_site() -> None:
    page = signed_in().get(
        reverse("admin:projects_auditevent_changelist"), headers={"accept-language": "zh-hans"}
    )
    assert page.status_code == 403
    assert "你的权限不足以打开此页面。" in page.content.decode()
