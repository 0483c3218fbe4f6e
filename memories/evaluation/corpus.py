"""Labelled talk: what was said, and what of it is worth keeping. Pure.

JSON Lines; a line is one conversation. `turns` holds its turns, or the line itself is the only one, with `message`,
`reply`, `origin`, `author`, `sent_at`, `status`, `tools`, `files`; or `messages` are those of a chat completion
(`role`, `content`). `keep` lists what is worth keeping, empty or with `nothing: true` where nothing is; each item has
one or more of `says` (a stretch of its words), `terms` (words that all occur in it) and `content` (the same claim),
and where it matters `type`. What is in `may`, in the same form, counts neither way.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from memories import explicit
from memories.dedupe import Relation, compare
from memories.extraction.transcript import HUMAN, SUCCEEDED, Transcript, Turn
from memories.extraction.verify import TYPES
from memories.text import InvalidText, clean, fold, terms

# Of the terms of a `content`, so many stand in another wording of it.
_SAME_TERMS = 0.7
_FIRST = datetime(2026, 3, 6, 9, 30, tzinfo=UTC)
_APART = timedelta(minutes=5)
_ORIGINS, _STATUSES = (HUMAN, "machine"), (SUCCEEDED, "failed", "cancelled", "running")


class BadLine(ValueError):
    """A line is no labelled conversation; the text says what is wrong with it, to whoever wrote it."""


@dataclass(frozen=True, slots=True)
class Expected:
    """Something worth keeping. `type` is empty where any will do."""

    type: str = ""
    says: str = ""
    terms: tuple[str, ...] = ()
    content: str = ""

    def is_in(self, content: str) -> bool:
        """Whether a memory's content says it."""
        said = _folded(content)
        if self.says and _folded(self.says) not in said:
            return False
        if not all(_folded(term) in said for term in self.terms):
            return False
        return not self.content or _is_same_claim(self.content, content)

    def __str__(self) -> str:
        return self.says or self.content or ", ".join(self.terms)


@dataclass(frozen=True, slots=True)
class Conversation:
    """`heard` are the contents that the explicit channel takes from its turns: no business of an extraction."""

    id: str
    transcript: Transcript
    keep: tuple[Expected, ...]
    may: tuple[Expected, ...] = ()
    heard: tuple[str, ...] = field(default=())


