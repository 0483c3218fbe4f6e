import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.recall.index import Index, glob_fit
from memories.text import terms
from tests.memories.recall.entries import entry


@pytest.mark.parametrize(
    ("glob", "file", "value"),
    [
        pytest.param("src/pages/login.vue", "src/pages/login.vue", 1.0, id="the file"),
        pytest.param("./src/a.ts", "src/a.ts", 1.0, id="dot slash"),
        pytest.param("src/a.ts", "src\\a.ts", 1.0, id="backslashes"),
        pytest.param("login.vue", "src/pages/login.vue", 1.0, id="a name at any depth"),
        pytest.param("src/pages", "src/pages/login.vue", 1.0, id="a folder"),
        pytest.param("pages/", "src/pages/login.vue", 0.9, id="a folder by its slash"),
        pytest.param("src/pages/**", "src/pages/a/b.vue", 0.9, id="below a folder"),
        pytest.param("src/**/*.{ts,tsx}", "src/b.tsx", 0.9, id="two stars for no folder, and a choice"),
        pytest.param("{src/a/b,lib}/*.ts", "lib/x.ts", 0.9, id="folders to choose from"),
        pytest.param("login.*", "src/login.vue", 0.9, id="name with any ending"),
        pytest.param("**/*.vue", "src/login.vue", 0.6, id="a kind of file"),
        pytest.param("*.vue", "src/login.vue", 0.6, id="a kind of file at any depth"),
        pytest.param("**", "src/login.vue", 0.1, id="everything"),
        pytest.param("src/*/x.ts", "src/a/b/x.ts", 0.0, id="one star stays in its folder"),
        pytest.param("src/a.ts", "src/a.tsx", 0.0, id="no half names"),
        pytest.param("a.ts", "ba.ts", 0.0, id="no half names in front"),
        pytest.param("pages/", "pages", 0.0, id="a folder is not a file"),
        pytest.param("src/a?.ts", "src/ab.ts", 0.9, id="question mark"),
        pytest.param("a+b(c).ts", "a+b(c).ts", 1.0, id="signs are plain"),
        pytest.param("src/a.ts", "", 0.0, id="no file"),
    ],
)
def test_how_well_a_glob_fits_a_file(glob: str, file: str, value: float) -> None:
    assert glob_fit(glob, file) == value
    index = Index.build([entry(files=("other/x.y",)), entry(files=(glob, "more/x.y"))])
    assert index.by_files([file]) == ({1: value} if value else {})


paths = st.lists(st.sampled_from(["src", "a", "b.ts", "**", "*", "*.ts", "{a,b}", "x?"]), min_size=1).map(
    "/".join
)


@settings(deadline=None)
@given(paths, paths)
def test_the_index_finds_exactly_the_globs_that_fit(glob: str, file: str) -> None:
    value = glob_fit(glob, file)
    assert Index.build([entry(files=(glob,))]).by_files([file]) == ({0: value} if value else {})


def test_frequency_and_matched_terms_come_from_key_keywords_and_content() -> None:
    index = Index.build(
        [
            entry("主色用蓝色", key="theme"),
            entry("use tabs", keywords=("主色",)),
            entry("nothing", key="other"),
        ]
    )
    assert [index.frequency(term) for term in ("主色", "theme", "tab", "absent")] == [2, 1, 1, 0]
    assert index.matched(0, ["主色", "theme", "tab", "absent"]) == ("主色", "theme")
    assert index.matched(2, ["主色", "theme", "tab", "absent"]) == ()


def test_an_empty_index_answers() -> None:
    index = Index.build([])
    assert (len(index), index.bm25({"a": 1.0}), index.by_files(["a"]), index.always) == (0, [], {}, ())


@settings(deadline=None)
@given(
    st.lists(st.text(alphabet="ab 页面用_1", max_size=20), max_size=6),
    st.text(alphabet="ab 页面用_1", max_size=20),
)
def test_bm25_is_positive_exactly_where_a_term_is_shared(contents: list[str], query: str) -> None:
    index = Index.build([entry(content, key="") for content in contents])
    asked = dict.fromkeys(terms(query), 1.0)
    shared = [bool(set(terms(content)) & set(asked)) for content in contents]
    assert [value > 0 for value in index.bm25(asked)] == shared


def test_near_duplicates_are_known_by_equal_marks() -> None:
    index = Index.build([entry("主色用蓝色"), entry("主色使用蓝色。"), entry("主色用绿色")])
    assert index.near(0) == index.near(1)
    assert index.near(0) != index.near(2)
