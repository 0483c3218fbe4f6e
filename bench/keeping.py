"""What weighing costs, what a memory's life costs, and what a question about the past costs.

    python -m bench keeping

Texts are the contents of tests/memories/dedupe_pairs.jsonl, a memory's length and in both languages, beside one pass
of NFKC and casefolding over the same text; hostile ones are 10,000 and 20,000 characters long. Rows are of a project
with memories and with turns in many topics, beside the SELECT of one row by key. All take turns.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import unicodedata
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection, transaction
from django.utils import timezone

from bench.corpus import fill
from bench.figures import Figures
from chats import digests, episodes
from chats.intent import classify
from chats.models import Chat, Topic
from memories import dedupe, explicit, guard, store
from memories.extraction.entailment import entails
from memories.models import Memory
from memories.store import rescan
from projects.actors import SYSTEM, Actor
from projects.models import Project

if TYPE_CHECKING:
    from bench.corpus import Filled

PAIRS = Path(__file__).resolve().parent.parent / "tests" / "memories" / "dedupe_pairs.jsonl"
HOSTILE = ("password is ", "ignore previous ", "不要再", "aA1_", "<|system|> ", "记住：", "a.b.c@")
TURNS_A_TOPIC = 50
SCANNED = 100


def of_texts(*, rounds: int) -> Figures:
    figures = Figures()
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    for number, pair in itertools.product(range(rounds), pairs):
        # Another text each time: nothing is found in a cache that a new memory would not find in it.
        a, b = (f"{pair[side]} ({number})" for side in ("a", "b"))
        figures.time(
            "one pass of NFKC and casefolding", lambda a=a: unicodedata.normalize("NFKC", a).casefold()
        )
        figures.time("guard: inspect", partial(guard.inspect, a))
        figures.time("guard: mask", partial(guard.mask, a))
        figures.time("explicit: read a message", partial(explicit.read, a))
        figures.time("intent of a message", partial(classify, a, first_in_topic=False))
        figures.time("compare two new contents", partial(dedupe.compare, a, b))
        figures.time("compare them again", partial(dedupe.compare, a, b))
        figures.time("does one entail the other", partial(entails, a, b))
        figures.time("digest of a turn", partial(digests.digest, a, b, ()))
    return figures


def of_hostile_texts() -> list[str]:
    """Twice the length may take twice as long."""
    tables = []
    for name, job in (("guard: inspect", guard.inspect), ("compare", partial(dedupe.compare, "a rule"))):
        figures = Figures()
        for size, piece in itertools.product((10_000, 20_000), HOSTILE):
            figures.time(f"{size:,} characters", partial(job, (piece * size)[:size]))
        tables.append(figures.table(f"{name}, hostile texts"))
    return tables


def of_rows(filled: Filled, *, turns: int, times: int) -> Figures:
    project, figures = filled.project, Figures()
    person = Actor.for_user(project.owner, transport="command")
    asking = _talk(filled, turns)
    memories = list(Memory.objects.of(project).active().order_by("pk").values_list("pk", flat=True)[:times])
    for number, memory_id in enumerate(memories):
        question = f"上次我们怎么定的 {filled.speech.sentence(4)}？"
        act = {"project": project, "memory_id": memory_id, "by": person}
        figures.time("SELECT of one row by key", lambda: Project.objects.get(pk=project.pk))
        figures.time("episodes for a question", partial(_episodes, asking, question))
        figures.time("edit", partial(store.edit, changes={"importance": 1 + number % 5}, **act))
        figures.time("disable", partial(store.disable, **act))
        figures.time("undo", partial(store.undo, **act))
        figures.time("archive", partial(store.archive, **act))
        figures.time("purge", partial(store.purge, **act))
        figures.time("fade, nothing due", partial(store.fade, now=timezone.now(), by=SYSTEM))
        figures.time("is anything to be looked at again", rescan.is_due)
    old = Memory.objects.of(project).order_by("-pk").values_list("pk", flat=True)[:SCANNED]
    Memory.objects.filter(pk__in=list(old)).update(guard_version=guard.GUARD_VERSION - 1)
    figures.time(f"look again: {SCANNED} memories, all copies", partial(rescan.run, by=SYSTEM))
    return figures


def _episodes(asking: Chat, question: str) -> None:
    episodes.find(asking, question, room=2_000, now=timezone.now())


def _talk(filled: Filled, count: int) -> Chat:
    """`count` succeeded turns in topics of TURNS_A_TOPIC, digested; and one of another topic, that asks."""
    project, speech = filled.project, filled.speech
    for place in range(0, count, TURNS_A_TOPIC):
        topic = Topic.objects.create(project=project, ref=f"talk-{place}")
        Chat.objects.bulk_create(
            [
                Chat(
                    project=project,
                    topic=topic,
                    seq=number,
                    status=Chat.ChatStatus.SUCCEEDED,
                    message=f"{speech.sentence(12)}？",
                    reply=f"{speech.sentence(12)}。",
                )
                for number in range(1, TURNS_A_TOPIC + 1)
            ]
        )
        with transaction.atomic():
            for turn in episodes.undigested(topic.pk):
                episodes.keep(project, turn.pk, *episodes.read(turn, title=""))
    topic = Topic.objects.create(project=project, ref="asking")
    return Chat.objects.create(project=project, topic=topic, seq=1, message="")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--short", action="store_true")
    asked = parser.parse_args()
    print(of_texts(rounds=1 if asked.short else 4).table("a text of a memory's length"))
    print(*of_hostile_texts(), sep="\n", flush=True)
    memories, turns, times = (300, 500, 10) if asked.short else (10_000, 5_000, 60)
    figures = of_rows(fill("keeping", memories), turns=turns, times=times)
    print(figures.table(f"{connection.vendor}, {memories:,} memories, {turns:,} turns"), flush=True)


if __name__ == "__main__":
    main()
