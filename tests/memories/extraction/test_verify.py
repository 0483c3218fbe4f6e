from dataclasses import replace

import pytest

from memories.extraction.entailment import entails
from memories.extraction.reasons import Reason
from memories.extraction.verify import Checked, Rejected, check, parse

from .builders import candidate, memory, proposal, transcript, turn


def reason_of(result: Checked | Rejected) -> Reason | None:
    return result.reason if isinstance(result, Rejected) else result.waits


# --- parse


def test_items_are_saved_one_by_one() -> None:
    good = {
        "type": "Fact",
        "content": " port is 5432 ",
        "quote": "port is 5432",
        "turn": "turn 3",
        "importance": 9,
    }
    found, unparsable = parse(
        [good, None, [], {"type": "fact"}, {**good, "content": 5}, {**good, "quote": None}]
    )
    assert unparsable == 5
    assert found == [proposal("port is 5432", turn_id=3, importance=4)]


@pytest.mark.parametrize(
    ("field", "value", "attribute", "expected"),
    [
        pytest.param("importance", None, "importance", 3, id="no importance"),
        pytest.param("importance", True, "importance", 3, id="a boolean is no number"),
        pytest.param("importance", -2, "importance", 1, id="too low"),
        pytest.param("importance", float("nan"), "importance", 3, id="not a number"),
        pytest.param("turn_id", {}, "turn_id", None, id="turn of the wrong type"),
        pytest.param("keywords", "a, b，c", "keywords", ("a", "b", "c"), id="keywords in one string"),
        pytest.param("keywords", [1, " a ", None, "a"], "keywords", ("a",), id="keywords of the wrong type"),
        pytest.param("files", {"a": 1}, "files", (), id="files of the wrong type"),
        pytest.param("always", "yes", "always", False, id="always must be true"),
        pytest.param("role", "Assistant", "quote_role", "assistant", id="role"),
        pytest.param("replaces", "db-port", "replaces_key", "db-port", id="replaces"),
    ],
)
def test_a_bad_field_costs_the_field_not_the_item(
    field: str, value: object, attribute: str, expected: object
) -> None:
    ((found,), unparsable) = parse([{"type": "fact", "content": "c", "quote": "q", field: value}])
    assert (getattr(found, attribute), unparsable) == (expected, 0)


# --- schema and evidence


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        pytest.param({"type": "note"}, Reason.UNKNOWN_TYPE, id="type"),
        pytest.param({"content": " \n "}, Reason.NO_CONTENT, id="empty"),
        pytest.param({"content": "x" * 1001}, Reason.TOO_LONG, id="too long"),
        pytest.param({"content": "a\ud800"}, Reason.INVALID_TEXT, id="lone surrogate in the content"),
        pytest.param({"quote": "a\x00bcd"}, Reason.INVALID_TEXT, id="nul in the quote"),
        pytest.param({"quote": "the port is 9999"}, Reason.NO_EVIDENCE, id="never said"),
        pytest.param({"quote": "is"}, Reason.NO_EVIDENCE, id="a quote that says nothing"),
    ],
)
def test_what_is_no_proposal_is_dropped(fields: dict[str, str], reason: Reason) -> None:
    result = check(replace(proposal("the port is 5432"), **fields), transcript(turn("the port is 5432")))
    assert isinstance(result, Rejected)
    assert result.reason is reason


def test_the_quote_is_found_whatever_its_width_case_spaces_and_marks_and_stored_as_it_was_said() -> None:
    said = transcript(turn("hm", id=1), turn("我们  用“Redis”\n做缓存，对吧", id=2))
    result = check(proposal("我们用 Redis 做缓存", quote='我们用"ＲＥＤＩＳ" 做缓存', turn_id=1), said)
    assert isinstance(result, Checked)
    assert (result.turn.id, result.proposal.turn_id) == (2, 2)
    assert result.proposal.quote == "我们  用“Redis”\n做缓存"
    assert (result.by_human, result.waits) == (True, None)


@pytest.mark.parametrize(
    "spoken",
    [
        pytest.param(turn("the port is 5432", citable=False), id="context"),
        pytest.param(turn("the port is 5432", status="failed"), id="failed turn"),
        pytest.param(turn("the port is 5432", origin="machine"), id="machine"),
        pytest.param(turn("> the port is 5432"), id="block quote"),
        pytest.param(turn("```\nthe port is 5432\n```"), id="code"),
        pytest.param(turn("<project_memory>the port is 5432</project_memory>"), id="own block"),
        pytest.param(
            turn("hi", reply="<project_memory>the port is 5432</project_memory>"), id="echoed block"
        ),
    ],
)
def test_words_that_are_nobodys_statement_are_no_evidence(spoken: object) -> None:
    result = check(proposal("the port is 5432"), transcript(spoken))  # type: ignore[arg-type]
    assert reason_of(result) is Reason.NO_EVIDENCE


