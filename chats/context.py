"""The context of a turn: what the agent is given besides the message itself, and what it costs in tokens.

Recall runs here, outside any transaction, on what is committed. Whatever fails, the turn opens: the part that
failed is empty and `degraded` says why. Token counts were stored when the texts were written.
"""

from __future__ import annotations

import hashlib
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import transaction

from chats import instructions as working_memory
from chats.intent import Intent, classify
from chats.models import Chat, Instruction
from memories import guard
from memories.models import Recall, RecallBlock, RecallItem
from memories.recall import recall
from memories.tokens import encoding_name

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memories.recall import RecallResult
    from projects.models import Project

logger = logging.getLogger(__name__)

PARTS = ("instructions", "memory", "summary", "episodes", "history")
# How many of the best that were left out are kept for the trace.
OMITTED_KEPT = 20
RECALL_FAILED = "recall_failed"
RECALL_DEADLINE = "recall_deadline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the caller asks for: its window in tokens (None: the project's), the parts, its own word for the intent."""

    window_tokens: int | None = None
    parts: tuple[str, ...] = PARTS
    intent: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenMemory:
    """The block as it goes into the prompt; `always` is its stable first segment, `relevant` the rest."""

    block: str
    always: str
    relevant: str
    sha256: str
    refs: tuple[int, ...]
    tokens: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One message of the history. `note` marks a turn that did not succeed."""

    turn: int
    role: str
    content: str
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    memory_enabled: bool
    degraded: tuple[str, ...]
    intent: Intent
    instructions: tuple[Instruction, ...]
    memory: GivenMemory | None
    history: tuple[Line, ...]
    tokens: dict[str, Any]
    summary: str | None = None
    episodes: tuple[Any, ...] = field(default=())

    @property
    def sha256(self) -> str:
        """Of what may change within a turn: the rules and the block."""
        texts = [item.content for item in self.instructions] + [self.memory.block if self.memory else ""]
        return hashlib.sha256("\x00".join(texts).encode()).hexdigest()


def build(
    *, project: Project, chat: Chat, wanted: Wanted, earlier: Sequence[Chat] | None = None, renew: bool = False
) -> Context:
    """The context of `chat`. Recalls once a turn; `renew` recalls again, otherwise what was given is given again.

    `earlier`: the turns before it, newest first, if the caller has them at hand.
    """
    if earlier is None:
        earlier = list(
            Chat.objects.turns()
            .filter(topic_id=chat.topic_id, seq__lt=chat.seq)
            .order_by("-seq")[: settings.HISTORY_MAX_TURNS]
        )
    window = wanted.window_tokens or project.window_tokens
    intent = classify(_words(chat), first_in_topic=not earlier, override=wanted.intent)
    in_force = list(Instruction.objects.filter(topic_id=chat.topic_id).in_force())
    memory: GivenMemory | None = None
    if project.memory_enabled:
        if renew or chat.memory_refs is None or chat.degraded:
            memory = _recall(project, chat, intent=intent, in_force=in_force, earlier=earlier, window=window)
        else:
            memory = _given_before(chat)
    told = working_memory.given(in_force, refs=memory.refs if memory else ())
    shown = tuple(told) if "instructions" in wanted.parts else ()
    history, history_tokens = _history(
        earlier if "history" in wanted.parts else (), budget=int(window * settings.CONTEXT_HISTORY_SHARE)
    )
    if "memory" not in wanted.parts:
        memory = None
    spent = {
        "instructions": sum(item.tokens for item in shown),
        "memory": memory.tokens if memory else 0,
        "summary": 0,
        "episodes": 0,
        "history": history_tokens,
        "message": chat.message_tokens,
    }
    return Context(
        memory_enabled=project.memory_enabled,
        degraded=tuple(chat.degraded),
        intent=intent,
        instructions=shown,
        memory=memory,
        history=history,
        tokens={"encoding": encoding_name(), "window": window, **spent, "free": window - sum(spent.values())},
    )


def _words(chat: Chat) -> str:
    """All that the human said in this turn."""
    return "\n".join([chat.message, *(entry["text"] for entry in chat.further)])


def _recall(
    project: Project,
    chat: Chat,
    *,
    intent: Intent,
    in_force: Sequence[Instruction],
    earlier: Sequence[Chat],
    window: int,
) -> GivenMemory:
    """Recall, and write down what the turn was given. Never raises: a turn without memory is better than none."""
    query, keep = _query(chat, intent, earlier)
    rules = [] if intent.greeting else [item.content for item in in_force]
    started = time.perf_counter()
    result: RecallResult | None = None
    failure = ""
    try:
        result = recall(
            project,
            query,
            files=() if intent.greeting else tuple(chat.files),
            instructions=tuple(rules),
            area=chat.topic.area,
            max_tokens=min(project.max_tokens, int(window * settings.CONTEXT_STATIC_SHARE)),
            keep=keep,
        )
    except Exception:
        logger.exception("recall failed for turn %s", chat.pk)
        failure = RECALL_FAILED
    ms = (time.perf_counter() - started) * 1000
    if result is not None and ms > settings.RECALL_DEADLINE_MS:
        # The index is warm now; the caller was promised an answer by then, not a better one later.
        result, failure = None, RECALL_DEADLINE
    given = _as_given(result)
    _record(project, chat, given, result, query=query, intent=intent, ms=ms, failure=failure)
    return given


def _query(chat: Chat, intent: Intent, earlier: Sequence[Chat]) -> tuple[str, tuple[int, ...]]:
    """(what to recall on, ids to keep if they still hold).

    A greeting recalls on nothing, so that only the always tier is given. "Go on" recalls on the last message that
    had content, and keeps what the turn before was given.
    """
    if intent.greeting:
        return "", ()
    words = "\n".join(part for part in (_words(chat), chat.attached) if part)
    if not intent.contentless:
        return words, ()
    before = next((turn for turn in earlier if not classify(turn.message, first_in_topic=False).contentless), None)
    keep = tuple(earlier[0].memory_refs or ()) if earlier else ()
    return ("\n".join(part for part in (before.message if before else "", words) if part)), keep


def _as_given(result: RecallResult | None) -> GivenMemory:
    if result is None or not result.items:
        return GivenMemory(block="", always="", relevant="", sha256=_sha256(""), refs=(), tokens=0)
    return GivenMemory(
        block=result.block,
        always=result.always,
        relevant=result.relevant,
        sha256=_sha256(result.block),
        refs=tuple(item.id for item in result.items),
        tokens=result.tokens,
    )


def _given_before(chat: Chat) -> GivenMemory:
    """What the turn was given, word for word. A purged block is empty: nothing brings its text back."""
    last = Recall.objects.filter(chat=chat).select_related("block").first()
    text = last.block.text if last is not None and last.block is not None else ""
    cut = last.always_length if text and last is not None else 0
    return GivenMemory(
        block=text,
        always=text[:cut],
        relevant=text[cut:],
        sha256=_sha256(text),
        refs=tuple(chat.memory_refs or ()),
        tokens=(chat.memory_tokens or 0) if text else 0,
    )


@transaction.atomic
def _record(
    project: Project,
    chat: Chat,
    given: GivenMemory,
    result: RecallResult | None,
    *,
    query: str,
    intent: Intent,
    ms: float,
    failure: str,
) -> None:
    if given.block:
        block = RecallBlock(sha256=given.sha256, project=project, text=given.block)
        RecallBlock.objects.bulk_create([block], ignore_conflicts=True)
    row = Recall.objects.create(
        project=project,
        chat=chat,
        query=guard.mask(query),
        files=list(chat.files),
        intent={"value": str(intent.value), "rule": intent.rule},
        block_id=given.sha256 if given.block else None,
        always_length=len(given.always),
        tokens=given.tokens,
        ms=round(ms, 3),
        ranker=result.ranker if result else "",
        parameters=result.parameters if result else {},
        omitted_counts=result.omitted_counts if result else {},
        omitted=[item.as_json() for item in result.omitted[:OMITTED_KEPT]] if result else [],
        error=failure,
    )
    if result is not None:
        RecallItem.objects.bulk_create(
            [
                RecallItem(
                    recall=row,
                    memory_id=item.id,
                    version=item.version,
                    tier=item.tier,
                    rank=item.rank,
                    score=item.score,
                    parts=dict(item.parts),
                    tokens=item.tokens,
                )
                for item in result.items
            ]
        )
    # Ids that were really given, in order; a later context of the same turn adds to them.
    chat.memory_refs = list(dict.fromkeys([*(chat.memory_refs or []), *given.refs]))
    chat.memory_tokens = given.tokens
    chat.degraded = [failure] if failure else []
    Chat.objects.filter(pk=chat.pk).update(
        memory_refs=chat.memory_refs, memory_tokens=chat.memory_tokens, degraded=chat.degraded
    )


def _history(earlier: Sequence[Chat], *, budget: int) -> tuple[tuple[Line, ...], int]:
    """The newest turns that fit `budget` tokens whole, oldest first, and their tokens."""
    lines: list[Line] = []
    spent = 0
    for turn in earlier:
        if turn.status not in (Chat.ChatStatus.SUCCEEDED, Chat.ChatStatus.FAILED):
            continue
        failed = turn.status == Chat.ChatStatus.FAILED
        cost = turn.message_tokens + (0 if failed else turn.reply_tokens)
        if spent + cost > budget:
            break
        spent += cost
        if not failed and turn.reply:
            lines.append(Line(turn=turn.pk, role="assistant", content=turn.reply))
        note = "failed" if failed else ""
        lines.append(Line(turn=turn.pk, role="user", content=_words(turn), note=note))
    return tuple(reversed(lines)), spent


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
