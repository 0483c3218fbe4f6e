"""Turns, transcripts and known memories for the tests of the pure steps."""

from datetime import UTC, datetime, timedelta
from typing import Any

from memories import explicit
from memories.extraction.backends import USER, Proposal
from memories.extraction.transcript import HUMAN, KnownMemory, Transcript, Turn
from memories.extraction.verify import Checked, check

NOW = datetime(2026, 4, 1, 9, tzinfo=UTC)
MARCH = datetime(2026, 3, 6, 9, 30, tzinfo=UTC)


def turn(message: str = "", *, reply: str = "", id: int = 1, **fields: Any) -> Turn:
    """A finished turn as a transcript's builder makes it: what the explicit channel takes is blanked."""
    origin = fields.get("origin", HUMAN)
    fields.setdefault("blanked", explicit.read(message).spans if origin == HUMAN else ())
    return Turn(**{"id": id, "seq": id, "message": message, "reply": reply, "sent_at": MARCH} | fields)


def transcript(*turns: Turn, **fields: Any) -> Transcript:
    return Transcript(turns=turns, **fields)


def proposal(content: str, *, quote: str = "", type: str = "fact", **fields: Any) -> Proposal:
    return Proposal(**{"type": type, "content": content, "quote": quote or content, "turn_id": 1} | fields)


def candidate(
    content: str, *, type: str = "fact", said_at: datetime = MARCH, role: str = USER, **fields: Any
) -> Checked:
    """A proposal of `content` that was said in so many words, checked."""
    words = {"message": content} if role == USER else {"reply": content}
    spoken = turn(**words, sent_at=said_at, blanked=())
    shown = [memory("…", key=key) for key in [fields.get("replaces_key")] if key]
    said = transcript(spoken, known=tuple(shown))
    result = check(proposal(content, type=type, quote_role=role, **fields), said)
    assert isinstance(result, Checked)
    return result


def memory(content: str, *, id: int = 100, **fields: Any) -> KnownMemory:
    return KnownMemory(
        **{
            "id": id,
            "type": "fact",
            "key": f"key-{id}",
            "content": content,
            "said_at": MARCH - timedelta(days=1),
        }
        | fields
    )
