"""Dates that people name by the day they speak on."""

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction import dates
from memories.extraction.reasons import Reason
from memories.extraction.verify import Checked, check

from .builders import proposal, transcript, turn

FRIDAY = date(2026, 12, 4)


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        pytest.param("明天上线", ["2026-12-05"], id="tomorrow zh"),
        pytest.param("大后天", ["2026-12-07"], id="in three days zh"),
        pytest.param("前天", ["2026-12-02"], id="before yesterday zh"),
        pytest.param("the day after tomorrow", ["2026-12-06"], id="day after tomorrow"),
        pytest.param("yesterday", ["2026-12-03"], id="yesterday"),
        pytest.param("下周一上线", ["2026-12-07"], id="next Monday zh"),
        pytest.param("下下周三", ["2026-12-16"], id="Wednesday after next zh"),
        pytest.param("上周五", ["2026-11-27"], id="last Friday zh"),
        pytest.param("本周日", ["2026-12-06"], id="this Sunday zh"),
        pytest.param("星期一", ["2026-11-30", "2026-12-07"], id="Monday zh, of this or the next week"),
        pytest.param("next Monday", ["2026-12-07"], id="next Monday"),
        pytest.param("last Friday", ["2026-11-27"], id="last Friday"),
        pytest.param("by Sunday", ["2026-12-06"], id="Sunday to come"),
        pytest.param("三天后", ["2026-12-07"], id="in three days, zh numeral"),
        pytest.param("10天前", ["2026-11-24"], id="ten days ago zh"),
        pytest.param("两周内", ["2026-12-18"], id="within two weeks zh"),
        pytest.param("in two weeks", ["2026-12-18"], id="in two weeks"),
        pytest.param("3 days ago", ["2026-12-01"], id="days ago"),
        pytest.param("a month from now", ["2027-01-04"], id="a month from now"),
        pytest.param("下个月5号", ["2027-01-05"], id="fifth of next month zh"),
        pytest.param("月底前", ["2026-12-31"], id="end of the month zh"),
        pytest.param("by the end of the month", ["2026-12-31"], id="end of the month"),
        pytest.param("下个月", ["2027-01"], id="next month zh"),
        pytest.param("next month", ["2027-01"], id="next month"),
        pytest.param("明年3月", ["2027-03"], id="March next year zh"),
        pytest.param("年底", ["2026-12-31"], id="end of the year zh"),
        pytest.param("next year", ["2027"], id="next year"),
        pytest.param("12月7日", ["2026-12-07"], id="day without a year zh"),
        pytest.param("1月3日", ["2027-01-03"], id="day of the coming year zh"),
        pytest.param("7号发布", ["2026-12-07", "2027-01-07"], id="day without a month zh"),
        pytest.param("December 7, 2026", ["2026-12-07"], id="American"),
        pytest.param("7 Dec", ["2026-12-07"], id="British, without a year"),
        pytest.param("2026/12/7", ["2026-12-07"], id="slashes"),
        pytest.param("2月30日", [], id="no such day"),
        pytest.param("v1.2026-12 on port 2026.5", [], id="no date"),
        pytest.param("3号线 1号楼", [], id="a line and a house"),
    ],
)
def test_a_day_is_counted_from_the_day_of_the_talk(said: str, meant: list[str]) -> None:
    assert sorted(dates.named(said, FRIDAY)) == meant


@pytest.mark.parametrize(
    ("content", "evidence", "left"),
    [
        pytest.param("2026-12-07 上线", "下周一上线", "上线", id="iso"),
        pytest.param("2026年12月7日上线", "下周一上线", "上线", id="zh"),
        pytest.param("Launch on December 7, 2026", "launch next Monday", "Launch on", id="en"),
        pytest.param("2026-12-08 上线", "下周一上线", "2026-12-08 上线", id="another day stays"),
        pytest.param("2026-12-07 上线", "上线", "2026-12-07 上线", id="a day nobody named stays"),
        pytest.param("2026-12-07 到 2026-12-09", "下周一到下周三", "到", id="two"),
    ],
)
def test_a_date_that_follows_is_taken_out_and_another_stays(content: str, evidence: str, left: str) -> None:
    assert " ".join(dates.without_resolved(content, evidence, FRIDAY).split()) == left


@pytest.mark.parametrize(
    ("content", "waits"),
    [
        pytest.param("2026-03-09 前完成迁移", None, id="the day it was"),
        pytest.param("2026-03-10 前完成迁移", Reason.NOT_ENTAILED, id="another day"),
        pytest.param("2027-03-09 前完成迁移", Reason.NOT_ENTAILED, id="another year"),
        pytest.param("2026-03-09 前完成全部迁移", Reason.NOT_ENTAILED, id="the day, and a word more"),
    ],
)
def test_a_content_may_write_out_the_day_its_turn_named(content: str, waits: Reason | None) -> None:
    # Early on Saturday where it was said, still Friday in UTC.
    said = turn("下周一前完成迁移", sent_at=datetime.fromisoformat("2026-03-07T00:30:00+08:00"))
    result = check(proposal(content, quote="下周一前完成迁移"), transcript(said))
    assert isinstance(result, Checked)
    assert result.waits is waits


@given(st.text(max_size=60), st.dates())
def test_any_text_of_any_day_can_be_read(text: str, on: date) -> None:
    assert isinstance(
        dates.without_resolved(f"2026-12-07 {text}", f"{text} 下周一 in 999 months 999个月后", on), str
    )


def test_a_clock_that_is_wrong_by_ages_breaks_nothing() -> None:
    said = turn("明天上线", sent_at=datetime(9999, 12, 31, tzinfo=UTC))
    assert isinstance(check(proposal("2026-12-07 上线", quote="明天上线"), transcript(said)), Checked)
