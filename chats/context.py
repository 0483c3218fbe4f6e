"""The context of a turn: what the agent is given besides the message itself, and what it costs in tokens.

Recall runs here, outside any transaction, on what is committed. Whatever fails, the turn opens: the part that
failed is empty and `degraded` says why. Token counts were stored when the texts were written.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.utils import timezone

from chats import episodes, summaries
from chats import instructions as working_memory
from chats.given import (
    NOTHING_GIVEN,
    Context,
    GivenEpisode,
    GivenMemory,
    GivenSummary,
    Line,
    sha256_of,
)
from chats.intent import Intent, Kind, classify
from chats.models import Chat, Instruction
from chats.records import GivenIsGone, Recalled, record
from chats.statements import rules_in_force
from memories.extraction.summary import MAX_TOKENS as MAX_SUMMARY_TOKENS
from memories.models import Recall
from memories.recall import recall
from memories.tokens import encoding_name
from projects.http import timing

if TYPE_CHECKING:
    from collections.abc import Sequence

    from memories.recall import RecallResult
    from projects.models import Project

logger = logging.getLogger(__name__)

PARTS = ("instructions", "memory", "summary", "episodes", "history")
SPENT = ("instructions", "memory", "summary", "episodes", "history", "message")
RECALL_FAILED = "recall_failed"
RECALL_DEADLINE = "recall_deadline"
EPISODES_FAILED = "episodes_failed"
SUMMARY_FAILED = "summary_failed"
FAILED_NOTE = "failed"
# How often a turn is recalled for anew because what it was to be given was deleted meanwhile.
RECALL_TRIES = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What the caller asks for: window in tokens (None: the project's), parts, its word for the intent."""

    window_tokens: int | None = None
    parts: tuple[str, ...] = PARTS
    intent: str | None = None


def build(
    *,
    project: Project,
    chat: Chat,
    wanted: Wanted,
    earlier: Sequence[Chat] | None = None,
    version: str | None = None,
) -> Context:
    """Put the context of `chat` together, recalling afresh, and write down what the turn is given.

    A turn that already happened can be given nothing any more: it is not recalled for.
    `earlier`: the turns before it, newest first, and `version` the project's memory_version, if the caller has just
    read them.
    """
    if earlier is None:
        earlier = list(
            Chat.objects.history_of(chat.topic_id).filter(seq__lt=chat.seq)[: settings.HISTORY_MAX_TURNS]
        )
    for _ in range(RECALL_TRIES):
        try:
            return _build(project, chat, wanted, earlier, version=version)
        except GivenIsGone:
            version = None
            logger.info("what turn %s was to be given is gone; recalling anew", chat.pk)
    return _build(project, chat, wanted, earlier, recalling=False)


def _build(
    project: Project,
    chat: Chat,
    wanted: Wanted,
    earlier: Sequence[Chat],
    *,
    recalling: bool = True,
    version: str | None = None,
) -> Context:
    """One try. Raises GivenIsGone; not `recalling`: the turn is given no memory, as after a recall that failed."""
    window = wanted.window_tokens or project.window_tokens
    intent = classify(chat.words, first_in_topic=not earlier, override=wanted.intent)
    in_force = rules_in_force(chat.topic_id)
    recalled: Recalled | None = None
    memory: GivenMemory | None = None
    if project.memory_enabled and "memory" in wanted.parts:
        if chat.already_happened:
            memory = NOTHING_GIVEN
        else:
            recalled = (
                _recall(
                    project,
                    chat,
                    intent=intent,
                    in_force=in_force,
                    earlier=earlier,
                    window=window,
                    version=version,
                )
                if recalling
                else Recalled(given=NOTHING_GIVEN, result=None, query="", ms=0.0, failure=RECALL_FAILED)
            )
            memory = recalled.given
    told = working_memory.given(in_force, refs=memory.refs if memory else ())
    shown = tuple(told) if "instructions" in wanted.parts else ()
    failures = [recalled.failure] if recalled and recalled.failure else []
    spent = {
        "instructions": sum(item.tokens for item in shown),
        "memory": memory.tokens if memory else 0,
    }
    taken = sum(spent.values()) + chat.message_tokens
    # What was said here and elsewhere shares what the window has for history.
    room = min(int(window * settings.CONTEXT_HISTORY_SHARE), window - int(window * _reserve()) - taken)
    given_episodes: tuple[GivenEpisode, ...] = ()
    if project.memory_enabled and "episodes" in wanted.parts and _looks_back(chat, intent, earlier):
        share = min(room, int(window * settings.CONTEXT_EPISODES_SHARE))
        given_episodes = _episodes(chat, intent, room=share, failures=failures)
    room -= (from_elsewhere := sum(episode.tokens for episode in given_episodes))
    summary, kept, from_history = _said_here(chat, earlier, wanted, room=room, failures=failures)
    spent |= {
        "summary": summary.tokens if summary else 0,
        "episodes": from_elsewhere,
        "history": from_history,
        "message": chat.message_tokens,
    }
    context = Context(
        memory_enabled=project.memory_enabled,
        degraded=tuple(failures),
        intent=intent,
        instructions=shown,
        memory=memory,
        summary=summary,
        episodes=given_episodes,
        history=_lines(kept),
        tokens={"encoding": encoding_name(), "window": window, **spent, "free": window - sum(spent.values())},
    )
    record(project, chat, context, recalled, parts=wanted.parts, history=[turn.pk for turn in kept])
    return context


