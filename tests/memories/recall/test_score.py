from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.recall.index import Index
from memories.recall.parameters import DEFAULT, PARTS
from memories.recall.score import Query, Ranking, rank
from tests.memories.recall.entries import NOW, entry, ids, ranking

RULES = [
    entry("页面引用区块要用区块 ID", id=1),
    entry("主色用蓝色", id=2),
    entry("数据库端口是 5432", id=3),
    entry("Use pnpm, never npm", id=4),
    entry("getUserName 返回昵称", id=5),
    entry("所有接口统一走 /api/v2", id=6),
    entry("The deploy script lives in scripts/deploy.sh", id=7, key="deploy"),
    entry("超时 30s 后重试", id=8, keywords=("timeout", "retry")),
]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("这个页面怎么引用区块？", [1], id="Chinese"),
        pytest.param("主题的主色是什么", [2], id="Chinese, other words around"),
        pytest.param("连接数据库时端口写多少", [3], id="Chinese run in a longer one"),
        pytest.param("Which package manager, npm or pnpm?", [4], id="English"),
        pytest.param("用Pnpm安装依赖", [4], id="Latin word inside Chinese without a blank"),
        pytest.param("ＰＮＰＭ", [4], id="full-width"),
        pytest.param("what does user_name return", [5], id="parts of an identifier in another spelling"),
        pytest.param("getUserName", [5], id="identifier whole"),
        pytest.param("/api/v2/orders", [6], id="route"),
        pytest.param("deploy", [7], id="by key"),
        pytest.param("where is the retry timeout", [8], id="by keyword"),
        pytest.param("30 秒还是 30s", [8], id="number with its unit"),
        pytest.param("写一首关于春天的诗", [], id="nothing needed"),
        pytest.param("What is the weather like?", [], id="nothing needed in English"),
        pytest.param("你好，谢谢！", [], id="greeting"),
        pytest.param("", [], id="empty"),
    ],
)
def test_only_what_the_message_asks_for_is_evident(message: str, expected: list[int]) -> None:
    assert ids(ranking(RULES, message)) == expected


def test_a_single_memory_is_found_by_a_single_word() -> None:
    assert ids(ranking([entry("端口是 5432", id=1)], "端口")) == [1]


def test_a_file_that_fits_is_evidence_without_a_word() -> None:
    rules = [entry("表单用双列布局", id=1, files=("src/pages/**",)), entry("x", id=2, files=("**",))]
    assert ids(ranking(rules, "继续", files=("src/pages/login.vue",))) == [1]
    assert ids(ranking(rules, "改一下 src/pages/login.vue 的样式")) == [1]
    assert ids(ranking(rules, "继续", files=("docs/a.md",))) == []


def test_instructions_of_the_topic_recall_too_but_weigh_less_than_the_message() -> None:
    rules = [entry("主色用蓝色", id=1), entry("按钮用圆角", id=2)]
    assert ids(ranking(rules, "做登录页", instructions=("主色以后都用绿色",))) == [1]
    assert ids(ranking(rules, "按钮", instructions=("主色",)))[0] == 2


def test_every_part_is_reported_and_they_sum_to_the_score() -> None:
    rule = entry(
        "登录页用双列布局",
        id=1,
        type="constraint",
        importance=5,
        authority="person",
        area="登录",
        files=("src/login.vue",),
        days_ago=0,
    )
    scored = ranking([rule], "登录页布局", files=("src/login.vue",), area=" 登录 ").of(0)
    assert tuple(scored.parts) == PARTS
    assert scored.score == sum(scored.parts.values())
    weights = [getattr(DEFAULT, part) for part in PARTS[1:]]
    assert [scored.parts[part] for part in PARTS[1:]] == pytest.approx(weights)
    assert 0.8 * DEFAULT.lexical < scored.parts["lexical"] < DEFAULT.lexical


def test_the_weights_sum_to_one() -> None:
    assert sum(getattr(DEFAULT, part) for part in PARTS) == pytest.approx(1)


