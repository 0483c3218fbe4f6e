"""Taking what a human says explicitly: memories, things to forget, and rules for this topic.

Each item is written in a savepoint of its own, so that one that fails takes nothing along; what became of
each is kept on the turn as ids and codes, and rendered again when the request is repeated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import transaction
from django.utils.translation import gettext as _

from chats import instructions
from memories import guard, store
from memories.models import Memory
from projects.roles import member_by_reference

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from chats.models import Chat
    from memories.explicit import Item, Reading
    from projects.actors import Actor
    from projects.models import Project

Outcome = store.Outcome
KEPT = (Outcome.STORED, Outcome.CONFIRMED, Outcome.REPLACED)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardItem:
    """One "Remember: …" and what became of it. `other` is what it replaced, contradicts or would undo."""

    outcome: str
    memory: Memory | None
    other: Memory | None


@dataclass(frozen=True, slots=True, kw_only=True)
class HeardRefusal:
    """What was not kept; secrets in `text` are masked."""

    text: str
    code: str

    @property
    def message(self) -> str:
        return refusal_message(self.code)


@dataclass(frozen=True, slots=True, kw_only=True)
class Forgotten:
    """One "Forget: …": the memory that was switched off, or those it could have meant."""

    memory: Memory | None
    candidates: tuple[Memory, ...]

    @property
    def outcome(self) -> str:
        if self.memory is not None:
            return "disabled"
        return {0: "none", 1: "needs_confirmation"}.get(len(self.candidates), "several")

    @property
    def message(self) -> str:
        """Why nothing was switched off, in the language that is active; empty where something was."""
        messages = {
            "none": _("Nothing was switched off: no memory says this."),
            "several": _("Nothing was switched off: several memories could be meant."),
            "needs_confirmation": _("Not switched off: a member of the project must decide."),
        }
        return messages.get(self.outcome, "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    remembered: tuple[HeardItem, ...] = ()
    refused: tuple[HeardRefusal, ...] = ()
    forgotten: tuple[Forgotten, ...] = ()

    @property
    def kept(self) -> int:
        """How many memories are in force because of what was said."""
        return sum(item.outcome in KEPT for item in self.remembered)


def refusal_message(code: str) -> str:
    """Why something was not kept, in the language that is active."""
    messages = {
        **store.GuardRefused.messages(),
        "rule_too_long": _("Not taken: a rule for this topic has at most 600 tokens."),
        "too_long": _("Not saved: a memory has at most 1,000 characters."),
        "invalid_text": _("Not saved: it holds characters that are no text."),
        "key_taken": _("Not saved: another memory has this key."),
        "content_taken": _("Not saved: another memory says this already."),
        "target_changed": _("Not saved: the memory that it would replace changed meanwhile."),
        "too_many": _("Not saved: at most 20 memories a message."),
        "memory_off": _("Not saved: memory is switched off for this project."),
    }
    return messages.get(code, _("Not saved."))


def may_write_memories(reading: Reading) -> bool:
    """Whether hearing this may write memories, so that the project must be locked before the topic."""
    return bool(reading.items or reading.forgets or "confirm" in reading.signals)


def says_something(reading: Reading) -> bool:
    return bool(reading.items or reading.forgets or reading.signals or reading.refusals)


def member(project: Project, reference: str) -> User | None:
    """The member of the project that the caller calls `reference`: by user name or e-mail address."""
    return member_by_reference(project, reference) if reference else None


def hear(*, chat: Chat, text: str, reading: Reading, by: Actor) -> Heard:
    """Write what the message says explicitly; project and topic are locked already.

    In a turn that already happened nobody can object any more: what it says to remember is proposed, and what it
    says to forget only found.
    """
    if not says_something(reading):
        return Heard()
    author = by.speaking_for(name=chat.author_name or by.name, user=chat.author_user)
    told: dict[str, list[Any]] = {"remembered": [], "refused": [], "forgotten": []}
    for refusal in reading.refusals:
        told["refused"].append({"text": _opening(refusal.text), "code": refusal.reason})
    for item in reading.items:
        if not chat.project.memory_enabled:
            told["refused"].append({"text": _opening(item.content), "code": "memory_off"})
            continue
        remembered = _remember(chat, item, by=author)
        _tell(told, remembered)
    for words in reading.forgets:
        with transaction.atomic():
            memory, candidates = store.forget(
                project=chat.project, text=words, by=author, only_find=chat.already_happened
            )
        told["forgotten"].append(
            {"memory": memory.pk if memory else None, "candidates": [item.pk for item in candidates[:10]]}
        )
    if not chat.already_happened:
        _signals(chat, text, reading, told, by=author)
    if not any(told.values()):
        return Heard()
    before = dict(chat.explicit)
    chat.explicit = {name: [*before.get(name, []), *entries] for name, entries in told.items()}
    chat.save(update_fields=["explicit"])
    return recollect(chat, since={name: len(entries) for name, entries in before.items()})


def extent(chat: Chat) -> dict[str, int]:
    """How much the turn's messages have led to so far: `since` or `until` of a later `recollect`."""
    return {name: len(entries) for name, entries in chat.explicit.items()}


