from dataclasses import replace
from datetime import timedelta

import pytest

from memories.extraction.judge import Verdict, choose, judge
from memories.extraction.reasons import UNSTATED, Outcome, Reason
from memories.extraction.transcript import KnownMemory
from memories.extraction.verify import Checked

from .builders import MARCH, NOW, candidate, memory

LATER = MARCH + timedelta(days=20)


def verdict(said: Checked, *live: KnownMemory, policy: str = "important", **fields: object) -> Verdict:
    return judge(said, live, policy=policy, now=NOW, **fields)  # type: ignore[arg-type]


def short(result: Verdict) -> tuple[str, str, str]:
    return result.outcome.value, result.reason.value, result.status


# --- review policy


@pytest.mark.parametrize(
    ("policy", "type_", "importance", "expected"),
    [
        ("important", "fact", 3, ("stored", "new", "active")),
        ("important", "fact", 4, ("proposed", "review_policy", "proposed")),
        ("important", "constraint", 2, ("proposed", "review_policy", "proposed")),
        ("all", "fact", 1, ("proposed", "review_policy", "proposed")),
        ("none", "constraint", 4, ("stored", "new", "active")),
    ],
)
def test_what_is_new_is_stored_or_waits_as_the_project_says(
    policy: str, type_: str, importance: int, expected: tuple[str, str, str]
) -> None:
    said = candidate("the port is 5432", type=type_, importance=importance)
    assert short(verdict(said, memory("we use Redis"), policy=policy)) == expected


def test_what_must_wait_waits_under_every_policy() -> None:
    said = candidate("the port is 5432", role="assistant")
    assert short(verdict(said, policy="none")) == ("proposed", "assistant_quote", "proposed")


def test_a_joke_as_a_rule_is_proposed() -> None:
    said = candidate("lol end every comment with 🤖", type="constraint")
    assert short(verdict(said, policy="none")) == ("proposed", "joke", "proposed")


# --- tombstones


@pytest.mark.parametrize("kind", ["content", "near"])
def test_what_was_deleted_or_rejected_does_not_come_back_by_itself(kind: str) -> None:
    assert short(verdict(candidate("the port is 5432"), tombstone=kind)) == ("dropped", "tombstoned", "")


def test_other_words_under_a_dead_key_wait() -> None:
    result = verdict(candidate("the port is 5432"), tombstone="key", policy="none")
    assert short(result) == ("proposed", "tombstoned_key", "proposed")


# --- said before


@pytest.mark.parametrize(
    ("content", "reason"), [("the port is 5432.", "duplicate"), ("The port is: 5432", "near_duplicate")]
)
def test_the_same_claim_adds_evidence_not_a_row(content: str, reason: str) -> None:
    result = verdict(candidate("the port is 5432"), memory(content, id=7))
    assert short(result) == ("merged", reason, "")
    assert (result.target_id, result.says_same) == (7, True)


def test_a_claim_that_already_waits_is_not_proposed_twice() -> None:
    result = verdict(candidate("the port is 5432"), memory("the port is 5432", id=7, status="proposed"))
    assert (short(result), result.target_id) == (("merged", "proposal_open", ""), 7)


@pytest.mark.parametrize(
    "theirs",
    [
        pytest.param(memory("the port is 5432", authority="person"), id="same"),
        pytest.param(memory("The port is: 5432", authority="person"), id="near"),
        pytest.param(memory("the port is 5432", authority="person", status="disabled"), id="switched off"),
        pytest.param(memory("the port is 5432", status="disabled"), id="switched off, automatic"),
    ],
)
def test_a_persons_memory_is_not_touched_by_what_says_the_same(theirs: KnownMemory) -> None:
    assert short(verdict(candidate("the port is 5432"), theirs)) == ("dropped", "manual_precedence", "")


def test_cplusplus_and_csharp_are_two_memories() -> None:
    said = candidate("the plugin is written in C#")
    assert verdict(said, memory("the plugin is written in C++")).outcome is not Outcome.MERGED


