"""Who does something, as every service is told by its keyword `by`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from projects.models import ApiKey

type ActorKind = Literal["user", "key", "author", "worker", "system"]
type Transport = Literal["api", "web", "admin", "task", "command"]
PERSON_KINDS: tuple[ActorKind, ...] = ("user", "author")


@dataclass(frozen=True, slots=True, kw_only=True)
class Actor:
    """The one who acts, and the way in.

    `author` is the human of a turn's message, whose words came through an agent's key; `user` is set
    on it when that human is a known member. `name` is for people to read, never for decisions.
    """

    kind: ActorKind
    name: str
    transport: Transport
    user: User | None = None
    key: ApiKey | None = None
    request_id: str = ""

    @property
    def is_person(self) -> bool:
        """True for a human being: what a person wrote or confirmed has a person's authority."""
        return self.kind in PERSON_KINDS

    @classmethod
    def for_user(cls, user: User, *, transport: Transport, request_id: str = "") -> Actor:
        return cls(
            kind="user", name=user.get_username(), transport=transport, user=user, request_id=request_id
        )

    @classmethod
    def for_key(cls, key: ApiKey, *, transport: Transport = "api", request_id: str = "") -> Actor:
        return cls(kind="key", name=key.name, transport=transport, key=key, request_id=request_id)

    def speaking_for(self, *, name: str, user: User | None) -> Actor:
        """The author of a message that this actor delivers."""
        return Actor(
            kind="author",
            name=name,
            transport=self.transport,
            user=user,
            key=self.key,
            request_id=self.request_id,
        )


WORKER = Actor(kind="worker", name="worker", transport="task")
SYSTEM = Actor(kind="system", name="system", transport="command")
