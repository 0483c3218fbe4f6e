"""What is about to be written: values, checked and guarded before they touch a row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext as _

from memories import guard
from memories.models import MAX_CONTENT, MAX_KEY, MemoryType
from memories.store.errors import FieldError, GuardRefused, InvalidMemory
from memories.text import InvalidText, clean, slug
from projects.masking import Found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from memories.models import Memory

MAX_KEYWORDS = 12
MAX_FILES = 12
MAX_QUOTE = 1000
MAX_SHORT = 120


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The words that a memory rests on. `role` is `user` or `assistant`."""

    quote: str
    role: str
    chat_id: int | None
    said_at: datetime

    def as_json(self) -> dict[str, object]:
        return {
            "quote": guard.mask(self.quote)[:MAX_QUOTE],
            "role": self.role,
            "chat": self.chat_id,
            "said_at": self.said_at.isoformat(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A memory before it is one. An empty key is derived from the content."""

    type: str
    content: str
    key: str = ""
    importance: int = 3
    always: bool = False
    keywords: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    area: str = ""
    evidence: tuple[Evidence, ...] = ()
    said_at: datetime | None = None
    expires_at: datetime | None = None
    topic_id: int | None = None
    chat_id: int | None = None
    extraction_id: int | None = None

    @classmethod
    def of(cls, memory: Memory) -> Draft:
        """What a person or an agent could have written to get this memory."""
        return cls(
            type=memory.type,
            content=memory.content,
            key=memory.key,
            importance=memory.importance,
            always=memory.always,
            keywords=tuple(memory.keywords),
            files=tuple(memory.files),
            area=memory.area,
            expires_at=memory.expires_at,
        )

    def checked(self) -> Draft:
        """The draft in its stored form.

        Raises InvalidMemory with every field that is wrong, GuardRefused for the key as it was written.
        """
        errors: list[FieldError] = []
        key = _clean("key", self.key, errors)
        cleaned: dict[str, Any] = {
            "content": _clean("content", self.content, errors).strip(),
            "key": slug(key),
            "area": _clean("area", self.area, errors).strip(),
            "keywords": _clean_list("keywords", self.keywords, MAX_KEYWORDS, errors),
            "files": _clean_list("files", self.files, MAX_FILES, errors),
        }
        if not cleaned["content"]:
            errors.append(FieldError("content", "required", _("The content is empty.")))
        elif len(cleaned["content"]) > MAX_CONTENT:
            errors.append(
                FieldError("content", "too_long", _("At most %(n)s characters.") % {"n": f"{MAX_CONTENT:,}"})
            )
        if len(self.key.strip()) > MAX_KEY:
            errors.append(FieldError("key", "too_long", _("At most %(n)s characters.") % {"n": MAX_KEY}))
        if len(cleaned["area"]) > MAX_SHORT:
            errors.append(FieldError("area", "too_long", _("At most %(n)s characters.") % {"n": MAX_SHORT}))
        if self.type not in MemoryType.values:
            errors.append(FieldError("type", "invalid", _("No such type of memory.")))
        if not 1 <= self.importance <= 5:
            errors.append(FieldError("importance", "invalid", _("Importance is 1 to 5.")))
        if errors:
            raise InvalidMemory(*errors)
        # A slug has no capitals and few signs left, by which the guard knows a secret.
        guard_texts(iter([("key", key)]))
        return replace(self, **cleaned)

    def guarded(self) -> str:
        """Pass every text through the guard. "" where it passes, else the code of what a person must look at
        before it may be recalled.

        Raises GuardRefused for what must not be kept at all.
        """
        return guard_texts((field, text) for field, _position, text in self.places())

    def places(self) -> Iterator[tuple[str, int | None, str]]:
        """(field, position within a list, text) of all that people or models may write."""
        yield "content", None, self.content
        yield "key", None, self.key
        yield "area", None, self.area
        yield from (("keywords", position, word) for position, word in enumerate(self.keywords))
        yield from (("files", position, glob) for position, glob in enumerate(self.files))


def guard_texts(texts: Iterator[tuple[str, str]]) -> str:
    """Inspect (field, text) pairs: the code of the first finding that holds one for a person, "" without any.

    Raises GuardRefused if one is refused.
    """
    held = ""
    for field, text in texts:
        finding = guard.worst(guard.inspect(text))
        if finding is None:
            continue
        if finding.certainty == "hold":
            held = held or finding.code
            continue
        raise GuardRefused(
            field=field,
            kind=finding.kind,
            rule=finding.code,
            start=finding.start,
            end=finding.end,
            masked=guard.mask(text)[:200],
        )
    return held


def refused(text: str) -> list[Found]:
    """What must not stand in a name or a setting, the worst first: there nobody looks at what is merely held, so
    that of all that may be a secret, none is taken.
    """
    findings = [one for one in guard.inspect(text) if one.certainty == "refuse" or one.kind == "secret"]
    worst = sorted(findings, key=lambda one: one.kind != "secret")
    return [Found(GuardRefused.CODES[one.kind], one.start, one.end) for one in worst]


def _clean(field: str, text: str, errors: list[FieldError]) -> str:
    try:
        return clean(text)
    except InvalidText:
        errors.append(FieldError(field, "invalid_text", _("The text has characters that are no text.")))
        return ""


def _clean_list(field: str, words: tuple[str, ...], limit: int, errors: list[FieldError]) -> tuple[str, ...]:
    cleaned = tuple(dict.fromkeys(word for raw in words if (word := _clean(field, raw, errors).strip())))
    if len(cleaned) > limit:
        errors.append(FieldError(field, "too_many", _("At most %(n)s entries.") % {"n": limit}))
    if any(len(word) > MAX_SHORT for word in cleaned):
        errors.append(
            FieldError(field, "too_long", _("At most %(n)s characters an entry.") % {"n": MAX_SHORT})
        )
    return cleaned
