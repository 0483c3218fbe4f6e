"""Sentences: where they end, and what kind they are (a question, a task, a courtesy, a mention of the words).

Everything reads the open view of a surface between two places.
"""

import re
from collections.abc import Iterator
from typing import Final

from memories.explicit.surface import CJK

STOP: Final = re.compile(
    rf"(?:[。！？…]+|[!?]+(?![\w=&/<>(\-+:;,.])|(?<!\d)\.+(?=[{CJK}])|\.+(?=[\s*_”\"')\]]"
    rf"|$))[\"'”’」』)\]*_]{{0,3}}"
    rf"|(?P<semi>;)|(?P<comma>，|,(?=[\s{CJK}*])| [-–—](?= )|——|—)|(?P<paren>\()",
    re.MULTILINE,
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|etc|vs|mr|mrs|dr|no|fig|approx|cf|incl|resp|a\.k\.a|p\.s)\.$"
)

_VERB = (
    "做|写|建|创建|新建|新增|添加|加上?|实现|开发|修改|修复|修|改|删除?|生成|设计|优化|重构|完成|继续|开始"
    "|检查|看看|看一下|解释|查|部署|运行|跑|"
    "测试?|搭建?|画|调整|处理|翻译|总结|列出|分析|搞|弄|把|将|来|去|进行|给我|输出|展示|整理|提交|更新|升级"
    "|接入|封装|补充?|配置?"
)
_VERB_EN = (
    "build|create|make|write|implement|add|fix|refactor|generate|update|change|remove|delete|design|finish"
    "|continue|start|begin|show|explain"
    "|deploy|run|test|check|review|set up|draw|move|rename|help|give|list|translate|summari[sz]e|improve"
    "|convert|install|migrate|tell|do|go"
    "|proceed|let's|let us|we can|i want|i need|please"
)
# Whatever it says further, it asks for work now.
_TASK: Final = re.compile(
    rf" {{0,4}}(?:(?:现在|然后|接下来|接着|下面|之后|最后|另外|好了?|那么?|所以|先|再)[，, ]{{0,2}})?(?:请"
    rf"|麻烦)?(?:你|您)?"
    rf"(?:帮(?:我|忙|我们)|给我|替我|为我(?:{_VERB})|(?:做|写|建|加|搞|弄|画|出|改|创建|新建|新增|添加|实现"
    rf"|开发|生成|设计)(?:一下|一?[个套张份版段条]|下(?![划拉标面载级方架]))|"
    rf"能不能|能否|可不可以|可以(?:帮|先)|我(?:想|要|需要|希望)(?:你|做|写|建|一个)|需要你)"
    r"| {0,4}(?:好|可以|没问题|行|ok)的?话"
    r"| {0,4}你(?:先|去|来|再(?!也)|可以|看看|帮)"
    rf"| {{0,4}}(?:现在|接下来|接着|下面|然后)[，, ]{{0,2}}(?:请|我们|咱们|你)?(?:先|再|来|开始|就"
    rf"|去)?(?:{_VERB})"
    r"| {0,4}(?:请|麻烦|烦请)(?!求|不要|勿|务必|始终|统一|一律|必须|别|永远|注意|遵守|遵循|严格|使用|用"
    r"|保持|避免|不)"
    r"| {0,4}(?:(?:and|so|ok|okay|then|alright)[, ]{1,2})?(?:now|next|then)(?![\w'-]|\.\w)(?! (?:that|on"
    r"|we use|it is|it's))"
    r"| {0,4}(?:(?:and|so|ok|okay|then|alright|also)[, ]{1,2})?(?:(?:can|could|would|will) you|let's|let us"
    r"|go ahead|i(?:'d like| want| need)(?: you)? to"
    r"|help me|give me|show me|please(?! (?:do not|don't|never|always|only|no|avoid|use|keep|ensure"
    r"|make sure)))(?![\w'-])"
)
# It looks like work, unless it is worded as a rule.
_MAYBE_TASK: Final = re.compile(
    r" {0,4}(?:做|写|建|创建|新建|实现|开发|修复|修改|生成|优化|重构|完成|继续|开始|检查|看看|看一下|解释"
    r"|部署|运行|搭建|画|翻译|总结|列出|分析)"
    r"| {0,4}(?:先|再|把|将)[^，,]{0,30}(?:做|写|改|删|加|修|建|跑|完成|实现|换成|调)"
    r"|(?: {0,4}(?:另外|对了|还有|顺便|然后)[，, ])?[^，,。]{0,16}?(?:加|做|写|建|画|搞|弄|来)(?:一下"
    r"|一?[个套张份版])"
    r"| {0,4}下一?(?:篇|个|步|章|页|集|节|版|期|张|段|题|幅|首)[^，,。]{0,8}?"
    r"(?:写|做|画|改|讲|翻译|弄|出|设计|生成|录|拍)"
    rf"| {{0,4}}(?:{_VERB_EN})(?![\w'-])"
)
_RULE: Final = re.compile(
    "必须|禁止|严禁|统一|一律|不要|不能|不得|不可|不准|不许|只能|只用|都要|都用|应该|应当|始终|永远|每次"
    "|之前|前[要先须]|后[要再须]|时[，,要]?"
    r"|\b(?:always|never|must|mustn't|only|don't|do not|every|each|whenever|before|after|should|shall|when"
    r"|unless)\b"
)
_COURTESY: Final = re.compile(
    r" {0,4}(?:谢谢|多谢|感谢|谢了|辛苦|拜托|麻烦(?:你|您)?了|好吗|好不好|可以吗|行吗|明白吗|明白了吗"
    r"|懂了?吗|知道了?吗|记住了吗|ok\b|okay\b|thanks|"
    r"thank you|thx|cheers|got it|understood|alright|please$|以上[。.!！ ]*$|就这些|完毕|that's (?:all"
    r"|it)\b|is that clear|clear\?)"
)
_COURTESY_TAIL: Final = re.compile(
    r"(?:[，,。.;!！~ ]{1,3}(?:好吗|好不好|好么|好嘛|可以吗|可以不|行吗|行不行|行不|好吧|谢谢(?:你|您"
    r"|大家)?[啦了]?|多谢[啦了]?|感谢|辛苦[了啦]{0,2}|拜托[了啦]?"
    r"|谢了|明白了?吗|懂了?吗|知道了?吗|记住了?吗|听到了吗|清楚了?吗|ok吗|okay|ok|thanks(?: a lot| so much"
    r"| in advance)?|thank you(?: so much)?|thx"
    r"|please|got it|will you|alright|all right|understood|cheers)|好吗|好不好)[ ?？!！.。~]{0,4}$"
)
_ASKED: Final = re.compile(
    r"[?？]$|[吗呢]$|什么意思$|(?:是|叫|用|指)(?:什么|哪个|哪些|谁)[？?]?$|^(?:这个|那个|这"
    r"|那)?.{0,12}(?:怎么|如何"
    r"|怎样)(?:实现|做|写|弄|办|处理|回事|用|改|配)的?$"
    r"|对(?:吧|不对)$|来着$"
)
# The words are spoken of, not said: 记住：不要删库 这句话写到关于页.
_MENTIONED: Final = re.compile(
    "(?:这句话|这几个字|这行字|这句文案|这段文案|这条提示|这个前缀|这个文案) ?(?:写|放|改|是|怎|加|删|翻|去"
    "|显|展|什|谁|有|要|能|可|应)"
)
_VAGUE: Final = re.compile(
    r"(?:这|那)(?:一)?(?:点|个|条|些|件事|句话)?|以上(?:内容|几点)?|上面(?:的|说的)?(?:内容|几点)?|这(?:条"
    r"|个)规则|我说的(?:话)?|[同如]上(?:所[述说])?|上述(?:内容|规则|要求|几点)?|this|that|it|these|those|me|them"
    r"|the above|what i said|(?:this|that) (?:rule|one)"
)
_WORK = "(?:一下|一?[个套张份版]|开始|帮|实现|生成|创建|修复|重构|部署)"
_THEN_TASK: Final = re.compile(
    rf"[，,; ] {{0,2}}(?:(?:然后|接着|接下来|现在|所以|再)(?:请|你|我们)?(?:先|再|就|来)?(?:帮我|给我|(?:做"
    rf"|写"
    rf"|建|加|改)?{_WORK})"
    r"|(?:现在|接下来)(?:请|你|我们)?(?:先|来|去)?[做写建]|(?:请|麻烦)?(?:你|您)?帮(?:我|忙)(?!记))"
    rf"|[,;] (?:(?:and|so) )?(?:now|then)(?: please| let's| go ahead and)? (?:{_VERB_EN})(?![\w'-])"
)

