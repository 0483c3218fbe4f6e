from __future__ import annotations

import itertools
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.utils import timezone

from chats.models import Chat, Instruction, Topic
from chats.transcripts import build_transcript
from memories import store
from memories.extraction import Extracted, Proposal, Settled, backend, known_memories, propose, settle
from memories.models import Candidate, Extraction, Memory, Source, Status
from projects.actors import WORKER, Actor
from tests.factories import make_project

if TYPE_CHECKING:
    from projects.models import Project

pytestmark = pytest.mark.django_db

_tokens = itertools.count(1)
NOON = timezone.now().replace(microsecond=0) - timedelta(days=30)


class Scripted:
    """A backend that proposes what the test says."""

    name, model, prompt_version = "scripted", "", "1"

    def __init__(self, *proposals: Proposal, raw: str = "") -> None:
        self.extracted = Extracted(candidates=proposals, raw=raw)

    def extract(self, transcript: object) -> Extracted:
        return self.extracted


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def person(project: Project) -> Actor:
    return Actor.for_user(project.owner, transport="web")


def said(project: Project, message: str, *, days: int = 0, topic: str = "t", **fields: Any) -> Chat:
    conversation, _ = Topic.objects.get_or_create(project=project, ref=topic, defaults={"area": "登录"})
    return Chat.objects.create(
        project=project,
        topic=conversation,
        seq=conversation.chats.count() + 1,
        message=message,
        status="succeeded",
        sent_at=NOON + timedelta(days=days),
        **fields,
    )


def distil(project: Project, *chats: Chat, using: Any = None) -> Settled:
    """A run over the turns, as `chats.distil` makes it."""
    topic = chats[0].topic
    transcript = build_transcript(topic, chats)
    extraction = Extraction.objects.create(
        project=project, topic=topic, trigger="turn", backend="rules", lease_token=f"token-{next(_tokens)}"
    )
    extracted = propose(transcript, backend=using or backend("rules"))
    with transaction.atomic():
        store.lock(project)
        return settle(
            project=project,
            extraction=extraction,
            extracted=extracted,
            transcript=transcript,
            now=timezone.now(),
            by=WORKER,
        )


def kept(project: Project) -> list[tuple[str, str]]:
    return list(Memory.objects.of(project).live().order_by("id").values_list("status", "content"))


def reasons(project: Project) -> list[tuple[str, str]]:
    rows = Candidate.objects.filter(extraction__project=project).order_by("extraction_id", "position")
    return list(rows.values_list("outcome", "reason"))


def test_what_a_turn_says_becomes_a_memory_with_its_evidence(project: Project) -> None:
    chat = said(project, "数据库端口是 5432。帮我做登录页")
    settled = distil(project, chat)
    memory = Memory.objects.get()
    assert (memory.status, memory.source, memory.authority) == ("active", "extracted", "automatic")
    assert (memory.content, memory.area, memory.said_at) == ("数据库端口是 5432", "登录", chat.sent_at)
    assert memory.evidence == [
        {"quote": "数据库端口是 5432", "role": "user", "chat": chat.pk, "said_at": chat.sent_at.isoformat()}
    ]
    assert (memory.source_topic_id, memory.source_chat_id) == (chat.topic_id, chat.pk)
    candidate = Candidate.objects.get()
    assert (candidate.outcome, candidate.reason, candidate.memory, candidate.chat) == (
        "stored",
        "new",
        memory,
        chat,
    )
    assert (settled.counts, settled.turns_kept_from) == ({"stored": 1}, {chat.pk})


def test_a_turn_that_distils_twice_changes_nothing(project: Project, person: Actor) -> None:
    turns = [
        said(project, "数据库端口是 5432"),
        said(project, "数据库端口是 5433", days=1),
        said(project, "我喜欢深色主题"),
    ]
    distil(project, *turns)
    edited = Memory.objects.get(content="我喜欢深色主题")
    store.edit(project=project, memory_id=edited.pk, changes={"content": "我喜欢浅色主题"}, by=person)
    before = list(Memory.objects.order_by("id").values_list("id", "version", "status", "content"))
    settled = distil(project, *turns)
    assert list(Memory.objects.order_by("id").values_list("id", "version", "status", "content")) == before
    assert reasons(project)[-3:] == [("dropped", "already_distilled")] * 3
    assert settled.turns_kept_from == set()