def read(lines: Iterable[str]) -> Iterator[Conversation]:
    """The conversations of a file. Raises BadLine, naming the line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
            if not isinstance(row, dict):
                raise BadLine("is no JSON object.")
            yield _conversation(row, str(row.get("id", number)))
        except (json.JSONDecodeError, RecursionError):
            raise BadLine(f"line {number} is no JSON.") from None
        except InvalidText:
            raise BadLine(f"line {number} holds characters that are no text.") from None
        except BadLine as bad:
            raise BadLine(f"line {number} {bad}") from None


def _conversation(row: Mapping[str, object], name: str) -> Conversation:
    turns = tuple(_turn(told, place) for place, told in enumerate(_told(row), 1))
    if not turns:
        raise BadLine('needs "message", or "turns" or "messages" with at least one.')
    keep = _labels(row, "keep") if "keep" in row else _labels(row, "expected")
    if keep is None and row.get("nothing") is not True:
        raise BadLine('needs "keep": a list of what is worth keeping, empty if nothing is.')
    if keep and row.get("nothing") is True:
        raise BadLine('says "nothing", and what to keep.')
    heard = [
        item.content for turn in turns if turn.origin == HUMAN for item in explicit.read(turn.message).items
    ]
    return Conversation(
        id=name,
        transcript=Transcript(
            turns=turns,
            static_instructions=_text(row, "static_instructions"),
            guidance=_text(row, "guidance"),
            completed=row.get("completed") is True,
        ),
        keep=tuple(keep or ()),
        may=tuple(_labels(row, "may") or ()),
        heard=tuple(heard),
    )


def _told(row: Mapping[str, object]) -> list[Mapping[str, object]]:
    """The turns as they were written."""
    if "messages" in row:
        return _of_messages(_mappings(row, "messages"))
    return _mappings(row, "turns") if "turns" in row else [row] if "message" in row else []


def _of_messages(messages: Iterable[Mapping[str, object]]) -> list[Mapping[str, object]]:
    """A turn for each message of the user, with what the assistant said after it."""
    turns: list[dict[str, object]] = []
    for message in messages:
        role, content = message.get("role"), _text(message, "content")
        if role == "user":
            turns.append({"message": content})
        elif role == "assistant":
            if not turns:
                turns.append({"message": ""})
            turns[-1]["reply"] = "\n\n".join(filter(None, [str(turns[-1].get("reply", "")), content]))
        elif role not in ("system", "tool"):
            raise BadLine('has a message whose "role" is neither user nor assistant.')
    return turns  # type: ignore[return-value]


def _turn(told: Mapping[str, object], place: int) -> Turn:
    message, origin = _text(told, "message"), _text(told, "origin") or HUMAN
    status = _text(told, "status") or SUCCEEDED
    if origin not in _ORIGINS or status not in _STATUSES:
        raise BadLine(f'knows "origin" {" or ".join(_ORIGINS)}, and "status" {", ".join(_STATUSES)}.')
    tools = [
        str(tool.get("name", "")) if isinstance(tool, Mapping) else str(tool) for tool in _list(told, "tools")
    ]
    return Turn(
        id=place,
        seq=place,
        message=message,
        reply=_text(told, "reply"),
        author=_text(told, "author"),
        sent_at=_moment(told, place),
        status=status,
        origin=origin,
        tools=tuple(tools),
        files=tuple(map(str, _list(told, "files"))),
        blanked=explicit.read(message).spans if origin == HUMAN else (),
    )


def _moment(told: Mapping[str, object], place: int) -> datetime:
    written = _text(told, "sent_at")
    if not written:
        return _FIRST + place * _APART
    try:
        moment = datetime.fromisoformat(written)
    except ValueError:
        raise BadLine(f'has "sent_at" “{written}”, which is no ISO 8601 time.') from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _labels(row: Mapping[str, object], name: str) -> list[Expected] | None:
    if name not in row:
        return None
    return [_label(item, name) for item in _list(row, name)]


def _label(item: object, name: str) -> Expected:
    if isinstance(item, str) and item.strip():
        return Expected(says=item.strip())
    if not isinstance(item, Mapping):
        raise BadLine(f'needs texts or objects in "{name}".')
    expected = Expected(
        type=_text(item, "type"),
        says=_text(item, "says").strip(),
        terms=tuple(str(term) for term in _list(item, "terms") if str(term).strip()),
        content=_text(item, "content").strip(),
    )
    if expected.type and expected.type not in TYPES:
        raise BadLine(f'has the type “{expected.type}” in "{name}"; there are {", ".join(sorted(TYPES))}.')
    if not (expected.says or expected.terms or expected.content):
        raise BadLine(f'needs "says", "terms" or "content" for each item of "{name}".')
    return expected


def _text(row: Mapping[str, object], name: str) -> str:
    value = row.get(name, "")
    if value is not None and not isinstance(value, str):
        raise BadLine(f'needs a text as "{name}".')
    return clean(value or "")


def _list(row: Mapping[str, object], name: str) -> list[object]:
    value = row.get(name)
    if value is None:
        return []
    if not isinstance(value, list):
        raise BadLine(f'needs a list as "{name}".')
    return value


def _mappings(row: Mapping[str, object], name: str) -> list[Mapping[str, object]]:
    values = _list(row, name)
    if not all(isinstance(value, Mapping) for value in values):
        raise BadLine(f'needs objects in "{name}".')
    return values  # type: ignore[return-value]


def _folded(text: str) -> str:
    return re.sub(r"[\s`*]+", "", fold(text).casefold())


def _is_same_claim(wanted: str, content: str) -> bool:
    relation = compare(wanted, content)
    if relation in (Relation.SAME, Relation.NEAR, Relation.CONFLICT):
        return relation is not Relation.CONFLICT
    needed = set(terms(wanted))
    return bool(needed) and len(needed & set(terms(content))) >= _SAME_TERMS * len(needed)
