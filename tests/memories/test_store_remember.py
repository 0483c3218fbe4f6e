"""The explicit channel's outcomes, each in both languages, and "Forget: …"."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories import store
from memories.models import Memory, Source, Status
from memories.store import Outcome, Remembered
from projects.actors import Actor
from projects.models import AuditEvent
from tests.factories import make_key, make_memory, make_project
from tests.memories.test_store import fresh, learned, person, proposal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from projects.models import Project

pytestmark = pytest.mark.django_db
# The same claim, again in other words, with one value changed, and merely contradicting.
WORDS = {
    "en": {
        "said": "The main color is blue.",
        "near": "the main color is BLUE",
        "changed": "The main color is green.",
        "other": "Deploys happen on Friday.",
        "secret": "The database password is Ab12cd34!x9Kq",
    },
    "zh": {
        "said": "主色用蓝色",
        "near": "主色 用蓝色。",
        "changed": "主色用绿色",
        "other": "每周五发布",
        "secret": "数据库密码是 Ab12cd34!x9Kq",
    },
}


@pytest.fixture
def project() -> Project:
    return make_project("shop")


@pytest.fixture(params=WORDS)
def words(request: pytest.FixtureRequest) -> dict[str, str]:
    return WORDS[request.param]


def author(project: Project, user: User | None) -> Actor:
    """A human whose words come through an agent's key."""
    return Actor.for_key(make_key(project)[0]).speaking_for(name="guest", user=user)


def remember(project: Project, content: str, *, stranger: bool = False, **kwargs: Any) -> Remembered:
    fields = {name: kwargs.pop(name) for name in ("key", "always") if name in kwargs}
    return store.remember(
        project=project,
        draft=store.Draft(type="constraint", content=content, **fields),
        by=author(project, None if stranger else project.owner),
        **kwargs,
    )


def test_stored(project: Project, words: dict[str, str]) -> None:
    result = remember(project, words["said"], always=True)
    memory = Memory.objects.get()
    assert (result.outcome, result.memory, result.other) == (Outcome.STORED, memory, None)
    assert (memory.source, memory.authority, memory.status) == ("explicit", "person", "active")
    assert (memory.importance, memory.always, memory.content) == (5, True, words["said"])
    assert (memory.created_by, AuditEvent.objects.get(action="memory.create").actor_kind) == (
        project.owner,
        "author",
    )


@pytest.mark.parametrize("again", ["said", "near"])
def test_already_known(again: str, project: Project, words: dict[str, str]) -> None:
    known = remember(project, words["said"]).memory
    result = remember(project, words[again])
    assert (result.outcome, result.memory, Memory.objects.get().version) == (Outcome.ALREADY_KNOWN, known, 1)


def test_already_known_as_extracted_becomes_a_persons_word(project: Project, words: dict[str, str]) -> None:
    known = learned(project, words["said"])
    result = remember(project, words["said"])
    assert (result.outcome, result.memory) == (Outcome.ALREADY_KNOWN, known)
    known = fresh(known)
    assert (known.authority, known.importance, known.confirmed_by) == ("person", 5, project.owner)


def test_a_proposal_is_confirmed(project: Project, words: dict[str, str]) -> None:
    waiting = proposal(project, words["said"])
    result = remember(project, words["near"])
    assert (result.outcome, result.memory) == (Outcome.CONFIRMED, waiting)
    assert (fresh(waiting).status, fresh(waiting).authority) == ("active", "person")


def test_what_was_switched_off_is_switched_on(project: Project, words: dict[str, str]) -> None:
    off = learned(project, words["said"])
    store.disable(project=project, memory_id=off.pk, by=person(project))
    result = remember(project, words["said"])
    assert (result.outcome, result.memory, fresh(off).status) == (Outcome.CONFIRMED, off, "active")


def test_replaced_when_one_value_changed(project: Project, words: dict[str, str]) -> None:
    old = remember(project, words["said"], key="color").memory
    result = remember(project, words["changed"], key="derived")
    assert (result.outcome, result.other) == (Outcome.REPLACED, old)
    assert result.memory is not None
    assert (result.memory.key, result.memory.replaces, result.memory.status) == ("color", old, "active")
    assert fresh(old).status == Status.SUPERSEDED


def test_replaced_under_a_key_that_the_author_wrote(project: Project, words: dict[str, str]) -> None:
    old = remember(project, words["said"], key="color", key_given=True).memory
    result = remember(project, words["other"], key="color", key_given=True)
    assert (result.outcome, result.other, fresh(old).status) == (Outcome.REPLACED, old, "superseded")


