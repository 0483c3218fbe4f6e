"""Where a message asks to remember or to forget: the trigger words and what may stand before and after them.

A trigger counts only where a clause of the writer's own words begins, after nothing but connectives,
politeness and forms of address. All repetitions are bounded, so that each attempt costs a constant.
"""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from typing import Final, Literal

from memories.explicit import tags
from memories.explicit.reading import MemoryType
from memories.explicit.sentences import STOP, ends_sentence
from memories.explicit.statements import is_clause, is_statement, names_feature, recalls
from memories.explicit.surface import CJK, Surface

# --- clause boundaries ---------------------------------------------------------------------------------

# More than anyone writes: a message with more triggers than these is the work of a machine.
MAX_TRIGGERS: Final = 500
Boundary = Literal["line", "sentence", "comma", "paren"]
_LINE_OPENER = re.compile(
    r" {0,12}(?:#{1,6} {1,3})?(?:(?:[-*+] |[-+](?=[\u3400-\u9fff])|[•·●○◦▪■◆◇–—‣➢]|\d{1,3}[.、)](?!\d)"
    r"|\(\d{1,3}\)|[①-⑳]) ?)?"
    r"(?:[\u2190-\u2426\u2500-\u2bff\U0001f000-\U0001faff!！※~★☆\ufe0f\u20e3] {0,2}){0,6}"
)
_MARKUP = re.compile(r"[ *_]{0,6}")

# --- what may stand before a trigger -------------------------------------------------------------------

_LEADER = re.compile(
    r"(?:(?:对了|哦对了?|哦|噢|嗯+|啊|诶|欸|那么?|好的|好吧?|行|是的|对|另外还?有?|此外|还有(?:一点|一条"
    r"|一件事|就是)?|同时|"
    r"顺便(?:说一下|提一下|一提|说一句)?|以及|并且?|而且|但是?|不过|所以|因此|总之|最后|首先|其次"
    r"|第[一二三四五六七八九十]点?|"
    r"先|再次强调|再说一遍|再补充(?:一下|一点|一条)?|再次?|也|还|都|又|然后|接下来|以后|今后|往后|下次|下回"
    r"|从现在(?:起|开始)|从今(?:往|以)?后|"
    r"补充(?:一下|一点|一条|说明)?|注意(?:了|啊|事项)?|重要(?:的是|提醒|的事说三遍)?|重点(?:是)?"
    r"|强调(?:一下|一点)?|重申(?:一下)?|"
    r"提醒(?:一下|你|您|大家)?|备注|说明(?:一下)?|请(?:你们?|您|大家|各位)?|[烦敬还也另并]请(?:你|您)?"
    r"|麻烦(?:你|您)?|拜托(?:你|您)?|"
    r"劳驾|劳烦(?:你|您)?|帮(?:我们?|忙)|给我|替我|为我|你们?(?:需要|应该|应当|一定要|必须)?|您|大家|各位"
    r"|同学们?|小?助手|智能体|"
    r"(?:我(?:只)?)?(?:要|想|希望|需要|想让|要求)(?:你|您)(?:能|可以)?|把(?:这个|这条|这点|这些|下面的?"
    r"|以下内容?)"
    r"|(?:这|有)(?:一)?(?:条|点|个|件事)(?=[^，,。]{0,6}记)|需要(?=记住的)|务必要?|一定要?|必须|千万要?|要"
    r"|得|只要|只需|始终"
    r"|永远|永久|长期|时刻|牢牢|好好|认真|随时|"
    r"特别|尤其|额外|@[\w.-]{1,30})"
    r"|(?:please|pls|plz|kindly|also|and|but|so|then|now|ok|okay|hey|hi|hello|well|oh|yes|yeah|sure|right"
    r"|no|actually|btw|by the way|"
    r"fyi|for the record|p\.?s|nb|note|important|reminder|attention|again|first(?:ly)?|second(?:ly)?"
    r"|third(?:ly)?|finally|lastly|"
    r"one (?:more|last|other) (?:thing|rule)|another (?:thing|rule)|additionally|furthermore|moreover|plus"
    r"|just|always|do|"
    r"(?:make|be) sure (?:that )?(?:to|you)|you (?:must|should|need to|have to)|i(?: really)?(?: want| need"
    r"|'d like| would like) you to|"
    r"(?:(?:one|some|another|an important) )?things? (?:(?:that )?(?:you (?:should|must|need to) )"
    r"|for you )?to(?= remember)|"
    r"help (?:me|us)(?: to)?|let's|let us|try to|from now on|going forward|everyone|everybody|team|folks"
    r"|guys|claude|cairn|agent"
    r"|assistant|ai|bot|copilot)"
    r"(?![\w'-]))[ ,，:.。!！~、—…*_-]{0,5}"
)
# Politeness in the form of a question: the question mark at the end is none.
_POLITE = re.compile(
    r"(?:(?:can|could|would|will) you (?:please|kindly)(?![\w'-])"
    r"|(?:请问)?(?:你|您)?(?:能不能|可不可以|可以|能否|可否|能)(?:请|麻烦)?(?:你|您)?(?:帮我们?|帮忙"
    r"|给我))[ ,，]{0,3}"
)
_ASKS = re.compile(
    "请|麻烦|拜托|烦|帮|给我|替我|务必|一定|please|pls|plz|kindly|make sure|be sure|want you|like you"
    "|need you"
)
_CONNECTS = re.compile(
    "另外|此外|还有|同时|顺便|以及|并|而且|但|不过|也|补充|注意|最后|also|and|but|plus|btw|by the way"
    "|additionally|moreover|note"
)
# Before the comma: words of another, or the condition of a feature ("退出时，记住：…").
_SPEECH_BEFORE = re.compile(
    "说|写着|写上|写成|写道|提示|文案|显示|改成|叫做|字样|打印|输出|告诉|回复|翻译|这句话|文字|文本"
    "|标题[是为改]|系统|浏览器"
    r"|\b(?:sa(?:y|ys|id|ying)|tell|tells|told|show|shows|shown|display|displays|prints?|reads|label|copy"
    r"|placeholder|toast|tooltip"
    r"|banner|translate|wrote|titled)\b"
    r"|[时后](?:候)?[，,]? ?$|\b(?:when|if|once|after|whenever|while)\b"
)

