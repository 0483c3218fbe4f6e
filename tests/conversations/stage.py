"""Plays a script: the services a caller, a worker and a person use, in the order the script tells."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from django.utils import timezone

from chats import distil, steps
from chats.endings import FinishRequest, finish_turn
from chats.models import Chat, Topic
from chats.turns import TurnRequest, hear_further, open_turn
from memories import store
from memories.models import Candidate, Memory
from projects.actors import Actor
from tests.chats.turns import AGENT
from tests.llm_server import Answer, envelope

from .script import Conversation, Invention, Next, Note, Person, Say

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pytest

    from projects.models import Project
    from tests.llm_server import LlmServer

BEGIN = "2026-03-02 09:00"


class Clock:
    """What time it is for everybody: a conversation of March is read in March."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = datetime.fromisoformat(f"{BEGIN}+08:00")
        monkeypatch.setattr(timezone, "now", lambda: self.now)

    def set(self, local: str) -> None:
        self.now = datetime.fromisoformat(f"{local}+08:00")

    def tick(self, **delta: float) -> None:
        self.now += timedelta(**delta)


@dataclass
class Stage:
    """A project, its clock and, with a model, the provider that says what the script tells."""

    project: Project
    clock: Clock
    server: LlmServer | None = None
    inventions: list[str] = field(default_factory=list)
    turns: int = 0

    @property
    def person(self) -> Actor:
        return Actor.for_user(self.project.owner, transport="web")

    def play(self, conversation: Conversation) -> None:
        for step in conversation.steps:
            match step:
                case Say():
                    self.say(step)
                case Person():
                    self.act(step)
                case Next():
                    model = step.model if self.server is not None else None
                    assert self.given(step.message) == sorted(step.given if model is None else model)

    def say(self, line: Say) -> Chat:
        """The turn, from its opening to the run that reads it; every outcome is compared with the script's."""
        chat = self.end(self.open(line), line)
        if line.read:
            self.read(line, chat)
        return chat

    def open(self, line: Say) -> Chat:
        if line.at:
            self.clock.set(line.at)
        else:
            self.clock.tick(minutes=10)
        self.turns += 1
        request = TurnRequest(
            topic_ref=line.topic,
            ref=f"turn-{self.turns}",
            message=line.message,
            sent_at=self.clock.now,
            author_ref=line.by,
            author_name=line.by,
            origin=line.origin,
            files=line.files,
        )
        opened = open_turn(project=self.project, request=request, by=AGENT)
        chat, heard = opened.chat, [opened.heard]
        for words in line.further:
            heard.append(hear_further(project=self.project, chat=chat, message=words, by=AGENT).heard)
        for agent, status in line.steps:
            steps.add_step(
                project=self.project, chat=chat, agent=agent, message="…", reply="…", status=status
            )
        assert tuple(item.outcome for one in heard for item in one.remembered) == line.heard
        assert tuple(item.code for one in heard for item in one.refused) == line.refused
        assert tuple(item.outcome for one in heard for item in one.forgotten) == line.forgot
        return chat

    def read(self, line: Say, chat: Chat) -> None:
        """A worker's run over what waits in the topic."""
        self.inventions += [note.content for note in line.model if isinstance(note, Invention)]
        before = set(Candidate.objects.values_list("pk", flat=True))
        self.run(chat, line.model)
        found = Candidate.objects.exclude(pk__in=before).order_by("position")
        told = [(one.content, f"{one.outcome}/{one.reason}") for one in found]
        if self.server is None:
            expected = [*line.rules.items()]
        else:
            noted = [(note.content, note.becomes) for note in line.model]
            expected = [*noted, *line.signalled.items()]
        assert (line.message, told) == (line.message, expected)

    def run(self, chat: Chat, notes: Sequence[Note] = ()) -> None:
        """A worker's run, whatever it comes to; a model answers with these notes."""
        if self.server is not None:
            self.server.script = [Answer(content=envelope([_item(note, chat) for note in notes]))]
        self.clock.tick(minutes=5)
        Topic.objects.filter(pk=chat.topic_id).update(distil_due_at=self.clock.now - timedelta(seconds=1))
        distil.run(chat.topic_id)

    def end(self, chat: Chat, line: Say) -> Chat:
        ending = FinishRequest(status=line.status, reply=line.reply, files=line.files)
        return finish_turn(project=self.project, chat=chat, request=ending, by=AGENT).chat

    def act(self, step: Person) -> None:
        self.clock.tick(minutes=1)
        memory = Memory.objects.of(self.project).live().get(content=step.content)
        fields: dict[str, Any] = {"project": self.project, "memory_id": memory.pk, "by": self.person}
        if step.verb == "edit":
            store.edit(**fields, changes={"content": step.to})
        else:
            getattr(store, step.verb)(**fields)

    def given(self, message: str) -> list[str]:
        """Contents of the memories that a new topic's first message is given."""
        self.turns += 1
        self.clock.tick(minutes=1)
        request = TurnRequest(
            topic_ref=f"new-{self.turns}", ref="first", message=message, sent_at=self.clock.now
        )
        context = open_turn(project=self.project, request=request, by=AGENT).context
        refs = context.memory.refs if context.memory else ()
        return sorted(Memory.objects.filter(pk__in=refs).values_list("content", flat=True))

    def live(self) -> dict[str, str]:
        return dict(Memory.objects.of(self.project).live().order_by("id").values_list("content", "status"))


def _item(note: Any, chat: Chat) -> dict[str, Any]:
    """The item as a model writes it, about this turn."""
    return {
        "type": note.type,
        "content": note.content,
        "quote": note.quote or note.content,
        "turn": chat.pk,
        "role": note.role,
        "key": note.key,
        "replaces": note.replaces,
        "importance": note.importance,
        "always": False,
        "keywords": [],
        "files": list(note.files),
    }