_STEP: Final = re.compile(r"(?:then|next)(?![\w'-])|(?:然后|接着|最后)(?!.{0,3}帮)")


def ends_sentence(view: str, stop: re.Match[str]) -> bool:
    """False for commas and brackets, and for the full stop of an abbreviation."""
    if stop.lastgroup is not None:
        return False
    if view[stop.start()] != ".":
        return True
    return _ABBREVIATION.search(view[max(0, stop.start() - 8) : stop.start() + 1]) is None


def split(view: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    """The sentences between two places of one line, with the marks that end them."""
    for stop in STOP.finditer(view, start, end):
        if stop["semi"] is None and ends_sentence(view, stop):
            yield start, stop.end()
            start = stop.end()
    if view[start:end].strip():
        yield start, end


def is_question(view: str, start: int, end: int) -> bool:
    sentence = view[start:end].strip(" 。.!！~*_\"'”’」』)]")
    return _ASKED.search(sentence[-60:]) is not None


def is_task(view: str, start: int, end: int) -> bool:
    """An item of a list that asks for work; one that merely begins with "then" is a step."""
    return _STEP.match(view, start, end) is None and _TASK.match(view, start, end) is not None


def breaks_off(view: str, start: int, end: int) -> bool:
    """It does not go on with the statement before it: it thanks, asks, or wants something done."""
    if _TASK.match(view, start, end) or _COURTESY.match(view, start, end) or is_question(view, start, end):
        return True
    return bool(_MAYBE_TASK.match(view, start, end)) and not _RULE.search(view, start, end)


def without_courtesy(view: str, start: int, end: int) -> int:
    """Where the sentence ends without its 好吗？ or its thanks."""
    window = max(start, end - 60)
    tail = _COURTESY_TAIL.search(view[window:end])
    return window + tail.start() if tail and window + tail.start() > start else end


def before_task(view: str, start: int, end: int) -> int | None:
    """Where a sentence turns to a task after a comma: 主色用蓝色，现在帮我…"""
    then = _THEN_TASK.search(view, start, end)
    return then.start() if then else None


def mentions_words(view: str, start: int, end: int) -> bool:
    return _MENTIONED.search(view, start, end) is not None


def is_vague(words: str) -> bool:
    """It points at what should be remembered without saying it: 这一点, this."""
    return _VAGUE.fullmatch(words) is not None
