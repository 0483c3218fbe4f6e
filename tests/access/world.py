"""Two projects with a row of everything in each, and everybody who may call. Made once, put back after each test."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from django.apps import apps
from django.db import connection
from django.utils import timezone
from rest_framework.test import APIClient

from chats.models import EpisodeTerm, Instruction
from memories import store as memory_store
from memories.models import Candidate, Extraction, Memory, Source
from projects import store
from projects.actors import SYSTEM, Actor
from projects.models import ApiKey, IdempotencyRecord, Scope
from tests.chats.turns import opened, turn
from tests.factories import PROJECT_SCOPES, make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from django.contrib.auth.models import User

    from projects.models import Project

# A word in every text of the project that is called, and one in every text of the other.
OURS, THEIRS = "walrus", "kraken"
type State = dict[str, Sequence[tuple[Any, ...]]]


@dataclass(frozen=True)
class Place:
    """A project and the ids of its rows, by the name of an address's parameter or of their condition."""

    project: Project
    slug: str
    ids: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    ours: Place
    theirs: Place
    clients: dict[str, APIClient]
    keys: dict[frozenset[str], APIClient]
    state: State
    their_rows: State

    def key_with(self, scopes: Iterable[str]) -> APIClient:
        """A client with a key of our project that has exactly these scopes."""
        return self.keys[frozenset(map(str, scopes))]


def make_world(scope_sets: Iterable[Iterable[str]]) -> World:
    """`scope_sets`: for each, a key of our project with these scopes and one with all others is made."""
    ours, theirs = make_place("shop", OURS), make_place("mine", THEIRS)
    by = Actor.for_user(ours.project.owner, transport="web")
    people = {
        "stranger": theirs.project.owner,
        "owner": ours.project.owner,
        "collaborator": _member(ours.project, "colin"),
        "former collaborator": _member(ours.project, "fergus"),
        "deactivated collaborator": _member(ours.project, "dora"),
        "operator": make_user("otto", groups=["operators"], is_staff=True),
        "auditor": make_user("aude", groups=["auditors"], is_staff=True),
        "superadmin": make_user("sue", groups=["superadmins"]),
    }
    clients = {name: _client_of(user) for name, user in people.items()}
    store.remove_member(project=ours.project, user=people["former collaborator"], by=by)
    dora = people["deactivated collaborator"]
    dora.is_active = False
    dora.save(update_fields=["is_active"])
    held = APIClient(enforce_csrf_checks=True)
    held.force_login(people["owner"], backend="django.contrib.auth.backends.ModelBackend")
    revoked, revoked_secret = make_key(ours.project)
    store.revoke_key(key=revoked, by=by)
    expired, expired_secret = make_key(ours.project, expires_at=timezone.now() + timedelta(days=1))
    ApiKey.objects.filter(pk=expired.pk).update(expires_at=timezone.now() - timedelta(seconds=1))
    # No door gives a project's key this scope; where a row has it, it opens nothing.
    strange, strange_secret = make_key(ours.project, [])
    ApiKey.objects.filter(pk=strange.pk).update(scopes=[str(Scope.PROJECTS)])
    clients |= {
        "anonymous": APIClient(),
        "owner without CSRF token": held,
        "unknown key": with_key("cairn_abcdefabcdef_" + "0" * 48),
        "revoked key": with_key(revoked_secret),
        "expired key": with_key(expired_secret),
        "own key with a platform's scope": with_key(strange_secret),
        "other project's key": with_key(make_key(theirs.project)[1]),
        "platform key": with_key(make_key(None)[1]),
        "platform key without scope": with_key(make_key(None, [])[1]),
    }
    wanted = {frozenset(map(str, one)) & set(PROJECT_SCOPES) for one in scope_sets}
    wanted |= {frozenset(PROJECT_SCOPES) - one for one in wanted} | {
        frozenset([one]) for one in PROJECT_SCOPES
    }
    keys = {one: with_key(make_key(ours.project, sorted(one))[1]) for one in wanted}
    # Else the first call of each minute would note its key's use, which is nothing that a test looks for.
    ApiKey.objects.update(last_used_at=timezone.now() + timedelta(days=1))
    return World(
        ours=ours, theirs=theirs, clients=clients, keys=keys, state=state(), their_rows=rows_of(theirs)
    )


