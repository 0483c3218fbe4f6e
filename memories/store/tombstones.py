"""Traces of what was deleted or rejected: keyed digests, no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.utils.crypto import salted_hmac

from memories.dedupe import content_hash
from memories.models import Tombstone
from memories.signatures import signature, similar_signature
from memories.store.errors import Tombstoned

if TYPE_CHECKING:
    from memories.models import Memory
    from memories.store.drafts import Draft
    from projects.models import Project

Reason = Tombstone.Reason


@dataclass(frozen=True, slots=True)
class Match:
    """How a text meets a tombstone: the same text, nearly the same, or another text under the same key."""

    tombstone: Tombstone
    kind: str  # "content" | "near" | "key"


def leave(memory: Memory, reason: Tombstone.Reason) -> Tombstone:
    return Tombstone.objects.create(
        project=memory.project,
        memory_id=memory.pk,
        content_mac=_mac(memory.project, content_hash(memory.content)),
        key_mac=_mac(memory.project, memory.key),
        signature_macs=_signature(memory.project, memory.content),
        reason=reason,
    )


def lift(project: Project, memory_id: int) -> None:
    """The memory is back: nothing stands against it any more."""
    Tombstone.objects.filter(project=project, memory_id=memory_id).delete()


def meet(project: Project, *, content: str, key: str) -> Match | None:
    """The tombstone that stands against this text, the strictest first."""
    content_mac, key_mac = _mac(project, content_hash(content)), _mac(project, key)
    macs = _signature(project, content)
    by_key = None
    near = None
    for stone in Tombstone.objects.filter(project=project).order_by("-id"):
        if stone.content_mac == content_mac:
            return Match(stone, "content")
        if near is None and similar_signature(stone.signature_macs, macs):
            near = stone
        if by_key is None and key and stone.key_mac == key_mac:
            by_key = stone
    if near is not None:
        return Match(near, "near")
    return Match(by_key, "key") if by_key is not None else None


def heed(project: Project, draft: Draft) -> Match | None:
    """Another memory's tombstone under the draft's key, if there is one. Raises Tombstoned for its own, and
    InvalidMemory and GuardRefused first.
    """
    draft = draft.checked()
    draft.guarded()
    met = meet(project, content=draft.content, key=draft.key)
    if met is not None and met.kind != "key":
        raise Tombstoned(met.tombstone.memory_id, met.tombstone.reason)
    return met


def _signature(project: Project, content: str) -> list[str]:
    """16 hex digits for each value: short, and useless without the site's secret."""
    return [_mac(project, str(value))[:16] for value in signature(content)]


def _mac(project: Project, text: str) -> str:
    return salted_hmac(f"cairn.tombstone.{project.pk}", text, algorithm="sha256").hexdigest()
