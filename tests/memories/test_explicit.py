"""The grammar of the explicit channel, case by case and against any text at all."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.explicit import MAX_ITEMS, MAX_LENGTH, Reading, read

OWN = Path(__file__).with_name("explicit_cases.jsonl")
# Written by voices of other trades before the grammar had seen any of them; `yet` is what it makes of a few.
VOICES = Path(__file__).with_name("explicit_voices.jsonl")
SHARED = Path(__file__).resolve().parents[2].parent / "shared" / "data" / "triggers.jsonl"


def cases(path: Path, prefix: str) -> list[Any]:
    if not path.exists():
        return []
    lines = path.read_text(encoding="utf-8").splitlines()
    return [pytest.param(case, id=f"{prefix}{case['id']}") for case in map(json.loads, lines)]


@pytest.mark.parametrize("case", cases(OWN, "own-") + cases(SHARED, "shared-"))
def test_a_message_is_read_as_its_case_says(case: dict[str, Any]) -> None:
    reading = read(case["text"])
    assert [item.content for item in reading.items] == case["items"]
    assert reading.refusals == ()
    if "signals" in case:
        assert reading.signals == set(case["signals"])
    if "utterances" in case:
        assert [[said.kind, said.text] for said in reading.utterances] == case["utterances"]
    if "forget" in case:
        assert list(reading.forgets) == case["forget"]
    for name in ("type", "key", "always", "changes"):
        if name in case:
            assert {getattr(item, name) for item in reading.items} == {case[name]}


@pytest.mark.parametrize("case", cases(VOICES, "voice-"))
def test_messages_of_other_trades_are_read_as_their_writers_meant(case: dict[str, Any]) -> None:
    reading = read(case["text"])
    wanted = case.get("yet", case)
    assert [item.content for item in reading.items] == wanted["items"]
    if "signals" in wanted:
        assert reading.signals == set(wanted["signals"])
    assert list(reading.forgets) == wanted.get("forget", [])
    for name in ("type", "key"):
        if name in case:
            assert {getattr(item, name) for item in reading.items} == {case[name]}


def test_of_413_such_messages_all_but_ten_are_read_so() -> None:
    lines = list(map(json.loads, VOICES.read_text(encoding="utf-8").splitlines()))
    assert (len(lines), sum("yet" in line for line in lines)) == (413, 10)


@pytest.mark.parametrize(
    ("text", "key"),
    [
        pytest.param("记住：页面引用区块要用区块 ID", "页面引用区块", id="before 要用, not inside 引用"),
        pytest.param("记住：所有接口统一走 /api/v2", "接口", id="without the quantifier"),
        pytest.param("Remember: all dates are UTC", "dates", id="without all"),
        pytest.param("Remember: from now on, the dates are UTC", "dates", id="without from now on"),
        pytest.param("Remember: The API base must be /v2", "api-base", id="words joined"),
        pytest.param("记住：接口规范如下\n- 超时用 8 秒", "接口规范-超时", id="after the heading"),
    ],
)
def test_a_key_names_the_subject(text: str, key: str) -> None:
    (item,) = read(text).items
    assert (item.key, item.key_given) == (key, False)


def test_without_a_subject_the_key_is_a_stable_hash_of_the_content() -> None:
    keys = [read(text).items[0].key for text in ("记住：用 pnpm", "请记住：用  pnpm。", "记住：用 yarn")]
    assert keys[0] == keys[1] != keys[2]
    assert keys[0].startswith("m-")
    assert len(keys[0]) == 8


def test_a_key_given_to_a_list_is_numbered_so_that_no_item_replaces_another() -> None:
    items = read("记住[样式]：\n- 用 scss\n- 颜色走变量").items
    assert [(item.key, item.key_given) for item in items] == [("样式", True), ("样式-2", True)]


def test_the_twenty_first_item_of_a_message_is_refused() -> None:
    reading = read("记住：\n" + "".join(f"- 第 {n} 条规则用 {n}\n" for n in range(1, 23)))
    assert len(reading.items) == 20
    assert [(refusal.text, refusal.reason) for refusal in reading.refusals] == [
        ("第 21 条规则用 21", "too_many"),
        ("第 22 条规则用 22", "too_many"),
    ]


@pytest.mark.parametrize(("length", "kept"), [(MAX_LENGTH, 1), (MAX_LENGTH + 1, 0)])
def test_a_content_longer_than_a_memory_is_refused_whole(length: int, kept: int) -> None:
    text = "记住：" + "长" * length
    reading = read(text)
    assert len(reading.items) == kept
    expected = [] if kept else [("长" * length, "too_long", 3, len(text))]
    assert [(r.text, r.reason, r.start, r.end) for r in reading.refusals] == expected


def test_the_last_refusal_stands_for_all_that_follow() -> None:
    text = "记住：\n" + "- 规则\n" * 300
    refusals = read(text).refusals
    assert len(refusals) == 100
    assert text[refusals[-1].start : refusals[-1].end].count("规则") == 181


def test_spans_cover_trigger_words_and_content() -> None:
    text = "做登录页。对了，请记住：主色用墨绿。谢谢\n忘掉：分页 50 条"
    reading = read(text)
    assert [text[start:end] for start, end in reading.spans] == [
        "请记住：主色用墨绿",
        "忘掉：分页 50 条",
    ]


def test_a_block_of_code_after_a_heading_is_kept_as_it_stands() -> None:
    text = "记住：请求都这样写：\n```js\nawait api.get(url)\n```\n现在做首页"
    (item,) = read(text).items
    assert item.content == "请求都这样写：\n```js\nawait api.get(url)\n```"


def test_what_a_trigger_took_signals_nothing_and_the_rest_does() -> None:
    reading = read("记住：主色用墨绿。谢谢\n以后都用 pnpm")
    assert reading.signals == {"directive"}
    assert [(said.kind, said.text) for said in reading.utterances] == [("directive", "以后都用 pnpm")]


# --- any text ------------------------------------------------------------------------------------------

_SIGNS = """
记住： 請記住， Remember: 忘掉： forget: 以后都用 不对，应该是 现在帮我做 1. 2. - ① 一、
> ``` ` “ ” " ' ** __ ( )
[key] （偏好） ： ， 。 ？ ! ; 如下 用 pnpm 主色 日志： <a> </a> 好吗？ 吗 取消刚才的规则 \U0001f642 1️⃣ İ ß
"""
_SPACED = [
    " ",
    "  ",
    "\n",
    "\n\n",
    "\t",
    "\r\n",
    "\u2028",
    "\ufeff",
    "\ud800",
    "\x00",
    "\n- ",
    "\n1. ",
    "\n  - ",
]
_PHRASES = [
    "remember that we use ",
    "no, it should be ",
    "that's the rule",
    "for now use ",
    "[info] ",
    "日志：\n",
]
FRAGMENTS = st.sampled_from([*_SIGNS.split(), *_SPACED, *_PHRASES])
ANY_TEXT = st.one_of(st.text(st.characters()), st.lists(FRAGMENTS, max_size=40).map("".join))


def assert_sound(text: str, reading: Reading) -> None:
    assert len(reading.items) <= MAX_ITEMS
    assert len(reading.forgets) <= MAX_ITEMS
    for item in reading.items:
        assert 0 <= item.start < item.end <= len(text)
        assert 0 < len(item.content) <= MAX_LENGTH
        assert 0 < len(item.key) <= 80
        words = " ".join(text[item.start : item.end].split())
        assert " ".join(item.content.split()).endswith(words)
        assert any(start <= item.start and item.end <= end for start, end in reading.spans)
    for said in (*reading.refusals, *reading.utterances):
        assert 0 <= said.start < said.end <= len(text)
    for said in reading.utterances:
        assert said.text == " ".join(text[said.start : said.end].split())
        assert not any(start < said.end and said.start < end for start, end in reading.spans)
    edges = [edge for span in reading.spans for edge in span]
    assert edges == sorted(edges)
    assert bool(reading.utterances) == bool(reading.signals & {"directive", "correction"})


@settings(max_examples=400, deadline=None)
@given(ANY_TEXT)
def test_any_text_is_read_without_an_error_and_within_bounds(text: str) -> None:
    assert_sound(text, read(text))


@settings(max_examples=100, deadline=None)
@given(st.lists(FRAGMENTS, max_size=12).map("".join))
def test_a_plain_trigger_on_a_line_of_its_own_is_always_taken(before: str) -> None:
    """Unless the text before it has made the line another's: a fence, a log, an open quotation."""
    if any(sign in before for sign in '`~“”"<(：:;[') or "info" in before:
        return
    contents = [item.content for item in read(f"{before}\n\n记住：主键用雪花 ID").items]
    refused = [refusal.text for refusal in read(f"{before}\n\n记住：主键用雪花 ID").refusals]
    assert "主键用雪花 ID" in contents + refused


