# ruff: noqa: E501 (a table: one alternative, one line)
"""How people mark what is not to last, in Chinese and English, and what stands around what is. Pure tables.

Every pattern is matched against masked text (see `sentences`): quoted words and inline code cannot trigger anything.
Patterns hold bounded repeats only; the caller bounds the length of a sentence.
"""

import re


def any_of(*parts: str, flags: int = re.IGNORECASE) -> re.Pattern[str]:
    """One pattern that any of the parts fits."""
    return re.compile("|".join(f"(?:{part})" for part in parts), flags)


# --- What makes a sentence no statement about how things are to be -------------------------------------------------

QUESTION = any_of(
    r"(?:吗|嘛|么|呢)[\s。.~～]*$",
    r"是否|要不要|能不能|可不可以|是不是|有没有|会不会|该不该|需不需要|用不用|好不好|行不行|对不对|还是说|你(?:推荐|建议|觉得|认为)",
    r"怎么(?!都|也)|怎样|(?<!无论)(?<!不管)如何(?!都)|(?<!写)(?<!写明)(?<!说明)(?<!写清)(?<!注明)为什么|为何|为啥|哪个|哪些|哪种|哪里|哪儿|多少(?!遍|次了)|(?<!这)(?<!那)(?<!好)(?<!十)几个|谁(?:来|负责|知道)",
    r"什么(?!.{0,8}(?:都|也))|咋|何时",
    r"^(?:(?:so|and|but|ok|okay|hey|hi|also|then|well|btw)[\s,]+)*(?:what|why|how|which|who|whose|where|should|shall|can|could|"
    r"would|will|does|do(?!n'?t|\s+not)|is|are|am|was|were|has|may|might|did|have\s+(?:you|we)|when\s+(?:do|does|did|is|are|should|will|can))\b",
    r"\b(?:right|ok|okay|correct|agreed|no|yes)\s*\?",
    r"\b(?:any\s+idea|i\s+wonder|wondering|do\s+you\s+(?:think|know)|tell\s+me\s+(?:what|why|how|if|whether|which))\b",
)
HYPOTHETICAL = any_of(
    r"也许|或许|大概|好像|似乎|考虑|打算|试试|试一?下|建议|不如|假如|假设|万一|说不定|我觉得|我想|我猜|我以为|感觉|犹豫|纠结",
    r"还没|尚未|未定|待定|再说|再议|再看|讨论一下|可能(?!会)(?!性)|本来想|原本|理论上|想要?(?:用|换|看|做|改)|要是|(?:就|该)多好|会更好|更好[吧些]?$|吧？",
    r"\b(?:maybe|perhaps|might|would(?!n't)|could|what\s+if|suppose|imagine|consider(?:ing)?|thinking\s+(?:about|of)|not\s+sure|unsure)\b",
    r"\b(?:probably|possibly|i\s+(?:guess|think|feel|suppose|believe|hope)|seems?|sounds\s+like|hopefully|tbd|undecided|haven't\s+decided)\b",
    r"\b(?:leaning|tempted|if\s+only|ideally|tentative(?:ly)?|some\s?day|let\s+me\s+think|would\s+be\s+(?:nice|good|great))\b",
)
JOKE = any_of(
    r"\b(?:lol|lmao|rofl|jk|ha(?:ha)+h?|hehe+|(?:just\s+)?kidding)\b|哈哈|嘻嘻|呵呵|开(?:个|的)?玩笑|玩笑|逗你|狗头|\bdoge\b|\b23{2,}\b|[🤣😂😜😝🤪😹😆]",
)
REPORTED = any_of(
    r"听说|据说|传言|转述|原话|有人(?:要求|主张)|网上(?!搜|找|下载)|据.{1,10}(?:称|报道)|(?:别的|其他|别人的?)(?:公司|团队|项目)|人家|竞品|(?:^|[，,；;。]|而|但)(?:他们|她们|对方)(?!的)|写着|文档(?:里|上|中)?(?:写|说|提到)",
    r"(?<!我)(?<!我们)(?<!咱们)(?<!就是)(?<!也就是)(?<!比如)(?<!话)(?<!来)(?<!总之)(?<!按)(?<!虽)(?<!再)(?<!小)(?<!听)(?<!解)(?<!的)(?<!不)(?<!先)(?<!会上)说(?!明|法|不|服|白|到底|起来|过的|下|一下|了多少|了[几好]|话|辞)",
    r"(?:他|她|老板|领导|客户|用户|同事|产品|设计师?|测试|运营|专家|官方|文档|文章|教程|书上|博客|老师|小\w|老\w)[^，,。]{0,6}(?:要求|非要|表示|认为|觉得|提到|声称|写着|写道|推荐|希望|喜欢|想)",
    r"\b(?:he|she|they|someone|somebody|people|everyone|everybody|my\s+(?:boss|manager|friend|colleague|co-?worker|teammate|brother|wife|husband)|"
    r"(?:the|our|a|another|one)\s+(?:boss|manager|clients?|customers?|colleague|co-?worker|teammate|pm|designers?|docs?|documentation|article|blog|tutorial|"
    r"book|vendor|consultant|intern|readme|guide|post|spec|linter|other\s+team)|docs|documentation|(?!(?:We|Our|The|This|Team|It|That|I)\b)[A-Z][a-z]+)\s+"
    r"(?:(?:also|always|just|really|once|still|never)\s+)?(?:says?|said|told|tells|thinks?|thought|claims?|claimed|suggests?|suggested|recommends?|"
    r"recommended|mentioned|wants?|wanted|asked|insists?|insisted|believes?|believed|prefers?|preferred|likes?|liked|hates?|loves?|wrote|reckons?|argues?|argued)\b",
    r"\b(?:according\s+to|apparently|i\s+(?:heard|saw|read\s+(?:that|in|on|about|an?|the|somewhere))|rumou?r|supposedly|allegedly|(?:most|other|some|many)\s+(?:teams?|people|companies|developers|projects))\b",
    flags=re.IGNORECASE,
)
NOT_FOR_KEEPS = any_of(
    r"(?:不用|别|不必|不需要|无需|不要|没必要)(?:记|存|保存(?:这|到记忆)|当真)|(?:只是|这是|算是|先|暂且)临时|临时(?:这样|用|的$|方案)|暂时|一次性(?:的|任务)|只是(?:个)?(?:举例|例子|测试|示例|参考|随口)",
    r"^(?:举个?例|比如|例如|譬如|打个比方|示例)|仅供参考|随便(?:写|试|玩)|测试一下|先这样|过渡",
    r"\b(?:don'?t|do\s+not|no\s+need\s+to|needn't)\s+(?:bother\s+to\s+)?(?:remember|memori[sz]e|save\s+(?:this|that)|store\s+(?:this|that)|keep\s+(?:this|that))\b",
    r"\btemporar(?:y|ily)\s+(?:fix|hack|workaround|solution)|\b(?:that|this|it)(?:'s|\s+is)\s+(?:only\s+|just\s+)?temporary|\bfor\s+(?:now|the\s+moment|the\s+time\s+being|today)\b|\bjust\s+(?:this\s+once|for\s+(?:this|now|today|testing|fun))\b",
    r"^(?:for\s+example|e\.g\.|for\s+instance|example)\b|\bas\s+an?\s+(?:example|experiment)\b|\b(?:placeholder|dummy)\b|\bhypothetical(?:ly)?\b",
)
# Tied to this moment or to something only this conversation can point at.
MOMENT = any_of(
    r"这(?:一)?次|本次|今天|今晚|今早|明天|后天|本周|这周|下周|周末|月底|刚才|刚刚|待会|等会|稍后|马上|立刻|此刻|眼下|这回|先别|先不|先用|本轮|截图",
    r"这(?:一)?(?:个(?!坑|项目|仓库|工程|系统|产品|库|团队|应用|服务)|段|行|版|张|块|条|处|份|页|篇|封|步|些|两|几)|那(?:一)?(?:个|段|行|版|些|张|条)|这(?:里|儿|样)|(?<!们)(?<!我)这边|(?<!也)这么|那(?:里|样|么)|(?<![\u4e00-\u9fff])那边|你那边",
    r"(?:^|[，,、。])[上下]面|[上下]面(?:的|这|是|几|那|说|提|写|给|列|贴)|(?<!\d)(?<!\d\s)(?<!岁)(?<!级)(?<!\d\S)(?:以上|以下)(?!划线)|(?:上述|如下)|第[一二三四五六七八九十\d]+(?:个|种|版|条|行|列|段|页|张|栏|步|项|版本)|方案\s?[一二三四A-D\d](?!\w)|选项\s?[一二三A-D\d]|你(?:刚|上次|上面|自己|发|给|写|生成)|当前(?:页|文件|任务|分支|对话)",
    r"\b(?:today(?!'s\s+(?:sync|meeting|call|stand-?up|review|retro))|tonight|tomorrow|right\s+now|just\s+now|this\s+(?!project|repo|codebase|app\b|application|team|company|product|monorepo|service|package|library|system|site|website|shop|store)\w+)\b",
    r"\b(?:that\s+(?:one|part|page|file|function|section|version|option|plan|idea|approach|thing|way)|these|those|the\s+(?:first|second|third|last|former|latter|next|other)\s+\w+(?!\s+(?:days?\s+)?of\s+(?:the|each|every)\s+(?:month|week|year|quarter|sprint))|"
    r"option\s+(?:\w|one|two|three)\b|as\s+(?:above|below|discussed)|next\s+(?:week|month|step)|(?:use|using|like|prefer|touch|change|remove|delete|on|in|of|for|with|to|fix|keep)\s+that\s+\w+|(?:on|by|for|this|next)\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day\b(?!s)|(?<!weeks\s)(?<!days\s)(?<!hours\s)(?<!months\s)later|soon|asap|yet)\b",
    r"\b(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]*\.?\s+\d{1,2}(?:st|nd|rd|th)?\b(?!\s*,?\s*\d{4})(?!.{0,40}\b(?:each|every)\s+year)",
    r"\b(?:in|by)\s+\d+\s+(?:minutes?|hours?|days?|weeks?)\b.{0,12}$|\bwe\s+(?:just|already)\s+(?:talked|discussed)\b",
)
# Lifts MOMENT: the speaker says it holds beyond this moment.
LASTING = any_of(
    r"以后|今后|从今往后|从现在(?:起|开始)|往后|此后|从今天(?:起|开始)|从(?:下个?|这个?)?(?:版本|迭代|周|月)(?:起|开始)",
    r"\b(?:from\s+(?:now|here|today|this\s+point)\s+on(?:wards?)?|going\s+forward|henceforth|from\s+this\s+point\s+forward|in\s+(?:the\s+)?future)\b",
)
PAST = any_of(
    r"昨天|上周|上个?月|以前|曾经|当时|那时|原来(?:是|用|的)|之前(?:是|用|都|一直|我们)|过去(?:是|用|都)|早期|老版本",
    r"\b(?:yesterday|last\s+(?:week|month|night|year)|used\s+to|back\s+(?:then|when)|previously|in\s+the\s+old\s+days|had\s+to|formerly|at\s+my\s+(?:old|last|previous))\b",
)
NARRATIVE = any_of(
    r"^(?:every\s+time|each\s+time|whenever|when)\b.{1,60},\s*(?:i|my)\b|\byou\s+know\s+me\b|\bi'm\s+all\s+about\b",
    # How far something has got.
    r"^(?:all|every|everything|both|most)\b.{0,50}\b(?:is|are)\s+(?:now\s+|all\s+)?(?:blocked|done|complete[d]?|green|ready|set|booked|sorted|confirmed|passing|finished|in\s+place|up\s+to\s+date|gone|failing|broken)\b",
    r"^(?:(?:and|but|so|because|since|as|honestly|well)[\s,]+)*(?:i|i'm|i've|i'll|i'd|it|it's|he|she|they|my|this|that|that's|there|there's|(?:users|people|customers)(?!\s+(?:must|should|may|can)))\b(?!\s+want\s+(?:you\s+to\s+(?:always|never)|all|every))(?!\s+(?:api|app|project|repo|codebase|service|team|product|prefer))",
    r"我(?:只能|必须|总是|从不|一直|老是)|必须(?:承认|说|得说|夸)|只能(?:说|这样|如此|等|靠|呵)|从来没|都(?:用|要|走|写)(?:过|了|疯|死|完)|你(?:总是|必须|一直|只能|都)",
    r"\b(?:i|you|he|she|it|they|that|there|someone|which|who|users|people|customers)(?:'s|'m|'re|'ve|'ll|\s+(?:is|am|are|was|were|has|have|will))?\s+(?:(?!should|must|may|can)\w+\s+)?(?:always|never|only)\b(?!\s+(?:use|want\s+(?:you|the|all)))",
    r"\b(?:i|you|he|she)\s+must\b(?!\s+(?:always|never|not))|\bmust(?:\s+be\s+able|\s+have\s+\w+(?:ed|en)|\s+(?:say|admit|confess)|-\w+|\s+be\s+(?:a|an|the|so|because|some|missing|wrong|tired)\b)|\b(?:a|the)\s+must\b|\bas\s+always\b|\blike\s+always\b",
    r"\bnever\s+(?:mind|ending|seen|been|had|heard|thought|knew|know|done|tried|works?|happened|again\s+will)\b|\bnever-|\balways\s+(?:been|happy|feels?|felt|good|nice|a|an|the|there|something|fails?|breaks?|crash\w*|wanted|wondered|liked|loved|so|on|sharp)\b",
)
NOTHING_ELSE = any_of(
    r"\b(?:no|don'?t)\s+(?:problem|worries|worry|rush|need|idea|more|thanks|adjustments?|questions?|stress|pressure|matter|changes?|ask|tell|just|talk|waste|delay|stop|understand|know|get\s+me|think|care|see|have|want|wanna|like|mind|feel|dramas?|fuss|hassle|biggie|complaints?|objections?|surprises)\b",
)

