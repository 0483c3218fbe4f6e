"""One run: ask a backend, then settle every proposal against the rows as they are when the run ends."""

from __future__ import annotations

import heapq
from collections import Counter
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, NamedTuple

from memories import guard, store
from memories.dedupe import content_hash
from memories.extraction.backends import Unreadable
from memories.extraction.judge import Verdict, choose, judge
from memories.extraction.neighbours import nearest, words
from memories.extraction.reasons import Outcome, Reason
from memories.extraction.rules import signal_proposals
from memories.extraction.transcript import KnownMemory
from memories.extraction.verify import Checked, Rejected, check
from memories.models import Authority, Candidate, Memory, Source, Status
from memories.store import tombstones
from memories.text import terms

if TYPE_CHECKING:
    from collections.abc import Iterable
    from datetime import datetime

    from memories.extraction.backends import Backend, Extracted, Proposal
    from memories.extraction.transcript import Transcript
    from memories.models import Extraction
    from projects.actors import Actor
    from projects.models import Project

MAX_RAW = 100_000

_GUARD_REASONS = {
    "secret_found": Reason.SECRET_FOUND,
    "injection_found": Reason.INJECTION_FOUND,
    "hidden_characters": Reason.HIDDEN_CHARACTERS,
}


@dataclass(slots=True, kw_only=True)
class Settled:
    """What a run came to: candidates by outcome, the turns something was kept from, and the memory that each
    Instruction's words became or already were.
    """

    counts: Counter[str] = field(default_factory=Counter)
    turns_kept_from: set[int] = field(default_factory=set)
    instructions: dict[int, int] = field(default_factory=dict)


def propose(transcript: Transcript, *, backend: Backend) -> Extracted:
    """What the backend proposes, and the directives and corrections whatever it proposes. Call it outside any
    transaction.

    Raises ProviderDown, or Unreadable: an answer of which no item can be read is not an answer that nothing is
    worth keeping.
    """
    extracted = backend.extract(transcript)
    if extracted.unparsable and not extracted.candidates:
        raise Unreadable("no_item_readable", raw=extracted.raw, usage=extracted.usage)
    return replace(extracted, candidates=signal_proposals(transcript, extracted.candidates))


def known_memories(project: Project, said: str, *, limit: int) -> tuple[KnownMemory, ...]:
    """The live memories that share most words with what was `said`: what a backend is shown as already known.

    Those that a person switched off are among them: their keys are taken, and their words not wanted back.
    """
    wanted = frozenset(terms(said))
    shown = Memory.objects.of(project).holding_keys().filter(withheld=False)
    scored = []
    for pk, key, content in shown.values_list("pk", "key", "content"):
        own = words(key) | words(content)
        if shared := len(own & wanted):
            scored.append((shared / (len(own) + 4), pk))
    best = [pk for _, pk in heapq.nlargest(limit, scored)]
    found = shown.in_bulk(best)
    return tuple(_known(found[pk]) for pk in best if pk in found)


def settle(
    *,
    project: Project,
    extraction: Extraction,
    extracted: Extracted,
    transcript: Transcript,
    now: datetime,
    by: Actor,
) -> Settled:
    """Judge every proposal against the memories live now, write what is to be kept, one Candidate row for
    each.

    Runs inside the caller's transaction, with the project's row locked. Settling the same turns again changes
    no memory.
    """
    settlement = _Settlement(project, extraction, transcript, now, by)
    results = [check(proposal, transcript) for proposal in extracted.candidates]
    within = {id(result) for result in choose([result for result in results if isinstance(result, Checked)])}
    for result in results:
        if isinstance(result, Rejected):
            settlement.record(result.proposal, Verdict(outcome=Outcome.DROPPED, reason=result.reason))
        elif id(result) in within:
            settlement.decide(result)
        else:
            settlement.record(result.proposal, Verdict(outcome=Outcome.DROPPED, reason=Reason.OVER_LIMIT))
    if extracted.unparsable:
        settlement.settled.counts[Reason.UNPARSABLE.value] = extracted.unparsable
    Candidate.objects.bulk_create(settlement.rows)
    return settlement.settled


class _Live(NamedTuple):
    """What is looked at of every live memory."""

    key: str
    status: str
    content_hash: str
    content: str