TRIGGERS = st.sampled_from(
    ["记住：", "请记住：", "Remember: ", "please remember: ", "務必記住：", "忘掉：", "Forget: "]
)
WISHES = st.sampled_from(
    [
        "主键用雪花 ID",
        "发票按年份编号",
        "headings use sentence case",
        "no oil paint",
        "采样率 48 kHz",
        "tests run offline",
    ]
)
PROSE = st.sampled_from(
    [
        "今天的稿子我看过了，改得不错。",
        "The draft reads well.",
        "第三章还差一张图。",
        "```\nfoo()\n```",
        "> 这是上次的话",
        "- 先看标题\n- 再看正文",
        "Why is the page blank?",
        "见 `config.yml`。",
    ]
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    TRIGGERS,
    WISHES,
    st.sampled_from(["> {}", "```\n{}\n```", "~~~\n{}\n~~~", "`{}`", "“{}”", "「{}」", '"{}"']),
)
def test_quoting_or_fencing_a_trigger_silences_it(trigger: str, wish: str, frame: str) -> None:
    assert read(trigger + wish).spans == ((0, len(trigger + wish)),)
    reading = read(frame.format(trigger + wish))
    assert (reading.items, reading.forgets, reading.spans) == ((), (), ())


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.lists(PROSE, max_size=3), TRIGGERS, WISHES, st.lists(PROSE, max_size=3))
def test_what_stands_around_does_not_change_what_is_asked_for(
    before: list[str], trigger: str, wish: str, after: list[str]
) -> None:
    reading = read("\n\n".join([*before, trigger + wish, *after]))
    assert [*(item.content for item in reading.items), *reading.forgets] == [wish]


HOSTILE = [
    "记住：", "记住\n", "记住：(", "remember ", "Remember: a\n", "。a", "，记住：", "“a", '" a', "`` ` ",
    "- 记住：a\n", "1. a；2. b；", "** ", "\n", "ok, ", "以后都", "不是a", "不对。", "应该是a", "not a but ",
    "忘掉a的规则", "<a>\n", "日志：\n", "记住：如下\n- a\n", "x\"a \"\n", "switch a ", "记住：a\n  b\n", "是",
]  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_a_hostile_text_of_200_000_characters_costs_little(unit: str) -> None:
    """In processor time, as the machine may be busy; anything quadratic takes minutes."""
    text = ("记住：" + unit * (200_000 // len(unit)))[:200_000]
    began = time.process_time()
    assert_sound(text, read(text))
    assert time.process_time() - began < 2
