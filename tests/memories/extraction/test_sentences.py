import pytest

from memories.extraction.sentences import mask, split


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("用 pnpm。别用 npm！好吗？", ["用 pnpm", "别用 npm", "好吗"], id="chinese stops"),
        pytest.param(
            "Use v1.2.3 here. Then stop.", ["Use v1.2.3 here", "Then stop"], id="versions are not cut"
        ),
        pytest.param("See e.g. the docs. Done", ["See e.g. the docs", "Done"], id="abbreviations"),
        pytest.param("写“你好。再见”。下一句", ["写“你好。再见”", "下一句"], id="quotes stay whole"),
        pytest.param("- a one\n2. b two\n- [ ] c three", ["a one", "b two", "c three"], id="list marks go"),
        pytest.param("看 src/app.py 和 foo.js 吧", ["看 src/app.py 和 foo.js 吧"], id="file names"),
        pytest.param("改成 `a. B`。完", ["改成 `a. B`", "完"], id="inline code stays whole"),
        pytest.param(" \n\n ", [], id="blank"),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    sentences = split(text)
    assert [sentence.text for sentence in sentences] == expected
    assert [text[sentence.start : sentence.end] for sentence in sentences] == expected


def test_a_question_is_known_by_its_stop() -> None:
    assert [sentence.stop for sentence in split("why? because. 吗？")] == ["?", ".", "？"]


def test_quotes_code_and_addresses_are_masked_at_the_same_length() -> None:
    text = "用 `never`，“必须” and 'always' at https://a.b/never don't"
    masked = mask(text)
    assert len(masked) == len(text)
    assert not any(word in masked for word in ("never", "必须", "always"))
    assert masked.endswith("don't")


def test_clauses_know_their_place() -> None:
    (sentence,) = split("对了，表名小写，超过 1,000 行要分页")
    assert [clause.text for clause in sentence.clauses] == ["对了", "表名小写", "超过 1,000 行要分页"]
    assert [clause.start for clause in sentence.clauses] == [0, 3, 8]


def test_dots_between_chinese_words_part_sentences_but_not_names() -> None:
    assert [one.text for one in split("命名规则是 域.实体.动作，全小写")] == [
        "命名规则是 域.实体.动作，全小写"
    ]
    assert [one.text for one in split("部署完成了.接口也都测过了")] == ["部署完成了", "接口也都测过了"]
