import hashlib
import hmac

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.dedupe import (
    Relation,
    compare,
    content_hash,
    near_key,
    one_value_changed,
    resembling,
    signature,
    similar_signature,
)

SAME, NEAR, CONFLICT, DIFFERENT = Relation.SAME, Relation.NEAR, Relation.CONFLICT, Relation.DIFFERENT


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("用 pnpm", "用 pnpm。", id="Chinese full stop"),
        pytest.param("use pnpm.", "use pnpm", id="full stop"),
        pytest.param("use  pnpm\n now", " use pnpm now ", id="white space"),
        pytest.param("端口：５４３２", "端口:5432", id="full-width"),
    ],
)
def test_spelling_of_blanks_and_the_final_stop_do_not_make_another_content(a: str, b: str) -> None:
    assert content_hash(a) == content_hash(b)
    assert compare(a, b) is SAME
    assert not one_value_changed(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param("C++", "C#", id="C++ and C#"),
        pytest.param("Use pnpm", "use pnpm", id="case"),
        pytest.param("what?", "what!", id="other signs"),
        pytest.param("and so on...", "and so on", id="an ellipsis is no full stop"),
        pytest.param("café", "cafe", id="accents"),
        pytest.param("用 pnpm", "用pnpm", id="a blank is folded, not dropped"),
    ],
)
def test_nothing_more_is_dropped_from_the_hash(a: str, b: str) -> None:
    assert content_hash(a) != content_hash(b)


