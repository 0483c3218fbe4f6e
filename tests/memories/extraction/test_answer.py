"""Reading what a model wrote: whole items whatever stands around them, and no part of one that broke off."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.extraction.answer import Answer, NoAnswer, read


def item(content: str) -> dict[str, Any]:
    return {"type": "fact", "content": content, "quote": content, "keywords": ["k"]}


A, B = item("a {brace} and a [bracket]"), item('a "quote" and </think> as text')
TEXT_A, TEXT_B = json.dumps(A), json.dumps(B)
WHOLE = f'{{"memories": [{TEXT_A}, {TEXT_B}]}}'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(WHOLE, id="as asked for"),
        pytest.param(f"\ufeff{WHOLE}", id="a byte order mark"),
        pytest.param(f"```json\n{WHOLE}\n```", id="fenced"),
        pytest.param(f"```\n{WHOLE}```", id="fence without a language or a line of its own"),
        pytest.param(f"Here {{you}} are [1]:\n{WHOLE}\nAnything {{else}}?", id="prose with braces"),
        pytest.param(f"It was:\n```json\n{WHOLE}\n```\nand {{no}} more", id="fence within prose"),
        pytest.param(f'<think>{{"memories": []}} or not?</think>{WHOLE}', id="thoughts"),
        pytest.param(f"<THINKING>\nhm\n</THINKING>\n\n```json\n{WHOLE}\n```", id="thoughts, then a fence"),
        pytest.param(f'so {{"memories": []}}?\n</think>\n{WHOLE}', id="thoughts that only end"),
        pytest.param(f"[{TEXT_A}, {TEXT_B}]", id="a bare list"),
        pytest.param(f"I keep [{TEXT_A}, {TEXT_B}], see [2].", id="a list within prose"),
        pytest.param(f"{TEXT_A}\n{TEXT_B}", id="one object a line"),
        pytest.param(f'{{"items": [{TEXT_A}, {TEXT_B}]}}', id="another name"),
        pytest.param(f'{{"note": "two", "found": [{TEXT_A}, {TEXT_B}]}}', id="a name of its own"),
        pytest.param(f'{{"memories": []}} No: {WHOLE}', id="a draft, then the answer"),
        pytest.param(f"[{TEXT_B}] No: {WHOLE}", id="a list as draft"),
        pytest.param(f'{{"memories": [{TEXT_A}, {TEXT_B},]}}', id="a trailing comma"),
        pytest.param(f'{{"memories": [{TEXT_A} {TEXT_B}]}}', id="a comma missing"),
        pytest.param(f"{{'memories': [{TEXT_A}, {TEXT_B}]}}".replace("'", '"'), id="as asked, once more"),
        pytest.param(WHOLE.replace('": ', '" :\n'), id="spread out"),
        pytest.param(
            WHOLE.replace("a {brace}", "a\n{brace}").replace("\\n", "\n"), id="a raw line end in a text"
        ),
    ],
)
def test_whole_items_are_found_whatever_stands_around_them(text: str) -> None:
    found = read(text)
    assert [one["quote"].split()[-1] for one in found.items] == ["[bracket]", "text"]  # type: ignore[index]
    assert found.lost == 0


@pytest.mark.parametrize(
    ("text", "cut"),
    [
        pytest.param(WHOLE[: WHOLE.index(TEXT_B) + 40], True, id="in an item, said so"),
        pytest.param(WHOLE[: WHOLE.index(TEXT_B) + 40], False, id="in an item, not said"),
        pytest.param(WHOLE[: WHOLE.index(TEXT_B) + 1], False, id="at its first brace"),
        pytest.param(f"```json\n{WHOLE[: WHOLE.index('quote\\"')]}", False, id="in a text within a fence"),
        pytest.param(
            f'[{TEXT_A}, {{"type": "fact", "content": "it has {{x}} an', False, id="after a brace in a text"
        ),
        pytest.param(f'<think>x</think>[{TEXT_A}, {{"content": ', True, id="after thoughts"),
    ],
)
def test_of_an_item_that_breaks_off_no_part_is_taken(text: str, cut: bool) -> None:
    assert read(text, cut=cut) == Answer((A,), lost=1)


def test_a_list_that_breaks_off_between_items_loses_none_that_is_known() -> None:
    assert read(f'{{"memories": [{TEXT_A}, {TEXT_B}', cut=True) == Answer((A, B), lost=0)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param('{"memories": []}', id="as asked for"),
        pytest.param("[]", id="a bare list"),
        pytest.param('{"memories": null}', id="null"),
        pytest.param('```json\n{"memories": []}\n```', id="fenced"),
        pytest.param('There is nothing {worth} keeping: {"memories": []}', id="in prose"),
        pytest.param("Nothing. []", id="a bare list in prose"),
        pytest.param(f'Maybe {WHOLE}? No, nothing lasts: {{"memories": []}}', id="a draft taken back"),
    ],
)
def test_an_empty_list_is_an_answer(text: str) -> None:
    assert read(text) == Answer(())


@pytest.mark.parametrize(
    ("text", "cut", "reason"),
    [
        pytest.param("", False, "empty", id="nothing"),
        pytest.param(" \n ", False, "empty", id="white space"),
        pytest.param(f"<think>[{TEXT_A}]</think>", False, "empty", id="thoughts and no answer"),
        pytest.param(f"<think>I see {TEXT_A} and", False, "empty", id="thoughts without an end"),
        pytest.param(f"<think>I see {TEXT_A} and", True, "cut_off", id="thoughts cut off"),
        pytest.param("", True, "cut_off", id="cut off before a word"),
        pytest.param('{"memories": [{"type": "fa', True, "cut_off", id="cut off in the first item"),
        pytest.param('{"memories": [', False, "cut_off", id="cut off before it"),
        pytest.param("I'm sorry, I can't help with that.", False, "not_json", id="a refusal"),
        pytest.param("{}", False, "not_json", id="an object without items"),
        pytest.param("null", False, "not_json", id="null"),
        pytest.param('"memories"', False, "not_json", id="a text"),
        pytest.param("See [1] and {x}.", False, "not_json", id="brackets"),
    ],
)
def test_what_is_no_answer_is_told_as_what_it_is(text: str, cut: bool, reason: str) -> None:
    with pytest.raises(NoAnswer) as raised:
        read(text, cut=cut)
    assert raised.value.reason == reason


def test_items_that_are_none_are_left_for_the_parser_to_count() -> None:
    assert read(f'{{"memories": [null, 5, "x", {TEXT_A}]}}').items == (None, 5, "x", A)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("[" * 200_000, id="brackets"),
        pytest.param('[{"' * 9_900, id="lists of objects"),
        pytest.param('{"memories":[' * 10_000, id="envelopes"),
        pytest.param("[{" + '"' * 29_000, id="quotes"),
        pytest.param("<think>" * 30_000, id="thoughts"),
        pytest.param("{ x " * 40_000, id="braces that open nothing"),
        pytest.param('[{"content": "' + 'x "y" ' * 4_900 + '"}]', id="quotes within quotes"),
    ],
)
def test_no_answer_keeps_a_worker_busy(text: str) -> None:
    began = time.process_time()
    with pytest.raises(NoAnswer):
        read(text)
    assert time.process_time() - began < 5


@given(
    st.text(alphabet=st.characters(codec=None), max_size=80)
    | st.text('{}[]",:`<think>/\\ \nmemoris', max_size=80)
)
def test_any_text_is_an_answer_or_none(text: str) -> None:
    with suppress(NoAnswer):
        assert isinstance(read(text).items, tuple)


@given(
    st.lists(
        st.fixed_dictionaries({"type": st.just("fact"), "content": st.text(), "quote": st.text()}), max_size=4
    ),
    st.integers(0, 400),
)
def test_however_an_answer_is_cut_only_whole_items_come_out(items: list[dict[str, str]], length: int) -> None:
    text = json.dumps({"memories": items})[:length]
    try:
        found = read(text, cut=True)
    except NoAnswer:
        return
    assert list(found.items) == items[: len(found.items)]
