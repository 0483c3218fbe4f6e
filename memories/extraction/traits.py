# ruff: noqa: E501 (a table: one trait, one line)
# fmt: off
"""What speaks for and against a sentence that no word marks as lasting: patterns with their weights, by language.

Who says how things stand names a subject of the project, a value, a bound, and speaks in the present of every case;
who reports, complains or wishes speaks of himself, of this one thing, of now. The weights were fitted by logistic
regression to labelled turns of many voices (docs/evaluation.md). Pure tables; the caller bounds the length of a sentence.
"""

from memories.extraction.signs import CONSTRAINT, DECISION, FACT, PITFALL, PREFERENCE

_VERB = (
    r"(?:is|are|has|have|gets?|goes|go|comes?|lives?|runs?|uses?|needs?|requires?|starts?|ends?|begins?|means?|stops?|arrives?|allows?|returns?|stays?|contains?|includes?|"
    r"follows?|holds?|takes?|costs?|belongs?|supports?|serves?|points?|writes?|reads?|stores?|keeps?|expires?|resets?|rotates?|breaks?|fails?|drops?|loses?|hangs?|leaks?|"
    r"blocks?|caches?|counts?|treats?|cuts?|applies|apply|signs?|owns?|handles?|manages?|maintains?|approves?|reviews?|checks?|sends?|accepts?|rejects?|fires?|picks?|caps?|"
    r"moves?|merges?|ships?|publish(?:es)?|deploys?|exports?|imports?|renders?|defaults?|maps?|translates?|exposes?|depends?|must|should|may|can|cannot|can't|will|don't|doesn't|aren't|isn't|"
    r"leaves?|locks?|refuses?|ignores?|truncates?|rounds?|duplicates?|chokes?|overwrites?|converts?|swallows?|wipes?|dies?|closes?|opens?|prefers?|wants?|works?|fits?|covers?|closes)"
)
_PAST_VERB = r"(?:was|were|did|had|went|came|said|made|took|found|broke|crashed|failed|moved|pushed|tried|ran|sent|got|gave|saw|read|wrote|finished|started|looked|worked|dropped|arrived|changed|ended|fixed|added|removed|turned|hated|loved|liked|asked|told|reported|complained|happened|returned|restarted|merged|deployed|updated)"
_NOT_NOUN = r"(?:i|i'm|i've|i'd|i'll|me|my|mine|you|you're|your|he|she|they|it|it's|its|his|her|their|them|this|that|these|those|there|there's|here|here's|that's|what|which|who|whose|where|when|why|how|if|and|or|but|so|because|as|to|of|not|yes|ok|okay|thanks|just|let's|let|please|we|we're|we've|we'd|we'll|our|some|someone|one|now|then|still|also|maybe|well|sorry|great|nice|good|hi|hello|hey|a|an|the)"