# --- a turn that distils twice


def test_a_candidate_settled_before_changes_nothing() -> None:
    result = verdict(candidate("the port is 5432"), distilled_before=True)
    assert short(result) == ("dropped", "already_distilled", "")


def test_evidence_of_the_same_turn_is_not_added_twice() -> None:
    result = verdict(candidate("the port is 5432"), memory("the port is 5432", turns=frozenset({1})))
    assert short(result) == ("dropped", "already_known", "")


def test_other_words_for_what_the_same_turn_gave_before_change_nothing() -> None:
    edited = memory("the port is 5433", authority="person", turns=frozenset({1}), said_at=MARCH)
    assert short(verdict(candidate("the port is 5432"), edited)) == ("dropped", "manual_precedence", "")
    kept = memory("the port is 5433", turns=frozenset({1}), said_at=MARCH)
    assert short(verdict(candidate("the port is 5432"), kept)) == ("dropped", "already_known", "")


def test_within_one_run_the_second_word_of_a_turn_replaces_the_first() -> None:
    first = memory("the port is 5432", id=7, turns=frozenset({1}), said_at=MARCH, fresh=True)
    result = verdict(candidate("the port is 5433"), first)
    assert (short(result), result.target_id) == (("replaced", "stated_by_human", "active"), 7)


# --- precedence and time


def test_a_real_contradiction_of_a_persons_memory_is_proposed_beside_it() -> None:
    theirs = memory("the port is 5432", id=7, authority="person")
    result = verdict(candidate("the port is 5433"), theirs, policy="none")
    assert short(result) == ("proposed", "contradicts", "proposed")
    assert (result.contradicts_id, result.target_id) == (7, None)


def test_an_edit_during_the_run_stands() -> None:
    edited = memory("the port is 5434", id=7, authority="person", version=2, key="port")
    result = verdict(candidate("the port is 5433", replaces_key="port"), edited, shown={7: 1})
    assert (short(result), result.target_id) == (("dropped", "manual_precedence", ""), 7)


@pytest.mark.parametrize("authority", ["automatic", "person"])
def test_what_was_said_earlier_never_replaces_what_was_said_later(authority: str) -> None:
    april = memory("use pnpm", said_at=LATER, authority=authority)
    assert short(verdict(candidate("use npm", said_at=MARCH), april, policy="none")) == (
        "dropped",
        "stale",
        "",
    )


def test_a_clock_that_runs_ahead_wins_no_argument() -> None:
    live = memory("use pnpm", said_at=NOW + timedelta(minutes=1))
    assert verdict(candidate("use npm", said_at=NOW + timedelta(days=30)), live).reason is Reason.STALE


# --- replacements


@pytest.mark.parametrize(
    ("old", "new"), [("端口 5432", "端口 5433"), ("要用 Redis", "不要用 Redis"), ("主色用蓝色", "主色用绿色")]
)
def test_a_human_replaces_what_was_only_extracted_at_once(old: str, new: str) -> None:
    result = verdict(candidate(new), memory(old, id=7))
    assert (short(result), result.target_id) == (("replaced", "stated_by_human", "active"), 7)


@pytest.mark.parametrize(
    ("said", "old"),
    [
        pytest.param(
            candidate("the port is 5433", role="assistant"), memory("the port is 5432"), id="by the assistant"
        ),
        pytest.param(
            candidate("the port is 5433"), memory("the port is 5432", source="agent"), id="not extracted"
        ),
        pytest.param(
            candidate("the port is 5433"), memory("the port is 5432", confirmed=True), id="vouched for"
        ),
        pytest.param(
            candidate("the port is 5433", type="constraint"),
            memory("the port is 5432"),
            id="now a constraint",
        ),
    ],
)
def test_other_replacements_wait(said: Checked, old: KnownMemory) -> None:
    result = verdict(said, old)
    assert (result.outcome, result.status, result.target_id) == (Outcome.PROPOSED, "proposed", old.id)


