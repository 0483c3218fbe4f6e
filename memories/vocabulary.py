"""The words by which a claim is read: what denies, compares, joins, places, measures, and what only frames.

Each list is the source of a regular expression over lower-cased text.
"""

import re
from collections import defaultdict
from typing import Final

from memories.text import LETTER


def words(text: str) -> str:
    """An alternation, longest first, so that 不超过 is not read as 不; the first letters are asked for once."""
    tails: dict[str, list[str]] = defaultdict(list)
    for word in sorted(text.split(), key=len, reverse=True):
        tails[word[0]].append(re.escape(word[1:]))
    words = "|".join(f"{re.escape(first)}(?:{'|'.join(rest)})" for first, rest in tails.items())
    return f"(?=[{''.join(map(re.escape, tails))}])(?:{words})"


def latin(text: str) -> str:
    """The alternation `text` of Latin words, whole: "can" is neither in "canary" nor in "can't"."""
    return rf"(?=[a-z])(?:{text})(?!{LETTER}|['’-]{LETTER})"


# Chinese words that contain, but do not mean, one of the words below.
KEPT = words(
    """
    用户 用例 用途 用法 用于 用量 用时 用品 用语 用作 引用 应用 作用 通用 专用 共用 公用 常用 复用 调用 费用
    占用 可用 不可用 信用 适用 利用 备用 滥用 误用 商用 有用 无用 实用 使用者 使用率 使用量 但是 是否 还是 于是
    只是 可是 凡是 因为 作为 成为 为了 行为 认为 为空 为止 以为 分为 视为 称为 为主 较为 人为 为准 呼叫 特别
    区别 类别 级别 别名 别的 个别 分别 识别 性别 别人 差别 辨别 不同 不仅 不但 不过 不论 不管 不止 不断 不变
    不等 不一致 不可变 不透明 不限 差不多 要求 要素 要点 主要 重要 必要 目的 标的 了解 未了 按钮 按键 按下
    以及 以上 以下 以内 以后 以前 所以 以便 以免 以来 以外 左右 就近 成就 将来 即将 都市 首都 应付 响应 对应
    适应 供应 需求 均衡 平均 只是 只好 只读 不只 船只 未来 原来 本来 从来 以来 来源 来自 往来 来回 来电 来信
    来宾 来访 来客 后来 近来 历来 带来 进来 出来 回来 过来 起来 上来 下来 看来 越来越 除法 除以 扫除 去除 删除
    清除 移除 解除 排除在外 仅仅 包含关系 显示器 展示厅 关闭按钮 打开方式 隐藏字段 显示名 显示名称 公里 里程
    里程碑 这里 那里 哪里 心里 夜里 家里 阿里 里约 其中 集中 居中 空中 当中 命中 选中 适中 初中 高中 途中 心中
    水中 之中 中文 中间 中间件 中心 中国 中等 中级 中午 中断 中英 中括号 中台 中型 中年 中式 中秋 中止 中转 中部
    中央 中标 中奖 中介 中立 中医 中药 中学 中号 中继 中性 中划线 中日 理由 自由 由于 路由 由来 缘由 由此
    或许 非常 非洲 并非 是非 无非 未必 从未 未知 无论 无线 无关 无意 无限 无穷 无效 无聊 无比 总和 饱和 温和 缓和
    和谐 和解 和平 共和 和弦 柔和 和风
    """
)
COMPARE = (
    (
        "<=",
        words("不超过 不大于 不多于 不高于 最多 至多 ≤ <="),
        r"at most|no more than|up to|within(?=\s+\d)|maximum|max",
    ),
    (">=", words("不少于 不小于 不低于 至少 最少 ≥ >="), "at least|no less than|no fewer than|minimum|min"),
    (">", words("超过 大于 多于 高于"), r"more than|greater than|over(?=\s*\d)"),
    ("<", words("小于 少于 低于") + r"|不足(?=\s*\d)", r"less than|fewer than|under(?=\s*\d)|below(?=\s*\d)"),
)
# What need not be is not forbidden; what cannot but be is not denied at all.
NEED_NOT = words("不必 不需要 无需 无须 不一定要 没必要 没有必要")
NEED_NOT_LATIN = (
    "(?:do not|does not|don['’]t|doesn['’]t|didn['’]t) (?:have to|have|need to|need|require)|need not|needn['’]t"
    "|no need to|no need|not required to|not required|not necessary to|not necessary|not obliged to"
)
MUST = words("不得不 不能不 不可不 非得")
NOT = words(
    """
    不要再 不要 不用 不能 不得 不可以 不可 不准 不许 不允许 不应该 不应当 不应 不该 不再
    不会 不是 而不是 而非 不 别 禁止 严禁 切勿 请勿 勿 避免 没有 没 拒绝 杜绝 未 非 无 从不 从来不 永不 永远不 永远不要
    绝不 决不 绝不能 绝不要 绝不允许 绝对不 绝对不要 绝对不能 并不 千万别 千万不要 千万不能 别再 无法 谢绝
    """
)
NOT_LATIN = (
    "not|never|no longer|no one|nobody|none|no|cannot|without|avoid(?:s|ing)?|neither|nor|forbid(?:s|den)?"
    "|prohibit(?:s|ed)?|disallow(?:s|ed)?|ban(?:s|ned)?|instead of|rather than|[a-z]+n['’]t|dont|cant|wont|doesnt"
)
# The month is no permission.
MAY_LATIN = (
    r"(?<!in )(?<!by )(?<!of )(?<!since )(?<!until )(?<!early )(?<!late )(?<!is )may(?!\s*\d)"
    r"|can|allow(?:s|ed)?|permit(?:s|ted)?"
)
# Two sides of one thing each; the sign says which side.
SWITCH = (
    ("+on", words("启用 开启 打开"), "enabled?|enables|turn(?:ed)? on"),
    ("-on", words("禁用 停用 关闭"), "disabled?|disables|turn(?:ed)? off"),
    ("+show", words("显示 展示"), "shows?|shown|display(?:s|ed)?|visible"),
    ("-show", words("隐藏"), "hides?|hidden|invisible"),
    ("+with", words("包含 包括 附上 带上 加上 保留 带"), "includ(?:es?|ed|ing)|with|keeps?|adds?"),
    (
        "-with",
        words("不包含 不包括 排除 去掉 省略 不带 不加 去除"),
        "exclud(?:es?|ed|ing)|without|omit(?:s|ted)?|drops?|removes?",
    ),
    ("+must", words("必填 必选 必需 必答 必修 必做 必考"), "required|mandatory|compulsory|obligatory"),
    ("-must", words("选填 可选 选答 选修 选做 选考"), "optional|voluntary"),
    ("+grow", words("增加 提高 加大 增大"), "increas(?:es?|ed|ing)|rais(?:es?|ed|ing)"),
    ("-grow", words("减少 降低 减小"), "decreas(?:es?|ed|ing)|reduc(?:es?|ed|ing)"),
    ("+open", words("展开"), "expand(?:s|ed)?"),
    ("-open", words("收起 折叠"), "collapsed?|collapses"),
)
DIRECTION = words(
    "升序 降序 正序 倒序 左 右 顶部 底部 上方 下方 之前 之后 按照 按 以 根据 从 到 往 最新 最旧 最早 最晚"
)
# A rule for some alone, or for all but some.
ONLY = (
    r"仅限于?|仅能|仅可|仅供|仅在|仅|(?<![一二三四五六七八九十两几每\d])(?<![一二三四五六七八九十两几每\d] )"
    r"只(?:能|有|许|允许|可以|可|限|在)?"
)
EXCEPT_LATIN = "except(?: for)?|unless|apart from|other than|(?:everyone|everybody|all|anyone|anybody) but"
EXCEPT = "除了|除非|除外|除(?=[^，,。；;]{1,20}(?:外|之外|以外))|(?:之外|以外)"
DIRECTION_LATIN = (
    "by|from|to|into|onto|before|after|above|below|over|under|left|right|top|bottom|inside|outside|until|since"
    "|asc|desc|ascending|descending|newest|oldest|latest|earliest|up|down|upwards|downwards"
    "|higher|lower|larger|smaller|bigger|longer|shorter|earlier|later|older|newer|faster|slower|more|less|fewer"
    r"|(?:first|last)(?=\W*$)"
)
CONNECT = words(
    """
    设置为 设置成 设定为 设定成 设为 设成 定为 调成 调到 改为 改成 改用 改到 换成 换为 换用 变为 变成 调整为 调整到
    采用 使用 选用 统一走 一律走 统一 一律 就是 都是 用 是 为 叫 等于 => -> → := == = :
    """
)
CONNECT_LATIN = (
    "use|uses|used|using|is|are|was|were|be|equals?|set to|(?:named|called)(?! (?:by|after|with))|prefers?|defaults? to"
    "|changed? to|switch(?:ed)? to"
)
DROP = words(
    """
    的话 的 了 请 务必 一定 我们 咱们 你们 你 吧 呢 啊 哦 嘛 要 需要 需 应该 应当 应 必须 须 都 均 就
    也 把 将 总是 始终 一直 注意 记住 一下 来 里面 里头 里 中 由 千万 绝对 任何人 所有人 全部 具体 尽量 得不
    """
)
# Who speaks counts ("I review, you draft"), but not that it is the speaker who likes or wants it.
# Inside something that is no time; and the 得 that means must.
WITHIN = (
    r"(?<=[\u4e00-\u9fff])(?<![天时钟秒周月年日度以国境室海])内(?![容存部外销置网涵饰在地衣心])"
    "|得(?=先|用|把|有|经|由|提前|按|至少|带|写)"
)
SPEAKER = "我(?=更|比较|最|很|还|也|不?喜欢|不?希望|不?想|要|习惯|偏好|讨厌|不要|觉得)"
SPEAKER_LATIN = (
    "i(?= (?:really |always |usually |also |do not |don['’]t )?(?:like|prefer|want|would|hate|love|use|need))"
)
DROP_LATIN = (
    "a|an|the|this|that|these|those|we|our|us|you|your|it|its|please|do|does|did|will|shall|should|must"
    "|needs?|requires?|have|has|always|ever|so|then|also|just|remember|note|of|ensure|make sure|everyone|everybody"
    r"|anyone|anybody|everywhere|exactly(?=\s*\d)|strictly"
)
UNITS: Final = {
    unit: name
    for name, units in {
        "ms": "ms 毫秒 millisecond milliseconds",
        "s": "s sec secs second seconds 秒 秒钟",
        "min": "min mins minute minutes 分钟",
        "h": "h hr hrs hour hours 小时 个小时",
        "d": "d day days 天",
        "week": "week weeks 周 星期",
        "month": "month months 个月",
        "月": "月",
        "日": "日",
        "year": "year years 年",
        "px": "px 像素 pixel pixels",
        "%": "% percent",
        "b": "byte bytes 字节",
        "kb": "kb",
        "mb": "mb 兆",
        "gb": "gb",
        "tb": "tb",
        "条": "条",
        "row": "行 row rows",
        "col": "列 col cols column columns",
        "char": "字 字符 个字 character characters",
        "digit": "位 digit digits",
        "time": "次 time times",
        "个": "个 item items",
        "rem": "rem",
        "em": "em",
        "vh": "vh",
        "vw": "vw",
        "pt": "pt 磅",
        "mg": "mg 毫克",
        "g": "g 克 gram grams",
        "kg": "kg 公斤 千克",
        "t": "吨",
        "jin": "斤",
        "mm": "mm 毫米",
        "cm": "cm 厘米",
        "m": "m 米 metre metres meter meters",
        "km": "km 公里 千米",
        "inch": "inch inches 英寸",
        "ml": "ml 毫升",
        "l": "l 升 litre litres liter liters",
        "°c": "°c ℃ 摄氏度",
        "°f": "°f ℉ 华氏度",
        "°": "度 degree degrees",
        "hz": "hz",
        "khz": "khz",
        "mhz": "mhz",
        "ghz": "ghz",
        "db": "db",
        "bpm": "bpm",
        "rpm": "rpm",
        "fps": "fps 帧",
        "dpi": "dpi",
        "w": "w",
        "kw": "kw",
        "v": "v",
        "元": "元 块 rmb cny",
        "万": "万 万元",
        "亿": "亿 亿元",
        "usd": "美元 usd dollar dollars",
        "eur": "欧元 eur euro euros",
        "倍": "倍",
        "折": "折",
        "人": "人 个人",
        "名": "名",
        "页": "页 page pages",
        "份": "份",
        "张": "张",
        "岁": "岁",
        "级": "级",
        "层": "层",
        "只": "只",
        "token": "token tokens",
        "点": "点 点钟",
    }.items()
    for unit in units.split()
}
UNIT = "|".join(
    re.escape(unit) + (f"(?!{LETTER})" if unit[-1].isascii() and unit != "%" else "")
    for unit in sorted(UNITS, key=len, reverse=True)
)
# What else is counted in Chinese.
MEASURES: Final = "箱袋瓶盒本篇章节间台辆套件项款班组步轮场局门幕集号等种双对颗粒片根支杯碗盘桶户栋楼"
# What holds many things at once: "the project uses A" does not exclude "the project uses B".
HOLDERS: Final = frozenset(
    re.findall(
        r"\S+",
        """
        project app application site website system service product team repo repository codebase frontend
        backend platform api page code test script library package module documentation doc 项目 应用 系统
        网站 平台 产品 团队 仓库 前端 后端 客户端 服务端 服务 代码 小程序 页面 本项目 这个项目 整个项目 项目里
        我 测试 脚本 接口 文档
        """,
    )
)
# A heading that judges what follows, or says what kind of remark it is.
REMARKS: Final = frozenset(
    re.findall(
        r"\w+",
        """
        good bad note tip warning caution rule example important todo do dont best practice wrong right correct
        incorrect why how benefit issue problem solution fix pro con attention hint remember recommended required
        强制 推荐 建议 参考 注意 说明 提示 示例 例如 正例 反例 好 坏 错误 正确 规则 规范 要求
        约定 备注 原因 优点 缺点 问题 警告
        """,
    )
)
# What stands before the number of one of its kind: "level 1 has 3 enemies" says nothing of level 2.
LABELS: Final = frozenset(
    re.findall(
        r"\S+",
        """
        level stage chapter step phase part section page lesson unit week day grade year version room group
        layer round act scene table figure zone floor module task team line sprint release class hall gate shelf row
        building 第 版本 阶段 步骤
        章节 表 图
        """,
    )
)