def again(*, project: Project, chat: Chat) -> Context:
    """What the turn was given last, byte for byte. Recalls nothing and writes nothing.

    A purged block is empty, a summary or episode that was erased is missing: nothing brings their text back.
    """
    told = chat.given or _nothing(project)
    rules = Instruction.objects.in_bulk(told["instructions"])
    turns = Chat.objects.in_bulk(told["history"])
    return Context(
        memory_enabled=told["memory_enabled"],
        degraded=tuple(chat.degraded),
        intent=Intent(Kind(told["intent"]["value"]), told["intent"]["rule"]),
        instructions=tuple(rules[pk] for pk in told["instructions"] if pk in rules),
        memory=None if told["refs"] is None else _given_last(chat),
        summary=summaries.given(told.get("summary")),
        episodes=episodes.given(told.get("episodes", [])),
        history=_lines([turns[pk] for pk in told["history"] if pk in turns]),
        # MySQL gives the members of a JSON object back in an order of its own.
        tokens={name: told["tokens"][name] for name in ("encoding", "window", *SPENT, "free")},
    )


def _nothing(project: Project) -> dict[str, Any]:
    """For a turn whose opening ended between storing it and recalling."""
    window = project.window_tokens
    return {
        "memory_enabled": project.memory_enabled,
        "intent": {"value": str(Kind.NEW_TASK), "rule": "not_classified"},
        "instructions": [],
        "refs": None,
        "history": [],
        "tokens": {"encoding": encoding_name(), "window": window, **dict.fromkeys(SPENT, 0), "free": window},
    }


def wanted_before(chat: Chat) -> Wanted:
    """What the turn was opened with, for a caller that asks for its context again."""
    if not chat.given:
        return Wanted()
    return Wanted(window_tokens=chat.given["tokens"]["window"], parts=tuple(chat.given["parts"]))


def _reserve() -> float:
    """The share of the window that is left for the answer."""
    return max(0.0, 1 - settings.CONTEXT_HISTORY_SHARE - settings.CONTEXT_STATIC_SHARE)


def _recall(
    project: Project,
    chat: Chat,
    *,
    intent: Intent,
    in_force: Sequence[Instruction],
    earlier: Sequence[Chat],
    window: int,
    version: str | None,
) -> Recalled:
    """Never raises: a turn without memory is better than none."""
    query, keep = _query(chat, intent, earlier)
    rules = [] if intent.greeting else [item.content for item in in_force]
    # Rules and block share what the window has for static text.
    room = int(window * settings.CONTEXT_STATIC_SHARE) - sum(item.tokens for item in in_force)
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
            max_tokens=max(0, min(project.max_tokens, room)),
            keep=keep,
            version=version,
        )
    except Exception:
        logger.exception("recall failed for turn %s", chat.pk)
        failure = RECALL_FAILED
    ms = (time.perf_counter() - started) * 1000
    timing.note("recall", ms)
    if result is not None and ms > settings.RECALL_DEADLINE_MS:
        # The index is warm now; the caller was promised an answer by then, not a better one later.
        result, failure = None, RECALL_DEADLINE
    return Recalled(given=_as_given(result), result=result, query=query, ms=ms, failure=failure)


def _query(chat: Chat, intent: Intent, earlier: Sequence[Chat]) -> tuple[str, tuple[int, ...]]:
    """(what to recall on, ids to keep if they still hold).

    A greeting recalls on nothing, so that only the always tier is given. "Go on" recalls on the last message
    that had content, and keeps what the turn before was given.
    """
    if intent.greeting:
        return "", ()
    words = "\n".join(part for part in (chat.words, chat.attached) if part)
    if not intent.contentless:
        return words, ()
    before = next(
        (turn for turn in earlier if not classify(turn.message, first_in_topic=False).contentless), None
    )
    keep = tuple(earlier[0].memory_refs or ()) if earlier else ()
    return ("\n".join(part for part in (before.message if before else "", words) if part)), keep


