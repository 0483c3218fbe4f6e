"""Memories and messages to measure with: twelve words a memory, their frequencies as in ordinary text."""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import timedelta
from typing import TYPE_CHECKING

from django.contrib.auth.models import User
from django.utils import timezone

from memories import guard
from memories.dedupe import content_hash
from memories.models import Authority, Memory, Source, Status
from memories.recall.render import line_tokens
from projects import store
from projects.actors import SYSTEM
from projects.models import Scope

if TYPE_CHECKING:
    from projects.models import Project

SCOPES = [
    Scope.TURNS, Scope.RECALL, Scope.MEMORIES_READ, Scope.MEMORIES_PROPOSE, Scope.MEMORIES_WRITE,
    Scope.TRACES_READ,
]  # fmt: skip
ALWAYS = 4


class Speech:
    """Sentences of a made-up project: two to four Chinese characters or an identifier a word."""

    def __init__(self, seed: int = 7) -> None:
        self.chance = random.Random(seed)
        self.words = [self._word(number) for number in range(4000)]
        self.weights = [1 / (place + 10) for place in range(len(self.words))]

    def _word(self, number: int) -> str:
        chance = self.chance
        if number % 4:
            return "".join(chr(chance.randint(0x4E00, 0x5500)) for _ in range(chance.randint(2, 4)))
        return "".join(chance.choice("bcdfglmnprst") + chance.choice("aeiou") for _ in range(3))

    def sentence(self, length: int) -> str:
        return " ".join(self.chance.choices(self.words, self.weights, k=length))


@dataclass(frozen=True)
class Filled:
    project: Project
    key: str
    speech: Speech


def fill(slug: str, count: int) -> Filled:
    """A project with `count` memories in force, and a key that may do everything in it."""
    owner = User.objects.filter(username="bench").first() or User.objects.create_user("bench")
    project = store.create_project(slug=slug, name=slug, owner=owner, by=SYSTEM)
    _, key = store.issue_key(project=project, name="bench", scopes=SCOPES, by=SYSTEM)
    speech = Speech()
    last = Memory.objects.order_by("pk").values_list("pk", flat=True).last() or 0
    now = timezone.now()
    # Past the store, which compares each with all the others: ten thousand would take an hour.
    Memory.objects.bulk_create(
        [_memory(project, speech, last + n, now - timedelta(minutes=n)) for n in range(1, count + 1)],
        batch_size=500,
    )
    return Filled(project, key, speech)


def _memory(project: Project, speech: Speech, pk: int, said_at: object) -> Memory:
    content = f"{speech.sentence(12)} {pk}"
    is_ruled = pk % 3 == 0
    memory = Memory(
        pk=pk,
        project=project,
        type="constraint" if is_ruled else "fact",
        key=f"{speech.sentence(2)}-{pk}",
        content=content,
        importance=speech.chance.randint(1, 5),
        always=pk % 75 == 0 and pk // 75 <= ALWAYS,
        files=[f"src/{speech.sentence(1)}/*.ts"] if pk % 5 == 0 else [],
        source=Source.MANUAL if is_ruled else Source.EXTRACTED,
        authority=Authority.PERSON if is_ruled else Authority.AUTOMATIC,
        status=Status.ACTIVE,
        said_at=said_at,
        content_hash=content_hash(content),
        guard_version=guard.GUARD_VERSION,
    )
    memory.tokens = line_tokens(
        type=memory.type,
        id=pk,
        said_on=memory.said_at.date(),
        content=content,
        files=tuple(memory.files),
    )
    return memory
