"""When the guard's rules change, what was kept before is looked at again: verdicts renewed, copies masked."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats.models import Chat, Instruction, Summary, Topic
from memories import guard, store, tasks
from memories.models import Candidate, Extraction, Memory, Recall, RecallBlock, Source, Status
from memories.store import rescan
from projects.actors import SYSTEM, WORKER, Actor
from projects.models import AuditEvent
from tests.chats.turns import finished, opened
from tests.factories import make_memory, make_project

if TYPE_CHECKING:
    from projects.models import Project

pytestmark = pytest.mark.django_db
OLD = guard.GUARD_VERSION
# What only the newer rules know.
SECRET = "zebra7Kq"
SAID = f"The gate opens with {SECRET}."
MASKED = "The gate opens with ze***."


@pytest.fixture
def project() -> Project:
    return make_project("shop")


def newer_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """`SECRET` is a secret from now on, "dubious" is held for a person, "commanding" is an order."""
    inspect, mask = guard.inspect, guard.mask
    words: dict[str, tuple[Any, str, Any]] = {
        SECRET: ("secret", "zebra", "refuse"),
        "dubious": ("injection", "doubt", "hold"),
        "commanding": ("injection", "override", "refuse"),
    }

    def inspecting(text: str) -> list[guard.Finding]:
        found = [
            guard.Finding(kind, code, at, at + len(word), sure)
            for word, (kind, code, sure) in words.items()
            if (at := text.find(word)) >= 0
        ]
        return [*inspect(text), *found]

    monkeypatch.setattr(guard, "inspect", inspecting)
    monkeypatch.setattr(guard, "mask", lambda text: mask(text).replace(SECRET, "ze***"))
    monkeypatch.setattr(guard, "GUARD_VERSION", OLD + 1)


def learned(project: Project, content: str, **fields: Any) -> Memory:
    draft = store.Draft(type="fact", content=content, **fields)
    return store.propose(
        project=project, draft=draft, source=Source.EXTRACTED, by=WORKER, status=Status.ACTIVE
    )


def standing(memory: Memory) -> tuple[str, str, int]:
    memory.refresh_from_db()
    return memory.status, memory.withheld_for, memory.guard_version


def holding(text: str) -> set[str]:
    """The columns, of all tables, in which the text stands."""
    found = set()
    for model in apps.get_models(include_auto_created=True):
        for row in model._base_manager.values():
            found |= {f"{model._meta.label}.{name}" for name, value in row.items() if text in str(value)}
    return found


@pytest.mark.parametrize(
    ("content", "by_person", "code"),
    [
        pytest.param("Deploys happen at night.", False, "", id="ordinary"),
        pytest.param("A dubious rule.", False, "doubt", id="held, from a machine"),
        pytest.param("A dubious rule.", True, "", id="held, from a person who stands behind it"),
        pytest.param("A commanding rule.", False, "override", id="refused, from a machine"),
        pytest.param("A commanding rule.", True, "override", id="refused, whoever wrote it"),
        pytest.param(SAID, True, "zebra", id="a secret"),
    ],
)
def test_newer_rules_renew_the_verdict(
    project: Project, monkeypatch: pytest.MonkeyPatch, content: str, by_person: bool, code: str
) -> None:
    memory = make_memory(project, content) if by_person else learned(project, content)
    newer_rules(monkeypatch)
    rescan.run(by=WORKER)
    assert standing(memory) == ("active", code, OLD + 1)
    assert Memory.objects.recallable().filter(pk=memory.pk).exists() is (code == "")
    versions = list(memory.history.order_by("history_id").values_list("action", "history_change_reason"))  # type: ignore[attr-defined]
    assert versions == [("create", None), *([("rescan", f"guard:{code}")] if code else [])]


def test_a_proposal_that_is_held_waits_for_its_person_whoever_proposed_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    waiting = make_memory(project, "Deploys happen at night.")
    Memory.objects.filter(pk=waiting.pk).update(status=Status.PROPOSED, content="A dubious rule.")
    newer_rules(monkeypatch)
    rescan.run(by=WORKER)
    assert standing(waiting) == ("proposed", "doubt", OLD + 1)


def test_what_the_rules_no_longer_mean_is_let_go(project: Project) -> None:
    memory = learned(project, "Deploys happen at night.")
    Memory.objects.filter(pk=memory.pk).update(withheld=True, withheld_for="doubt", guard_version=OLD - 1)
    looked = rescan.run(by=WORKER)
    assert standing(memory) == ("active", "", OLD)
    assert looked.verdicts == [rescan.Verdict(project="shop", memory_id=memory.pk, code="")]


def test_a_recall_under_way_learns_of_it_and_one_that_is_not_concerned_keeps_its_index(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = make_project("quiet")
    learned(project, "A dubious rule.")
    learned(other, "Deploys happen at night.")
    before = {one.pk: one.memory_version for one in (project, other)}
    newer_rules(monkeypatch)
    rescan.run(by=WORKER)
    for one in (project, other):
        one.refresh_from_db()
    assert project.memory_version != before[project.pk]
    assert other.memory_version == before[other.pk]


def test_an_undo_goes_past_it(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    memory = learned(project, "A dubious rule.")
    by = Actor.for_user(project.owner, transport="web")
    store.edit(project=project, memory_id=memory.pk, changes={"importance": 2}, by=by)
    Memory.objects.filter(pk=memory.pk).update(authority="automatic")
    newer_rules(monkeypatch)
    rescan.run(by=WORKER)
    assert standing(memory)[1] == "doubt"
    undone = store.undo(project=project, memory_id=memory.pk, by=by)
    assert undone is not None
    assert undone.importance == 3


def test_somebody_who_was_quicker_is_looked_at_in_the_next_round(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = learned(project, "A dubious rule.")
    newer_rules(monkeypatch)
    verdict = rescan.verdict
    by = Actor.for_user(project.owner, transport="web")

    def slow(one: Memory) -> str:
        store.disable(project=project, memory_id=one.pk, by=by)
        return verdict(one)

    monkeypatch.setattr(rescan, "verdict", slow)
    assert rescan.run(by=WORKER).verdicts == []
    assert standing(memory) == ("disabled", "", OLD)
    monkeypatch.setattr(rescan, "verdict", verdict)
    rescan.run(by=WORKER)
    assert standing(memory) == ("disabled", "", OLD + 1)


@pytest.fixture
def said_everywhere(project: Project) -> Chat:
    """`SAID`, in every place where words are kept besides the talk itself."""
    # Rules that do not know it let all of this in.
    memory = learned(
        project,
        SAID,
        keywords=(SECRET,),
        evidence=(store.Evidence(quote=SAID, role="user", chat_id=None, said_at=project.created_at),),
    )
    store.edit(
        project=project,
        memory_id=memory.pk,
        changes={"importance": 2},
        reason=SAID,
        by=Actor.for_user(project.owner, transport="web"),
    )
    turn = opened(project, f"以后列表一律按 {SECRET} 排序。").chat
    turn = finished(project, turn)
    Chat.objects.filter(pk=turn.pk).update(
        digest=SAID, error=SAID, agent=SECRET, explicit={"refused": [{"text": SAID, "code": "too_long"}]}
    )
    Topic.objects.filter(pk=turn.topic_id).update(title=SECRET, area=SECRET)
    Summary.objects.create(topic_id=turn.topic_id, through=1, text=SAID, tokens=9, backend="rules")
    run = Extraction.objects.create(
        project=project,
        topic_id=turn.topic_id,
        trigger="turn",
        backend="llm",
        raw_output=SAID,
        error=SECRET,
        lease_token="token",
    )
    Candidate.objects.create(
        extraction=run, position=0, type="fact", key=SECRET, content=SAID, quote=SAID, chat=turn
    )
    return turn


STILL = {"memories.Memory.content", "memories.Memory.keywords", "chats.Chat.message"}


COPIED = {
    "memories.Memory.evidence",
    "memories.HistoricalMemory.content",
    "memories.HistoricalMemory.evidence",
    "memories.HistoricalMemory.keywords",
    "memories.HistoricalMemory.history_change_reason",
    "memories.Candidate.content",
    "memories.Candidate.quote",
    "memories.Candidate.key",
    "memories.Extraction.raw_output",
    "memories.Extraction.error",
    "memories.Recall.query",
    "chats.Chat.agent",
    "chats.Chat.digest",
    "chats.Chat.error",
    "chats.Chat.explicit",
    "chats.Instruction.content",
    "chats.Summary.text",
    "chats.Topic.area",
    "chats.Topic.title",
    "projects.AuditEvent.reason",
}


def test_a_secret_that_is_newly_known_is_masked_in_every_copy(
    project: Project, said_everywhere: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert holding(SECRET) >= COPIED | STILL
    newer_rules(monkeypatch)
    rescan.run(by=WORKER)
    # A person decides about the memory, which is recalled no more; the talk stays as it was said.
    assert holding(SECRET) == STILL
    summary = Summary.objects.get()
    assert (summary.text, summary.tokens) == (MASKED, 7)
    assert Candidate.objects.values_list("content", "quote", "key").get() == (MASKED, MASKED, "ze***")
    rule = Instruction.objects.get()
    assert (rule.state, SECRET in rule.content) == ("dismissed", False)
    assert AuditEvent.objects.filter(action="instruction.dismiss", reason="zebra").count() == 1


def test_where_a_project_wants_it_the_talk_is_masked_too(
    project: Project, said_everywhere: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.mask_chats = True
    project.save()
    newer_rules(monkeypatch)
    rescan.run(by=WORKER)
    assert holding(SECRET) == STILL - {"chats.Chat.message"}


def test_a_block_that_held_it_goes_and_its_recall_stays(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    learned(project, SAID, always=True)
    opened(project, "What opens the gate?")
    assert SECRET in RecallBlock.objects.get().text
    newer_rules(monkeypatch)
    rescan.run(by=WORKER)
    assert (RecallBlock.objects.count(), Recall.objects.get().block_id) == (0, None)


def test_looked_at_once_it_is_not_due_any_more(
    project: Project, said_everywhere: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer_rules(monkeypatch)
    assert rescan.is_due()
    tasks.look_again()
    assert not rescan.is_due()
    rows = AuditEvent.objects.count(), Memory.history.count()
    tasks.look_again()
    assert (AuditEvent.objects.count(), Memory.history.count()) == rows


def test_a_round_that_is_over_goes_on_where_it_stopped(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rescan, "BATCH", 2)
    for copies in rescan.COPIES:
        monkeypatch.setattr(copies, "batch", 2)
    for number in range(5):
        learned(project, f"Gate {number} is dubious, {'abcde'[number] * 9}.")
    newer_rules(monkeypatch)
    rounds = 0
    seen: dict[str, int] = {}
    while rescan.is_due():
        looked = rescan.run(by=WORKER, budget_s=0)
        rounds += 1
        for label, number in looked.seen.items():
            seen[label] = seen.get(label, 0) + number
    assert (seen["memories.Memory"], seen["memories.HistoricalMemory"]) == (5, 10)
    assert rounds > 5
    assert Memory.objects.filter(withheld_for="doubt", version=2).count() == 5


def test_one_that_cannot_be_written_keeps_no_other_from_it(
    project: Project, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    broken, fine = make_project("broken"), learned(project, "A dubious rule.")
    learned(broken, "A dubious rule.")
    newer_rules(monkeypatch)
    lock = rescan.lock

    def locking(one: Project) -> None:
        if one.slug == "broken":
            raise ValueError(SECRET)
        lock(one)

    monkeypatch.setattr(rescan, "lock", locking)
    rescan.run(by=WORKER)
    assert standing(fine) == ("active", "doubt", OLD + 1)
    assert f"memories of project {broken.pk} could not be looked at again" in caplog.text


def test_a_dry_run_tells_and_writes_nothing(
    project: Project, said_everywhere: Chat, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory = learned(project, "A dubious rule.")
    newer_rules(monkeypatch)
    before = holding(SECRET)
    told = StringIO()
    with CaptureQueriesContext(connection) as asked:
        call_command("rescan", "--dry-run", stdout=told)
    writes = [one["sql"] for one in asked if one["sql"].split()[0] in ("INSERT", "UPDATE", "DELETE")]
    assert writes == []
    assert holding(SECRET) == before
    assert f"shop: memory {memory.pk} withheld for doubt" in told.getvalue()
    assert "Nothing was written." in told.getvalue()
    assert SECRET not in told.getvalue()


def test_the_command_says_what_it_did(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    learned(project, "A dubious rule.")
    newer_rules(monkeypatch)
    told = StringIO()
    call_command("rescan", stdout=told)
    lines = told.getvalue().splitlines()
    assert lines[0].split()[-3:] == ["looked", "at", "changed"]
    assert lines[1].split() == ["memories.Memory", "1", "1"]
    again = StringIO()
    call_command("rescan", stdout=again)
    assert "Everything was looked at under these rules already." in again.getvalue()
    assert AuditEvent.objects.filter(actor_kind=SYSTEM.kind, action="guard.rescan").exists()
