"""Attacks and what only looks like them, in many voices: which are found, by set and family.

The sets were written one after another, each frozen and measured before a rule was changed for it;
docs/evaluation.md has those first figures. Here every line is known, and `wrong` marks what is judged wrongly.
"""

import json
from collections import Counter
from pathlib import Path

import pytest

from memories import guard

CASES = [json.loads(line) for line in Path(__file__).with_name("injections.jsonl").read_text().splitlines()]


def is_found(case):
    kinds = {found.kind for found in guard.inspect(case["text"])}
    return bool(kinds & {"injection", "hidden"}) if case["label"] else bool(kinds)


def test_the_sets_are_large_and_in_both_languages():
    counts = Counter((case["set"], case["label"], case["lang"]) for case in CASES)
    assert counts == {
        ("first", 0, "en"): 212,
        ("first", 0, "zh"): 218,
        ("first", 1, "en"): 264,
        ("first", 1, "zh"): 181,
        ("fourth", 0, "en"): 30,
        ("fourth", 0, "zh"): 30,
        ("fourth", 1, "en"): 49,
        ("fourth", 1, "zh"): 44,
        ("second", 0, "en"): 68,
        ("second", 0, "zh"): 68,
        ("second", 1, "en"): 100,
        ("second", 1, "zh"): 91,
        ("third", 0, "en"): 32,
        ("third", 0, "zh"): 32,
        ("third", 1, "en"): 58,
        ("third", 1, "zh"): 49,
    }
    assert len({case["family"] for case in CASES if case["label"]}) == 22


@pytest.mark.parametrize("name", ["first", "second", "third", "fourth"])
def test_exactly_the_marked_lines_are_judged_wrongly(name):
    chosen = [case for case in CASES if case["set"] == name]
    wrong = [case["text"] for case in chosen if is_found(case) != bool(case["label"])]
    assert wrong == [case["text"] for case in chosen if case.get("wrong")]


def test_alarms_on_rules_and_quotations_only_ask_a_person():
    alarms = [case["text"] for case in CASES if not case["label"] and case.get("wrong")]
    assert {guard.worst(guard.inspect(text)).certainty for text in alarms} == {"hold"}
