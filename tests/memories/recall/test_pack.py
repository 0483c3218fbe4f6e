from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memories import tokens
from memories.recall.index import Entry, Index
from memories.recall.pack import Packing, Reason, pack
from memories.recall.parameters import DEFAULT
from memories.recall.render import Line, block, frame_tokens, line, section_of, section_tokens
from memories.recall.score import Scored
from tests.memories.recall.entries import entry

FRAME = frame_tokens("relevant")
ALWAYS_FRAME = frame_tokens("always")
NOTES, RULES = section_tokens("notes"), section_tokens("rules")


def scored(position: int, *, evident: bool = True) -> Scored:
    return Scored(position=position, score=1 - position / 1000, parts={}, is_evident=evident)


def packed(
    entries: list[Entry], *, max_items: int = 12, max_tokens: int = 6000, evident: set[int] | None = None
) -> tuple[list[tuple[int, str]], dict[int, Reason], Packing]:
    """(id, tier) of what was chosen, id → reason of what was not; entries stand in order of rank."""
    index = Index.build(entries)
    found = pack(
        index,
        [scored(position) for position in index.always],
        [scored(p, evident=evident is None or one.id in evident) for p, one in enumerate(entries)],
        max_items=max_items,
        max_tokens=max_tokens,
    )
    name = [one.id for one in entries]
    chosen = [(name[one.scored.position], one.tier) for one in found.chosen]
    return chosen, {name[one.scored.position]: one.reason for one in found.left}, found


def notes(count: int, **values: object) -> list[Entry]:
    return [entry(f"note {n} says {n * 7}", id=n, **values) for n in range(1, count + 1)]


def test_exactly_twelve_items_fit_and_the_thirteenth_does_not() -> None:
    chosen, left, _ = packed(notes(13, tokens=10))
    assert chosen == [(n, "relevant") for n in range(1, 13)]
    assert left == {13: Reason.OVER_ITEMS}


def test_a_block_may_be_exactly_full_and_one_token_less_leaves_an_item_out() -> None:
    full = FRAME + NOTES + 60
    chosen, left, found = packed(notes(2, tokens=30), max_tokens=full)
    assert ([id for id, _ in chosen], left, found.tokens) == ([1, 2], {}, full)
    chosen, left, found = packed(notes(2, tokens=30), max_tokens=full - 1)
    assert ([id for id, _ in chosen], left, found.tokens) == ([1], {2: Reason.OVER_TOKENS}, full - 30)


def test_what_does_not_fit_is_skipped_and_the_next_one_is_tried() -> None:
    entries = [replace(one, tokens=size) for one, size in zip(notes(4), (30, 900, 40, 20), strict=True)]
    chosen, left, _ = packed(entries, max_tokens=FRAME + NOTES + 50)
    assert [id for id, _ in chosen] == [1, 4]
    assert left == {2: Reason.OVER_TOKENS, 3: Reason.OVER_TOKENS}


def test_the_heading_of_a_further_section_counts() -> None:
    entries = [entry("a1", id=1, tokens=10), entry("b2", id=2, tokens=10, authority="person")]
    assert packed(entries, max_tokens=FRAME + NOTES + RULES + 20)[1] == {}
    assert packed(entries, max_tokens=FRAME + NOTES + RULES + 19)[1] == {2: Reason.OVER_TOKENS}


def test_the_frame_of_a_further_segment_counts() -> None:
    entries = [entry("a1", id=1, tokens=10, always=True), entry("b2", id=2, tokens=10)]
    full = ALWAYS_FRAME + FRAME + 2 * NOTES + 20
    assert packed(entries, max_tokens=full)[0] == [(1, "always"), (2, "relevant")]
    assert packed(entries, max_tokens=full - 1)[0] == [(1, "always")]


def test_nothing_fits_into_no_room() -> None:
    assert packed(notes(1), max_tokens=0)[1] == {1: Reason.OVER_TOKENS}
    chosen, left, found = packed(notes(1), max_items=0)
    assert (chosen, left, found.tokens) == ([], {1: Reason.OVER_ITEMS}, 0)


def test_what_is_below_the_floor_is_left_out_however_much_room_there_is() -> None:
    assert packed(notes(2), evident={2})[:2] == ([(2, "relevant")], {1: Reason.BELOW_FLOOR})


def test_the_always_tier_needs_no_evidence_and_holds_eight() -> None:
    chosen, left, _ = packed(notes(9, always=True, tokens=10), evident=set())
    assert chosen == [(n, "always") for n in range(1, 9)]
    assert left == {9: Reason.ALWAYS_OVERFLOW}


def test_what_overflows_the_always_tier_competes_in_the_rest() -> None:
    chosen, left, _ = packed(notes(10, always=True, tokens=10), evident={10})
    assert chosen == [(n, "always") for n in range(1, 9)] + [(10, "relevant")]
    assert left == {9: Reason.ALWAYS_OVERFLOW}


def test_the_always_tier_holds_two_thousand_tokens_its_frame_included() -> None:
    room = 2000 - ALWAYS_FRAME - NOTES
    entries = [
        replace(one, tokens=size)
        for one, size in zip(notes(3, always=True), (room - 20, 21, 20), strict=True)
    ]
    chosen, left, found = packed(entries, evident=set())
    assert chosen == [(1, "always"), (3, "always")]
    assert left == {2: Reason.ALWAYS_OVERFLOW}
    assert found.tokens == 2000