def make_place(slug: str, word: str) -> Place:
    """Every memory is an agent's own, so that whoever may write may change it."""
    owner = make_user(f"{slug}-owner", email=f"{word}@example.org")
    project = make_project(slug, owner=owner, name=f"Project {word}", review_policy="none", description=word)
    key, _secret = make_key(project, name=f"agent {word}")
    agent = Actor.for_key(key)
    ids: dict[str, int] = {}

    def learn(name: str, content: str, **fields: Any) -> int:
        draft = memory_store.Draft(type="fact", content=f"{content} {word}", **fields)
        ids[name] = memory_store.add(project=project, draft=draft, source=Source.AGENT, by=agent).pk
        return ids[name]

    learn("memory_id", "Page references use block ids")
    learn("twin", "Lists show twenty rows")
    memory_store.disable(project=project, memory_id=learn("disabled", "Amounts are in cents"), by=agent)
    memory_store.delete(project=project, memory_id=learn("deleted", "Dates are in UTC"), by=agent)
    people = Actor.for_user(owner, transport="web")
    memory_store.disable(project=project, memory_id=learn("switched", "Logs are in English"), by=people)
    draft = memory_store.Draft(type="fact", content=f"Colours come from tokens {word}")
    ids["proposed"] = memory_store.propose(project=project, draft=draft, source=Source.EXTRACTED, by=agent).pk
    older = Memory.objects.get(pk=learn("superseded", "Ports start at 8000"))
    newer = memory_store.Draft(type="fact", content=f"Ports start at 9000 {word}")
    memory_store.replace(project=project, target=older, draft=newer, source=Source.AGENT, by=agent)

    first = turn(
        project,
        f"From now on use pnpm {word}.",
        topic=f"conv-{word}",
        topic_title=word,
        author_ref="ana",
        author_name=f"Ana {word}",
    )
    ids["finished"], ids["topic_id"] = first.pk, first.topic_id
    EpisodeTerm.objects.create(project=project, term=1, chat=first)
    ids["instruction_id"] = Instruction.objects.get(topic=first.topic_id).pk
    ids["turn_id"] = opened(project, f"Build the login page {word}.", topic=f"conv-{word}").chat.pk
    run = Extraction.objects.create(
        project=project,
        topic=first.topic,
        trigger="turn",
        status="failed",
        backend="rules",
        lease_token=f"gone {word}",
        chats_read=[first.pk],
        counts={"stored": 1},
        error_kind="internal",
        finished_at=timezone.now(),
    )
    ids["extraction_id"] = run.pk
    Candidate.objects.create(
        extraction=run, position=0, type="fact", content=word, outcome="dropped", reason="not_entailed"
    )
    IdempotencyRecord.objects.create(caller=f"key:{key.pk}", key=word, fingerprint=word)
    return Place(project=project, slug=slug, ids=ids)


def with_key(secret: str) -> APIClient:
    client = APIClient()
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def state() -> State:
    """Every row of every table, as the database gives it."""
    found: State = {}
    quote = connection.ops.quote_name
    with connection.cursor() as cursor:
        for model in apps.get_models(include_auto_created=True):
            options = model._meta
            if options.managed:
                key = options.pk.column
                cursor.execute(f"SELECT * FROM {quote(options.db_table)} ORDER BY {quote(key)}")  # noqa: S608
                found[options.label] = cursor.fetchall()
    return found


# How rows without a project of their own belong to one.
_WAYS = {
    "Candidate": "extraction__project",
    "Instruction": "topic__project",
    "MemoryUsage": "memory__project",
    "ProjectGrant": "content_object",
    "RecallItem": "recall__project",
}


def rows_of(place: Place) -> State:
    """Every row that belongs to the project."""
    found: State = {}
    for model in apps.get_models():
        fields = {one.name for one in model._meta.get_fields()}
        way = _WAYS.get(model.__name__) or ("project" if "project" in fields else None)
        if way is not None:
            rows = model._base_manager.filter(**{way: place.project.pk})
            found[model.__name__] = list(rows.order_by("pk").values_list())
    return found


def changed(before: State, after: State) -> set[str]:
    """The names of the models whose rows differ."""
    return {label.partition(".")[2] for label in before if before[label] != after[label]}


def _client_of(user: User) -> APIClient:
    client = APIClient()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def _member(project: Project, username: str) -> User:
    user = make_user(username)
    store.add_member(project=project, user=user, by=SYSTEM)
    return user
