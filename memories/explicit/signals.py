"""What a message signals without asking to remember it: directives, corrections, confirmations, dismissals.

Signals are read clause by clause from the writer's own words that no trigger took; a question gives none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memories.explicit import sentences
from memories.explicit.contents import Collector
from memories.explicit.reading import MAX_LENGTH, Signal, Span, Utterance, UtteranceKind
from memories.explicit.surface import Surface

_LEAD: Final = re.compile(
    r"(?:[ *_,，.。!！~、-]|好的?|好吧|嗯|哦|啊|对(?!不)|是的|行(?!为)|没错|算了|抱歉|不好意思|另外|还有"
    r"|此外|同时|哈{2,4}|嘿嘿|呵呵"
    r"|那么?(?![条个])|而且|不过|但是?|所以|请(?:你|您)?|麻烦(?:你|您)?"
    r"|记得|注意|大家"
    r"|(?:ok|okay|yes|yeah|yep|sure|right|also|and|but|so|well|please|great|good|perfect|thanks|sorry|oops"
    r"|hey|oh|btw|lol|lmao|rofl|ha(?:ha)+h?|hehe+"
    r"|by the way|note)(?![\w'-])){0,12}"
)

# --- directives ----------------------------------------------------------------------------------------

_FROM_NOW: Final = (
    "(?:以后|今后|往后|日后|自此|此后|从此(?:以后|之后)?|从现在(?:起|开始|往后)"
    "|从今(?:往后|以后|天(?:起|开始)|后|起)|从下(?:次|个版本)(?:起|开始)?)"
)
_NOT_YET: Final = (
    "再(?:说|看|做|讲|聊|议|考虑|谈|加|改|补|优化|处理)|有空|有时间|可能|也许|会|打算|计划|考虑|见|想|能不能"
    "|的(?:计划|版本|安排|需求)|用户"
)
_ORDER: Final = (
    "都|不要|别(?![的人名])|一律|统一|必须|务必|一定|只(?=[用能许准要走做写在])|禁止|严禁|不用|不再|不许"
    "|不准|不能|默认|改用|换成|改成|请|就用|就按|优先|尽量|避免|用(?![户途])"
    "|记得|注意|要[先用写按]|先|按(?!钮)|使用|采用|遵守|遵循|保持"
)
_DIRECTIVE: Final = re.compile(
    # 以后都用 pnpm · 以后回答简短一点 · 这个项目今后一律…
    rf"(?:(?:这个|本)项目|项目里?|我们|咱们|你们?"
    rf"|您)?{_FROM_NOW}[，, ]{{0,2}}(?!{_NOT_YET})(?:[^，,]{{0,14}}?(?:{_ORDER})"
    r"|(?:你|您|请)?(?:回答|回复|说话|输出|解释|提交|命名|跟我|和我|叫我|遇到|碰到|凡是).{2,})"
    rf"|[^，, 。]{{1,10}}?(?:(?:今后|往后|从现在(?:起|开始)|从今(?:往后"
    rf"|以后))[，, ]?(?!{_NOT_YET})[^，,]{{0,12}}?(?:{_ORDER})|(?<![录存后击交新改完])以后(?:都|统一|一律"
    rf"|只用|别再|不要再))"
    r"|每次[^，,]{1,14}?(?:都要|都得|都先|必须|一定要|务必|都?不要)"
    r"|(?:下次|下回|下一次)[，, ]?(?:你|您|请|再)?(?:不要|别|请|记得|注意|先|都|必须|用(?![户途])|不许|不准"
    r"|一定|直接|写|改(?!版))"
    r"|(?:接下来|之后|后面|后续)(?:的?[^，,]{0,6}?)(?:都(?!有|会)|一律|统一|不要再|别再|禁止)"
    r"|(?:永远|千万|绝对|始终|一律|务必|每次都)都?(?:不要|别|不能|不准|用|要|使用|保持|先|按|遵守)"
    r"|(?:from now on|from here on(?: out)?|from this point on|from today(?: on)?|going forward"
    r"|moving forward|henceforth|in (?:the )?future|for all future"
    r"|for future|starting (?:now|today))(?![\w-])(?!'s)(?![, ]{1,2}(?:we|i|it|this|that|there|they"
    r"|users?)(?: [a-z]+)? (?:might|may|could|would|plan|want|hope))[^\n]{4}"
    r"|next time(?![, ]{1,2}(?:we meet|i |the user|users?|a user|someone|it|they))[, ]{1,2}[^\n]{4}"
    r"|(?:don't|do not) ever [a-z]{2}|(?:you|we) (?:should|must) (?:always|never) [a-z]{2}"
    r"|(?:always|never)(?: ever)? (?!(?:mind|remember|ever|again|been|had|was|were|on|the|a|an|good|nice"
    r"|great|happy"
    r"|glad"
    r"|wanted|wondered|thought)\b)[a-z]{2,}"
    r"|(?:whenever|every time|each time) you [^\n,]{3,80}, (?!(?:it|you|the|this|that|they|we|i"
    r"|there)\b)[a-z]{2}"
)
_TRAILING_DIRECTIVE: Final = re.compile(
    r"(?:use|don't|do not|no more|stop|keep|write|put|name|reply|answer|call|avoid|we"
    r"|you)(?![\w'-])[^\n]{3,200}"
    r"\b(?:from now on|going forward|from here on|moving forward|in (?:the )?future)[ .!]{0,4}$"
)
_TEMPORARY: Final = re.compile(
    rf"(?:(?:仅|只|就|但)?(?:这次|这一次|本次|此次|这回|本轮)(?:任务|需求|改动|页面|的?(?:回答|代码))?"
    rf"|(?:只在|仅在|就)?(?:这个|本)任务(?:里|中|内)?|先?(?:暂时|临时|暂且)|[目现今](?:前|在|天)先(?=不|别"
    rf"|用|跳过))"
    rf"(?!.{{0,4}}(?:用了|用的|用过|报错|为什么|没))[^，,]{{0,10}}?(?:{_ORDER}|跳过|忽略|不|关掉|去掉)"
    r"|(?:for now|for the moment|for the time being|just (?:this once|for (?:once|now|today))|(?:just "
    r"|only )?this (?:one )?time(?: only)?|only this once|this once"
    r"|(?:just |only )?for this (?:task|turn|session|page|one|request|pr|change|file|time)(?: only)?"
    r"|temporarily)"
    r"(?![\w'-])[, ]{1,2}(?!(?:i|the error|it (?:broke|failed|worked)|it's|there|there's|that's)\b)[a-z]{2}"
)
_TRAILING_TEMPORARY: Final = re.compile(
    r"(?:use|don't|do not|skip|ignore|keep|leave|avoid|make|disable|no)(?![\w'-])[^\n]{2,200}"
    r"\b(?:for now|just this (?:once|time)|for this (?:task|one|page|turn)(?: only)?|this time(?: only)?"
    r"|only this once|temporarily)[ .!]{0,4}$"
    r"|(?:先|只|用(?!户)|不要|不用|别)[^\n]{1,60}(?:仅此一次|只限这次|就这一次|下不为例)[ 。.!！]{0,4}$"
)

# --- corrections ---------------------------------------------------------------------------------------

_REJECTS: Final = (
    "(?:(?:(?:不对){1,3}|错了?|你错了|您错了|不不+|(?:你|您)?又?(?:搞|弄|写|理解|记|看|说)错了|(?:这|这里"
    "|这个|那个|上面)(?:不对"
    "|错了|有误|写错了))[，,。.!！;—: \n]{1,3}"
    "|(?:不是(?:这样|这个意思|我要的)?的?|我不是这个意思|搞混了|理解有误|不|非也)[，,。.!！;—\n]{1,3}"
    r"|no (?=it should|it's|use |we use|i said|i meant|not )"
    r"|(?:no|nope|nah|wrong|incorrect|not quite|(?:that's|that is|this is|you're|you are|it's) (?:wrong"
    r"|incorrect|mistaken|not right|not correct"
    r"|not what i (?:said|meant|asked for|asked))|you got (?:it|that) wrong)(?:[,.!;:—–\n]| -| [—–]){1,2} ?)"
)
_REJECTION: Final = re.compile(_REJECTS)
_RIGHTS: Final = (
    "应该|应当|应为|该用|改为|改成|改用|要用|得用|说过|说的是|指的是|(?<![还但可就只要总算老不])是(?!不是"
    "|否|因为|吗)|(?<=[，,。 ])(?:用(?!户)|叫|走)"
    r"|\b(?:should|they're|use|uses|i (?:said|meant|told)|i mean|instead|must)\b"
    r"|\b(?:it's|it is|that's|is|are)\b(?! (?:all )?(?:good|fine|great|ok|okay|perfect|still|nice|the goods"
    r"|broken|failing|missing"
    r"|empty|slow|wrong|not working|crashing|down)\b)"
)
_CORRECTION: Final = re.compile(
    rf"{_REJECTS}(?!问题|problem|worries|thanks|thank you|need|idea|there|still|it (?:still|doesn't)"
    rf"|it's (?:still|not working|broken|fine|ok))"
    rf"[^\n]{{0,60}}?(?:{_RIGHTS})"
    r"|[^，,。\n]{0,20}?(?<![要还就但可能也算是并])不是.{1,60}?(?:而是|[，,] ?(?:而)?(?:应该)?是|[，,] ?应为"
    r"|[，,] ?要?用(?!户))"
    r"|[^，,。\n]{0,20}?应该(?:是|用|叫|走|为).{1,60}?(?:才对|才是|[，, ]而?不(?:是|用)|而不是)"
    r"|[^，,。\n]{0,20}?(?<![不就])(?:是(?!不|否)|用(?!户))[^，,。\n]{1,30}?[，, ]不是(?!很|吗)[^\n]"
    r"|我(?:刚才|刚刚|之前|前面|上次|早就|已经|明明|都|的)?(?:说的是|指的是|意思是|是说|说过(?![吗没了])"
    r"|说过了[，,]"
    r"|说了[，,]|强调过[，,]?|讲过[，,]|要的是)[^\n]{2}"
    r"|(?:上次|之前|刚才|前面|早就|已经)说过了?[，,][^\n]{2}"
    r"|(?:更正|纠正|订正|勘误|修正|说错了|写错了|打错了|口误)(?:一下)?[，,:。 ][^\n]{2}"
    r"|(?:correction|erratum) ?[:,—–-] ?[^\n]{2}"
    r"|actually[, ]{1,2}(?:no[, ]{1,2})?(?:(?:it's|it is|it should|that's|they're|they are|we use|we're on"
    r"|use|i (?:said|meant)|not)(?![\w-])(?! (?:fine|ok|okay|good|great|working))"
    r"|(?:the|our) [^\n]{1,80}?(?:\bshould\b|, not | (?:is|are) (?!failing|broken|not|still|too|a bit"
    r"|missing|wrong|slow|empty|down|fine|good)))"
    r"|as i (?:said|mentioned|told you)[, ]{1,2}[^\n]{2}"
    r"|i (?:(?:already )?(?:said|told you)|meant|asked for)(?![\w-])(?: that| to)?[,: ]{1,2}(?!i "
    r"|it )[^\n]{2}"
    r"|should be [^\n]{1,80}?,? (?:not|instead of|rather than) |you misunderstood[,.:;—]? [^\n]{4}"
    r"|(?:it|that|this|they|the [^\n,]{1,40}) should(?: be|'ve been| have been) [^\n]{1,80}?,? (?:not"
    r"|instead of|rather than) "
    r"|(?:(?:it's|it is|that's|they're|we're using|we use) )?not (?!only|just|sure|urgent|now|yet|really|bad"
    r"|great|working|a problem)[^\n,;]{1,60}(?: but (?!it|i|we|also|still|please)|[,;—–] ?(?:it's|it is"
    r"|they're|use|we use|that's) )"
    r"|(?:it's|it is|that's|they're) [^\n,;]{1,60}, not (?!sure|yet|that|working)[^\n]"
)

# --- confirmations and dismissals: the whole of a clause and the end of its sentence ---------------------

_RULE: Final = "(?:规则|规范|约定|规定|标准|原则)"
_CONFIRM: Final = re.compile(
    rf"(?:以后)?(?:就是|正是|这就是|那就是|就按|就用|按照?|就照|就以|确认|认可|同意|采用|保留"
    rf"|沿用)(?:我们的?|我说的|你说的|咱们的)?(?:这|那|上面|刚才)?(?:一?[条个样])?的?{_RULE}"
    r"(?:来|做|办|执行|走|为准|没错|定){0,2}"
    rf"|[这那](?:一?[条个]){_RULE}(?:没错|没问题|是对的|对的|正确|可以|成立|确认|定了|就这么定)"
    rf"|{_RULE}就是?(?:这样|这么定|这个|这条)|就(?:这么|这样)(?:定|规定|约定)(?:了|吧|好了)"
    r"|(?:exactly|correct|indeed)?[, ]{0,2}(?:that's|that is|this is) (?:exactly |indeed )?(?:the|our"
    r"|my) (?:right |correct )?(?:rule|convention|standard|policy)"
    r"(?: now| then| indeed| to follow)?"
    r"|(?:exactly |correct,? )?(?:that|this) (?:exact )?(?:rule|convention)(?: is (?:right|correct"
    r"|confirmed)| stands| holds)?"
    r"|(?:make|keep|confirm|adopt) (?:that|this|it)(?: as)? ?(?:a|the|our)? ?(?:standing "
    r"|permanent )?(?:rule|convention)"
    r"|confirmed[,:]? (?:that's )?(?:the|that|this) rule"
)
_JUST_NOW: Final = (
    "(?:我?(?:刚才|刚刚|方才|之前|前面|上面|上述|最后"
    "|最近)我?(?:[说定提给讲加]过?)?的?[那这]?(?:一?[条个句])?的?"
    "|上一?[条个]的?)"
)
_THAT: Final = "[那这](?:一?[条个])"
_WHAT: Final = "(?:规则|约定|指令|规定|要求|纠正|更正)"
_VOID: Final = "(?:取消|撤销|撤回|撤掉|作废|废除|废弃|废掉|收回|忘掉|忘了)"
_DISMISS: Final = re.compile(
    rf"(?:{_VOID}|去掉|删掉|忽略|不要|不用管|别管|不用遵守)掉?{_JUST_NOW}{_WHAT}|(?:{_VOID}|不用管|别管"
    rf"|不用遵守){_THAT}{_WHAT}"
    rf"|把?(?:{_JUST_NOW}|{_THAT}){_WHAT}(?:就|先|给|可以|我){{0,2}}(?:{_VOID}|去掉|不算数?|不要|不用"
    rf"|不作数|失效)(?:掉|管)?"
    r"|我?(?:刚才|刚刚)我?(?:说的(?:话)?|那条)都?(?:不算数?|作废|取消|当我没说)"
    r"|(?:never ?mind|scrap|scratch|cancel|undo|drop|ignore|forget|discard|revoke|disregard|retract|withdraw"
    r"|dismiss|take back)(?: about)?"
    r" (?:(?:that|this)(?: last| previous)?|(?:the|my) (?:last|previous|latest)|what i said about (?:the"
    r"|that)) ?(?:rule|instruction|correction|convention|directive)"
    r"(?: i (?:just )?(?:gave|said|made|set)(?: you)?)?"
    r"|(?:that|this|the last|the previous) (?:rule|instruction|convention) (?:no longer applies|is (?:off"
    r"|cancelled|canceled|void|not needed)(?: now)?|doesn't apply any ?more)"
)
# No signal is without one of these: most sentences need no closer look.
_CUE: Final = re.compile(
    "[后次错别从不应说正]|一律|务必|千万|绝对|始终|永远|任务|时|临|先|只|规|约定|标准|原则|就这|意思|强调"
    "|讲过|要的是|接下来|口误|勘误|订正|取消|撤|废|收回|忘|去掉|删掉|忽略|指令"
    "|now|going|moving|here|point|today|hence|future|next|always|ever|each|moment|being|time|once"
    "|for |temp|no|nah|wrong|incorrect"
    "|that|this|should|actually|correct|errat|said|told|meant|asked|rule|convention|instruct|directive|it's"
    "|it is|they|you"
)
_ENDING: Final = re.compile(
    r"[ 。.!！~*_吧了啊哈的呀]{0,8}(?:[，, ]{0,2}(?:谢谢|辛苦了?|thanks|thank you|please|then)"
    r"|[，, ]{1,2}(?:请|你)?(?:继续|接着|开始|go on|continue|proceed|carry on)[^，,]{0,30}"
    r"|[，,][^，,]{0,12}[说讲]过的?)?[ 。.!！~了吧]{0,4}\Z"
)
_PAUSE: Final = re.compile("[，,;—] ?")


@dataclass(frozen=True, slots=True)
class Signals:
    signals: frozenset[Signal]
    utterances: tuple[Utterance, ...]


def read_signals(surface: Surface, collector: Collector, taken: list[Span]) -> Signals:
    """The signals of what lies outside `taken`, the spans of the triggers, which are in order."""
    view = surface.open
    found: set[Signal] = set()
    utterances: list[Utterance] = []
    reached = 0
    rejected: int | None = None
    limits = [*(start for start, _ in taken), len(view)]
    for start, end in _sentences(surface, taken):
        if start < reached or end - start > MAX_LENGTH:
            continue
        if rejected is None and _CUE.search(view, start, end) is None:
            continue
        if rejected is None and (rejection := _REJECTION.fullmatch(view, _body(view, start, end), end)):
            # 不对。应该是… : what is right may be the next sentence.
            rejected = rejection.start()
            continue
        begun, rejected = (start if rejected is None else rejected), None
        if sentences.is_question(view, start, end):
            continue
        starts = _clauses(view, start, end)
        if any(_ends(_CONFIRM, view, place, end) for place in starts):
            found.add("confirm")
        elif any(_ends(_DISMISS, view, place, end) for place in starts):
            found.add("dismiss")
            continue
        utterance = _utterance(surface, collector, begun, starts, end)
        if utterance is None:
            continue
        found.add("correction" if utterance.kind == "correction" else "directive")
        if utterance.kind == "correction" and any(_DIRECTIVE.match(view, place, end) for place in starts):
            found.add("directive")
        while limits[0] < end:
            limits.pop(0)
        listed = collector.listed_after(start, end, limits[0])
        utterances += [_spoken(surface, utterance.kind, *span) for span in listed] or [utterance]
        reached = listed[-1][1] if listed else end
    return Signals(frozenset(found), tuple(utterances))


def _sentences(surface: Surface, taken: list[Span]) -> Iterator[Span]:
    """The sentences of the writer's own lines, without the spans that triggers took."""
    at = 0
    for line in surface.lines:
        if line.kind:
            continue
        start = line.start
        while at < len(taken) and taken[at][1] <= start:
            at += 1
        here = at
        while here < len(taken) and taken[here][0] < line.end:
            yield from sentences.split(surface.open, start, taken[here][0])
            start = max(start, taken[here][1])
            here += 1
        yield from sentences.split(surface.open, start, line.end)


