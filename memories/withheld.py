"""What the guard has against a memory that it withholds, for the people who decide about it. Secrets stay masked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from memories import guard
from memories.store.drafts import Draft

if TYPE_CHECKING:
    from memories.models import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Marked:
    """One finding: in which text, `position` within a list, and where. No `span` where `text` is masked."""

    field: str
    position: int | None
    kind: str
    code: str
    certainty: str
    text: str
    span: tuple[int, int] | None = None


def against(memory: Memory) -> list[Marked]:
    """Everything the guard finds in a withheld memory under the rules as they are now; nothing in another one."""
    if not memory.withheld:
        return []
    found = []
    for field, position, text in Draft.of(memory).places():
        masked = guard.mask(text)
        for finding in guard.inspect(text):
            found.append(
                Marked(
                    field=field,
                    position=position,
                    kind=finding.kind,
                    code=finding.code,
                    certainty=finding.certainty,
                    text=masked,
                    span=(finding.start, finding.end) if masked == text else None,
                )
            )
    return found


def shown(memory: Memory, text: str) -> str:
    """A text of the memory as people may see it: one that is withheld may hold a secret that newer rules know."""
    return guard.mask(text) if memory.withheld else text
