"""What a turn was given, written down: on its own row, and what was recalled for it, for its trace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from chats.models import Chat
from memories import guard, store
from memories.models import Memory, Recall, RecallBlock, RecallItem
from projects.statements import Insert
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from chats.given import Context, GivenMemory
    from chats.intent import Intent
    from memories.recall import RecallResult
    from projects.models import Project

# How many characters of what was recalled on are kept for the trace; the message itself is kept whole.
QUERY_KEPT = 2000
# How many of the best that were left out are kept for the trace.
OMITTED_KEPT = 20
_insert_block = Insert(RecallBlock, "sha256", "project_id", "text", "created_at", ignore_conflicts=True)
_insert_recall = Insert(Recall)
_insert_items = Insert(
    RecallItem, "recall_id", "memory_id", "version", "tier", "rank", "score", "parts", "tokens"
)


class GivenIsGone(Exception):
    """A memory that the turn was to be given was deleted or purged before that was written down."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recalled:
    """What a recall gave, and what its row tells besides."""

    given: GivenMemory
    result: RecallResult | None
    query: str
    ms: float
    failure: str


@atomic_retry
def record(
    project: Project,
    chat: Chat,
    context: Context,
    recalled: Recalled | None,
    *,
    parts: Sequence[str],
    history: Sequence[int],
) -> None:
    """Write to the turn's row what it is given now, and keep what was recalled for its trace.

    Raises GivenIsGone, and then nothing is written; Chat.DoesNotExist when the turn was deleted or erased meanwhile.
    """
    memory = context.memory
    values: dict[str, Any] = {
        "degraded": list(context.degraded),
        "given": {
            "memory_enabled": context.memory_enabled,
            "parts": list(parts),
            "intent": {"value": str(context.intent.value), "rule": context.intent.rule},
            "instructions": [item.pk for item in context.instructions],
            "refs": list(memory.refs) if memory else None,
            "summary": context.summary.id if context.summary else None,
            "episodes": [episode.turn for episode in context.episodes],
            "history": list(history),
            "tokens": context.tokens,
        },
        "touched_at": timezone.now(),
    }
    is_current = True
    if recalled is not None:
        version = store.share(project)
        is_current = recalled.result is None or recalled.result.memory_version == version
    if not _write(project, chat, memory, values):
        # Touched since it was read, by another context of it perhaps. It does not exist: deleted since the turn
        # was stored, and a recall of it would refer to nothing.
        now = (
            Chat.objects.select_for_update()
            .only("memory_refs", "memory_tokens", "touched_at")
            .get(pk=chat.pk, erased_at=None)
        )
        _write(project, now, memory, values)
    if recalled is not None:
        if not is_current and recalled.given.refs:
            # What is there now stays until this is committed, and a purge that comes then finds the block.
            there = Memory.objects.filter(pk__in=recalled.given.refs).count()
            if there != len(recalled.given.refs):
                raise GivenIsGone
        # After the turn's own row: a recall that refers to it first would share its lock, and two of them deadlock.
        _record_recall(project, chat, recalled, intent=context.intent)
    # The instance last: an attempt that was rolled back leaves it as it was.
    for name, value in values.items():
        setattr(chat, name, value)


def _write(project: Project, chat: Chat, memory: GivenMemory | None, values: dict[str, Any]) -> bool:
    """Write `values` and what the turn is given to its row, unless somebody touched it since `chat` was read."""
    if project.memory_enabled:
        # Ids that were really given, in order; a later context of the same turn adds to them.
        refs = dict.fromkeys([*(chat.memory_refs or []), *(memory.refs if memory else ())])
        values["memory_refs"] = list(refs)
        values["memory_tokens"] = memory.tokens if memory else chat.memory_tokens or 0
    return Chat.objects.filter(pk=chat.pk, touched_at=chat.touched_at).update(**values) == 1


def _record_recall(project: Project, chat: Chat, recalled: Recalled, *, intent: Intent) -> None:
    given, result = recalled.given, recalled.result
    if given.block:
        _insert_block([(given.sha256, project.pk, given.block, timezone.now())])
    row = Recall(
        project=project,
        chat=chat,
        query=guard.mask(recalled.query[: 2 * QUERY_KEPT])[:QUERY_KEPT],
        files=[guard.mask(name) for name in chat.files],
        intent={"value": str(intent.value), "rule": intent.rule},
        block_id=given.sha256 if given.block else None,
        always_length=len(given.always),
        tokens=given.tokens,
        ms=round(recalled.ms, 3),
        ranker=result.ranker if result else "",
        parameters=result.parameters if result else {},
        omitted_counts=result.omitted_counts if result else {},
        omitted=[item.as_json() for item in result.omitted[:OMITTED_KEPT]] if result else [],
        error=recalled.failure,
    )
    _insert_recall.save(row)
    if result is not None and result.items:
        _insert_items(
            (row.pk, item.id, item.version, item.tier, item.rank, item.score, dict(item.parts), item.tokens)
            for item in result.items
        )