@pytest.mark.parametrize(
    ("a", "b", "relation", "changed"),
    [
        # One claim in other words of no weight.
        pytest.param("主色用蓝色", "主色使用蓝色", NEAR, False, id="用 and 使用"),
        pytest.param("页面引用区块要用区块 ID", "页面引用区块用区块ID", NEAR, False, id="要 and a blank"),
        pytest.param("红色的按钮", "红色按钮", NEAR, False, id="的"),
        pytest.param("We use pnpm", "use pnpm!", NEAR, False, id="we"),
        pytest.param("以后接口都用 REST", "接口都用 REST", NEAR, False, id="以后 at the start"),
        pytest.param("From now on, use tabs", "use tabs", NEAR, False, id="from now on"),
        pytest.param("登录以后跳转首页", "登录跳转首页", DIFFERENT, False, id="以后 that means after"),
        pytest.param("Use GitHub", "use Github", NEAR, False, id="case of a name"),
        pytest.param("Buttons are blue", "the button is blue", NEAR, False, id="number of a noun"),
        pytest.param("超时 30 秒", "超时30s", NEAR, False, id="units in two languages"),
        pytest.param("不要物理删除", "禁止物理删除", NEAR, False, id="two words for not"),
        # A value replaced.
        pytest.param("主色用蓝色", "主色用绿色", CONFLICT, True, id="X 用 A, X 用 B"),
        pytest.param("主色用蓝色", "主色改为绿色", CONFLICT, True, id="X 改为 B"),
        pytest.param("主色用蓝色", "把主色从蓝色改成绿色", CONFLICT, True, id="从 A 改成 B"),
        pytest.param("主色蓝色", "主色改成绿色吧", CONFLICT, True, id="no connector on one side"),
        pytest.param("登录页主色蓝色", "登录页主色绿色", CONFLICT, True, id="no connector at all"),
        pytest.param("主色用蓝色", "主色用 #1677ff", CONFLICT, True, id="a colour by its code"),
        pytest.param("端口 5432", "端口 5433", CONFLICT, True, id="5432 and 5433"),
        pytest.param("The port is 5432", "the port is 5433.", CONFLICT, True, id="port in English"),
        pytest.param("每页 20 条", "每页 50 条", CONFLICT, True, id="number with a measure word"),
        pytest.param("超时 30 秒", "超时 30 分钟", CONFLICT, True, id="unit"),
        pytest.param("缓存用 Foo", "缓存用 Bar", CONFLICT, True, id="values nobody knows, one subject"),
        pytest.param("主键用雪花 ID", "主键用自增 ID", CONFLICT, True, id="part of a value"),
        pytest.param("the database is MySQL", "The database is PostgreSQL", CONFLICT, True, id="is A, is B"),
        pytest.param("API base is /api/v2", "API base is /api/v3", CONFLICT, True, id="route"),
        pytest.param("Deploy on Fridays", "Deploy on Mondays", CONFLICT, True, id="weekday"),
        pytest.param("use npm", "use pnpm", CONFLICT, True, id="rivals without a subject"),
        pytest.param("use npm", "use pnpm, not npm", CONFLICT, True, id="B, not A"),
        pytest.param("use webpack", "Use Vite instead of webpack", CONFLICT, True, id="B instead of A"),
        pytest.param("列表按创建时间升序", "列表按创建时间倒序", CONFLICT, True, id="order"),
        # Polarity.
        pytest.param("要用 Redis", "不要用 Redis", CONFLICT, True, id="要用 and 不要用"),
        pytest.param("Always run lint", "Never run lint", CONFLICT, True, id="always and never"),
        pytest.param("Users can edit", "Users can't edit", CONFLICT, True, id="can and can't"),
        pytest.param("可以使用 any", "禁止使用 any", CONFLICT, True, id="可以 and 禁止"),
        pytest.param("启用暗色主题", "禁用暗色主题", CONFLICT, True, id="on and off"),
        # Contradictions in which it is not one value that changed.
        pytest.param("we use pnpm, not npm", "we use npm, not pnpm", CONFLICT, False, id="swap"),
        pytest.param("用 pnpm，不用 npm", "用 npm，不用 pnpm", CONFLICT, False, id="swap in Chinese"),
        pytest.param("by id, never by name", "by name, never by id", CONFLICT, False, id="direction"),
        pytest.param("标题不超过 20 字", "标题至少 20 字", CONFLICT, False, id="comparator"),
        pytest.param("userId 必须有", "userid 必须有", CONFLICT, False, id="identifiers are spelled exactly"),
        pytest.param("Use C++ for it", "Use C# for it", CONFLICT, False, id="C++ and C#"),
        pytest.param("v1 接口超时 3s", "v2 接口超时 3s", CONFLICT, False, id="identifier in the subject"),
        pytest.param("the API uses JWT", "the API uses REST", DIFFERENT, False, id="values of two kinds"),
        pytest.param("按钮用圆角", "按钮用蓝色", CONFLICT, False, id="values of two kinds in Chinese"),
        pytest.param("end with 🤖", "end with 🎉", CONFLICT, False, id="emoji"),
        # Different things.
        pytest.param("登录页主色用蓝色", "首页主色用蓝色", DIFFERENT, False, id="other subject"),
        pytest.param("Use C++", "Use C#", DIFFERENT, False, id="C++ and C# may both be used"),
        pytest.param("use tabs", "use TypeScript", DIFFERENT, False, id="values without a subject"),
        pytest.param("Never commit secrets", "Never use eval", DIFFERENT, False, id="never is no subject"),
        pytest.param("主色用蓝色", "主色用蓝色，按钮圆角 4px", DIFFERENT, False, id="one says more"),
        pytest.param("limit is 20 for guests", "limit is 20 for admins", CONFLICT, False, id="whose limit"),
        pytest.param("好的", "我们的", DIFFERENT, False, id="no claim at all"),
        pytest.param("", "用 pnpm", DIFFERENT, False, id="nothing"),
    ],
)
def test_the_relation_of_two_contents(a: str, b: str, relation: Relation, changed: bool) -> None:
    assert (compare(a, b), one_value_changed(a, b)) == (relation, changed)
    assert (compare(b, a), one_value_changed(b, a)) == (relation, changed)
    if relation is not DIFFERENT:
        assert resembling(a)(b)
        assert resembling(b)(a)


WORDS = (
    "用|不用|要|主色|端口|5432|5433|30s|30|分钟|Redis|redis|userId|user_id|pnpm|npm|not|never|by|use|is|the"
    "|at most|不超过|改为|蓝色|绿色|我们|C++|C#|`x`|.|。|,|：|-|🎉|的"
)
words = st.sampled_from(WORDS.split("|"))
contents = st.lists(words, max_size=8).map(" ".join) | st.lists(words, max_size=8).map("".join) | st.text()