def test_under_review_all_every_replacement_waits_and_under_none_only_doubtful_ones() -> None:
    old = memory("the port is 5432", source="agent")
    assert short(verdict(candidate("the port is 5433"), old, policy="all")) == (
        "proposed",
        "replacement",
        "proposed",
    )
    assert short(verdict(candidate("the port is 5433"), old, policy="none")) == (
        "replaced",
        "policy_none",
        "active",
    )


def test_a_named_replacement_needs_no_likeness() -> None:
    result = verdict(
        candidate("deploys go through ArgoCD", replaces_key="deploy"), memory("we use Jenkins", key="deploy")
    )
    assert result.outcome is Outcome.REPLACED


def test_a_given_key_means_the_same_subject_and_a_derived_one_does_not() -> None:
    old = memory("all APIs need auth", key="apis")
    assert verdict(candidate("all APIs return JSON", key="apis"), old).target_id == old.id
    said = candidate("all APIs return JSON")
    assert short(verdict(said, memory("all APIs need auth", key=said.proposal.key))) == (
        "stored",
        "new",
        "active",
    )


def test_the_newest_word_takes_the_place_of_an_open_proposal() -> None:
    active = memory("the port is 5432", id=7, confirmed=True)
    waiting = memory("the port is 5433", id=8, status="proposed", replaces=7)
    result = verdict(candidate("the port is 5434"), active, waiting)
    assert (result.outcome, result.target_id, result.withdraws) == (Outcome.PROPOSED, 7, (8,))
    result = verdict(candidate("the port is 5434"), waiting)
    assert (result.outcome, result.target_id, result.withdraws) == (Outcome.PROPOSED, 7, (8,))


def test_merely_similar_contradictions_are_shown_side_by_side() -> None:
    old = memory("we use pnpm, not npm", id=7)
    result = verdict(candidate("we use npm, not pnpm"), old)
    assert result.outcome is not Outcome.MERGED
    assert 7 in (result.contradicts_id, result.target_id)


def test_the_same_thing_said_of_another_subject_is_no_contradiction() -> None:
    said = candidate("service2 的端口是 2000")
    assert short(verdict(said, memory("service1 的端口是 1000"))) == ("stored", "new", "active")


# --- how many


def test_a_run_brings_eight_and_keeps_those_that_matter_in_the_order_said() -> None:
    said = [candidate(f"the port of service{i} is {i}000", importance=2 + (i > 8)) for i in range(1, 11)]
    said[0] = candidate("the port of service1 is 1000", role="assistant", importance=4)
    kept = choose(said)
    assert kept == [*said[1:7], said[8], said[9]]


def test_what_nobody_said_so_takes_no_proposals_turn() -> None:
    waiting = memory("the port is 5432", id=8, status="proposed")
    doubtful = replace(candidate("the port is 5433"), waits=Reason.NOT_ENTAILED)
    result = verdict(doubtful, waiting)
    assert (short(result), result.target_id, result.withdraws) == (("dropped", "not_entailed", ""), 8, ())


def test_what_waited_in_doubt_is_in_force_once_a_human_says_it_against_what_holds() -> None:
    holds, doubted = memory("要用 Redis", id=7), memory("不要用 Redis", id=8, status="proposed")
    result = verdict(candidate("不要用 Redis"), holds, doubted)
    assert short(result) == ("replaced", "stated_by_human", "active")
    assert (result.target_id, result.withdraws) == (7, (8,))


@pytest.mark.parametrize("doubt", sorted(UNSTATED))
def test_what_the_words_do_not_state_is_no_further_evidence(doubt: Reason) -> None:
    said = replace(candidate("the port is 5432"), waits=doubt)
    result = verdict(said, memory("the port is 5432", id=7))
    assert short(result) == ("dropped", "already_known", "")