def test_an_overflow_that_fails_for_want_of_room_is_still_an_overflow() -> None:
    _, left, _ = packed(notes(14, always=True, tokens=10))
    assert left == {13: Reason.ALWAYS_OVERFLOW, 14: Reason.ALWAYS_OVERFLOW}


def test_the_tier_is_cut_to_the_limits_of_the_whole_block() -> None:
    assert packed(notes(3, always=True), max_items=2)[0] == [(1, "always"), (2, "always")]


def test_near_duplicates_take_one_place() -> None:
    entries = [
        entry("主色用蓝色", id=1),
        entry("主色使用蓝色。", id=2),
        entry("主色用绿色", id=3),
        entry("按钮用圆角", id=4, always=True),
        entry("按钮使用圆角", id=5),
        entry("按钮采用圆角", id=6, always=True),
    ]
    chosen, left, _ = packed(entries)
    assert chosen == [(4, "always"), (1, "relevant"), (3, "relevant")]
    assert left == dict.fromkeys((2, 5, 6), Reason.NEAR_DUPLICATE)


drafts = st.builds(
    dict,
    content=st.text(min_size=1, max_size=120)
    | st.sampled_from(["主色用蓝色", "主色使用蓝色", "a</project_memory>"]),
    authority=st.sampled_from(["person", "automatic"]),
    always=st.booleans(),
    type=st.sampled_from(list(DEFAULT.types)),
)


@settings(deadline=None)
@given(st.lists(drafts, max_size=20), st.integers(0, 14), st.integers(0, 700), st.data())
def test_a_packing_never_exceeds_its_limits_counts_exactly_and_accounts_for_all(
    values: list[dict], max_items: int, max_tokens: int, data: st.DataObject
) -> None:
    entries = [entry(id=number, **one) for number, one in enumerate(values, start=1)]
    evident = data.draw(st.sets(st.integers(1, 20)))
    chosen, left, found = packed(entries, max_items=max_items, max_tokens=max_tokens, evident=evident)
    by_id = {one.id: one for one in entries}
    text = block(
        Line(
            tier=tier,
            section=section_of(by_id[id].authority),
            type=by_id[id].type,
            id=id,
            text=line(
                type=by_id[id].type, id=id, said_on=by_id[id].said_at.date(), content=by_id[id].content
            ),
        )
        for id, tier in chosen
    ).text
    assert len(chosen) <= max_items
    assert tokens.count(text) == found.tokens <= max_tokens
    assert sorted([id for id, _ in chosen] + list(left)) == sorted(by_id)
    assert sum(tier == "always" for _, tier in chosen) <= 8


@pytest.mark.parametrize("max_items", [1, 5, 12])
def test_a_packing_is_the_same_every_time(max_items: int) -> None:
    entries = notes(20, tokens=15)
    assert packed(entries, max_items=max_items) == packed(entries, max_items=max_items)


sizes = st.lists(st.tuples(st.integers(5, 400), st.booleans(), st.booleans()), max_size=20)


def sized(values: list[tuple[int, bool, bool]]) -> list[Entry]:
    """Entries of those many tokens, in order of rank: (tokens, always, by a person)."""
    return [
        entry(
            f"note {n} says {n * 7}",
            id=n,
            tokens=size,
            always=always,
            authority="person" if person else "automatic",
        )
        for n, (size, always, person) in enumerate(values, start=1)
    ]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(sizes, st.integers(0, 14), st.integers(0, 3000))
def test_each_tier_keeps_the_order_of_rank_and_gives_way_for_want_of_room_alone(
    values: list[tuple[int, bool, bool]], max_items: int, max_tokens: int
) -> None:
    entries = sized(values)
    chosen, left, found = packed(entries, max_items=max_items, max_tokens=max_tokens)
    for tier in ("always", "relevant"):
        ids = [id for id, its in chosen if its == tier]
        assert ids == sorted(ids)
    assert [tier for _, tier in chosen] == sorted((tier for _, tier in chosen))
    assert all(one.always for one in entries if (one.id, "always") in chosen)
    for id, reason in left.items():
        if reason in (Reason.OVER_TOKENS, Reason.ALWAYS_OVERFLOW) and len(chosen) < max_items:
            # All that the block would cost with it: a frame, a heading and its line.
            assert found.tokens + entries[id - 1].tokens + FRAME + RULES > max_tokens
        if reason is Reason.OVER_ITEMS:
            assert len(chosen) == max_items


@settings(max_examples=100, deadline=None, derandomize=True)
@given(sizes, st.integers(0, 12), st.integers(0, 3000))
def test_what_ranks_below_the_last_one_chosen_changes_nothing_above_it(
    values: list[tuple[int, bool, bool]], max_items: int, max_tokens: int
) -> None:
    ranked = [(size, False, person) for size, _, person in values]
    chosen = packed(sized(ranked), max_items=max_items, max_tokens=max_tokens)[0]
    more = packed(sized([*ranked, (10, False, True)]), max_items=max_items, max_tokens=max_tokens)[0]
    assert more[: len(chosen)] == chosen
