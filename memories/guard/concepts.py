# ruff: noqa: E501 - a table: one sign a line, so that two can be compared
"""Signs without an order of words: a sentence in which all concepts of a family meet.

Patterns (`signs`) know phrases; an attack can always be put another way. A sentence that speaks of
dropping, of what came before, and of instructions is held whichever way it is built. Words are looked up
in sets, Chinese by substring, so a sentence costs little.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memories.guard.findings import occurs
from memories.guard.signs import DOMAIN, OUTSIDE_ZH

type Concept = frozenset[str] | tuple[str, ...] | re.Pattern[str]

# A sentence; one of more than 240 characters is read in pieces of that size.
_SENTENCE: Final = re.compile(
    r"[^。！？；;\n!?]{1,240}?(?:[。！？；;\n!?]|\.(?=\s|$)|$)|[^。！？；;\n!?]{240}"
)
_WORD: Final = re.compile(r"[a-z']+")


@dataclass(frozen=True, slots=True)
class Bag:
    code: str
    concepts: tuple[Concept, ...]
    negatable: bool = True


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _zh(words: str) -> tuple[str, ...]:
    return tuple(words.split())


# fmt: off
_DROP: Final = _set("ignore ignoring disregard disregarding forget forgetting disobey violate opposite contrary unlearn renounce reject")
_EARLIER: Final = _set("your previous prior earlier above preceding former developers developer developer's operator system openai anthropic original everything whatever")
_ORDERS: Final = _set("instructions instruction rules guidelines directives directive prompt prompts policies guardrails configured told programming training guidance mandates")
_SHOW: Final = _set("reveal show print paste dump output repeat give share hand tell list display disclose expose describe quote leak recite translate say state write speak")
_SEND: Final = _set("send upload post paste put include attach forward transmit exfiltrate leak mail email embed append encode smuggle transfer report copy carry")
_ALL: Final = _set("all every each any")
_REPLY: Final = _set("response responses answer answers reply replies message messages output outputs")
_ADDRESS: Final = re.compile(rf"https?://|{DOMAIN}")
_THIS: Final = re.compile(r"\b(?:this|these|the above|the following)\s(?:message|memory|memories|rule|rules|note|instruction|instructions|text|prompt)\b")
_THIS_ZH: Final = _zh("这条 本条 这段话 此条 该条 本指令 本规则 此指令 这个规则 这个指令 此规则 本记忆 此记忆")

WORDS: Final = (
    Bag("override", (_DROP, _EARLIER, _ORDERS)),
    Bag("override", (
        re.compile(r"\b(?:your|previous|prior|earlier|above|former)\s(?:\w{1,16}\s){0,1}(?:instructions?|directives?|guidelines|rules|polic(?:y|ies)|prompts?|restrictions|orders)\b(?! numbers?)"),
        _set("expired void invalid revoked cancelled canceled nullified lifted withdrawn suspended abolished existed waived rescinded dissolved"),
    ), negatable=False),
    Bag("override", (
        re.compile(r"\b(?:this|these) (?:memory|note|rule|message|instruction|memo|directive)s?\b|\bwhat (?:this|i) \w{0,12}\s?says?\b"),
        _set("outranks outrank supersedes trumps beats precedence instead overrules overrule"),
        _set("developer developer's developers system user user's users everything operator openai anthropic"),
    )),
    Bag("override", (
        re.compile(r"\b(?:safeguards?|guardrails?|safety (?:rules?|training|checks?|filters?|polic\w{1,3}|guidelines?))\b"),
        re.compile(r"\b(?:lifted|never (?:written|existed|applied)|(?:does|do) not (?:apply|exist|matter)|no longer (?:appl\w{1,3}|exist|matter)\w?|switched off|turned off|waived|suspended)\b"),
    ), negatable=False),
    Bag("override", (re.compile(r"\b(?:stop|quit|no need to|needn't|don't|not) (?:care|caring|worry(?:ing)?|bother(?:ing)?|think(?:ing)?) (?:about|with)\b"), _EARLIER | {"configured", "given"}, _ORDERS), negatable=False),
    Bag("persona", (
        _set("you you're act answer respond behave ai assistant"),
        re.compile(r"\b(?:free (?:from|of)|without|beyond|exempt from|released from|liberated from)\s(?:\w{1,12}\s){0,2}(?:polic(?:y|ies)|restrictions?|rules|safety|guardrails|filters?|censorship|ethics|morals?|limits)(?:\s(?:now|any ?more))?\s{0,2}(?=$|[.!,;]|and\b)"),
        re.compile(r"\b(?:act|answer|respond|behave|are now|be|you're|are)\b"),
    )),
    Bag("prompt_leak", (
        _SHOW,
        re.compile(r"\b(?:(?:hidden|internal|initial|original|secret)\s(?:\w{1,8}\s){0,1}(?:prompt|instructions|rules|guidelines)|(?:your|the (?:whole|entire|full|complete|system))\s(?:\w{1,10}\s){0,2}(?:system (?:prompt|message)|prompt|context window))\b(?!\s(?:template|file|hash|for|in|of|library|engineering|is|are|field|text|length))"),
    )),
    Bag("exfiltration", (
        _SEND,
        re.compile(r"\b(?:secrets|credentials|passwords|environment variables|conversations?|chat (?:history|logs?)|memories|id rsa|etc/passwd|source code|private keys?|session history|user data|history|(?:session )?cookies?)\b"),
        re.compile(rf"\b(?:to|at|into|from|via)\s(?:\w{{1,12}}\s){{0,3}}(?:https?://|{DOMAIN}|[\w.+]{{1,40}}@\w|(?:my|an?) (?:webhook|server))|https?://[^\s]{{1,160}}[{{<$]"),
    )),
    Bag("exfiltration", (
        _set("print dump echo reveal output list paste"),
        re.compile(r"\b(?:the|all|every|your) (?:environment variables|env vars|secrets|api keys|credentials)\b"),
        _set("instead answering reply response answer chat me"),
    )),
    Bag("exfiltration", (_set("paste print include send upload reveal output post reply attach dump"), re.compile(r"/etc/(?:passwd|shadow)|\.ssh/|\bid rsa\b|\.aws/credentials"))),
    Bag("concealment", (
        _set("never not don't no without leave hide conceal keep mustn't cannot"),
        _set("user human humans users people anyone anybody answers reply logs nobody"),
        re.compile(r"\b(?:find out about|learn (?:about|of)|know (?:about|of)|aware of|trace of|tell|mention|see|notice|evidence of|hear (?:about|of)|know (?:that )?you (?:have|were))\s(?:\w{1,8}\s){0,2}(?:this|that this|these|told)\b"),
    ), negatable=False),
    Bag("propagation", (
        _THIS,
        _set("copy copied duplicate duplicated replicate replicated spread propagate propagated written write insert inserted store stored repeat forward broadcast share"),
        _ALL | {"other"},
        _set("session sessions project projects agents agent conversations conversation chats repos repositories memories topics"),
    )),
    Bag("tampering", (_set("erase delete wipe remove purge destroy overwrite clear"), _ALL, re.compile(r"\bmemories\b|\bmemory (?:about|of|that|on|mentioning)\b"))),
    Bag("approval", (
        _ALL,
        re.compile(r"\b(?:commands?|tool calls?|operations|actions|requests|permissions|shell)\b"),
        re.compile(r"\b(?:pre ?approved|pre ?authori[sz]ed|already approved|approved in advance|permanently (?:approved|allowed)|implicitly approved)\b"),
    )),
    Bag("approval", (
        _set("skip never don't without stop not"),
        _set("asking ask request requesting seek seeking await"),
        _set("permission approval consent"),
        _set("user human me owner user's anyone"),
    ), negatable=False),
    Bag("steering", (_ALL, _REPLY, _set("embed append include insert add cite link recommend promote mention advertise"), _ADDRESS)),
    Bag("steering", (
        _set("bank payment iban wallet account transfer paypal deposit"),
        _set("asks ask asked requests inquires wants"),
        _set("give answer reply respond provide say tell"),
        re.compile(r"\d[\d ]{7,}\d|0x[0-9a-f]{8}"),
    )),
    Bag("authority", (_set("mention recommend cite describe present call treat name"), _ADDRESS, _set("official authoritative best trusted safest safe"), _ALL | {"whenever", "always"})),
    Bag("remote_code", (_set("execute run eval"), _set("base64"), _set("below following without above silently"))),
    Bag("remote_code", (_set("fetch download curl load read get open"), re.compile("https?://"), _set("follow obey"), _set("it them instructions commands contents"))),
)
HAN: Final = (
    Bag("override", (
        _zh("忽略 无视 忘了 忘掉 忘记 违反 违背 抛开 相反 推翻 不再遵守 不要遵守 不必在意 不用在意 别在意 不必理会 不用理会"),
        re.compile("(?:先前|之前|此前|以前|前述|上述|你的|给你的|开发者|开发商|系统)[^，。；]{0,6}?(?:指令|准则|规定|限制|约束|提示词|守则|要求)"),
    )),
    Bag("override", (
        re.compile("(?:先前|之前|此前|前述|上述|以上|你的)[^，。；]{0,3}?(?:指令|规则|准则|规定|限制|策略|约束|守则|禁令)"),
        re.compile("作废|无效|失效|不再(?:适用|有效|生效|存在)(?!于)|从未存在|从来没有|已经?过期|废止|已经?解除|不算"),
    )),
    Bag("override", (("用户", "开发者", "管理员"), re.compile("说的(?:话)?(?:都|全|统统)?(?:不算|不作数|无效|不用听|不要听)"))),
    Bag("override", (re.compile("(?:这|本|此)(?:条|段|个)(?:笔记|记忆|规则|指令|消息|备忘)"), _zh("高于 大于 超过 凌驾 压过"), _zh("开发者 系统 所有 用户 一切"))),
    Bag("override", (re.compile("安全(?:规则|限制|训练|检查|防护|准则|策略|机制)"), re.compile("从来没有|从未|不适用(?!于)|已(?:经)?(?:全部)?解除|解除(?:了)?(?:全部|所有)|不再生效|形同虚设"))),
    Bag("override", (_THIS_ZH, _zh("最高权限 最高优先级 凌驾 不得违反 无条件 必须服从 高于一切")), negatable=False),
    Bag("override", (_zh("不管 无论 不论"), ("用户",), _zh("这条 本条 以下 下面"), _zh("执行 照做 服从 遵守"))),
    Bag("persona", (_zh("你 您"), re.compile("(?:不受|摆脱|解除|突破|脱离|挣脱|卸下|没有任何|无任何)了?[^，。；]{0,5}?(?:限制|约束|束缚|规则|审查|道德|底线|管控|枷锁)"))),
    Bag("prompt_leak", (
        _zh("输出 打印 显示 泄露 透露 告诉 说出 复述 展示 给我看 公开 列出 贴 发给 交出 写出 背 念 翻译"),
        re.compile("(?:你的?(?:隐藏|内部|系统|初始|原始|完整)?|隐藏的?|内部的?)(?:系统)?(?:提示词|指令|设定|上下文|规则)|上下文窗口|你的系统消息"),
    )),
    Bag("exfiltration", (
        _zh("发送 发到 发给 传到 上传 外传 贴到 嵌入 拼到 拼接 附上 写进 推送 泄露 转发 提交到 打包 带进 带到 塞进"),
        _zh("密钥 密码 环境变量 凭据 私钥 聊天记录 对话 记忆 源代码 用户数据 隐私 历史记录 cookie 每条消息"),
        re.compile(rf"https?://|{DOMAIN}|[\w.+]{{1,40}}@\w|外部(?:服务|地址|接口|邮箱)|第三方地址"),
    )),
    Bag("exfiltration", (_zh("打印 输出 列出 显示"), _zh("环境变量 密钥 凭据 私钥"), _zh("不要回答 不用回答 回复里 告诉我 给我"), ), negatable=False),
    Bag("exfiltration", (_zh("贴 输出 发送 上传 写进 打印 发到"), re.compile(r"/etc/(?:passwd|shadow)|\.ssh/|id rsa|\.aws/credentials"))),
    Bag("concealment", (
        _zh("不要 别 不能 不得 不许 绝不 切勿 勿 禁止"),
        _zh("知道 发现 察觉 痕迹 透露 提及 提到 告诉 看到"),
        (*_THIS_ZH, "这件事", "此事", "这一点", "你读过", "你看过", "你收到"),
    ), negatable=False),
    Bag("propagation", (
        (*_THIS_ZH, "这段文字", "这段指令"), _zh("复制 写入 写进 传播 扩散 同步 转发 抄 广播"), _zh("每个 所有 其他 全部 各个"), _zh("会话 项目 智能体 代理 对话 记忆 仓库 主题"),
    )),
    Bag("tampering", (_zh("删除 删掉 抹掉 抹去 清除 清空 销毁 篡改"), _zh("所有 全部 一切 任何 其他"), re.compile("记忆(?!体|库|卡|点)"))),
    Bag("approval", (_zh("所有 任何 全部 一切"), _zh("命令 操作 请求 工具 权限"), re.compile("(?:视为|当作|都|均|默认)已(?:经)?(?:批准|授权|同意)|自动(?:批准|同意)|预先批准|永久(?:批准|授权)"))),
    Bag("approval", (_zh("不要 不用 无需 不必 别 不再"), _zh("征求 询问 请求 等待"), _zh("同意 许可 批准"), ("用户",)), negatable=False),
    Bag("approval", (_zh("不需要 无需 不用 不必"), _zh("批准 审批 同意 授权 许可"), _zh("危险 任何操作 所有操作 一切操作 所有命令 任何命令")), negatable=False),
    Bag("authority", (re.compile(DOMAIN), _zh("官方 权威 最佳 首选 最可信"), _zh("每次 只要 始终 一律 总是 凡是 所有"))),
    Bag("remote_code", (_zh("执行 运行"), ("base64",), _zh("下面 以下 不要显示 不要展示 命令")), negatable=False),
    Bag("steering", (_zh("每次 所有 每条 一律 今后 每个"), _zh("回答 回复 输出 答案"), _zh("嵌入 附上 加上 插入 推荐 引用 带上 附带"), re.compile(OUTSIDE_ZH))),
    Bag("steering", (_zh("付款 收款 转账 银行 账户 账号 汇款 支付"), _zh("问 询问 要求"), _zh("回答 回复 告诉 提供 给"), re.compile(r"\d[\d ]{7,}\d"))),
    Bag("remote_code", (_zh("下载 读取 打开 访问 获取"), re.compile("https?://"), _zh("照做 服从 按照其 遵照 执行其中"))),
)


# fmt: on


def _holds(concept: Concept, text: str, words: frozenset[str]) -> bool:
    if isinstance(concept, frozenset):
        return not concept.isdisjoint(words)
    if isinstance(concept, tuple):
        return occurs(concept, text)
    return bool(concept.search(text))


def find(plain: str) -> Iterator[tuple[Bag, int, int]]:
    """Each bag with the sentence in which its concepts meet; a cheap look at the whole text comes first."""
    words = frozenset(_WORD.findall(plain))
    bags = WORDS if plain.isascii() else HAN if len(words) < 3 else WORDS + HAN
    likely = [bag for bag in bags if all(_holds(part, plain, words) for part in bag.concepts)]
    if not likely:
        return
    for match in _SENTENCE.finditer(plain):
        sentence = match[0]
        words = frozenset(_WORD.findall(sentence))
        for bag in likely:
            if all(_holds(part, sentence, words) for part in bag.concepts):
                yield bag, *match.span()
