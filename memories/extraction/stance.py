"""How a sentence means what it says: as a statement that lasts, or as a question, a guess, another's word, … Pure.

The rules backend never proposes the others; a model does, and then a person decides.
"""

import re

from memories.extraction import dates, phrases
from memories.extraction.entailment import entails
from memories.extraction.reasons import Reason
from memories.extraction.sentences import Sentence, split

# Characters of a sentence that only takes the one before it back.
_SHORT = 40
# What the sentence about it, or the one after it, says of a guess.
_UNSURE = re.compile(
    r"(?:i|we)\s+(?:guess|believe|assume|hope)\b|\b(?:not\s+(?:sure|certain|decided)|iirc|afaik|likely|presumably|roughly)\b"
    r"|记不清|不确定|不太?确定|没确定|没定|没想好|不一定|估计|猜|应该是?.{1,24}吧|倾向|印象[中里]|可能(?!性)|拿不准",
    re.IGNORECASE,
)
_WISH = re.compile(
    r"\b(?:i|we)\s+wish\b|\bif\s+only\b|^(?:suppose|imagine|assume|say)\b|\b(?:what|how)\s+(?:if|about)\b"
    r"|要是.{1,40}就(?:好|行)|假如|假设|如果说|巴不得|但愿|希望(?:以后)?能",
    re.IGNORECASE,
)
_FOR_NOW = re.compile(
    r"\b(?:for\s+(?:now|this|the\s+(?:moment|demo|test|spike|time\s+being)|today)|until\s+(?:further|then|we|the|mon|tues|wednes|thurs|fri"
    r"|satur|sun|tomorrow|next|end)\w*|just\s+(?:this\s+once|today)|temporar(?:y|ily)|meanwhile|in\s+the\s+meantime|this\s+(?:time|week"
    r"|month|sprint|once|commit|pr|release)|today|tonight|tomorrow)\b"
    r"|这(?:一)?次|本次|这回|今天|今晚|明天|暂时|临时|暂且|先(?:这样|不|别|用着|凑合|手动|写死)|眼下|本周|这周|这两天|目前先",
    re.IGNORECASE,
)
_PAST = re.compile(
    r"^(?:以前|曾经|当时|那时|过去|去年|前年|上(?:个?月|周|季度)|早先|原先|起初|原来)|(?:^|[，,\s])(?:以前|曾经|原先|去年|当年)"
    r"|(?<!\bis\s)(?<!\bare\s)(?<!\bget\s)\bused\s+to\b|\b(?:back\s+(?:then|when|in)|previously|formerly|originally|in\s+the\s+past"
    r"|last\s+(?:year|month|quarter|week)|years?\s+ago|no\s+longer\s+true|at\s+first)\b",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:says?|said|tells?|told|thinks?|thought|claims?|claimed|suggests?|suggested|wants?|wanted|believes?|reckons?|wrote|argues?"
    r"|mentioned|recommends?|recommended)\b|\baccording\s+to\b|\bapparently\b"
    r"|(?<!我)(?<!们)(?:说(?!明|法)|觉得|认为|表示|提到|声称|主张|要求|推荐)|据说|听说|按照?.{1,12}的说法",
    re.IGNORECASE,
)
_FIRST_PERSON = re.compile(
    r"\b(?:i|we)\s+(?:\w+\s+){0,2}(?:say|said|think|thought|want|wanted|believe|suggest|recommend|mentioned|told)\b"
    r"|我们?(?:\S{0,4})(?:说|觉得|认为|要求|推荐)",
    re.IGNORECASE,
)
_TAKEN_BACK = re.compile(
    r"^(?:(?:no|wait|hmm?|oops|actually|sorry)[,\s]+)*(?:(?:no,?\s+)?wait\b|scratch\s+that|never\s?mind|forget\s+(?:that|it|this)"
    r"|ignore\s+(?:that|this)|that(?:'s|\s+is|\s+was)\s+(?:wrong|not\s+(?:right|true|correct)|a\s+lie|outdated)|i\s+was\s+wrong|correction\b"
    r"|my\s+mistake|strike\s+that|i\s+take\s+(?:that|it)\s+back|(?:let's|we'd\s+better)\s+not\b|on\s+second\s+thou?ght)"
    r"|^(?:no|[哦啊呃噢哎]?不{1,3})$"
    r"|^(?:哦|啊|呃|等等|哎|嗯)?[，,\s]*(?:不对|说错|打错|写错|搞错|记错|算了|当我没说|收回|还是(?:不|别|算)|忽略|作废|不是这个)",
    re.IGNORECASE,
)
_TASK = re.compile(
    r"^(?:(?:please|pls|now|then|ok|okay|and|so|also|can\s+you|could\s+you|let's|let\s+me)[\s,]+)*(?:make|add|fix|create|build|implement|write"
    r"|change|rename|remove|delete|refactor|update|move|try|check|look|show|generate|bump)\b"
    r"|^(?:请|麻烦)?(?:你)?(?:帮|给)(?:我|我们|忙)|^(?:把|将).{1,30}(?:改成|改为|换成|删|挪|移|加)",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:always|never|every|all|each|any|must|whenever|don'?t|do\s+not|only|from\s+now|going\s+forward|instead\s+of|rather\s+than|convention|rule)\b"
    r"|必须|禁止|不要|不能|不得|一律|统一|所有|任何|每次|每个|凡是|以后|今后|从现在|都|规范|约定|规则|务必|一定",
    re.IGNORECASE,
)


