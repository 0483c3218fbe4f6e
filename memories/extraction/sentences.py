"""Sentences and clauses of a text, with their places in it. Pure."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from memories.extraction.transcript import Span

# Stands for each character of inline code and of quoted words: still a word to a pattern, but no word of the
# speaker.
MASK = "ø"

_INLINE_CODE = re.compile(r"`[^`\n]{1,200}`")
_QUOTED = re.compile(
    r"“[^”\n]{1,300}”|‘[^’\n]{1,300}’|「[^」\n]{1,300}」|『[^』\n]{1,300}』|《[^》\n]{1,300}》"
    r"|\"[^\"\n]{1,300}\"|(?<!\w)'[^'\n]{1,120}'(?!\w)"
)
_URL = re.compile(r"https?://[^\s，。；、）)\"'<>]+")
_HAN = r"[\u3400-\u9fff]"
_END = re.compile(
    r"\n|[。！!…]+|[?？]++(?=[\s”」』)）]|$|[\u3400-\u9fff])"
    r"|(?<![A-Z\d.])\.++(?=[\s”」』)）]|$)|(?<=[A-Z\d])\.(?=\s+[A-Z]|\s*$|\s*\n)"
    # 域.实体.动作 is a name of three words.
    rf"|(?<![A-Z\d.]){''.join(rf'(?<!\.{_HAN}{{{n}}})' for n in range(1, 5))}\.(?={_HAN})(?!{_HAN}{{1,4}}\.)"
)
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|incl|Mr|Ms|Dr|No)|(?:^|\n)\s*\d{1,2})$")
_LIST_MARK = re.compile(
    r"\s*(?:[-*+•·]\s+(?:\[[ xX]\]\s*)?|\(?\d{1,2}[.)）、](?!\d)\s*|[①-⑳]\s*|#{1,6}\s+"
    r"|[一二三四五六七八九十]{1,2}、\s*)"
)
_CLAUSE_END = re.compile(r"[,，](?!\d{3}\b)|[;；]|\s+[-–—]+\s+|——|：(?=\s*(?:请|帮))")


def mask(text: str) -> str:
    """`text`, its length kept, with inline code, quoted words and addresses masked."""
    for pattern in (_INLINE_CODE, _URL, _QUOTED):
        text = pattern.sub(lambda match: MASK * len(match.group()), text)
    return text


@dataclass(frozen=True)
class Piece:
    """A stretch of a text: `text[start:end]` of the whole, and the same stretch masked."""

    text: str
    masked: str
    start: int
    end: int

    @cached_property
    def plain(self) -> str:
        """What patterns are matched against: masked, without emphasis. Its offsets are its own."""
        return self.masked.replace("*", "").replace("__", "")

    @cached_property
    def clauses(self) -> tuple["Piece", ...]:
        """The clauses, in order; their commas are not part of them."""
        return tuple(_pieces(self.text, self.masked, self.start, _cuts(self.masked)))


@dataclass(frozen=True)
class Sentence(Piece):
    """A sentence without its white space and list mark. `listed`: it is an item of a list; `stop`: what ended
    it.
    """

    listed: bool = False
    stop: str = ""


def _cuts(masked: str) -> Iterator[Span]:
    start = 0
    for match in _CLAUSE_END.finditer(masked):
        yield start, match.start()
        start = match.end()
    yield start, len(masked)


def _pieces(text: str, masked: str, offset: int, spans: Iterator[Span]) -> Iterator[Piece]:
    for start, end in spans:
        body = text[start:end]
        start += len(body) - len(body.lstrip())
        end = start + len(body.strip())
        if start < end:
            yield Piece(text[start:end], masked[start:end], offset + start, offset + end)


def split(text: str) -> list[Sentence]:
    """The sentences of `text` in order; a line is at least one, quotes and inline code stay whole."""
    masked = mask(text)
    found: list[Sentence] = []
    start = 0
    for match in [*_END.finditer(masked), None]:
        end = len(text) if match is None else match.end()
        stop = "" if match is None else match.group()
        if stop.startswith(".") and match is not None and _ABBREVIATION.search(masked[start : match.start()]):
            continue
        body_end = end if match is None else match.start()
        mark = _LIST_MARK.match(masked, start, body_end)
        body_start = start if mark is None else mark.end()
        for piece in _pieces(text, masked, 0, iter([(body_start, body_end)])):
            found.append(
                Sentence(piece.text, piece.masked, piece.start, piece.end, mark is not None, stop.strip())
            )
        start = end
    return found
