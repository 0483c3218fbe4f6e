"""Spellings that hide an order from a reader's patterns: codes of letters, shifted alphabets, letters set apart.

Each costs a search and one pass, and none is tried unless the text looks like it. The text of each is in lower
case and keeps the offsets of the whole run it stands for.
"""

import base64
import re
from collections.abc import Iterator
from typing import Final

from memories.guard.views import View

_TELLING: Final = (
    "ignore", "forget", "disregard", "previous", "earlier", "instruction", "guideline", "directive", "system", "prompt",
    "rules", "memor", "approve", "user", "your", "follow",
)  # fmt: skip
_PLAIN_WORDS: Final = (*_TELLING, "reveal", "above", "secret", "restrict", "password")
_NUMBERS: Final = re.compile(
    r"(?<![\w.])(?:(?:0x)?[0-9a-fA-F]{2,3}[ ,:\\|-]{1,2}){9,4000}(?:0x)?[0-9a-fA-F]{2,3}(?![\w.])"
)
_BINARY: Final = re.compile(r"(?<!\d)(?:[01]{8}[ ,-]?){6,4000}(?!\d)")
_APART: Final = re.compile(r"(?<![A-Za-z])(?:[A-Za-z](?:[._*·•|/-]|\\_)){3,4000}[A-Za-z](?![A-Za-z])")
_LINES: Final = re.compile(
    r"(?:[A-Za-z0-9+/_-]{8,200}[ \t]*\r?\n[ \t]*){1,200}[A-Za-z0-9+/_-]{2,200}={0,2}(?![A-Za-z0-9+/=])"
)
_REVERSED: Final = (
    "户用",
    "令指",
    "钥密",
    "准批",
    "略忽",
    "示提",
    "忆记",
    "认确",
    "则规",
    "统系",
    "有所",
    "前之",
    "手助",
    "诉告",
)
_BACKWARDS: Final = tuple(word[::-1] for word in _TELLING)
_BRACKETED: Final = re.compile(r"[(（\[【{]([\u4e00-\u9fff])[)）\]】}]")
_LEET: Final = str.maketrans("01345789@$!|", "oieastbgasil")
_LEET_WORD: Final = re.compile(r"[a-z][013457@$!]+[a-z]|[013457@$!][a-z]{2}")
_DIGIT_PAIRS: Final = re.compile(
    r"[0-9a-fA-F]{2}[ ,:|-]{1,2}(?:0x)?[0-9a-fA-F]{2}[ ,:|-]{1,2}(?:0x)?[0-9a-fA-F]{2}|[01]{8}"
)
_APART_START: Final = re.compile(
    r"(?<![A-Za-z])[A-Za-z][._*·•|/-][A-Za-z][._*·•|/-][A-Za-z][._*·•|/-][A-Za-z]"
)
_SEVERAL: Final = 2
_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"
_SHIFTS: Final = tuple(
    (tuple(word.translate(str.maketrans(_LETTERS, _LETTERS[by:] + _LETTERS[:by])) for word in _TELLING),
     str.maketrans(_LETTERS[by:] + _LETTERS[:by], _LETTERS))
    for by in (1, 3, 13, 23, 25)
)  # fmt: skip


def _from_numbers(run: str) -> str | None:
    """Bytes in hexadecimal or decimal."""
    parts = re.findall(r"[0-9a-fA-F]{2,3}", run.replace("0x", " ").replace("\\x", " "))
    for base in (16, 10):
        try:
            codes = [int(part, base) for part in parts]
        except ValueError:
            continue
        if all(code in (9, 10, 13) or 32 <= code < 127 for code in codes):
            return "".join(map(chr, codes))
        if base == 16 and max(codes) < 256:
            try:
                return bytes(codes).decode()
            except UnicodeDecodeError:
                continue
    return None


def _from_bits(run: str) -> str | None:
    bits = re.sub(r"[^01]", "", run)
    try:
        return bytes(int(bits[at : at + 8], 2) for at in range(0, len(bits) - 7, 8)).decode()
    except UnicodeDecodeError:
        return None


def deciphered(view: View) -> Iterator[View]:
    """Readings of `view` in which a cipher is undone."""
    text = view.text
    if _DIGIT_PAIRS.search(text):
        yield from _decoded(view)
    low = view.low
    for words, table in _SHIFTS:
        if sum([word in low for word in words]) >= _SEVERAL:
            yield View(low.translate(table), view.starts, view.ends, disguised=True)
    if _APART_START.search(text):
        yield _joined(view)
    if "\n" in text:
        yield from _decoded_lines(view)
    if not text.isascii():
        if sum([word in low for word in _REVERSED]) >= _SEVERAL:
            yield _reversed(view)
        if len(_BRACKETED.findall(text)) > 1:
            yield view.derive(_replacements(text, _BRACKETED), disguised=True)
    if sum([word in low for word in _BACKWARDS]) >= _SEVERAL:
        yield _reversed(view)
    if text.isascii() and _LEET_WORD.search(low):
        read = low.translate(_LEET)
        if (
            sum([word in read for word in _PLAIN_WORDS])
            >= sum([word in low for word in _PLAIN_WORDS]) + _SEVERAL
        ):
            yield View(read, view.starts, view.ends, disguised=True)


def _reversed(view: View) -> View:
    low = view.low
    return view.derive([(low[at], at, at + 1) for at in range(len(low) - 1, -1, -1)], disguised=True)


def _replacements(text: str, pattern: re.Pattern[str]) -> list[tuple[str, int, int]]:
    pieces: list[tuple[str, int, int]] = []
    at = 0
    for match in pattern.finditer(text):
        pieces += ((text[at : match.start()], at, match.start()), (match[1], *match.span()))
        at = match.end()
    return [*pieces, (text[at:], at, len(text))]


def _decoded_lines(view: View) -> Iterator[View]:
    """Base64 broken into lines."""
    for match in _LINES.finditer(view.text):
        body = re.sub(r"\s", "", match[0]).rstrip("=").replace("-", "+").replace("_", "/")
        try:
            said = base64.b64decode(body + "=" * (-len(body) % 4), validate=True).decode()
        except ValueError:
            continue
        if len(said) > 5 and all(char.isprintable() or char.isspace() for char in said):
            yield view.derive([(char, *match.span()) for char in said], disguised=True)


def _decoded(view: View) -> Iterator[View]:
    text = view.text
    for pattern, decode in ((_NUMBERS, _from_numbers), (_BINARY, _from_bits)):
        for match in pattern.finditer(text):
            said = decode(match[0])
            if said and len(said) > 5:
                yield view.derive([(char, *match.span()) for char in said], disguised=True)


def _joined(view: View) -> View:
    text = view.text
    pieces: list[tuple[str, int, int]] = []
    at = 0
    for match in _APART.finditer(text):
        pieces.append((text[at : match.start()], at, match.start()))
        pieces.append((re.sub(r"[^A-Za-z]", "", match[0]), *match.span()))
        at = match.end()
    return view.derive([*pieces, (text[at:], at, len(text))], disguised=True)
