"""`manage.py seed_demo`: the demo project, made through the running site and its worker as a service does."""

from __future__ import annotations

import http.client
import json
import os
import secrets
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from chats.demo import CONVERSATIONS, NAMES, Conversation, Said
from chats.models import Chat, Topic
from memories.models import Memory, Status
from projects.actors import SYSTEM
from projects.models import Project, Scope
from projects.store import add_member, create_project, is_member, issue_key

SLUG = "shop"
SCOPES = [Scope.TURNS, Scope.RECALL, Scope.MEMORIES_READ, Scope.MEMORIES_PROPOSE, Scope.TRACES_READ]
DISTIL_WAIT_S = 90


class Command(BaseCommand):
    help = "Make the demo project through the API of the running site, and print its logins and key."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--url", default=settings.SITE_URL, help="where the site runs")

    def handle(self, *args: Any, **options: Any) -> None:
        """Safe to repeat: turns are known by their refs, and what was made once is only printed again."""
        self.url = options["url"].rstrip("/")
        notes = Notes(Path(settings.DATA_DIR) / "demo.json")
        people = {name: self._person(name, notes) for name in ("mei", "tom")}
        self._person("admin", notes, is_superuser=True, is_staff=True)
        project = Project.objects.filter(slug=SLUG).first() or create_project(
            slug=SLUG,
            name="商城前台 · Storefront",
            description="Demo: what two people and an agent agreed on while building a shop.",
            owner=people["mei"],
            by=SYSTEM,
        )
        if not is_member(project, people["tom"]):
            add_member(project=project, user=people["tom"], by=SYSTEM)
        if "key" not in notes:
            _, notes["key"] = issue_key(project=project, name="demo agent", scopes=SCOPES, by=SYSTEM)
        self.key = notes["key"]
        if "seeded" not in notes:
            for conversation in CONVERSATIONS:
                self._play(project, conversation)
            notes["seeded"] = "yes"
        self._banner(project, notes)

    def _person(self, name: str, notes: Notes, **rights: Any) -> User:
        user = User.objects.filter(username=name).first()
        if user is None:
            notes[f"password of {name}"] = secrets.token_urlsafe(9)
            user = User.objects.create_user(
                name, first_name=NAMES.get(name, name), password=notes[f"password of {name}"], **rights
            )
        return user

    def _play(self, project: Project, conversation: Conversation) -> None:
        """Send the turns one after another, and let the worker distil them before the next topic begins."""
        self.stdout.write(f"{conversation.title}: {len(conversation.turns)} turns")
        topic_id = 0
        for number, said in enumerate(conversation.turns, start=1):
            topic_id = self._turn(project, conversation, said, number)
        if conversation.complete:
            self._post(f"/api/v1/topics/{topic_id}/complete/", {})
        self._await_worker(topic_id)

    def _turn(self, project: Project, conversation: Conversation, said: Said, number: int) -> int:
        opened = self._post(
            f"/api/v1/projects/{project.slug}/turns/",
            {
                "topic": {"ref": conversation.ref, "title": conversation.title, "area": conversation.area},
                "ref": f"demo-{number}",
                "message": said.message,
                "files": list(said.files),
                "author": {"ref": said.author, "name": NAMES[said.author]},
                "agent": "demo",
            },
        )
        turn = opened["turn"]
        if turn["status"] == Chat.ChatStatus.RUNNING:
            self._post(
                f"/api/v1/turns/{turn['id']}/finish/",
                {
                    "status": said.status,
                    "reply": said.reply,
                    "files": list(said.files),
                    "tools": [{"name": name, "ok": True} for name in said.tools],
                    "model": "demo",
                },
            )
        return int(turn["topic"]["id"])

    def _await_worker(self, topic_id: int) -> None:
        deadline = time.monotonic() + DISTIL_WAIT_S
        while Topic.objects.filter(pk=topic_id, distil_due_at__isnull=False).exists():
            if time.monotonic() > deadline:
                raise CommandError(
                    f"No worker distilled topic {topic_id} within {DISTIL_WAIT_S} s. Is one running? "
                    "Start it with: celery -A config worker --beat"
                )
            time.sleep(0.2)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        parts = urlsplit(self.url)
        make = http.client.HTTPSConnection if parts.scheme == "https" else http.client.HTTPConnection
        connection = make(parts.netloc, timeout=30)
        try:
            connection.request(
                "POST",
                path,
                json.dumps(body).encode(),
                {"Content-Type": "application/json", "Authorization": f"Bearer {self.key}"},
            )
            response = connection.getresponse()
            answer = response.read()
        except OSError as error:
            message = f"{self.url} does not answer ({error}). Start the site first: make run"
            raise CommandError(message) from error
        finally:
            connection.close()
        if response.status >= 400:
            raise CommandError(f"{path} answered {response.status}: {answer.decode(errors='replace')[:500]}")
        answered: dict[str, Any] = json.loads(answer)
        return answered

    def _banner(self, project: Project, notes: Notes) -> None:
        memories = Memory.objects.of(project)
        active = memories.filter(status=Status.ACTIVE).count()
        waiting = memories.filter(status=Status.PROPOSED).count()
        people = (*NAMES, "admin")
        password = {name: notes.get(f"password of {name}", "(your own password)") for name in people}
        lines = [
            "",
            f"  Cairn            {self.url}/",
            f"  Admin            {self.url}/admin/      admin / {password['admin']}",
            f"  API              {self.url}/api/v1/docs/",
            f"  Demo project     {project.slug}: {active} memories in force, {waiting} waiting for review",
            f"  Demo key         {notes['key']}",
            f"  Owner            mei / {password['mei']}",
            f"  Collaborator     tom / {password['tom']}",
            "",
        ]
        self.stdout.write("\n".join(lines))


class Notes:
    """What `make run` must print again the next time; a file beside the data that only its owner reads."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: dict[str, str] = json.loads(path.read_text()) if path.exists() else {}

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def __getitem__(self, name: str) -> str:
        return self.entries[name]

    def __setitem__(self, name: str, value: str) -> None:
        self.entries[name] = value
        draft = self.path.with_suffix(".new")
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as file:
            json.dump(self.entries, file, ensure_ascii=False, indent=1)
        draft.replace(self.path)

    def get(self, name: str, default: str) -> str:
        return self.entries.get(name, default)
