"""Memories in the admin: everything that is written there goes through the store."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse

from memories import store
from memories.models import Memory, Source, Status, Tombstone
from projects.actors import WORKER, Actor
from projects.models import AuditEvent
from tests.factories import make_memory, make_project, make_user

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.http import HttpResponse

    from projects.models import Project

pytestmark = pytest.mark.django_db
LIST = "admin:memories_memory_changelist"
ADD = "admin:memories_memory_add"
CHANGE = "admin:memories_memory_change"
DELETE = "admin:memories_memory_delete"
SECRET = "The database password is Ab12cd34!x9Kq"


@pytest.fixture
def project() -> Project:
    return make_project("shop")


@pytest.fixture
def root() -> User:
    return make_user("root", is_staff=True, is_superuser=True)


@pytest.fixture
def browser(root: User) -> Client:
    client = Client()
    client.force_login(root)
    return client


def proposal(project: Project, content: str = "Builds run on Debian 12.", **fields: Any) -> Memory:
    return store.propose(
        project=project,
        draft=store.Draft(type="fact", content=content),
        source=Source.EXTRACTED,
        by=WORKER,
        **fields,
    )


def typed(memory: Memory | None = None, **changes: Any) -> dict[str, Any]:
    """What the form sends: the memory as the page showed it, and what was typed over it."""
    shown: dict[str, Any] = {
        "type": "fact",
        "importance": 3,
        "content": "",
        "key": "",
        "area": "",
        "reason": "",
    }
    shown |= {"keywords": "", "files": "", "expires_at_0": "", "expires_at_1": ""}
    if memory is not None:
        for name in ("type", "importance", "content", "key", "area"):
            shown[name] = getattr(memory, name)
        shown |= {"keywords": ", ".join(memory.keywords), "files": ", ".join(memory.files)}
        shown |= {"read_version": memory.version} | ({"always": "on"} if memory.always else {})
    return shown | changes


def press(browser: Client, memory: Memory, button: str = "_save", **changes: Any) -> HttpResponse:
    return browser.post(reverse(CHANGE, args=[memory.pk]), typed(memory, **changes) | {button: "1"})


def errors(answer: HttpResponse) -> dict[str, list[str]]:
    """The form's errors by field; "" is the form itself."""
    form = answer.context["adminform"].form
    return {("" if name == "__all__" else name): list(said) for name, said in form.errors.items()}


def last_audit() -> tuple[str, str, str, str]:
    event = AuditEvent.objects.first()
    assert event is not None
    return event.action, event.transport, event.actor_name, event.reason


def test_the_page_shows_lists_as_text_and_the_version_it_read(project: Project, browser: Client) -> None:
    memory = make_memory(project, keywords=("block", "区块"), files=("src/**", "*.vue"))
    form = browser.get(reverse(CHANGE, args=[memory.pk])).context["adminform"].form
    assert form["keywords"].value() == "block, 区块"
    assert form["files"].value() == "src/**, *.vue"
    assert form["read_version"].value() == 1


def test_an_edit_goes_through_the_store(project: Project, browser: Client, root: User) -> None:
    memory = make_memory(project, keywords=("block",))
    answer = press(
        browser,
        memory,
        content="Page references use block names.",
        keywords="block， 名称",
        reason="agreed on Monday",
    )
    assert answer.status_code == 302
    memory.refresh_from_db()
    assert (memory.content, memory.keywords, memory.version) == (
        "Page references use block names.",
        ["block", "名称"],
        2,
    )
    version = memory.history.first()
    assert (version.action, version.actor_name, version.transport) == ("edit", "root", "admin")
    assert (version.history_user, version.history_change_reason) == (root, "agreed on Monday")
    assert last_audit() == ("memory.edit", "admin", "root", "agreed on Monday")


def test_saving_what_was_not_changed_writes_nothing(project: Project, browser: Client) -> None:
    memory = make_memory(project, keywords=("block",), files=("src/**",), always=True)
    audited = AuditEvent.objects.count()
    assert press(browser, memory).status_code == 302
    memory.refresh_from_db()
    assert (memory.version, memory.history.count(), AuditEvent.objects.count()) == (1, 1, audited)


def test_a_stale_edit_is_refused_and_keeps_what_was_typed(project: Project, browser: Client) -> None:
    memory = make_memory(project)
    by = Actor.for_user(project.owner, transport="web")
    store.edit(project=project, memory_id=memory.pk, changes={"importance": 5}, by=by)
    answer = press(browser, memory, content="Mine.")
    assert answer.status_code == 200
    (said,) = errors(answer)[""]
    assert f"Memory {memory.pk} changed meanwhile; it is now version 2." in said
    form = answer.context["adminform"].form
    assert (form["content"].value(), form["read_version"].value()) == ("Mine.", "1")
    memory.refresh_from_db()
    assert (memory.content, memory.version) == ("Page references use block ids.", 2)