def recollect(
    chat: Chat, *, since: dict[str, int] | None = None, until: dict[str, int] | None = None
) -> Heard:
    """What the turn's messages led to, rendered from what was kept of it. A memory that is gone is None.

    `since` and `until` leave out what was told before and after them.
    """
    told = {
        name: entries[(since or {}).get(name, 0) : (until or {}).get(name)]
        for name, entries in chat.explicit.items()
    }
    if not any(told.values()):
        return Heard()
    wanted = {
        memory_id
        for entry in [*told.get("remembered", []), *told.get("forgotten", [])]
        for memory_id in [entry.get("memory"), entry.get("other"), *entry.get("candidates", [])]
        if memory_id
    }
    rows = Memory.objects.of(chat.project).in_bulk(wanted) if wanted else {}
    return Heard(
        remembered=tuple(
            HeardItem(
                outcome=entry["outcome"], memory=rows.get(entry["memory"]), other=rows.get(entry["other"])
            )
            for entry in told.get("remembered", [])
        ),
        refused=tuple(
            HeardRefusal(text=entry["text"], code=entry["code"]) for entry in told.get("refused", [])
        ),
        forgotten=tuple(
            Forgotten(
                memory=rows.get(entry["memory"]),
                candidates=tuple(rows[pk] for pk in entry["candidates"] if pk in rows),
            )
            for entry in told.get("forgotten", [])
        ),
    )


def _remember(chat: Chat, item: Item, *, by: Actor) -> store.Remembered:
    draft = store.Draft(
        type=item.type,
        key=item.key,
        content=item.content,
        always=item.always,
        area=chat.topic.area,
        evidence=(store.Evidence(quote=item.content, role="user", chat_id=chat.pk, said_at=chat.sent_at),),
        said_at=chat.sent_at,
        topic_id=chat.topic_id,
        chat_id=chat.pk,
    )
    try:
        store.guard_texts(iter([("key", item.key_written)]))
        with transaction.atomic():
            return store.remember(
                project=chat.project,
                draft=draft,
                by=by,
                key_given=item.key_given,
                announces_change=item.changes,
                only_propose=chat.already_happened,
            )
    except store.StoreError as error:
        # The turn must open, and its other memories be kept.
        return store.Remembered(outcome=Outcome.REFUSED, code=error.code, text=_opening(item.content))


def _signals(chat: Chat, text: str, reading: Reading, told: dict[str, list[Any]], *, by: Actor) -> None:
    """In this order a message can take a rule back, give another, and confirm what it just gave."""
    if "dismiss" in reading.signals:
        instructions.dismiss_latest(topic=chat.topic, by=by)
    for refused in instructions.take(topic=chat.topic, chat=chat, reading=reading):
        told["refused"].append({"text": _opening(text[refused.start : refused.end]), "code": refused.code})
    if "confirm" in reading.signals and chat.project.memory_enabled:
        remembered = instructions.promote_latest(topic=chat.topic, by=by)
        if remembered is not None:
            _tell(told, remembered)


def _opening(text: str) -> str:
    """How a text begins that was not kept, masked before it is cut: half a secret is not known as one."""
    return guard.mask(text)[:200]


def _tell(told: dict[str, list[Any]], remembered: store.Remembered) -> None:
    if remembered.outcome is Outcome.REFUSED:
        told["refused"].append({"text": guard.mask(remembered.text), "code": remembered.code})
        return
    told["remembered"].append(
        {
            "outcome": str(remembered.outcome),
            "memory": remembered.memory.pk if remembered.memory else None,
            "other": remembered.other.pk if remembered.other else None,
        }
    )
