"""What a statement is about and what kind of statement it is: key, rule, replacement, preference."""

import hashlib
import re
import unicodedata
from typing import Final

from memories.explicit.surface import CJK
from memories.text import slug

_ALWAYS: Final = re.compile(
    "必须|必需|务必|禁止|严禁|不要|不得|不能|不可|不准|不许|不允许|不应|不用|不再|切勿|请勿|勿"
    "|别(?![的人名处墅称致])|统一|一律|一定要?|永远|始终|总是|总要"
    "|从不|绝不|决不|绝对|只能|只用|只许|只准|只可|只要用|只走|只(?=[\u4e00-\u9fff]{0,2}[用在走能可])|凡是"
    "|永不"
    r"|\b(?:always|never|must|mustn't|only|don't|do not|not to|doesn't|cannot|can't|may not|shall|shouldn't"
    r"|should not|forbidden|prohibited"
    r"|required|without exception|under no circumstances)\b|(?:^|[,;:.] ?|\b(?:with|use|allow|and|but"
    r"|there (?:is|are)) )no\b"
)
_CHANGES: Final = re.compile(
    "改为|改成|改用|改到|改走|换成|换为|换用|替换[为成]|变更为|变成|迁移?到|升级[到为]|调整[为到]|不再"
    "|而不是|而非|取代|代替|替代|从此(?:不|改)|以前.{0,20}现在|原来.{0,20}现在"
    r"|\b(?:instead of|rather than|no longer|not .{1,40} any ?more|(?:switch|chang|migrat|mov|renam"
    r"|replac)(?:e|ed|es|ing|d)?"
    r"\b.{0,40}\b(?:to|by|with)|replaces|supersedes)\b"
)
_LIKING: Final = re.compile(
    "(?:^|[，,。;:] ?)(?:我们?|咱们?|本人|个人)?(?:一直|比较|更加?|最|很|特别|非常|都|还是)?(?:不(?:太"
    "|是很)?)?(?:喜欢|偏好|偏爱|习惯(?!用语)|倾向|讨厌|爱用|想要|希望)"
    "|我的(?:偏好|喜好|习惯)"
    r"|\b(?:i|we)(?: (?:really|strongly|much|personally|generally|usually|always|just|would"
    r"|do))?(?: (?:don't|do not))?"
    r" (?:prefer|like|love|hate|dislike|enjoy|favou?r|rather)\b|\bi'd (?:rather|prefer|like|love)\b|\b(?:my"
    r"|our) (?:preference|favou?rite|preferred)\b"
)
# What is said of a subject begins here.
_CONNECTOR: Final = re.compile(
    "统一|一律|必须|务必|禁止|严禁|应该|应当|需要|不要|不能|不得|不可|不准|不许|不用|不再|只能|只用|只|默认"
    "|固定|采用|使用|改为|改成|改用|改到|换成|换用|替换"
    "|永远|始终|都|全部|要(?![求素点])|须|走|由|叫|放[在到右左顶底]?|以(?![上下及后前内外])|按(?![钮键])"
    "|加(?![载密急])|带|保留|保持|支持|从(?![属])|别(?![名称的])|勿"
    "|(?<![引作费信通占利试应使采选专常])用(?![户于途处法过量例])|是(?!否)|(?<![行作认成因])为(?![了什何])"
    "|:(?!//)|[=→]|->|=>|，|,"
    r"|(?<![\w'-])(?:is|are|was|were|isn't|aren't|must|mustn't|should|shouldn't|shall|will|won't|can|can't"
    r"|cannot|may|uses?|using|has|have"
    r"|needs?|never|always|only|don't|do not|doesn't|does not|goes|go|lives?|runs?|returns?|defaults?"
    r"|requires?|stays?|belongs?|follows?"
    r"|prefers?|likes?|instead of|no longer)(?![\w'-])"
)
_QUANTIFIER: Final = re.compile(
    r"(?:所有的?|全部的?|每个|每条|每次|一切|任何|各个?|凡是|本项目的?|这个项目的?|项目的|项目里的?|我们的"
    r"|咱们的|我们|咱们|我的|我|以后|今后|从现在起|(?:from (?:now|here) on|going forward)(?![\w'-])[,:]?"
    r"|(?:all|every|each|any|the|our|my|an?|this|these|that|we|i|you|it"
    r"|there)(?= +[\w/@#.'-])(?! +[一-鿿])) *"
)
_LEADING_VERB: Final = re.compile(
    r"(?:use|run|write|keep|put|make|prefer|avoid|add|do|no|not|to|deploy|build)(?![\w'-])"
)
_MAX_SUBJECT: Final = 40


def is_rule(view: str) -> bool:
    """It binds every turn: 必须 禁止 不要 统一 一律, always, never, must, only, no …"""
    return _ALWAYS.search(view) is not None


def announces_change(view: str) -> bool:
    """It says that one thing takes the place of another."""
    return _CHANGES.search(view) is not None


def states_liking(view: str) -> bool:
    return _LIKING.search(view) is not None


def key_of(content: str, view: str, heading: str) -> str:
    """The subject as a slug, else a short hash of the content; `view` is the content's open view."""
    subject = _subject(content, view)
    if heading:
        return slug(f"{heading[:_MAX_SUBJECT]} {subject or _digest(content)}") or f"m-{_digest(content)}"
    return slug(subject) or f"m-{_digest(content)}"


def _subject(content: str, view: str) -> str:
    start = 0
    while (quantifier := _QUANTIFIER.match(view, start)) and quantifier.end() > start:
        start = quantifier.end()
    if start > 0 and re.match(r"(?:we|i|you|it|there|我们?|咱们) *$", view[:start]):
        return ""
    connector = _CONNECTOR.search(view, start, start + _MAX_SUBJECT + 20)
    if connector is None or connector.start() == start or _LEADING_VERB.match(view, start):
        return ""
    subject = content[start : connector.start()].strip()
    return subject if len(subject) <= _MAX_SUBJECT and _has_word(subject) else ""


def _has_word(subject: str) -> bool:
    return len(subject) > 1 and re.search(rf"[a-zA-Z{CJK}]", subject) is not None


def _digest(content: str) -> str:
    folded = " ".join(unicodedata.normalize("NFKC", content).casefold().split())
    return hashlib.sha256(folded.encode("utf-8", "surrogatepass")).hexdigest()[:6]
