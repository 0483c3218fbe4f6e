"""The wording of a rule that carries nothing: two ways of putting one claim are brought to one.

What is said stays in its order; only what grammar lets stand in two places is moved: 用 pnpm 安装依赖 is
安装依赖用 pnpm, "use tabs for indentation" is "indentation uses tabs", "the timeout of the API" is its own.
Everything here takes folded text on one line and gives it back on one line.
"""

import re
from collections.abc import Callable
from typing import Final

from memories.text import UNSPACED

_I: Final = re.IGNORECASE

# At the start it only says that a rule begins; elsewhere 以后 may mean "after that".
_FROM_NOW_ON: Final = re.compile(
    r"^(?:以后|今后|往后|从今往后|从现在(?:起|开始)|(?:from now on|from here on|going forward)\b)[\s，,:：]*",
    _I,
)
_FRAME: Final = re.compile(
    r"^(?:(?:以后|今后|往后|从今往后|从现在(?:起|开始)|请记得|记得|麻烦|拜托|在?(?:本|这个|我们的?|咱们的?)?项目(?:里面?|中)"
    r"|(?:from now on|from here on|going forward|in future|in this project|in our project|please|let['’]?s"
    r"|(?:please )?(?:make|be) sure (?:that|to)|be careful to|remember (?:that|to)|note that|keep in mind that"
    r"|it is important (?:that|to)|we(?:['’]ve| have)? (?:agreed|decided) (?:that|to))(?!\w))[\s，,:：]*){1,3}",
    _I,
)
_LABEL: Final = re.compile(
    r"^[\[【(（]?(?:规则|规范|注意|说明|提示|约定|要求|备注|note|tip|rule|convention|reminder|important|fyi|ps)[\]】)）]?\s*:\s*",
    _I,
)
_THANKS: Final = re.compile(
    r"(?<=[\s，,。.!！;；])(?:多谢|谢谢|谢啦|辛苦了|麻烦了|thank you|thanks(?: a lot)?|thx|cheers|please)[\s。.!！~]*$",
    _I,
)
# 所有接口, every endpoint: a rule about a kind is about each of it, when nothing denies that.
_EACH: Final = re.compile(
    r"^(?:所有的?|全部的?(?!门)|一切|凡是|任何"
    r"|每[一]?(?:个|份|条|张|位|名|篇|本|件|项|只|款|套|家|处|场|间|台|节|门)"
    r"|(?:all(?: of)?(?: (?:the|our))?|every|each)(?!\w)(?!\s+(?:but|except|of|other|one|two|second|third|fourth|few|\d"
    r"|time|hour|minute|day|night|morning|evening|week|weekend|month|quarter|year|sprint|[a-z]+day)\b))\s*",
    _I,
)
_INFINITIVE: Final = re.compile(
    r"(?<!\w)(needs?|have|has|ought|want|wants|required|supposed|make sure|be sure|try|going) to(?!\w)", _I
)
_MOVED: Final = re.compile(
    r"(?:从|由)\s*[^\s，,。；;]{1,20}?\s*(?:改为|改成|换成|变成|变为|调整为|调整到)"
    r"|(?<!\w)(?:changed?|switch(?:ed)?|moved?|migrated?)\s+from\s+\S+\s+to(?!\w)",
    _I,
)

# --- Chinese ------------------------------------------------------------------------------------------------