EN: dict[str, tuple[float, str]] = {
    # Whose matter it is.
    "i": (-0.6, r"^(?:(?:and|but|so|ok|well|yes|no|because|honestly|actually)[\s,]+)*(?:i|i'm|i've|i'd|i'll|my|me|mine)\b"),
    "i_inside": (-1.3, r"(?<!^)\b(?:i|i'm|i've|i'd|i'll|my|me)\b"),
    "you": (-0.2, r"\b(?:you|you're|you've|your)\b"),
    "pronoun": (-1.2, r"^(?:(?:and|but|so|ok|well|yes|no|because)[\s,]+)*(?:he|she|they|it|it's|this|that|that's|these|those|there|there's|here|here's|one|some|someone|something|half|both|neither)\b"),
    "we": (+1.3, r"^we\b(?!'ve|'d|\s+(?:had|were|did|got|went|used)\b)"),
    "our": (+0.7, r"^our\b"),
    "bare": (+1.3, rf"^(?!{_NOT_NOUN}\b)(?:[\w'’.@#/ø+&-]+\s+){{1,5}}?{_VERB}\b"),
    "bare_plural": (+1.3, rf"^(?!{_NOT_NOUN}\b)(?:[\w'’ø/-]+\s+){{0,3}}?[\w-]{{2,}}[^s\W]s\s+(?:are|have|get|go|come|live|run|use|need|start|end|stay|must|should|do|only|always|never|mean|don't|aren't|can|may|\w+)\b"),
    "the_does": (+0.8, r"^(?:the|our)\s+(?:[\w'-]+\s+){1,4}?(?!is\b|was\b|has\b|looks\b|feels\b|seems\b|this\b)\w{2,}[^s\W]s\s+(?!is|are|was|were)\w"),
    "any_subject": (-0.2, r"^(?:any(?:thing|one|body)?|every(?:thing|one|body)?|no(?:body|thing|\s?one)|whoever|whatever|all|each|none|no)\b"),
    "nobody": (+1.0, r"^(?:nobody|no\s?one)\s+(?!knows|cares|else|told|said|did|was|has|had|noticed|replied|answered|came|complained)\w+s\b"),
    "header": (+1.0, r"^[\w /'-]{2,30}:\s"),
    # How far it reaches.
    "universal": (+0.5, r"\b(?:all|every|each|always|everywhere|everything|nobody|nothing|none|throughout|exclusively|without\s+exception|any|anything|anyone)\b"),
    "never": (+0.8, r"\b(?:never|no\s+longer|no\s+more|ever)\b"),
    "only": (+0.9, r"\b(?:only|at\s+most|at\s+least|no\s+(?:more|less|longer|fewer)\s+than|max(?:imum)?|min(?:imum)?|exactly|up\s+to|under|over|below|above|within)\b"),
    "frequency": (+0.6, r"\b(?:daily|weekly|monthly|hourly|nightly|quarterly|yearly|on\s+(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:every|each|per|an?)\s+(?:day|week|month|year|hour|night|morning|monday|friday|sunday|quarter|sprint|release|two|second|minute)|at\s+(?:about\s+)?\d{1,2}\s?(?:am|pm|:\d\d)?|working\s+days?|weekdays?|calls?\s+a\s+day)\b"),
    "condition": (+0.4, r"^(?:if|when|whenever|once|before|after|unless|for|in|on|without|with|at)\b"),
    "reason": (+1.1, r"\b(?:because|since|so\s+that|otherwise|or\s+else|due\s+to|or\s+it)\b|,\s+so\b"),
    # Duty and ban.
    "may_not": (+0.6, r"\b(?:cannot|can't|may\s+not|must\s+not|mustn't|isn't\s+allowed|aren't\s+allowed|not\s+allowed|banned|forbidden|prohibited|off\s+limits|off\s+the\s+table|refused?)\b"),
    "dont": (+0.9, r"^(?:please\s+)?(?:do\s+not|don't|never|avoid|no)\s"),
    "dont_inside": (+0.8, r"[,;]\s*(?:and\s+)?(?:do\s+not|don't|never|no|not)\s"),
    "imperative": (+1.0, r"^(?:please\s+)?(?:always\s+)?(?:keep|use|prefer|avoid|stick\s+(?:to|with)|write|put|name|call|spell|cite|format|round|quote|answer|reply|respond|explain|skip|pin|tag|log|store|treat|assume|follow|roll|ask|wrap|prefix|start|end|return|count|group|sign|lowercase|escape|validate|document)\s"),
    "contrast": (+0.4, r",\s*(?:and\s+)?(?:not|never)\s|\binstead\s+of\b|\brather\s+than\b|\bnot\s+\w+\s+but\b|\bnot\s+(?:by|in|from|the)\b|\bover\s+\w+\s+for\b"),
    # What one can point at.
    "number": (+0.6, r"\d"),
    "measure": (+0.4, r"\d\s?(?:%|ms\b|s\b|sec|min(?:utes?)?\b|hours?\b|days?\b|weeks?\b|months?\b|years?\b|px\b|[kmg]b\b|hz\b|mhz\b|µa\b|words?\b|lines?\b|characters?\b|pages?\b|people\b|euros?\b|questions?\b|options?\b|points?\b|times\b|approvals?\b|digits?\b)|\b(?:one|two|three|four|five|six|seven|eight|ten|twenty)\s+(?:\w+\s+)?(?:minutes?|hours?|days?|weeks?|months?|approvals?|reviewers?|people|options?|eyes|pairs?|digits?|lines?|words?|weeks)\b"),
    "code": (+0.3, r"ø|[\w-]+[/_.][\w/_.-]*\w|#\w|--\w"),
    "name": (+0.9, r"(?<=[a-z,;:]\s)(?-i:[A-Z][\w.+#-]{1,})"),
    "acronym": (+0.5, r"(?-i:\b[A-Z]{2,}\d?\b|\b[A-Za-z]+[a-z][A-Z]\w*\b)"),
    "version": (-0.3, r"\bv?\d+(?:\.\d+)+\b|(?-i:\b[A-Z][\w+#.]*\s\d+)"),
    # How it is said to be.
    "passive": (+0.5, r"\b(?:is|are|get|gets|be)\s+(?:\w+ly\s+|never\s+|always\s+|only\s+|not\s+)?(?:\w{2,}ed|kept|written|sent|built|held|made|done|set|put|run|shown|read|spelled|told|sold|split|cut|bought|paid|taken)\b"),
    "place": (+0.5, r"\b(?:lives?|is|are|goes|go|sits?|kept|stored|logged|stays?|belongs?|moves?)\s+(?:in|into|at|on|to|under|behind|through|via|from)\b"),
    "default": (+0.6, r"\b(?:defaults?|by\s+default|pinned|fixed|format|convention|rule|standard|policy|naming|target|limit|budget)\b"),
    "is_value": (+0.5, r"\b(?:is|are)\s+(?:on\s+|in\s+|at\s+|the\s+|an?\s+|via\s+|called\s+|from\s+)*(?:ø|\d|(?-i:[A-Z])|[\w-]+[/_.]\w)"),
    "decided": (+0.8, r"\b(?:decided|settled|agreed|chose|chosen|went\s+with|(?:we|we've)\s+(?:\w+\s+)?(?:picked|dropped|cut|switched|moved|adopted|ditched|killed|scrapped)|going\s+with|sticking|final(?:\s+answer)?|off\s+the\s+table|signed\s+off|we\s+move\s+off|decision|in\s+the\s+end)\b"),
    "effect": (+1.5, r"\b(?:breaks?|loses?|drops?|hangs?|leaks?|chokes?|double\s+counts?|wipes?|corrupts?|silently|halves?|run\s+twice|doesn't\s+support|don't\s+count\s+on|won't\s+(?:come|work|start)|leaves?\s.{2,20}\sbehind|stale|locks?\s+(?:the|up)|times?\s+out|overwrites?|truncates?|duplicates?|disappears?|goes\s+stale|the\s+hard\s+way|bit\s+us|burn(?:ed|t)\s+us|swapped|reads\s+the|treats?\b|crash(?:es)?)\b"),
    "wish": (+1.9, r"\bi(?:'d|\s+would)?\s+(?:really\s+|always\s+|much\s+)?(?:prefer|want|like|love|hate|can't\s+stand|don't\s+like|dislike|would\s+rather|read|rather)\b|\bfor\s+me\b|\bwhen\s+you\s+write\s+to\s+me\b"),
    # What it is when it is none of this.
    "past": (-0.6, rf"^(?:[\w'’ø-]+\s+){{1,4}}?{_PAST_VERB}\b"),
    "ed": (-0.5, r"\b(?!need|used|based|fixed|pinned|named|called|required|allowed|banned|shared)\w{3,}ed\b"),
    "progress": (-0.5, r"\b(?:is|are|am|i'm|we're|it's|he's|she's|they're|keeps?)\s+(?:\w+\s+)?\w{2,}ing\b"),
    "now": (-0.8, r"\b(?:now|still|again|currently|at\s+the\s+moment|just|today|tonight|yet|so\s+far|anymore|finally|already|this\s+time|tomorrow|yesterday|next|first|then|until\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day|by\s+(?:mon|tues|wednes|thurs|fri|satur|sun)day|ready)\b"),
    "judgement": (-0.4, r"\b(?:too|very|really|quite|pretty|so|kinda|a\s+bit|rather(?!\s+than)|super|more|better|worse|best|a\s+lot)\b"),
    "feeling": (-1.6, r"\b(?:thanks|excellent|fantastic|wonderful|brilliant|solid|keen|great|good|nice|fine|awful|bad|weird|strange|odd|ugly|annoying|cool|perfect|amazing|happy|sorry|angry|overwhelm\w*|hard|easy|easier|fun|boring|interesting|helpful|clear|confus\w+|excited|worried|stress\w*|feels?|looks?|sounds?|seems?|hope|glad|love|honestly|definitely|absolutely|off\s+by)\b"),
    "fault": (-0.7, r"\b(?:error|errors|bug|bugs|broken|failing|failed|crash(?:ed|ing)|down|missing|stuck|undefined|weird|typo|red|green|green|fault|issue|problem|complain\w*|slow|empty|null|blocked|taken|occupied|in\s+use|overdue|delayed)\b"),
    "quantity_seen": (-0.5, r"\b(?:has|had|took|takes|at|with)\s+[\d,.]+\s?(?:%|rows|minutes|hours|million|k\b)?"),
}
ZH: dict[str, tuple[float, str]] = {
    "i_inside": (-0.6, r"(?<!^)我(?!们|方|司|国)"),
    "you": (-0.7, r"[你您]"),
    "we": (+0.4, r"我们|咱们|咱|大家|本(?:所|公司|项目|店|司|校|班)"),
    # How far it reaches.
    "universal": (+0.8, r"一律|统一|所有|任何|凡|每个|每条|每次|每张|每一|没有例外|均|全部|一概|全(?:站|局|小写|大写|公司)|任一"),
    "only": (+1.2, r"只(?!是|好|不过|剩|看到)|仅|唯一|才(?:能|可以|行)|就(?:行|够)|够了?$|封顶|最多|最少|至少|至多|不超过|不低于|不少于|不高于|不小于|低于|高于|超过|以内|以下(?!是|为)|以上(?!是)|之前|小于|大于|不到|上限|下限|控制在"),
    "frequency": (+1.0, r"每(?:天|周|月|年|晚|日|季|早|小时|节)|周[一二三四五六日、]|固定|定期|凌晨|早上|晚上|自动|工作日|自然日"),
    "condition": (+0.4, r"的时候|时(?:候)?[，,]|^(?:如果|若|当|凡|一旦|遇到|涉及|发布|上线|提交|新增|修改|回滚|起草)|以后|[前后][，,]|就[^，,]{1,6}$"),
    "is": (+0.3, r"(?<![还就但可总老不只而算要])是(?!不是|否|不|吧|什么|谁)|(?<![认作成])为(?!什么|了|何|啥)|叫(?!做?什么)|含"),
    "reason": (+0.3, r"因为|否则|不然|要不然|所以|会(?:被|判)"),
    # Duty and ban.
    "must": (+0.4, r"必须|务必|(?<![需主重只还想不])要(?!求|点|是|不|么|疯|死)|得(?!到|很|了|出|太|好)|需(?!求)|应(?!该是|用)|一定"),
    "ban": (+1.0, r"不(?:能|许|准|得(?!不)|可(?!能)|让|要(?!着?急|忘|担心|客气|紧张)|允许)|禁止|严禁|别(?!的|人|急|墨|致)|勿|不[写用做放存改删加带发约引布接走混碰说收报开]"),
    "ban_leads": (+0.9, r"(?:^|[，,；;])(?:不(?!用管|要急|要着急|要忘|错|过)|别(?!急|人|的)|禁)"),
    "contrast": (+0.1, r"[，,；;]\s*(?:而)?不(?:是|用|要|走|叫|按|写|放|含|在)|而不是|而非|别用|不再|不用"),
    "as": (+0.8, r"(?<!使)用(?!户|例|途|完|过|不了|起来)|走(?!了|不)|按(?!钮)|以[^上下内前后]|为准|采用|遵循|遵守|沿用"),
    # What one can point at.
    "number": (+1.0, r"\d|[一二两三四五六七八九十]+(?:天|周|次|条|个|位|段|轮|端|档|种|级|倍|页|行|年|遍)"),
    "code": (+0.5, r"ø|[A-Za-z][\w-]*[/_.][\w/_.-]*\w|#\w|[a-z][A-Z]|/\w+"),
    "latin": (+0.9, r"[A-Za-z]{2,}"),
    # How it is said to be.
    "place": (+0.1, r"(?<!现)(?<!正)(?<!还)在[^，,]{1,16}(?:里|上|下|中|下面|里面|平台|目录|库|仓库|后台|维护|那边|公告)|[放存跑托部署]{1,2}(?:在|到)|位于|地址|目录"),
    "owner": (+0.8, r"[由归][^，,]{1,10}(?:负责|维护|管|审|定|出|批|提|看|处理)|找(?:他|她|老|小)|负责|在维护|对接"),
    "default": (+0.7, r"默认|规范|规则|约定|口径|命名|格式|单位|前缀|后缀|标准|阈值|模板|流程|白名单|比例|预算"),
    "decided": (+1.3, r"定了|定(?:下来|为|在|成)|敲定|拍板|商定|确定|决定|换成|改成[^，,]{1,10}[，,]|改为|改用|选(?:的|了|用|定)|砍(?:到|掉|了)|(?:我们|这版|本期|[一二三]期|先|都)不[做上]|不做了|没上|毙掉|弃用|废弃|下线|作废|不再|就(?:叫|用|走|选)|最后(?!一)|最终|(?:对|确认|讨论|商量|沟通)过|留到|先只做|不管了"),
    "effect": (+0.5, r"会(?:丢|卡|挂|崩|掉|炸|爆|报|失效|超时|限流|乱|变|重复|被|截|漏|锁)|[\u4e00-\u9fff]不了|不支持|不生效|失效|超时|掉帧|乱码|丢精度|死锁|溢出|泄漏|吃过亏|踩|坑|小心|留(?:个)?心|当心|退回来|超发|发超|串|对不上"),
    "wish": (+1.0, r"我(?:个人|本人|们团队)?(?:比较|更|还是|都|不太|特别|很|挺|最|真的|一向|平时|一般)*(?:喜欢|习惯|偏好|倾向|希望|烦|讨厌|受不了|想要|不想|愿意)|我(?:一般|平时|一直|通常)(?:用|看|写)|回我|回复我|跟我说|给我看"),
    # What it is when it is none of this.
    "le": (-0.7, r"了(?:[，,。！!]|$)|了(?:一|两|三|几|半|好|多|不少|很|两千|[\d])"),
    "past": (-0.3, r"去年|昨|上个?(?:月|周)|上次|之前|刚|曾|以前|那时|当时|上回|过(?:[，,]|$)|早就"),
    "now": (-1.1, r"现在|目前|今天|今早|今晚|明天|还在|正在|又|还是(?!要)|已经|终于|最近|快|马上|晚点|回头|待会|稍后|有点|这会"),
    "judgement": (-0.2, r"太|挺|好像|真(?!机|名)|蛮|超(?!过|时|出|发|链)|特别|非常|有点|更(?!新|改|换)|比较|感觉|觉得"),
    "feeling": (-0.8, r"烦(?!\s*[A-Za-z])|累|晕|丑|乱(?!码)|好看|舒服|啰嗦|别扭|奇怪|不错|厉害|满意|喜欢|讨厌|辛苦|崩溃|头疼|复杂|麻烦|漂亮|难|慢|随便|可以$|好的|没问题|没毛病|正常"),
    "fault": (-1.3, r"[\u4e00-\u9fff]不(?:出来?|上去?|到(?=了|[，,]|$)|动|开|见了?|住|齐)(?:了|$|[，,])|(?<!\d)[45]\d\d(?!\d)|报错|白屏|崩(?!溃率)|bug|失败|没反应|空数组|空的|不见了|丢了|没过|打回|问题|异常|报了|投诉|反馈|对不上|失灵|断了|满了|卡$|开始卡"),
    "result": (-1.2, r"(?:差了|高了?|低了?|涨了?|跌了?|掉到|掉了|耗时|大概|大约|左右|一共|总共|只剩|花了|跑了|翻了)\s*[\d一两二三几]|[\d一两二三]\s?(?:个点|多[个条次件]|左右)|(?:通过|跑完|搞定|做完|传好|弄好|修好|上传|合并)了"),
    "request": (-0.8, r"帮|给我|挪|生成\s?[一二三几\d]|出\s?[一二三几\d]+[张个版道]|一下|请(?!求)|麻烦|改(?:成|到|为)[^，,]{1,12}$|加(?:个|一)|写(?:个|一)|换(?:个|一)|看看|做(?:个|一)|出(?:个|一)|来(?:个|一)|把"),
    "colon": (+0.5, r"[：:](?=.)"),
    "topic": (+0.5, r"^[^，,：:]{2,12}(?<![我你他她它])(?:[是叫在由归按走用]|只|都|不|统一|必须|要|写|放|存)"),
}

