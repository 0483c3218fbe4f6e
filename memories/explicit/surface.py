"""A message as the grammar sees it: two views of the same length as the text, and its lines.

`folded` has one form for each sign: lower case, half-width letters and colons, simplified characters for the
words of the grammar, `\\n` for every line end. `open` is `folded` with everything blanked that is not the
writer's own plain words: code, quotations, block quotes, logs and other machine text. Offsets agree in all.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

BLANK: Final = "\ufffc"
CJK: Final = "\u3400-\u4dbf\u4e00-\u9fff"

_TRADITIONAL = (
    "記請幫後從現統務這個規則對錯應該說過別還嗎麼為讓將會給變換當時樣經認確實關於歡習慣傾愛討厭條點項幾內約須準決來開進備註銷廢棄刪無視問題們沒並與訴話語頁寫創設計測試繼續優復顯運執檢結構臨僅單"
    "裡裏誰嚴許總絕際據標佈雙東車劃處舊鐘麵煩託謝謹銘憶訂糾誤喚遠戶選擇錄號態滾動篩帳賬見線種組維護軟體資複頭壞著麽發導徹裝儲專類訊啟數匯妳佔採鍵輸瀏覽證鈕邊階補論憑審閱讀筆簡詳細覆違終擊邏輯"
)
_SIMPLIFIED = (
    "记请帮后从现统务这个规则对错应该说过别还吗么为让将会给变换当时样经认确实关于欢习惯倾爱讨厌条点项几内约须准决来开进备注销废弃删无视问题们没并与诉话语页写创设计测试继续优复显运执检结构临仅单"
    "里里谁严许总绝际据标布双东车划处旧钟面烦托谢谨铭忆订纠误唤远户选择录号态滚动筛帐账见线种组维护软体资复头坏着么发导彻装储专类讯启数汇你占采键输浏览证钮边阶补论凭审阅读笔简详细复违终击逻辑"
)
_FOLD = str.maketrans(
    {
        **dict(zip(_TRADITIONAL, _SIMPLIFIED, strict=True)),
        **{chr(code): chr(code + 32) for code in range(ord("A"), ord("Z") + 1)},
        # Full-width ASCII, but for the comma and the marks that end a sentence: there the width is a clue.
        **{
            chr(code): chr(code - 0xFEE0).lower()
            for code in range(0xFF01, 0xFF5F)
            if chr(code) not in "，！？＂＇"
        },
        **dict.fromkeys("\u2236\ua789\ufe30\ufe55\u02d0", ":"),
        **dict.fromkeys("\u2028\u2029\x85\v\f\r", "\n"),
        **dict.fromkeys("\t\u3000\xa0\u200b\u200c\u200d\u2060\ufeff\ufe0f\u202f\u2002\u2003\u2009", " "),
        "’": "'",
        "｡": "。",
        "､": "、",
        "﹐": "，",
        "﹔": ";",
        "【": "[",
        "】": "]",
        "〔": "[",
        "〕": "]",
    }
)


def fold(text: str) -> str:
    """The text in one form for each sign, character by character."""
    return text.replace("\r\n", " \n").translate(_FOLD)


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its end; `kind` says whose words it holds, `block` is the last line of its fence."""

    start: int
    end: int
    kind: str  # "" (the writer's) | "fence" | "quote" | "machine"
    block: int


@dataclass(frozen=True, slots=True)
class Surface:
    text: str
    folded: str
    open: str
    lines: tuple[Line, ...]
    starts: tuple[int, ...]

    def line_at(self, position: int) -> int:
        """The number of the line that holds a position."""
        return max(bisect_left(self.starts, position + 1) - 1, 0)

    def is_blank(self, number: int) -> bool:
        line = self.lines[number]
        return not self.folded[line.start : line.end].strip()


# --- whose lines ---------------------------------------------------------------------------------------

