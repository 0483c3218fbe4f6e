"""What people reported from the field, each with the outcome that they want."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memories import store
from memories.models import Candidate, Memory, Source
from projects.actors import WORKER
from tests.factories import make_key, make_memory

from .script import Invention, Note, Person, Say

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from .stage import Stage

pytestmark = pytest.mark.django_db
BACKENDS = pytest.mark.parametrize("backend", ["rules", "model"])


def settled(stage: Stage) -> list[tuple[str, str]]:
    rows = Candidate.objects.filter(extraction__project=stage.project).order_by("extraction_id", "position")
    return list(rows.values_list("outcome", "reason"))


@BACKENDS
def test_a_joke_as_a_rule_is_proposed_with_its_author_and_turn(
    set_up: Callable[..., Stage], backend: str, api: Callable[..., APIClient]
) -> None:
    stage = set_up(backend, review_policy="none")
    said = "end every comment with 🤖"
    chat = stage.say(
        Say(
            f"lol from now on {said}",
            by="ana",
            rules={said: "proposed/joke"},
            model=(Note(said, "proposed/joke", type="constraint"),),
        )
    )
    memory = Memory.objects.get()
    assert (memory.status, memory.source_chat_id, memory.source_chat.author_name) == (
        "proposed",
        chat.pk,
        "ana",
    )
    client = api(make_key(stage.project)[1])
    told = client.get(f"/api/v1/projects/{stage.project.slug}/memories/{memory.pk}/").json()
    assert (told["status"], told["source_turn"], told["evidence"][0]["turn"]) == (
        "proposed",
        chat.pk,
        chat.pk,
    )
    assert client.get(f"/api/v1/turns/{chat.pk}/").json()["turn"]["author"]["name"] == "ana"


@BACKENDS
def test_what_the_assistant_says_of_itself_leaves_nothing(set_up: Callable[..., Stage], backend: str) -> None:
    stage = set_up(backend, review_policy="none")
    liking = Invention("The user prefers tabs", "dropped/needs_human_words", "I prefer tabs", "preference")
    stage.say(Say("How do you indent?", "I prefer tabs.", model=(liking,)))
    assert stage.live() == {}


@BACKENDS
def test_a_question_leaves_nothing(set_up: Callable[..., Stage], backend: str) -> None:
    stage = set_up(backend, review_policy="none")
    guess = Invention("用 Obsidian 有帮助", "dropped/asked", "用 Obsidian 会不会有帮助")
    stage.say(Say("用 Obsidian 会不会有帮助？", model=(guess,)))
    assert stage.live() == {}


@BACKENDS
@pytest.mark.parametrize(
    ("first", "then"),
    [
        pytest.param("数据库端口是 5432", "数据库端口是 5433", id="number"),
        pytest.param("缓存要用 Redis", "缓存不要用 Redis", id="polarity"),
        pytest.param("the database port is 5432", "the database port is 5433", id="number, English"),
        pytest.param("主色用蓝色", "主色用绿色", id="colour"),
    ],
)
def test_the_newer_value_replaces_the_older_and_is_never_merged(
    set_up: Callable[..., Stage], backend: str, first: str, then: str
) -> None:
    """Said with "remember:" and without; under no review, so that both ways end in force."""
    stage = set_up(backend, review_policy="none")
    for words, topic in ((first, "a"), (then, "b")):
        stage.say(Say(f"记住：{words}", topic=topic, heard=(("replaced",) if topic == "b" else ("stored",))))
    assert stage.live() == {then: "active"}
    old, new = Memory.objects.order_by("id")
    assert (old.status, new.replaces_id, len(new.evidence)) == ("superseded", old.pk, 1)


@BACKENDS
@pytest.mark.parametrize(
    ("paraphrases", "most"),
    [
        pytest.param(
            (
                "接口超时统一设为 30 秒",
                "接口超时统一设置为 30 秒",
                "接口的超时统一设为 30 秒",
                "接口超时要统一设为 30 秒",
                "我们接口超时统一设为 30 秒",
                "接口超时统一设为 30 秒。",
                "接口超时必须统一设为 30 秒",
                "接口超时应该统一设为 30 秒",
                "接口超时请统一设为 30 秒",
            ),
            2,
            id="zh",
        ),
        pytest.param(
            (
                "All endpoints must use a 30 second timeout",
                "All endpoints must use a 30 second timeout.",
                "all endpoints must use a 30 s timeout",
                "All endpoints must use the 30 second timeout",
                "All our endpoints must use a 30 second timeout",
                "All endpoints should use a 30 second timeout",
                "Please, all endpoints must use a 30 second timeout",
                "All endpoints must always use a 30 second timeout",
                "All endpoints need to use a 30-second timeout",
            ),
            2,
            id="en",
        ),
    ],
)
def test_nine_paraphrases_are_at_most_two_memories_and_one_with_a_model(
    set_up: Callable[..., Stage], backend: str, paraphrases: tuple[str, ...], most: int
) -> None:
    stage = set_up(backend, review_policy="none")
    for number, words in enumerate(paraphrases):
        line = Say(words, topic=f"t{number}")
        chat = stage.end(stage.open(line), line)
        stage.run(chat, [Note(words, "", key="timeout", type="constraint")])
    live = stage.live()
    assert 1 <= len(live) <= (1 if backend == "model" else most)


def test_the_same_text_in_two_threads_is_one_row_and_the_same_id_twice(set_up: Callable[..., Stage]) -> None:
    stage = set_up("rules")
    first = stage.open(Say("记住：登录态存 Cookie", topic="a", heard=("stored",)))
    second = stage.open(Say("记住：登录态存 Cookie", topic="b", heard=("already_known",)))
    ids = [chat.explicit["remembered"][0]["memory"] for chat in (first, second)]
    assert (ids[0], Memory.objects.count()) == (ids[1], 1)


def test_what_was_deleted_is_not_imported_again(set_up: Callable[..., Stage]) -> None:
    stage = set_up("rules")
    memory = make_memory(stage.project, "the depot opens at six")
    store.delete(project=stage.project, memory_id=memory.pk, by=stage.person)
    draft = store.Draft(type="fact", content="The depot opens at six.")
    with pytest.raises(store.Tombstoned) as refused:
        store.add(project=stage.project, draft=draft, source=Source.IMPORTED, by=WORKER)
    assert (refused.value.code, stage.live()) == ("tombstoned", {})


@BACKENDS
def test_an_edit_in_the_web_while_a_run_would_replace_it_stands(
    set_up: Callable[..., Stage], backend: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    stage = set_up(backend, review_policy="none")
    port = "数据库端口是 543{}".format
    stage.say(Say(port(2), rules={port(2): "stored/new"}, model=(Note(port(2), "stored/new"),)))
    name = "rules:Rules" if backend == "rules" else "llm:Llm"
    module, kind = name.split(":")
    read = getattr(__import__(f"memories.extraction.{module}", fromlist=[kind]), kind).extract

    def meanwhile(self: object, transcript: object) -> object:
        stage.act(Person("edit", port(2), port(4)))
        return read(self, transcript)

    monkeypatch.setattr(f"memories.extraction.{module}.{kind}.extract", meanwhile)
    stand = "dropped/manual_precedence"
    stage.say(Say(port(3), topic="b", rules={port(3): stand}, model=(Note(port(3), stand),)))
    assert stage.live() == {port(4): "active"}


def test_the_second_of_two_approvals_is_told_that_it_was_decided(
    set_up: Callable[..., Stage], api_as: Callable[..., APIClient]
) -> None:
    stage = set_up("rules")
    rule = "所有接口必须走网关"
    stage.say(Say(rule, rules={rule: "proposed/review_policy"}))
    address = f"/api/v1/projects/{stage.project.slug}/memories/{Memory.objects.get().pk}/confirm/"
    answers = [api_as(stage.project.owner).post(address) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 409]
    assert answers[1].json()["code"] == "proposal_decided"


@BACKENDS
@pytest.mark.parametrize(
    ("said", "content"),
    [
        pytest.param("我们决定下周一上线新版", "我们决定 2026-03-09 上线新版", id="zh"),
        pytest.param(
            "We decided to go live next Monday", "We decided to go live 2026-03-09", id="en, not written out"
        ),
    ],
)
def test_next_monday_of_march_is_the_ninth_although_it_is_read_in_april(
    set_up: Callable[..., Stage], backend: str, said: str, content: str
) -> None:
    stage = set_up(backend, review_policy="none")
    line = Say(said, at="2026-03-06 18:00")
    chat = stage.end(stage.open(line), line)
    stage.clock.set("2026-04-10 09:00")
    # The model writes down what it heard, as it heard it.
    stage.run(chat, [Note(said, "", type="decision")])
    assert stage.live() == {content: "active"}
    assert Memory.objects.get().said_at == chat.sent_at


@BACKENDS
def test_a_stranger_cannot_switch_on_again_what_somebody_switched_off(
    set_up: Callable[..., Stage], backend: str
) -> None:
    stage = set_up(backend, review_policy="none")
    said = "发布走 ArgoCD"
    stage.say(Say(said, rules={said: "stored/new"}, model=(Note(said, "stored/new"),)))
    stage.act(Person("disable", said))
    chat = stage.open(Say(f"记住：{said}", topic="b", by="stranger", heard=("needs_confirmation",)))
    assert chat.explicit["remembered"][0]["memory"] == Memory.objects.get().pk
    assert stage.live() == {said: "disabled"}


@BACKENDS
def test_only_the_newer_colour_is_recalled(set_up: Callable[..., Stage], backend: str) -> None:
    stage = set_up(backend)
    stage.say(Say("记住：主色用蓝色", heard=("stored",)))
    stage.say(Say("记住：主色用绿色", topic="b", heard=("replaced",)))
    assert stage.given("按钮主色用什么颜色？") == ["主色用绿色"]


@BACKENDS
def test_a_turn_whose_editor_failed_leaves_nothing_though_its_architect_succeeded(
    set_up: Callable[..., Stage], backend: str
) -> None:
    stage = set_up(backend, review_policy="none")
    line = Say("数据库端口是 5432", status="failed", steps=(("architect", "succeeded"), ("editor", "failed")))
    chat = stage.end(stage.open(line), line)
    stage.run(chat, [Note("数据库端口是 5432", "")])
    assert (stage.live(), Candidate.objects.count()) == ({}, 0)


@BACKENDS
def test_a_rule_and_its_swap_wait_for_each_other(set_up: Callable[..., Stage], backend: str) -> None:
    stage = set_up(backend, review_policy="none")
    one, swap = "we use pnpm, not npm", "we use npm, not pnpm"
    stage.say(Say(f"Remember: {one}", by="ana", heard=("stored",)))
    verdict = "proposed/contradicts"
    stage.say(Say(swap, topic="b", rules={swap: verdict}, model=(Note(swap, verdict),)))
    waiting = Memory.objects.get(content=swap)
    assert (waiting.status, waiting.contradicts.content) == ("proposed", one)
