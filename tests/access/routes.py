"""Every route and method of the API: what opens it, what it answers then, and the tables that it writes.

A row is one call. A route may have several rows (PUT makes a project or changes one); a route and method
without a row fails in tests/architecture/test_access.py.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rest_framework.response import Response
    from rest_framework.test import APIClient

    from tests.access.world import Place

PREFIX = "/api/v1/"
# Who needs no right in a project.
PUBLIC, SIGNED_IN = "public", "signed in"
VIEW, TURNS, CURATE, ADMINISTER = Permission.VIEW, Permission.TURNS, Permission.CURATE, Permission.ADMINISTER
ANY = tuple(Scope)
PEOPLE: tuple[Scope, ...] = ()
type Refusal = tuple[int, str]


@dataclass(frozen=True)
class Route:
    """`scopes`: any one of them opens it for a key; none: people only. `writes`: models whose rows change."""

    method: str
    path: str
    status: int
    permission: Permission | str
    scopes: tuple[Scope, ...] = PEOPLE
    writes: str = ""
    body: Mapping[str, Any] | None = None
    # The rows meant, where the one named after the address's parameter does not do: {"memory_id": "proposed"}.
    at: Mapping[str, str] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    # Callers to whom another rule applies than to the rest of the table.
    otherwise: Mapping[str, int | Refusal] = field(default_factory=dict)

    @property
    def name(self) -> str:
        at = "".join(f" of {row}" for row in self.at.values())
        return f"{self.method} {self.path}{at}"

    @property
    def is_safe(self) -> bool:
        return self.method == "GET"

    @property
    def tables(self) -> set[str]:
        return set(self.writes.split())

    def address(self, place: Place, **ids: Any) -> str:
        given = {"slug": place.slug, **place.ids}
        given |= {parameter: place.ids.get(row, row) for parameter, row in self.at.items()}
        return PREFIX + self.path.format(**(given | ids))

    def sent(self, place: Place) -> dict[str, Any] | None:
        """The body, its ids those of `place`."""
        return None if self.body is None else _filled(dict(self.body), place)

    def call(self, client: APIClient, place: Place, **ids: Any) -> Response:
        address = self.address(place, **ids) + self.query
        return client.generic(
            self.method, address, *_encoded(client, self.sent(place)), headers=dict(self.headers)
        )


def _encoded(client: APIClient, body: dict[str, Any] | None) -> tuple[bytes, str]:
    if body is None:
        return b"", "application/octet-stream"
    data, content_type = client._encode_data(body, format="json")
    return data, content_type


def _filled(value: Any, place: Place) -> Any:
    match value:
        case str() if value.startswith("@"):
            return place.ids[value[1:]]
        case dict():
            return {name: _filled(inner, place) for name, inner in value.items()}
        case list():
            return [_filled(inner, place) for inner in value]
    return value


MEMORY = "Memory HistoricalMemory Project AuditEvent"
ONCE = {"Idempotency-Key": "once"}
ANY_VERSION = {"If-Match": "*"}
_MEMORIES = "projects/{slug}/memories/"
_TURN = {"topic": {"ref": "new"}, "ref": "new", "message": "Remember: use tabs."}
# Whoever is signed in may make a project; a key's own project is the only one that it knows.
_NEW = {
    **dict.fromkeys(("stranger", "collaborator", "former collaborator", "operator", "auditor"), 201),
    **dict.fromkeys(("own key", "own key without scope", "own key with every scope"), (404, "not_found")),
    **dict.fromkeys(("own key with a platform's scope", "other project's key"), (404, "not_found")),
}


_KEYS_THAT_WRITE = ("own key", "own key with every scope", "platform key")


def _verb(name: str, at: str = "memory_id", *, scopes: Any = (Scope.MEMORIES_WRITE,), **more: Any) -> Route:
    defaults: dict[str, Any] = {
        "permission": CURATE,
        "writes": f"{MEMORY} IdempotencyRecord",
        "body": {"reason": "as agreed"},
        "headers": ONCE,
        "at": {} if at == "memory_id" else {"memory_id": at},
        "status": 200,
    }
    return Route("POST", f"{_MEMORIES}{{memory_id}}/{name}/", scopes=scopes, **(defaults | more))


_TRACES = {"permission": VIEW, "scopes": (Scope.TRACES_READ,)}
_READS = {"permission": VIEW, "scopes": (Scope.MEMORIES_READ,)}
_TAKES_TURNS: dict[str, Any] = {"permission": TURNS, "scopes": (Scope.TURNS,)}
_SETTINGS: dict[str, Any] = {"permission": ADMINISTER, "scopes": (Scope.PROJECTS,)}

ROUTES = [
    # --- public
    Route("GET", "health/live/", 200, PUBLIC),
    Route("GET", "health/ready/", 200, PUBLIC),
    Route("GET", "schema/", 200, PUBLIC),
    Route("GET", "docs/", 200, PUBLIC),
    # --- projects
    Route("GET", "me/", 200, SIGNED_IN),
    Route(
        "GET",
        "projects/",
        200,
        SIGNED_IN,
        otherwise={
            "own key with a platform's scope": (403, "scope_missing"),
            "platform key without scope": (403, "scope_missing"),
        },
    ),
    Route(
        "GET", "projects/{slug}/", 200, VIEW, ANY, otherwise={"own key without scope": (403, "scope_missing")}
    ),
    Route("PUT", "projects/{slug}/", 200, **_SETTINGS, writes="Project AuditEvent", body={"name": "New"}),
    Route(
        "PUT",
        "projects/{slug}/",
        201,
        **_SETTINGS,
        writes="Project ProjectGrant AuditEvent",
        body={"name": "New"},
        at={"slug": "new"},
        otherwise=_NEW,
    ),
    Route("PATCH", "projects/{slug}/", 200, **_SETTINGS, writes="Project AuditEvent", body={"name": "New"}),
    Route(
        "DELETE",
        "projects/{slug}/",
        204,
        **_SETTINGS,
        writes="Project ProjectGrant ApiKey AuditEvent Memory HistoricalMemory Tombstone Extraction Candidate "
        "Recall RecallBlock RecallItem Topic Chat EpisodeTerm Instruction IdempotencyRecord",
    ),
    # --- turns
    Route("GET", "projects/{slug}/turns/", 200, **_TRACES),
    Route(
        "POST",
        "projects/{slug}/turns/",
        201,
        **_TAKES_TURNS,
        writes=f"{MEMORY} Topic Chat Recall RecallBlock RecallItem",
        body=_TURN,
    ),
    Route("GET", "turns/{turn_id}/", 200, **_TRACES),
    Route(
        "POST",
        "turns/{turn_id}/context/",
        200,
        **_TAKES_TURNS,
        writes="Chat Recall RecallItem IdempotencyRecord",
        body={"message": "and make it blue"},
        headers=ONCE,
    ),
    Route(
        "POST",
        "turns/{turn_id}/steps/",
        201,
        **_TAKES_TURNS,
        writes="Chat IdempotencyRecord",
        body={"agent": "editor"},
        headers=ONCE,
    ),
    Route(
        "POST",
        "turns/{turn_id}/finish/",
        200,
        **_TAKES_TURNS,
        writes="Topic Chat IdempotencyRecord",
        body={"status": "succeeded", "reply": "Done."},
        headers=ONCE,
    ),
    # --- topics
    Route("GET", "projects/{slug}/topics/", 200, **_TRACES),
    Route("GET", "topics/{topic_id}/", 200, **_TRACES),
    Route("PATCH", "topics/{topic_id}/", 200, **_TAKES_TURNS, writes="Topic AuditEvent", body={"title": "x"}),
    Route(
        "DELETE",
        "topics/{topic_id}/",
        204,
        **_TAKES_TURNS,
        writes="Topic Chat EpisodeTerm Recall RecallItem Instruction Extraction Project AuditEvent",
    ),
    Route(
        "POST",
        "topics/{topic_id}/complete/",
        200,
        **_TAKES_TURNS,
        writes="Topic Instruction AuditEvent IdempotencyRecord",
        headers=ONCE,
    ),
    Route("GET", "topics/{topic_id}/instructions/", 200, VIEW, (Scope.TURNS, Scope.TRACES_READ)),
    Route(
        "POST",
        "instructions/{instruction_id}/dismiss/",
        200,
        **_TAKES_TURNS,
        writes="Instruction AuditEvent IdempotencyRecord",
        headers=ONCE,
    ),
    Route(
        "POST",
        "instructions/{instruction_id}/promote/",
        200,
        **_TAKES_TURNS,
        writes=f"{MEMORY} Instruction IdempotencyRecord",
        body={},
        headers=ONCE,
    ),
    Route(
        "POST",
        "projects/{slug}/erase-person/",
        200,
        ADMINISTER,
        writes="Chat EpisodeTerm Topic Recall Instruction Project AuditEvent IdempotencyRecord",
        body={"author_ref": "ana", "reason": "asked for"},
        headers=ONCE,
    ),
    # --- distilling
    Route("GET", "projects/{slug}/extractions/", 200, **_TRACES),
    Route("GET", "extractions/{extraction_id}/", 200, **_TRACES),
    Route(
        "POST",
        "extractions/{extraction_id}/retry/",
        202,
        **_TAKES_TURNS,
        writes="Topic AuditEvent IdempotencyRecord",
        headers=ONCE,
    ),
    # --- memories
    Route(
        "POST",
        "projects/{slug}/recall/",
        200,
        TURNS,
        (Scope.RECALL,),
        body={"message": "Which block ids?", "why": ["@disabled"]},
    ),
    Route("GET", _MEMORIES, 200, **_READS),
    Route(
        "POST",
        _MEMORIES,
        201,
        CURATE,
        (Scope.MEMORIES_WRITE, Scope.MEMORIES_PROPOSE),
        writes=f"{MEMORY} IdempotencyRecord",
        body={"type": "fact", "content": "Prices include tax."},
        headers=ONCE,
    ),
    Route(
        "POST",
        f"{_MEMORIES}bulk/",
        200,
        CURATE,
        (Scope.MEMORIES_WRITE,),
        writes=f"{MEMORY} IdempotencyRecord",
        body={"action": "disable", "ids": ["@memory_id", "@twin"]},
        headers=ONCE,
    ),
    Route("GET", f"{_MEMORIES}{{memory_id}}/", 200, **_READS),
    Route(
        "PATCH",
        f"{_MEMORIES}{{memory_id}}/",
        200,
        CURATE,
        (Scope.MEMORIES_WRITE,),
        writes=MEMORY,
        body={"importance": 1},
        headers=ANY_VERSION,
    ),
    Route(
        "DELETE",
        f"{_MEMORIES}{{memory_id}}/",
        204,
        CURATE,
        (Scope.MEMORIES_WRITE,),
        writes=f"{MEMORY} Tombstone",
        headers=ANY_VERSION,
        query="?reason=wrong",
    ),
    Route("GET", f"{_MEMORIES}{{memory_id}}/history/", 200, **_READS),
    Route("GET", f"{_MEMORIES}{{memory_id}}/history/", 200, **_READS, at={"memory_id": "deleted"}),
    _verb("enable", "disabled"),
    _verb("disable"),
    _verb("confirm", "proposed", scopes=PEOPLE),
    _verb("reject", "proposed", scopes=PEOPLE, writes=f"{MEMORY} Tombstone IdempotencyRecord"),
    _verb("restore", "deleted", writes=f"{MEMORY} Tombstone IdempotencyRecord"),
    # What a person may have decided since, only a person takes back.
    _verb("restore", "superseded", otherwise=dict.fromkeys(_KEYS_THAT_WRITE, (403, "role_missing"))),
    _verb("archive"),
    # A person's change is taken back by a person alone.
    _verb("undo", "switched", otherwise=dict.fromkeys(_KEYS_THAT_WRITE, (403, "role_missing"))),
    _verb("merge", "twin", body={"into": "@memory_id"}),
    _verb(
        "purge",
        scopes=PEOPLE,
        permission=ADMINISTER,
        status=204,
        writes=f"{MEMORY} Tombstone Recall RecallBlock IdempotencyRecord",
    ),
]


def normalised(route: str) -> str:
    """Django's spelling of a route as the table spells it."""
    return re.sub(r"<(?:\w+:)?(\w+)>", r"{\1}", route).removeprefix(PREFIX[1:])