_FENCE = re.compile(r" {0,12}(?:[-*+] )?(`{3,}|~{3,})")
_LOG = re.compile(
    r" {0,40}(?:\[?\d{4}[-/]\d\d?[-/]\d\d?[t ]{1,2}\d\d?:\d\d|\[?\d\d:\d\d:\d\d|\[(?:info|warn(?:ing)?"
    r"|error|debug|trace"
    r"|fatal|notice|log)\]|(?:info|warn(?:ing)?|error|debug|trace|fatal|notice|stdout|stderr)\b ?[:|\]-]"
    r"|at \S{1,200} ?\("
    r"|traceback \(most|file \"|npm (?:err|warn)|\$ |>>> |\w{1,60}(?:error|exception): |(?:level|time|ts)="
    r"|\{ ?\""
    r"|diff --git |@@ |index [0-9a-f]{6,}\.\.|\+\+\+ |--- a/|commit [0-9a-f]{7,}"
    r"|(?:user|assistant|system|human|bot|agent|tool|developer|用户|助手|系统|机器人|客服"
    r"|小助手) {0,2}(?:\([^)\n]{0,20}\))?:)"
)
_CODE = re.compile(
    r" {0,40}(?://|/\*|\*/|#include|(?:const|let|var) [\w{\[]{1,80}.{0,200}=|import .{1,200}(?:from|;)"
    r"|from \S{1,80} import "
    r"|(?:export|public|private|protected|static|async|function|func|fn|def|class) \w.{0,200}[{(:]"
    r"|(?:if|for|while|switch) ?\(.{0,200}\)|return .{0,200};|[}\])]{1,4}[;,]?$|</?[a-z][^>\n]{0,200}>$)"
    r"|\s{2,40}[\"']?[a-z_]\w{0,40}[\"']?: ?[\"'\[{\d].{0,200}$",
)
# A line that announces another's words: what follows it, to the next empty line, is not said by the writer.
_INTRODUCES = re.compile(
    r"(?:日志|报错|报错信息|输出|原文|邮件|聊天记录|文档|需求文档|写着|写道|说|提示|提示语|回复|内容如下"
    r"|消息|公告|代码|注释"
    r"|logs?|output|errors?|stack ?trace|e?mail|docs? says?|documentation says|says?|said|wrote|transcript"
    r"|quote|reads"
    r"|readme)(?:如下|里|中|是|为|的是|了|内容|片段|信息|here|below|as follows){0,3}:$"
    r"|^ {0,8}(?:user|assistant|system|human|bot|agent|tool|用户|助手|系统|机器人|客服) ?:$"
    r"|(?:翻译|润色|改写|解释|总结|校对|朗读|分析|英译|读一下|看看|看一下|translate|rewrite|proofread"
    r"|explain|summari[sz]e"
    r"|polish|review|paraphrase|analy[sz]e)(?![a-z]{3})[^。.!?\n]{0,40}:$"
)
_OWN_WORDS = re.compile(
    r"(?:我|我再|我想|我要|再|i|i'll|let me) ?(?:只|多|就)?(?:说|say|said).{0,6}:$"
    r"|.{0,40}(?:记住|牢记|谨记|切记|记一下|remember|keep in mind)"
)
_TAG = re.compile(r" {0,12}<(/?)([a-z][\w:-]{0,40})[^>\n]{0,200}>$")


def _line_bounds(folded: str) -> list[tuple[int, int]]:
    bounds = []
    start = 0
    for piece in folded.split("\n"):
        bounds.append((start, start + len(piece)))
        start += len(piece) + 1
    return bounds


def _lines(folded: str) -> tuple[Line, ...]:
    bounds = _line_bounds(folded)
    kinds = [""] * len(bounds)
    blocks = list(range(len(bounds)))
    pieces = [folded[start:end].rstrip() for start, end in bounds]

    number = 0
    while number < len(pieces):
        if opened := _FENCE.match(pieces[number]):
            last = _fence_end(pieces, number, opened[1])
            kinds[number : last + 1] = ["fence"] * (last + 1 - number)
            blocks[number : last + 1] = [last] * (last + 1 - number)
            number = last
        elif pieces[number].lstrip().startswith((">", "＞")):
            kinds[number] = "quote"
        number += 1
    _mark_tagged(pieces, kinds)
    for first, last in _paragraphs(pieces, kinds):
        _mark_machine(pieces, kinds, first, last)
    return tuple(Line(start, end, kinds[i], blocks[i]) for i, (start, end) in enumerate(bounds))


def _fence_end(pieces: list[str], number: int, fence: str) -> int:
    """The closing line of a fence, else the last line of the text: an open fence never gives words away."""
    for later in range(number + 1, len(pieces)):
        bare = pieces[later].strip()
        if len(bare) >= len(fence) and set(bare) == {fence[0]}:
            return later
    return len(pieces) - 1


def _mark_tagged(pieces: list[str], kinds: list[str]) -> None:
    """`<system-reminder>` … `</system-reminder>`, each on a line of its own."""
    closes: dict[str, list[int]] = {}
    opens: list[tuple[str, int]] = []
    for number, piece in enumerate(pieces):
        if piece.endswith(">") and not kinds[number] and (tag := _TAG.match(piece)):
            if tag[1]:
                closes.setdefault(tag[2], []).append(number)
            else:
                opens.append((tag[2], number))
    reached = -1
    for name, number in opens:
        ends = closes.get(name, [])
        at = bisect_left(ends, number)
        if number > reached and at < len(ends):
            reached = ends[at]
            for inside in range(number, reached + 1):
                kinds[inside] = kinds[inside] or "machine"


def _paragraphs(pieces: list[str], kinds: list[str]) -> Iterator[tuple[int, int]]:
    first = 0
    for number in range(len(pieces) + 1):
        if number == len(pieces) or not pieces[number].strip() or kinds[number] in ("fence", "quote"):
            if first < number:
                yield first, number - 1
            first = number + 1


