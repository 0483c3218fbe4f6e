"""The ways in which a text may be read, each with its way back to the original's offsets.

A disguise hides a phrase from a pattern, not from a model. So the patterns run over several readings:
folded (compatibility forms, invisible characters dropped, look-alikes inside Latin words), broken
lines joined, separators between Chinese characters dropped, escapes and encodings decoded. Each view
costs one pass, decoding goes two levels deep, and a decoded text is shorter than its source: the sum
is linear in the length.
"""

import base64
import binascii
import html
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import unquote_to_bytes

_DEPTH: Final = 2


@dataclass(frozen=True, slots=True)
class View:
    """`starts[i]`, `ends[i]` bound the original characters behind `text[i]`; None means the same offsets."""

    text: str
    starts: list[int] | None = None
    ends: list[int] | None = None
    disguised: bool = False
    low: str = ""

    def __post_init__(self) -> None:
        low = self.text.lower()
        if len(low) != len(self.text):
            low = "".join(char.lower() if len(char.lower()) == 1 else char for char in self.text)
        object.__setattr__(self, "low", low)

    def span(self, start: int, end: int) -> tuple[int, int]:
        if self.starts is None or self.ends is None:
            return start, end
        covered = range(start, max(end, start + 1))
        return self.starts[covered[0]], self.ends[covered[-1]]

    def derive(self, pieces: list[tuple[str, int, int]], *, disguised: bool = False) -> "View":
        """A view whose text is the pieces in order, each standing for `[start, end)` of this view."""
        starts: list[int] = []
        ends: list[int] = []
        for piece, start, end in pieces:
            if len(piece) == end - start:
                starts.extend(range(start, end) if self.starts is None else self.starts[start:end])
                ends.extend(range(start + 1, end + 1) if self.ends is None else self.ends[start:end])
            elif piece:
                first, last = self.span(start, end)
                starts.extend([first] * len(piece))
                ends.extend([last] * len(piece))
        text = "".join(piece for piece, _, _ in pieces)
        return View(text, starts, ends, self.disguised or disguised)


# ── Folding ──────────────────────────────────────────────────────────────────────────────────────

# Letters that read as Latin in most fonts and have no compatibility form.
_LOOKALIKES: Final = str.maketrans(
    "авсԁеёһіјӏкмнорԛгѕтиѵԝхуАВСЕНІЈКМОРЅТХУαβεηικνορτυχωγΑΒΕΖΗΙΚΜΝΟΡΤΥΧ",
    "abcdeehijlkmhopqrstuvwxyABCEHIJKMOPSTXYabenikvoptuxwyABEZHIKMNOPTYX",
)
_GREEK_OR_CYRILLIC: Final = re.compile("[\u0370-\u052f]")
_RUN: Final = re.compile(r"[\w-]+")
_SMALL_CAPITALS: Final = dict(zip("ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ", "abcdefghijklmnoprstuvwyz", strict=True))
_LETTER_SYMBOLS: Final = ((0x1F150, 26), (0x1F170, 26), (0x1F1E6, 26))
_BLANK: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u3164\uffa0\u2800")


def _fold(char: str) -> str:
    """One character as patterns should see it: nothing, one or several characters."""
    category = unicodedata.category(char)
    if category in ("Cf", "Mn", "Me") or char in _BLANK:
        return ""
    if category in ("Zl", "Zp"):
        return "\n"
    for first, count in _LETTER_SYMBOLS:
        if first <= ord(char) < first + count:
            return chr(ord("A") + ord(char) - first)
    if char in _SMALL_CAPITALS:
        return _SMALL_CAPITALS[char]
    folded = unicodedata.normalize("NFKC", char)
    bare = unicodedata.normalize("NFD", folded)
    if bare[:1].isascii() and len(bare) > 1:
        folded = "".join(part for part in bare if unicodedata.category(part) != "Mn")
    return folded


class _Folding(dict[int, str]):
    """A table for `str.translate`, filled as characters are met; `odd` are those that do not stay one."""

    _MOST: Final = 8192

    def __init__(self) -> None:
        super().__init__()
        self.odd: set[str] = set()

    def __missing__(self, code: int) -> str:
        if len(self) >= self._MOST:
            self.clear()
        self[code] = read = _fold(chr(code))
        if len(read) != 1:
            self.odd.add(chr(code))
        return read


_FOLDING: Final = _Folding()


def _read_lookalikes(match: re.Match[str]) -> str:
    word = match[0]
    mixed = _GREEK_OR_CYRILLIC.search(word) and re.search("[A-Za-z]", word)
    return word.translate(_LOOKALIKES) if mixed else word


def folded(view: View) -> View:
    """Without compatibility forms, accents, invisible characters and look-alikes in Latin words."""
    if view.text.isascii():
        return view
    text = view.text.translate(_FOLDING)
    if text == view.text:
        plain = view
    elif _FOLDING.odd.isdisjoint(view.text):  # each character stands where it stood
        plain = View(text, view.starts, view.ends, view.disguised)
    else:
        plain = view.derive([(_FOLDING[ord(char)], at, at + 1) for at, char in enumerate(view.text)])
    if _GREEK_OR_CYRILLIC.search(plain.text):
        read = _RUN.sub(_read_lookalikes, plain.text)
        plain = View(read, plain.starts, plain.ends, plain.disguised)
    return plain