def of(words: str, start: int, end: int, content: str, *, dated: bool = False) -> Reason | None:
    """Why what stands at `words[start:end]` is no statement that lasts, where `content` does not say so itself.

    `dated`: the content writes out the day that the words name, so that it holds beyond today.
    """
    sentences = split(words)
    inside = [i for i, sentence in enumerate(sentences) if sentence.start < end and sentence.end > start]
    if not inside:
        return None
    following = sentences[inside[-1] + 1 : inside[-1] + 2]
    for i in inside:
        if (reason := _of_sentence(sentences[i], start, end, content, dated=dated)) is not None:
            return reason
    if any(len(after.plain) < _SHORT and phrases.JOKE.search(after.plain) for after in following):
        return Reason.JOKE
    if any(
        phrases.RETRACTION.search(after.plain) or _TAKEN_BACK.search(_bare(after.plain))
        for after in following
    ):
        return Reason.TAKEN_BACK
    if any(_is_only_doubt(after.plain) for after in following):
        return Reason.SUPPOSED
    return None


def _asks(sentence: Sentence, content: str) -> bool:
    """“How to deploy stands in docs/” has the words of a question and asks nothing."""
    if sentence.stop.startswith(("?", "？")):
        return True
    return phrases.QUESTION.search(sentence.plain) is not None and phrases.QUESTION.search(content) is None


def _is_only_doubt(said: str) -> bool:
    """ "Not sure though.": a sentence about the one before it."""
    return len(said) < _SHORT and _UNSURE.search(said) is not None


def _bare(said: str) -> str:
    return phrases.OPENERS.sub("", said)


def _of_sentence(sentence: Sentence, start: int, end: int, content: str, *, dated: bool) -> Reason | None:
    said = dates.undated(sentence.plain) if dated else sentence.plain
    if phrases.JOKE.search(said):
        return Reason.JOKE
    lasts = phrases.LASTING.search(said) is not None
    if _asks(sentence, content):
        return Reason.ASKED
    for clause in sentence.clauses[1:]:
        # What comes after it may say the thing anew.
        rest = sentence.text[clause.start - sentence.start :]
        if _TAKEN_BACK.search(_bare(clause.plain)) and not entails(
            _TAKEN_BACK.sub("", _bare(rest), count=1), content
        ):
            return Reason.TAKEN_BACK
    for reason, patterns in (
        (Reason.SUPPOSED, (phrases.HYPOTHETICAL, _UNSURE, _WISH)),
        (Reason.REPORTED, (phrases.REPORTED, _REPORTED)),
        (Reason.PAST, (phrases.PAST, _PAST)),
        (Reason.FOR_NOW, (phrases.NOT_FOR_KEEPS, _FOR_NOW)),
    ):
        for pattern in patterns:
            if not (found := pattern.search(said)) or pattern.search(content):
                continue
            if reason is Reason.REPORTED and _FIRST_PERSON.search(said):
                continue
            if reason is Reason.FOR_NOW and lasts:
                continue
            if found.group().strip() and found.group().strip() in content:
                continue
            return reason
    if lasts or _RULE.search(said):
        return None
    its_own = [clause for clause in sentence.clauses if clause.start < end and clause.end > start]
    is_task = bool(its_own) and all(_TASK.search(_bare(clause.plain)) for clause in its_own)
    return Reason.REQUESTED if is_task else None
