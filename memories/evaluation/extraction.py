"""What an extraction makes of labelled talk, held against what is worth keeping. Pure: nothing is written.

Measured twice: what a backend proposes, and what is left of it once it was checked and judged as a run does it,
against the memories that the conversation has brought so far.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

from memories import explicit, guard
from memories.evaluation.corpus import Conversation, Expected
from memories.extraction import dates
from memories.extraction.backends import Extracted, Proposal
from memories.extraction.judge import ACTIVE, PROPOSED, choose, judge
from memories.extraction.reasons import Outcome, Reason
from memories.extraction.rules import signal_proposals
from memories.extraction.transcript import KnownMemory, Transcript
from memories.extraction.verify import Checked, Rejected, check
from memories.text import fold, terms

POLICY = "important"
# Of the terms of a content, so many occur in the talk; its numbers and names all do.
MIN_SUPPORT = 0.6
_EXACT = re.compile(r"\d+(?:[.,:]\d+)*|[A-Za-z][\w.+#-]*[\d_./#+-][\w.+#-]*")


@dataclass(frozen=True, slots=True)
class Judged:
    """A proposal and what became of it: `active`, `proposed`, or dropped for a reason."""

    type: str
    content: str
    status: str
    reason: str
    supported: bool


@dataclass(slots=True)
class Score:
    """Counts; `right` are expected memories that were found, `wrong` contents that nobody expected."""

    right: int = 0
    wrong: int = 0
    missed: int = 0
    type_right: int = 0
    typed: int = 0
    invented: int = 0

    @property
    def precision(self) -> float | None:
        return self.right / (self.right + self.wrong) if self.right + self.wrong else None

    @property
    def recall(self) -> float | None:
        return self.right / (self.right + self.missed) if self.right + self.missed else None


@dataclass(frozen=True, slots=True)
class Mistake:
    """`what`: wrong, invented or missed."""

    conversation: str
    what: str
    type: str
    content: str
    reason: str = ""


@dataclass(slots=True)
class Report:
    """`proposals` is what the backend proposed, `kept` what a run leaves in force or before a person, `active` what
    it leaves in force. `types`: of `kept`; a miss and a hit count for the expected type, a mistake for its own.
    """

    conversations: int = 0
    nothing: int = 0
    stored_from_nothing: int = 0
    unreadable: int = 0
    proposals: Score = field(default_factory=Score)
    kept: Score = field(default_factory=Score)
    active: Score = field(default_factory=Score)
    types: dict[str, Score] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    mistakes: list[Mistake] = field(default_factory=list)


def measure(
    conversations: Iterable[Conversation], extract: Callable[[Transcript], Extracted | None]
) -> Report:
    """`extract` is a backend's; it gives None for an answer that could not be read."""
    report = Report()
    for conversation in conversations:
        extracted = extract(conversation.transcript)
        if extracted is None:
            report.unreadable += 1
            extracted = Extracted(candidates=())
        _add(report, conversation, settled(conversation.transcript, extracted))
    return report


def settled(transcript: Transcript, extracted: Extracted) -> list[Judged]:
    """What a run would make of the proposals, the conversation's signals included, in a project with no other
    memories. What it replaces itself is not kept.
    """
    proposals = signal_proposals(transcript, extracted.candidates)
    results = [check(proposal, transcript) for proposal in proposals]
    within = {id(result) for result in choose([one for one in results if isinstance(one, Checked)])}
    live: list[KnownMemory] = []
    judged: list[Judged] = []
    for proposal, result in zip(proposals, results, strict=True):
        if isinstance(result, Rejected):
            judged.append(_judged(transcript, proposal, "", result.reason))
        elif id(result) not in within:
            judged.append(_judged(transcript, result.proposal, "", Reason.OVER_LIMIT))
        else:
            judged.append(_decided(transcript, result, live))
    left = {memory.content for memory in live}
    return [
        one if not one.status or one.content in left else replace(one, status="", reason="superseded")
        for one in judged
    ]


