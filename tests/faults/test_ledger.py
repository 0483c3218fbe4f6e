"""What holds the rows against what was said finds everything that can be wrong with them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from itertools import combinations

import pytest

from bench import faults
from bench.crowd import PATTERN, Said, say
from bench.ledger import Turn, contexts, memories_as_said, read_once, turns_as_said
from memories import explicit
from memories.dedupe import Relation, compare, content_hash
from memories.extraction.backends import backend
from memories.extraction.rules import signal_proposals
from memories.extraction.transcript import Transcript
from memories.extraction.transcript import Turn as Spoken

TURNS = len(PATTERN)
SAID = [say("ledger", 0, number, TURNS) for number in range(TURNS)]
RIGHT = [
    Turn(
        id=number,
        topic=one.topic,
        seq=number + 1,
        ref=one.ref,
        status=one.ending,
        outcome="read" if one.ending == "succeeded" else None,
        extraction=7 if one.ending == "succeeded" else None,
        memory_refs="[]",
        degraded="[]",
    )
    for number, one in enumerate(SAID)
]
READS = {turn.id: [(7, "succeeded")] if turn.status == "succeeded" else [] for turn in RIGHT}
SUCCEEDED = next(turn for turn in RIGHT if turn.status == "succeeded")
FAILED = next(turn for turn in RIGHT if turn.status == "failed")
KEPT = [
    (pk, "active", content, content_hash(content), None)
    for pk, content in enumerate(sorted({one.kept for one in SAID if one.kept}))
]


def test_rows_that_are_right_are_found_right() -> None:
    assert turns_as_said(RIGHT, SAID) == []
    assert read_once(RIGHT, READS) == []
    assert contexts(RIGHT) == []
    assert memories_as_said(KEPT, SAID) == []


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param(RIGHT[:-1], id="lost"),
        pytest.param([*RIGHT, replace(RIGHT[-1], id=99, seq=99)], id="doubled"),
        pytest.param([replace(RIGHT[0], status="running"), *RIGHT[1:]], id="never ended"),
        pytest.param([*RIGHT[:-1], replace(RIGHT[-1], seq=99)], id="misnumbered"),
    ],
)
def test_turns_that_are_not_as_said_are_found(turns: list[Turn]) -> None:
    assert turns_as_said(turns, SAID) != []


@pytest.mark.parametrize(
    ("changed", "reads"),
    [
        pytest.param({}, [], id="read by none"),
        pytest.param({}, [(7, "succeeded"), (8, "succeeded")], id="read twice"),
        pytest.param({}, [(7, "abandoned")], id="read by a run that stored nothing"),
        pytest.param({"outcome": None}, [(7, "succeeded")], id="still due"),
        pytest.param({"outcome": "failed"}, [(7, "succeeded")], id="given up"),
        pytest.param({"extraction": 8}, [(7, "succeeded")], id="names another run"),
    ],
)
def test_a_succeeded_turn_that_is_not_read_once_is_found(
    changed: dict[str, object], reads: list[tuple[int, str]]
) -> None:
    turn = replace(SUCCEEDED, **changed)  # type: ignore[arg-type]
    assert len(read_once([turn], {turn.id: reads})) == 1


def test_a_failed_turn_that_was_read_is_found() -> None:
    assert len(read_once([FAILED], {FAILED.id: [(7, "abandoned")]})) == 1


def test_a_turn_without_its_context_is_found() -> None:
    assert contexts([replace(SUCCEEDED, memory_refs=None)]) == [f"{SUCCEEDED.ref} never got its context"]


def said_of(kind: str) -> Said:
    return next(one for one in SAID if one.kind == kind)


@pytest.mark.parametrize(
    "contents",
    [
        pytest.param([row[2] for row in KEPT[1:]], id="lost"),
        pytest.param([*(row[2] for row in KEPT), KEPT[0][2] + "。"], id="doubled"),
        pytest.param([*(row[2] for row in KEPT), KEPT[0][2].replace("必须", "应该")], id="nearly the same"),
        pytest.param([*(row[2] for row in KEPT), "没有人这样说"], id="invented"),
        pytest.param(
            [*(row[2] for row in KEPT), said_of("failed statement").message], id="said in a failed turn"
        ),
    ],
)
def test_memories_that_are_not_as_said_are_found(contents: list[str]) -> None:
    rows = [(pk, "active", content, content_hash(content), None) for pk, content in enumerate(contents)]
    assert memories_as_said(rows, SAID) != []


def test_a_superseded_memory_with_words_of_a_failed_turn_is_found() -> None:
    words = said_of("failed statement").message
    assert len(memories_as_said([*KEPT, (99, "superseded", words, content_hash(words), None)], SAID)) == 1


def test_what_the_clients_say_becomes_what_they_expect() -> None:
    """Else a scenario would blame the site for what its clients got wrong."""
    rules, now = backend("rules"), datetime.now(UTC)
    for one in SAID:
        spoken = Spoken(id=1, seq=1, message=one.message, sent_at=now, reply="好的。")
        spoken = replace(spoken, blanked=explicit.read(one.message).spans)
        transcript = Transcript(turns=(spoken,))
        explicitly = [item.content for item in explicit.read(one.message).items]
        distilled = [
            proposal.content
            for proposal in signal_proposals(transcript, rules.extract(transcript).candidates)
        ]
        if one.ending != "succeeded":
            distilled = []
        assert explicitly + distilled == ([one.kept] if one.kept else []), one


@pytest.mark.parametrize("size", [faults.SHORT, faults.FULL], ids=["short", "full"])
def test_nothing_that_two_clients_say_is_alike(size: faults.Size) -> None:
    topics = min(size.topics, 20)  # all pairs of fifty topics would take a while
    kept = {
        say("calm", topic, number, size.turns).kept for topic in range(topics) for number in range(size.turns)
    } - {""}
    assert {compare(a, b) for a, b in combinations(sorted(kept), 2)} == {Relation.DIFFERENT}
