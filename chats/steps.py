"""Steps of other agents inside a turn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils import timezone

from chats.errors import NotATurn, RefReused, TurnAlreadyFinished
from chats.models import Chat, Topic
from memories import guard, store
from memories.tokens import count
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from projects.models import Project

ChatStatus = Chat.ChatStatus


@dataclass(frozen=True, slots=True, kw_only=True)
class AddedStep:
    """`created`: it was not known before; `repeated`: nothing was written at all."""

    step: Chat
    created: bool = False
    repeated: bool = False


@atomic_retry
def add_step(
    *, project: Project, chat: Chat, agent: str, message: str, reply: str, status: str, ref: str | None = None
) -> AddedStep:
    """A step of another agent. It gets the turn's context, recalls nothing and is read for nothing.

    With a `ref` the same step is reported once; one that was running may be ended by the same `ref`. Raises
    RefReused, TurnAlreadyFinished (another ending, or a step that begins in a turn that is over), NotATurn,
    GuardRefused (an agent's name or a ref that must not be kept).
    """
    if chat.parent_id is not None:
        raise NotATurn
    store.guard_texts(iter([("agent", agent), ("ref", ref or "")]))
    store.share(project)
    Topic.objects.select_for_update().get(pk=chat.topic_id)
    # The step refers to the turn and shares its lock, which a context of it may be waiting for: held alone, first.
    locked = Chat.objects.select_for_update()
    chat.refresh_from_db(fields=["status", "memory_refs", "memory_tokens"], from_queryset=locked)
    added = put_step(project, chat, agent=agent, message=message, reply=reply, status=status, ref=ref)
    if not added.repeated:
        Chat.objects.filter(pk=chat.pk).update(touched_at=timezone.now())
    return added


def put_step(
    project: Project,
    chat: Chat,
    *,
    agent: str = "",
    message: str = "",
    reply: str = "",
    status: str,
    ref: str | None = None,
) -> AddedStep:
    """Write a step, or end the running one of the same ref; the topic is locked already."""
    now = timezone.now()
    message, reply = stored_text(project, message), stored_text(project, reply)
    ending = {
        "status": status,
        "reply": reply,
        "reply_tokens": count(reply),
        "finished_at": None if status == ChatStatus.RUNNING else now,
        "error": "",
    }
    step = Chat.objects.filter(topic_id=chat.topic_id, ref=ref).first() if ref else None
    if step is not None:
        if step.parent_id != chat.pk or step.message != message:
            raise RefReused(step)
        if step.status == status and step.reply == reply:
            return AddedStep(step=step, repeated=True)
        if step.status != ChatStatus.RUNNING and not step.was_given_up:
            raise TurnAlreadyFinished(step)
        for name, value in ending.items():
            setattr(step, name, value)
        step.touched_at = now
        step.save(update_fields=[*ending, "touched_at"])
        return AddedStep(step=step)
    if status == ChatStatus.RUNNING and chat.status != ChatStatus.RUNNING:
        raise TurnAlreadyFinished(chat)
    step = Chat.objects.create(
        project=project,
        topic_id=chat.topic_id,
        parent=chat,
        position=chat.steps.count() + 1,
        ref=ref or None,
        origin=Chat.Origin.MACHINE,
        agent=agent,
        message=message,
        message_tokens=count(message),
        memory_refs=chat.memory_refs,
        memory_tokens=chat.memory_tokens,
        distil_outcome=Chat.DistilOutcome.MACHINE,
        **ending,
    )
    return AddedStep(step=step, created=True)


def stored_text(project: Project, text: str) -> str:
    """What is stored of what was said: all of it, with secrets masked where the project says so."""
    return guard.mask(text) if project.mask_chats and text else text


def stored_values[T](project: Project, values: T) -> T:
    """The same for strings inside lists and objects, the objects' names included."""
    masked: T = guard.mask_values(values) if project.mask_chats else values
    return masked
