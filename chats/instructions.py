"""Working memory: rules that hold in one topic at once, before they are (or are not) memories."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from django.db import transaction

from chats.errors import InstructionDismissed
from chats.models import Instruction, Topic
from memories import explicit, guard, store
from memories.dedupe import Relation, compare, one_value_changed
from memories.models import Memory, Source, Status
from memories.tokens import count
from projects import audit
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from chats.models import Chat
    from memories.explicit import Reading
    from projects.actors import Actor
    from projects.models import Project

MAX_INSTRUCTIONS = 8
MAX_TOKENS = 600
State = Instruction.State


class Refused(NamedTuple):
    """A rule that was not taken, by its span in the message, and the code that says why."""

    start: int
    end: int
    code: str


def take(*, topic: Topic, chat: Chat, reading: Reading) -> list[Refused]:
    """Put the directives and corrections of a message in force in its topic; the topic is locked already.

    The same subject replaces its older wording; over MAX_INSTRUCTIONS or MAX_TOKENS the oldest give way. Returns
    what was refused: by the guard, or because it alone has more than MAX_TOKENS.
    """
    if not reading.utterances:
        return []
    kept = list(Instruction.objects.filter(topic=topic).in_force())
    refused: list[Refused] = []
    for utterance in reading.utterances:
        if finding := guard.worst(guard.inspect(utterance.text)):
            code = store.GuardRefused.CODES[finding.kind]
            refused.append(Refused(utterance.start, utterance.end, code))
            continue
        tokens = count(utterance.text)
        if tokens > MAX_TOKENS:
            refused.append(Refused(utterance.start, utterance.end, "rule_too_long"))
            continue
        _end((old for old in kept if _same_subject(old.content, utterance.text)), as_=State.DISMISSED)
        kept = [old for old in kept if old.state != State.DISMISSED]
        kept.append(
            Instruction.objects.create(
                topic=topic,
                chat=chat,
                kind=utterance.kind,
                content=utterance.text,
                tokens=tokens,
            )
        )
    while len(kept) > MAX_INSTRUCTIONS or sum(one.tokens for one in kept) > MAX_TOKENS:
        _end([kept.pop(0)], as_=State.ENDED)
    return refused


def given(instructions: Sequence[Instruction], *, refs: Iterable[int]) -> list[Instruction]:
    """Those that the turn is told: all in force but the ones whose memory stands in its block already.

    A rule comes back when its memory is switched off or not recalled for this turn. It does not when something newer
    is in force in its place. One whose memory was deleted went with it.
    """
    in_block = set(refs)
    left = [item for item in instructions if item.memory_id is None or item.memory_id not in in_block]
    elsewhere = [item.memory_id for item in left if item.memory_id is not None]
    replaced: set[int] = set()
    if elsewhere:
        older = Memory.objects.filter(
            pk__in=elsewhere, status=Status.SUPERSEDED, replaced_by__status=Status.ACTIVE
        )
        replaced = set(older.values_list("pk", flat=True))
    return [item for item in left if item.memory_id not in replaced]


@atomic_retry
def dismiss(*, instruction: Instruction, by: Actor, reason: str = "") -> Instruction:
    """Take a rule out of force in its topic. Once dismissed it stays so."""
    Topic.objects.select_for_update().get(pk=instruction.topic_id)
    in_force = Instruction.objects.filter(pk=instruction.pk).in_force()
    if in_force.update(state=State.DISMISSED):
        _record("instruction.dismiss", instruction, by=by, reason=reason)
    instruction.state = State.DISMISSED
    return instruction


@atomic_retry
def dismiss_latest(*, topic: Topic, by: Actor) -> Instruction | None:
    """取消刚才的规则: the newest rule of the topic goes."""
    latest = Instruction.objects.filter(topic=topic).in_force().last()
    if latest is None:
        return None
    latest.topic = topic
    return dismiss(instruction=latest, by=by)


@atomic_retry
def promote(*, instruction: Instruction, by: Actor) -> store.Remembered:
    """Make the rule a memory of the project at once, with a person's authority; what an agent promotes waits.

    The Instruction stays in the context until that memory is active and in the turn's block; one that ended with
    its topic does not come into force again. Raises InstructionDismissed.
    """
    project = instruction.topic.project
    store.lock(project)
    Topic.objects.select_for_update().get(pk=instruction.topic_id)
    instruction.refresh_from_db(fields=["state"])
    if instruction.state == State.DISMISSED:
        raise InstructionDismissed
    item = explicit.as_item(instruction.content)
    chat = instruction.chat
    draft = store.Draft(
        type=item.type,
        key=item.key,
        content=item.content,
        always=item.always,
        area=instruction.topic.area,
        evidence=(
            store.Evidence(quote=instruction.content, role="user", chat_id=chat.pk, said_at=chat.sent_at),
        ),
        said_at=chat.sent_at,
        topic_id=instruction.topic_id,
        chat_id=chat.pk,
    )
    if by.is_person:
        remembered = store.remember(project=project, draft=draft, by=by, announces_change=item.changes)
    else:
        remembered = _propose(project, draft, by=by)
    if remembered.memory is not None:
        _link(instruction, remembered.memory)
        _record("instruction.promote", instruction, by=by)
    return remembered


def promote_latest(*, topic: Topic, by: Actor) -> store.Remembered | None:
    """ "就是这个规则": the newest rule that is no memory yet becomes one."""
    latest = Instruction.objects.filter(topic=topic, state=State.ACTIVE).last()
    if latest is None:
        return None
    latest.topic = topic
    with transaction.atomic():
        return promote(instruction=latest, by=by)


def became(memories: Mapping[int, int]) -> None:
    """Note by id which memory each rule's words became in a run of distilling; the project is locked already.

    One that has ended does not come into force again, one that was taken back meanwhile stays so.
    """
    for instruction_id, memory_id in memories.items():
        rule = Instruction.objects.filter(pk=instruction_id)
        if rule.filter(state=State.ACTIVE).update(memory_id=memory_id, state=State.PROMOTED) == 0:
            rule.filter(state=State.ENDED).update(memory_id=memory_id)


def end_all(*, topic: Topic) -> int:
    """The topic is over, and its rules with it. Returns how many ended."""
    return Instruction.objects.filter(topic=topic).in_force().update(state=State.ENDED)


def _link(instruction: Instruction, memory: Memory) -> None:
    rule = Instruction.objects.filter(pk=instruction.pk)
    if rule.in_force().update(memory=memory, state=State.PROMOTED) == 0:
        rule.update(memory=memory)
    instruction.refresh_from_db(fields=["state", "memory"])


def _end(instructions: Iterable[Instruction], *, as_: State) -> None:
    for instruction in instructions:
        # Conditional: one that somebody took back meanwhile stays so.
        Instruction.objects.filter(pk=instruction.pk).in_force().update(state=as_)
        instruction.state = as_


def _propose(project: Project, draft: store.Draft, *, by: Actor) -> store.Remembered:
    try:
        memory = store.propose(project=project, draft=draft, source=Source.AGENT, by=by)
    except store.ContentTaken as taken:
        return store.Remembered(outcome=store.Outcome.ALREADY_KNOWN, memory=taken.memory)
    return store.Remembered(outcome=store.Outcome.NEEDS_CONFIRMATION, memory=memory)


def _same_subject(old: str, new: str) -> bool:
    """What merely seems to conflict stays, the newer rule last: short rules look alike."""
    return compare(old, new) in (Relation.SAME, Relation.NEAR) or one_value_changed(old, new)


def _record(action: str, instruction: Instruction, *, by: Actor, reason: str = "") -> None:
    audit.record(
        action,
        by=by,
        project=instruction.topic.project,
        target_type="instruction",
        target_id=instruction.pk,
        reason=guard.mask(reason),
    )