class _Settlement:
    def __init__(
        self, project: Project, extraction: Extraction, transcript: Transcript, now: datetime, by: Actor
    ) -> None:
        self.project, self.extraction, self.transcript, self.now, self.by = (
            project,
            extraction,
            transcript,
            now,
            by,
        )
        self.shown = {memory.id: memory.version for memory in transcript.known}
        columns = ("pk", "key", "status", "content_hash", "content")
        rows = Memory.objects.of(project).live().values_list(*columns)
        self.live = {pk: _Live(*row) for pk, *row in rows}
        self.loaded: dict[int, Memory] = {}
        self.fresh: set[int] = set()
        self.rows: list[Candidate] = []
        self.settled = Settled()
        turns = [turn.id for turn in transcript.citable]
        self.distilled_before = {
            (chat_id, content_hash(content))
            for chat_id, content in Candidate.objects.filter(chat_id__in=turns)
            .exclude(extraction=extraction)
            .values_list("chat_id", "content")
        }

    def _keep(self, memory: Memory) -> None:
        memory.project = self.project
        self.loaded[memory.pk] = memory
        self.live[memory.pk] = _Live(memory.key, memory.status, memory.content_hash, memory.content)

    def _drop(self, memory_id: int) -> Memory:
        memory = self._memory(memory_id)
        del self.live[memory_id]
        return memory

    def _load(self, ids: Iterable[int]) -> list[Memory]:
        """The live memories of these ids, in this order, each read once."""
        wanted = [pk for pk in ids if pk in self.live]
        for memory in (
            Memory.objects.of(self.project).in_bulk([pk for pk in wanted if pk not in self.loaded]).values()
        ):
            memory.project = self.project
            self.loaded[memory.pk] = memory
        return [self.loaded[pk] for pk in wanted]

    def _memory(self, memory_id: int) -> Memory:
        (memory,) = self._load([memory_id])
        return memory

    def _found(self, memory_id: int | None) -> Memory | None:
        return self._memory(memory_id) if memory_id is not None and memory_id in self.live else None

    def decide(self, candidate: Checked) -> None:
        proposal = candidate.proposal
        draft = self._draft(candidate)
        try:
            draft = draft.checked()
            held = draft.guarded()
        except store.GuardRefused as refused:
            self.record(proposal, Verdict(outcome=Outcome.DROPPED, reason=_GUARD_REASONS[refused.code]))
            return
        except store.InvalidMemory:
            self.record(proposal, Verdict(outcome=Outcome.DROPPED, reason=Reason.INVALID))
            return
        met = tombstones.meet(self.project, content=draft.content, key=draft.key)
        verdict = judge(
            replace(candidate, waits=candidate.waits or (Reason.WITHHELD if held else None)),
            [_known(memory, fresh=memory.pk in self.fresh) for memory in self._about(candidate)],
            tombstone=met.kind if met else "",
            policy=self.project.review_policy,
            now=self.now,
            shown=self.shown,
            distilled_before=(candidate.turn.id, candidate.content_hash) in self.distilled_before,
        )
        # What it withdraws and what it replaces come back with it.
        with store.one_change():
            memory = self._write(candidate, draft, verdict)
        self.record(proposal, verdict, memory)

    def record(self, proposal: Proposal, verdict: Verdict, memory: Memory | None = None) -> None:
        turn = self.transcript.turn(proposal.turn_id)
        target = verdict.target_id or verdict.contradicts_id
        content, quote = _storable(proposal.content), _storable(proposal.quote)
        # A key derived from what is masked would tell it.
        is_clean = guard.mask(content) == content and guard.mask(proposal.key) == proposal.key
        self.rows.append(
            Candidate(
                extraction=self.extraction,
                position=len(self.rows),
                type=guard.mask(proposal.type)[:12],
                key=_storable(proposal.key)[:80] if is_clean else "",
                content=guard.mask(content)[:1000],
                quote=guard.mask(quote)[:1000],
                quote_role=proposal.quote_role,
                chat_id=turn.id if turn else None,
                outcome=verdict.outcome,
                reason=verdict.reason,
                memory=memory,
                target_id=target,
            )
        )
        self.settled.counts[verdict.outcome.value] += 1
        if verdict.outcome is not Outcome.DROPPED and turn is not None:
            self.settled.turns_kept_from.add(turn.id)
        became = memory.pk if memory is not None else verdict.target_id if verdict.says_same else None
        if proposal.instruction_id is not None and became is not None:
            self.settled.instructions[proposal.instruction_id] = became

    def _about(self, candidate: Checked) -> list[Memory]:
        """The live memories that can bear on the candidate: of its key, of its very words, or most alike."""
        proposal = candidate.proposal
        keys = {proposal.replaces_key, proposal.key if candidate.key_given else ""} - {""}
        near = nearest(proposal.content, ((pk, row.content) for pk, row in self.live.items()))
        of_it = [
            pk
            for pk, row in self.live.items()
            if row.key in keys or row.content_hash == candidate.content_hash
        ]
        return self._load(sorted({*near, *of_it}))

    def _write(self, candidate: Checked, draft: store.Draft, verdict: Verdict) -> Memory | None:
        """Carry the verdict out; the memory it stored or added to."""
        reason = verdict.reason.value
        if verdict.outcome is Outcome.DROPPED:
            return None
        if verdict.outcome is Outcome.MERGED and verdict.target_id is not None:
            merged = store.add_evidence(
                project=self.project,
                memory=self._memory(verdict.target_id),
                evidence=draft.evidence[0],
                by=self.by,
            )
            self._keep(merged)
            return merged
        for memory_id in verdict.withdraws:
            store.supersede(self._drop(memory_id), by=self.by, reason=reason)
        target = self._found(verdict.target_id)
        if not candidate.key_given and target is not None:
            draft = replace(draft, key=target.key)
        if verdict.outcome is Outcome.REPLACED and target is not None:
            memory = store.replace(
                project=self.project,
                target=target,
                draft=draft,
                source=Source.EXTRACTED,
                by=self.by,
                reason=reason,
            )
            self._drop(target.pk)
        else:
            memory = store.propose(
                project=self.project,
                draft=replace(draft, key=self._key_of_its_own(draft)),
                source=Source.EXTRACTED,
                by=self.by,
                status=Status(verdict.status),
                replaces=target,
                contradicts=self._found(verdict.contradicts_id),
                reason=reason,
            )
        self._keep(memory)
        self.fresh.add(memory.pk)
        return memory

    def _key_of_its_own(self, draft: store.Draft) -> str:
        """Two proposals never wait under one key: about the same subject, but about different things."""
        if any(row.key == draft.key for row in self.live.values() if row.status == Status.PROPOSED):
            return f"{draft.key[:72]}-{content_hash(draft.content)[:6]}"
        return draft.key

    def _draft(self, candidate: Checked) -> store.Draft:
        proposal = candidate.proposal
        said_at = min(candidate.said_at, self.now)
        return store.Draft(
            type=proposal.type,
            content=proposal.content,
            key=proposal.key,
            importance=proposal.importance,
            always=proposal.always,
            keywords=tuple(word[:120] for word in proposal.keywords[:12]),
            files=tuple(glob[:120] for glob in proposal.files[:12]),
            area=self.transcript.area,
            evidence=(
                store.Evidence(
                    quote=proposal.quote, role=proposal.quote_role, chat_id=candidate.turn.id, said_at=said_at
                ),
            ),
            said_at=said_at,
            topic_id=self.extraction.topic_id,
            chat_id=candidate.turn.id,
            extraction_id=self.extraction.pk,
        )


def _known(memory: Memory, *, fresh: bool = False) -> KnownMemory:
    chats = {entry.get("chat") for entry in memory.evidence} | {memory.source_chat_id}
    return KnownMemory(
        id=memory.pk,
        type=memory.type,
        key=memory.key,
        content=memory.content,
        said_at=memory.said_at,
        version=memory.version,
        status=memory.status,
        # What a person switched off is a person's, whoever wrote it.
        authority=Authority.PERSON if memory.status_changed_by_person else memory.authority,
        source=memory.source,
        importance=memory.importance,
        confirmed=memory.confirmed_at is not None,
        turns=frozenset(chat for chat in chats if isinstance(chat, int)),
        fresh=fresh,
        replaces=memory.replaces_id if memory.status == Status.PROPOSED else None,
    )


def for_the_record(raw: str) -> str:
    """What is kept of a backend's own words: as text that a database takes, without secrets, MAX_RAW characters."""
    return guard.mask(_storable(raw[:MAX_RAW]))[:MAX_RAW]


def _storable(text: str) -> str:
    """A backend's text for the record, without lone surrogates and NULs that no database takes."""
    return text.encode("utf-8", "replace").decode().replace("\x00", "")
