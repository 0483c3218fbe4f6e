# ruff: noqa: E501 (a table: one alternative, one line)
"""The words that mark a statement as lasting, by the type of memory that it makes, in Chinese and English. Pure tables.

What keeps such a statement from being one stands in `phrases`. Repeats are bounded as they are there.
"""

import re
from dataclasses import dataclass

from memories.extraction.phrases import any_of

CONSTRAINT, DECISION, PREFERENCE, FACT, PITFALL = "constraint", "decision", "preference", "fact", "pitfall"


@dataclass(frozen=True, slots=True)
class Sign:
    """Words that mark a lasting statement of `type`.

    A weak sign says nothing where a request stands before it in the message: there it specifies the present task.
    `leads`: the sign must open its clause (after `OPENERS`). `past`: it speaks of a change, so words of the past are no veto.
    """

    type: str
    pattern: re.Pattern[str]
    weak: bool = False
    leads: bool = False
    past: bool = False


_BAN = (
    r"(?:use|using|import|importing|commit|committing|push|pushing|hard-?cod\w+|expose|mutate|store|call|rely|mix|log|merge|edit|ship|deploy|introduce|put|return|swallow|"
    r"catch|throw|name|nest|inline|bypass|skip|disable|force-push|rebase|squash|reference|access|query|depend|embed|trust|invent|concatenate|assume|render|block|cache)"
)
_TASKLESS = r"(?:use|run|keep|put|name|prefix|wrap|log|return|format|store|escape|validate|document|sign|squash|rebase|include|avoid|prefer|write|test|lint|await|check|ask|answer|reply|respond|end|start)"
_NOUN_ZH = (
    r"端口|地址|域名|仓库|主?分支|数据库|库名|表名|前缀|后缀|版本|时区|编码|路径|目录|负责人|环境|服务器|主色|主题色|品牌色|字体|货币|单位|技术栈|框架|语言|包管理器?|"
    r"组件库|[Uu][Ii] ?库|构建工具|测试框架|缓存|队列|网关|账期|账号|(?:生产|测试|开发|线上)(?:库|机)|文档|邮箱|电话|热线|官网|超时(?:时间)?|默认值|部署|主键|分页|接口|后端|前端|服务|日志|鉴权|认证|密钥管理|账号体系|API|base|CDN|CI|域|区域|机房|集群"
)
_NOUN_EN = (
    r"port|ports|base\s*url|base\s*path|url|endpoint|database|db|repo|repository|branch|region|time\s?zone|timezone|version|server|host|hostname|domain|package\s+manager|"
    r"framework|backend|back-end|frontend|front-end|ci|pipeline|environment|staging|production|prod|queue|cache|broker|bucket|registry|api|api\s+base|gateway|prefix|currency|"
    r"encoding|locale|directory|folder|path|primary\s+colou?r|brand\s+colou?r|colou?r|font|timeout|page\s+size|limit|retention|orm|test\s+runner|linter|bundler|node|python|stack|"
    r"primary\s+keys?|ids?|migrations?|logs?|secrets?|docs|tests|fixtures|assets|schema|service|services|worker|workers|app|site|website|monorepo|deployments?|releases?|config|configuration|flags"
)
_VALUE_EN = (
    r"(?:(?:a|an|the|at|on|in|under|port|called|named|set\s+to|hosted\s+on|hosted\s+in|deployed\s+(?:to|on|in)|running\s+on|written\s+in|built\s+(?:with|on)|"
    r"stored\s+in|served\s+from|located\s+(?:at|in)|always|version)\s+){0,3}"
)
_CONCRETE = r"(?:[\w@#/.:~-]*(?:[\d/_@#ø]|\w-\w)[\w@#/.:~%-]*|(?-i:[A-Z])[\w.+#-]*)"