# --- the trigger words ---------------------------------------------------------------------------------

_CORE = re.compile(
    r"(?P<forget>忘掉|忘了|忘记|(?:删除|删掉|移除|清除|去掉)(?:这条|一条)?记忆|从(?:项目)?记忆(?:里|中"
    r"|库里?|库中)?(?:删除|删掉|移除|去掉)"
    r"|(?:不要|别|不用|不必|无需|不需要|请勿)再(?:继续)?记(?:住|着|得)?|(?:取消|停止)记(?:住|忆)"
    r"|(?<![\w'-])(?:forget|stop remembering|unremember|(?:remove|delete|erase) from (?:your |the "
    r"|project )?memory"
    r"|(?:remove|delete|erase) (?:the |this )?memory)(?![\w'-]))"
    r"|(?P<recall>记得|(?:别|不要|切勿|勿)忘(?:了|记|掉)?)"
    r"|(?P<strong>记住|牢记|谨记|切记|铭记|记牢|(?:(?<![\w'-])|(?<=__))(?:remember|keep in mind|bear in mind"
    r"|memori[sz]e|(?:don't|do not|never) forget"
    r")(?:(?![\w'-])|(?=__)))"
    r"|(?P<note>记下来?|记一下|记录一下|记录下来|记着|记好|做个备忘|备忘(?!录)|(?:加入|存入|写入|记入"
    r"|保存到|添加到|存到|加到|放进|放入)"
    r"(?:项目|长期|你的)?(?:记忆|memory)(?:里|中|库)?|(?:添加|新增|保存)(?:一条)?记忆"
    r"|(?<![\w'-])(?:note to self|make a (?:mental )?note|take note|(?:save|add|commit|write|store)(?: this"
    r"| that| it| the following)?"
    r" (?:to|in|into) (?:your |the |project |long-term )?memory|new memory)(?![\w'-]))"
)
_NUMBER = r"(?:[一二两三四五六七八九十几]|\d{1,2}|two|three|four|five|six|a few|some|few|several)"
_OBJECT = (
    r"(?:这(?:一)?(?:点|条|个|件事|几点|几条|些|句话)(?:规则|规定|规范|约定|要求|事)?"
    rf"|(?:(?:以下|下面|下列|如下)(?:的)?(?:这)?{_NUMBER}?|{_NUMBER}(?=[点条个件项句]))(?:点|条|个|件事?|项"
    rf"|些|句话)?(?:重要)?(?:的)?"
    r"(?:内容|规则|规定|规范|约定|要求|原则|事项|注意事项|信息|偏好)?"
    r"|(?:我的|我们的|项目)?(?:规则|规定|约定|偏好|喜好|习惯|要求)(?=如下|:)|如下"
    r"|(?:the|my|our) (?:rules?|conventions?|preferences?|guidelines?)(?= ?:)"
    r"|for (?:me|later|next time|the future|(?:this|the|our) project|all future (?:work|tasks|turns))(?= ?:)"
    rf"|(?:this|these|the following|following|the below|one"
    rf"|{_NUMBER})(?: more)?(?: {_NUMBER})?(?: important)?"
    r"(?: (?:things?|rules?|points?|facts?|conventions?|notes?|preferences?|guidelines?|constraints?"
    r"|decisions?|requirements?|instructions?"
    r"|details?))?(?: below)?(?: for (?:me|later|next time|the future|(?:this|the|our) project"
    r"|all future (?:work|tasks"
    r"|turns)))?(?![\w'-]))(?:如下)?"
)
_AFTER = re.compile(
    r"(?P<particle>[了啊哦哈呀咯吧喔噢啦]{0,2}(?:的(?:是|有|几点|一点)(?=[ :，,]))?(?:一下"
    r"|下(?![面列次文方午周个]))?)"
    r"(?P<tags>(?: {0,2}(?:\[[^\[\]\n]{0,100}\]|\([^()\n]{0,100}\))){0,3})"
    rf"(?: {{0,2}}(?P<object>{_OBJECT}))?"
    r" {0,4}[*_]{0,3} {0,2}"
    rf"(?P<sep>:{{1,3}}|，|、|;|,(?=[\s{CJK}])|—{{1,2}}|–|--?(?= )|--(?=[{CJK}])|…{{1,2}}|\.{{3,6}}|[!！~](?=.))?"
    r" {0,8}"
)
_CLAUSAL = re.compile(r"(?P<that>that)(?![\w'-])[:,]? {0,3}|(?P<to>to)(?![\w'-]) {1,3}")
_PREFERENCES = re.compile("偏好|喜好|习惯|preference")
_BRACKETED = re.compile(r"\[ {0,2}(?:请|务必|请务必)?(?:记住|牢记|remember) {0,2}\] {0,2}:{0,2} {0,8}")
# `remember: true,` is a setting, not a wish.
_VALUE = re.compile(r"(?:true|false|null|none|nil|undefined|\d+|[\"'\[{\ufffc(].*|[\w.]+\(.*\)),?;? *$")


