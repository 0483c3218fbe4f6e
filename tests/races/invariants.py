"""What holds in a project whatever happened in it, and in whatever order: looked over after every round of a race."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import pairwise
from typing import Any

from django.apps import apps
from django.db import connection

from chats.instructions import MAX_INSTRUCTIONS, MAX_TOKENS
from chats.models import Chat, Instruction, Topic
from memories.dedupe import content_hash
from memories.models import (
    LIVE_FOR_HASHES,
    LIVE_FOR_KEYS,
    Extraction,
    Memory,
    RecallBlock,
    RecallItem,
    Status,
    Tombstone,
)
from memories.recall.render import line_tokens
from projects import roles
from projects.models import AuditEvent, IdempotencyRecord, Project
from projects.roles import MATRIX, Permission, Role

History: Any = Memory.history.model
# What may follow a status in the next version of the same memory.
NEXT = {
    Status.PROPOSED: {Status.PROPOSED, Status.ACTIVE, Status.REJECTED, Status.SUPERSEDED, Status.ARCHIVED},
    Status.ACTIVE: {Status.ACTIVE, Status.DISABLED, Status.SUPERSEDED, Status.ARCHIVED, Status.PROPOSED},
    Status.DISABLED: {Status.DISABLED, Status.ACTIVE, Status.SUPERSEDED},
    Status.SUPERSEDED: {Status.SUPERSEDED, Status.ACTIVE},
    Status.REJECTED: {Status.REJECTED, Status.ACTIVE},
    Status.ARCHIVED: {Status.ARCHIVED, Status.ACTIVE},
}
_NAMED = re.compile(r"^- \w+ #(\d+) \(", re.MULTILINE)


class Rounds:
    """The rounds of a race in one project."""

    def __init__(self, project: Project) -> None:
        self.project = project
        self.looked = 0
        self._before = _memories(project)

    def look(self) -> None:
        """Everything that must hold, after a round in which every thread has come to its end."""
        connection.close()  # A new transaction: this one would not see what the threads committed.
        assert_whole(self.project)
        now = _memories(self.project)
        if now[1] != self._before[1]:
            assert now[0] != self._before[0], "memories changed, and recall's indexes are not told"
        self._before = now
        self.looked += 1

    def end(self) -> None:
        assert self.looked, "a race that nobody looked over"


def assert_whole(project: Project) -> None:
    _assert_memories(project)
    _assert_turns(project)
    _assert_runs(project)
    _assert_given(project)
    _assert_instructions(project)
    _assert_people(project)
    unfinished = IdempotencyRecord.objects.filter(status=None)
    assert not unfinished.exists(), "a request came to its end and its Idempotency-Key does not know it"


def assert_gone(project_id: int) -> None:
    """No row of the project is left in any table but the audit's."""
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if field.remote_field and field.remote_field.model is Project:
                left = model._base_manager.filter(**{field.attname: project_id}).count()
                assert left == 0, f"{left} rows of {model._meta.label}"


def _memories(project: Project) -> tuple[str, list[Any]]:
    version = Project.objects.values_list("memory_version", flat=True).get(pk=project.pk)
    rows = Memory.objects.of(project).order_by("pk")
    return version, list(rows.values_list("pk", "version", "status", "content", "key"))


def _assert_memories(project: Project) -> None:
    rows = list(Memory.objects.of(project))
    keys = Counter(row.key for row in rows if row.status in LIVE_FOR_KEYS)
    hashes = Counter(row.content_hash for row in rows if row.status in LIVE_FOR_HASHES)
    assert [key for key, count in keys.items() if count > 1] == [], "two live memories with one key"
    assert [one for one, count in hashes.items() if count > 1] == [], "two live memories with one content"

    versions: dict[int, list[Any]] = defaultdict(list)
    for version in History.objects.filter(project_id=project.pk).order_by("history_id"):
        versions[version.id].append(version)
    purged = set(
        AuditEvent.objects.filter(project_id=project.pk, action="memory.purge").values_list(
            "target_id", flat=True
        )
    )
    for row in rows:
        assert row.content_hash == content_hash(row.content)
        line = line_tokens(
            type=row.type,
            id=row.pk,
            said_on=row.said_at.date(),
            content=row.content,
            files=tuple(row.files),
        )
        assert row.tokens == line, "a stored count is not the line's"
        last = versions[row.pk][-1]
        for name in ("version", "status", "content", "key", "authority", "importance", "replaces_id"):
            if name != "replaces_id" or row.replaces_id is not None:
                assert getattr(last, name) == getattr(row, name), f"{name}: history's last is not the row"
        assert row.pk not in purged, "a purged memory is there"

    audited: dict[int, Counter[str]] = defaultdict(Counter)
    for target, action in AuditEvent.objects.filter(project_id=project.pk, target_type="memory").values_list(
        "target_id", "action"
    ):
        audited[target][action.removeprefix("memory.")] += 1
    assert set(versions) == set(audited) - purged
    for memory_id, told in versions.items():
        assert Counter(one.action for one in told) == audited[memory_id], "history and audit tell two stories"
        written = [one for one in told if one.history_type != "-"]
        assert [one.version for one in written] == list(range(1, len(written) + 1)), (
            "a version twice, or none"
        )
        for place, (before, after) in enumerate(pairwise(written), 1):
            # What is taken back goes to where it has been.
            been = {one.status for one in written[:place]} if after.action == "undo" else set()
            assert after.status in NEXT[Status(before.status)] | been, f"{before.status} → {after.status}"