def _body(view: str, start: int, end: int) -> int:
    lead = _LEAD.match(view, start, end)
    return lead.end() if lead else start


def _clauses(view: str, start: int, end: int) -> list[int]:
    """Where the clauses of a sentence begin, after their connectives; at most sixteen."""
    starts = [start]
    for pause in _PAUSE.finditer(view, start, end):
        starts.append(pause.end())
        if len(starts) == 16:
            break
    return list(dict.fromkeys(place for begun in starts for place in (begun, _body(view, begun, end))))


def _ends(pattern: re.Pattern[str], view: str, place: int, end: int) -> bool:
    match = pattern.match(view, place, end)
    return match is not None and _ENDING.match(view[match.end() : end][:80]) is not None


def _utterance(
    surface: Surface, collector: Collector, begun: int, starts: list[int], end: int
) -> Utterance | None:
    view = surface.open
    first = begun if begun < starts[0] else _body(view, begun, end)
    if any(_CORRECTION.match(view, place, end) for place in dict.fromkeys((begun, first))):
        return _spoken(surface, "correction", *collector.trim(first, end))
    for place in starts:
        if _TEMPORARY.match(view, place, end) or _TRAILING_TEMPORARY.match(view, place, end):
            return _spoken(surface, "temporary", *collector.trim(place, end))
        if _DIRECTIVE.match(view, place, end) or _TRAILING_DIRECTIVE.match(view, place, end):
            return _spoken(surface, "directive", *collector.trim(place, end))
    return None


def _spoken(surface: Surface, kind: UtteranceKind, start: int, end: int) -> Utterance:
    return Utterance(kind, " ".join(surface.text[start:end].split()), start, end)