def test_the_same_words_in_two_topics_are_one_memory_with_two_quotes(project: Project) -> None:
    distil(project, said(project, "数据库端口是 5432"))
    distil(project, said(project, "对了，数据库端口是 5432。", topic="other", days=1))
    assert kept(project) == [("active", "数据库端口是 5432")]
    assert reasons(project)[1:] == [("merged", "duplicate")]
    assert [entry["quote"] for entry in Memory.objects.get().evidence] == [
        "数据库端口是 5432",
        "对了，数据库端口是 5432",
    ]


def test_the_same_words_are_known_again_whatever_their_plural_folds_to(project: Project) -> None:
    for day in range(2):
        distil(project, said(project, "We use policies", days=day, topic=f"t{day}"))
    assert reasons(project) == [("stored", "new"), ("merged", "duplicate")]


@pytest.mark.parametrize(
    ("first", "then"),
    [("数据库端口是 5432", "数据库端口是 5433"), ("we use pnpm for scripts", "we use npm for scripts")],
)
def test_a_newer_word_replaces_what_was_only_extracted(project: Project, first: str, then: str) -> None:
    distil(project, said(project, first))
    distil(project, said(project, then, days=1))
    old, new = Memory.objects.order_by("id")
    assert (old.status, new.status, new.content, new.replaces) == ("superseded", "active", then, old)
    assert new.key == old.key
    assert reasons(project)[1:] == [("replaced", "stated_by_human")]


def test_in_one_turn_the_last_word_stands(project: Project) -> None:
    distil(project, said(project, "数据库端口是 5432。缓存很快。数据库端口是 5433"))
    assert kept(project) == [("active", "数据库端口是 5433")]
    assert reasons(project) == [("stored", "new"), ("replaced", "stated_by_human")]


def test_an_older_word_distilled_late_is_stale(project: Project) -> None:
    distil(project, said(project, "we use pnpm for scripts", days=20))
    distil(project, said(project, "we use npm for scripts", topic="late"))
    assert kept(project) == [("active", "we use pnpm for scripts")]
    assert reasons(project)[1:] == [("dropped", "stale")]


def test_a_rule_waits_and_the_newest_open_proposal_is_the_only_one(project: Project) -> None:
    for day, number in enumerate((10, 20, 30)):
        distil(project, said(project, f"接口超时统一设为 {number} 秒", days=day))
    assert kept(project) == [("proposed", "接口超时统一设为 30 秒")]
    assert reasons(project)[1:] == [("proposed", "review_policy")] * 2


def test_two_different_rules_about_one_subject_wait_under_two_keys(project: Project) -> None:
    distil(project, said(project, "所有接口必须走网关"), said(project, "所有接口必须鉴权"))
    keys = Memory.objects.of(project).proposed().values_list("key", flat=True)
    assert len(set(keys)) == 2


def test_deleted_then_said_again_is_tombstoned(project: Project, person: Actor) -> None:
    distil(project, said(project, "数据库端口是 5432"))
    store.delete(project=project, memory_id=Memory.objects.get().pk, by=person)
    distil(project, said(project, "数据库端口是 5432", days=1))
    assert kept(project) == []
    assert reasons(project)[-1] == ("dropped", "tombstoned")


def test_rejected_then_suggested_again_is_no_new_proposal(project: Project, person: Actor) -> None:
    distil(project, said(project, "所有接口必须走网关"))
    store.reject(project=project, memory_id=Memory.objects.get().pk, by=person)
    distil(project, said(project, "所有接口必须走网关", days=1))
    assert kept(project) == []
    assert reasons(project)[-1] == ("dropped", "tombstoned")


def test_what_a_person_switched_off_stays_off(project: Project, person: Actor) -> None:
    distil(project, said(project, "数据库端口是 5432"))
    store.disable(project=project, memory_id=Memory.objects.get().pk, by=person)
    distil(project, said(project, "数据库端口是 5432", days=1))
    assert kept(project) == [("disabled", "数据库端口是 5432")]
    assert reasons(project)[-1] == ("dropped", "manual_precedence")