def _decided(transcript: Transcript, candidate: Checked, live: list[KnownMemory]) -> Judged:
    """The verdict on one candidate; `live` follows it."""
    proposal = candidate.proposal
    found = guard.worst(guard.inspect(proposal.content))
    if found is not None and found.certainty == "refuse":
        return _judged(
            transcript,
            proposal,
            "",
            Reason.SECRET_FOUND if found.kind == "secret" else Reason.INJECTION_FOUND,
        )
    verdict = judge(candidate, live, policy=POLICY, now=max(turn.sent_at for turn in transcript.turns))
    status = verdict.status
    if verdict.outcome is Outcome.MERGED:
        # Said again: one memory, and that is counted already.
        status = ""
    gone = {*verdict.withdraws, *([verdict.target_id] if verdict.outcome is Outcome.REPLACED else [])}
    live[:] = [memory for memory in live if memory.id not in gone]
    if verdict.outcome in (Outcome.STORED, Outcome.PROPOSED, Outcome.REPLACED):
        live.append(
            KnownMemory(
                id=len(live) + 1 + max((memory.id for memory in live), default=0),
                type=proposal.type,
                key=proposal.key or explicit.derive_key(proposal.content),
                content=proposal.content,
                said_at=candidate.said_at,
                status=verdict.status,
                turns=frozenset({candidate.turn.id}),
                fresh=True,
                replaces=verdict.target_id if verdict.status == PROPOSED else None,
            )
        )
    return _judged(transcript, proposal, status, verdict.reason)


def _judged(transcript: Transcript, proposal: Proposal, status: str, reason: Reason) -> Judged:
    return Judged(
        type=proposal.type,
        content=proposal.content,
        status=status,
        reason=reason.value,
        supported=is_supported(proposal.content, transcript),
    )


def is_supported(content: str, transcript: Transcript) -> bool:
    """Whether the talk has what a content says: its numbers and names, and most of its words. A rough test of its
    own, so that what the checks let through is still seen.
    """
    said = "\n".join(text for turn in transcript.turns for text in (turn.message, turn.reply))
    for turn in transcript.turns:
        content = dates.without_resolved(content, f"{turn.message}\n{turn.reply}", turn.sent_at.date())
    talk = fold(said).casefold()
    if any(exact.casefold().strip(".-,:") not in talk for exact in _EXACT.findall(fold(content))):
        return False
    needed, known = set(terms(content)), set(terms(said))
    return len(needed & known) >= MIN_SUPPORT * len(needed)


def _add(report: Report, conversation: Conversation, judged: Sequence[Judged]) -> None:
    report.conversations += 1
    for one in judged:
        report.outcomes[f"{one.status or 'dropped'}: {one.reason}"] += 1
    wanted = [
        item for item in conversation.keep if not any(item.is_in(heard) for heard in conversation.heard)
    ]
    kept = [one for one in judged if one.status]
    if not conversation.keep:
        report.nothing += 1
        report.stored_from_nothing += bool(kept)
    _score(report.proposals, judged, wanted, conversation.may)
    _score(report.active, [one for one in kept if one.status == ACTIVE], wanted, conversation.may)
    hits, wrong, missed = _score(report.kept, kept, wanted, conversation.may)
    for expected, one in hits:
        own = report.types.setdefault(expected.type or one.type, Score())
        own.right, own.typed = own.right + 1, own.typed + bool(expected.type)
        own.type_right += expected.type == one.type
    for one in wrong:
        own = report.types.setdefault(one.type, Score())
        own.wrong, own.invented = own.wrong + 1, own.invented + (not one.supported)
        what = "wrong" if one.supported else "invented"
        report.mistakes.append(
            Mistake(conversation.id, what, one.type, one.content, f"{one.status}: {one.reason}")
        )
    for expected in missed:
        report.types.setdefault(expected.type or "any", Score()).missed += 1
        near = next((one for one in judged if not one.status and expected.is_in(one.content)), None)
        report.mistakes.append(
            Mistake(conversation.id, "missed", expected.type, str(expected), near.reason if near else "")
        )


def _score(
    score: Score, found: Sequence[Judged], wanted: Sequence[Expected], may: Sequence[Expected]
) -> tuple[list[tuple[Expected, Judged]], list[Judged], list[Expected]]:
    """Add to the score; who met whom, who met nobody, and what nobody met. Several contents of one expected memory
    count once; a content that says more than one of them counts for each.
    """
    hits: list[tuple[Expected, Judged]] = []
    wrong: list[Judged] = []
    for one in found:
        met = [item for item in wanted if item.is_in(one.content)]
        hits += [(item, one) for item in met if all(item is not known for known, _ in hits)]
        if not met and not any(item.is_in(one.content) for item in may):
            wrong.append(one)
    missed = [item for item in wanted if all(item is not known for known, _ in hits)]
    score.right, score.wrong, score.missed = (
        score.right + len(hits),
        score.wrong + len(wrong),
        score.missed + len(missed),
    )
    score.typed += sum(bool(item.type) for item, _ in hits)
    score.type_right += sum(item.type == one.type for item, one in hits if item.type)
    score.invented += sum(not one.supported for one in found)
    return hits, wrong, missed