def test_replaced_when_the_words_announce_a_change(project: Project, words: dict[str, str]) -> None:
    old = remember(project, words["said"], key="color").memory
    result = remember(project, words["other"], key="color", announces_change=True)
    assert (result.outcome, result.other) == (Outcome.REPLACED, old)


def test_a_derived_key_that_is_taken_replaces_nothing(project: Project, words: dict[str, str]) -> None:
    old = remember(project, words["said"], key="color").memory
    result = remember(project, words["other"], key="color")
    assert (result.outcome, result.memory.key) == (Outcome.STORED, "color-2")
    assert fresh(old).status == Status.ACTIVE


@pytest.mark.parametrize(
    ("said", "other"),
    [
        pytest.param("Use pnpm, not npm", "Use npm, not pnpm", id="en"),
        pytest.param("页面用 pnpm 不用 npm", "页面用 npm 不用 pnpm", id="zh"),
    ],
)
def test_what_merely_contradicts_stays_beside_it_linked(said: str, other: str, project: Project) -> None:
    old = remember(project, said, key="a").memory
    result = remember(project, other, key="b")
    assert (result.outcome, result.other) == (Outcome.STORED, old)
    assert (result.memory.contradicts, result.memory.replaces, fresh(old).status) == (old, None, "active")


def test_a_strangers_word_does_not_undo_a_members(project: Project, words: dict[str, str]) -> None:
    old = make_memory(project, words["said"])
    result = remember(project, words["changed"], stranger=True)
    assert (result.outcome, result.other) == (Outcome.NEEDS_CONFIRMATION, old)
    assert result.memory is not None
    assert (result.memory.status, result.memory.replaces, fresh(old).status) == ("proposed", old, "active")
    store.confirm(project=project, memory_id=result.memory.pk, by=person(project))
    assert fresh(old).status == Status.SUPERSEDED


def test_a_strangers_word_does_not_switch_on_what_a_member_switched_off(
    project: Project, words: dict[str, str]
) -> None:
    off = learned(project, words["said"])
    store.disable(project=project, memory_id=off.pk, by=person(project))
    result = remember(project, words["said"], stranger=True)
    assert (result.outcome, result.memory, fresh(off).status) == (Outcome.NEEDS_CONFIRMATION, off, "disabled")


def test_one_proposal_at_a_time_waits_for_a_members_place_the_latest(project: Project) -> None:
    target = make_memory(project, "主色用蓝色", key="主色")
    first, second = (remember(project, f"主色用{said}色", stranger=True).memory for said in ("红", "绿"))
    waiting = Memory.objects.proposed().get(replaces=target)
    assert (waiting, fresh(first).status, fresh(target).status) == (second, "superseded", "active")


def test_a_strangers_proposal_does_not_take_the_turn_of_a_members(project: Project) -> None:
    target = make_memory(project, "主色用蓝色", key="主色")
    mine = remember(project, "主色用红色", only_propose=True).memory
    theirs = remember(project, "主色用绿色", stranger=True).memory
    assert set(Memory.objects.proposed().filter(replaces=target)) == {mine, theirs}
    assert mine.key != theirs.key


def test_no_two_proposals_wait_under_one_key(project: Project) -> None:
    by = Actor.for_key(make_key(project)[0])
    keys = [
        store.add(
            project=project,
            draft=store.Draft(type="constraint", content=content),
            source=Source.AGENT,
            by=by,
        ).key
        for content in ("登录页必须先校验手机号", "登录页必须记录审计日志")
    ]
    assert keys == ["登录页", "登录页-2"]


def test_strangers_undo_each_others_words(project: Project, words: dict[str, str]) -> None:
    old = remember(project, words["said"], stranger=True).memory
    result = remember(project, words["changed"], stranger=True)
    assert (result.outcome, result.other) == (Outcome.REPLACED, old)


def test_where_only_members_are_taken_at_their_word(words: dict[str, str]) -> None:
    project = make_project(explicit_policy="members")
    stranger = remember(project, words["said"], stranger=True)
    assert (stranger.outcome, stranger.memory.status) == (Outcome.NEEDS_CONFIRMATION, "proposed")
    again = remember(project, words["said"], stranger=True)
    assert (again.outcome, again.memory, Memory.objects.count()) == (
        Outcome.NEEDS_CONFIRMATION,
        stranger.memory,
        1,
    )
    assert remember(project, words["said"]).outcome == Outcome.CONFIRMED


def test_old_words_wait(project: Project, words: dict[str, str]) -> None:
    result = remember(project, words["said"], only_propose=True)
    assert (result.outcome, result.memory.status) == (Outcome.NEEDS_CONFIRMATION, "proposed")


