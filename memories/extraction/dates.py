"""Dates that a talk names by the day it was held on: 下周一, “next Friday”, 12月7日. Pure.

A content says them in full, because nobody can tell later what “tomorrow” was. `without_resolved` takes those out of
a content that follow from what was said, so that what is left can be held against the words themselves.
"""

import calendar
import re
from collections.abc import Iterator
from datetime import date, timedelta

# A day, a month or a year, as ISO writes it: 2026-12-07, 2026-12, 2026.
type When = str

_NUMBERS = {zero: n for n, zero in enumerate("零一二三四五六七八九")} | {"两": 2, "十": 10}
_ZH_NUMBER = r"\d{1,3}|[一二两三四五六七八九十]{1,3}"
_WEEKDAYS_ZH = {day: n for n, day in enumerate("一二三四五六")} | {"日": 6, "天": 6}
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_MONTH_NAMES = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTHS = {name: n for n, name in enumerate(_MONTH_NAMES, 1)}
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?"
    r"|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_FULL = re.compile(
    rf"(?<![\w.-])(?P<y>(?:19|20)\d\d)(?:(?:[-/.](?P<m>\d{{1,2}})[-/.](?P<d>\d{{1,2}})|[-/](?P<om>\d{{1,2}}))(?![\w-])"
    rf"|\s?年(?:\s?(?P<zm>\d{{1,2}})\s?月(?:\s?(?P<zd>\d{{1,2}})\s?[日号])?)?)"
    rf"|\b(?P<em>{_MONTH})\.?\s(?P<ed>\d{{1,2}})(?:st|nd|rd|th)?(?:,?\s(?P<ey>(?:19|20)\d\d))?\b"
    rf"|\b(?P<fd>\d{{1,2}})(?:st|nd|rd|th)?\s(?:of\s)?(?P<fm>{_MONTH})(?:,?\s(?P<fy>(?:19|20)\d\d))?\b"
    rf"|(?<!\d)(?P<bm>\d{{1,2}})\s?月\s?(?P<bd>\d{{1,2}})\s?[日号]",
    re.IGNORECASE,
)
_DAYS = {
    "大前天": -3, "前天": -2, "昨天": -1, "昨日": -1, "昨晚": -1, "今天": 0, "今日": 0, "今晚": 0, "明天": 1, "明日": 1,
    "明晚": 1, "后天": 2, "大后天": 3, "day before yesterday": -2, "yesterday": -1, "today": 0, "tonight": 0,
    "tomorrow": 1, "day after tomorrow": 2,
}  # fmt: skip
_DAY = re.compile(
    "|".join(
        rf"\b{word}\b" if word.isascii() else word for word in sorted(_DAYS, key=len, reverse=True)
    ).replace(" ", r"\s"),
    re.IGNORECASE,
)
_WEEKS_ZH = {"上上": -2, "上": -1, "这": 0, "本": 0, "下": 1, "下下": 2}
_WEEKDAY_ZH = re.compile(r"(上上|上|这|本|下下|下)?个?(?:周|星期|礼拜)([一二三四五六日天])")
_WEEKDAY = re.compile(rf"\b(?:(next|this|last|coming)\s)?({'|'.join(_WEEKDAYS)})\b", re.IGNORECASE)
_SPAN_ZH = re.compile(rf"({_ZH_NUMBER})\s?个?(天|日|周|星期|礼拜|月)(?:之?(?:后|内)|以后|(前|之前|以前))")
_SPAN = re.compile(
    r"\b(?:in|within)\s(\d{1,3}|an?|one|two|three|four|five|six)\s(day|week|month)s?\b"
    r"|\b(\d{1,3}|an?|one|two|three|four|five|six)\s(day|week|month)s?\s(ago|from\s(?:now|today)|later)\b",
    re.IGNORECASE,
)
_WORDS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6}
_MONTH_ZH = re.compile(rf"(上|这|本|下)个?月(?:({_ZH_NUMBER})[日号]|(底))?|(月底)")
_MONTH_EN = re.compile(r"\b(end\sof\s)?(?:the\s)?(next|this|last)\smonth\b|\b(end\sof)\sthe\smonth\b", re.I)
_YEAR = re.compile(
    rf"(前年|去年|今年|明年|后年)(?:({_ZH_NUMBER})月份?(?:({_ZH_NUMBER})[日号])?|(底))?|(年底)"
)
_YEARS = {"前年": -2, "去年": -1, "今年": 0, "明年": 1, "后年": 2}
_YEAR_EN = re.compile(r"\b(end\sof\s)?(?:the\s)?(next|this|last)\syear\b|\b(end\sof)\sthe\syear\b", re.I)
_STEPS = {"上": -1, "这": 0, "本": 0, "下": 1, "last": -1, "this": 0, "next": 1}
_BARE_DAY = re.compile(rf"(?<![\d月年.-])({_ZH_NUMBER})\s?号(?!线|楼|位|机|码)")


