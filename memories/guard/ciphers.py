"""Spellings that hide an order from a reader's patterns: codes of letters, shifted alphabets, letters set apart.

Each costs a search and one pass, and none is tried unless the text looks like it. The text of each is in lower
case and keeps the offsets of the whole run it stands for.
"""

import base64
import re
from collections.abc import Iterator
from typing import Final

from memories.guard.views import View, replaced

# Words of which an order to a model holds several; a text in cipher holds them only once it is read.
_TELLING: Final = (
    "ignore", "disregard", "forget", "previous", "earlier", "above", "instruction", "guideline", "directive", "system",
    "prompt", "rules", "restrict", "memor", "override", "reveal", "secret", "password", "approve", "user", "your",
    "you are", "follow", "without", "unfiltered",
)  # fmt: skip
_SEVERAL: Final = 2
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
_EMPHASIS: Final = re.compile(r"[*`~]{1,3}")
_SPELLED: Final = re.compile(r"(?<![A-Za-z])(?:[A-Za-z][^A-Za-z0-9\n]{1,3}){7,}[A-Za-z](?![A-Za-z])")
_BRACKETED: Final = re.compile(r"[(（\[【{]([\u4e00-\u9fff])[)）\]】}]")
_LEET: Final = str.maketrans("01345789@$!|", "oieastbgasil")
_LEET_WORD: Final = re.compile(r"[a-z][013457]|[013457][a-z]|[a-z][@$!]+[a-z]|[@$!][a-z]{2}")
_DIGIT_PAIRS: Final = re.compile(
    r"[0-9a-fA-F]{2}[ ,:|-]{1,2}(?:0x)?[0-9a-fA-F]{2}[ ,:|-]{1,2}(?:0x)?[0-9a-fA-F]{2}|[01]{8}"
)
_APART_START: Final = re.compile(
    r"(?<![A-Za-z])[A-Za-z][._*·•|/-][A-Za-z][._*·•|/-][A-Za-z][._*·•|/-][A-Za-z]"
)
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
    """Readings of `view` without emphasis, and such in which a cipher is undone."""
    text, low = view.text, view.low
    if low.count("**") >= 4 or low.count("`") >= 6:
        yield replaced(view, [(*match.span(), "") for match in _EMPHASIS.finditer(text)])
    if spelled := [(*match.span(), _spelled_out(match)) for match in _SPELLED.finditer(text)]:
        yield replaced(view, spelled, disguised=True)
    if _DIGIT_PAIRS.search(text):
        yield from _decoded(view)
    for words, table in _SHIFTS:
        if _count(low, words) >= _SEVERAL:
            yield View(low.translate(table), view.starts, view.ends, disguised=True)
    if _APART_START.search(text):
        joined = [(*match.span(), re.sub(r"[^A-Za-z]", "", match[0])) for match in _APART.finditer(text)]
        yield replaced(view, joined, disguised=True)
    if "\n" in text:
        yield from _decoded_lines(view)
    if not text.isascii() and len(_BRACKETED.findall(text)) > 1:
        bare = [(*match.span(), match[1]) for match in _BRACKETED.finditer(text)]
        yield replaced(view, bare, disguised=True)
    if _count(low, _BACKWARDS) >= _SEVERAL or (not text.isascii() and _count(low, _REVERSED) >= _SEVERAL):
        backwards = [(low[at], at, at + 1) for at in range(len(low) - 1, -1, -1)]
        yield view.derive(backwards, disguised=True)
    if _LEET_WORD.search(low):
        read = low.translate(_LEET)
        if _count(read, _TELLING) >= _count(low, _TELLING) + _SEVERAL:
            yield View(read, view.starts, view.ends, disguised=True)


def _count(text: str, words: tuple[str, ...]) -> int:
    return sum([word in text for word in words])


def _spelled_out(match: re.Match[str]) -> str:
    """Words from "i-g-n-o-r-e   a-l-l": the shortest gap parts letters, a longer one parts words."""
    gaps = re.findall(r"[^A-Za-z]+", match[0])
    shortest = min(map(len, gaps))
    return re.sub(r"[^A-Za-z]+", lambda gap: " " if len(gap[0]) > shortest else "", match[0])


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
