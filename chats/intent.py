"""Pure: what kind of message this is, by rules that are named in the answer.

The intent adds to a context or narrows its recall; it never takes the topic's window away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from memories.text import terms


class Kind(StrEnum):
    CONTINUE = "continue"
    LOOKUP = "lookup"
    NEW_TASK = "new_task"


@dataclass(frozen=True, slots=True)
class Intent:
    """`contentless`: nothing in the message to recall on. `greeting`: only the always tier belongs with it."""

    value: Kind
    rule: str
    contentless: bool = False
    greeting: bool = False


_EDGES = " \t\n。．.!！?？~～,，、…:：;；)）(（\"'“”‘’👍🙏😊🎉"
# What is longer says more than yes, and more than "the other one".
_MAX_ACK, _MAX_LEANING, _MAX_WORDS = 60, 28, 9
_MAX_READ = 1000


def _phrases(text: str) -> str:
    """Phrases, parted by bars and line ends, as alternatives, the longest first."""
    found = {phrase for line in text.splitlines() for phrase in line.strip().split("|") if phrase}
    return "|".join(sorted((re.escape(phrase) for phrase in found), key=lambda one: (-len(one), one)))


_GREETINGS = _phrases(
    """
    hi|hello|hey|hey there|hi there|hello there|good morning|good afternoon|good evening|morning|thanks|thank you
    thanks a lot|thank you very much|thank you so much|many thanks|thx|ty|cheers|bye|goodbye|great|nice|cool|perfect
    awesome|well done|good job|excellent|lovely|brilliant
    你好|您好|嗨|哈喽|早|早上好|上午好|中午好|下午好|晚上好|大家好|在吗|谢谢|谢谢你|谢谢啦|多谢|感谢|辛苦了|辛苦|辛苦啦
    再见|拜拜|太好了|很好|不错|棒|太棒了|赞|厉害|你好啊|您好啊|真棒|完美
    """
)
_CONTINUATIONS = _phrases(
    """
    continue|go on|go ahead|proceed|keep going|carry on|next|next step|next one|yes|yep|yup|yeah|ok|okay|ok go|sure
    do it|do so|please|please do|please continue|please go on|and then|more|right|fine|sounds good|sounds great
    looks good|lgtm|no|nope|not yet|that works|works for me|got it|agreed|exactly|correct|keep it up|keep at it|start
    let's go|all right|alright|of course|absolutely|good|makes sense|i see|understood|done|ready
    继续|吧|请继续|接着|接着来|接着做|接着写|往下|下一步|下一个|下一条|然后呢|然后|好|好的|好吧|好啊|行|行吧|可以|可以的|嗯|是|是的|对|对的
    没错|同意|开始|开始做|就这样|就这么办|继续做|继续写|再来|再来一个|没问题|不是|不|不用|不行|不对|哦|收到|明白|明白了|知道了|了解|ok
    请|来|做吧|写吧|呢|啊|哈|可
    """
)
_BETWEEN = r"[\s,，。.!！?？~～、…;；👍🙏😊🎉]*"
# Never tried another way once a phrase has matched: 行吧行吧… could be read in a million ways.
_GREETS = re.compile(rf"(?>(?>(?:{_GREETINGS})(?![a-z])){_BETWEEN})++")
_AGREES = re.compile(rf"(?>(?>(?:{_GREETINGS}|{_CONTINUATIONS})(?![a-z])){_BETWEEN})++")

# --- Asking for the past: a word for it does not suffice ("run it before you commit", 用户上次登录时间); somebody asks,
# and for what was said or settled between us.
_WH = r"\b(?:what|which|who|whom|whose|where|when|why|how)(?:['’](?:s|re|d))?\b"
_PAST = (
    r"(?:(?:all|both|once|already|finally|ever|never|just|\w+ly) )?(?:\w{3,}ed|used|said|set|chose|picked"
    r"|spoke|put|did|went|had"
    r"|wrote|gave|told|kept|made|were|came|took|got|found|saw|knew|left|built|thought|meant|ran|cut|let"
    r"|held|drew|began)"
)
_AGO = (
    r"(?:the other day|(?:some|a few|two|three|several|\d+) (?:days|weeks|months) ago|yesterday"
    r"|last (?:week|month|time)"
    r"|earlier|before|previously|back then|already)"
)
# (words of which one must occur before the pattern is tried, pattern)
_LOOKUP_EN = (
    (
        (" we ", " we'", " we’", " i ", "did you"),
        rf"{_WH}[^.!?\n]{{0,60}}\b(?:did|had|have|were) (?:we|i|you (?:say|mention|suggest|recommend"
        rf"|propose|list|tell))\b"
        rf"|{_WH}[^.!?\n]{{0,60}}\bwe {_PAST}\b[^.!\n]{{0,80}}(?:\?|$)"
        rf"|\bwe {_PAST}\b[^.!?\n]{{0,80}}(?:{_WH}[^.!\n]{{0,60}}(?:\?|$)|\?)"
        rf"|{_WH}[^.!?\n]{{0,60}}, we {_PAST}\b|\b(?:didn|hadn|weren)['’]t we\b",
    ),
    (
        (
            " ago",
            "yesterday",
            "last ",
            "earlier",
            "before",
            "previously",
            "back then",
            "already",
            "other day",
        ),
        rf"\b(?:we|you) {_PAST}\b[^.!?\n]{{0,60}}\b{_AGO}\b|\b{_AGO}\b[^.!?\n]{{0,60}}\b(?:we|you) {_PAST}\b"
        r"|\b(?:like|as|same as|than) (?:we did |we had )?last time\b",
    ),
    (
        ("again", "back ", "in the end", "originally", "at the time", "last time"),
        rf"{_WH}[^.!?\n]{{0,80}}\b(?:last time|again|back (?:then|in \w+)|in the end|originally"
        rf"|at the time)\s*\?",
    ),
    (
        ("was ", "were ", "what happened", "wasn", "weren"),
        rf"{_WH} (?:was|were) (?:the|our|your|that|those) (?:\w+ ){{0,2}}"
        r"(?:conclusion|decision|outcome|reason|agreement|verdict|result|cause|deal)\b"
        r"|\bwhat (?:was|were) (?:it|they|that|those)\b|\bwhat happened (?:to|with)\b|\bwas there (?:a"
        r"|any) reason\b",
    ),
    (
        ("remind", "memory", "again", "once more", "remember", "recall", "forg"),
        r"\b(?:remind me|refresh my memory|tell me again|do you (?:still )?(?:remember|recall)"
        r"|can you (?:remember|recall))\b"
        r"|\b(?:say|repeat|tell me)(?: it| that)? (?:again|once more) (?:what|which|who|where|when|why|how)\b"
        r"|\bi (?:forgot|forget|have forgotten) (?:what|which|who|where|when|why|how|the|our|if|whether)\b"
        r"|\bi (?:can['’]?t|cannot|can not|don['’]?t|do not) (?:recall|remember)\b",
    ),
    (
        (" any ", "\nany "),
        r"\bany (?:decision|conclusion|agreement|consensus|verdict|outcome) (?:on|about|for|regarding)\b",
    ),
    (
        (" we ", "earlier", "previous", "last ", "old "),
        r"\b(?:look up|pull up|dig (?:up|out)|find|search|check|show|give|list"
        r"|bring up)(?: me)?(?: for)? [^.!?\n]{0,50}"
        rf"(?:\bwe {_PAST}\b|\b(?:earlier|previous|last|old) (?:conversation|chat|discussion|topic|talk"
        rf"|decision)\b)",
    ),
    (
        ("chat", "conversation", "session", "discussion", "talk"),
        r"\b(?:in|back to) (?:our|the|a|my) (?:\w+ )?(?:chat|conversation|session|discussion|talk)\b",
    ),
    (
        (" as ", "like we did"),
        r"\bas (?:we )?(?:already )?(?:said|agreed|discussed|decided|settled)\b|\blike we did\b",
    ),
    (
        (
            " did ",
            " have ",
            " had ",
            " were ",
            " was ",
            " got ",
            " won ",
            " who ",
            "wasn",
            "weren",
            "didn",
            "haven",
            "hadn",
        ),
        r"^ (?:who|which(?: \w+)?|what(?: \w+)?|how (?:many|much|long|often)|when|where)\b[^.!?\n]{0,60}"
        r"\b(?:did (?:the|our|he|she|they|it)|got|won)\b[^.!\n]{0,60}\?"
        r"|^ who (?:\w{3,}ed|said|wrote|chose|made|built|drew|came up)\b[^.!?\n]{0,10}\b(?:the|our|that"
        r"|this|it)\b"
        r"|^ (?:(?:did|have|had|were|was) (?:we|you|anyone|anybody|someone|somebody)\b|(?:wasn|weren|didn"
        r"|haven|hadn)['’]t\b)"
        r"[^.!\n]{0,80}\?",
    ),
)
_ASKED_ZH = r"(?:[?？吗呢么啥谁哪几]|什么|多少|多久|怎么|怎样|为何|如何|来着|是否|有没有|再.{0,4}[遍次下])"
_THEN_ZH = (
    r"(?:(?<![款交布线录署送并存载染动行闭始])之前|上一?[次回版](?!登录|编辑|访问|更新|修改时间)"
    r"|以前(?![端台缀后景])|前几天|前两天|前阵子|前些天"
    r"|昨天(?!被|的数据)|上周|最早|最后用|上个?月|当初|当时(?!间)|早先|曾经|最初|早前|那次|去年|后来)"
)
_WE_ZH = r"(?:我们|咱们|咱|大家|团队|你)"
_LOOKUP_ZH = (
    r"来着|还记得|记不记得|你记得|我记得(?:我们|咱|你|之前|上次)|有(?:没有)?定论|记不清|想不起|(?:我|都|又"
    r"|给)忘(?:了|记了)(?!密码)",
    rf"(?:提醒我|提醒一下|回忆一下|帮我回忆|帮我想想)[^。！\n]{{0,40}}(?:{_ASKED_ZH}|的|$)",
    rf"(?:查|找|翻|搜|看)(?:一下|一查|一找|找看?|翻看?|查看?|看|下)?[^。！\n]{{0,12}}(?:{_THEN_ZH}|历史"
    rf"|记录)[^。！\n]{{0,16}}"
    r"(?:说|定|聊|谈|讨论|提|对话|记录|内容|结论)",
    rf"(?<!被){_THEN_ZH}[^。！\n]{{0,30}}{_ASKED_ZH}",
    rf"{_ASKED_ZH}[^。！\n]{{0,12}}{_THEN_ZH}[^。！\n]{{0,10}}(?:说|定|改|聊|讨论|提)(?:过|的|好|了)",
    rf"{_WE_ZH}[^，。！\n]{{0,12}}(?:定|说|选|聊|讨论|约定|商量|决定|确定|用|叫)(?:的|过|了|好"
    rf"|下来)[^。！\n]{{0,20}}{_ASKED_ZH}",
    r"(?:有没有|是不是|是否)[^。！\n]{0,6}(?:说|聊|讨论|定|提|商量|决定)过",
    rf"(?:说|聊|讨论|提到|约|商量|定)(?:过|好|下来)的?[^。！\n]{{0,20}}(?:{_ASKED_ZH})",
    r"定(?:的|了|在|成)(?:了|是|哪|几|多少|什么|多久|谁)",
)
_LOOKUPS_EN = tuple((words, re.compile(pattern)) for words, pattern in _LOOKUP_EN)
_LOOKUPS_ZH = re.compile("|".join(_LOOKUP_ZH))
_HAN = re.compile("[\u4e00-\u9fff]")
_SENTENCE_END = re.compile(r"(?<=[。！？!?\n])|(?<=\.)(?=\s)")

# --- Going on: the message opens by taking up what was just said.
_VERB = (
    r"(?:it|the|that|this|these|those|they|add|make|do|can|could|please|what|how|i|we|you|let|try|use|move"
    r"|change|fix|put"
    r"|remove|set|with|for|in|on|when|if|is|are|there|why|where|not|only|same|show|give|run|write|update"
    r"|create|delete"
    r"|rename|translate|explain|also|all|my|our|your|its)"
)
_BACK_REFERENCE = re.compile(
    # Function words, not the first syllable of a name.
    r"^(?:那么|那(?=[，,、就个些边里样你我咱再把换用]|要不|如果|还|为什么|怎么|.{1,16}呢[?？]?\s*$)"
    r"|所以(?=[，,我你咱这那要就为是])|另外(?=[，,把也还再请帮加])"
    r"|还有(?=[，,一个另就那])|然后|接着|继续|改成|换成|恢复成?原|把(?:它|他们|刚|上面|前面"
    r"|[这那](?=[个里些样段行几]))"
    r"|(?:嗯+|好[的了吧]?|好多了|可以|行|不错|等一?下|等等|对|是的?|没问题|谢谢|辛苦了)[，,。！!、]"
    r"|再(?=[来试加改大小快慢多少长短高低亮暗深浅把往给写做换调看帮]|精简|优化|一[次遍个点])"
    r"|它(?=[的们还也不没在会能应要为现又只太跟和怎])|这(?=个|些|样|段|块|边|儿|次|一[行段句页个张条步]"
    r"|[，,])|这里(?=[的要再不没有改换加，,])"
    r"|刚才|上面|以上|不对|不是[，,]|同样|又(?=[报出错不没挂崩是])|还是(?=[不没报有会老要用])|按(?:你|这|上"
    r"|刚)|就用|照(?:你|这|上|刚))"
    rf"|^(?:and|also|then|but|so)[,]?\s+{_VERB}\b|^now[,]?\s+(?!and\b|playing\b|open\b|hiring\b)\w"
    r"|^(?:it|these|those|they)(?:['’]\w+)?\s"
    r"|^(?:that|this)(?:['’]s| is| was| does| did| one| looks| works| should| needs)\s"
    r"(?!an? (?:\w+ ){0,3}(?:page|site|app|project|task|request)\b)"
    r"|^(?:instead|same|continue|keep|still|again|undo|revert|redo|retry)\b(?!-)"
    r"|^(?:no|nope|yes|yeah|yep|ok|okay|sure|right|hmm+|well|wait|great|good|nice|perfect|thanks|(?:much"
    r"|way) better|almost)"
    r"(?:[,.!]\s|\s(?:but|and|now|then|so|do|keep|let|put|go with)\b)"
    r"|^(?:what|how) about\b|^looks\b|^why did you\b|^try (?:again|it|that|this)\b|^not (?:that|this|the"
    r"|what|quite)\b",
    re.IGNORECASE,
)
# --- Leaning: so short that what it is about must have just been said.
_LEANS = re.compile(
    r"刚才|上面那|^[^，。]{1,8}呢$|^我(?:说|指)的是|^我的意思|另一半|差不多了|一[点些]$|^现在.{2,12}了$"
    r"|便宜的那|(?:那|这)个$|(?:第[一二三四五六七八九十\d]+|最后一|上一|下一|前一)[个种条项版点段句行页步]"
    r"|另[外一二两][个种]|换[一个种]|选第|也来一|同样的|一样的|照[这那此]样"
    r"|撤[销回]|重[来做写试]|回退|还原|恢复成?原|还是[^，。]{0,4}的$|[过错挂没坏败崩]了$"
    r"|太[大小深浅长短快慢亮暗宽窄高低多少重轻密丑挤][了，,]?|不太(?:对|好|行|像)"
    r"|有点[大小深浅长短快慢乱丑挤怪]|也有(?:这个|同样)?问题"
    r"|[大小长短高低亮暗深浅快慢多少宽窄粗细]一?[点些]|[这那]样(?:改|做|写|不|就|可|会)|为什么要?这[样么]"
    r"|改一下$|别的(?:方案|写法|颜色)|再给|再来"
    r"|\bdo (?:that|this|the same)\b|\bthat (?:broke|works|worked|helped|fixed|failed)\b|\b(?:this"
    r"|that) one\b|\bone more\b|^i meant\b|\bthe \w+er one\b"
    r"|\b(?:elaborate|as well)\b|\b(?:put|take|move|turn|send|make|give|show|fix|change|try|use|keep|leave"
    r"|remove|drop|rename|call)"
    r" (?:it|them|that to)\b|\b(?:it|them|this|that)[.!?]*$|^(?:is|does|can|why|why is|could|should"
    r"|will) (?:it|they)\b(?! true| possible)"
    r"|\b(?:first|second|third|last|other|previous|former|latter) (?:one|option|version|button|variant"
    r"|choice|change"
    r"|approach|line|part|half|paragraph|point|section|sentence|item|step|row|column|bullet)\b"
    r"|\bthe (?:second|first|third"
    r"|other)$|\bsame (?:thing|for|again|error|problem|issue)\b|\btry again\b"
    r"|^(?:a bit |a little |slightly |even |much )?(?:more|less|\w{2,}er)(?:[,.!]| please|$)|\b(?:shorter"
    r"|longer|bigger|smaller"
    r"|larger|darker|lighter|faster|slower|simpler|wider)[.!?]*$",
    re.IGNORECASE,
)


def classify(message: str, *, first_in_topic: bool, override: str | None = None) -> Intent:
    """The intent of a message; `override` is the caller's own word for it."""
    bare = message.strip(_EDGES).casefold() if len(message) <= 2 * _MAX_ACK else message
    is_short = len(bare) <= _MAX_ACK
    is_greeting = is_short and _GREETS.fullmatch(bare) is not None
    is_contentless = (
        is_greeting or (is_short and _AGREES.fullmatch(bare) is not None) or _says_nothing(message)
    )
    if override is not None:
        return Intent(Kind(override), "caller", contentless=is_contentless, greeting=is_greeting)
    if is_greeting:
        return Intent(Kind.CONTINUE, "greeting", contentless=True, greeting=True)
    if is_contentless:
        return Intent(Kind.CONTINUE, "contentless_continuation", contentless=True)
    if _asks_for_the_past(message[:_MAX_READ]):
        return Intent(Kind.LOOKUP, "asks_for_the_past")
    if _BACK_REFERENCE.match(message.lstrip()):
        return Intent(Kind.CONTINUE, "back_reference")
    if first_in_topic:
        return Intent(Kind.NEW_TASK, "first_in_topic")
    if len(bare) <= _MAX_LEANING + 2 * _MAX_WORDS and _is_short(bare) and _LEANS.search(bare):
        return Intent(Kind.CONTINUE, "leans_on_what_was_said")
    return Intent(Kind.NEW_TASK, "no_back_reference")


def question(message: str) -> str:
    """The sentences of a message that ask for the past; all of it where none does by itself."""
    sentences = [sentence for sentence in _SENTENCE_END.split(message[:_MAX_READ]) if sentence.strip()]
    return "\n".join(filter(_asks_for_the_past, sentences)) or message


def _says_nothing(message: str) -> bool:
    """Whether there is nothing in it to recall on. Mostly the beginning answers that."""
    return not terms(message[:_MAX_ACK]) and not terms(message)


def _asks_for_the_past(message: str) -> bool:
    low = f" {message.strip().casefold()}"
    for words, pattern in _LOOKUPS_EN:
        if any(word in low for word in words) and pattern.search(low):
            return True
    return _HAN.search(low) is not None and _LOOKUPS_ZH.search(low) is not None


def _is_short(bare: str) -> bool:
    """A few words, or as many signs of a script that puts no spaces between them."""
    return len(bare) <= _MAX_LEANING or (bare.isascii() and len(bare.split()) <= _MAX_WORDS)