# 忘掉主色用蓝色这条规则; what points back without naming (刚才的规则) is a dismissal.
_NAMED_RULE = re.compile(
    r"(?:关于)?(?!刚|上面|上述|上一|之前|前面|我|那|这)(.{2,80}?)(?:的?[这那](?:一?条|个)(?:规则|约定|记忆"
    r"|要求"
    r"|规定)?|的(?:规则|约定|记忆|要求|规定))"
    r"(?:[吧了]?[ 。.!！]{0,3}$)"
)
# The form in which a trigger stands (None: it is none), where its content begins, and where it must end.
_Form = tuple[str | None, int, int | None]


@dataclass(frozen=True, slots=True)
class Trigger:
    """`at` is where its content begins, `limit` where it must end (None: as far as the content goes)."""

    kind: Literal["remember", "forget"]
    start: int
    at: int
    type: MemoryType | None = None
    key: str = ""
    # Where the key stands in the message.
    key_span: tuple[int, int] = (0, 0)
    polite: bool = False
    lists_only: bool = False
    limit: int | None = None
    # Where the words begin that lead on to it (还有，): they are no part of what stands before.
    led_from: int = 0


class _Finder:
    """Triggers of one message, in order."""

    def __init__(self, surface: Surface) -> None:
        self.surface, self.view = surface, surface.open
        self.places: list[int] = []
        self.kinds: list[Boundary] = []
        self.sentences: list[int] = []
        self.titles: set[int] = set()
        self.closers: dict[int, int] | None = None
        for line in surface.lines:
            if not line.kind:
                self._bound(line.start, line.end)

    def _bound(self, start: int, end: int) -> None:
        opener = _LINE_OPENER.match(self.view, start, end)
        place = opener.end() if opener else start
        if opener and opener[0].lstrip().startswith("# "):
            self.titles.add(place)
        self._add(place, "line", start)
        sentence = start
        for stop in STOP.finditer(self.view, start, end):
            if stop["comma"] or stop["paren"]:
                self._add(stop.end(), "comma" if stop["comma"] else "paren", sentence)
            elif stop["semi"] or ends_sentence(self.view, stop):
                sentence = stop.end()
                self._add(sentence, "sentence", sentence)

    def _add(self, place: int, kind: Boundary, sentence: int) -> None:
        self.places.append(place)
        self.kinds.append(kind)
        self.sentences.append(sentence)

    def find(self) -> Iterator[Trigger]:
        reached = 0
        for core in _CORE.finditer(self.view):
            at = bisect_right(self.places, core.start()) - 1
            if at < 0 or core.start() < reached:
                continue
            trigger = self._at_boundary(core, at)
            # A leader may hold a comma or a stop (对了，…; PS. …): then the boundary before it counts.
            for _ in range(6):
                if trigger is not None or at == 0 or not self._leads_on(at):
                    break
                at -= 1
                trigger = self._at_boundary(core, at)
            if trigger is not None:
                while at > 0 and self._leads_on(at) and self.places[at - 1] >= reached:
                    at -= 1
                reached = trigger.at
                yield replace(trigger, led_from=min(trigger.start, self._skip(self.places[at])))

    def _leads_on(self, at: int) -> bool:
        """Whether all between the boundary before this one and this one is a leader."""
        before = self.places[at - 1]
        if self.kinds[at] in ("line", "paren") or self.places[at] - before > 24:
            return False
        lead = _LEADER.match(self.view, self._skip(before))
        return lead is not None and lead.end() >= self.places[at]

    def _skip(self, place: int) -> int:
        markup = _MARKUP.match(self.view, place)
        return markup.end() if markup else place

    def _at_boundary(self, core: re.Match[str], at: int) -> Trigger | None:
        start = place = self._skip(self.places[at])
        if core.start() - place > 80:
            return None
        if bracketed := _BRACKETED.match(self.view, place):
            return Trigger("remember", start, bracketed.end()) if core.start() < bracketed.end() else None
        polite = False
        for _ in range(9):
            if place >= core.start():
                break
            if asked := _POLITE.match(self.view, place):
                polite, place = True, asked.end()
            elif lead := _LEADER.match(self.view, place):
                place = lead.end()
            else:
                return None
        if place != core.start():
            return None
        line = self.surface.lines[self.surface.line_at(core.start())]
        trigger = self._after(core, at, self.view[start : core.start()], line.end)
        return trigger and replace(trigger, start=start, polite=polite)

    def _after(self, core: re.Match[str], at: int, leaders: str, line_end: int) -> Trigger | None:
        """The trigger if what follows its word fits the word, its leaders and the place where it stands."""
        after = _AFTER.match(self.view, core.end(), line_end)
        if after is None:
            return None
        if self.kinds[at] == "paren" and not (after["sep"] or "").startswith(":"):
            return None
        form, content, named_end = self._form(core, after, leaders, line_end)
        if form is None or self._is_setting(core, after, line_end):
            return None
        if self.places[at] in self.titles and self.view[content:line_end].strip():
            # A comment of a program looks like this; a title has nothing beside it.
            return None
        inner = self.kinds[at] in ("comma", "paren")
        if inner and not self._may_stand_inside(core, at, form, leaders):
            return None
        if form in ("comma", "that") and recalls(self.view[content:line_end][:40]):
            return None
        type_, key, (key_start, key_end) = tags.read(after["tags"])
        tags_at = after.start("tags")
        if type_ is None and after["object"] and _PREFERENCES.search(after["object"]):
            type_ = "preference"
        kind: Literal["remember", "forget"] = "forget" if core["forget"] else "remember"
        limit = self._closing(self.places[at] - 1) if self.kinds[at] == "paren" else named_end
        return Trigger(
            kind,
            core.start(),
            content,
            type_,
            key,
            (tags_at + key_start, tags_at + key_end),
            lists_only=form == "list",
            limit=limit,
        )

    def _form(self, core: re.Match[str], after: re.Match[str], leaders: str, line_end: int) -> _Form:
        sep, end = after["sep"] or "", after.end()
        if core[0] == "记得" and leaders.endswith("还"):
            return None, end, None
        asks = bool(_ASKS.search(leaders))
        if sep.startswith(":"):
            return "colon", end, None
        if core["forget"]:
            return self._forget_form(core, end, line_end, asks=asks, is_apart=sep in ("，", ","))
        if sep in ("，", ",", "、", ";", "—", "——", "–", "-", "--"):
            is_told = "了" not in after["particle"] or asks or "你" in leaders
            if core["strong"]:
                return ("comma" if is_told else None), end, None
            return ("comma" if asks and (core["note"] or core[0] == "记得") else None), end, None
        if not core["strong"] and not (core["note"] and after["object"]):
            return None, end, None
        if end >= line_end:
            return "list", end, None
        if clausal := _CLAUSAL.match(self.view, end, line_end):
            return self._clausal_form(core, clausal, line_end)
        if after["object"] or "了" in after["particle"]:
            return None, end, None
        is_bare = core[0] not in ("切记", "铭记", "记牢") and "forget" not in core[0]
        if is_bare and is_statement(self.view[end : min(line_end, end + 200)]):
            return "bare", end, None
        rest = self.view[end:line_end].rstrip()
        is_heading = rest.endswith((":", "如下")) and not names_feature(rest)
        return ("list" if is_bare and is_heading else None), end, None

    def _clausal_form(self, core: re.Match[str], clausal: re.Match[str], line_end: int) -> _Form:
        rest = self.view[clausal.end() : min(line_end, clausal.end() + 80)].strip()
        if clausal["to"]:
            return ("to" if core[0] == "remember" and rest else None), clausal.end(), None
        words = re.findall(r"[\w'/.-]+", rest)
        vague = re.match(
            r"(?:time|day|one|guy|bug|thing|issue|meeting|conversation|chat|talk|moment)\b", rest
        )
        says = len(words) > 2 or re.search(f"[{CJK}]", rest)
        return ("that" if says and not vague else None), clausal.end(), None

    def _forget_form(
        self, core: re.Match[str], end: int, line_end: int, *, asks: bool, is_apart: bool
    ) -> _Form:
        """请忘掉，X · forget that we X · 忘掉 X 这条规则."""
        if core[0] in ("忘掉", "忘记"):
            if asks and is_apart:
                return "comma", end, None
            if named := _NAMED_RULE.match(self.view, end, line_end):
                return "named", named.start(1), named.end(1)
            is_bare = core[0] == "忘掉" and is_statement(self.view[end : min(line_end, end + 200)])
            return ("bare" if is_bare else None), end, None
        clausal = _CLAUSAL.match(self.view, end, line_end)
        if core[0] != "forget" or (clausal and clausal["to"]):
            return None, end, None
        if clausal and asks:
            return self._clausal_form(core, clausal, line_end)
        begin = clausal.end() if clausal else end
        rest = self.view[begin : min(line_end, begin + 80)]
        says = is_clause(rest) and (clausal is not None or rest.startswith(("we ", "our ")))
        return ("that" if says else None), begin, None

    def _is_setting(self, core: re.Match[str], after: re.Match[str], line_end: int) -> bool:
        word = self.surface.text[core.start() : core.end()]
        follows = self.surface.text[core.end() : core.end() + 1]
        return (
            word == "remember"
            and follows == ":"
            and _VALUE.match(self.view, after.end(), line_end) is not None
        )

    def _may_stand_inside(self, core: re.Match[str], at: int, form: str, leaders: str) -> bool:
        before = self.view[max(self.sentences[at], self.places[at] - 200) : self.places[at]]
        if _SPEECH_BEFORE.search(before.rstrip("，,( ")) or (core["recall"] and not _ASKS.search(leaders)):
            return False
        if form == "colon":
            return True
        if core["forget"]:
            return False
        is_address = re.fullmatch(r"[ a-z@.-]{2,20}[，,]", before.strip()) is not None
        return form != "list" and bool(_ASKS.search(leaders) or _CONNECTS.search(leaders) or is_address)

    def _closing(self, opening: int) -> int | None:
        """Where the bracket closes; all brackets are paired once, when first asked."""
        if self.closers is None:
            self.closers = {}
            stack: list[int] = []
            for bracket in re.finditer(r"[()\n]", self.view):
                if bracket[0] == "(":
                    stack.append(bracket.start())
                elif bracket[0] == ")" and stack:
                    self.closers[stack.pop()] = bracket.start()
                else:
                    stack.clear()
        return self.closers.get(opening)


def find_triggers(surface: Surface) -> list[Trigger]:
    """The first triggers of a message, in order of place: at most one more than MAX_TRIGGERS."""
    return list(islice(_Finder(surface).find(), MAX_TRIGGERS + 1))
