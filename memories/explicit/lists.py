"""The lists that people write: their markers, their headings, and lists within one line."""

import re
from dataclasses import dataclass
from typing import Final

from memories.explicit.surface import CJK, Surface

_HAN = "一二三四五六七八九十"
_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
_PARENTHESISED = "⑴⑵⑶⑷⑸⑹⑺⑻⑼⑽"
_MARKER: Final = re.compile(
    rf"(?P<indent> {{0,40}})(?:>{{0,2}} ?)(?:(?P<bullet>[-+](?: |(?=[{CJK}“「\"`]))|\* "
    rf"|[•·●○◦▪▫■□◆◇★☆–—‣➢➤→✓✔✅☑∙・] ?)"
    rf"|(?P<number>\d{{1,3}})(?:[.、):](?!\d)|[\ufe0f ]?\u20e3) ?|[\[(](?P<round>\d{{1,3}}"
    rf"|[{_HAN}]{{1,3}})[)\]][、.]? ?"
    rf"|(?P<circled>[{_CIRCLED}{_PARENTHESISED}])[.、]? ?|第?(?P<han>[{_HAN}]{{1,3}})(?:、|\."
    rf"|[点条]?[:，,])|(?P<letter>[a-z])[.)](?=[ {CJK}]) ?)"
    r" {0,8}(?:\[[ x]?\] )?"
)
_INLINE: Final = re.compile(
    rf"(?:^|(?<=[\s;:，,。、.]))(?:(?P<number>\d{{1,2}})(?:[.、)](?!\d)|\ufe0f?\u20e3)"
    rf"|\((?P<round>\d{{1,2}}|[{_HAN}]{{1,2}})\)|\((?P<letter>[a-h])\)|(?P<han>[{_HAN}]{{1,2}})、"
    rf"|第(?P<nth>[{_HAN}])(?=[，,、:]))[，,、:]? ?"
    rf"|(?P<circled>[{_CIRCLED}{_PARENTHESISED}])[.、]?"
)
_GENERIC: Final = re.compile(
    rf"(?:(?:以后|今后)?都?(?:请|要|得|必须|需要)?(?:务必|严格)?(?:遵守|遵循|注意|按照?)?)?(?:以下|下面"
    rf"|下列|如下|这|有|我的|the following|following"
    rf"|these|this|my|our|the)?(?:的)?(?:这)?"
    rf"[ {_HAN}两几\d]{{0,4}}(?:two|three|four|five|few)? ?(?:些|点|条|个|件|项|句)?(?:重要)?(?:的)?(?:内容"
    rf"|规则|规定|规范|约定|要求|原则|注意事项|事项|事情?|话|信息"
    r"|偏好|点|条|项目约定|rules?|points?|things?|conventions?|facts?|notes?|preferences?|guidelines?"
    r"|constraints?|decisions?)?(?:如下|below|as follows)?"
)
_HEADING_END: Final = re.compile(
    r"(?:(?:如下|as follows|below|the following|包括|是|为|有|are|is)?:+|如下|as follows|以下几[点条])$"
)
_STATES: Final = re.compile(
    "用|是|为|走|要|都|必须|禁止|统一|一律|不|只|默认|固定|采用|放|加|按|叫|带|别|勿"
    r"|\b(?:is|are|must|should|use|uses|no|never|always|only|has|have|needs?|don't|do not)\b"
)
_JOINT: Final = re.compile(r"[,;，、 ]*(?:\band|以及|还有|和) *\Z")


@dataclass(frozen=True, slots=True)
class Marker:
    """The sign before an item of a list: where it stands, what kind it is, and its number if it has one."""

    indent: int
    kind: str
    number: int | None
    end: int


def _han_number(signs: str) -> int:
    tens, _, ones = signs.rpartition("十")
    if "十" not in signs:
        return _HAN.find(signs[-1]) + 1
    return (_HAN.find(tens) + 1 if tens else 1) * 10 + (_HAN.find(ones) + 1 if ones else 0)


def _order(match: re.Match[str]) -> tuple[str, int | None]:
    groups = match.groupdict()
    if sign := groups["circled"]:
        return "circled", (_CIRCLED.find(sign) if sign in _CIRCLED else _PARENTHESISED.find(sign)) + 1
    if sign := groups["number"]:
        return "number", int(sign)
    if sign := groups["round"]:
        return "round", int(sign) if sign.isdecimal() else _han_number(sign)
    if sign := groups.get("han") or groups.get("nth"):
        return "han", _han_number(sign)
    if sign := groups.get("letter"):
        return "letter", ord(sign) - ord("a") + 1
    return (groups.get("bullet") or "-").strip(), None


def marker_at(surface: Surface, number: int) -> Marker | None:
    """The marker of a list that a line begins with."""
    line = surface.lines[number]
    match = _MARKER.match(surface.folded, line.start, line.end)
    if match is None or line.kind == "fence":
        return None
    kind, order = _order(match)
    indent = surface.text[line.start : match.end("indent")]
    return Marker(len(indent.expandtabs(4)), kind, order, match.end())


def opening_marker(surface: Surface, start: int, end: int) -> Marker | None:
    """The marker that content on its trigger's own line begins with."""
    match = _MARKER.match(surface.folded, start, end)
    return Marker(0, *_order(match), match.end()) if match else None


def belongs(marker: Marker, base: Marker, last: Marker | None) -> bool:
    """Whether a marker goes on with a list: deeper, or of the same kind and with a higher number."""
    if marker.indent > base.indent + 1:
        return True
    if marker.kind != base.kind:
        return False
    return marker.number is None or last is None or last.number is None or marker.number > last.number


def inline_items(view: str, start: int, end: int) -> list[tuple[int, int, int]]:
    """`1. 表头固定；2. 操作列放右侧`: marker, start and end of each item, where numbers count up from one."""
    marks: list[re.Match[str]] = []
    for match in _INLINE.finditer(view, start, end):
        kind, number = _order(match)
        if number == len(marks) + 1 and (not marks or kind == _order(marks[0])[0]):
            marks.append(match)
    items = []
    stops = [*(mark.start() for mark in marks[1:]), end]
    for mark, stop in zip(marks, stops, strict=False):
        joint = _JOINT.search(view, max(mark.end(), stop - 8), stop) if stop < end else None
        items.append((mark.start(), mark.end(), joint.start() if joint else stop))
    return items


def ends_as_heading(folded: str) -> bool:
    return _HEADING_END.search(folded.rstrip(" *_")[-24:]) is not None


def states_nothing(view: str) -> bool:
    """Short words without a predicate, which may head a list without a colon."""
    return len(view) <= 24 and _STATES.search(view) is None


def is_generic(folded: str) -> bool:
    """A heading that adds nothing to the items: 以下几点, these rules."""
    return _GENERIC.fullmatch(folded.strip()) is not None


def heading_words(folded: str) -> int:
    """The length of a heading without its 如下： or its colon; 0 if it is generic."""
    folded = folded.rstrip(" *_")
    if ended := _HEADING_END.search(folded):
        folded = folded[: ended.start()].rstrip(" *_，,")
    return 0 if is_generic(folded) else len(folded)


def join_heading(heading: str, content: str) -> str:
    """接口规范：全部 POST; with an ASCII colon where the heading is not Chinese."""
    if not heading:
        return content
    return f"{heading}：{content}" if re.search(f"[{CJK}]", heading) else f"{heading}: {content}"