KINDS: dict[str, tuple[tuple[str, str], ...]] = {
    "en": (
        (PREFERENCE, EN["wish"][1] + r"|\b(?:show|give|tell|send|write\s+to|explain\s+to|talk\s+to)\s+me\b"),
        (DECISION, EN["decided"][1]),
        (PITFALL, EN["effect"][1]),
        (FACT, r"\b(?:is|are|lives?)\s+[^,]{2,40},\s*not\s|\b(?:owns?|(?:owned|maintained|managed)\s+by)\b"),
        (
            CONSTRAINT,
            r"\b(?:starts?\s+with|ends?\s+with|follows?|match(?:es)?|needs?\s+(?:an?|two|three|\d)|budget|naming|convention|must|shall|should|needs?\s+to|ha(?:s|ve)\s+to|mandatory|required|banned|forbidden|prohibited|off\s+limits|cannot|can't|may\s+not|nobody|never|always|only|every|each|any|anything|exclusively|nothing\s+else|everywhere|at\s+most|at\s+least|no\s+more\s+than|under|within|exactly)\b|^(?:no|all|none|don't|do\s+not|avoid)\s|"
            + EN["contrast"][1]
            + "|"
            + EN["imperative"][1]
            + r"|,\s*(?:no|never|not|don't)\s|\bwe\s+(?:don't|do\s+not)\b|\b(?:are|is|get|gets)\s+(?:named|labelled|labeled|tagged|written|stored|spelled|reported|rounded|marked|prefixed|formatted|logged|anonymi[sz]ed|removed)\b",
        ),
    ),
    "zh": (
        (PREFERENCE, ZH["wish"][1]),
        (DECISION, ZH["decided"][1]),
        (PITFALL, ZH["effect"][1]),
        (FACT, r"(?:是|叫|为|在)[^，,]{1,20}[，,]\s*不(?:是|在|叫)|自动|负责|在维护|含"),
        (
            CONSTRAINT,
            "|".join(ZH[name][1] for name in ("universal", "ban", "ban_leads", "must", "only", "contrast"))
            + r"|格式|命名|规范|规则|预算|(?<![在常会采适可有能实])用(?!户|例|途|完|的|了)|走(?!了|不)|按(?!钮)|为准|先写|要(?:写|带|有|配)",
        ),
    ),
}