def _as_given(result: RecallResult | None) -> GivenMemory:
    if result is None or not result.items:
        return NOTHING_GIVEN
    return GivenMemory(
        block=result.block,
        always=result.always,
        relevant=result.relevant,
        sha256=result.sha256,
        refs=result.refs,
        tokens=result.tokens,
    )


def _given_last(chat: Chat) -> GivenMemory:
    last = Recall.objects.filter(chat=chat).select_related("block").first()
    text = last.block.text if last is not None and last.block is not None else ""
    cut = last.always_length if text and last is not None else 0
    return GivenMemory(
        block=text,
        always=text[:cut],
        relevant=text[cut:],
        sha256=sha256_of(text),
        refs=tuple(chat.given["refs"]),
        tokens=chat.given["tokens"]["memory"],
    )


def _looks_back(chat: Chat, intent: Intent, earlier: Sequence[Chat]) -> bool:
    """Whether the turn wants what was said in other topics: it asks for the past, or goes on where nothing is."""
    if chat.already_happened or intent.greeting:
        return False
    return intent.value == Kind.LOOKUP or (intent.value == Kind.CONTINUE and not earlier)


def _episodes(chat: Chat, intent: Intent, *, room: int, failures: list[str]) -> tuple[GivenEpisode, ...]:
    """Never raises: what failed is added to `failures`."""
    try:
        if intent.contentless:
            return episodes.latest(chat, room=room)
        return episodes.find(chat, chat.words, room=room, now=timezone.now())
    except Exception:
        logger.exception("episodes failed for turn %s", chat.pk)
        failures.append(EPISODES_FAILED)
        return ()


def _said_here(
    chat: Chat, earlier: Sequence[Chat], wanted: Wanted, *, room: int, failures: list[str]
) -> tuple[GivenSummary | None, list[Chat], int]:
    """(summary, turns of the history, their tokens) of the turn's own topic, within `room` tokens together.

    The summary is given where the history does not reach the topic's beginning, and it is the one that ends where
    the history begins, as nearly as there is one: nothing is told twice without need.
    """
    turns = earlier if "history" in wanted.parts else ()
    kept, spent, reach = _fitting(turns, budget=room, before=chat.seq or 1)
    topic = chat.topic
    is_wanted = "summary" in wanted.parts and chat.project.memory_enabled and not chat.already_happened
    if reach <= 1 or topic.summary_id is None or not is_wanted:
        return None, kept, spent
    most = min(MAX_SUMMARY_TOKENS, room // 2 if turns else room)
    try:
        summary = summaries.covering(topic, _fitting(turns, budget=room - most, before=chat.seq or 1)[2] - 1)
    except Exception:
        logger.exception("the summary failed for turn %s", chat.pk)
        failures.append(SUMMARY_FAILED)
        return None, kept, spent
    if summary is None or summary.tokens > most:
        return None, kept, spent
    kept, spent, _ = _fitting(turns, budget=room - summary.tokens, before=chat.seq or 1)
    return summary, kept, spent


def _fitting(earlier: Sequence[Chat], *, budget: int, before: int) -> tuple[list[Chat], int, int]:
    """The newest turns that fit `budget` tokens whole, oldest first; their tokens; and the number of the turn from
    which on, up to turn `before`, nothing is missing that could be told.
    """
    kept: list[Chat] = []
    spent, reach = 0, before
    for turn in earlier:
        if turn.status in (Chat.ChatStatus.SUCCEEDED, Chat.ChatStatus.FAILED):
            has_reply = turn.status == Chat.ChatStatus.SUCCEEDED
            cost = turn.message_tokens + (turn.reply_tokens if has_reply else 0)
            if spent + cost > budget:
                break
            spent += cost
            kept.append(turn)
        reach = turn.seq or 1
    return kept[::-1], spent, reach


def _lines(turns: Sequence[Chat]) -> tuple[Line, ...]:
    lines: list[Line] = []
    for turn in turns:
        failed = turn.status == Chat.ChatStatus.FAILED
        # Erased ones have none.
        if words := turn.words:
            lines.append(Line(turn=turn.pk, role="user", content=words, note=FAILED_NOTE if failed else ""))
        if not failed and turn.reply:
            lines.append(Line(turn=turn.pk, role="assistant", content=turn.reply))
    return tuple(lines)
