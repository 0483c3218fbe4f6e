"""Whether words that follow a trigger without punctuation state something.

记住我们用 pnpm is a wish; 记住用户上次的选择 is a feature, 记住我上次说的 points back,
"remember when we …" recalls.
"""

import re

from memories.explicit.surface import CJK

_FEATURE = re.compile(
    r"(?:我的)?(?:用户|密码|登录|账号|帐号|选择|上次|上一次|滚动|窗口|筛选|搜索|历史|状态|位置|选项|浏览"
    r"|输入|打开|勾选|当前|光标|最近|会话)"
    r"|我(?:的(?:密码|选择|账号|登录|位置|状态)|复选|功能|勾选|选项|按钮|登录|开关|[，,。]|$)|我?(?:上次"
    r"|刚才|之前|刚刚|昨天|前面)"
)
_FEATURE_EN = re.compile(
    r"\b(?:me|user|users|user's|users'|password|checkbox|selected|selection|option|toggle|feature|scroll"
    r"|last|previous|session|login"
    r"|filters?|settings?|choice|position|state|device|credentials|cursor|window|told|said|talked|discussed"
    r"|spoke|asked|mentioned"
    r"|went|when|what|where|who|why|how"
    r"|if|whether|which|time)\b"
)
_SUBJECT = re.compile(
    "我们?|咱们?|本项目|这个项目|项目|所有|全部|一律|统一|不要|不能|不可|不准|不许|禁止|严禁|必须|一定|务必"
    "|永远|始终|以后|今后|从现在|任何"
    "|每次|每个|每条|凡是|只|别|勿|默认|用(?![户法过途量])"
)
_PREDICATE = re.compile(
    "必须|禁止|严禁|统一|一律|不要|不能|不得|不可|不准|不许|不用|只能|只用|只许|应该|应当|需要|默认|固定"
    "|永远|始终|采用|使用|改为|改用|放在"
    "|要|都|走|叫|按|别|勿|喜欢|偏好|习惯|讨厌|倾向|希望|想要|爱用|是(?!否|不是|什么|哪|谁)|为(?!什么|何)"
    "|(?<![引作费信通占利试应])用(?![户于途处法过量的])"
)
# What makes a sentence about anything at all a rule.
_RULE_WORD = re.compile(
    "必须|禁止|严禁|统一|一律|不要|不能|不得|不可|不准|不许|不用|只能|只用|默认用|默认是|固定|永远|始终"
    "|采用|改为|改用|要用|都用|都走|都要"
    "|应该|应当|是(?!否|不是|什么|哪|谁)|(?<![引作费信通占利试应使选])用(?![户于途处法过量的])"
)
_SUBJECT_EN = re.compile(
    r"(?:we|i|our|my|all|every|each|no|any|always|never|only|don't|do not|not to|this (?:project|repo"
    r"|codebase|app)|the|these|those|there"
    r"|everyone|everything|nothing|nobody|you (?:must|should|never|always|can't|cannot)|it(?:'s"
    r"| is))(?![\w'-])"
)
_PREDICATE_EN = re.compile(
    r"(?:\b(?:am|is|are|isn't|aren't|must|mustn't|should|shouldn't|shall|will|won't|can|can't|cannot|don't"
    r"|doesn't|do not|does not|never|always"
    r"|only|uses?|prefers?|likes?|loves?|hates?|dislikes?|wants?|needs?|has|have|deploys?|ships?|runs?"
    r"|stores?|keeps?|lives?|goes|works?|calls?"
    r"|writes?|targets?|supports?|follows?|starts?|names?|expects?|requires?|rel(?:y|ies)|tests?|merges?"
    r"|releases?|formats?|logs?|returns?"
    r"|treats?|avoids?|speaks?)\b|'s |'re |'m |'d rather)"
)
_RECALLS = re.compile(
    r"(?:i|we|you|they|he|she) (?:just |already )?(?:talked|discussed|spoke|told|said|asked|mentioned|went"
    r"|were|was|had|did|met|broke)\b|when (?:i|we|you|they|he|she)\b"
)
_CLAUSE = re.compile(r"[^，,。;；!！?？\n]{0,160}")


def is_statement(content: str) -> bool:
    """A rule or a fact about the project, judged by its first clause."""
    clause = _CLAUSE.match(content)
    first = clause[0].strip() if clause else ""
    if not first or first[-1] in "吗呢么的":
        return False
    if first[0].isascii() and first[0].isalnum():
        if not _SUBJECT_EN.match(first):
            if _FEATURE_EN.match(first):
                return False
            return bool(re.search(f"[{CJK}]", first)) and _RULE_WORD.search(first) is not None
        predicate = _PREDICATE_EN.search(first)
        return predicate is not None and _FEATURE_EN.search(first, 0, predicate.start()) is None
    if _FEATURE.match(first):
        return False
    return (_PREDICATE if _SUBJECT.match(first) else _RULE_WORD).search(first, 0) is not None


def is_clause(content: str) -> bool:
    """An English clause with a subject and a verb."""
    return _SUBJECT_EN.match(content) is not None and _PREDICATE_EN.search(content) is not None


def recalls(content: str) -> bool:
    """What was, told to one who was there: "remember, we talked about …"."""
    return _RECALLS.match(content) is not None


def names_feature(words: str) -> bool:
    return _FEATURE.match(words) is not None or _FEATURE_EN.search(words) is not None
