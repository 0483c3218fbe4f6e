"""Characters that a reader does not see and a model does: they hide words from the people in charge.

Passed: emoji joined by ZWJ, one variation selector after its base, flags made of tags, joiners in the
scripts that need them (Mongolian and Braille have blanks of their own), direction marks in right-to-left
text, a byte order mark at the very start.
"""

import re
import unicodedata
from collections.abc import Iterator
from typing import Final

from memories.guard.findings import Certainty, Finding

_CONTROL: Final = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]+")
_ANY: Final = re.compile(
    "(?P<bidi>[\u202a-\u202e\u2066-\u2069]+)|(?P<mark>[\u200e\u200f\u061c]+)"
    "|(?P<zero_width>[\u00ad\u034f\u180e\u200b-\u200d\u2060-\u2064\u206a-\u206f\ufeff\ufff9-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a]+)"
    "|(?P<filler>[\u2800\u115f\u1160\u3164\uffa0\u17b4\u17b5]+)|(?P<tags>[\U000e0000-\U000e007f]+)"
    "|(?P<selectors>[\u180b-\u180d\u180f\ufe00-\ufe0f\U000e0100-\U000e01ef]+)"
    "|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]+)"
    # One accent on a letter is a spelling; marks over letter after letter are not.
    "|(?P<marks>(?:[^\\W\\d_][\u0300-\u036f\u0489\u20d0-\u20f0]{1,64}[ ]?){4,256}"
    "|[\u0300-\u036f\u0489\u20d0-\u20f0]{4,})"
)
_RIGHT_TO_LEFT: Final = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]")
_JOINED_SCRIPT: Final = re.compile(
    "[\u0600-\u08ff\u0900-\u0dff\u0e00-\u109f\u1780-\u18af\ua980-\ua9df\ufb50-\ufdff\ufe70-\ufefc]"
)
_HAN: Final = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
_FLAG: Final = "\U0001f3f4"


def _is_pictograph(char: str) -> bool:
    return bool(char) and (
        (unicodedata.category(char) in ("So", "Sk", "Sm", "Po") and ord(char) > 0xA8)
        or char in "\ufe0f\u20e3\U000e007f"
    )


def _is_ordinary(kind: str, run: str, before: str, after: str, *, right_to_left: bool) -> bool:
    if kind == "mark":
        return right_to_left and len(run) <= 2
    if kind == "zero_width" and run == "\u200d":
        return (_is_pictograph(before) and _is_pictograph(after)) or bool(_JOINED_SCRIPT.match(before))
    if kind == "zero_width" and run == "\u200c":
        return bool(_JOINED_SCRIPT.match(before))
    if kind == "zero_width" and run == "\ufeff":
        return not before
    if kind == "filler" and run.strip("\u2800") == "":
        return "\u2800" < before <= "\u28ff" or "\u2800" < after <= "\u28ff"
    if kind == "tags":
        return before == _FLAG and run.endswith("\U000e007f") and 3 <= len(run) <= 8
    if kind == "selectors":
        if len(run) != 1:
            return False
        if run < "\u1810":
            return "\u1800" <= before <= "\u18af"
        return (
            bool(_HAN.match(before))
            if run >= "\U000e0100"
            else (bool(before.strip()) and not before.isalpha()) or bool(_HAN.match(before))
        )
    return False


def find(text: str) -> Iterator[Finding]:
    """Runs of invisible characters, with the code of their kind. Alone between words they are held (a
    pasted soft hyphen); inside a word, or many, they are refused.
    """
    if text.isascii():
        for match in _CONTROL.finditer(text):
            yield Finding("hidden", "control", *match.span(), "refuse")
        return
    right_to_left = bool(_RIGHT_TO_LEFT.search(text))
    for match in _ANY.finditer(text):
        kind, run = match.lastgroup or "", match[0]
        start, end = match.span()
        before, after = text[start - 1 : start] if start else "", text[end : end + 1]
        if _is_ordinary(kind, run, before, after, right_to_left=right_to_left):
            continue
        inside = before.isalnum() and after.isalnum()
        certainty: Certainty = (
            "hold"
            if kind in ("zero_width", "mark", "selectors") and len(run) == 1 and not inside
            else "refuse"
        )
        if kind == "marks":
            if unicodedata.normalize("NFC", run).isalpha() and len(run) < 16:
                continue
            certainty = "refuse" if len(run) >= 12 else "hold"
        yield Finding("hidden", kind, start, end, certainty)
