"""Where words of turns stand besides the talk itself: what the guard looks at again when its rules change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db.models import Q

from chats import instructions
from chats.models import Chat, Instruction, Summary, Topic
from memories import guard
from memories.store.copies import COPIES, Copies

if TYPE_CHECKING:
    from collections.abc import Mapping

    from projects.actors import Actor


class Rules(Copies):
    """Rules of topics: one that would not be taken today is no longer in force."""

    def changes(self, row: Mapping[str, Any]) -> dict[str, Any]:
        ends = {"state": Instruction.State.DISMISSED} if self._why_it_ends(row) else {}
        return super().changes(row) | ends

    def mend(self, pk: Any, *, by: Actor) -> None:
        rule = Instruction.objects.select_related("topic__project").filter(pk=pk).first()
        if rule is None:
            return
        if why := self._why_it_ends({"content": rule.content, "state": rule.state}):
            instructions.dismiss(instruction=rule, by=by, reason=why)
        super().mend(pk, by=by)

    def after(self, place: int) -> list[dict[str, Any]]:
        found = super().after(place)
        states = dict(
            Instruction.objects.filter(pk__in=[row["pk"] for row in found]).values_list("pk", "state")
        )
        return [row | {"state": states.get(row["pk"], "")} for row in found]

    def _why_it_ends(self, row: Mapping[str, Any]) -> str:
        if row.get("state") not in (Instruction.State.ACTIVE, Instruction.State.PROMOTED):
            return ""
        finding = guard.worst(guard.inspect(row["content"]))
        return finding.code if finding else ""


def announce() -> None:
    """Have these looked through, too."""
    known = {copies.label for copies in COPIES}
    COPIES.extend(copies for copies in _COPIES if copies.label not in known)


_COPIES = (
    Copies(Topic, texts=("title", "area")),
    Copies(Summary, texts=("text",), tokens={"text": "tokens"}),
    Copies(
        Chat,
        texts=("digest", "error", "author_name", "agent"),
        values=("explicit",),
        tokens={"digest": "digest_tokens"},
    ),
    # The talk itself stays as it was said, but where a project wants secrets masked.
    Copies(
        Chat,
        texts=("message", "attached", "reply", "milestone", "model"),
        values=("further", "files", "tools", "usage"),
        tokens={"message": "message_tokens", "reply": "reply_tokens"},
        where=Q(project__mask_chats=True),
        label="chats.Chat as said",
        batch=20,
    ),
    Rules(Instruction, texts=("content",), tokens={"content": "tokens"}),
)