def test_an_edit_that_does_not_say_what_it_read_is_refused(project: Project, browser: Client) -> None:
    memory = make_memory(project)
    answer = press(browser, memory, content="Mine.", read_version="")
    assert list(errors(answer)) == [""]
    memory.refresh_from_db()
    assert memory.version == 1


@pytest.mark.parametrize(
    ("changes", "field", "said"),
    [
        pytest.param(
            {"content": SECRET}, "content", "Not saved: it contains a password, key or token.", id="secret"
        ),
        pytest.param(
            {"keywords": SECRET},
            "keywords",
            "Not saved: it contains a password, key or token.",
            id="secret among the keywords",
        ),
        pytest.param({"content": "x" * 1001}, "content", "At most 1,000 characters.", id="too long"),
        pytest.param(
            {"files": ",".join("abcdefghijklm")}, "files", "At most 12 entries.", id="too many files"
        ),
        pytest.param({"key": "taken"}, "key", "already has the key “taken”.", id="key taken"),
        pytest.param(
            {"content": "Tests run on MariaDB."}, "content", "already says this.", id="content taken"
        ),
    ],
)
def test_a_refusal_stands_at_its_field(
    changes: dict[str, str], field: str, said: str, project: Project, browser: Client
) -> None:
    make_memory(project, "Tests run on MariaDB.", key="taken")
    memory = make_memory(project)
    answer = press(browser, memory, **changes)
    assert list(errors(answer)) == [field]
    assert said in errors(answer)[field][0]
    assert answer.context["adminform"].form[field].value() == changes[field]
    memory.refresh_from_db()
    assert (memory.version, memory.history.count()) == (1, 1)


def test_adding_goes_through_the_store(project: Project, browser: Client, root: User) -> None:
    answer = browser.post(
        reverse(ADD),
        typed(
            project=project.pk,
            content="Colours come from tokens.css.",
            files="*.css",
            always="on",
            importance=4,
        ),
    )
    assert answer.status_code == 302
    memory = Memory.objects.get()
    assert (memory.content, memory.files, memory.always, memory.importance) == (
        "Colours come from tokens.css.",
        ["*.css"],
        True,
        4,
    )
    assert (memory.source, memory.authority, memory.status, memory.created_by) == (
        "manual",
        "person",
        "active",
        root,
    )
    assert last_audit() == ("memory.create", "admin", "root", "")


def test_adding_a_secret_is_refused_at_the_field(project: Project, browser: Client) -> None:
    answer = browser.post(reverse(ADD), typed(project=project.pk, content=SECRET))
    assert errors(answer) == {"content": ["Not saved: it contains a password, key or token."]}
    assert Memory.objects.count() == 0


@pytest.mark.parametrize(
    ("status", "buttons"),
    [
        ("proposed", {"confirm", "reject", "archive", "undo"}),
        ("active", {"disable", "archive", "undo"}),
        ("disabled", {"enable", "archive", "undo"}),
        ("superseded", {"restore", "undo"}),
        ("rejected", {"restore", "undo"}),
        ("archived", {"restore", "undo"}),
    ],
)
def test_each_status_offers_its_own_buttons(
    status: str, buttons: set[str], project: Project, browser: Client
) -> None:
    memory = in_status(project, status)
    offered = browser.get(reverse(CHANGE, args=[memory.pk])).context["actions_submit_line"]
    assert {action.action_name.removeprefix("memories_memory_") for action in offered} == buttons


def test_what_was_typed_and_the_button_below_it_go_back_as_one(project: Project, browser: Client) -> None:
    memory = proposal(project)
    press(browser, memory, "memories_memory_confirm", content="Builds run on Debian 13.")
    memory.refresh_from_db()
    assert (memory.status, memory.content, memory.version) == ("active", "Builds run on Debian 13.", 3)
    answer = press(browser, memory, "memories_memory_undo", content="Typed meanwhile.", reason="too quick")
    assert answer.status_code == 302
    memory.refresh_from_db()
    assert (memory.status, memory.content, memory.authority) == (
        "proposed",
        "Builds run on Debian 12.",
        "automatic",
    )
    assert last_audit() == ("memory.undo", "admin", "root", "too quick")


def test_undoing_an_addition_ends_at_the_list_without_it(project: Project, browser: Client) -> None:
    memory = make_memory(project)
    answer = press(browser, memory, "memories_memory_undo")
    assert (answer.status_code, answer["Location"]) == (302, reverse(LIST))
    assert not Memory.objects.exists()
    assert "Undone" in str(browser.get(reverse(LIST)).content)


