"""What an extraction reads: turns as they were said, the memories already known, and the project's own words.

Pure values. `chats` builds a Transcript; backends, verify and judge read it. Offsets always refer to
`Turn.message`: what must not be read is blanked with spaces, never cut out, so that a quote keeps its place.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

type Span = tuple[int, int]

HUMAN = "human"
SUCCEEDED = "succeeded"

# Our own block, whoever pasted or echoed it: a memory must not breed itself. An unclosed one runs to the end.
_OWN_BLOCK = re.compile(r"<project_memory\b.*?(?:</project_memory\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"[ \t]{0,3}(`{3,}|~{3,})")
_BLOCK_QUOTE = re.compile(r"^[ \t]{0,3}[>＞].*$", re.MULTILINE)
_TABLE_ROW = re.compile(r"^[ \t]*+\|.*\|[ \t]*+$", re.MULTILINE)
# A line that is program text, a diff, a shell prompt, a log line or a stack trace although nothing fences it.
# The bound keeps the pattern from reading a long line again and again.
_CODE_LINE = re.compile(
    r"""^(?=.{0,400}$)[ \t]*+(?:
        //.* | /\*.* | \*/.* | \#\s*(?:include|define|!)\S*.* | @@.* | [+-]{3}[ ]\S.* | [$%]\s+[\w./-]+.*
      | (?:import|from)\s+[\w.{}*,\ '"@/]+(?:\s+from\s+['"].*|\s+import\s+.*|;)\s*
      | (?:const|let|var)\s+[\w{}\[\], ]+\s*=.*
      | (?:def|class|function|public|private|export|return|if|for|while)\b.*[{:;]\s* | [)}\]]+[;,]?\s*
      | </?[a-zA-Z][\w:-]*(?:\s[^>]*)?>.* | at\s+[\w.$<>]+\s*\(.*\)\s* | File\s+"[^"]+",\s+line\s+\d+.*
      | Traceback\s\(most.* | [A-Za-z.]*(?:Error|Exception):\s.*
      | \[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d.* | \[?(?:ERROR|WARN|WARNING|INFO|DEBUG)\b[\]:\s].*
      | .*[;{]
    )$""",
    re.MULTILINE | re.VERBOSE,
)
# From here on the words are somebody else's: pasted mail, logs, minutes, articles.
_PASTE = re.compile(
    r"""^.{0,40}(?:
        (?:以下|下面|如下|这)(?:是|为|就是)?.{0,16}(?:原文|全文|日志|报错|邮件|聊天记录|会议纪要|文章|文档内容|摘录|转发)
      | (?:原文|日志|报错信息|报错|邮件内容|聊天记录|会议纪要|文章|转发)(?:如下|内容)?
      | (?:here(?:'s|\ is|\ are)|see|below\ (?:is|are)|this\ is|pasting|from)\s.{0,30}\b
        (?:log|logs|error|stack\
        ?trace|traceback|e-?mail|article|transcript|minutes|docs?|document|readme|excerpt|snippet|output) |
        (?:log|output|error(?:\ message)?|stack\ ?trace|e-?mail|article|transcript|excerpt)
      | (?:here(?:'s|\ is|\ are)|this\ is|below\ is)\s.{0,20}
        \b(?:mail|message|letter|post|statute|clause|note|ticket)s?\b
      | (?:please\ )?(?:summari[sz]e|translate|proofread|rewrite|polish|shorten|explain|reply\ to)\b.{0,40}
      | (?:请|帮(?:我|忙)|麻烦)?(?:总结|翻译|润色|校对|改写|概括|缩写|解释)(?:一下|下)?.{0,24}
      | (?:收到|发来)(?:的|了)?.{0,8}(?:邮件|消息|通知|信|公告).{0,6}
    )[^\n:：。.!?]{0,24}[:：][ \t]*$""",
    re.MULTILINE | re.VERBOSE | re.IGNORECASE,
)
_STOP = re.compile(r"[。！!？?；;]|\.(?=\s)")
_CJK = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_LATIN_WORD = re.compile(r"[A-Za-z]{2,}")


def blank(text: str, spans: Iterable[Span]) -> str:
    """`text`, its length kept, with every character of `spans` but the newlines turned into a space."""
    characters = list(text)
    for start, end in spans:
        for place in range(max(start, 0), min(end, len(characters))):
            if characters[place] != "\n":
                characters[place] = " "
    return "".join(characters)


def _fenced(text: str) -> Iterator[Span]:
    """Code between fences, fences included; one that nothing closes runs to the end."""
    opened: tuple[int, str] | None = None
    start = 0
    for line in text.splitlines(keepends=True):
        fence = _FENCE.match(line)
        if fence and opened is None:
            opened = start, fence[1]
        elif (
            opened is not None
            and fence
            and set(line.strip()) == {opened[1][0]}
            and len(fence[1]) >= len(opened[1])
        ):
            yield opened[0], start + len(line)
            opened = None
        start += len(line)
    if opened is not None:
        yield opened[0], len(text)


def without_quoted_matter(text: str) -> str:
    """`text`, its length kept, with code, block quotes, tables, pasted matter and our own block blanked."""
    text = blank(text, (match.span() for match in _OWN_BLOCK.finditer(text)))
    text = blank(text, _fenced(text))
    for pattern in (_BLOCK_QUOTE, _TABLE_ROW, _CODE_LINE):
        text = blank(text, (match.span() for match in pattern.finditer(text)))
    paste = _PASTE.search(text)
    if paste is None:
        return text
    # What the line said before it announced the paste was said.
    announced = max((match.end() for match in _STOP.finditer(paste[0])), default=0)
    return blank(text, [(paste.start() + announced, len(text))])


def language(text: str) -> str:
    """`zh` or `en`, by which of the two writes more words of `text` (a Chinese word counted as two
    characters).
    """
    return "zh" if len(_CJK.findall(text)) / 2 > len(_LATIN_WORD.findall(text)) else "en"


@dataclass(frozen=True, slots=True)
class Signal:
    """A directive or correction of this turn that already became an Instruction (`id`): a candidate whatever
    the backend.
    """

    id: int
    kind: str
    content: str


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One finished turn. `message` holds a human's words only when `origin` is human; `blanked` are the spans
    of it that the explicit channel took. A turn that is not `citable` is context: nothing may be quoted from
    it. `tools` are those that ran well, `agents` the others whose steps succeeded, `files` those it was about or
    changed. What a turn yields that was reported when it had `already_happened` waits for a person.
    """

    id: int
    seq: int
    message: str
    sent_at: datetime
    reply: str = ""
    author: str = ""
    status: str = SUCCEEDED
    tools: tuple[str, ...] = ()
    agents: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    origin: str = HUMAN
    citable: bool = True
    blanked: tuple[Span, ...] = ()
    signals: tuple[Signal, ...] = ()
    already_happened: bool = False

    @cached_property
    def human_text(self) -> str:
        """The human's words, as long as `message`, with what the explicit channel took blanked; all blank for
        a machine.
        """
        spans = self.blanked if self.origin == HUMAN else ((0, len(self.message)),)
        return blank(self.message, spans)

    @cached_property
    def readable(self) -> str:
        """`human_text` as far as it is the human's own speech: no code, no quotes, no pasted matter, no block
        of ours.
        """
        return without_quoted_matter(self.human_text)

    @cached_property
    def readable_reply(self) -> str:
        """The assistant's own speech, in the same sense."""
        return without_quoted_matter(self.reply)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownMemory:
    """A memory as a run sees it. `said_at` orders statements; `confirmed` tells whether a person vouched for
    it; `turns` are those its evidence is from, `fresh` one that this very run wrote; `replaces` is what a
    proposal would take the place of.
    """

    id: int
    type: str
    key: str
    content: str
    said_at: datetime
    version: int = 1
    status: str = "active"
    authority: str = "automatic"
    source: str = "extracted"
    importance: int = 3
    confirmed: bool = False
    turns: frozenset[int] = frozenset()
    fresh: bool = False
    replaces: int | None = None


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """What one run reads, turns in order of `seq`. `known` is what the backend was shown, not what is live
    when it ends.
    """

    turns: tuple[Turn, ...]
    known: tuple[KnownMemory, ...] = ()
    static_instructions: str = ""
    guidance: str = ""
    area: str = ""
    completed: bool = False

    @property
    def citable(self) -> tuple[Turn, ...]:
        """The turns this run is about: finished well, and not mere context."""
        return tuple(turn for turn in self.turns if turn.citable and turn.status == SUCCEEDED)

    @property
    def language(self) -> str:
        """The language most of the human's words are in: a hint for a model, never a filter."""
        return language("\n".join(turn.readable for turn in self.turns))

    def turn(self, turn_id: int | None) -> Turn | None:
        return next((turn for turn in self.turns if turn.id == turn_id), None)