# --- What makes a clause a request for the present task ------------------------------------------------------------

_EN_LEAD = (
    r"(?:(?:please|now|then|next|so|ok|okay|and|also|first|just|alright|great|cool|hey|hi|yes|no|well|finally|quick\w*|can\s+you|could\s+you|would\s+you|will\s+you|"
    r"i\s+(?:need|want|would\s+like)\s+you\s+to|i'd\s+like\s+you\s+to|i\s+(?:need|want)|we\s+need\s+(?:to|you)|you\s+(?:can|should|need\s+to)|let's|let\s+us|let\s+me|help\s+me|help|go\s+ahead\s+and|to)[\s,!:]+){0,4}"
)
_EN_TASK = (
    r"(?:build|create|add|make(?!\s+sure)|write|fix|implement|show|give|send|generate|update|change|refactor|rename|delete|remove|check|look|explain|review|draft|"
    r"prepare|tell|list|find|search|set\s+up|start|continue|proceed|move\s+on|go\s+ahead|install|convert|translate|summari[sz]e|turn|try|describe|suggest|recommend|compare|"
    r"analy[sz]e|plan|design|book|schedule|figure|work\s+on|walk|provide|double-check|get|take|pull|open|finish|extend|split|extract|debug|investigate|"
    r"clean\s+up|migrate|upgrade|bump|revert|undo|rewrite|simplify|optimi[sz]e|swap|replace|move|hook|wire|scaffold|dive|focus|lock)\b"
)
# Work that is asked for by other verbs, too; these name how things are done as well ("deploy only on Tuesdays", "备份保留
# 30 天"), so they ask only behind a courtesy, or with this very thing as their object, and not for every case.
_EN_WORK = (
    r"(?:publish|deploy|release|ship|upload|download|run|rerun|execute|email|mail|post|print|resize|compress|crop|export|import|merge|push|copy|sync|back\s+up"
    r"|order|buy|call|contact|notify|invite|announce|archive|restore|rebuild|restart|collect|gather|count|calculate|measure|reproduce|proofread|polish|shorten"
    r"|arrange|prepare|reserve|cancel|submit|register|pay|pack|label|scan|fetch|load|attach|fill\s+in|apply)\b"
)
_EN_FOR_EVERY_CASE = r"(?!.*\b(?:always|never|only|every|each|any|all|whenever|when|until|unless|before|after|if|not|than|by\s+default|instead|without|once)\b|.*n't\b|.*\b\w{2,9}days\b)"
_ZH_WORK = r"(?:发布|部署|上传|下载|运行|执行|导出|导入|合并|推送|打包|发送|寄|打印|压缩|裁剪|安排|预约|预订|联系|通知|提交|同步|备份|归档|恢复|安装|升级|迁移|清理|更新|核对|统计|汇总|计算|订|购买|启动|重启)"
_ZH_FOR_EVERY_CASE = r"(?!.*(?:都|一律|统一|必须|只|每|任何|所有|之?[前后时]|不|别|用|走))"
REQUEST = any_of(
    r"^(?:好的?|那么?|嗯|行|ok|现在|然后|再|接着|最后|顺便|另外|还有|首先|[\s，,、])*(?:请|麻烦|劳烦|拜托|可以|能否)?(?:你|您|咱们?|我们)?(?:现在|先|再|就|来)?"
    r"(?:帮(?:我|忙|我们|他|一下)|给我|替我|为我|我(?:要|想|需要|希望)(?:你|做|一|看|加|改|在|把|实现|写|个)|继续|开始(?!时间|日期)|接下来|"
    r"(?:做|写|建|加|来|搞|画|列|改|换|补|起|出|生成|创建|新建|实现|新增|添加|设计|开发)(?:一|个|几|两|下|出|好|完|上)|"
    r"(?:看|检查|分析|解释|优化|重构|修复|修改|调整|整理|处理|总结|测试|翻译)(?:一下|下|这|那|看看)|(?:看看|说说|讲讲|聊聊|介绍|告诉我|修一?下)|"
    r"(?:把|将)(?!.{0,30}(?:一律|统一|必须|禁止)))",
    rf"^{_EN_LEAD}{_EN_TASK}",
    r"^(?:(?:and|so|then|also|now|ok|okay)[\s,]+)*(?:can|could|would|will)\s+you\b|^(?:(?:and|so|then|now)\s+)*(?:i|we)(?:'d|\s+would)?\s+(?:need|want|like)\s+(?:you\s+)?to\b|^let's\s+(?:see|do|start|begin|get|focus|move|talk|make|build|add|try|work|continue|fix|look|dive)\b",
    r"^(?:做|写|建|画|改|修|加|删)(?:登录|注册|首页|列表|页面|接口|按钮|表单|测试|文档|功能)",
    rf"^{_EN_LEAD}{_EN_WORK}\s+(?:this|that|these|those|it|v?\d)\b{_EN_FOR_EVERY_CASE}",
    rf"^{_ZH_WORK}\s*(?:v?\d|这|那){_ZH_FOR_EVERY_CASE}",
    r"(?<!了)一下(?:吧|呗)?$",
    # What is to be done comes under its number, or as the next of several.
    r"^(?:第\s?[一二两三四五六七八九十\d]+\s?(?:步|阶段|个任务|项任务)|步骤\s?[一二两三四五六七八九十\d]+|任务\s?[一二两三四五六七八九十\d]+|下一(?:步|个任务|项任务|个需求))\s?(?:[:：]|是|就)",
    r"^(?:(?:step|task|phase|ticket|todo)\s?#?\d{1,3}|next(?:\s+(?:up|step|task|thing))?|todo)\s?(?::|\s-\s|\s?—)",
    r"^(?:做|写|建|画|搭)(?!法)[^，,。：:\s]{1,12}[：:]",
)
# The same with the courtesy that OPENERS take off.
ASKED = any_of(
    rf"^(?=(?:\w+\s+){{0,3}}(?:please|now|next|you\s+to|go\s+ahead\s+and|help\s+me)\b){_EN_LEAD}{_EN_WORK}{_EN_FOR_EVERY_CASE}",
    rf"^(?:现在|然后|再|接着|最后|顺便|另外|[\s，,、])*(?:请|麻烦|劳烦|拜托)(?:你|您)?(?:现在|先|再|就|来)?(?:{_ZH_WORK}){_ZH_FOR_EVERY_CASE}",
)
# Words before the matter itself; stripped from a content, allowed before a decision's subject.
OPENERS = re.compile(
    r"^(?:(?:"
    # Words that are openers only when a comma sets them apart …
    r"(?:行|可以|是的|对|没错|同意|不对|不是|错了|补充|说明|约定|强调|提醒|一点|no|sure|right|again)(?=\s*[，,、：:。!！])"
    # … those that stand apart …
    r"|(?:嗯+|哦+|啊|好的?|好吧|没问题|总之|ok(?:ay)?|also|btw|by\s+the\s+way|so|well|hey(?:\s+there)?|hi(?:\s+there)?|hello|yes|yeah|yep|nope|alright|great|good|cool|"
    r"perfect|thanks|thank\s+you|and|but|oh|one\s+more\s+thing|another\s+thing|actually|quick\s+note|fyi|ps|p\.s\.|(?:as\s+a\s+)?reminder|just\s+so\s+you\s+know|to\s+be\s+clear|"
    r"in\s+short|finally|after\s+(?:some|a\s+long|much)\s+(?:discussion|debate|thought)|team|guys|lol|haha+|哈哈+|(?:please\s+)?note(?:\s+that)?|please)(?=[\s，,、：:。.!！—-])"
    # … and those that may run on into the sentence.
    r"|对了|另外|此外|还有(?:一点|就是|个事)?|顺便(?:说一?下|提一?下)?|(?:补充|说明|约定|再?强调|提醒)一?[下点遍]|所以|首先|其次|然后|再说一遍|请(?:你|大家|务必)?(?:注意)?|那么?(?=就|我们))"
    r"[\s，,、：:。.!！—-]*){1,5}",
    re.IGNORECASE,
)
DIRECTIVE_LEAD = re.compile(
    r"^(?:以后|今后|从今往后|从现在(?:起|开始)|从今天(?:起|开始)|往后|此后|下次|下回|from\s+(?:now|here|today|this\s+point)\s+on(?:wards?)?|going\s+forward|henceforth|in\s+(?:the\s+)?future|next\s+time)[\s，,：:]*",
    re.IGNORECASE,
)
TAIL = re.compile(
    # From the first of them: a long run that does not end the text is read once.
    r"(?<![\s，,、：:；;。.!！~～—哦喔哈啊呀啦哟噢])"
    r"(?:[\s，,、：:；;。.!！~～—]|(?<!酒)(?<!网)吧|哦|喔|哈|啊|呀|啦|哟|噢|\b(?:please|ok|okay|thanks|thank\s+you)|谢谢|多谢|辛苦了|拜托)+$",
    re.IGNORECASE,
)
# Takes back what the sentence before it said.
RETRACTION = re.compile(
    r"^(?:哦|啊|呃|等等|哎)?[，,]?(?:不对|说错了|打错了|写错了|算了|当我没说|忽略(?:这|上)|收回|开(?:个)?玩笑|逗你|以上.{0,4}(?:玩笑|临时|例子)|这(?:只)?是(?:个)?(?:临时|举例|例子|玩笑|测试))"
    r"|^(?:scratch\s+that|never\s?mind|ignore\s+that|forget\s+(?:that|it)|(?:just\s+)?kidding|jk\b|wait,?\s+no|my\s+mistake|sorry,?\s+i\s+meant|i\s+take\s+(?:that|it)\s+back|(?:only|just)\s+for\s+(?:now|this|today)|that(?:'s|\s+was)\s+(?:just\s+)?(?:a\s+joke|an\s+example|temporary))",
    re.IGNORECASE,
)
# A clause that only sets the scene for the next one belongs to it.
CONDITION = re.compile(
    r"^(?:如果|若|当|凡是|只要|一旦|对于|关于|除(?:了|非)|在|涉及|遇到|每次|每当|每个?|所有|任何|为了?|由于|因为|不管|无论|根据|按照|涉|发布|提交|上线|合并|部署|调用|新增|修改|删除|if|when|whenever|unless|for|in|on|once|before|after|until|while|since|because|as|to|with|without|except|regardless|across)",
    re.IGNORECASE,
)
# The header of what is asked for now.
TASK_HEADER = re.compile(
    r"(?:需求|任务|要做的|功能点?|待办|改动点?|验收标准|步骤|todo|下一[个步项件])[^，,。]{0,6}[:：]|^.{0,30}\b(?:requirements?|tasks?|to-?dos?|features?|acceptance\s+criteria|user\s+stor(?:y|ies)|next\s+steps?|scope|do\s+(?:these|the\s+following))\b.{0,24}:",
    re.IGNORECASE,
)
# The header of a list of rules.
RULES_HEADER = re.compile(
    r"(?:规范|约定|规则|原则|约束|守则|公约|铁律|红线)[^，,。]{0,8}(?:[:：]|如下|有|是)?\s*[:：]$|^.{0,30}\b(?:conventions?|rules?|guidelines?|standards?|house\s+style|policies|policy)\b.{0,24}:$",
    re.IGNORECASE,
)