def test_what_somebody_changed_meanwhile_is_not_undone_by_mistake(project: Project, browser: Client) -> None:
    memory = make_memory(project)
    by = Actor.for_user(project.owner, transport="web")
    store.disable(project=project, memory_id=memory.pk, by=by)
    answer = press(browser, memory, "memories_memory_undo")
    assert "it is now version 2." in errors(answer)[""][0]
    memory.refresh_from_db()
    assert memory.status == "disabled"


def in_status(project: Project, status: str) -> Memory:
    by = Actor.for_user(project.owner, transport="web")
    if status == "proposed":
        return proposal(project)
    if status == "rejected":
        return store.reject(project=project, memory_id=proposal(project).pk, by=by)
    memory = make_memory(project)
    if status == "archived":
        return store.archive(project=project, memory_id=memory.pk, by=by)
    if status == "disabled":
        return store.disable(project=project, memory_id=memory.pk, by=by)
    if status == "superseded":
        draft = store.Draft(type="fact", content="Page references use block names.")
        store.replace(project=project, target=memory, draft=draft, source=Source.MANUAL, by=by)
    memory.refresh_from_db()
    return memory


@pytest.mark.parametrize(
    ("before", "button", "after", "audited"),
    [
        ("proposed", "confirm", "active", "memory.confirm"),
        ("proposed", "reject", "rejected", "memory.reject"),
        ("active", "disable", "disabled", "memory.disable"),
        ("disabled", "enable", "active", "memory.enable"),
        ("superseded", "restore", "active", "memory.restore"),
        ("rejected", "restore", "active", "memory.restore"),
    ],
)
def test_a_button_goes_through_the_store(
    before: str, button: str, after: str, audited: str, project: Project, browser: Client
) -> None:
    memory = in_status(project, before)
    answer = press(browser, memory, f"memories_memory_{button}", reason="seen")
    assert answer.status_code == 302
    memory.refresh_from_db()
    assert (memory.status, memory.version) == (after, memory.history.count())
    assert memory.history.first().transport == "admin"
    assert last_audit() == (audited, "admin", "root", "seen")
    assert Tombstone.objects.exists() is (after == "rejected")


def test_editing_and_confirming_at_once_is_all_or_nothing(project: Project, browser: Client) -> None:
    target = make_memory(project, "Builds run on Debian 11.")
    memory = proposal(project, replaces=target)
    by = Actor.for_user(project.owner, transport="web")
    store.edit(project=project, memory_id=target.pk, changes={"importance": 5}, by=by)
    answer = press(browser, memory, "memories_memory_confirm", area="build")
    assert errors(answer) == {"": [f"Memory {target.pk}, which this would replace, changed meanwhile."]}
    memory.refresh_from_db()
    assert (memory.status, memory.area, memory.version) == ("proposed", "", 1)


def test_a_decided_proposal_is_not_decided_again(project: Project, browser: Client) -> None:
    memory = proposal(project)
    by = Actor.for_user(project.owner, transport="web")
    store.reject(project=project, memory_id=memory.pk, by=by)
    answer = press(browser, memory, "memories_memory_confirm")
    assert errors(answer) == {"": [f"Memory {memory.pk} was already decided on."]}
    memory.refresh_from_db()
    assert memory.status == "rejected"


def test_deleting_goes_through_the_store(project: Project, browser: Client) -> None:
    memory = make_memory(project)
    roll_up_one(memory)
    page = reverse(DELETE, args=[memory.pk])
    assert browser.get(page).context["perms_lacking"] == set()
    assert browser.post(page, {"post": "yes"}).status_code == 302
    assert not Memory.objects.exists()
    assert Tombstone.objects.get().memory_id == memory.pk
    assert last_audit() == ("memory.delete", "admin", "root", "")
    assert LogEntry.objects.count() == 0, (
        "the audit has it; Django's log would keep the name of what was purged"
    )


def roll_up_one(memory: Memory) -> None:
    """A usage, which goes with its memory and needs no right of its own."""
    memory.usage = type(memory).usage.related.related_model.objects.create(memory=memory, count=1)


def act(browser: Client, action: str, *memories: Memory, **more: str) -> HttpResponse:
    chosen = [str(memory.pk) for memory in memories]
    return browser.post(reverse(LIST), {"action": action, "_selected_action": chosen, "index": "0"} | more)


def test_many_are_disabled_through_the_store_and_what_refuses_is_named(
    project: Project, browser: Client
) -> None:
    one, two, waiting = make_memory(project), make_memory(project, "Tests run on MariaDB."), proposal(project)
    answer = act(browser, "disable", one, two, waiting)
    assert answer.status_code == 302
    assert [str(message) for message in answer.wsgi_request._messages] == [
        store.WrongStatus(waiting).message,
        "2 memories changed. · Disabled: from the next turn it is given no more.",
    ]
    assert set(Memory.objects.filter(status=Status.DISABLED)) == {one, two}
    assert AuditEvent.objects.filter(action="memory.disable", transport="admin").count() == 2