@pytest.mark.parametrize("type_", ["constraint", "decision", "preference"])
def test_nobody_but_a_human_says_what_somebody_wants(type_: str) -> None:
    said = transcript(turn("ok", reply="I prefer tabs over spaces"))
    result = check(proposal("prefer tabs over spaces", type=type_, quote="I prefer tabs over spaces"), said)
    assert isinstance(result, Rejected)
    assert result.reason is Reason.NEEDS_HUMAN_WORDS


def test_a_quote_of_the_assistant_waits() -> None:
    result = candidate("the port is 5432", role="assistant")
    assert (result.waits, result.by_human) == (Reason.ASSISTANT_QUOTE, False)


def test_a_claimed_role_does_not_matter_who_said_it_does() -> None:
    result = check(
        proposal("the port is 5432", quote_role="user"), transcript(turn("hi", reply="the port is 5432"))
    )
    assert reason_of(result) is Reason.ASSISTANT_QUOTE
    result = check(proposal("the port is 5432", quote_role="assistant"), transcript(turn("the port is 5432")))
    assert isinstance(result, Checked)
    assert result.by_human


def test_what_the_explicit_channel_took_is_not_proposed_again() -> None:
    said = transcript(turn("记住：主色用蓝色"))
    assert reason_of(check(proposal("主色用蓝色"), said)) is Reason.ALREADY_EXPLICIT
    twice = transcript(turn("主色用蓝色，就这么定。\n\n记住：主色用蓝色"))
    assert reason_of(check(proposal("主色用蓝色"), twice)) is Reason.ALREADY_EXPLICIT


def test_what_the_static_instructions_say_is_not_proposed() -> None:
    said = transcript(turn("always use pnpm"), static_instructions="You are an agent. Always use pnpm.")
    assert reason_of(check(proposal("always use pnpm"), said)) is Reason.IN_INSTRUCTIONS


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        pytest.param("lol end every comment with 🤖", Reason.JOKE, id="joke"),
        pytest.param("应该是 /api/v2", Reason.NO_SUBJECT, id="of what?"),
    ],
)
def test_what_a_person_must_see_first_waits(content: str, reason: Reason) -> None:
    assert candidate(content).waits is reason


def test_what_was_reported_after_the_fact_waits() -> None:
    said = transcript(turn("the port is 5432", already_happened=True))
    assert reason_of(check(proposal("the port is 5432"), said)) is Reason.ALREADY_HAPPENED


def test_importance_is_never_a_persons() -> None:
    assert candidate("the port is 5432", importance=5).proposal.importance == 4


def test_a_key_is_a_slug_and_known_to_be_given_or_derived() -> None:
    assert (
        candidate("the port is 5432", key="DB Port").proposal.key,
        candidate("a b c d", key="x").key_given,
    ) == (
        "db-port",
        True,
    )
    assert not candidate("the port is 5432").key_given


# --- what a backend may not decide


@pytest.mark.parametrize(
    ("wanted", "replaces"),
    [
        pytest.param("db-port", "db-port", id="shown"),
        pytest.param("DB Port", "db-port", id="shown, spelled otherwise"),
        pytest.param("region", "", id="shown to nobody"),
        pytest.param("", "", id="none"),
    ],
)
def test_only_a_memory_that_was_shown_can_be_replaced(wanted: str, replaces: str) -> None:
    said = transcript(turn("the port is 5432"), known=(memory("the port is 1000", key="db-port"),))
    result = check(proposal("the port is 5432", replaces_key=wanted), said)
    assert isinstance(result, Checked)
    assert result.proposal.replaces_key == replaces


def test_a_path_is_kept_if_somebody_named_or_changed_it() -> None:
    said = transcript(
        turn("see docs/Setup.md", id=1, citable=False),
        turn("the port is 5432, in `conf/db.toml`", id=2, reply="I wrote src/db.py", files=("src/登录.vue",)),
    )
    named = ("./docs/setup.md", "conf/db.toml", "src/db.py", "src/登录.vue")
    invented = ("src/other.py", "db.tom", "rc/db.py", "src/**", "a\ud800", "", "./")
    result = check(proposal("the port is 5432", files=(*named, *invented)), said)
    assert isinstance(result, Checked)
    assert result.proposal.files == named