def replaced(view: View, matches: list[tuple[int, int, str]], *, disguised: bool = False) -> View:
    """`view` with each `[start, end)` read as the given text."""
    pieces: list[tuple[str, int, int]] = []
    at = 0
    for start, end, text in matches:
        pieces.append((view.text[at:start], at, start))
        pieces.append((text, start, end))
        at = end
    pieces.append((view.text[at:], at, len(view.text)))
    return view.derive(pieces, disguised=disguised)


# ── Separators ───────────────────────────────────────────────────────────────────────────────────

_HAN: Final = "\u3400-\u4dbf\u4e00-\u9fff"
_BETWEEN_HAN: Final = re.compile(rf"(?<=[{_HAN}，。：,])[ \t*_~.|/·-]{{1,6}}(?=[{_HAN}，。：,])")
# A line broken inside a word; a next line that begins a list item or a label of its own is no such thing.
_BROKEN: Final = re.compile(
    rf"(?:(?<=[\w!@#$%^&*+/=~-])[ \t]*\r?\n[ \t]*(?=[\w!@#$%^&*+/=~-])"
    rf"(?![-*+#>]{{1,6}}[ \t]|\d{{1,3}}[.)][ \t]|[\w \"'.-]{{1,30}}[:=](?:[ \t\n]|$))"
    rf"|(?<=[{_HAN}])\n(?=[{_HAN}]))"
)


# ── Encodings ────────────────────────────────────────────────────────────────────────────────────

_ESCAPED: Final = re.compile(
    r"(?P<percent>(?:%[0-9a-fA-F]{2}){1,4000})|(?P<entity>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|lt|gt|amp|quot"
    r"|apos|nbsp);)"
    r"|(?P<code>\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|u\{[0-9a-fA-F]{1,6}\}|U[0-9a-fA-F]{8}))"
)
_BLOB: Final = re.compile(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/_-]{16,}={0,2}")
_HEX: Final = re.compile(r"(?:0x)?((?:[0-9a-fA-F]{2}){8,})")
_BYTES_IN_SELECTORS: Final = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]{4,}")
_TAGS: Final = re.compile("[\U000e0020-\U000e007e]{4,}")


def _utf8(raw: bytes) -> str | None:
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None


def _decode_escape(match: re.Match[str]) -> str | None:
    if match["percent"]:
        return _utf8(unquote_to_bytes(match[0]))
    if match["entity"]:
        return html.unescape(match[0])
    point = int(re.sub(r"[^0-9a-fA-F]", "", match[0][2:]), 16)
    return chr(point) if point < 0x110000 and not 0xD800 <= point < 0xE000 else None


def _decode_blob(blob: str) -> str | None:
    """What a run of base64 or hexadecimal digits says, when it says something legible."""
    hexadecimal = _HEX.fullmatch(blob)
    try:
        if hexadecimal:
            raw = bytes.fromhex(hexadecimal[1])
        else:
            body = blob.rstrip("=").replace("-", "+").replace("_", "/")
            raw = base64.b64decode(body + "=" * (-len(body) % 4), validate=True)
    except (ValueError, binascii.Error):
        return None
    text = _utf8(raw)
    if text is None or len(text) < 6 or not all(char.isprintable() or char.isspace() for char in text):
        return None
    return text


def _unescaped(view: View) -> View | None:
    """Percent, entity and backslash escapes read in place; a character keeps the offsets of its escape."""
    found: list[tuple[int, int, str]] = []
    for match in _ESCAPED.finditer(view.text):
        text = _decode_escape(match)
        if text is None:
            continue
        at = match.start()
        if match["percent"]:
            for char in text:
                width = 3 * len(char.encode())
                found.append((at, at + width, char))
                at += width
        else:
            found.append((at, match.end(), text))
    return replaced(view, found, disguised=True) if found else None


def _payloads(view: View) -> Iterator[View]:
    """Texts carried by characters that nobody sees: tag characters, bytes as variation selectors."""
    for match in _TAGS.finditer(view.text):
        text = "".join(chr(ord(char) - 0xE0000) for char in match[0])
        yield view.derive([(text, *match.span())], disguised=True)
    for match in _BYTES_IN_SELECTORS.finditer(view.text):
        raw = bytes(
            ord(char) - 0xFE00 if ord(char) < 0xFE10 else ord(char) - 0xE0100 + 16 for char in match[0]
        )
        said = _utf8(raw)
        if said:
            yield view.derive([(char, *match.span()) for char in said], disguised=True)


def readings(text: str) -> list[View]:
    """Every view of `text` that differs from the ones before it; the first is the folded text."""
    return list(_expand(View(text), 0))


def _expand(root: View, depth: int) -> Iterator[View]:
    plain = folded(root)
    yield plain
    whole = plain
    if "\n" in plain.text:
        broken = [(*match.span(), "") for match in _BROKEN.finditer(plain.text)]
        if broken:
            whole = replaced(plain, broken)
            yield whole
    if not plain.text.isascii():
        spread = [(*match.span(), "") for match in _BETWEEN_HAN.finditer(whole.text)]
        if spread:
            yield replaced(whole, spread)
    if depth == _DEPTH:
        return
    if not root.text.isascii():
        for hidden in _payloads(root):
            yield from _expand(hidden, depth + 1)
    if "%" in plain.text or "&" in plain.text or "\\" in plain.text:
        unescaped = _unescaped(plain)
        if unescaped:
            yield from _expand(unescaped, depth + 1)
    for match in _BLOB.finditer(plain.text):
        decoded = _decode_blob(match[0])
        if decoded is not None:
            start, end = match.span()
            yield from _expand(
                plain.derive([(char, start, end) for char in decoded], disguised=True), depth + 1
            )