def test_a_contradiction_of_a_persons_memory_waits_beside_it(project: Project, person: Actor) -> None:
    theirs = store.add(
        project=project,
        draft=store.Draft(type="fact", content="数据库端口是 5432"),
        source=Source.MANUAL,
        by=person,
    )
    Memory.objects.filter(pk=theirs.pk).update(said_at=NOON - timedelta(days=1))
    distil(project, said(project, "数据库端口是 5433"))
    theirs.refresh_from_db()
    waiting = Memory.objects.get(status=Status.PROPOSED)
    assert (theirs.status, theirs.content) == ("active", "数据库端口是 5432")
    assert (waiting.contradicts, waiting.replaces) == (theirs, None)
    assert reasons(project) == [("proposed", "contradicts")]


def test_an_edit_during_the_run_stands(project: Project, person: Actor) -> None:
    distil(project, said(project, "数据库端口是 5432"))
    memory = Memory.objects.get()
    chat = said(project, "数据库端口是 5433", days=1)

    class EditedMeanwhile(Scripted):
        def extract(self, transcript: object) -> Extracted:
            store.edit(
                project=project, memory_id=memory.pk, changes={"content": "数据库端口是 5434"}, by=person
            )
            return backend("rules").extract(transcript)  # type: ignore[arg-type]

    distil(project, chat, using=EditedMeanwhile())
    assert kept(project) == [("active", "数据库端口是 5434")]
    assert reasons(project)[-1] == ("dropped", "manual_precedence")


def test_nothing_harmful_is_written_and_the_candidate_says_so_without_it(project: Project) -> None:
    secret = "Xk9#" + "vQ2mLp7w"
    quote = f"数据库密码是 {secret}"
    chat = said(project, f"{quote}。")
    harmful = Proposal(type="fact", content=quote, quote=quote, turn_id=chat.pk, key=f"db-{secret}")
    distil(project, chat, using=Scripted(harmful))
    candidate = Candidate.objects.get()
    assert (candidate.outcome, candidate.reason) == ("dropped", "secret_found")
    assert secret.casefold() not in f"{candidate.content} {candidate.quote} {candidate.key}".casefold()
    assert kept(project) == []


def test_an_invention_never_becomes_active(project: Project) -> None:
    project.review_policy = "none"
    project.save()
    chat = said(project, "我们用 Redis 做缓存")
    invented = Proposal(type="fact", content="Redis 的密码每周轮换", quote="用 Redis 做缓存", turn_id=chat.pk)
    unheard = replace(invented, quote="密码每周轮换一次")
    distil(project, chat, using=Scripted(invented, unheard))
    assert reasons(project) == [("proposed", "not_entailed"), ("dropped", "no_evidence")]
    assert [status for status, _ in kept(project)] == ["proposed"]


def test_more_than_eight_are_too_many(project: Project) -> None:
    lines = [f"service{i} 的端口是 {i}000" for i in range(1, 11)]
    chat = said(project, "\n".join(lines))
    made = [Proposal(type="fact", content=line, quote=line, turn_id=chat.pk) for line in lines]
    settled = distil(project, chat, using=Scripted(*made))
    assert settled.counts == {"stored": 8, "dropped": 2}
    assert reasons(project)[-2:] == [("dropped", "over_limit")] * 2


def test_what_no_database_takes_is_dropped_and_recorded(project: Project) -> None:
    chat = said(project, "端口是 5432")
    distil(
        project,
        chat,
        using=Scripted(Proposal(type="fact", content="a\ud800", quote="端口是 5432", turn_id=chat.pk)),
    )
    assert reasons(project) == [("dropped", "invalid_text")]


def test_a_signal_enters_and_names_the_memory_it_became(project: Project) -> None:
    chat = said(project, "下次不要再用 moment 了")
    instruction = Instruction.objects.create(
        topic=chat.topic, chat=chat, kind="directive", content="下次不要再用 moment 了", tokens=5
    )
    settled = distil(project, chat, using=Scripted())
    memory = Memory.objects.get()
    assert (memory.type, memory.status, memory.content) == ("constraint", "proposed", "不要再用 moment 了")
    assert settled.instructions == {instruction.pk: memory.pk}


