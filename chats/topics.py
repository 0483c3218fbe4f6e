"""Completing and deleting a topic."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.utils import timezone

from chats import batches, distil, instructions, schedule, summaries
from chats.errors import NothingToRetry
from chats.models import Chat, Topic
from memories import guard, store
from memories.extraction import breaker
from memories.models import Candidate, Extraction
from projects import audit
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from projects.actors import Actor
    from projects.models import Project

EDITABLE = ("title", "area")
# Runs that may have left turns unread. One that was taken over may have given up a turn that kills its worker.
READABLE_AGAIN = (Extraction.RunStatus.FAILED, Extraction.RunStatus.ABANDONED)


@atomic_retry
def complete_topic(*, project: Project, topic_id: int, by: Actor) -> Topic:
    """The conversation is over: distil what waits now, end its Instructions, bring its summary up to date. Twice
    changes nothing more.

    A later turn opens the topic again.
    """
    store.share(project)
    topic: Topic = Topic.objects.select_for_update().get(pk=topic_id, project=project)
    if topic.status == Topic.TopicStatus.COMPLETED:
        return topic
    now = timezone.now()
    topic.status = Topic.TopicStatus.COMPLETED
    topic.updated_at = now
    ended = instructions.end_all(topic=topic)
    if project.memory_enabled and (
        schedule.has_waiting_turns(topic.pk) or batches.may_show_procedures(topic.pk)
    ):
        schedule.make_due(topic, now=now, trigger=schedule.Trigger.TOPIC_COMPLETED, at_once=True)
    summaries.make_due(topic, now=now, at_once=True)
    topic.save(update_fields=["status", "updated_at", "summary_due_at", *schedule.FIELDS, "distil_retry_at"])
    audit.record(
        "topic.complete",
        by=by,
        project=project,
        target_type="topic",
        target_id=topic.pk,
        counts={"instructions_ended": ended},
    )
    return topic


@atomic_retry
def edit_topic(*, project: Project, topic_id: int, changes: Mapping[str, Any], by: Actor) -> Topic:
    """Change title or area. The area of memories that exist already stays. Raises GuardRefused."""
    if unknown := set(changes) - set(EDITABLE):
        raise TypeError(f"not editable: {sorted(unknown)}")
    store.guard_texts(iter(changes.items()))
    store.share(project)
    topic: Topic = Topic.objects.select_for_update().get(pk=topic_id, project=project)
    for name, value in changes.items():
        setattr(topic, name, value)
    topic.updated_at = timezone.now()
    topic.save(update_fields=[*changes, "updated_at"])
    audit.record("topic.edit", by=by, project=project, target_type="topic", target_id=topic.pk)
    return topic


@atomic_retry
def delete_topic(*, project: Project, topic_id: int, by: Actor, reason: str = "") -> None:
    """Remove a topic with its turns. Its memories stay, without source and quotes; its runs keep the counts.

    A run under way finds its lease gone and stores nothing.
    """
    store.lock(project)
    topic: Topic = Topic.objects.select_for_update().get(pk=topic_id, project=project)
    chats = list(Chat.objects.filter(topic=topic).values_list("pk", flat=True))
    store.forget_sources(project=project, chat_ids=chats, by=by)
    runs = Extraction.objects.filter(topic=topic)
    Candidate.objects.filter(extraction__in=list(runs.values_list("pk", flat=True))).update(quote="")
    runs.update(raw_output="", chats_read=[])
    topic.delete()
    audit.record(
        "topic.delete",
        by=by,
        project=project,
        target_type="topic",
        target_id=topic_id,
        reason=guard.mask(reason),
        counts={"chats": len(chats)},
    )


@atomic_retry
def retry(*, project: Project, extraction: Extraction, by: Actor) -> Topic:
    """Read again, at once and whatever the back-off, what a failed run could not. Raises NothingToRetry.

    The turn that it gave up, if it did, counts as unread again.
    """
    topic: Topic | None = (
        Topic.objects.select_for_update().filter(pk=extraction.topic_id, project=project).first()
    )
    if topic is None or extraction.status not in READABLE_AGAIN or not project.memory_enabled:
        raise NothingToRetry
    distil.take_up_again(extraction)
    if not schedule.has_waiting_turns(topic.pk):
        raise NothingToRetry
    schedule.make_due(topic, now=timezone.now(), trigger=schedule.Trigger.RETRY, at_once=True)
    topic.save(update_fields=[*schedule.FIELDS, "distil_retry_at"])
    audit.record(
        "extraction.retry", by=by, project=project, target_type="extraction", target_id=extraction.pk
    )
    return topic


@atomic_retry
def try_provider_now(backend: str, *, by: Actor) -> int:
    """Somebody knows that the backend's provider answers again: what waits for it is due, and one run tries.

    How many topics that made due; 0 where the provider is not left alone.
    """
    if not breaker.end_pause(backend, now=timezone.now()):
        return 0
    woken = schedule.wake(backend)
    audit.record(
        "provider.try",
        by=by,
        project=None,
        target_type="provider",
        target_key=backend,
        counts={"topics": woken},
    )
    return woken
