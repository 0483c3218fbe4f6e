"""What may stand between a label and its value: connectors, pronouns, quotation marks, the line's end."""

import re
from typing import Final, Literal

Bond = Literal["adjacent", "firm", "loose"]

# ── After a label ────────────────────────────────────────────────────────────────────────────────

PARENTHESIS: Final = re.compile(r"\s?[(\[（][^()\[\]（）\n]{1,24}[)\]）]")
NEXT_LINE: Final = re.compile(
    r"[^\S\n]{0,3}(?:如下)?[\"'`*]{0,3}[^\S\n]{0,3}[:=]?[\"'`*]{0,3}[^\S\n]{0,3}\r?\n[^\S\n]{0,8}"
)
# A question, and the answer behind it, perhaps with the name of who answers.
ANSWER: Final = re.compile(
    r"[^\n?.。;!]{0,30}(?:\?\s{0,3}(?:[\w\u4e00-\u9fff]{1,12}\s?[:,]\s?)?(?:(?:sure|yes|yeah|yep|ok|okay"
    r"|here|here you go|here it is)"
    r"[\s,:]{1,3})?|[?;.!]\s{0,3})(?:(?:it|that|this)(?:'s|\sis|\swas)(?:\snow)?\s|(?:新的|现在|就|应该)?是\s?|(?<=[?:,]\s)|(?<=[?:,\n]))"
    r"(?=[^\s]{6,90}(?:\s|$))"
)
SENTENCE_END: Final = re.compile(
    r"[。;\n.?](?:(?<=[。;])|(?<=\n)(?<![:=→>]\n)(?<![:=→>] \n)|(?<=[.?])(?<!\.[.?])(?=\s|$))"
)
RUN: Final = re.compile(r"[\"'`]([^\s\"'`]{4,128})[\"'`]|[A-Za-z0-9!@#$%^&*_+\-./=~?:\\]{4,512}")
# Marks that open a value; before them stands what ties it to its label.
OPENERS: Final = " \t\r\n\"'`*“”‘’「『【《"
_TYING_SIGNS: Final = frozenset(":=→>是为成用叫填写作到给换回取")
_TYING_ENDS: Final = ("....", "样子", "不变", "照旧", "如下", "一样")
_TYING_WORDS: Final = frozenset(
    {"is", "are", "was", "to", "as", "be", "being", "equals", "remains", "has", "still"}
)
_ADVERBS: Final = frozenset({"now", "just"})


def is_firm(gap: str) -> bool:
    """Whether a connector ends what stands between a label and a run of characters."""
    tie = gap.rstrip(OPENERS)
    if "\t" in gap[len(tie) :]:
        return True
    if not tie:
        return False
    last = tie[-1]
    if last in _TYING_SIGNS or tie.endswith(_TYING_ENDS) or (last in "了的" and tie[-2:-1] in _TYING_SIGNS):
        return True
    if last in "-–—":
        return tie.rstrip("-–—")[-1:].isspace()
    if last == "/":
        return tie[:-1].rstrip()[-1:].isalnum()
    words = tie[-24:].split()
    return words[-1] in _TYING_WORDS or (
        words[-1] in _ADVERBS and words[-2:-1] != [] and words[-2] in _TYING_WORDS
    )


BLANK: Final = re.compile(r"[\s\"'`*“”‘’「『【《|,、()\[\]/-]*$|\s*(?:值|value|string)\s*$")
# A template or a tag opens here; what follows an "=" with a quote is a value again.
HOLDS_PLACE: Final = re.compile(r"[<{\[](?![^\n]{0,24}=\s?[\"']?$)|\$[{(]|%\(")
LOGIN: Final = re.compile(r"^([A-Za-z][\w.@-]{0,40})([:/=])([^:/\s].*)$")

# ── Before a label: "X is the root password", "X（密码）" ─────────────────────────────────────────

_ARTICLE: Final = (
    r"(?:(?:the|a|an|our|my|your|his|her|their|its|this|that|new|old|what we use as|(?:this|that|it)\sis)\s)?"
)
IS_THE: Final = re.compile(
    rf"[\"'`”’」】*]{{0,2}}(?:,?\s(?:is|was|as|being)\s{_ARTICLE}{_ARTICLE}|,\s(?:that's|which is)\s{_ARTICLE}"
    rf"|\s(?:<-+|--?|—|–|=)\s{_ARTICLE}|\s?[(（]{_ARTICLE})[^\n。;，,:=()]{{0,24}}$"
    r"|[\"'`”’」】]{0,2}(?:,\s?[^\n。;,:=()a-z]{0,6})?\s?(?:就?是|作为|当作?|做|为|这个|那个|这串|[填输贴放][进到入])[^\n。;，,:=()\d@#$!%^&]{0,16}$"
)
GIVEN_TO: Final = re.compile(r"[\"'`]?\s(?:in|into|at|as|for|when|if)\b[^.;\n]{0,40}$")
GIVES: Final = re.compile(r"\b(?:enter|type|use|try|put|paste|input|supply|provide|with)\s[\"'`]?$")
ENDS: Final = re.compile(
    r"s?(?:\s*(?:$|\.(?![a-z])|[,;:!?)\]\n\"'`|。，；）】」、]|(?:for|of|to|in|at|on|when|if|that|which|we|is|prompt|box|fails)\b)"
    r"|[是了的框里中登栏呢吧啊]|\s[\u4e00-\u9fff])"
)
DIGEST: Final = re.compile(
    r"(?:git\s[a-z-]{2,12}|commit|hash|sha-?\d{0,3}|md5|digest|checksum|[^a-z]id|uuid|tag|revision|rev|build|哈希|提交|摘要|校验值?|镜像)\W{0,3}$"
)

