"""What a trigger takes: one statement with the sentences that go on with it, or a list by its lines."""

from dataclasses import dataclass, replace
from typing import Final

from memories.explicit import lists, sentences
from memories.explicit.lists import Marker, join_heading
from memories.explicit.surface import BLANK, Surface
from memories.explicit.triggers import Trigger

_EDGE: Final = " \n\u3000\t\xa0\u200b\ufeff"
_TRAILING: Final = _EDGE + "。.!！;；,，、~～…｡\ufe0f"

# A longer list is the work of a machine: far more than a message may store is refused already.
MAX_PIECES: Final = 1_000


@dataclass(frozen=True, slots=True)
class Piece:
    """One memory's words: a span, and the heading of the list that it comes from."""

    start: int
    end: int
    heading: str = ""
    verbatim: bool = False


@dataclass(frozen=True, slots=True)
class Taken:
    """What one trigger takes, and how far it reaches."""

    pieces: tuple[Piece, ...]
    end: int


class Collector:
    """Reads what triggers take from one message."""

    def __init__(self, surface: Surface) -> None:
        self.surface, self.view, self.folded = surface, surface.open, surface.folded
        self.lines = surface.lines
        self._markers: dict[int, Marker | None] = {}

    def take(self, trigger: Trigger, limit: int) -> Taken:
        """The pieces that a trigger asks for, none of them beyond `limit`."""
        if trigger.limit is not None:
            limit = min(limit, trigger.limit)
        number = self.surface.line_at(trigger.at)
        end = min(self.lines[number].end, limit)
        start, stop = self.trim(trigger.at, end)
        if start >= stop:
            return self._block(number + 1, limit, "", trigger)
        if (inline := self._inline(start, end)) is not None:
            return inline
        if (opening := lists.opening_marker(self.surface, start, end)) is not None:
            following = self._marker(number + 1)
            if following is not None and following.kind == opening.kind:
                opening = replace(opening, indent=following.indent)
                return self._list(number, limit, "", trigger.at, opening=opening)
            if opening.kind not in ("han", "letter"):
                start = opening.end
        heading = self._heading(start, stop, number)
        if heading is not None:
            block = self._block(number + 1, limit, heading, trigger, code_from=start)
            if block.pieces or lists.ends_as_heading(self.folded[start:stop]):
                return block
        if trigger.lists_only:
            return Taken((), trigger.at)
        piece = self._cut(start, end, polite=trigger.polite)
        return Taken((piece,), piece.end) if piece else Taken((), trigger.at)

    def listed_after(self, start: int, end: int, limit: int) -> list[tuple[int, int]]:
        """The items of a list that the sentence at a span is the heading of; empty if it is none."""
        if not self.folded[start:end].rstrip(" *_").endswith((":", "如下")):
            return []
        number = self.surface.line_at(start) + 1
        if number < len(self.lines) and self.surface.is_blank(number):
            number += 1
        if self._marker(number) is None:
            return []
        return [(piece.start, piece.end) for piece in self._list(number, limit, "", end).pieces]

    # --- one statement ---------------------------------------------------------------------------------

    def trim(self, start: int, end: int) -> tuple[int, int]:
        """The span without white space, final punctuation and emphasis around all of it."""
        text = self.surface.text
        for _ in range(3):
            while start < end and text[start] in _EDGE:
                start += 1
            while start < end and text[end - 1] in _TRAILING:
                end -= 1
            before = start, end
            for mark in ("**", "__"):
                count = text.count(mark, start, end)
                opens, closes = text.startswith(mark, start, end), text.endswith(mark, start, end)
                if count % 2 and (opens or closes):
                    start, end = (start + 2, end) if opens else (start, end - 2)
                elif count == 2 and opens and closes:
                    start, end = start + 2, end - 2
            if before == (start, end):
                break
        return start, end

    def _cut(self, start: int, end: int, *, polite: bool = False) -> Piece | None:
        """The statement at the beginning of a span and what goes on with it; None for a question."""
        reached = None
        for first, last in sentences.split(self.view, start, end):
            if reached is None:
                last = sentences.without_courtesy(self.view, first, last)
                if sentences.is_question(self.view, first, last) and not polite:
                    return None
            elif sentences.breaks_off(self.view, first, last):
                break
            reached = last
            if (turn := sentences.before_task(self.view, first, last)) is not None:
                reached = turn
                break
        if reached is None:
            return None
        reached = sentences.without_courtesy(self.view, start, reached)
        if polite:
            while reached > start and self.view[reached - 1] in "?？吗么 ":
                reached -= 1
        start, stop = self.trim(start, reached)
        return Piece(start, stop) if self._says_something(start, stop) else None

    def _says_something(self, start: int, end: int) -> bool:
        words = self.folded[start:end].strip()
        if not any(character.isalnum() for character in words) and BLANK not in self.view[start:end]:
            return False
        return not sentences.is_vague(words) and not sentences.mentions_words(self.view, start, end)

    # --- lists -----------------------------------------------------------------------------------------

    def _marker(self, number: int) -> Marker | None:
        if number not in self._markers:
            is_line = number < len(self.lines)
            self._markers[number] = lists.marker_at(self.surface, number) if is_line else None
        return self._markers[number]

    def _heading(self, start: int, end: int, number: int) -> str | None:
        """The text as a heading of what follows: by its ending, or because it is short and states nothing."""
        if lists.ends_as_heading(self.folded[start:end]):
            return self._heading_text(start, end)
        if self._marker(number + 1) is None or self._marker(number) is not None:
            return None
        if lists.states_nothing(self.view[start:end]) or lists.is_generic(self.folded[start:end]):
            return self._heading_text(start, end)
        return None

    def _heading_text(self, start: int, end: int) -> str:
        length = lists.heading_words(self.folded[start:end])
        return " ".join(self.surface.text[start : start + length].split()).strip(":： ")

    def _inline(self, start: int, end: int) -> Taken | None:
        """A list within the line, at the start or after a heading."""
        items = lists.inline_items(self.view, start, end)
        if len(items) < 2:
            return None
        lead_start, lead_end = self.trim(start, items[0][0])
        heading = ""
        if lead_start < lead_end:
            if not lists.ends_as_heading(self.folded[lead_start:lead_end]):
                return None
            heading = self._heading_text(lead_start, lead_end)
        pieces = [
            replace(piece, heading=heading) for _, first, last in items if (piece := self._cut(first, last))
        ]
        return Taken(tuple(pieces), pieces[-1].end if pieces else start)

    def _block(
        self, number: int, limit: int, heading: str, trigger: Trigger, *, code_from: int | None = None
    ) -> Taken:
        """What follows a heading: a list, a block of code or plain lines, after at most two empty lines."""
        first = number
        while first < len(self.lines) and first < number + 2 and self.surface.is_blank(first):
            first += 1
        if first >= len(self.lines) or self.lines[first].start >= limit or self.surface.is_blank(first):
            return Taken((), trigger.at)
        if self._marker(first) is not None:
            inline = self._inline(self.lines[first].start, min(self.lines[first].end, limit))
            if inline is not None:
                return replace(inline, pieces=tuple(replace(p, heading=heading) for p in inline.pieces))
            return self._list(first, limit, heading, trigger.at)
        if trigger.lists_only:
            return Taken((), trigger.at)
        if self.lines[first].kind == "fence":
            start = self.lines[first].start if code_from is None else code_from
            end = min(self.lines[self.lines[first].block].end, limit)
            return Taken((Piece(start, end, verbatim=True),), end)
        return self._plain(first, limit, heading, trigger.at)

    def _list(
        self, number: int, limit: int, heading: str, at: int, *, opening: Marker | None = None
    ) -> Taken:
        """One piece per item; `opening` is the marker of an item on the trigger's own line."""
        pieces: list[Piece] = []
        reached = at
        headings = [(-1, heading)]
        base: Marker | None = None
        last: Marker | None = None
        while number < len(self.lines) and self.lines[number].start < limit and len(pieces) < MAX_PIECES:
            marker = opening if opening is not None and base is None else self._marker(number)
            if marker is None:
                following = self._marker(number + 1)
                goes_on = following is not None and base is not None and lists.belongs(following, base, last)
                if not self.surface.is_blank(number) or not goes_on:
                    break
                number += 1
                continue
            if base is not None and not lists.belongs(marker, base, last):
                break
            base = base or marker
            last = marker if marker.indent <= base.indent + 1 else last
            end_line = self._continued(number, limit)
            end = min(self.lines[end_line].end, limit)
            while headings[-1][0] >= marker.indent:
                headings.pop()
            start, stop = self.trim(marker.end, end)
            child = self._marker(end_line + 1)
            if child is not None and child.indent > marker.indent + 1 and self._heads(start, stop):
                above, own = headings[-1][1], self._heading_text(start, stop)
                headings.append((marker.indent, join_heading(above, own) if own else above))
            elif not sentences.is_task(self.view, start, stop) and (piece := self._cut(start, end)):
                pieces.append(Piece(piece.start, piece.end, headings[-1][1]))
                reached = piece.end
            number = end_line + 1
        return Taken(tuple(pieces), reached)

    def _heads(self, start: int, end: int) -> bool:
        return lists.ends_as_heading(self.folded[start:end]) or lists.states_nothing(self.view[start:end])

    def _continued(self, number: int, limit: int) -> int:
        """The last line of a list item: indented lines without a marker belong to it."""
        while number + 1 < len(self.lines) and self.lines[number + 1].start < limit:
            following = self.lines[number + 1]
            is_indented = self.surface.text.startswith(("  ", "\t"), following.start, following.end)
            if not is_indented or following.kind or self.surface.is_blank(number + 1):
                break
            if self._marker(number + 1) is not None:
                break
            number += 1
        return number

    def _plain(self, number: int, limit: int, heading: str, at: int) -> Taken:
        """Lines without markers, up to an empty line, a question or a task."""
        pieces: list[Piece] = []
        reached = at
        while number < len(self.lines) and self.lines[number].start < limit and len(pieces) < MAX_PIECES:
            line = self.lines[number]
            if line.kind == "fence" or self.surface.is_blank(number) or self._marker(number):
                break
            start, end = line.start, min(line.end, limit)
            if line.kind == "quote":
                while start < end and self.folded[start] in " >＞":
                    start += 1
            breaks_off = sentences.breaks_off if pieces else sentences.is_task
            piece = None if breaks_off(self.view, start, end) else self._cut(start, end)
            if piece is None:
                break
            pieces.append(Piece(piece.start, piece.end, heading))
            reached = piece.end
            if self.view[piece.end : end].strip(_TRAILING + "?？"):
                break
            number += 1
        return Taken(tuple(pieces), reached)