_FROM_THERE = re.compile(
    r"[上这本下大前昨今明后]|(?:end\sof\s(?:the\s)?)?(?:next|this|last)\s|today|tonight|tomorrow|yesterday|day\s",
    re.I,
)
_COMING = re.compile(r"下|大?后|明[天日晚]|next\s|end\sof\s(?:the\s)?next|tomorrow|day\safter", re.IGNORECASE)
_RECURS = re.compile(r"(?:每个?|各|逢|\b(?:every|each|on))\s?$", re.IGNORECASE)


def without_resolved(content: str, evidence: str, said_on: date) -> str:
    """`content` without the dates that the evidence, said on `said_on`, means; a date it does not mean stays."""
    if not 1900 < said_on.year < 9000:
        return content
    meant: set[When] | None = None
    pieces: list[str] = []
    at = 0
    for match in _FULL.finditer(content):
        if meant is None:
            meant = named(evidence, said_on)
        if meant.isdisjoint(_of(match, said_on)):
            continue
        pieces.append(content[at : match.start()])
        at = match.end()
    return " ".join([*pieces, content[at:]]) if pieces else content


def written_out(text: str, said_on: date) -> str:
    """`text` with the days that it names by the day it was said on in full; where one may mean two, as it stands."""
    if not 1900 < said_on.year < 9000:
        return text
    for pattern in (_WEEKDAY_ZH, _DAY, _WEEKDAY, _MONTH_ZH, _MONTH_EN):
        text = pattern.sub(lambda match: _in_full(match, said_on), text)
    return text


def _in_full(match: re.Match[str], said_on: date) -> str:
    meant = named(match[0], said_on)
    # A bare Friday may be any Friday, and "every day" begins with a day.
    is_told = len(meant) == 1 and _FROM_THERE.match(match[0]) is not None
    if not is_told or _RECURS.search(match.string[: match.start()]):
        return match[0]
    before, after = match.string[: match.start()][-1:], match.string[match.end() :][:1]
    return f"{' ' * before.isalnum()}{meant.pop()}{' ' * after.isalnum()}"


def without_coming_days(text: str) -> str:
    """`text` without the words for a day to come that will be written out: 下周一, tomorrow, next Friday."""
    for pattern in (_WEEKDAY_ZH, _DAY, _WEEKDAY, _MONTH_ZH, _MONTH_EN):
        text = pattern.sub(lambda match: " " if _COMING.match(match[0]) else match[0], text)
    return text


def undated(text: str) -> str:
    """`text` without the words that name a day, a month or a year."""
    days = (_FULL, _DAY, _WEEKDAY_ZH, _WEEKDAY, _SPAN_ZH, _SPAN, _BARE_DAY)
    for pattern in (*days, _MONTH_ZH, _MONTH_EN, _YEAR, _YEAR_EN):
        text = pattern.sub(" ", text)
    return text


def named(text: str, said_on: date) -> set[When]:
    """What the dates in `text` can mean, said on that day: more than one where people mean more than one."""
    found: set[When] = set()
    for match in _FULL.finditer(text):
        found.update(_of(match, said_on))
    for match in _DAY.finditer(text):
        found.add(_day(said_on, _DAYS[" ".join(match[0].casefold().split())]))
    for reading in (_weekdays, _spans, _months, _years):
        found.update(reading(text, said_on))
    return found


def _of(match: re.Match[str], said_on: date) -> set[When]:
    """The date that a match of _FULL writes out; without a year, the nearest and the next one."""
    year = match["y"] or match["ey"] or match["fy"]
    spelled = match["em"] or match["fm"]
    month = (
        _MONTHS[spelled[:3].casefold()]
        if spelled
        else _int(match["m"] or match["om"] or match["zm"] or match["bm"])
    )
    day = _int(match["d"] or match["zd"] or match["ed"] or match["fd"] or match["bd"])
    if year:
        return _written(int(year), month, day)
    years = [said_on.year + step for step in (-1, 0, 1)]
    days = [day_ for y in years for day_ in _written(y, month, day)]
    if not days:
        return set()
    coming = next((one for one in sorted(days) if one >= said_on.isoformat()), days[-1])
    return {coming, min(days, key=lambda one: abs(date.fromisoformat(one) - said_on))}


