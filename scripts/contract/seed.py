"""Fills a fresh database for the contract tests, and tells what exists in the folder that it is given.

    PYTHONPATH=. python scripts/contract/seed.py FOLDER

The ids go into `known.json`, the headers of those who call into `callers.json`. There is much of
everything, because calls use it up.
"""

import json
import random
import sys
from pathlib import Path
from typing import Any

import django

django.setup()

from django.contrib.sessions.backends.db import SessionStore
from django.middleware.csrf import _get_new_csrf_string

from chats import topics
from chats.models import Instruction
from memories import store as memory_store
from memories.models import Extraction, Source
from projects.actors import Actor
from tests.chats.turns import opened, turn
from tests.factories import make_key, make_project, make_user

SLUG = "shop"
# Words that no two memories share: alike ones would be taken for contradictions, and wait.
SYLLABLES = ("ba", "do", "fi", "gu", "ke", "lo", "mi", "nu", "pa", "re", "si", "to", "ve", "wu", "za")
speech = random.Random(1)  # noqa: S311 - the same each time, and no secret
OF_EACH = 40
DOOMED = 40


def sentence() -> str:
    return " ".join("".join(speech.choices(SYLLABLES, k=4)) for _ in range(5)).capitalize() + "."


def fact() -> memory_store.Draft:
    return memory_store.Draft(type="fact", content=sentence())


def main(folder: Path) -> None:
    owner = make_user("owner")
    project = make_project(SLUG, owner=owner, name="网店 Shop", review_policy="none")
    settings = make_project("settings", owner=owner)
    doomed = [make_project(f"doomed-{number}", owner=owner).slug for number in range(DOOMED)]
    key, secret = make_key(project)
    agent = Actor.for_key(key)
    person = Actor.for_user(owner, transport="web")
    lists: dict[str, list[Any]] = {
        "slugs": [SLUG],
        "settings": [settings.slug],
        "people": [owner.username],
        "doomed": doomed,
    }

    def learn(name: str) -> int:
        memory = memory_store.add(project=project, draft=fact(), source=Source.AGENT, by=agent)
        lists.setdefault(name, []).append(memory.pk)
        return memory.pk

    for _ in range(OF_EACH):
        learn("active")
        learn("bulk")
        learn("merged")
        learn("purged")
        learn("removed")
        learn("archived")
        memory_store.disable(project=project, memory_id=learn("undone"), by=agent)
        memory_store.disable(project=project, memory_id=learn("disabled"), by=agent)
        memory_store.delete(project=project, memory_id=learn("deleted"), by=agent)
        for name in ("confirmed", "rejected"):
            proposal = memory_store.propose(project=project, draft=fact(), source=Source.EXTRACTED, by=agent)
            lists.setdefault(name, []).append(proposal.pk)
    for number in range(OF_EACH // 2):
        topic = f"conv-{number}"
        told = turn(project, f"From now on use pnpm {number}. Remember: port {number} is free.", topic=topic)
        running = opened(project, "Which rows are there?", topic=topic, files=("src/a.vue",)).chat
        lists.setdefault("traces", []).extend((told.pk, running.pk))
        lists.setdefault("running", []).append(running.pk)
        lists.setdefault("finishing", []).append(opened(project, "And then?", topic=topic).chat.pk)
        lists.setdefault("topics", []).append(told.topic_id)
        lists.setdefault("ended", []).append(turn(project, "继续", topic=f"end-{number}").topic_id)
        run = Extraction.objects.create(
            project=project,
            topic=told.topic,
            trigger="turn",
            status="failed",
            backend="rules",
            lease_token=f"gone-{number}",
            chats_read=[told.pk],
        )
        lists.setdefault("extractions", []).append(run.pk)
    rules = list(Instruction.objects.filter(topic__project=project).values_list("pk", flat=True))
    lists["dismissed"], lists["promoted"] = rules[::2], rules[1::2]
    topics.complete_topic(project=project, topic_id=lists["topics"][0], by=person)

    (folder / "known.json").write_text(json.dumps(lists))
    token = _get_new_csrf_string()
    session = SessionStore()
    session["_auth_user_id"] = str(owner.pk)
    session["_auth_user_backend"] = "django.contrib.auth.backends.ModelBackend"
    session["_auth_user_hash"] = owner.get_session_auth_hash()
    session.create()
    callers = {
        "key": {"Authorization": f"Bearer {secret}"},
        "owner": {"Cookie": f"sessionid={session.session_key}; csrftoken={token}", "X-CSRFToken": token},
    }
    (folder / "callers.json").write_text(json.dumps(callers))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
