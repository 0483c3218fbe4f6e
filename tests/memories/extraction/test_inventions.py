"""What a model may make of somebody's words: inventions by kind, none of which is in force, beside what was said.

`inventions.jsonl`: kind (`said` is no invention), said, reply, content, quote (else all that was said), type. The first
set is what the rules were written for; the second and third were written before they were measured on them.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories.extraction.entailment import entails
from memories.extraction.verify import Checked, check

from .builders import proposal, transcript, turn

ROWS = [json.loads(line) for line in Path(__file__).with_name("inventions.jsonl").read_text().splitlines()]
# What is said in other words than a rule of grammar leads to, and so waits for a person.
MOST_HELD = {"first": 3, "second": 2, "third": 1}


def is_in_force(row: dict[str, str]) -> bool:
    """Whether nothing but the project's own policy would keep the content from being in force."""
    said = transcript(turn(row["said"], reply=row.get("reply", "好的。")))
    quote = row.get("quote") or row["said"].rstrip("。.？?")
    result = check(proposal(row["content"], quote=quote, type=row["type"]), said)
    return isinstance(result, Checked) and result.waits is None


@pytest.mark.parametrize("kind", sorted({row["kind"] for row in ROWS} - {"said"}))
def test_what_nobody_said_so_is_not_in_force(kind: str) -> None:
    rows = [row for row in ROWS if row["kind"] == kind]
    assert [(row["said"], row["content"]) for row in rows if is_in_force(row)] == []


@pytest.mark.parametrize("name", ["first", "second", "third"])
def test_what_was_said_in_other_words_is_taken(name: str) -> None:
    rows = [row for row in ROWS if (row["set"], row["kind"]) == (name, "said")]
    held = [(row["said"], row["content"]) for row in rows if not is_in_force(row)]
    assert len(held) <= MOST_HELD[name], held


def test_the_corpus_has_both_languages_and_many_kinds() -> None:
    kinds = Counter(row["kind"] for row in ROWS)
    assert (len(ROWS), kinds["said"], len(kinds)) == (331, 106, 21)
    chinese = sum(any("\u4e00" <= character <= "\u9fff" for character in row["said"]) for row in ROWS)
    assert (chinese, len(ROWS) - chinese) == (153, 178)


# --- What holds of any words

SUBJECTS = ("the export", "our gateway", "订单服务", "the staging cache", "报表页")
VALUES = ("Redis", "42", "30 s", "src/app.ts", "Kotlin", "v2.1")
statements = st.builds("{} uses {}".format, st.sampled_from(SUBJECTS), st.sampled_from(VALUES))


@settings(derandomize=True, max_examples=60)
@given(
    statements, st.sampled_from(("OK. ", "By the way, ", "对了，", "")), st.sampled_from((".", "。", "!", ""))
)
def test_a_statement_says_itself_whatever_stands_around_it(said: str, before: str, after: str) -> None:
    assert entails(f"{before}{said}{after}", said)


@settings(derandomize=True, max_examples=60)
@given(statements, statements)
def test_a_statement_says_no_other(said: str, other: str) -> None:
    assert entails(said, other) is (said == other)


@settings(derandomize=True, max_examples=60)
@given(statements, statements)
def test_two_statements_say_each_and_no_mixture(one: str, other: str) -> None:
    (subject, value), (subject_, value_) = one.split(" uses "), other.split(" uses ")
    both = f"{one}\n{other}"
    assert entails(both, one)
    assert entails(both, other)
    if subject != subject_ and value != value_:
        assert not entails(both, f"{subject} uses {value_}")


@settings(derandomize=True, max_examples=150)
@given(st.text(max_size=200), st.text(max_size=80))
def test_nothing_that_is_written_raises(said: str, content: str) -> None:
    check(proposal(content or "x", quote=said[:60] or "x"), transcript(turn(said)))
    entails(said, content)


@pytest.mark.parametrize("piece", ["a ", "x,", "not ", "如果 x，", "先 A 再 B，", "1 ", "a and b, "])
def test_long_words_are_read_in_bounded_time(piece: str) -> None:
    said = (piece * 20_000)[:20_000]
    entails(said, said[:1_000])


def test_a_long_run_of_stops_that_ends_nothing_is_read_once() -> None:
    began = time.process_time()
    entails("." * 20_000 + "b", "x")
    assert time.process_time() - began < 2


def test_more_statements_than_anybody_makes_wait() -> None:
    many = ", ".join(f"service{number} uses port {number}000" for number in range(60))
    assert not entails(many, many)
