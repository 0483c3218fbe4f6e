"""Workers that sum up a topic while its turns are opened, finished and reset."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from django.db import transaction
from django.utils import timezone

from chats import summaries
from chats.models import Chat, EpisodeTerm, Summary, Topic
from memories import store
from tests.chats.turns import opened, turn
from tests.races.crowd import THREADS, Callers, at_once, rounds

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project

pytestmark = pytest.mark.django_db(transaction=True)
WORKERS = 4


@pytest.fixture(autouse=True)
def _every_turn_is_enough(settings: SettingsWrapper) -> None:
    settings.SUMMARY_AFTER_TOKENS, settings.SUMMARY_IDLE_S = 1, 0.0


def work(topic_id: int) -> None:
    """As a worker that the sweep sends again and again, whatever waits."""
    for _ in range(3):
        with transaction.atomic():
            # By its id first: an UPDATE that also asks when it is due finds the row from behind, by that index.
            topic = Topic.objects.select_for_update().get(pk=topic_id)
            if topic.summary_due_at is not None and not topic.summary_failures:
                topic.summary_due_at = timezone.now() - timedelta(seconds=1)
                topic.save(update_fields=["summary_due_at"])
        summaries.run(topic_id)


def test_turns_that_finish_while_workers_sum_up_are_all_in_it_once(
    callers: Callers, project: Project, deadlocks: Callable[[], list[str]]
) -> None:
    for number in rounds():
        first = turn(project, f"The first page of {number}.", topic=f"topic-{number}")
        waiting = [
            opened(project, f"Page {place} of {number}.", topic=f"topic-{number}").chat
            for place in range(THREADS - WORKERS)
        ]

        def finish(place: int, waiting: Any = waiting) -> Any:
            body = {"status": "succeeded", "reply": "Built."}
            return callers.agents[place].post(f"turns/{waiting[place - WORKERS].pk}/finish/", body)

        topic_id = first.topic_id
        acts = [
            (lambda topic_id=topic_id: work(topic_id))
            if place < WORKERS
            else (lambda place=place: finish(place))
            for place in range(THREADS)
        ]
        done = at_once(*acts)
        assert [answer for answer in done[:WORKERS] if answer is not None] == []
        assert [answer.status_code for answer in done[WORKERS:]] == [200] * (THREADS - WORKERS)
        Topic.objects.filter(pk=topic_id).update(summary_due_at=timezone.now() - timedelta(seconds=1))
        while summaries.run(topic_id):
            pass
        topic = Topic.objects.select_related("summary").get(pk=topic_id)
        assert (topic.summarised_through, topic.summary_due_at, topic.summary_failures) == (
            len(waiting) + 1,
            None,
            0,
        )
        assert topic.summary is not None
        assert [line.split(":")[0] for line in topic.summary.text.splitlines()] == [
            f"- {place}" for place in range(1, len(waiting) + 2)
        ]
        assert Chat.objects.filter(topic=topic_id, digest_tokens=None).count() == 0
    assert deadlocks() == []


def test_a_topic_that_is_reset_while_workers_sum_up_is_told_anew_from_what_is_left(
    callers: Callers, project: Project, deadlocks: Callable[[], list[str]]
) -> None:
    for number in rounds():
        chats = [turn(project, f"Page {place} of {number}.", topic=f"topic-{number}") for place in range(6)]
        topic_id = chats[0].topic_id

        def erase(erased: int = chats[0].pk, topic_id: int = topic_id) -> None:
            # As chats.erasure does, with its locks.
            with transaction.atomic():
                store.lock(project)
                Topic.objects.select_for_update().get(pk=topic_id)
                EpisodeTerm.objects.filter(chat_id=erased).delete()
                Chat.objects.filter(pk=erased).update(
                    message="", reply="", digest="", digest_tokens=None, erased_at=timezone.now()
                )
                summaries.forget([topic_id], now=timezone.now())

        done = at_once(erase, *[(lambda topic_id=topic_id: work(topic_id))] * 7)
        assert [answer for answer in done if answer is not None] == []
        Topic.objects.filter(pk=topic_id).update(summary_due_at=timezone.now() - timedelta(seconds=1))
        while summaries.run(topic_id):
            pass
        erased = Chat.objects.get(pk=chats[0].pk)
        assert (erased.digest, EpisodeTerm.objects.filter(chat=erased).count()) == ("", 0)
        assert not any("- 1:" in text for text in Summary.objects.values_list("text", flat=True))
        assert Topic.objects.get(pk=topic_id).summarised_through == 6
    assert deadlocks() == []
