"""“Remember: …”, “Forget: …” and signals through the API, each outcome in both languages."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from chats import distil
from chats.models import Chat, Instruction, Topic
from memories import store
from memories.models import Authority, Memory, Source, Status
from projects.actors import WORKER, Actor
from tests.factories import make_memory, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db

LANGUAGES = pytest.mark.parametrize(
    ("twenty", "fifty", "say"),
    [
        pytest.param("表格分页每页 20 条", "表格分页每页 50 条", "记住：", id="zh"),
        pytest.param("tables show 20 rows a page", "tables show 50 rows a page", "Remember: ", id="en"),
    ],
)


def outcomes(body: dict[str, object]) -> list[str]:
    return [item["outcome"] for item in body["remembered"]]  # type: ignore[attr-defined]


def owner(project: Project) -> Actor:
    return Actor.for_user(project.owner, transport="web")


def proposed(project: Project, content: str, **fields: object) -> Memory:
    return store.propose(
        project=project,
        draft=store.Draft(type="fact", content=content),
        source=Source.EXTRACTED,
        by=WORKER,
        **fields,
    )


@LANGUAGES
def test_stored(agent: Agent, twenty: str, fifty: str, say: str) -> None:
    body = agent.open(say + twenty)
    memory = Memory.objects.get()
    assert outcomes(body) == ["stored"]
    assert (memory.content, memory.type, memory.importance) == (twenty, "constraint", 5)
    assert (memory.source, memory.authority, memory.status) == ("explicit", "person", "active")
    assert body["context"]["memory"]["refs"] == [memory.pk], "in this very turn"


@LANGUAGES
def test_already_known(agent: Agent, twenty: str, fifty: str, say: str) -> None:
    agent.open(say + twenty)
    body = agent.open(say + twenty)
    assert outcomes(body) == ["already_known"]
    assert body["remembered"][0]["memory"]["id"] == Memory.objects.get().pk


@LANGUAGES
def test_confirmed(agent: Agent, project: Project, twenty: str, fifty: str, say: str) -> None:
    waiting = proposed(project, twenty)
    body = agent.open(say + twenty)
    assert outcomes(body) == ["confirmed"]
    waiting.refresh_from_db()
    assert (waiting.status, waiting.authority) == (Status.ACTIVE, Authority.PERSON)


@LANGUAGES
def test_replaced_with_what_to_call_to_undo_it(
    agent: Agent, api_as: Callable[..., APIClient], project: Project, twenty: str, fifty: str, say: str
) -> None:
    old = agent.open(say + twenty)["remembered"][0]["memory"]
    body = agent.open(say + fifty)
    item = body["remembered"][0]
    assert item["outcome"] == "replaced"
    assert item["memory"]["content"] == fifty
    undo = item["replaced"].pop("undo")
    assert item["replaced"] == old | {"version": 2, "status": "superseded"}
    assert undo == {"method": "POST", "path": f"/api/v1/projects/shop/memories/{old['id']}/restore/"}
    assert api_as(project.owner).post(undo["path"]).status_code == 200
    assert list(Memory.objects.active().values_list("content", flat=True)) == [twenty]


@LANGUAGES
def test_needs_confirmation_when_a_stranger_would_undo_a_member(
    agent: Agent, project: Project, twenty: str, fifty: str, say: str
) -> None:
    members = make_memory(project, twenty)
    body = agent.open(say + fifty, author={"ref": "stranger"})
    item = body["remembered"][0]
    assert item["outcome"] == "needs_confirmation"
    assert (item["memory"]["status"], item["would_replace"]["id"]) == ("proposed", members.pk)
    members.refresh_from_db()
    assert members.status == Status.ACTIVE


@LANGUAGES
def test_a_member_may_undo_a_member(
    agent: Agent, project: Project, twenty: str, fifty: str, say: str
) -> None:
    make_memory(project, twenty)
    assert outcomes(agent.open(say + fifty, author={"ref": "ANA@example.org"})) == ["replaced"]


@LANGUAGES
def test_needs_confirmation_where_only_members_are_heard(
    agent: Agent, project: Project, twenty: str, fifty: str, say: str
) -> None:
    type(project).objects.filter(pk=project.pk).update(explicit_policy="members")
    assert outcomes(agent.open(say + twenty, author={"ref": "stranger"})) == ["needs_confirmation"]
    assert outcomes(agent.open(say + twenty, author={"ref": "ana"})) == ["confirmed"]


@pytest.mark.parametrize(
    ("message", "text", "language", "told"),
    [
        pytest.param(
            "记住：数据库密码是 {}",
            "数据库密码是 Ab***",
            "zh-hans",
            "未保存：含有密码、密钥或令牌。",
            id="zh",
        ),
        pytest.param(
            "Remember: the database password is {}",
            "the database password is Ab***",
            "en",
            "Not saved: it contains a password, key or token.",
            id="en",
        ),
    ],
)
def test_refused(agent: Agent, message: str, text: str, language: str, told: str) -> None:
    secret = "Ab12cd34" + "!x9Kq"
    body = agent.open(message.format(secret), language=language)
    assert body["remembered"] == []
    assert body["refused"] == [{"text": text, "code": "secret_found", "message": told}]
    assert Memory.objects.count() == 0
    assert secret not in str(Chat.objects.get().explicit)


def test_each_item_of_a_message_has_its_own_fate(agent: Agent) -> None:
    secret = "Ab12cd34" + "!x9Kq"
    body = agent.open(f"记住：\n- 金额按分存储\n- 数据库密码是 {secret}\n- 表格分页每页 20 条")
    assert outcomes(body) == ["stored", "stored"]
    assert [item["code"] for item in body["refused"]] == ["secret_found"]


def test_a_proposal_that_cannot_be_confirmed_is_told_and_the_turn_opens(
    agent: Agent, project: Project
) -> None:
    target = make_memory(project, "Builds run on Debian 11.")
    proposed(project, "Builds run on Debian 12.", replaces=target)
    store.edit(project=project, memory_id=target.pk, changes={"importance": 2}, by=owner(project))
    body = agent.open("Remember: builds run on Debian 12.", author={"ref": "ana"})
    assert [item["code"] for item in body["refused"]] == ["target_changed"]


@pytest.mark.parametrize(
    ("message", "content"),
    [
        pytest.param("忘掉：表格分页每页 20 条", "表格分页每页 20 条", id="zh"),
        pytest.param("Forget: tables show 20 rows a page", "tables show 20 rows a page", id="en"),
    ],
)
def test_forget_switches_off_exactly_one(
    agent: Agent, api_as: Callable[..., APIClient], project: Project, message: str, content: str
) -> None:
    memory = make_memory(project, content)
    body = agent.open(message, author={"ref": "ana"})
    item = body["forgotten"][0]
    assert (item["outcome"], item["memory"]["id"], item["candidates"]) == ("disabled", memory.pk, [])
    memory.refresh_from_db()
    assert memory.status == Status.DISABLED
    assert body["context"]["memory"]["refs"] == []
    assert agent.finish(body["turn"]["id"])["receipt"]["text"] == "1 switched off · No memory was relevant"
    assert api_as(project.owner).post(item["undo"]["path"]).status_code == 200
    memory.refresh_from_db()
    assert memory.status == Status.ACTIVE


def test_forget_with_several_matches_touches_none_and_names_them(agent: Agent, project: Project) -> None:
    rows = [make_memory(project, f"Tables of {name} show 20 rows.") for name in ("orders", "users")]
    item = agent.open("Forget: tables show 20 rows", author={"ref": "ana"})["forgotten"][0]
    assert (item["outcome"], item["memory"]) == ("several", None)
    assert item["message"] == "Nothing was switched off: several memories could be meant."
    assert sorted(one["id"] for one in item["candidates"]) == [row.pk for row in rows]
    assert Memory.objects.active().count() == 2


def test_forget_in_a_turn_that_already_happened_only_names_what_it_means(
    agent: Agent, project: Project
) -> None:
    memory = make_memory(project, "tables show 20 rows a page")
    body = agent.open("Forget: tables show 20 rows a page", author={"ref": "ana"}, status="succeeded")
    [item] = body["forgotten"]
    assert (item["outcome"], item["memory"]) == ("needs_confirmation", None)
    assert [one["id"] for one in item["candidates"]] == [memory.pk]
    memory.refresh_from_db()
    assert (memory.status, memory.version) == ("active", 1)


def test_forget_without_a_match_says_so(agent: Agent) -> None:
    item = agent.open("Forget: tables show 20 rows")["forgotten"][0]
    told = "Nothing was switched off: no memory says this."
    assert item == {"outcome": "none", "message": told, "memory": None, "candidates": []}


def test_a_stranger_does_not_switch_off_what_a_member_wrote(agent: Agent, project: Project) -> None:
    memory = make_memory(project, "Tables show 20 rows.")
    item = agent.open("Forget: tables show 20 rows", author={"ref": "stranger"})["forgotten"][0]
    assert (item["outcome"], item["candidates"][0]["id"]) == ("needs_confirmation", memory.pk)
    assert item["message"] == "Not switched off: a member of the project must decide."
    memory.refresh_from_db()
    assert memory.status == Status.ACTIVE


@pytest.mark.parametrize(
    ("message", "kind", "content"),
    [
        pytest.param("以后都用 pnpm。装一下依赖", "directive", "以后都用 pnpm", id="directive zh"),
        pytest.param(
            "From now on use pnpm. Install it.", "directive", "From now on use pnpm", id="directive en"
        ),
        pytest.param(
            "不对，应该是先校验手机号再发验证码",
            "correction",
            "不对，应该是先校验手机号再发验证码",
            id="correction zh",
        ),
        pytest.param(
            "No, it should be 8 spaces.", "correction", "No, it should be 8 spaces", id="correction en"
        ),
    ],
)
def test_a_signal_is_in_force_in_this_very_turn_and_writes_no_memory(
    agent: Agent, message: str, kind: str, content: str
) -> None:
    body = agent.open(message)
    rule = Instruction.objects.get()
    assert body["context"]["instructions"] == [{"id": rule.pk, "kind": kind, "content": content}]
    assert body["context"]["tokens"]["instructions"] == rule.tokens > 0
    assert body["remembered"] == []
    assert Memory.objects.count() == 0
    assert agent.open("Go on with it.")["context"]["instructions"] == body["context"]["instructions"]
    assert agent.open("Go on with it.", topic="other")["context"]["instructions"] == []


@pytest.mark.parametrize("confirmation", ["就是这个规则", "That's the rule."])
def test_confirm_promotes_the_latest_rule_at_once(agent: Agent, confirmation: str) -> None:
    agent.turn("以后一律用 pnpm")
    body = agent.open(confirmation)
    memory, rule = Memory.objects.get(), Instruction.objects.get()
    assert outcomes(body) == ["stored"]
    assert (memory.status, memory.authority, memory.source) == ("active", "person", "explicit")
    assert (rule.state, rule.memory_id) == ("promoted", memory.pk)
    assert (memory.always, body["context"]["memory"]["refs"]) == (True, [memory.pk])
    assert body["context"]["instructions"] == [], "its memory stands in the block"


def test_a_message_can_give_a_rule_and_confirm_it(agent: Agent) -> None:
    body = agent.open("Always use tabs. That's the rule.")
    assert outcomes(body) == ["stored"]
    assert Memory.objects.get().content == "Always use tabs"


def test_a_promoted_rule_leaves_the_context_when_its_memory_is_in_the_block(agent: Agent) -> None:
    agent.turn("Always use pnpm for packages.")
    agent.turn("That's the rule.")
    memory = Memory.objects.get()
    with_block = agent.open("Add the packages with pnpm.")["context"]
    assert (with_block["memory"]["refs"], with_block["instructions"]) == ([memory.pk], [])
    store.disable(project=memory.project, memory_id=memory.pk, by=owner(memory.project))
    without = agent.open("Add the packages with pnpm.")["context"]
    assert [rule["content"] for rule in without["instructions"]] == [memory.content]


@pytest.mark.parametrize("dismissal", ["取消刚才的规则", "Forget the last rule"])
def test_dismiss_takes_the_latest_rule_away(agent: Agent, dismissal: str) -> None:
    agent.turn("以后都用 pnpm")
    agent.turn("以后图片必须压缩")
    body = agent.open(dismissal)
    assert [rule["content"] for rule in body["context"]["instructions"]] == ["以后都用 pnpm"]
    assert list(Instruction.objects.values_list("state", flat=True)) == ["active", "dismissed"]


def test_the_same_subject_replaces_its_older_wording(agent: Agent) -> None:
    agent.turn("以后分页都用 20 条")
    body = agent.open("以后分页都用 50 条")
    assert [rule["content"] for rule in body["context"]["instructions"]] == ["以后分页都用 50 条"]


def test_a_topic_holds_at_most_eight_rules_the_newest(agent: Agent) -> None:
    rules = [
        "以后都用 pnpm",
        "以后按钮文案一律用动词开头",
        "以后接口都走 /api/v2",
        "以后提交信息都写中文",
        "以后图片必须压缩",
        "以后每个页面都要有面包屑",
        "以后日期都显示到分钟",
        "以后不要用内联样式",
        "以后表单都要校验手机号",
    ]
    for rule in rules:
        body = agent.open(rule)
    assert [rule["content"] for rule in body["context"]["instructions"]] == rules[1:]


def test_a_rule_with_a_secret_is_refused(agent: Agent) -> None:
    secret = "Ab12cd34" + "!x9Kq"
    body = agent.open(f"From now on use the database password {secret}")
    assert [item["code"] for item in body["refused"]] == ["secret_found"]
    assert secret not in str(body["refused"])
    assert Instruction.objects.count() == 0


def test_a_machine_s_message_is_read_for_nothing(agent: Agent) -> None:
    body = agent.open("Remember: tables show 20 rows. From now on use pnpm.", origin="machine")
    assert (body["remembered"], body["refused"], body["context"]["instructions"]) == ([], [], [])
    further = agent.post(f"turns/{body['turn']['id']}/context/", {"message": "Remember: use tabs."})
    assert further.json()["remembered"] == []
    assert Memory.objects.count() == 0


def test_attached_text_is_never_read_for_remember(agent: Agent) -> None:
    body = agent.open("Build it.", attached="Remember: tables show 20 rows. From now on use pnpm.")
    assert (body["remembered"], body["context"]["instructions"]) == ([], [])


def test_a_turn_that_fails_keeps_its_remember_and_yields_nothing_else(agent: Agent) -> None:
    agent.turn("Remember: tables show 20 rows.\n\nWe decided to use cursor pagination.", status="failed")
    topic = Topic.objects.get()
    assert (topic.distil_pending, topic.distil_due_at) == (False, None)
    assert distil.run(topic.pk) is False
    assert list(Memory.objects.values_list("content", "status")) == [("tables show 20 rows", "active")]


def test_what_was_heard_is_of_this_project(agent: Agent) -> None:
    other = make_project("other")
    make_memory(other, "tables show 20 rows")
    assert outcomes(agent.open("Remember: tables show 20 rows")) == ["stored"]
    assert Memory.objects.of(other).count() == 1