SIGNS: tuple[Sign, ...] = (
    # Pitfalls that name themselves.
    Sign(
        PITFALL,
        any_of(
            r"踩(?:过|了|到|坑)|有(?:个|一个|很多|不少)?(?:大|小|深)?坑|(?:大|天|老|暗)坑|坑(?:是|在于|点|：|:)|避坑"
        ),
    ),
    Sign(
        PITFALL,
        re.compile(
            r"[^，,]{2,20}(?:要|得)(?:小心|当心|注意(?!到))[^，,]{2,30}[，,].{0,20}(?:会|否则|不然|可能)"
        ),
    ),
    Sign(
        PITFALL,
        re.compile(
            r"^(?:特别|千万|一定|大家|请)?(?:要)?(?:注意(?!到)|小心|当心|留意(?!到)|谨记)了?\s*[：:，,]?.{0,60}(?:会|不(?!要)|默认|没有|有|只|否则|区分|才|是)"
        ),
    ),
    Sign(
        PITFALL,
        any_of(
            r"\b(?:gotchas?|pitfalls?|caveats?|foot-?guns?)\b",
            r"^note\b[:,]?.{8,}(?:,\s*so\s|\bbecause\b|\botherwise\b|,\s*but\s)",
            r"\bwe\s+(?:got|were|have\s+been)\s+(?:burned|burnt|bitten)\b|\bbit\s+us\b|\bthe\s+hard\s+way\b",
        ),
        past=True,
    ),
    Sign(
        PITFALL,
        any_of(
            r"^(?:watch\s+out|beware|be\s+(?:careful|aware)|careful|heads[- ]up|mind\s+that|caution|warning)\b"
        ),
        leads=True,
    ),
    Sign(
        PITFALL,
        any_of(
            r"(?:别忘了?|不要忘了?|记得|千万).{1,40}(?:会(?:把|让|使)?[^，,]{0,8}(?:爆|挂|崩|锁表|白屏|闪退|丢|垮|OOM|泄漏)|否则|不然|要不然|坑)|(?:否则|不然|要不然).{0,24}(?:会|报|出错|失败|崩|丢|挂|死锁|失效|超时|乱码|冲突|打不开|不生效)"
        ),
    ),
    # Decisions.
    Sign(
        DECISION,
        any_of(
            r"(?<!没)(?<!没有)(?<!未)(?<!你)(?<!您)(?<!由)(?<!再)(?<!自己)(?:商定|敲定|拍板|选定|选用|议定|定下来|达成一致|商量好)",
            # Whose decision: ours, or nobody else's.
            r"^(?:[^，,]{0,12}?(?:我们?|咱们?|大家|团队|项目组|公司|会上|讨论|评审|商量|经过)[^，,]{0,10}?)?(?:最终|最后|已经?|一致|还是|也|都|就)*(?<!没)决定(?!不了|性|于|因素|权|吧)",
            r"(?<![早这那只成也])就(?:用|选|定|采用)(?!这|那|你|它|第|上|户|得|到|完|了|不|好|行|可)|(?:商量|讨论|评审|评估|权衡|对比|比较)(?:过|了|完|好|之)?(?:后|一下|下)?[，,].{0,20}(?:还是|就|选|决定|改)(?:用|走|选|按)?|(?:改用|换用|弃用|废弃|迁移到|切换到|迁到)(?!户)",
            r"(?:我们|咱们|项目|团队|统一|全面|已经?|确定|后端|前端)(?:最终|统一|全面|都|决定)?(?:采用|沿用|改为)|不再(?:使用|用|支持|维护|兼容)|(?:结论|决议|最终方案|最终选型)(?:是|：|:)|^[^，,]{2,12}(?:换成|改成|改为|改用)[^，,]{1,20}[，,].{0,16}(?:不.{0,6}了|作废|停用|弃用|下线)|确定(?:用|采用|使用|走|选|以)|(?:方案|选型|结果)(?:就)?(?:定了|定为|确定为)",
            r"(?:我们|咱们|团队)(?:最后|最终|已经)?(?:选|定|挑)了(?!吗)|^(?!把|将)[^，,]{1,20}(?:改为|改成|换成|换为|改用|调整为)[^，,]{1,24}了(?:[，,]|$)",
            r"(?:^|[，,])(?:已经)?定了\s*[，,：:]",
        ),
        past=True,
    ),
    Sign(
        DECISION,
        any_of(
            r"^(?:we|the\s+team|our\s+team)(?:'ve|\s+have|\s+has)?\s+(?:finally\s+|just\s+|all\s+|already\s+|now\s+)?(?:decided|agreed|settled|chosen|chose|opted|picked|standardi[sz]ed|switched|migrated|moved|dropped|adopted|deprecated)\b(?!\s+to\s+(?:modify|change)\b|\s+(?:it|this|the)\b|\s+on\s+(?:it|that|this|the)\b)",
            r"^i(?:'ve|\s+have)?\s+decided\s+(?:to\s+(?:use|keep|drop|switch|adopt|move|store|support|standardi[sz]e)|that\s+we|we)\b",
            r"^let's\s+(?:all\s+)?(?:go\s+with|use|stick\s+(?:with|to)|switch\s+to|standardi[sz]e\s+on|adopt|drop|settle\s+on|keep\s+using|agree)\s+(?!(?:the|that|this|it|your|my|these|those|option|plan|them|both|one|a|an|what|how|to\s+the|\w+ing)\b)",
            r"^we(?:'ll|\s+will|\s+are\s+going\s+to|'re\s+going\s+to|\s+shall)\s+(?:only\s+|always\s+|all\s+|just\s+)?(?:use|go\s+with|stick\s+(?:with|to)|switch\s+to|adopt|host|deploy|keep\s+using|store|drop|standardi[sz]e|support|not\s+(?:use|support|store))\b(?!\s+(?:it|that|this|the\s+(?:first|second|last|plan))\b)",
            r"^we(?:'ll|\s+will|\s+are\s+going\s+to|'re\s+going\s+to)\s+(?:host|deploy|run|ship|build|write)\s+(?:it|this|everything|that)\s+(?:on|in|with|to)\s+(?-i:[A-Z])\w+",
            r"^we(?:'re|\s+are)\s+(?:now\s+)?(?:going\s+with|using|switching|dropping|standardi[sz]ing|migrating|sticking\s+(?:with|to)|moving\s+(?:from|to|off|away))\b(?!\s+(?:it|that|this)\b)",
            r"^(?:final\s+|our\s+|the\s+)*decision(?:\s+(?:is|was)|:)|^we\s+no\s+longer\s+(?:use|support|need|want)\b|^it's\s+(?:settled|decided):",
        ),
        leads=True,
        past=True,
    ),
    # Preferences.
    Sign(
        PREFERENCE,
        any_of(
            r"我(?:们团队|们|个人|本人)?(?:一直|一向|通常|更|比较|还是|最|都|特别|很|真的|不太|平时|不)*(?:喜欢|偏好|偏爱|习惯|倾向于?|讨厌|不爱|反感|受不了)(?!这|那|它|你|上面|第|的话|了|他|她|吗)(?=.{2})",
            r"(?:回答|回复|交流|沟通|输出)[^，,]{0,8}(?:一直|始终|总是|尽量|都|默认)(?!吗).{2,}",
            r"(?:我的|我们的|个人|团队|设计)(?:偏好|习惯|喜好|口味)(?:是|：|:)|^偏好[：:]",
        ),
    ),
    Sign(
        PREFERENCE,
        any_of(
            r"\b(?:i|we)(?:'d)?(?:\s+(?:really|strongly|personally|usually|generally|also|much|tend\s+to|always))*\s+prefer\b(?!\s+(?:to\s+(?:see|get|go|do|discuss|start|focus|wait|stay|talk|move|dive)|it|that|this|the\s+(?:first|second|third|last|other|one|former|latter|left|right|top|bottom|old|new|previous|original|current|\w+er)\b|your|these|those|option))",
            r"\bi'd\s+(?:much\s+)?rather\s+(?:have|use|keep|write|see|avoid|not\s+use)\b.{3,60}\bthan\b|\bmy\s+(?:personal\s+|strong\s+)?preference(?:\s+(?:is|for)\b|:)|\b(?:our|the)\s+team\s+prefers\b",
            r"^(?:personally,?\s+)?i\s+(?:really\s+|do\s+)?(?:like|love|hate|dislike|can't\s+stand|don't\s+like)\s+(?!(?:it|this|that|the|how|what|when|where|your|you|to|him|her|them|these|those|everything|all|both|a\s+lot|our|my|his|and|but|being)\b)(?:\w+\s+\w+|\w+s$)",
        ),
    ),
    # Standing rules.
    Sign(
        CONSTRAINT,
        any_of(
            r"一律|禁止|严禁|不得(?!不|已|了|体)|不许|不准(?!确)|不允许|只允许|只许|只准|切勿|切忌|绝不(?:能|可|要|允许)|绝对(?:不(?:能|要|可以|许|可)|禁止)|永远(?:不要|不能|别|不可)|无论.{1,20}都(?:要|得|必须|不)",
            r"[\w\u4e00-\u9fff]统一(?!一下|下|的|性|起来|了|意见|思想|认证|身份|社会|资源|平台|入口|登录|管理平台|大家)|^统一(?:用|为|走|放|加|使|采|返|处理|命|写|以|按|由|成|叫|从|到|在|带|存|传|转|管|封|是|大写|小写|前缀|格式|[\s:：])",
            r"(?:所有|全部|每个|每次|每条|每张|每一|任何|凡是|一切)[^，,]{1,24}[，,]?[^，,]{0,12}?(?:都?要|都?得|都?需要?|应当?|应该|不要|不能|不用|不应|不可|都用|都走|都带|都加|都以|都放|都写|走|用(?!户)|以|带|加|经过|返回)(?!了|过|完)",
            r"(?:所有|全部|每个|每次|每条|任何|凡是|一切)[^，,]{1,24}都(?!在|会|没|已|很|太|好|有问题|报错|失败|挂|卡|坏|通过|正常|不行|能)[^，,]{1,40}(?<!了)(?:[，,]|$)",
            r"(?:全部|全都|都)(?:放|用|走|写|存|交给|改用|按|以|由)(?:到|在|进)?(?!了|过|完|户|得)[^，,]{1,30}(?<!了)(?:[，,]|$)|^不用[^，,]{1,20}[，,]\s*(?:都|全|只|统一|改)?用",
            r"请(?:你)?(?:一直|始终|总是)|(?:始终|永远)(?:用|使用|保持|以|要|返回|走)",
            r"[\w\u4e00-\u9fff](?:都|全部|全都)(?:要(?!疯|死|完)|得(?!到)|必须|应该?|用(?!户|过|了|完)|走(?!了|完)|放|按|以|使用|采用|写成|改用|不要|不能|不用|需要?)",
            r"(?:以后|今后|从今往后|从现在(?:起|开始)|从今天(?:起|开始)|往后|此后)(?!再说|会|可能|再)",
            r"(?:不要|别|勿)(?:再|使用|混用|硬编码|写死|暴露|擅自|私自|随便|直接(?:用|写|改|操作|调|连|在|往|把))(?!说|问|废|解释|来)",
            r"优先(?:用|使用|采用|考虑|选)|(?:只|仅)(?:能用|用(?!了)|使用|走|限|允许)|宁可.{1,20}也不",
            r"[用走按以].{1,24}(?:而不是|而非|，\s*(?:不要|不用|别用|不走|不是)|,\s*(?:不要|不用|别用|不走|不是))",
            r"用[^，,]{1,20}[，,][^，,]{1,14}(?:不要|不用|作废|弃用)了?$|^(?:还有|再|另)一?条规则",
            r"(?:命名|格式|规范|约定|规则|原则|标准|风格)(?:统一|是|为|要|：|:)(?=.{3})",
            r"(?:每次|每回|发版|提交|上线|合并|部署)\S{0,8}(?:前|后|时)[，,]?\s*(?:都|要|得|必须|先|记得|需)",
        ),
    ),
    Sign(
        CONSTRAINT,
        any_of(
            r"必须|必需(?!品)|(?:不要|别)超过|务必|一定(?:要|得|不能|不要)|千万(?:不要|别|不能)|只能(?:用|在|由|从|通过|是|为|出现|有|写|放|走|选|存|传|改|访问)|不能(?:再|直接|用|使用|出现|写|放|提交|暴露|硬编码|依赖|引入|调用|跳过|超过|省略|为空|大于|小于|有|包含|存|明文|重复|混)|不可(?:用|使用|超过|为空|省略|跳过|修改|更改|改)",
            r"^[^，,。]{2,16}(?:最多|最少|至多|至少|不超过|不低于|不少于)\s*[^，,]{1,24}",
            r"(?:不要|别)(?:用|写|在|把|给|往|引入|提交|依赖|嵌套|打印|出现|存|返回)(?!.{0,4}(?:动|急|慌))|要用.{1,30}不[要用]",
        ),
        weak=True,
    ),
    Sign(
        CONSTRAINT,
        any_of(
            r"\b(?:from\s+(?:now|here|today|this\s+point)\s+on(?:wards?)?|going\s+forward|henceforth|from\s+this\s+point\s+forward)\b",
            r"^in\s+(?:the\s+)?future\b.{0,6}(?:please|don't|always|never|use|keep|write|put|avoid)",
            r"^i\s+want\s+(?:you\s+to\s+(?:always|never)|all|every)\b",
            r"^in\s+(?:this|our)\s+(?:codebase|project|repo(?:sitory)?|app|team|company|monorepo),?\s+(?:we\s+)?\w+",
            r"^(?:[\w'-]+\s+){1,5}never\s+(?:hit|touch|call|use|access|import|contain|include|store|expose|return|log|talk|write|read|depend|go)\b|^(?:[\w'-]+\s+){1,5}always\s+(?:use|return|go|start|end|include|contain|live|carry|get)\b",
            r"^no\s+(?:[\w-]+\s+){1,4}please\b|^no\s+(?:[\w-]+\s+){0,3}[\w-]+(?:\s+please)?,\s+(?:[\w-]+\s+){1,3}only\b",
            r"^(?!(?:i|it|this|that|he|she|they|you)\b)(?:[\w'-]+\s+){1,4}(?:use|uses|go|goes|come|comes|live|lives)\s+[^,]{2,40},\s*(?:not|never)\s",
            r"^(?:(?:please|and|but|then|so|also|we|the\s+team|(?:[\w'/.ø#-]+[\s,]+){1,8}(?:must|should|shall))[\s,]+)*(?:always|never)\s+(?!(?:mind|ending|seen|been|had|there|the|a|an|so|on)\b)[a-z]{2,}",
            r"\b(?:is|are)\s+(?:strictly\s+)?(?:not\s+allowed|forbidden|prohibited|banned|mandatory|off[- ]limits|not\s+permitted|disallowed|required\s+(?:for|on|in|before))\b",
            r"^no\s+(?:[\w-]+\s+){1,4}(?:allowed|in\s+(?:the\s+)?(?:production|prod|code(?:base)?|components?|tests?|commits?|controllers?|templates?))\b",
            r"^(?:only\s+(?:use|allow|ever|accept|import)|use\s+only)\b|^only\s+(?:[\w-]+\s+){1,3}(?:may|can)\b|\bonly\s+ever\b|^(?:we|team)\s+only\s+(?:use|deploy|support|merge|release|ship|allow|accept)\b",
            r"\b(?:all|every|each|any)\s+.{1,50}?\b(?:must|should|needs?\b(?!\s+(?:fixing|work|help|a\s+fix))|ha(?:ve|s)\s+to|shall|go(?:es)?\s+(?:through|in|into|under)|starts?\s+with|ends?\s+with|returns?|lives?\s+(?:in|under)|uses?|gets?)\b",
            r"^(?:we\s+)?(?:use|prefer|write|name|store|put|import|reference|log|call|do)\b.{1,40}\b(?:instead\s+of|rather\s+than|,?\s+(?:and\s+)?(?:not|never)\b)",
            rf"^(?:please\s+)?(?:always\s+)?{_TASKLESS}\b.{{0,60}}\b(?:before|after|for|in|on|with|at)\s+(?:every|each|all)\b|^(?:please\s+)?{_TASKLESS}\b.{{0,50}}\b(?:whenever|every\s+time|each\s+time|everywhere|throughout|across\s+the\s+(?:codebase|project|repo|app))\b",
            r"^(?:whenever|every\s+time|each\s+time|before\s+(?:every|each)|after\s+(?:every|each))\b(?!\s+(?:i|my|it|he|she|they)\b)(?!.{1,60},\s*(?:i|my|it|he|she|they|there|that)\b)",
            r"\b(?:one\s+more|another|new|house|ground|golden)\s+rule\s*:|\b(?:our|the|project|team|naming|coding|a|house)\s+(?:convention|rule|policy|standard)s?\s*(?:is|are|here\s+is|:)",
            r"^(?:please\s+)?(?:do\s+not|don'?t|never)\s+\w+\s.{2,50}\b(?:without\s+(?:asking|approval|permission|a\s+review|telling)|unless)\b|^no\s+[^,]{3,40},?\s+please$",
            r"^(?:please\s+)?(?:do\s+not|don'?t)\s+ever\b|^under\s+no\s+circumstances\b",
        ),
    ),
    Sign(
        CONSTRAINT,
        any_of(
            r"^(?!i\b|you\b|he\b|she\b|it\b|that\b|this\b|there\b|my\b)(?:[\w'/.ø#-]+[\s,]+){1,9}?must(?:n't)?\b",
            rf"^(?:please\s+)?(?:do\s+not|don'?t|avoid|stop|never)\s+(?:ever\s+|directly\s+)?{_BAN}\b",
            r"^(?:make\s+sure|ensure)\s+(?:that\s+)?(?:all|every|each|any|no|we\s+(?:always|never)|you\s+(?:always|never)|to\s+(?:always|never))\b",
            r"\b(?:may|should)\s+(?:not|only|never)\b|\bmust\s+not\b|\bcannot\s+be\s+(?:changed|renamed|removed|null|empty|edited)\b",
        ),
        weak=True,
    ),
    # Pitfalls told by cause and effect.
    Sign(
        PITFALL,
        any_of(
            r"(?:如果|直接|在|用|不|没|当|一旦|同时|重复|忘记|多个|并发|升级|修改|删除|调用|里|中|时|后|下|前)[^，,]{0,30}[，,]?[^，,]{0,16}(?:就?会|容易|可能会|经常会?|总是)(?:导致|造成|引起|引发|触发|不刷新|不生效|不更新|丢失|丢数据|泄[漏露]|卡死|崩溃|死锁|超时|报错|失效|冲突|重复|失败|被覆盖|覆盖|乱码|出错|出问题|变慢|卡住|打不开|挂|锁表|白屏|闪退|打爆|撑爆|OOM)",
            r"\b(?:breaks?|fails?|crash(?:es)?|hangs?|leaks?|deadlocks?|times?\s+out|explodes?|corrupts?|duplicates?|blows?\s+up|silently\s+\w+|is\s+(?:flaky|unreliable)|doesn't\s+(?:work|support)|won't\s+work)\b.{0,24}\b(?:when(?:ever)?|if|under|unless|without|after|because)\b",
            r"\bsilently\s+(?:drops?|fails?|ignores?|swallows?|truncates?|overwrites?|corrupts?|converts?|loses?|skips?|rounds?)\b",
            r"\b(?:otherwise|or\s+else|or\s+it)\b.{0,40}\b(?:break|fail|crash|hang|leak|deadlock|corrupt|lose|lost|error|time\s*out|wipe|overwrit\w+|duplicate)\w*",
            r"^(?!(?:i|you|he|she|we)\b).{3,60}\bwill\s+(?:silently\s+)?(?:break|fail|crash|hang|leak|deadlock|corrupt|wipe|lose|overwrite|trigger|double)\b",
            r"\b(?:causes?|leads?\s+to|results?\s+in)\b.{0,40}\b(?:crash|error|leak|deadlock|timeout|race|failure|duplicate|loss|corruption|conflict|stale)\w*",
            r"^don'?t\s+forget\s+(?:to|that)\b.{1,60}\b(?:every|each|before|after|when|or|otherwise)\b",
        ),
        weak=True,
    ),
    # Facts about the project, with a value one can point at.
    Sign(
        FACT,
        any_of(
            rf"(?:{_NOUN_ZH})(?:号|名|名称|地址|前缀|人)?(?:目前|现在|默认|都|统一|固定)?(?:是|为|用的?是?|使用|叫|跑在|部署在|放在|存在|位于|设为|监听|固定在|锁定在|走|[：:=])\s*(?!什么|哪|否|不是|错|对的|好|坏|空的|这|那|有|户|一个?[好坏]|[45]\d\d(?!\d)|null|undefined)[\w/.#øa-zA-Z][^，,]{{0,50}}",
            r"^(?:目前|现在)?(?:我们|咱们)(?:这边|项目|团队|公司|后端|前端|服务)*(?:目前|现在|一直|都|主要|线上)*(?:用|使用|采用|跑|部署|基于)(?:的是|的|在)?\s*(?!什么|哪|这|那|了|过|户|完|一下|来|你|不|上面|第)[\wø][^，,]{0,40}",
            r"(?:本|这个|我们的?|咱们的?|该)(?:项目|仓库|系统|产品|工程|应用|小程序|网站|后台|[Aa]pp|APP)(?:是|用|使用|基于|跑在|部署在|依赖|(?:只|仅|最低|最高)?支持|面向|采用)(?!不是|什么|哪|怎|户)[^，,]{2,40}",
            r"^[^，,。]{2,16}(?:默认(?:为|是|按|用|值)|限制(?:为|在)|上限(?:为|是)|固定(?:为|是|在|用))\s*[^，,]{1,24}",
            r"[是为叫][^，,]{1,20}[，,]\s*(?:而)?不(?:是|再是|叫)(?!吗)",
            r"^[\w\u4e00-\u9fff /-]{1,16}(?:由|归)[\w\u4e00-\u9fff]{1,10}(?:负责|维护|管理|审批)",
        ),
        weak=True,
    ),
    Sign(
        FACT,
        any_of(
            rf"^(?:our|the|this\s+project's|all|every)?\s*(?:[\w'’-]+\s+){{0,3}}?(?:{_NOUN_EN})(?:\s+(?:number|name|url|server|base|address))?\s+(?:is|are|uses?|runs?\s+on|lives?\s+(?:in|at|under|on)|listens?\s+on|defaults?\s+to|points?\s+to|sits?\s+(?:in|behind)|goes?\s+to)\s+{_VALUE_EN}{_CONCRETE}",
            rf"^(?:we|our\s+team|our\s+(?:[\w-]+\s+)?(?:{_NOUN_EN})|the\s+(?:project|app|team|backend|frontend|api|repo|site)|this\s+(?:project|repo|codebase|app))\s+(?:currently\s+|now\s+|mainly\s+|also\s+|only\s+)*(?:uses?|runs?|hosts?|deploys?|targets?|supports?|stores?|is\s+built\s+(?:on|with)|is\s+written\s+in|relies\s+on|depends\s+on|ships?)\s+(?!(?:it|this|that|them|to|out|into|your|these|those)\b)(?:[\w-]+\s+){{0,5}}?{_CONCRETE}",
            rf"^(?:our|the)\s+(?:[\w'’-]+\s+){{0,2}}?(?:{_NOUN_EN})\s+(?:returns?|expects?|accepts?|requires?|stores?|serves?|exposes?|talks?\s+to|speaks?|sends?)\s+(?!(?:an?\s+)?(?:error|nothing|null|undefined|empty|wrong|[45]\d\d|me|it|the\s+(?:same\s+error|wrong))\b).{{3,60}}",
            r"^we\s+(?:currently\s+|now\s+|mainly\s+|only\s+)*(?:use|deploy|host|run|store|support|target)\s+(?!(?:it|this|that|them|to|out|into|your|the|a|an|these|those)\b)\w[\w.+#-]*(?:\s+(?:for|as|on|in|with|to|via)\b.{2,60}|,\s+(?:not|never)\b.{2,40}|\s*$)",
            rf"^(?!(?:i|you|we|he|she|it|that|this|who|they)\b)(?:[\w'’-]+\s+){{1,4}}(?:live|lives|is\s+kept|are\s+kept|is\s+stored|are\s+stored|is\s+hosted|are\s+hosted|is\s+deployed|are\s+deployed)\s+(?:in|on|at|under|to)\s+{_VALUE_EN}{_CONCRETE}",
            r"^(?:the|our)\s+(?:[\w'’-]+\s+){1,4}(?:is|are|lives?)\s+(?:at|under)\s+[\w@#-]*[/.][\w/.@-]+",
            rf"^(?!(?:i|you|we|he|she|it|that|this|who|they|there)\b)(?:[\w'’-]+\s+){{1,4}}(?:goes?|belongs?)\s+(?:in|into|under|to)\s+{_CONCRETE}",
            r"^(?!(?:i|you|we|he|she|it|that|this|who|they|there)\b)(?:[\w'’-]+\s+){1,4}(?:is|are)\s+(?:always\s+)?(?:stored|saved|kept|returned|sent|encoded|formatted|measured|expressed|named|written|served)\s+(?:as|in|with)\s+\w+",
            r"^(?:the\s+)?[\w-]+(?:\s+[\w-]+){0,2}\s+(?:is|are)\s+(?:owned|maintained|managed)\s+by\s+\w+",
        ),
        weak=True,
    ),
)
