"""Decides what becomes of a checked proposal, given what is live now. Pure; `run` reads the rows and writes
the outcome.

Precedence asks authority, not source. What was said earlier never replaces what was said later.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from memories import claims
from memories.dedupe import Relation, compare, one_value_changed
from memories.extraction.reasons import UNSTATED, Outcome, Reason
from memories.extraction.transcript import KnownMemory
from memories.extraction.verify import Checked
from memories.trust import needs_review

MAX_CANDIDATES = 8

ACTIVE, PROPOSED, DISABLED = "active", "proposed", "disabled"
PERSON = "person"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """`status` is that of the memory to write, empty where none is. `target_id` is what it merges into or
    would replace, `contradicts_id` what a person must weigh it against, `withdraws` the open proposals that
    it makes moot. `says_same`: the target already makes this claim.
    """

    outcome: Outcome
    reason: Reason
    status: str = ""
    target_id: int | None = None
    contradicts_id: int | None = None
    withdraws: tuple[int, ...] = ()
    says_same: bool = False


def choose(checked: Sequence[Checked], limit: int = MAX_CANDIDATES) -> list[Checked]:
    """Those that one run may bring, in the order said: first what is sure, what an Instruction says, what
    matters.
    """
    ranked = sorted(
        range(len(checked)),
        key=lambda i: (
            checked[i].waits is not None,
            checked[i].proposal.instruction_id is None,
            -checked[i].proposal.importance,
            i,
        ),
    )
    return [checked[i] for i in sorted(ranked[:limit])]


def judge(
    candidate: Checked,
    live: Sequence[KnownMemory],
    *,
    tombstone: str = "",
    policy: str,
    now: datetime,
    shown: Mapping[int, int] | None = None,
    distilled_before: bool = False,
) -> Verdict:
    """What becomes of `candidate`.

    `live` are the project's active, disabled and proposed memories as they are now; `shown` the versions the
    backend saw. `tombstone` says how a tombstone meets the candidate: its `content`, `near`ly, or only its
    `key`.
    """
    if tombstone in ("content", "near"):
        return _dropped(Reason.TOMBSTONED)
    if distilled_before:
        return _dropped(Reason.ALREADY_DISTILLED)
    content = candidate.proposal.content
    relations = [(memory, compare(memory.content, content)) for memory in live]
    for wanted in (Relation.SAME, Relation.NEAR):
        twins = [memory for memory, relation in relations if relation is wanted]
        if not twins:
            continue
        twin = min(twins, key=_standing)
        again = _again(candidate, twin, wanted)
        if again.reason is not Reason.PROPOSAL_OPEN:
            return again
        # What was doubted when it was proposed is now said beyond doubt, against what is in force.
        others = [(memory, relation) for memory, relation in relations if memory is not twin]
        alone = _said_first(candidate, others, tombstone, policy, now, shown)
        if alone.outcome is not Outcome.REPLACED:
            return again
        return replace(alone, withdraws=(twin.id, *alone.withdraws))
    return _said_first(candidate, relations, tombstone, policy, now, shown)


def _said_first(
    candidate: Checked,
    relations: Sequence[tuple[KnownMemory, Relation]],
    tombstone: str,
    policy: str,
    now: datetime,
    shown: Mapping[int, int] | None,
) -> Verdict:
    """What becomes of what nobody said before, given what it has to do with each live memory."""
    content, live = candidate.proposal.content, [memory for memory, _ in relations]
    said_at = min(candidate.said_at, now)
    direct = [memory for memory in live if _is_same_subject(candidate, memory)]
    rivals = direct + [
        memory
        for memory, relation in relations
        if relation is Relation.CONFLICT
        and memory not in direct
        and not _of_other_subject(memory.content, content)
    ]
    if not rivals:
        return _fresh(candidate, policy, tombstone)
    later = next((memory for memory in rivals if memory.said_at > said_at), None)
    if later is not None:
        return _dropped(Reason.STALE, later)
    from_this_turn = next((m for m in rivals if candidate.turn.id in m.turns and not m.fresh), None)
    if from_this_turn is not None:
        return _dropped(
            Reason.MANUAL_PRECEDENCE if from_this_turn.authority == PERSON else Reason.ALREADY_KNOWN,
            from_this_turn,
        )
    if candidate.waits in UNSTATED and (waiting := next((m for m in direct if m.status == PROPOSED), None)):
        # One proposal is open for a subject, and a doubtful one takes nobody's turn.
        return _dropped(candidate.waits, waiting)
    persons = next((memory for memory in rivals if memory.authority == PERSON), None)
    if persons is not None:
        if (shown or {}).get(persons.id, persons.version) != persons.version:
            # A person changed it while the run was going: nobody has weighed the two against each other.
            return _dropped(Reason.MANUAL_PRECEDENCE, persons)
        return _contradicting(persons, rivals if persons in direct else ())
    if not direct:
        return _contradicting(rivals[0])
    return _replacing(candidate, direct, policy, tombstone)


def _again(candidate: Checked, twin: KnownMemory, relation: Relation) -> Verdict:
    """Somebody said it before."""
    if twin.authority == PERSON or twin.status == DISABLED:
        # What a person switched off does not speak for a rule that was just given.
        says_same = twin.status != DISABLED
        return replace(_dropped(Reason.MANUAL_PRECEDENCE, twin), says_same=says_same)
    if candidate.turn.id in twin.turns or candidate.waits in UNSTATED:
        return replace(_dropped(Reason.ALREADY_KNOWN, twin), says_same=True)
    reason = Reason.DUPLICATE if relation is Relation.SAME else Reason.NEAR_DUPLICATE
    return Verdict(
        outcome=Outcome.MERGED,
        reason=Reason.PROPOSAL_OPEN if twin.status == PROPOSED else reason,
        target_id=twin.id,
        says_same=True,
    )


def _fresh(candidate: Checked, policy: str, tombstone: str, withdraws: tuple[int, ...] = ()) -> Verdict:
    """Nothing in force is about the same."""
    waits = candidate.waits or (Reason.TOMBSTONED_KEY if tombstone == "key" else None)
    proposal = candidate.proposal
    if waits is None and needs_review(
        policy, type=proposal.type, importance=proposal.importance, replaces=False
    ):
        waits = Reason.REVIEW_POLICY
    if waits is not None:
        return Verdict(outcome=Outcome.PROPOSED, reason=waits, status=PROPOSED, withdraws=withdraws)
    return Verdict(outcome=Outcome.STORED, reason=Reason.NEW, status=ACTIVE, withdraws=withdraws)


def _replacing(candidate: Checked, direct: Sequence[KnownMemory], policy: str, tombstone: str) -> Verdict:
    """The newer word about what automatic writers kept. Open proposals about it give way to it."""
    withdraws = tuple(memory.id for memory in direct if memory.status == PROPOSED)
    target = max((m for m in direct if m.status != PROPOSED), key=lambda m: m.said_at, default=None)
    if target is None:
        would_replace = next((m.replaces for m in direct if m.replaces is not None), None)
        if would_replace is not None:
            return Verdict(
                outcome=Outcome.PROPOSED,
                reason=candidate.waits or Reason.REPLACEMENT,
                status=PROPOSED,
                target_id=would_replace,
                withdraws=withdraws,
            )
        return _fresh(candidate, policy, tombstone, withdraws)
    if _is_in_force_at_once(candidate, target, policy) and tombstone != "key":
        return Verdict(
            outcome=Outcome.REPLACED,
            reason=Reason.POLICY_NONE if policy == "none" else Reason.STATED_BY_HUMAN,
            status=ACTIVE,
            target_id=target.id,
            withdraws=withdraws,
        )
    return Verdict(
        outcome=Outcome.PROPOSED,
        reason=candidate.waits or Reason.REPLACEMENT,
        status=PROPOSED,
        target_id=target.id,
        withdraws=withdraws,
    )


def _is_in_force_at_once(candidate: Checked, target: KnownMemory, policy: str) -> bool:
    if candidate.waits is not None or not candidate.by_human or policy == "all":
        return False
    if policy == "none":
        return True
    never_vouched_for = target.source == "extracted" and not target.confirmed
    return never_vouched_for and (candidate.proposal.type != "constraint" or target.type == "constraint")


def _is_same_subject(candidate: Checked, memory: KnownMemory) -> bool:
    """Whether the candidate would take the memory's place: one value changed, the key it was shown, or by its
    own word.
    """
    proposal = candidate.proposal
    return (
        (bool(proposal.replaces_key) and memory.key == proposal.replaces_key)
        or (candidate.key_given and memory.key == proposal.key)
        or one_value_changed(memory.content, proposal.content)
    )


def _of_other_subject(a: str, b: str) -> bool:
    """service1 的端口是 1000 beside service2 的端口是 2000: said of something else."""
    left, right = claims.read(a), claims.read(b)
    if not left.predicate or not right.predicate:
        return False
    one, other = ([(t.kind, t.value) for t in claim.tokens[: claim.predicate]] for claim in (left, right))
    return one != other


def _contradicting(memory: KnownMemory, rivals: Sequence[KnownMemory] = ()) -> Verdict:
    return Verdict(
        outcome=Outcome.PROPOSED,
        reason=Reason.CONTRADICTS,
        status=PROPOSED,
        contradicts_id=memory.id,
        withdraws=tuple(m.id for m in rivals if m.status == PROPOSED and m.authority != PERSON),
    )


def _dropped(reason: Reason, target: KnownMemory | None = None) -> Verdict:
    return Verdict(outcome=Outcome.DROPPED, reason=reason, target_id=target.id if target else None)


def _standing(memory: KnownMemory) -> tuple[bool, bool, int]:
    """A person's before an automatic one, one in force before one that waits."""
    return memory.authority != PERSON, memory.status == PROPOSED, memory.id