def _written(year: int, month: int | None, day: int | None) -> set[When]:
    try:
        if day is not None and month is not None:
            return {date(year, month, day).isoformat()}
        return {date(year, month, 1).isoformat()[:7]} if month is not None else {str(year)}
    except ValueError:
        return set()


def _weekdays(text: str, said_on: date) -> Iterator[When]:
    monday = -said_on.weekday()
    for match in _WEEKDAY_ZH.finditer(text):
        place = monday + _WEEKDAYS_ZH[match[2]]
        yield from _around(said_on, place, _WEEKS_ZH[match[1]] if match[1] else None)
    for match in _WEEKDAY.finditer(text):
        place = monday + _WEEKDAYS.index(match[2].casefold())
        word = (match[1] or "").casefold()
        if word == "next":
            # Of the week after this one; for many, the first to come.
            yield _day(said_on, place + 7)
            yield _day(said_on, place if place > 0 else place + 7)
        elif word == "last":
            yield _day(said_on, place - 7)
            yield _day(said_on, place if place < 0 else place - 7)
        else:
            yield from _around(said_on, place, None)


def _around(said_on: date, place: int, weeks: int | None) -> Iterator[When]:
    """The weekday `place` days off in a named week, else in this week or, once it is over, in the next."""
    if weeks is not None:
        yield _day(said_on, place + 7 * weeks)
        return
    yield _day(said_on, place)
    if place < 0:
        yield _day(said_on, place + 7)


def _spans(text: str, said_on: date) -> Iterator[When]:
    for match in _SPAN_ZH.finditer(text):
        unit = {"天": "day", "日": "day", "月": "month"}.get(match[2], "week")
        yield _off(said_on, _int(match[1]) or 0, unit, back=match[3] is not None)
    for match in _SPAN.finditer(text):
        count, unit = (match[1], match[2]) if match[1] else (match[3], match[4])
        number = _WORDS.get(count.casefold()) or int(count)
        yield _off(said_on, number, unit.casefold(), back=(match[5] or "").casefold() == "ago")


def _months(text: str, said_on: date) -> Iterator[When]:
    for match in _MONTH_ZH.finditer(text):
        first = _month(said_on, _STEPS[match[1]] if match[1] else 0)
        if match[3] or match[4]:
            yield _last(first)
        elif match[2]:
            yield from _written(first.year, first.month, _int(match[2]))
        else:
            yield first.isoformat()[:7]
    for match in _MONTH_EN.finditer(text):
        first = _month(said_on, _STEPS[match[2].casefold()] if match[2] else 0)
        yield _last(first) if match[1] or match[3] else first.isoformat()[:7]
    for match in _BARE_DAY.finditer(text):
        for step in (0, 1):
            first = _month(said_on, step)
            yield from _written(first.year, first.month, _int(match[1]))


def _years(text: str, said_on: date) -> Iterator[When]:
    for match in _YEAR.finditer(text):
        year = said_on.year + (_YEARS[match[1]] if match[1] else 0)
        if match[4] or match[5]:
            yield f"{year}-12-31"
        else:
            yield from _written(year, _int(match[2]), _int(match[3]))
    for match in _YEAR_EN.finditer(text):
        year = said_on.year + (_STEPS[match[2].casefold()] if match[2] else 0)
        yield f"{year}-12-31" if match[1] or match[3] else str(year)


def _day(said_on: date, days: int) -> When:
    return (said_on + timedelta(days=days)).isoformat()


def _off(said_on: date, count: int, unit: str, *, back: bool) -> When:
    count = -count if back else count
    if unit != "month":
        return _day(said_on, count * (7 if unit == "week" else 1))
    first = _month(said_on, count)
    return first.replace(day=min(said_on.day, calendar.monthrange(first.year, first.month)[1])).isoformat()


def _month(said_on: date, steps: int) -> date:
    """The first of the month so many months off."""
    months = said_on.year * 12 + said_on.month - 1 + steps
    return date(months // 12, months % 12 + 1, 1)


def _last(first: date) -> When:
    return first.replace(day=calendar.monthrange(first.year, first.month)[1]).isoformat()


def _int(text: str | None) -> int | None:
    """二十一 and 21 alike."""
    if not text or text.isdigit():
        return int(text) if text else None
    tens, _, ones = text.rpartition("十")
    if "十" not in text:
        return _NUMBERS[text[-1]]
    return (_NUMBERS[tens[-1]] if tens else 1) * 10 + (_NUMBERS[ones[-1]] if ones else 0)