def test_refused_without_the_secret(project: Project, words: dict[str, str]) -> None:
    result = remember(project, words["secret"])
    assert (result.outcome, result.code, result.memory) == (Outcome.REFUSED, "secret_found", None)
    assert "Ab***" in result.text
    assert "Ab12cd34!x9Kq" not in result.text + result.message
    assert not Memory.objects.exists()


def test_refused_when_it_is_too_long(project: Project, words: dict[str, str]) -> None:
    result = remember(project, words["said"] * 201)
    assert (result.outcome, result.code, len(result.text)) == (Outcome.REFUSED, "too_long", 200)
    assert not Memory.objects.exists()


# --- Forget: … ---------------------------------------------------------------------------------------------


def forget(project: Project, text: str, *, stranger: bool = False) -> tuple[Memory | None, list[Memory]]:
    by = author(project, None if stranger else project.owner)
    return store.forget(project=project, text=text, by=by)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        pytest.param("The main color is blue.", "the main color is blue", id="en, the same"),
        pytest.param("The main color is blue.", "main color", id="en, a part"),
        pytest.param("主色用蓝色", "主色用蓝色。", id="zh, the same"),
        pytest.param("主色用蓝色", "主色", id="zh, a part"),
        pytest.param("Tables show 1,000 rows.", "1000 rows", id="a number written in another way"),
        pytest.param("Refund policies are shown.", "refund policy", id="another number of one word"),
    ],
)
def test_exactly_one_match_is_switched_off(said: str, text: str, project: Project) -> None:
    memory = remember(project, said).memory
    remember(project, "Deploys happen on Friday.")
    assert forget(project, text) == (memory, [])
    assert (fresh(memory).status, Memory.objects.active().count()) == ("disabled", 1)


def test_of_several_matches_none_is_switched_off(project: Project) -> None:
    memories = [make_memory(project, f"{page}的主色用蓝色") for page in ("登录页", "首页")]
    found, candidates = forget(project, "主色用蓝色")
    assert (found, sorted(one.pk for one in candidates)) == (None, [one.pk for one in memories])
    assert Memory.objects.active().count() == 2


def test_the_exact_match_goes_before_longer_ones(project: Project) -> None:
    exact = make_memory(project, "主色用蓝色")
    make_memory(project, "登录页的主色用蓝色")
    assert forget(project, "主色用蓝色") == (exact, [])


def test_nothing_matches_nothing(project: Project) -> None:
    make_memory(project)
    assert forget(project, "billing") == (None, [])
    assert forget(project, "！") == (None, [])
    assert Memory.objects.active().count() == 1


def test_a_stranger_switches_off_no_members_memory(project: Project) -> None:
    memory = make_memory(project, "主色用蓝色")
    assert forget(project, "主色", stranger=True) == (None, [memory])
    assert fresh(memory).status == Status.ACTIVE


def test_what_waits_is_not_forgotten(project: Project) -> None:
    proposal(project, "主色用蓝色")
    assert forget(project, "主色") == (None, [])
    assert Memory.objects.get().source == Source.EXTRACTED


@pytest.mark.parametrize("given_up", ["disabled", "proposed"])
def test_what_was_given_up_and_is_said_again_replaces_what_took_its_place(
    given_up: str, words: dict[str, str], project: Project
) -> None:
    if given_up == "disabled":
        old = make_memory(project, words["said"], type="constraint")
        store.disable(project=project, memory_id=old.pk, by=person(project))
    else:
        old = proposal(project, words["said"])
    newer = make_memory(project, words["changed"], type="constraint")
    result = remember(project, words["said"])
    assert (result.outcome, result.other) == (Outcome.REPLACED, newer)
    assert [memory.content for memory in Memory.objects.active()] == [words["said"]]
    assert (fresh(old).status, fresh(newer).status) == ("superseded", "superseded")
    undone = store.restore(project=project, memory_id=newer.pk, by=person(project))
    assert list(Memory.objects.active()) == [undone]


def test_a_stranger_who_says_again_what_was_given_up_undoes_no_member(
    words: dict[str, str], project: Project
) -> None:
    old = make_memory(project, words["said"], type="constraint")
    store.disable(project=project, memory_id=old.pk, by=person(project))
    newer = make_memory(project, words["changed"], type="constraint")
    result = remember(project, words["said"], stranger=True)
    assert (result.outcome, result.memory, result.other) == (Outcome.NEEDS_CONFIRMATION, old, newer)
    assert list(Memory.objects.active()) == [newer]
