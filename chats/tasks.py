"""What the workers do. Tasks carry ids and make one call; each may be delivered twice or never."""

from __future__ import annotations

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from chats import distil, endings, queue, schedule, summaries

SWEEP_LIMIT = 500
# What is to be distilled must not wait behind a site's whole past that is to be summed up.
SUM_UP_LIMIT = 100


@shared_task(
    name=queue.DISTIL, soft_time_limit=settings.DISTIL_SOFT_LIMIT_S, time_limit=settings.DISTIL_HARD_LIMIT_S
)
def distil_topic(topic_id: int) -> None:
    """One round; if more is due, another task."""
    if distil.run(topic_id):
        queue.distil(topic_id)


@shared_task(
    name=queue.SUM_UP, soft_time_limit=settings.DISTIL_SOFT_LIMIT_S, time_limit=settings.DISTIL_HARD_LIMIT_S
)
def sum_up_topic(topic_id: int) -> None:
    """One round; if more is due, another task."""
    if summaries.run(topic_id):
        queue.sum_up(topic_id)


@shared_task(name="chats.sweep")
def sweep() -> None:
    """The guarantee behind the messages: find what is due, whatever the broker lost, and give up dead turns."""
    now = timezone.now()
    endings.give_up_abandoned(now=now)
    for topic_id in schedule.due_topics(now=now, limit=SWEEP_LIMIT):
        queue.distil(topic_id)
    # Nobody waits for a summary: it is asked for here alone.
    for topic_id in summaries.due_topics(now=now, limit=SUM_UP_LIMIT):
        queue.sum_up(topic_id)
