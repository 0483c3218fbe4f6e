# ruff: noqa: E501 - expressions that read better in one line a kind
"""What a text reports instead of ordering: quotations, what a rule says about attacks, what a product lets people do."""

import re
from bisect import bisect_right
from sys import maxsize
from typing import Final

BREAK: Final = re.compile(r"[。！？；\n]|[.!?;](?=\s|$)")
REPORTED: Final = re.compile(
    r"\b(?:rejects?|detects?|blocks?|refus(?:e|es|al)|flags?|guards?|attacks?|attackers?|injections?"
    r"|jailbreaks?|test cases?|fixtures?|such as|e\.g\.|phrases?|patterns?|regex"
    r"|classif\w{2,6}|treat(?:ed|s)? as|filters? (?:out|drops?|removes?|catches|blocks?)|malicious"
    r"|untrusted|strips?|escapes?|sanitiz\w{1,4}|(?<!\.)examples?|corpus|payloads?)\b"
    r"|拒绝|检测|拦截|识别|防御|注入|攻击|测试用例|样例|类似|例如|比如|诸如|视为(?!已)|转义|恶意|不可信"
    r"|语料|敏感词|一类|这类|字样"
)
INTRODUCED: Final = re.compile(
    r"(?:such as|like|e\.g\.|for example|phrases?|text|strings?|类似|例如|比如|诸如|包含|含有|出现|覆盖"
    r"|形如|输入|内容为)[\s:：,\"'“”‘’「『`(（]{0,4}$"
)
SPEECH: Final = re.compile(
    r"\b(?:says?|said|asks?|typ(?:e|es|ed)|writes?|wrote|contains?|containing|reads?|mentions?|called|named"
    r"|titled|labell?ed)\b[\s:,]{0,3}$|(?:说|输入|提到|写|包含|含有|名为|叫|标题为|问|回复|显示)(?:了|着"
    r"|的)?[\s:：]{0,2}$"
)
# What somebody else said, and what a rule does about those who say it.
TURNED_DOWN: Final = re.compile(
    r"\b(?:is|are|gets?|will be|must be|should be|shall be|be) (?:\w+ly |always |all )?(?:declined|refused|rejected|blocked|logged|flagged|denied|reported|stripped|escaped|masked|forbidden|prohibited|not allowed)\b"
    r"|(?:被|应当?|一律|会|将|都|均|要)(?:被|予以)?(?:拒绝|拦截|拦下|婉拒|上报|标记|转义|屏蔽|禁止)"
)
_QUOTATION: Final = re.compile(
    '“[^”\\n]{1,300}”|"[^"\\n]{1,300}"|「[^」\\n]{1,300}」|『[^』\\n]{1,300}』|《[^》\\n]{1,300}》|`[^`\\n]{1,200}`'
    r"|(?<!\w)'[^'\n]{3,200}'(?!\w)|/(?=[^/\n]{0,80}[|?*(\[])[^/\n]{4,120}/"
)
_TEST_NAME: Final = re.compile(r"\b(?:test_\w{4,120}|\w{4,120}_test)\b")
_CITED: Final = re.compile(
    r"(?:\b(?:typed|pasted|wrote|writes|written|said|says|asked|tests? for|tests? that|case for|rule for|filter for|matches|match(?:ing)? on"
    r"|searche[sd] for|looks for|search for|spot|lines? like|texts? like|words? like|messages? like|prompts? like|requests? like"
    r"|why|titled|headline|subject|phrase|sentence|the words?|term|warning|regex|pattern|grep)\b[\s:,]{0,3}(?:(?:in|into|to|the|a|an|of) ?){0,2}"
    r"|(?:说|输入|提到|写|写着|出现|包含|含有|名为|叫|题为|标题|问|检测到|识别|解释了?|正则|短语|字样|样例|类似|例如|举例|比如|诸如|以|如)(?:了|着|的|过)?[\s:：,，]{0,3})$"
)
_TOLD: Final = re.compile(
    r"\b(?:if|when|whenever|should|once)\b[^.;!?\n]{0,50}\b(?:tells?|asks?|instructs?|orders?|urges?|wants?|claims?|says?|demands?|tries|try|attempts?|requests?)\b(?P<what>[^.;!?\n]{1,160}?)"
    r"[,:]? (?=(?:then )?(?:please )?(?:report|refuse|decline|stop|treat|do not|don't|never|flag|ignore (?:it|that|them|the)|go on|carry on|continue|raise|alert|ask|reject|escalate|drop it|leave it|tell|say no|log|answer that)\b)"
    r"|(?:如果|若|假如|要是|一旦|遇到|凡是?|即使|哪怕)[^。；!！?？\n]{0,24}(?:叫|让|要求|要|写着?|说|声称|指示|命令|诱导|试图|企图)(?P<zh>[^。；!！?？\n]{1,80}?)[,，](?=[^。；\n]{0,6}(?:上报|报告|拒绝|不要|不得|别|忽略它|停下|停止|当作数据|视为|询问|继续|照旧|不予|一律不|请上报|也不|不能|提醒|告警))"
)
ABLE: Final = re.compile(
    r"\b(?:users?|owners?|admins?|people|members?|visitors?|anyone|everyone) (?:can|may|could|are able to|is able to)\b|\b(?:button|endpoint|dialog|menu|page|screen|command)s?\b"
    r"|(?:用户|管理员|所有者|成员|负责人)(?:可以?|能够?)|(?:一键|按钮|接口|弹窗|菜单|页面)"
)


def told(low: str) -> list[tuple[int, int]]:
    """Stretches that report what others say, in order and apart: introduced quotations, and orders that a rule
    tells how to meet.
    """
    stretches: list[tuple[int, int]] = []
    for match in _QUOTATION.finditer(low):
        start, end = match.span()
        before = low[max(0, start - 60) : start]
        after = BREAK.split(low[end : end + 60])[0]
        if (
            _CITED.search(before)
            or SPEECH.search(before)
            or INTRODUCED.search(before)
            or REPORTED.search(BREAK.split(before)[-1])
            or REPORTED.search(after)
        ):
            stretches.append((start + 1, end - 1))
    stretches += [match.span() for match in _TEST_NAME.finditer(low)]
    for match in _TOLD.finditer(low):
        stretches.append(match.span("what" if match["what"] else "zh"))
    return _merged(stretches)


def _merged(stretches: list[tuple[int, int]]) -> list[tuple[int, int]]:
    merged: list[tuple[int, int]] = []
    for start, end in sorted(stretches):
        if merged and start <= merged[-1][1]:
            merged[-1] = merged[-1][0], max(end, merged[-1][1])
        else:
            merged.append((start, end))
    return merged


def holds(stretches: list[tuple[int, int]], start: int, end: int) -> bool:
    """Whether `[start, end)` lies in one of the stretches, which are in order and apart."""
    at = bisect_right(stretches, (start, maxsize)) - 1
    return at >= 0 and end <= stretches[at][1]
