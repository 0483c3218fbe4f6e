import pytest

from memories.extraction.transcript import blank, language, without_quoted_matter

from .builders import transcript, turn


def test_blanking_keeps_length_and_newlines() -> None:
    assert blank("ab\ncd", [(1, 4)]) == "a \n d"


def test_what_the_explicit_channel_took_is_blank_and_the_rest_keeps_its_place() -> None:
    said = turn("接口必须走网关。记住：主色用蓝色")
    assert len(said.human_text) == len(said.message)
    assert said.human_text.strip(" 。") == "接口必须走网关"
    assert turn("记住：主色用蓝色\n\n接口走网关").human_text.index("接口") == 10


def test_a_machine_says_nothing() -> None:
    assert turn("所有接口必须走网关", origin="machine").human_text.strip() == ""


@pytest.mark.parametrize(
    ("text", "left"),
    [
        pytest.param("a\n```py\nnever use tabs\n```\nb", "ab", id="fence"),
        pytest.param("a\n```\nnever closed", "a", id="open fence"),
        pytest.param("a\n> never use tabs\nb", "ab", id="block quote"),
        pytest.param("a\n<project_memory>\n- x\n</project_memory> b", "ab", id="own block"),
        pytest.param("a <project_memory version='1'>\n- never closed", "a", id="open own block"),
        pytest.param("a\n| always | never |\nb", "ab", id="table row"),
        pytest.param("a\n// 禁止修改\nconst x = 1;\nb", "ab", id="code without a fence"),
        pytest.param("a\nERROR: must never happen\nb", "ab", id="log line"),
        pytest.param("a\nHere is the log:\nmust never happen", "a", id="pasted log"),
        pytest.param("a\n以下是会议纪要：\n我们决定用 Kafka", "a", id="pasted minutes"),
        pytest.param("use `never` and “always”", "use`never`and“always”", id="inline code and quotes stay"),
    ],
)
def test_quoted_matter_is_blanked_in_place(text: str, left: str) -> None:
    blanked = without_quoted_matter(text)
    assert len(blanked) == len(text)
    assert "".join(blanked.split()) == left


def test_only_finished_turns_that_may_be_cited_are_what_a_run_is_about() -> None:
    turns = [turn("a", id=1), turn("b", id=2, citable=False), turn("c", id=3, status="failed")]
    assert [t.id for t in transcript(*turns).citable] == [1]


@pytest.mark.parametrize(
    ("text", "expected"), [("我们用 pnpm 管理依赖", "zh"), ("we use pnpm 吗", "en"), ("", "en")]
)
def test_language_is_that_of_most_words(text: str, expected: str) -> None:
    assert language(text) == expected