def test_many_are_deleted_through_the_store(project: Project, browser: Client) -> None:
    one, two = make_memory(project), make_memory(project, "Tests run on MariaDB.")
    answer = act(browser, "delete_selected", one, two, post="yes")
    assert answer.status_code == 302
    assert not Memory.objects.exists()
    assert set(Tombstone.objects.values_list("memory_id", flat=True)) == {one.pk, two.pk}


@pytest.mark.parametrize("may", [(), ("view_memory",)], ids=["nothing", "look"])
def test_who_may_not_change_memories_is_refused_and_nothing_happens(
    may: tuple[str, ...], project: Project
) -> None:
    memory, waiting = make_memory(project), proposal(project)
    staff = make_user(is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename__in=may))
    browser = Client()
    browser.force_login(staff)
    audited = AuditEvent.objects.count()
    answers = [
        press(browser, memory, content="Mine."),
        press(browser, waiting, "memories_memory_confirm"),
        browser.post(reverse(DELETE, args=[memory.pk]), {"post": "yes"}),
        browser.post(reverse(ADD), typed(project=project.pk, content="Mine.")),
    ]
    assert [answer.status_code for answer in answers] == [403, 403, 403, 403]
    # An action that is not offered is not done either; without any right the list itself is refused.
    assert act(browser, "disable", memory).status_code == (200 if may else 403)
    assert act(browser, "delete_selected", memory, post="yes").status_code == (200 if may else 403)
    memory.refresh_from_db()
    waiting.refresh_from_db()
    assert (memory.status, memory.version, waiting.status) == ("active", 1, "proposed")
    assert (Memory.objects.count(), AuditEvent.objects.count()) == (2, audited)


def test_who_may_only_look_sees_no_button(project: Project) -> None:
    memory = proposal(project)
    staff = make_user(is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename="view_memory"))
    browser = Client()
    browser.force_login(staff)
    page = browser.get(reverse(CHANGE, args=[memory.pk]))
    assert page.status_code == 200
    assert page.context["actions_submit_line"] == []
    assert "read_version" not in page.content.decode()


def test_two_chinese_characters_and_an_identifier_are_found(project: Project, browser: Client) -> None:
    block = make_memory(project, "页面引用区块要用区块 ID")
    other = make_memory(project, "Use tokens.css for colours.")
    for words, found in (("区块", block), ("TOKENS.css colours", other)):
        assert list(browser.get(reverse(LIST), {"q": words}).context["cl"].queryset) == [found]


def test_the_page_says_when_a_learned_memory_will_fade(project: Project, browser: Client) -> None:
    learned = proposal(project, status=Status.ACTIVE)
    Memory.objects.filter(pk=learned.pk).update(updated_at=datetime(2026, 11, 1, 12, tzinfo=UTC))
    mine = make_memory(project, "Mine.")
    pages = [browser.get(reverse(CHANGE, args=[one.pk])).content.decode() for one in (learned, mine)]
    assert ["unless it is needed" in page for page in pages] == [True, False]
    assert "2027-04-30" in pages[0]


def test_a_hundred_and_fifty_are_deleted_from_the_list_and_the_page_says_so(
    project: Project, browser: Client
) -> None:
    for number in range(150):
        make_memory(project, f"Shelf {number} holds {number + 7} boxes.", key=f"shelf {number}")
    # "Select all 150", beyond the fifty that the page shows.
    chosen = {"_selected_action": [Memory.objects.earliest("pk").pk], "select_across": "1"}
    body = {"action": "delete_selected", "index": "0", **chosen}
    asked = browser.post(reverse(LIST), body)
    assert asked.status_code == 200
    every = list(Memory.objects.values_list("pk", flat=True))
    done = browser.post(
        reverse(LIST), {"action": "delete_selected", "_selected_action": every, "post": "yes"}, follow=True
    )
    assert "150" in " ".join(str(message) for message in done.context["messages"])
    assert (Memory.objects.count(), Tombstone.objects.count()) == (0, 150)
    assert AuditEvent.objects.filter(action="memory.delete", transport="admin").count() == 150


def test_a_page_in_chinese_names_the_worker_and_what_never_expires_in_chinese(
    project: Project, browser: Client
) -> None:
    memory = proposal(project)
    store.reject(project=project, memory_id=memory.pk, by=Actor.for_user(project.owner, transport="web"))
    html = browser.get(
        reverse(CHANGE, args=[memory.pk]), headers={"accept-language": "zh-hans"}
    ).content.decode()
    assert "后台进程" in html
    assert ">worker<" not in html
    assert "永不" in html