_MODAL = "请|务必|一定|必须|应该|应当|应|需要|需|要|统一|一律|都|全部|我们|咱们|可以"
_DENIED = (
    "千万不要|千万别|绝对不要|绝不能|绝不|不要再|不要|不能|不得|不可以|不许|不准|不允许"
    "|别再|别|禁止|严禁|切勿|请勿|勿"
)
_FRONTED: Final = re.compile(
    rf"^(?P<head>(?:(?:{_DENIED}|{_MODAL})\s*){{1,3}})在\s*"
    r"(?P<place>[^\s，,。；;：:不别用]{1,16}?|[^\s，,。；;：:]+)\s*(?P<within>里面|里头|里|中)(?=[^\s，,。；;])"
)
_AT: Final = re.compile(r"^在\s*(?=[^，,。；;]{1,20}?(?:里面|里头|里|中)(?:[^，,。；;]|$))")
# A Latin name is where 用 ends and what it is for begins; 做 and 作为 say so of any value.
_LATIN_NAME = r"[A-Za-z][\w.+#/@-]*(?: [A-Z][\w.+#-]*)?"
_INSTRUMENT: Final = re.compile(
    rf"^(?P<head>(?:(?:{_DENIED}|{_MODAL}|不)\s*){{0,3}})(?:使用|采用|选用|用)\s*"
    rf"(?:(?P<name>{_LATIN_NAME})\s*(?:来|去)?\s*(?:做|作为|当作?)?|(?P<value>[{UNSPACED}]{{1,8}}?)(?:来|做|作为|当作))\s*"
    r"(?P<task>(?!代替|替|取代|而|不|和|与|或|跟|及|时|的|前|后|之|比|到|从|版|以|作|都|就|里|中|上|下|最|至|来|源)"
    rf"[{UNSPACED}][^，,。；;：:、\s用为是]*)$"
)
_PUT: Final = re.compile(
    rf"^(?P<what>[^，,。；;：:不别在]{{1,20}}?)\s*(?P<head>(?:(?:{_DENIED}|{_MODAL})\s*){{0,3}})"
    r"(?P<verb>出现|写|存放|保存|存|放|记录|记|使用|用|打印|输出)(?:在|到|进|于)\s*(?P<place>[^，,。；;：:\s]{1,16}?)(?:里面|里头|里|中)?$"
)
_FORBIDDEN: Final = re.compile(
    r"^(?P<task>[^，,。；;：:]+?)\s*(?:是|被)?(?:严格|绝对)?(?:被禁止|禁止|不允许|不被允许|不准)的?$"
)
_DURATION: Final = re.compile(
    r"(?:时间|时长)(?=\s*(?:设置为|设置成|设定为|设为|设成|统一|都是|就是|改为|改成|是|为|用|:)?\s*\d+(?:\.\d+)?\s*"
    r"(?:ms|s|min|h|毫秒|秒|分钟|小时|个小时|天)(?![a-z]))",
    _I,
)


def _task_first(match: re.Match[str]) -> str:
    return f"{match['task']} {match['head']}用 {match['name'] or match['value']}"


def _place_first(match: re.Match[str]) -> str:
    return f"{match['place']}{match['within']}{match['head']}"


def _where_first(match: re.Match[str]) -> str:
    return f"{match['place']}{match['head']}{match['verb']}{match['what']}"


def _denied(match: re.Match[str]) -> str:
    return f"不要 {match['task']}"


# --- English ------------------------------------------------------------------------------------------------

_SAID = r"(?:(?:we|you|please|always|must|should|need to|have to|will|shall)\s+)"
_NEVER = r"(?:(?:never|do not|don['’]t|must not|should not|cannot)\s+)"
_THING = r"[\w.+#/@'-]+(?: [\w.+#/@'-]+){0,3}?"
_USE_FOR: Final = re.compile(
    rf"^(?P<head>{_SAID}{{0,3}}{_NEVER}?)use "
    rf"(?P<value>(?!.*\b(?:instead|rather|only|not|and|or|when|if|before|after)\b){_THING}) "
    rf"(?:for|to|as) (?P<task>(?!(?:it|this|that|them)\b){_THING})\W*$",
    _I,
)
_USED_FOR: Final = re.compile(
    rf"^(?P<value>{_THING}) (?:are|is|must be|should be) (?P<never>never |not )?used "
    rf"(?:for|to|as) (?P<task>{_THING})\W*$",
    _I,
)
_DONE_WITH: Final = re.compile(
    rf"^(?P<task>{_THING}) (?:is|are) (?:always )?"
    rf"(?:done|handled|made|managed) "
    rf"(?:with|using|via) (?P<value>{_THING})\W*$",
    _I,
)
_SET_TO: Final = re.compile(rf"^(?:please |always )?set (?P<task>{_THING}) to (?=[\w#`'\"/.$-])", _I)
_OF: Final = re.compile(
    r"^(?:the |our )?(?P<what>[a-z]+) (?:of|for) (?:the |our |an |a )?(?P<whose>[\w-]+(?: [\w-]+)?)"
    r"(?= (?:is|are|must|should|equals|defaults)\b|:)",
    _I,
)
_PLACE_FIRST: Final = re.compile(
    r"^(?P<place>(?:in|on|at|for|during|before|after|inside|within) [^,;:.]{1,40}), (?P<rest>[^,;:]+?)\W*$",
    _I,
)
_FORBIDDEN_EN = (
    r"(?:strictly )?(?:forbidden|prohibited|banned|disallowed|not allowed|not permitted|never allowed)"
)
_IT_IS_FORBIDDEN: Final = re.compile(rf"^(?:it is|it['’]s) {_FORBIDDEN_EN} to ", _I)
_DOING_IS_FORBIDDEN: Final = re.compile(
    rf"^(?P<doing>[a-z]{{2,}}ing) (?P<rest>.+) is {_FORBIDDEN_EN}\W*$", _I
)
_NOT_DOING: Final = re.compile(
    r"(?<!\w)(?:avoid|forbid|ban|stop|no(?= [a-z]+ing (?:on|in|at|to|from|with|during|over)(?!\w))) "
    r"(?P<doing>(?!trailing|leading|floating|missing|pending|dangling|breaking|blocking|nothing|string)[a-z]{2,}ing)(?!\w)",
    _I,
)
_PREFIXED: Final = re.compile(r"(?:re|de|un|pre|con|com|en|dis|sub|trans|mis)(?=.{3})")
_SHORT_VERB: Final = re.compile(r"[^aeiou]*[aeiou][^aeiouwxyng]|[^aeiou]+[aeiou]n|[aeiou][^aeiouwxy]")