@settings(deadline=None)
@given(contents, contents)
def test_relations_are_symmetric(a: str, b: str) -> None:
    assert compare(a, b) is compare(b, a)
    assert one_value_changed(a, b) == one_value_changed(b, a)


@settings(deadline=None)
@given(contents, contents)
def test_the_quick_test_refuses_only_what_is_different(a: str, b: str) -> None:
    if compare(a, b) is not DIFFERENT:
        assert resembling(a)(b)


def test_the_quick_test_refuses_what_merely_has_some_words_in_common() -> None:
    resembles = resembling("The order table of the shop shows twenty rows a page, the newest first.")
    assert not resembles("The invoices of the company are sent by the queue worker.")
    assert resembles("The order table of the shop shows fifty rows a page, the newest first.")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        pytest.param(
            "the theme is dark blue gray green", "the theme is light red pink white", id="four words of value"
        ),
        pytest.param("主色用蓝色", "主色用绿色", id="one run of value"),
        pytest.param("Straße", "STRASSE", id="letters whose case has another length"),
    ],
)
def test_the_quick_test_lets_another_value_of_one_subject_pass(a: str, b: str) -> None:
    assert compare(a, b) in (CONFLICT, NEAR)
    assert resembling(a)(b)
    assert resembling(b)(a)


@settings(deadline=None)
@given(contents, contents)
def test_same_means_equal_hashes_and_the_other_way_round(a: str, b: str) -> None:
    assert (compare(a, b) is SAME) == (content_hash(a) == content_hash(b))


@settings(deadline=None)
@given(contents, contents)
def test_a_changed_value_is_always_a_conflict(a: str, b: str) -> None:
    if one_value_changed(a, b):
        assert compare(a, b) is CONFLICT


@settings(deadline=None)
@given(contents)
def test_a_content_is_the_same_as_itself(a: str) -> None:
    assert compare(a, a) is SAME
    assert similar_signature(signature(a), signature(a))


@settings(deadline=None)
@given(contents, contents)
def test_the_near_key_is_equal_for_the_same_and_for_near_duplicates_alone(a: str, b: str) -> None:
    assert (near_key(a) == near_key(b)) == (compare(a, b) in (SAME, NEAR))


@settings(deadline=None)
@given(contents, contents)
def test_near_duplicates_have_similar_signatures(a: str, b: str) -> None:
    if compare(a, b) is NEAR:
        assert similar_signature(signature(a), signature(b))


LONG = (
    "登录页的提交按钮放在表单右下角，主色为品牌蓝，未填完时显示灰色，请求期间显示加载动画，超时 30 秒后提示重试，"
    "失败三次后锁住账号并写进审计日志，由管理员在后台解锁"
)


@pytest.mark.parametrize(
    ("a", "b", "similar"),
    [
        pytest.param(LONG, LONG.replace("提交按钮", "提交主按钮"), True, id="one word more in a long text"),
        pytest.param(LONG, LONG.replace("30", "31"), False, id="another number in a long text"),
        pytest.param("端口 5432", "端口 5433", False, id="another number"),
        pytest.param("要用 Redis", "不要用 Redis", False, id="polarity"),
        pytest.param("表格默认每页 20 条", "列表默认每页 20 条", False, id="other subject"),
        pytest.param("的", "我们", False, id="two contents without a claim"),
    ],
)
def test_signatures_know_nearly_equal_texts_again(a: str, b: str, similar: bool) -> None:
    assert similar_signature(signature(a), signature(b)) is similar


def test_signatures_stay_comparable_when_every_element_is_keyed() -> None:
    def keyed(text: str) -> list[str]:
        return [hmac.digest(b"key", str(n).encode(), "sha256").hex() for n in signature(text)]

    assert similar_signature(keyed("主色用蓝色"), keyed("主色使用蓝色"))
    assert not similar_signature(keyed("主色用蓝色"), keyed("主色用绿色"))
    assert len(signature("x")) == 33


def test_a_signature_is_the_same_in_every_process() -> None:
    digest = hashlib.sha256(repr(signature("主色用蓝色，端口 5432")).encode()).hexdigest()
    assert digest[:16] == "c2b37ff2c58f8ce0"
