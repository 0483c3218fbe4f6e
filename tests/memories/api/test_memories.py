"""Memories as resources: list, create, read, change, delete, history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from memories import store
from memories.api.serializers import MemoryAnswer
from memories.models import Memory, MemoryUsage, Status
from projects.models import Project, Scope
from tests.factories import make_key, make_memory, make_project
from tests.memories.test_store import SECRET, learned, person, proposal, quote
from tests.memories.test_store_removal import make_chat

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django import DjangoAssertNumQueries
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.memories.urls")]
MEMORIES = "/api/v1/projects/shop/memories/"
RULE = {"type": "constraint", "content": "页面引用区块要用区块 ID"}


@pytest.fixture
def keyed(project: Project, api: Callable[..., APIClient]) -> Callable[..., APIClient]:
    """`keyed(scope, …)`: a client with a key of the project."""
    return lambda *scopes: api(make_key(project, scopes)[1])


def of(memory: Memory) -> str:
    return f"{MEMORIES}{memory.pk}/"


def ids(answer: Any) -> list[int]:
    return [row["id"] for row in answer.json()["results"]]


# --- POST --------------------------------------------------------------------------------------------------


def test_what_a_person_writes_is_in_force(ana: APIClient, project: Project) -> None:
    answer = ana.post(
        MEMORIES, RULE | {"importance": 5, "always": True, "files": ["src/**"], "reason": "agreed"}
    )
    assert (answer.status_code, answer["ETag"]) == (201, '"1"')
    memory = Memory.objects.get()
    body = answer.json()
    assert set(body) == {*MemoryAnswer().get_fields(), "undo"}
    assert (body["id"], body["status"], body["authority"], body["source"]) == (
        memory.pk,
        "active",
        "person",
        "manual",
    )
    assert (body["created_by"], body["key"], body["files"]) == (
        project.owner.username,
        memory.key,
        ["src/**"],
    )
    assert body["usage"] == {"count": 0, "last_at": None}
    path = f"{of(memory)}undo/"
    assert body.pop("undo") == {"method": "POST", "path": path, "body": {"undoes_version": 1}}
    assert ana.get(of(memory)).json() == body
    assert memory.history.get().history_change_reason == "agreed"


@pytest.mark.parametrize(
    ("scopes", "policy", "status"),
    [
        pytest.param([Scope.MEMORIES_WRITE], "none", "active", id="write"),
        pytest.param([Scope.MEMORIES_WRITE], "important", "proposed", id="write, under review"),
        pytest.param([Scope.MEMORIES_PROPOSE], "none", "proposed", id="propose"),
        pytest.param([Scope.MEMORIES_PROPOSE, Scope.MEMORIES_WRITE], "none", "active", id="both"),
    ],
)
def test_what_an_agent_writes_is_automatic(
    scopes: list[Scope], policy: str, status: str, keyed: Callable[..., APIClient], project: Project
) -> None:
    Project.objects.filter(pk=project.pk).update(review_policy=policy)
    answer = keyed(*scopes).post(MEMORIES, RULE | {"importance": 5})
    body = answer.json()
    assert (answer.status_code, body["status"], body["authority"]) == (201, status, "automatic")
    assert (body["source"], body["importance"], body["created_by"]) == ("agent", 4, None)


@pytest.mark.parametrize(
    ("body", "errors"),
    [
        pytest.param({}, {"/type": "required", "/content": "required"}, id="nothing"),
        pytest.param(RULE | {"status": "active"}, {"/status": "unknown_field"}, id="status is not sent"),
        pytest.param(RULE | {"source": "manual"}, {"/source": "unknown_field"}, id="nor is the source"),
        pytest.param(RULE | {"type": "rule"}, {"/type": "invalid_choice"}, id="type"),
        pytest.param(RULE | {"importance": 6}, {"/importance": "max_value"}, id="importance"),
        pytest.param(RULE | {"always": "yes"}, {"/always": "invalid"}, id="always"),
        pytest.param(RULE | {"content": "x" * 1001}, {"/content": "max_length"}, id="long"),
        pytest.param(RULE | {"content": "  "}, {"/content": "blank"}, id="blank"),
        pytest.param(RULE | {"files": ["a", 1]}, {"/files/1": "invalid"}, id="files"),
        pytest.param(RULE | {"expires_at": "tomorrow"}, {"/expires_at": "invalid"}, id="expires_at"),
    ],
)
def test_a_body_that_is_wrong_writes_nothing(
    body: dict[str, Any], errors: dict[str, str], ana: APIClient, project: Project
) -> None:
    answer = ana.post(MEMORIES, body)
    assert answer.status_code == 400
    assert answer.json()["code"] == ("unknown_field" if "unknown_field" in errors.values() else "invalid")
    assert {error["pointer"]: error["code"] for error in answer.json()["errors"]} == errors
    assert not Memory.objects.exists()


@pytest.mark.parametrize(
    ("other", "code"),
    [
        pytest.param({"content": "Something else.", "key": "blocks"}, "key_taken", id="key"),
        pytest.param({"content": "页面引用区块要用区块 ID。", "key": "other"}, "content_taken", id="content"),
    ],
)
def test_what_is_taken_names_the_memory(
    other: dict[str, str], code: str, ana: APIClient, project: Project
) -> None:
    first = make_memory(project, RULE["content"], key="blocks")
    answer = ana.post(MEMORIES, RULE | other)
    assert (answer.status_code, answer.json()["code"]) == (409, code)
    assert answer.json()["memory"] == {
        "id": first.pk,
        "version": 1,
        "key": "blocks",
        "type": "fact",
        "status": "active",
    }
    assert Memory.objects.get() == first


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        pytest.param({"content": f"\r\n  first\r\n{SECRET} end"}, "/content", id="content"),
        pytest.param({"keywords": ["db", f" {SECRET}"]}, "/keywords/1", id="keywords"),
        pytest.param({"area": f" {SECRET}"}, "/area", id="area"),
    ],
)
def test_a_secret_is_pointed_at_in_what_was_sent(
    fields: dict[str, Any], pointer: str, ana: APIClient, project: Project
) -> None:
    answer = ana.post(MEMORIES, RULE | fields)
    assert (answer.status_code, answer.json()["code"]) == (422, "secret_found")
    (error,) = answer.json()["errors"]
    assert (error["pointer"], error["code"]) == (pointer, "secret_found")
    sent = fields[pointer.split("/")[1]]
    sent = sent if isinstance(sent, str) else sent[1]
    assert sent[error["start"] : error["end"]] == "Ab12cd34!x9Kq"
    assert "Ab12cd34" not in answer.content.decode()
    assert not Memory.objects.exists()


def test_the_detail_speaks_the_callers_language(ana: APIClient, project: Project) -> None:
    first = make_memory(project, RULE["content"], key="blocks")
    answer = ana.post(MEMORIES, RULE, HTTP_ACCEPT_LANGUAGE="zh-hans")
    assert answer.json()["code"] == "content_taken"
    assert answer.json()["detail"] == f"记忆 {first.pk} 已经这样写了。"


def test_a_post_sent_again_happens_once(ana: APIClient, project: Project) -> None:
    first, again = (ana.post(MEMORIES, RULE, headers={"Idempotency-Key": "k-1"}) for _ in range(2))
    assert (first.status_code, again.status_code, again["Idempotent-Replayed"]) == (201, 201, "true")
    assert (first.json(), again["ETag"]) == (again.json(), '"1"')
    assert Memory.objects.count() == 1
    other = ana.post(MEMORIES, RULE | {"content": "Other."}, headers={"Idempotency-Key": "k-1"})
    assert (other.status_code, other.json()["code"]) == (422, "idempotency_key_reused")
    assert Memory.objects.count() == 1


def test_a_refused_post_may_be_tried_again_under_its_key(ana: APIClient, project: Project) -> None:
    taken = make_memory(project, RULE["content"])
    headers = {"Idempotency-Key": "k-1"}
    assert ana.post(MEMORIES, RULE, headers=headers).status_code == 409
    store.delete(project=project, memory_id=taken.pk, by=person(project))
    assert ana.post(MEMORIES, RULE, headers=headers).status_code == 201


# --- GET ---------------------------------------------------------------------------------------------------


@pytest.fixture
def shelf(project: Project) -> dict[str, Memory]:
    """One memory for each filter to find."""
    shelf = {
        "rule": make_memory(
            project, "Login pages use SSO.", type="constraint", key="login-sso", area="登录", always=True
        ),
        "off": make_memory(project, "每周五发布", key="发布", area="登录"),
        "waits": proposal(project, "Builds run on Debian 12.", key="builds"),
        "withheld": proposal(project, "Deploys happen at night.", key="deploys"),
    }
    store.disable(project=project, memory_id=shelf["off"].pk, by=person(project))
    Memory.objects.filter(pk=shelf["withheld"].pk).update(withheld=True)
    make_memory(make_project(), "Login pages of another project.")
    return shelf


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        pytest.param("", ["withheld", "waits", "off", "rule"], id="everything, newest first"),
        pytest.param("type=constraint", ["rule"], id="type"),
        pytest.param("status=proposed,disabled", ["withheld", "waits", "off"], id="several statuses"),
        pytest.param("source=manual", ["off", "rule"], id="source"),
        pytest.param("authority=automatic", ["withheld", "waits"], id="authority"),
        pytest.param("area=登录", ["off", "rule"], id="area"),
        pytest.param("area=", ["withheld", "waits"], id="no area"),
        pytest.param("always=true", ["rule"], id="always"),
        pytest.param("withheld=true", ["withheld"], id="withheld"),
        pytest.param("withheld=false", ["waits", "off", "rule"], id="not withheld"),
        pytest.param("q=sso", ["rule"], id="a word"),
        pytest.param("q=发布", ["off"], id="a Chinese word"),
        pytest.param("q=pages LOGIN-SSO", ["rule"], id="words in content and key"),
        pytest.param("q=pages debian", [], id="every word"),
        pytest.param("q=登录", ["off", "rule"], id="a word in the area"),
        pytest.param("area=登录&status=active", ["rule"], id="all of several"),
    ],
)
def test_the_list_is_narrowed_down(
    query: str, expected: list[str], ana: APIClient, shelf: dict[str, Memory]
) -> None:
    assert ids(ana.get(f"{MEMORIES}?{query}")) == [shelf[name].pk for name in expected]


def test_the_list_by_ids(ana: APIClient, shelf: dict[str, Memory]) -> None:
    wanted = [shelf["rule"].pk, shelf["waits"].pk, 10**12]
    assert ids(ana.get(MEMORIES, {"ids": ",".join(map(str, wanted))})) == [wanted[1], wanted[0]]


@pytest.mark.parametrize(
    ("query", "parameter", "code"),
    [
        ("typ=fact", "typ", "unknown_parameter"),
        ("type=rule", "type", "invalid_choice"),
        ("status=active,gone", "status", "invalid_choice"),
        ("always=maybe", "always", "invalid"),
        ("ids=1,x", "ids", "not_ids"),
        ("ids=" + ",".join(["1"] * 501), "ids", "too_many"),
        ("q=" + "x" * 201, "q", "max_length"),
        ("limit=101", "limit", "invalid"),
    ],
)
def test_a_parameter_that_is_wrong_is_named(
    query: str, parameter: str, code: str, ana: APIClient, shelf: dict[str, Memory]
) -> None:
    answer = ana.get(f"{MEMORIES}?{query}")
    assert answer.status_code == 400
    (error,) = answer.json()["errors"]
    assert (error["parameter"], error["code"]) == (parameter, code)


def test_the_list_comes_in_pages(ana: APIClient, project: Project) -> None:
    made = [make_memory(project, f"Rule number {number} of the shop.").pk for number in range(5)]
    seen, address = [], f"{MEMORIES}?limit=2"
    while address:
        page = ana.get(address).json()
        seen.append([row["id"] for row in page["results"]])
        address = page["next"]
    assert seen == [made[:2:-1], made[2:0:-1], made[:1]]


def make_full(project: Project, number: int) -> Memory:
    """A memory with everything that its answer takes from other rows."""
    chat = make_chat(project, f"turn {number}")
    memory = learned(
        project,
        f"Rule number {number} of the shop.",
        topic_id=chat.topic_id,
        chat_id=chat.pk,
        evidence=(quote("so be it"),),
        replaces=make_memory(project, f"Old rule number {number}.", by=person(project)),
        contradicts=make_memory(project, f"Other rule number {number}.", by=person(project)),
    )
    store.edit(project=project, memory_id=memory.pk, changes={"area": "a"}, by=person(project))
    MemoryUsage.objects.create(memory=memory, count=number, last_at=timezone.now())
    return memory


@pytest.mark.parametrize("count", [1, 6])
def test_a_list_takes_two_queries_however_long_it_is(
    count: int,
    project: Project,
    keyed: Callable[..., APIClient],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    for number in range(count):
        make_full(project, number)
    client = keyed(Scope.MEMORIES_READ)
    client.get(MEMORIES)  # notes the key's use
    with django_assert_num_queries(2):
        page = client.get(MEMORIES).json()["results"]
    assert len(page) == 3 * count
    full = page[0]
    assert full["source_topic"] == {
        "id": full["source_topic"]["id"],
        "ref": f"topic of turn {count - 1}",
        "title": "",
    }
    assert (full["updated_by"], full["confirmed_by"]) == (project.owner.username, project.owner.username)
    assert (full["usage"]["count"], full["evidence"][0]["quote"]) == (count - 1, "so be it")


def test_one_memory_tells_where_it_comes_from(
    ana: APIClient, project: Project, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    memory = make_full(project, 3)
    answer = ana.get(of(memory))
    body = answer.json()
    assert answer["ETag"] == '"2"'
    assert (body["source_turn"], body["replaces"], body["contradicts"]) == (
        memory.source_chat_id,
        memory.replaces_id,
        memory.contradicts_id,
    )
    assert body["evidence"] == [
        {"quote": "so be it", "role": "user", "turn": None, "said_at": memory.evidence[0]["said_at"]}
    ]
    # Session, user, project, memory.
    with django_assert_num_queries(4):
        ana.get(of(memory))


def test_a_memory_of_another_project_is_not_found(ana: APIClient, project: Project) -> None:
    memory = make_memory(make_project())
    for answer in (
        ana.get(of(memory)),
        ana.patch(of(memory), {"importance": 1}, headers={"If-Match": "*"}),
        ana.delete(of(memory), headers={"If-Match": "*"}),
        ana.get(f"{of(memory)}history/"),
        ana.post(f"{of(memory)}disable/", {}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert Memory.objects.get().version == 1


# --- PATCH and DELETE --------------------------------------------------------------------------------------


def test_patch_changes_what_is_sent(ana: APIClient, project: Project) -> None:
    memory = make_memory(project, area="kept", expires_at=timezone.now())
    answer = ana.patch(
        of(memory),
        {"content": "Changed.", "expires_at": None, "reason": "clearer"},
        headers={"If-Match": '"1"'},
    )
    body = answer.json()
    assert (answer.status_code, answer["ETag"], body["version"]) == (200, '"2"', 2)
    assert (body["content"], body["area"], body["expires_at"]) == ("Changed.", "kept", None)
    assert memory.history.first().history_change_reason == "clearer"


@pytest.mark.parametrize("method", ["patch", "delete"])
def test_nobody_overwrites_what_they_have_not_seen(method: str, ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    store.edit(project=project, memory_id=memory.pk, changes={"content": "Changed."}, by=person(project))
    send = getattr(ana, method)
    body = {"importance": 1} if method == "patch" else None
    missing = send(of(memory), body)
    assert (missing.status_code, missing.json()["code"]) == (428, "if_match_required")
    stale = send(of(memory), body, headers={"If-Match": '"1"'})
    assert (stale.status_code, stale.json()["code"], stale["ETag"]) == (412, "stale_memory", '"2"')
    assert stale.json()["current"] == ana.get(of(memory)).json()
    assert Memory.objects.get().version == 2


def test_a_change_between_the_look_and_the_lock_is_noticed(
    ana: APIClient, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = make_memory(project)
    edit = store.edit

    def overtaken(**kwargs: Any) -> Memory:
        monkeypatch.undo()
        edit(project=project, memory_id=memory.pk, changes={"content": "Theirs."}, by=person(project))
        return edit(**kwargs)

    monkeypatch.setattr(store, "edit", overtaken)
    answer = ana.patch(of(memory), {"content": "Mine."}, headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.json()["code"]) == (412, "stale_memory")
    assert answer.json()["current"]["content"] == Memory.objects.get().content == "Theirs."


def test_any_version_is_changed_where_the_caller_says_so(ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    assert ana.patch(of(memory), {"importance": 1}, headers={"If-Match": "*"}).json()["version"] == 2


def test_an_agent_changes_no_persons_memory(keyed: Callable[..., APIClient], project: Project) -> None:
    theirs, its = make_memory(project), learned(project)
    client = keyed(Scope.MEMORIES_WRITE)
    for answer in (
        client.patch(of(theirs), {"importance": 1}, headers={"If-Match": "*"}),
        client.delete(of(theirs), headers={"If-Match": "*"}),
        client.post(f"{of(theirs)}disable/", {}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "role_missing")
    assert Memory.objects.get(pk=theirs.pk).version == 1
    changed = client.patch(of(its), {"importance": 1}, headers={"If-Match": "*"})
    assert (changed.status_code, changed.json()["authority"]) == (200, "automatic")


def test_a_memory_that_is_history_is_not_edited(ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    Memory.objects.update(status=Status.SUPERSEDED)
    answer = ana.patch(of(memory), {"importance": 1}, headers={"If-Match": "*"})
    assert (answer.status_code, answer.json()["code"], answer.json()["memory"]["status"]) == (
        409,
        "wrong_status",
        "superseded",
    )


def test_deleting_can_be_undone(ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    answer = ana.delete(f"{of(memory)}?reason=wrong", headers={"If-Match": '"1"'})
    assert (answer.status_code, answer.content) == (204, b"")
    assert ana.get(of(memory)).status_code == 404
    assert Memory.history.first().history_change_reason == "wrong"
    back = ana.post(f"{of(memory)}restore/", {})
    assert (back.status_code, back.json()["id"], back.json()["version"]) == (200, memory.pk, 2)


# --- History -----------------------------------------------------------------------------------------------


def test_history_tells_every_version_who_and_why(ana: APIClient, project: Project) -> None:
    memory = make_memory(project)
    ana.patch(of(memory), {"content": "Changed.", "reason": "clearer"}, headers={"If-Match": "*"})
    ana.delete(of(memory), headers={"If-Match": "*", "X-Request-ID": "req-7"})
    rows = ana.get(f"{of(memory)}history/").json()["results"]
    assert [(row["version"], row["action"], row["content"]) for row in rows] == [
        (2, "delete", "Changed."),
        (2, "edit", "Changed."),
        (1, "create", "Page references use block ids."),
    ]
    assert (rows[1]["by"], rows[1]["by_kind"], rows[1]["transport"], rows[1]["reason"]) == (
        project.owner.username,
        "user",
        "api",
        "clearer",
    )
    assert rows[0]["request_id"] == "req-7"


@pytest.mark.parametrize("count", [1, 5])
def test_history_takes_two_queries_however_long_it_is(
    count: int,
    project: Project,
    keyed: Callable[..., APIClient],
    django_assert_num_queries: DjangoAssertNumQueries,
) -> None:
    memory = make_memory(project)
    for number in range(count):
        store.edit(project=project, memory_id=memory.pk, changes={"area": str(number)}, by=person(project))
    client = keyed(Scope.MEMORIES_READ)
    client.get(MEMORIES)
    with django_assert_num_queries(2):
        assert len(client.get(f"{of(memory)}history/").json()["results"]) == count + 1
