"""The explicit channel: what a person asks to remember or to forget in plain words, and what they signal.

Pure: text in, values out, in time linear in the text. Chinese (simplified and traditional) and English.
Quotations, code, block quotes, questions, wishes for a feature and machine text never trigger.
"""

from typing import Literal

from memories.explicit.contents import Collector, Piece
from memories.explicit.lists import join_heading
from memories.explicit.reading import (
    MAX_ITEMS,
    MAX_LENGTH,
    MAX_REFUSALS,
    Item,
    MemoryType,
    Reading,
    Refusal,
    Signal,
    Span,
    Utterance,
)
from memories.explicit.signals import read_signals
from memories.explicit.subject import announces_change, is_rule, key_of, states_liking
from memories.explicit.surface import Surface, read_surface
from memories.explicit.triggers import MAX_TRIGGERS, Trigger, find_triggers
from memories.text import slug

__all__ = [
    "MAX_ITEMS",
    "MAX_LENGTH",
    "Item",
    "MemoryType",
    "Reading",
    "Refusal",
    "Signal",
    "Utterance",
    "as_item",
    "derive_key",
    "read",
]


def read(text: str) -> Reading:
    """All that the message asks to remember or forget, what of it is refused and why, and its signals."""
    surface = read_surface(text)
    collector = Collector(surface)
    triggers = find_triggers(surface)
    items: list[Item] = []
    forgets: list[str] = []
    refusals: list[Refusal] = []
    taken: list[Span] = []
    limits = [*(following.led_from for following in triggers[1:]), len(text)]
    for trigger, limit in zip(triggers[:MAX_TRIGGERS], limits, strict=False):
        found = collector.take(trigger, limit)
        if not found.pieces:
            continue
        taken.append((trigger.start, max(found.end, trigger.at)))
        kept = 0
        for piece in found.pieces:
            content = _content(text, piece)
            full = len(items if trigger.kind == "remember" else forgets) >= MAX_ITEMS
            if full or len(content) > MAX_LENGTH:
                reason: Literal["too_many", "too_long"] = "too_many" if full else "too_long"
                refusals.append(Refusal(content, reason, piece.start, piece.end))
            elif trigger.kind == "forget":
                forgets.append(content)
            else:
                kept += 1
                items.append(_item(surface, trigger, piece, content, kept))
    if len(triggers) > MAX_TRIGGERS:
        last = triggers[-1].start
        refusals.append(Refusal(text[last : last + MAX_LENGTH], "too_many", last, len(text)))
    signals = read_signals(surface, collector, taken)
    return Reading(
        tuple(items), tuple(forgets), _folded(refusals), signals.signals, signals.utterances, tuple(taken)
    )


def as_item(content: str) -> Item:
    """`content` as if a person had asked to remember just this."""
    surface = read_surface(content)
    return Item(
        content=content,
        type="preference" if states_liking(surface.open) else "constraint",
        key=key_of(content, surface.open, ""),
        start=0,
        end=len(content),
        key_given=False,
        always=is_rule(surface.open),
        changes=announces_change(surface.open),
    )


def derive_key(content: str) -> str:
    """What `content` is about, as a key; a short stable hash where no subject can be told."""
    return as_item(content).key


def _folded(refusals: list[Refusal]) -> tuple[Refusal, ...]:
    """Each of them, up to MAX_REFUSALS; the last then stands for all that follow."""
    if len(refusals) <= MAX_REFUSALS:
        return tuple(refusals)
    first = refusals[MAX_REFUSALS - 1]
    rest = Refusal(first.text, "too_many", first.start, refusals[-1].end)
    return (*refusals[: MAX_REFUSALS - 1], rest)


def _content(text: str, piece: Piece) -> str:
    words = text[piece.start : piece.end]
    if piece.verbatim:
        return words.replace("\r\n", "\n").replace("\r", "\n")
    return join_heading(piece.heading, " ".join(words.split()))


def _item(surface: Surface, trigger: Trigger, piece: Piece, content: str, number: int) -> Item:
    """`number` counts the items that one 记住[key]： asks for: a key names one memory."""
    # Lines of another's words that were asked for are judged as they stand.
    is_own = not surface.lines[surface.line_at(piece.start)].kind
    view = (surface.open if is_own else surface.folded)[piece.start : piece.end]
    given = slug(trigger.key)
    if given and number > 1:
        given = f"{given[:76]}-{number}"
    return Item(
        content=content,
        type=trigger.type or ("preference" if states_liking(view) else "constraint"),
        key=given or key_of(surface.text[piece.start : piece.end], view, piece.heading),
        start=piece.start,
        end=piece.end,
        key_given=bool(given),
        always=is_rule(view) or is_rule(piece.heading.casefold()),
        changes=announces_change(view),
        key_written=surface.text[slice(*trigger.key_span)],
    )