def _assert_turns(project: Project) -> None:
    for topic in Topic.objects.of(project):
        chats = list(Chat.objects.filter(topic=topic))
        turns = sorted(chat.seq for chat in chats if chat.parent_id is None)
        assert turns == list(range(1, len(turns) + 1)), "a topic's turns are numbered from 1 without a gap"
        steps: dict[int, list[int]] = defaultdict(list)
        for chat in chats:
            assert chat.project_id == project.pk
            if chat.parent_id is not None:
                steps[chat.parent_id].append(chat.position)
            is_over = chat.status != "running"
            assert (chat.finished_at is not None) == is_over
        for positions in steps.values():
            assert sorted(positions) == list(range(1, len(positions) + 1))
        if project.memory_enabled and Chat.objects.undistilled().filter(topic=topic).exists():
            assert topic.distil_pending or topic.distil_lease_token, "turns wait, and nobody knows"
            assert topic.distil_due_at is not None


def _assert_runs(project: Project) -> None:
    reads: Counter[int] = Counter()
    by_run: dict[int, set[int]] = {}
    for run in Extraction.objects.filter(project=project):
        assert run.status != "running", "every thread has come to its end"
        assert run.finished_at is not None
        if run.status == "succeeded":
            reads.update(run.chats_read)
            by_run[run.pk] = set(run.chats_read)
    assert [chat for chat, count in reads.items() if count > 1] == [], "a turn read by two succeeded runs"
    for chat in Chat.objects.of(project).turns():
        if chat.distil_outcome in ("read", "nothing"):
            assert chat.status == "succeeded"
            assert chat.pk in by_run[chat.extraction_id], "read by a run that does not know it"
        elif chat.distil_outcome is None:
            assert chat.pk not in reads, "read, and still due"
        if chat.status in ("failed", "cancelled"):
            assert (chat.distil_outcome, chat.extraction_id) == (None, None)


def _assert_given(project: Project) -> None:
    items: dict[int, set[int]] = defaultdict(set)
    for chat_id, memory_id in RecallItem.objects.filter(recall__project=project).values_list(
        "recall__chat_id", "memory_id"
    ):
        items[chat_id].add(memory_id)
    known = set(AuditEvent.objects.filter(project_id=project.pk).values_list("target_id", flat=True))
    for chat in Chat.objects.of(project).turns():
        refs = chat.memory_refs or []
        assert len(refs) == len(set(refs))
        assert set(refs) == items[chat.pk], "memory_refs are not what the turn's recalls gave"
        assert set(refs) <= known
    purged = set(
        Tombstone.objects.filter(project=project, reason="purged").values_list("memory_id", flat=True)
    )
    for text in RecallBlock.objects.filter(project=project).values_list("text", flat=True):
        named = {int(number) for number in _NAMED.findall(text)}
        assert not named & purged, "a block holds what was purged"


def _assert_instructions(project: Project) -> None:
    for topic in Topic.objects.of(project):
        rules = list(Instruction.objects.filter(topic=topic))
        in_force = [rule for rule in rules if rule.state in ("active", "promoted")]
        assert len(in_force) <= MAX_INSTRUCTIONS
        assert sum(rule.tokens for rule in in_force) <= MAX_TOKENS
        if topic.status == "completed":
            assert in_force == [], "rules end with their topic"
        for rule in rules:
            assert (rule.state != "promoted") or rule.memory_id is not None
            _assert_not_promoted_after(rule)
        dismissed = AuditEvent.objects.filter(action="instruction.dismiss", target_type="instruction")
        told = set(dismissed.values_list("target_id", flat=True))
        assert [rule.pk for rule in in_force if rule.pk in told] == [], "a dismissed rule is in force"


def _assert_not_promoted_after(rule: Instruction) -> None:
    events = AuditEvent.objects.filter(target_type="instruction", target_id=rule.pk).order_by("pk")
    actions = list(events.values_list("action", flat=True))
    if "instruction.dismiss" in actions:
        assert actions.index("instruction.dismiss") == len(actions) - 1, (
            "a rule was promoted after it was dismissed"
        )


def _assert_people(project: Project) -> None:
    project = Project.objects.select_related("owner").get(pk=project.pk)
    held: dict[int, set[str]] = defaultdict(set)
    for user_id, permission in project.grants.values_list("user_id", "permission__codename"):
        held[user_id].add(permission)
    roles_of = dict.fromkeys(held, Role.COLLABORATOR) | {project.owner_id: Role.OWNER}
    assert held == {
        user_id: {str(permission) for permission in MATRIX[role]} for user_id, role in roles_of.items()
    }, "the grants are those of one owner, and of collaborators"
    assert roles.can(project.owner, Permission.ADMINISTER, project)
