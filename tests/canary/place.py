"""A project in which every operation finds something fresh to work on."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from chats import distil
from chats.models import Instruction
from memories import store
from memories.models import Extraction, Source
from projects.actors import WORKER, Actor
from tests.chats.turns import finished, opened
from tests.factories import make_memory

if TYPE_CHECKING:
    from chats.models import Chat
    from memories.models import Memory
    from projects.models import Project
    from tests.canary.doors import Door, Path

_numbers = itertools.count(1)
# The state in which a memory takes the verb.
STATES = {
    "memories_enable": "disabled",
    "memories_confirm": "proposed",
    "memories_reject": "proposed",
    "memories_restore": "deleted",
}


@dataclass(frozen=True)
class Place:
    project: Project

    @property
    def by(self) -> Actor:
        return Actor.for_user(self.project.owner, transport="web")

    def address(self, door: Door) -> str:
        slug = f"new-{next(_numbers)}" if door.operation == "projects_put" else self.project.slug
        ids = {
            "turn_id": self.turn,
            "topic_id": self.topic,
            "memory_id": lambda: self.memory(STATES.get(door.operation, "active")).pk,
            "instruction_id": self.instruction,
            "extraction_id": self.failed_run,
        }
        made = {name: make() for name, make in ids.items() if f"{{{name}}}" in door.path}
        return door.path.format(slug=slug, **made)

    def given(self, door: Door) -> dict[Path, Any]:
        if door.operation == "memories_merge":
            return {("into",): self.memory().pk}
        # A filter stands in their place.
        by_ids = door.operation == "memories_bulk" and door.place[0] != "filter"
        return {("ids", 0): self.memory().pk} if by_ids else {}

    def memory(self, state: str = "active") -> Memory:
        # Words that have nothing in common, so that no two are near.
        content = f"Rule {next(_numbers)}: {' '.join(f'w{next(_numbers)}' for _ in range(5))}."
        if state == "proposed":
            draft = store.Draft(type="fact", content=content)
            return store.propose(project=self.project, draft=draft, source=Source.EXTRACTED, by=WORKER)
        memory = make_memory(self.project, content)
        if state == "disabled":
            return store.disable(project=self.project, memory_id=memory.pk, by=self.by)
        if state == "deleted":
            store.delete(project=self.project, memory_id=memory.pk, by=self.by)
        return memory

    def turn(self) -> int:
        return self._opened("Lists show rows.").pk

    def topic(self) -> int:
        return finished(self.project, self._opened("Lists show rows.")).topic_id

    def instruction(self) -> int:
        turn = self._opened(f"以后第 {next(_numbers)} 页一律用两个空格缩进。")
        return Instruction.objects.get(chat=turn).pk

    def failed_run(self) -> int:
        turn = finished(self.project, self._opened("Lists show rows."))
        return Extraction.objects.create(
            project=self.project,
            topic_id=turn.topic_id,
            trigger=Extraction.Trigger.TURN,
            backend="rules",
            status=Extraction.RunStatus.FAILED,
            error_kind=Extraction.ErrorKind.INPUT,
            lease_token=f"token-{next(_numbers)}",
            chats_read=[turn.pk],
        ).pk

    def _opened(self, message: str) -> Chat:
        return opened(self.project, message, topic=f"fresh-{next(_numbers)}").chat


def distil_everything(project: Project) -> None:
    for topic in project.topics.all():
        project.topics.filter(pk=topic.pk).update(
            distil_pending=True, distil_due_at=topic.created_at, distil_retry_at=None
        )
        while distil.run(topic.pk):
            pass