def test_a_signal_that_a_persons_memory_already_says_names_that_memory(
    project: Project, person: Actor
) -> None:
    draft = store.Draft(type="constraint", content="不要再用 moment 了")
    theirs = store.add(project=project, draft=draft, source=Source.MANUAL, by=person)
    chat = said(project, "下次不要再用 moment 了")
    instruction = Instruction.objects.create(
        topic=chat.topic, chat=chat, kind="directive", content="下次不要再用 moment 了", tokens=5
    )
    assert distil(project, chat).instructions == {instruction.pk: theirs.pk}
    assert reasons(project) == [("dropped", "manual_precedence")]


def test_nobody_elses_project_bears_on_a_run(project: Project) -> None:
    other = make_project()
    distil(other, said(other, "数据库端口是 5432"))
    distil(project, said(project, "数据库端口是 5432"))
    assert kept(project) == kept(other) == [("active", "数据库端口是 5432")]


def test_known_are_the_memories_that_share_most_words_and_hold_their_keys(
    project: Project, person: Actor
) -> None:
    for content in (
        "the port of the database is 5432",
        "deploys go through ArgoCD",
        "the database runs in Frankfurt",
    ):
        store.add(
            project=project, draft=store.Draft(type="fact", content=content), source=Source.MANUAL, by=person
        )
    known = known_memories(project, "change the database port", limit=2)
    assert [memory.content for memory in known] == [
        "the port of the database is 5432",
        "the database runs in Frankfurt",
    ]
    assert known[0].version == 1
    store.disable(project=project, memory_id=known[0].id, by=person)
    assert [m.status for m in known_memories(project, "database port", limit=5)] == ["disabled", "active"]


def test_what_says_the_same_or_the_contrary_is_found_among_many_that_only_share_a_word(
    project: Project, person: Actor
) -> None:
    for number in range(60):
        draft = store.Draft(type="fact", content=f"数据库 table{number} holds rows of kind{number}")
        store.add(project=project, draft=draft, source=Source.MANUAL, by=person)
    theirs = store.add(
        project=project,
        draft=store.Draft(type="fact", content="数据库 端口是 5432"),
        source=Source.MANUAL,
        by=person,
    )
    Memory.objects.filter(pk=theirs.pk).update(said_at=NOON - timedelta(days=1))
    chat = said(project, "数据库 端口是 5432，好。那数据库 端口是 5433")
    same, other = (
        Proposal(type="fact", content=text, quote=text, turn_id=chat.pk)
        for text in ("数据库 端口是 5432", "数据库 端口是 5433")
    )
    distil(project, chat, using=Scripted(same, other))
    assert reasons(project) == [("dropped", "manual_precedence"), ("proposed", "contradicts")]
    assert Memory.objects.get(status=Status.PROPOSED).contradicts == theirs


def test_a_key_that_is_taken_is_found_whatever_its_memory_says(project: Project) -> None:
    distil(project, said(project, "数据库端口是 5432"))
    key = Memory.objects.get().key
    chat = said(project, "Redis 在 6379", days=1)
    newer = Proposal(type="fact", content="Redis 在 6379", quote="Redis 在 6379", turn_id=chat.pk, key=key)
    distil(project, chat, using=Scripted(newer))
    assert reasons(project)[-1] == ("replaced", "stated_by_human")


def test_settling_costs_no_query_for_each_live_memory(
    project: Project, person: Actor, django_assert_num_queries: Any
) -> None:
    for number in range(30):
        draft = store.Draft(type="fact", content=f"service{number} listens on port {number}000")
        store.add(project=project, draft=draft, source=Source.MANUAL, by=person)
    chat = said(project, "我们喜欢短句。谢谢")
    transcript = build_transcript(chat.topic, [chat])
    extraction = Extraction.objects.create(
        project=project, topic=chat.topic, trigger="turn", backend="rules", lease_token="queries"
    )
    fields: dict[str, Any] = {"transcript": transcript, "now": timezone.now(), "by": WORKER}
    with django_assert_num_queries(2):
        settle(project=project, extraction=extraction, extracted=Extracted(candidates=()), **fields)
