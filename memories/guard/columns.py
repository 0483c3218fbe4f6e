"""Passwords in tables: a column whose head is a label, in Markdown, CSV, tab-separated lines and YAML blocks."""

import re
from collections.abc import Iterator
from typing import Final

_MARKS: Final = ("|", "\t", ",")
_ROWS: Final = 50  # rows under a head that are looked at
_HEAD: Final = re.compile(
    r"\W{0,4}(?:[\w ]{0,16}[ _])?(?:(?P<password>pass(?:word|wd|phrase)?|pwd|pw)|(?P<token>token|secret|"
    r"(?:api|access|secret)[ _]?key)|(?P<pin>pin|otp)|[\u4e00-\u9fff]{0,4}(?:(?P<zh_password>密码|口令)"
    r"|(?P<zh_token>令牌|密钥|授权码)))s?\W{0,4}"
)


def cells(text: str, low: str) -> Iterator[tuple[str, int, int]]:
    """(kind, start, end) of every cell that stands under a head which is a label."""
    if "\n" not in text or not any(mark in text for mark in _MARKS):
        return
    at, mark, heads, rows = 0, "", dict[int, str](), 0
    for line in low.splitlines(keepends=True):
        bare = line.rstrip("\r\n")
        parts = bare.split(mark) if mark else []
        if heads and len(parts) > max(heads) and rows < _ROWS:
            rows += 1
            place = at
            for number, part in enumerate(parts):
                if number in heads:
                    cell = part.strip(" *`\"'")
                    start = place + (part.find(cell) if cell else 0)
                    if 4 <= len(cell) <= 128 and set(cell) - set("-: "):
                        yield heads[number], start, start + len(cell)
                place += len(part) + 1
        else:
            mark, heads, rows = *_heads(bare), 0
        at += len(line)


def _heads(line: str) -> tuple[str, dict[int, str]]:
    """The separator of a head line and its labelled columns, if it is one."""
    for mark in _MARKS:
        if mark in line and len(line) < 400:
            named = {
                number: found.lastgroup or ""
                for number, part in enumerate(line.split(mark))
                if (found := _HEAD.fullmatch(part))
            }
            if named:
                return mark, named
    return "", {}
