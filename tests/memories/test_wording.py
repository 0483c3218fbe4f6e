"""Two ways of putting one claim come to one; what could be meant otherwise stays as it is."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.wording import plain


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("用 pnpm 安装依赖", "安装依赖 用 pnpm", id="the instrument behind the task"),
        pytest.param("不要用 Redis 做会话", "会话 不要用 Redis", id="with what denies it"),
        pytest.param("用公制单位来写菜谱", "写菜谱 用 公制单位", id="来 says where the task begins"),
        pytest.param("不要在日志里写手机号", "日志里不要写手机号", id="the place first"),
        pytest.param("手机号不要写在日志里", "日志不要写手机号", id="what is put, behind"),
        pytest.param("上班时抽烟是被禁止的", "不要 上班时抽烟", id="what is forbidden"),
        pytest.param("所有接口返回 JSON", "接口返回 JSON", id="a rule about a kind"),
        pytest.param("会话超时时间是 30 分钟", "会话超时是 30 分钟", id="a duration is a time"),
        pytest.param("把主色从蓝色改成绿色", "把主色 改为 绿色", id="what was before"),
        pytest.param("以后请记得，周五发周报", "周五发周报", id="a frame"),
        pytest.param("规则: 周五发周报", "周五发周报", id="a label that says nothing"),
        pytest.param("Use tabs for indentation", "indentation use tabs", id="what for first"),
        pytest.param("Tabs are used for indentation", "indentation use Tabs", id="passive"),
        pytest.param("We never use tabs for indentation", "indentation We never use tabs", id="denied"),
        pytest.param("Set the pass mark to 60%", "the pass mark set to 60%", id="set to"),
        pytest.param("The capacity of the hall is 120", "hall capacity is 120", id="its own"),
        pytest.param("It is forbidden to feed the goats", "never feed the goats", id="it is forbidden"),
        pytest.param("Feeding the goats is forbidden", "never feed the goats", id="doing is forbidden"),
        pytest.param("Avoid caching tokens", "never cache tokens", id="avoid doing"),
        pytest.param(
            "Before the release, freeze the code", "freeze the code Before the release", id="when, last"
        ),
        pytest.param("Please make sure to label every trench", "label every trench", id="two frames"),
        pytest.param("Wear gloves. Thanks!", "Wear gloves. ", id="thanks"),
        # What stays.
        pytest.param("用 dayjs 代替 moment", "用 dayjs 代替 moment", id="instead of"),
        pytest.param("用 A 和 B 部署", "用 A 和 B 部署", id="two instruments"),
        pytest.param("Use tabs for it", "Use tabs for it", id="for what?"),
        pytest.param(
            "Use pnpm instead of npm for installs", "Use pnpm instead of npm for installs", id="two values"
        ),
        pytest.param("Every second row is grey", "Every second row is grey", id="not each of them"),
        pytest.param("不是所有接口都公开", "不是所有接口都公开", id="not all"),
        pytest.param("Omit trailing commas", "Omit trailing commas", id="-ing that is no doing"),
    ],
)
def test_one_wording_stands_for_all(text: str, expected: str) -> None:
    assert plain(text) == expected


@pytest.mark.parametrize(
    ("doing", "verb"),
    [
        ("logging", "log"),
        ("deploying", "deploy"),
        ("storing", "store"),
        ("merging", "merge"),
        ("editing", "edit"),
    ],
)
def test_a_verb_is_found_by_its_letters(doing: str, verb: str) -> None:
    assert plain(f"{doing.capitalize()} drafts is forbidden") == f"never {verb} drafts"


WORDS = (
    "用|不要|在|里|做|来|所有|从|改为|禁止|的|时间|30|秒|pnpm|依赖|日志|:|，|。"
    "|use|for|is|the|of|set|to|forbidden|ing"
)
PIECES = st.sampled_from(WORDS.split("|"))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(PIECES, max_size=14).map(" ".join) | st.lists(PIECES, max_size=14).map("".join) | st.text())
def test_any_text_has_a_wording_that_is_hardly_longer(text: str) -> None:
    assert len(plain(text)) <= len(text) + 8 * (1 + text.count("从") + text.count("由") + text.count("to"))


@pytest.mark.parametrize(
    "unit", ["从 a ", "please ", "thanks!", "changed from ", "所有", "用", "use a for ", "以后，"]
)
def test_a_hostile_text_costs_little(unit: str) -> None:
    began = time.process_time()
    plain((unit * 20_000)[:20_000])
    assert time.process_time() - began < 1