def _mark_machine(pieces: list[str], kinds: list[str], first: int, last: int) -> None:
    """Log lines, what stands between two lines of a log or a program, and what is announced as said."""
    looks = []
    for number in range(first, last + 1):
        piece = pieces[number]
        if piece.endswith(":") and number < last and _introduces(piece):
            kinds[number + 1 : last + 1] = ["machine"] * (last - number)
            return
        if _LOG.match(piece):
            kinds[number] = "machine"
            looks.append(number)
        elif _CODE.match(piece) or _is_statement(piece):
            looks.append(number)
    if len(looks) > 1:
        kinds[looks[0] : looks[-1] + 1] = ["machine"] * (looks[-1] + 1 - looks[0])


def _introduces(piece: str) -> bool:
    return _INTRODUCES.search(piece[-80:]) is not None and _OWN_WORDS.match(piece) is None


def _is_statement(piece: str) -> bool:
    """A line of a program by its end; prose ends in semicolons too, but has no brackets or assignments."""
    return (
        piece.endswith((";", "{", "=>"))
        and piece.isascii()
        and ("(" in piece or "=" in piece)
        and not piece.lstrip().startswith(("-", "*", "+"))
        and not piece.lstrip()[:1].isdigit()
    )


# --- code and quotations inside a paragraph ------------------------------------------------------------

_MARKS = re.compile("`+|<!--|-->|[\"“”„‟＂「」『』《》〈〉«»‘’']")
_CLOSERS = {
    "“": "”", "”": "”", "„": "”", "‟": "”", "＂": "＂", '"': '"', "「": "」", "『": "』", "《": "》",
    "〈": "〉", "«": "»", "‘": "’", "'": "'", "<!--": "-->",
}  # fmt: skip
_ANY_DOUBLE = '"“”„‟＂'


class _Marks:
    """The quotation marks of one paragraph, so that a closing one is found without reading on each time."""

    def __init__(self, text: str, start: int, end: int) -> None:
        self.text, self.start, self.end = text, start, end
        self.line_ends = [m.start() for m in re.compile("\n").finditer(text, start, end)]
        self.found = [(m.start(), m[0]) for m in _MARKS.finditer(text, start, end)]
        self.places: dict[str, list[int]] = {}
        for place, mark in self.found:
            if mark not in "'\"’" or self._may_close(place, mark):
                self.places.setdefault(mark, []).append(place)

    def _beside(self, place: int) -> str:
        return self.text[place] if self.start <= place < self.end else " "

    def _may_close(self, place: int, mark: str) -> bool:
        before, after = self._beside(place - 1), self._beside(place + 1)
        return not before.isspace() and (mark == '"' or not (after.isascii() and after.isalnum()))

    def _may_open(self, place: int, mark: str) -> bool:
        before, after = self._beside(place - 1), self._beside(place + 1)
        if mark == '"':
            return not before.isdigit() and not after.isspace()
        if mark in "'’":
            return mark == "'" and not (before.isascii() and before.isalnum()) and not after.isspace()
        return True

    def closer(self, place: int, mark: str) -> int | None:
        """Where the quotation that opens here ends; straight marks keep to their line."""
        if not self._may_open(place, mark):
            return None
        wanted = mark if mark[0] == "`" else _CLOSERS.get(mark, "")
        if (found := self._next(wanted, place + len(mark))) is None and mark in _ANY_DOUBLE:
            others = [p for other in _ANY_DOUBLE if (p := self._next(other, place + 1)) is not None]
            found = min(others, default=None)
        if found is None or (mark in "\"'”＂" and self._line_end(place) < found):
            return None
        return found + (len(wanted) if mark[0] in "`<" else 1)

    def _line_end(self, place: int) -> int:
        at = bisect_left(self.line_ends, place)
        return self.line_ends[at] if at < len(self.line_ends) else self.end

    def _next(self, mark: str, place: int) -> int | None:
        places = self.places.get(mark, [])
        at = bisect_left(places, place)
        return places[at] if at < len(places) else None


def _quoted(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    marks = _Marks(text, start, end)
    reached = start
    for place, mark in marks.found:
        if place >= reached and (closed := marks.closer(place, mark)) is not None:
            yield place, closed
            reached = closed


def read_surface(text: str) -> Surface:
    """Both views and the lines of any text, in time linear in its length."""
    folded = fold(text)
    marked = text.replace("\r\n", " \n").replace("\r", "\n")
    lines = _lines(folded)
    blanks: list[tuple[int, int]] = []
    own: tuple[int, int] | None = None
    for line in lines:
        is_own = line.kind == "" and bool(folded[line.start : line.end].strip())
        if not is_own and own is not None:
            blanks.extend(_quoted(marked, *own))
            own = None
        if is_own:
            own = (own[0] if own else line.start, line.end)
        elif line.kind:
            blanks.append((line.start, line.end))
    if own is not None:
        blanks.extend(_quoted(marked, *own))
    parts: list[str] = []
    reached = 0
    for start, end in blanks:
        parts += folded[reached:start], re.sub(r"[^\n]", BLANK, folded[start:end])
        reached = end
    parts.append(folded[reached:])
    return Surface(text, folded, "".join(parts), lines, tuple(line.start for line in lines))
