"""What a turn came to, in a line: what was asked, what came of it, which files. Pure and extractive.

Nothing is worded anew: sentences of the talk are chosen, masked by the guard, and cut where room ends. A sentence that
the guard would not keep is left out, and so is what is no speech: code, quoted and pasted matter.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from memories import guard, tokens
from memories.extraction.sentences import Sentence, split
from memories.extraction.transcript import without_quoted_matter
from memories.text import clean, terms

MAX_TOKENS: Final = 80
ARROW: Final = " → "
CUT: Final = "…"
# Of a longer text the beginning and the end are read: what was wanted stands first, what came of it last.
MAX_READ: Final = 6_000
MAX_FILES: Final = 3
# At most so many sentences of each side, and the second only if it weighs nearly as much.
_SIDE: Final = 2
_NEARLY: Final = 0.7
# What a sentence weighs: up to 1 for its words, as many as this, and more for what else is telling about it.
_FULL: Final = 12
_BY_PLACE: Final = (0.5, 0.2)
_SETTLED, _REPORTED, _EXACTLY = 0.4, 0.5, 0.2
_ENOUGH: Final = 10

# Words that say how it is to be, or that something is settled.
_SETTLES: Final = re.compile(
    r"决定|确定|定为|改成|改为|换成|统一|必须|一律|不要|禁止|不能|以后|只能|采用|而不是|最终|结论|规则"
    r"|\b(?:always|never|must|should|decid\w+|agree\w*|settl\w+|switch\w*|instead|from now on|use|stick"
    r"|only|rule|final\w*|limit)\b",
    re.IGNORECASE,
)
# Words that say what was done or found.
_DONE: Final = re.compile(
    r"已|完成|修复|新增|添加|加上|删除|移除|改为|改成|换成|原因|因为|结果|通过|失败|报错|发现|设为|设置|生成|上线|现在"
    r"|\b(?:added|adds|fixed|fixes|changed|created|removed|updated|moved|renamed|replaced|set|wrote|built|done"
    r"|implemented|deployed|passes|passing|failed|fails|found|because|caused|now|returns|uses)\b",
    re.IGNORECASE,
)
# What opens or closes a reply without saying anything.
_CHATTER: Final = re.compile(
    r"^(?:好的?|当然|没问题|明白|收到|了解|可以|嗯+|您好|你好|谢谢|不客气|别客气|不用谢|希望|随时|请问|要不要我|需要我"
    r"|如果(?:你|您)?(?:还)?(?:需要|有)|还有(?:什么|其他)|让我|我(?:来|先|会|将|这就|马上)|接下来我|下面(?:是|我)|以下是|告诉我"
    r"|(?:sure|ok(?:ay)?|of course|certainly|great|got it|understood|thanks?|thank you|hello|hi|hey|no problem"
    r"|absolutely|you(?:['’]re| are) welcome|my pleasure|cheers|happy to|glad to|let me|here(?:['’]s| is| are)"
    r"|i(?:['’]ll| will| can| am going to|['’]m going to)"
    r"|would you like|do you want|shall i|should i|feel free|please let|hope this|anything else|if you(?:['’]d)?"
    r" (?:need|want|like|have))\b)",
    re.IGNORECASE,
)
_OPENING: Final = re.compile(
    r"^(?:好的?(?!了)|当然可以|当然|没问题|明白了?|收到|了解|可以(?!了)|嗯+|行(?!了)|对了?|您好|你好|谢谢|辛苦了?|麻烦(?:你|您)?|请问?|帮我|帮忙"
    r"|(?:sure|ok(?:ay)?|of course|certainly|great|got it|understood|thanks|thank you|hello|hi|hey|please"
    r"|can you|could you|now|well|so|also))(?:[\s,，。.!！:：、~～]+|(?<=[\u3400-\u9fff]))",
    re.IGNORECASE,
)
_EXACT: Final = re.compile(r"\d|`[^`]+`|\w[./_-]\w|[a-z][A-Z]")
_EMPHASIS: Final = re.compile(r"(?<![\w*])(\*\*|__)(?=[^\s*_])([^\n]{1,200}?)(?<=[^\s*_])\1(?![\w*])")
_STOPS: Final = ("?", "？", "!", "！", ".", "。")
_CLAUSE: Final = re.compile(r"[,，;；、:：]\s*")


@dataclass(frozen=True, slots=True)
class _Scored:
    place: int
    weight: float
    words: frozenset[str]
    text: str


def line(message: str, reply: str, files: Sequence[str] = (), *, max_tokens: int = MAX_TOKENS) -> str:
    """`asked → what came of it [files]`, at most `max_tokens`; empty if nothing of it may be told."""
    named = _files(files, max_tokens // 4)
    room = max_tokens - (tokens.count(named) if named else 0)
    answer = _side(reply, max(room // 2 - 2, 0), is_reply=True)
    question = _side(message, room - (tokens.count(ARROW + answer) if answer else 0), is_reply=False)
    told = _kept(_joined(question, answer, named))
    while told and tokens.count(told) > max_tokens:
        # Tokens do not add up over every border: a word less, then.
        question, answer = (question[:-2].rstrip(), answer) if question else ("", answer[:-2].rstrip())
        told = _kept(_joined(question, answer, named)) if question or answer else ""
    return told


def readable(text: str) -> str:
    """`text` as far as it is speech, masked, and of a long one the beginning and the end."""
    masked = guard.mask(storable(text))
    if len(masked) > MAX_READ:
        masked = f"{masked[: MAX_READ * 2 // 3]}\n{masked[-MAX_READ // 3 :]}"
    return without_quoted_matter(masked)


def storable(text: str) -> str:
    """`text` without what no database takes."""
    return clean(text.encode("utf-8", "replace").decode().replace("\x00", " "))


def named(name: str) -> str:
    """A title or area as a prompt may hold it; empty where the guard would have a person look at it first."""
    return "" if guard.inspect(name) else name


def is_keepable(text: str) -> bool:
    """Whether nothing in `text` is meant for a model that reads it later, or hidden from people."""
    return not any(found.kind != "secret" for found in guard.inspect(text))


def _kept(text: str) -> str:
    """The line as it may be kept: the guard looks at it once more as a whole."""
    text = guard.mask(text)
    return text if is_keepable(text) else ""


def _joined(question: str, answer: str, files: str) -> str:
    return (ARROW.join(part for part in (question, answer) if part) + files).strip()


def _files(files: Sequence[str], room: int) -> str:
    """The first files by their last two parts, and how many more there are."""
    names = list(dict.fromkeys("/".join(guard.mask(name).split("/")[-2:]) for name in files))
    for shown in range(min(len(names), MAX_FILES), 0, -1):
        more = f" +{len(names) - shown}" if len(names) > shown else ""
        text = f" [{', '.join(names[:shown])}{more}]"
        if tokens.count(text) <= room and is_keepable(text):
            return text
    return ""


def _side(text: str, room: int, *, is_reply: bool) -> str:
    """The most telling sentences of one side, in their order, within `room` tokens."""
    chosen: list[_Scored] = []
    spent = 0
    for one in sorted(_scored(text, is_reply=is_reply), key=lambda one: (-one.weight, one.place)):
        if chosen and (one.weight < chosen[0].weight * _NEARLY or one.words <= chosen[0].words):
            continue
        if not is_keepable(one.text):
            continue
        cut = _fitted(one.text, room - spent)
        if cut:
            chosen.append(_Scored(one.place, one.weight, one.words, cut))
            spent += tokens.count(cut) + 1
        if len(chosen) == _SIDE or room - spent < _ENOUGH:
            break
    told = " ".join(one.text for one in sorted(chosen, key=lambda one: one.place))
    return re.sub(r"(?<=[。！？]) ", "", told).rstrip(".。")


def _scored(text: str, *, is_reply: bool) -> Iterator[_Scored]:
    place = 0
    for sentence in split(readable(text)):
        spoken = _spoken(sentence)
        words = frozenset(terms(spoken))
        if not words or (is_reply and _CHATTER.match(spoken)):
            continue
        weight = min(len(words), _FULL) / _FULL
        weight += _BY_PLACE[place] if place < len(_BY_PLACE) else 0.0
        weight += _SETTLED if _SETTLES.search(spoken) else 0.0
        weight += _REPORTED if is_reply and _DONE.search(spoken) else 0.0
        weight += _EXACTLY if _EXACT.search(sentence.text) else 0.0
        yield _Scored(place, weight, words, spoken)
        place += 1


def _spoken(sentence: Sentence) -> str:
    """The sentence on one line, without emphasis and without the courtesies it opens with."""
    text = " ".join(_EMPHASIS.sub(r"\2", sentence.text.replace("`", "")).split())
    for _ in range(3):
        shorter = _OPENING.sub("", text, count=1)
        if shorter == text or not terms(shorter):
            break
        text = shorter
    return text + (sentence.stop[:1] if sentence.stop[:1] in _STOPS else "")


def _fitted(text: str, room: int) -> str:
    """`text` within `room` tokens: whole, else cut behind a clause, else anywhere; empty if that says nothing."""
    if room < 4:
        return ""
    if tokens.count(text) <= room:
        return text
    # A token is at least a character, and rarely more than a word.
    text = text[: room * 8]
    cuts = [match.start() for match in _CLAUSE.finditer(text)]
    for cut in reversed(cuts):
        if cut >= len(text) // 4 and tokens.count(text[:cut] + CUT) <= room:
            return text[:cut] + CUT
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        if tokens.count(text[:middle] + CUT) <= room:
            low = middle
        else:
            high = middle - 1
    return text[:low].rstrip() + CUT if low >= 4 else ""