# ── Tied to a label: nothing but the sentence's own small words in between ───────────────────────

TIED: Final = re.compile(
    r"(?:'s)?(?:\s?[(（][^()（）\n]{1,24}[)）])?(?:\sfor(?:\s[\w.'@-]{1,24}){1,5}?(?=\s(?:is|was)\s|\s?[:=→]))?"
    r"(?:\s?分别[是为]\s?[\w.@-]{1,32}\s?[和与及,、/]|\sare\s[\w.@-]{1,32}\s(?:and|/))?"
    r"(?P<tie>(?:\s|[:=→>，,「『【《“‘\"'`*-]|\b(?:is|was|equals|remains|stays|being|be|to|as|now|still|just|simply"
    r"|set|changed|reset|called|literally|actually|probably|has|been)\b"
    r"|我|你|他|这边|那边|现在|目前|已经?|都|就|还|先|统一|临时|暂时?|重新|默认|一律|全部|仍然?|依旧|照旧|又|被|给|请"
    r"|记一下|嘛|呢|啊|吧|没[改变]|别忘了?|记得|哦|不变|老样子|发[你我]了|发了|好像|应该|大概|其实|一直|初始|直接|是|为|用|叫做?|写|填"
    r"|设|改|换|变更|更新|重置|恢复|调整|配置|定|取|输|敲|成|回|到|作|的|了|一下|过|置){0,12}+)"
)
TELLS: Final = re.compile(r"[:=→是为成叫]|就|还|\b(?:is|was|equals|remains|to|as)\b")
SAYS: Final = re.compile(r"'s\s|\s(?:is|was|remains|equals)\s|[是叫]")
CLAUSE_END: Final = re.compile(
    r"[\"'`”’」』】》*]{0,3}(?:\s*(?:$|[，,。;；！!？?\n)）\]|、#<]|\.(?:\s|$)|--?\s|—|–)|\s(?:lol|haha|ok|please|for|on|at|and"
    r"|but|until|everywhere|works?)\b|\s?(?:了|吧|哦|啊|哈|来着|登|也|就行|即可|可以|能)|（|\s\()"
)
# "weak password: abc123" speaks about passwords.
SPEAKS_ABOUT: Final = re.compile(
    r"(?:弱|常见|示例|假的?|错误的?|简单|类似|例如|比如|wrong|weak|bad|common|example|sample|dummy|fake|invalid|no|without"
    r"|any|every|each|plaintext|hashed|random|test|mock|faker)[\s_-]{0,2}$"
)
SPEAKS_ILL_OF: Final = re.compile(r"(?:弱|常见|错误的?|weak|bad|common|wrong|invalid)[\s_-]{0,2}$")
BARE: Final = re.compile(r"(?:密码|口令|密语|暗号|pass(?:word|phrase|wd)?|pwd?|wi-?fi)(?:短语|串|s)?")
UNIT: Final = re.compile(
    r"\s?(?:[年月日位个次分秒天小时字元%％~-]|字符|bits?\b|chars?|digits?|characters|attempts?|days?|hours?|min)"
)

# ── Recovery phrases ─────────────────────────────────────────────────────────────────────────────

WORDS: Final = re.compile(
    r"[\s:=是为\"'`“→-]{0,12}(?:is\s|are\s|was\s)?[\"'`“]?((?:(?:\d{1,2}[.)]\s?)?[a-z]{3,8}[\s,]{1,3}){11,23}(?:\d{1,2}[.)]\s?)?[a-z]{3,8}"
    r"|(?:[\u4e00-\u9fff]\s){11,23}[\u4e00-\u9fff])"
)
WORDS_BEFORE: Final = re.compile(
    r"((?:\d{1,2}[.)]\s?[a-z]{3,8}[\s,]{1,3}){11,23}\d{1,2}[.)]\s?[a-z]{3,8})[\s(（,-]{1,4}(?:your\s|the\s|my\s)?$"
)
