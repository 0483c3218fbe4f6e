"""Recall and the writes of memories at some sizes of a project, on real rows, without HTTP.

    python -m bench memories

Beside recall: the SELECT of one row by key and of all the rows that it chooses from; bm25s over the same terms of
the same texts; a bare pass over the contents. They take turns. "cold" is a recall that must build its index;
"after one write" the first one after a memory was written, which makes every index of the project out of date.
"""

from __future__ import annotations

import argparse
import itertools
import logging
import os
from functools import partial

import bm25s
import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection, transaction
from django.utils import timezone

from bench.corpus import Filled, fill
from bench.figures import Figures
from chats.models import Chat, Topic
from memories import extraction as extracting
from memories import store
from memories.extraction.backends import Extracted, Proposal
from memories.extraction.transcript import Transcript, Turn
from memories.models import Extraction, Memory, Source
from memories.recall import recall, service
from memories.recall.pack import pack
from memories.recall.score import Query, Ranking
from memories.text import terms
from projects.actors import SYSTEM, Actor
from projects.models import Project

logging.getLogger("bm25s").setLevel(logging.WARNING)
FILES = ("src/a/b.ts", "src/x.vue")


def of_recall(filled: Filled, *, warm: int, cold: int) -> tuple[Figures, Figures]:
    """Figures of warm recall, and of recall that must first bring its index up to date."""
    project, figures, building = filled.project, Figures(), Figures()
    # Both ends of a conversation, cycled: nothing is found in a cache that a message would not find it in.
    messages = itertools.cycle([filled.speech.sentence(15) for _ in range(100)])
    active = Memory.objects.of(project).active()
    contents = list(active.values_list("content", flat=True))
    plain = bm25s.BM25()
    words = [list(terms(content)) for content in contents]
    plain.index(words, show_progress=False)
    recall(project, next(messages))
    index = service.index_of(project)

    def in_memory(message: str) -> None:
        ranking = Ranking(index, Query.read(message, now=timezone.now(), files=FILES))
        pack(index, ranking.always, ranking.evident, max_items=12, max_tokens=6000)

    def beside(message: str) -> None:
        plain.retrieve([list(terms(message))], k=12, show_progress=False)

    def by_key() -> None:
        Project.objects.values_list("memory_version", flat=True).get(pk=project.pk)

    for _ in range(warm):
        message = next(messages)
        figures.time("SELECT of one row by key", by_key)
        figures.time("warm recall", partial(recall, project, message, files=FILES))
        figures.time("  of it: ranking and packing", partial(in_memory, message))
        figures.time("bm25s: best 12 of the same texts", partial(beside, message))
        figures.time("bare pass over the contents", lambda said=message: [said in one for one in contents])
    for number in range(cold):
        building.time("bare SELECT of the rows", lambda: list(active.values_list(*service._COLUMNS)))
        service.cache.clear()
        building.time("cold recall", partial(recall, project, next(messages), files=FILES))
        _write_past_the_store(filled, number)
        building.time("recall after one write", partial(recall, project, next(messages), files=FILES))
        building.time("bm25s: index of the same texts", partial(_index_beside, contents))
    return figures, building


def _write_past_the_store(filled: Filled, number: int) -> None:
    memory = Memory.objects.of(filled.project).active().first()
    with transaction.atomic():
        store.lock(filled.project)
        Memory.objects.filter(pk=memory.pk).update(importance=1 + number % 5, version=memory.version + 1)


def _index_beside(contents: list[str]) -> None:
    bm25s.BM25().index([list(terms(content)) for content in contents], show_progress=False)


def of_writes(filled: Filled, *, times: int) -> Figures:
    """Each reads what is live under the lock of the project; `add` of a person is the one that compares nothing."""
    project, speech, figures = filled.project, filled.speech, Figures()
    person = Actor.for_user(project.owner, transport="command")
    topic = Topic.objects.create(project=project, ref="writes")
    chat = Chat.objects.create(project=project, topic=topic, seq=1, message="", status="succeeded")
    for number in range(times):
        draft = store.Draft(type="fact", content=f"{speech.sentence(12)} {number}")
        figures.time("add by a person", partial(_add, project, draft, person))
        said = store.Draft(type="constraint", content=f"{speech.sentence(12)} w{number}")
        figures.time("remember", partial(store.remember, project=project, draft=said, by=person))
        figures.time("forget", partial(store.forget, project=project, text=said.content, by=person))
        figures.time("settle a run of 3 candidates", partial(_settle, filled, chat, number))
    return figures


def _add(project: Project, draft: store.Draft, by: Actor) -> None:
    store.add(project=project, draft=draft, source=Source.MANUAL, by=by)


def _settle(filled: Filled, chat: Chat, number: int) -> None:
    contents = [f"{filled.speech.sentence(8)} s{number}-{part}" for part in range(3)]
    turn = Turn(id=chat.pk, seq=chat.seq, message="\n".join(contents), sent_at=chat.sent_at)
    proposals = tuple(Proposal(type="fact", content=one, quote=one, turn_id=turn.id) for one in contents)
    with transaction.atomic():
        store.lock(filled.project)
        run = Extraction.objects.create(
            project=filled.project, backend="bench", lease_token=f"{filled.project.pk}-{number}"
        )
        extracting.settle(
            project=filled.project,
            extraction=run,
            extracted=Extracted(candidates=proposals),
            transcript=Transcript(turns=(turn,)),
            now=timezone.now(),
            by=SYSTEM,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true")
    asked = parser.parse_args()
    for count in (300, 2000) if asked.short else (300, 10_000):
        filled = fill(f"memories-{count}", count)
        warm, cold, writes = (40, 3, 3) if asked.short else (300, 9, 20)
        where = f"{connection.vendor}, {count:,} memories"
        hot, building = of_recall(filled, warm=warm, cold=cold)
        print(hot.table(f"warm, {where}"))
        print(building.table(f"cold, {where}"))
        print(of_writes(filled, times=writes).table(f"writes, {where}"), flush=True)


if __name__ == "__main__":
    main()