def test_a_keyword_that_cannot_be_stored_costs_the_keyword() -> None:
    assert candidate("the port is 5432", keywords=("port", "a\ud800", "b\x00")).proposal.keywords == ("port",)


def test_a_secret_in_a_key_is_seen_before_the_slug_hides_it() -> None:
    secret = "password=" + "Hunter2!xyZ9"
    result = check(proposal("the port is 5432", key=secret), transcript(turn("the port is 5432")))
    assert reason_of(result) is Reason.SECRET_FOUND


@pytest.mark.parametrize(
    ("quote", "found"),
    [
        pytest.param("密码是 Ab***，端口是 5432", "，端口是 5432", id="before it"),
        pytest.param("端口是 5432，用 Ab*** 登录", None, id="in another order"),
        pytest.param("口令是 Ab***，端口是 5432", None, id="other words around it"),
        pytest.param("Ab***", None, id="nothing but it"),
        pytest.param("密码是 Ab***", None, id="nothing that is long enough"),
    ],
)
def test_a_quote_with_something_masked_is_held_by_its_longest_stretch(quote: str, found: str | None) -> None:
    said = transcript(turn("密码是 " + "Ab9#kQ2mLp7w" + "，端口是 5432"))
    result = check(proposal("端口是 5432", quote=quote), said)
    assert (result.proposal.quote if isinstance(result, Checked) else None) == found


def test_emphasis_is_not_taken_for_something_masked() -> None:
    said = transcript(turn("use ***only*** tabs"))
    assert reason_of(check(proposal("use ***only*** tabs", quote="use ***only*** tabs"), said)) is None


# --- entailment


@pytest.mark.parametrize(
    ("evidence", "content"),
    [
        pytest.param("所有接口必须走网关", "所有接口必须走网关", id="itself"),
        pytest.param("页面引用区块要用区块ID，别用名称", "页面引用区块使用区块 ID", id="zh paraphrase"),
        pytest.param("the timeouts are 30 seconds", "Timeout is 30 seconds", id="plural"),
        pytest.param("we'll use Redis for sessions", "The team uses Redis for sessions", id="framing words"),
        pytest.param("Use pnpm, not npm.", "use pnpm instead of npm", id="denied both ways"),
        pytest.param("端口是 5432，最多 20 个连接", "最多 20 个连接", id="part of it"),
    ],
)
def test_a_content_is_entailed_by_words_that_say_it(evidence: str, content: str) -> None:
    assert entails(evidence, content)


@pytest.mark.parametrize(
    ("evidence", "content"),
    [
        pytest.param("the port is 5432", "the port is 5433", id="number"),
        pytest.param("use Redis for caching", "use Redis for caching sessions", id="a word more"),
        pytest.param("use Redis", "use Memcached", id="another name"),
        pytest.param("don't use npm", "use npm", id="negation lost"),
        pytest.param("use npm", "never use npm", id="negation added"),
        pytest.param("Use pnpm, not npm.", "use npm, not pnpm", id="turned round"),
        pytest.param(
            "reference by id, never by name", "reference by name, never by id", id="direction turned round"
        ),
        pytest.param("主色用蓝色", "主色用绿色", id="zh value"),
        pytest.param("不要用红色", "用红色", id="zh negation lost"),
        pytest.param("至少 8 位", "最多 8 位", id="comparator"),
        pytest.param("端口是 5432", "the database password rotates weekly", id="another language"),
        pytest.param("用 PostgreSQL 存订单", "用 PostgreSQL 存订单和用户画像", id="zh words more"),
    ],
)
def test_a_content_that_says_more_or_other_is_not_entailed(evidence: str, content: str) -> None:
    assert not entails(evidence, content)


def test_what_is_not_entailed_waits() -> None:
    said = transcript(turn("we use Redis for caching"))
    result = check(proposal("Redis holds all sessions forever", quote="use Redis for caching"), said)
    assert reason_of(result) is Reason.NOT_ENTAILED


def test_the_neighbouring_sentences_count_as_evidence_and_no_others() -> None:
    said = transcript(turn("We use Redis. It is on port 6380. It is fast. The region is Frankfurt."))
    near = proposal("Redis is on port 6380", quote="It is on port 6380")
    far = proposal("Redis is in Frankfurt", quote="The region is Frankfurt")
    assert reason_of(check(near, said)) is None
    assert reason_of(check(far, said)) is Reason.NOT_ENTAILED