@pytest.mark.parametrize(
    ("better", "worse", "part"),
    [
        pytest.param({"importance": 5}, {"importance": 1}, "importance", id="importance"),
        pytest.param({"type": "constraint"}, {"type": "fact"}, "type", id="type"),
        pytest.param({"authority": "person"}, {"authority": "automatic"}, "authority", id="authority"),
        pytest.param({"area": "登录"}, {"area": "支付"}, "area", id="own area before another"),
        pytest.param({"area": "登录"}, {"area": ""}, "area", id="own area before none"),
        pytest.param({"area": ""}, {"area": "支付"}, "area", id="no area before another"),
        pytest.param({"days_ago": 1}, {"days_ago": 90}, "recency", id="newer word"),
        pytest.param(
            {"days_ago": 90, "confirmed_at": NOW}, {"days_ago": 30}, "recency", id="confirmed lately"
        ),
    ],
)
def test_of_two_equal_matches_the_better_one_comes_first(better: dict, worse: dict, part: str) -> None:
    found = ranking(
        [entry("主色用蓝色", id=1, **worse), entry("主色用蓝色", id=2, **better)], "主色", area="登录"
    )
    assert ids(found) == [2, 1]
    assert found.of(1).parts[part] > found.of(0).parts[part]


def test_an_old_rule_asked_for_by_name_wins_over_fresh_and_important_ones() -> None:
    old = entry("发票号用雪花算法生成", id=1, key="发票号", days_ago=3000, importance=1)
    fresh = [
        entry(
            f"发票列表第 {n} 列显示金额",
            id=n,
            days_ago=0,
            importance=5,
            authority="person",
            type="constraint",
        )
        for n in range(2, 12)
    ]
    assert ids(ranking([old, *fresh], "发票号用什么算法生成"))[0] == 1


@settings(deadline=None)
@given(st.integers(0, 4000), st.integers(0, 4000))
def test_recency_falls_with_age_and_is_never_negative(first: int, second: int) -> None:
    early, late = sorted((first, second))
    parts = [ranking([entry(days_ago=days)]).of(0).parts["recency"] for days in (early, late)]
    assert DEFAULT.recency >= parts[0] >= parts[1] > 0


def test_what_is_said_to_happen_later_is_no_fresher_than_now() -> None:
    assert ranking([entry(said_at=NOW + timedelta(days=9))]).of(0).parts["recency"] == DEFAULT.recency


def test_the_always_tier_is_ordered_by_what_neither_query_nor_clock_changes() -> None:
    rules = [
        entry("主色用蓝色", id=1, always=True, importance=2),
        entry("按钮用圆角", id=2, always=True, importance=5),
        entry("表头固定", id=3, importance=5),
        entry("弹窗宽 640px", id=4, always=True, importance=2, days_ago=0),
    ]
    for text, now in (("主色", NOW), ("弹窗", NOW + timedelta(days=900))):
        found = ranking(rules, text, now=now)
        assert [found.index.entries[one.position].id for one in found.always] == [2, 1, 4]


def test_runners_up_are_the_best_below_the_floor() -> None:
    rules = [entry("主色用蓝色", id=1, key="主色")] + [
        entry(f"页脚第 {n} 行的主色块", id=n) for n in range(2, 9)
    ]
    found = ranking([*rules, entry("无关", id=9)], "主色用蓝色吗")
    assert ids(found) == [1]
    assert len(found.below) == 7
    assert [found.index.entries[one.position].id for one in found.runners_up(2)] == [8, 7]
    assert not any(one.is_evident for one in found.runners_up(7))


def test_the_full_ranking_holds_all_that_share_anything() -> None:
    index = Index.build(RULES)
    found = rank(index, Query.read("端口 5432 页面", now=NOW))
    assert [index.entries[one.position].id for one in found] == [3, 1]


def test_of_a_long_message_both_ends_are_read_and_the_rarest_terms_decide() -> None:
    filler = " ".join(f"word{n}" for n in range(20_000))
    for text in (f"主色 {filler}", f"{filler} 主色"):
        assert ids(ranking(RULES, text)) == [2]
    assert ids(ranking(RULES, f"{filler[:60_000]} 主色 {filler[60_000:]}")) == []
    few = replace(DEFAULT, max_query_terms=1)
    index = Index.build([entry("a b", id=1), entry("a c", id=2), entry("a", id=3)])
    found = Ranking(index, Query.read("aa b c", now=NOW), few)
    assert [value > 0 for value in found._bm25] == [True, False, False]


def test_equal_scores_are_ordered_by_newer_id() -> None:
    same = [entry("主色用蓝色", id=n, said_at=NOW, key="k") for n in (5, 9, 7)]
    assert ids(ranking(same, "主色")) == [9, 7, 5]