def _infinitive(doing: str) -> str:
    """logging → log, caching → cache, deploying → deploy: by the letters, as no list knows every verb."""
    stem = doing[:-3].casefold()
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return stem[:-1]
    if re.search(r"[cgvuz]$|[bdgtpkf]l$|[^aeo]at$|ch$|cre?at$", stem) and not stem.endswith(
        ("ng", "tch", "uch")
    ):
        return stem + "e"
    return stem + "e" if _SHORT_VERB.fullmatch(_PREFIXED.sub("", stem, count=1)) else stem


def _use_for(match: re.Match[str]) -> str:
    return f"{match['task']} {match['head']}use {match['value']}"


def _used_for(match: re.Match[str]) -> str:
    return f"{match['task']} {match['never'] or ''}use {match['value']}"


def _done_with(match: re.Match[str]) -> str:
    return f"{match['task']} use {match['value']}"


def _its(match: re.Match[str]) -> str:
    return f"{match['whose']} {match['what']}"


def _do_not(match: re.Match[str]) -> str:
    return f"never {_infinitive(match['doing'])} {match['rest']}"


def _not_do(match: re.Match[str]) -> str:
    return f"never {_infinitive(match['doing'])}"


_UNSPACED: Final = re.compile(f"[{UNSPACED}]")
# Longer sentences say more than one thing: none of their words is moved.
_LONGEST: Final = 120
# A step is tried where one of its words stands.
_Step = tuple[tuple[str, ...], re.Pattern[str], str | Callable[[re.Match[str]], str]]
_CHINESE: Final[tuple[_Step, ...]] = (
    (("在",), _FRONTED, _place_first),
    (("在",), _AT, ""),
    (("在", "到", "进", "于"), _PUT, _where_first),
    (("禁止", "不允许", "不被允许", "不准"), _FORBIDDEN, _denied),
    (("用",), _INSTRUMENT, _task_first),
    (("时间", "时长"), _DURATION, ""),
)
_ENGLISH: Final[tuple[_Step, ...]] = (
    ((", ",), _PLACE_FIRST, r"\g<rest> \g<place>"),
    ((" to ",), _INFINITIVE, r"\1"),
    (("ed to ", "en to "), _IT_IS_FORBIDDEN, "never "),
    (("ing ",), _DOING_IS_FORBIDDEN, _do_not),
    (("ing",), _NOT_DOING, _not_do),
    (("se ",), _USE_FOR, _use_for),
    (("used ",), _USED_FOR, _used_for),
    ((" with ", " using ", " via "), _DONE_WITH, _done_with),
    ((" to ",), _SET_TO, r"\g<task> set to "),
    ((" of ", " for "), _OF, _its),
)


def opened(text: str) -> str:
    """`text` without the words that only say that a rule begins, and without what was so before."""
    return _MOVED.sub(" 改为 ", _FROM_NOW_ON.sub("", text))


def plain(text: str) -> str:
    """`text` in the one wording for what it says; at most a few letters longer."""
    text = _THANKS.sub("", _FRAME.sub("", _LABEL.sub("", text)))
    if len(text) <= _LONGEST:
        text = _EACH.sub("", text)
        for words, pattern, new in _CHINESE if _UNSPACED.search(text) else _ENGLISH:
            if any(word in text for word in words):
                text = pattern.sub(new, text)
    return _MOVED.sub(" 改为 ", text)
