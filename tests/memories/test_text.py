import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories import text
from memories.text import InvalidText, clean, slug, terms


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        pytest.param("页面引用", ("页面", "面引", "引用"), id="a Chinese run becomes overlapping bigrams"),
        pytest.param("好", ("好",), id="a run of one stays one character"),
        pytest.param("按钮的颜色", ("按钮", "颜色"), id="no bigram across a function word"),
        pytest.param("我们用什么数据库", ("数据", "据库"), id="function words part a run and vanish"),
        pytest.param(
            "目的是了解用户",
            ("目的", "的是", "是了", "了解", "解用", "用户"),
            id="的 and 了 inside words stay",
        ),
        pytest.param("バグ修正", ("バグ", "グ修", "修正"), id="kana"),
        pytest.param("The buttons are blue", ("button", "blue"), id="stop words dropped, plural folded"),
        pytest.param(
            "class process status basis", ("class", "process", "status", "basis"), id="no false plurals"
        ),
        pytest.param("Classes, queries and boxes", ("class", "query", "box"), id="es and ies"),
        pytest.param("the user's cart", ("user", "cart"), id="possessive"),
        pytest.param("getUserName", ("getusername", "user", "name"), id="camelCase whole and split"),
        pytest.param("user_name", ("user_name", "user", "name"), id="snake_case whole and split"),
        pytest.param(
            "XMLHttpRequest", ("xmlhttprequest", "xml", "http", "request"), id="acronym in camelCase"
        ),
        pytest.param(
            "src/pages/login.vue",
            ("src/pages/login.vue", "src", "page", "login", "vue"),
            id="path whole and split",
        ),
        pytest.param("a.b.parseDate", ("a.b.parsedate", "parse", "date"), id="dotted name"),
        pytest.param("std::vector", ("std::vector", "std", "vector"), id="scope operator"),
        pytest.param("C++ C# c", ("c++", "c#", "c"), id="C++ and C# are not C"),
        pytest.param("/api/v2", ("api/v2", "api", "v2"), id="route"),
        pytest.param(
            "30s 640 px 20%", ("30s", "30", "640px", "640", "20%", "20"), id="numbers keep their unit"
        ),
        pytest.param("3.12 1,000", ("3.12", "1000"), id="decimals kept, thousands folded"),
        pytest.param("每页 20 条", ("每页", "20", "条"), id="number between Chinese"),
        pytest.param("2026-03-06", ("2026-03-06", "2026", "03", "06"), id="date"),
        pytest.param("Ｒｅｄｉｓ　５４３２", ("redis", "5432"), id="full-width"),
        pytest.param("re\u200bdis", ("redis",), id="invisible characters dropped"),
        pytest.param("用Redis做缓存", ("redis", "做缓", "缓存"), id="mixed scripts without a space"),
        pytest.param("", (), id="nothing"),
        pytest.param("the of 的了", (), id="only function words"),
        pytest.param("!? 。，🎉", (), id="only signs"),
    ],
)
def test_terms_are_what_a_text_is_about_in_order(given_text: str, expected: tuple[str, ...]) -> None:
    assert terms(given_text) == expected


@settings(deadline=None)
@given(st.text())
def test_terms_do_not_change_under_full_width_and_compatibility_forms(any_text: str) -> None:
    assert terms(unicodedata.normalize("NFKC", any_text)) == terms(any_text)


@settings(deadline=None)
@given(st.text(alphabet="ab1 _./用的页面"))
def test_no_term_is_a_stop_word_or_blank(any_text: str) -> None:
    assert not [term for term in terms(any_text) if term in text.STOP_WORDS or not term.strip()]


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        pytest.param("a\r\nb\rc\u2028d\u2029e\x85f", "a\nb\nc\nd\ne\nf", id="every kind of line end"),
        pytest.param("  kept as is \t", "  kept as is \t", id="blanks are the caller's business"),
    ],
)
def test_clean_normalises_line_ends_and_nothing_else(given_text: str, expected: str) -> None:
    assert clean(given_text) == expected


@pytest.mark.parametrize(
    ("given_text", "reason"),
    [
        pytest.param("a\ud800b", "lone_surrogate", id="high surrogate"),
        pytest.param("\udfff", "lone_surrogate", id="low surrogate"),
        pytest.param("a\x00b", "nul", id="nul"),
    ],
)
def test_clean_refuses_what_cannot_be_stored_and_says_why(given_text: str, reason: str) -> None:
    with pytest.raises(InvalidText) as refusal:
        clean(given_text)
    assert refusal.value.reason == reason


@pytest.mark.parametrize(
    ("given_text", "expected"),
    [
        pytest.param(" 页面 引用 ", "页面-引用", id="Chinese kept, blanks joined"),
        pytest.param("API Base URL", "api-base-url", id="casefolded"),
        pytest.param("ＡＰＩ：基址", "api-基址", id="full-width"),
        pytest.param("C++ style", "c++-style", id="C++ stays C++"),
        pytest.param("C# style", "c#-style", id="C# stays C#"),
        pytest.param("src/pages/login.vue", "src/pages/login.vue", id="a path"),
        pytest.param("a -- b", "a-b", id="one hyphen between words"),
        pytest.param("हिन्दी", "हिन्दी", id="combining vowels stay"),
        pytest.param("🎉!!", "", id="nothing nameable"),
        pytest.param("键" * 81, "键" * 80, id="cut at 80"),
        pytest.param("a" * 79 + " b", "a" * 79, id="no hyphen left by the cut"),
    ],
)
def test_slug_names_a_memory(given_text: str, expected: str) -> None:
    assert slug(given_text) == expected


@settings(deadline=None)
@given(st.text())
def test_a_slug_is_stable_and_short(any_text: str) -> None:
    once = slug(any_text)
    assert slug(once) == once
    assert len(once) <= 80
