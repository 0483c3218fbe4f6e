"""The guard against its own table of cases; secrets are made when the tests run."""

import json
import random
from pathlib import Path

import pytest

from memories import guard
from tests.memories.guard.tokens import fill

CASES = [json.loads(line) for line in Path(__file__).with_name("cases.jsonl").read_text().splitlines()]


def _cases(kind):
    return [
        pytest.param(number, case["text"], id=f"{number}-{case['text'][:32]!a}")
        for number, case in enumerate(CASES)
        if case["kind"] == kind
    ]


def test_the_table_holds_enough_cases_of_each_kind():
    kinds = [case["kind"] for case in CASES]
    assert {kind: kinds.count(kind) for kind in ("secret", "injection", "hidden", None)} == {
        "secret": 87,
        "injection": 201,
        "hidden": 13,
        None: 201,
    }


@pytest.mark.parametrize(("number", "template"), _cases("secret"))
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_secret_is_refused_and_masked(number, template, seed):
    text = fill(template, random.Random(1000 * seed + number))
    secrets = [found for found in guard.inspect(text) if found.kind == "secret"]
    assert secrets, text
    assert guard.worst(secrets).certainty == "refuse"
    masked = guard.mask(text)
    for found in secrets:
        value = text[found.start : found.end]
        assert value not in masked
        assert value[:2] + "***" in masked


@pytest.mark.parametrize(("number", "text"), _cases("injection"))
def test_an_injection_is_refused_or_held(number, text):
    assert "injection" in {found.kind for found in guard.inspect(text)}


@pytest.mark.parametrize(("number", "text"), _cases("hidden"))
def test_hidden_characters_are_found_where_they_are(number, text):
    found = [one for one in guard.inspect(text) if one.kind == "hidden"]
    assert found
    for one in found:
        assert not any(char.isascii() and char.isprintable() for char in text[one.start : one.end])


@pytest.mark.parametrize(("number", "text"), _cases(None))
def test_an_ordinary_text_passes_unchanged(number, text):
    assert guard.inspect(text) == []
    assert guard.mask(text) == text
