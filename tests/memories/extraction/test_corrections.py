"""“No, it should be 5433”: the turn before says of what."""

import pytest

from memories.extraction.reasons import Reason
from memories.extraction.rules import Rules, signal_proposals
from memories.extraction.verify import Checked, check

from .builders import transcript, turn


def corrected(said: str, *, message: str = "", reply: str = "") -> list[tuple[str, Reason | None]]:
    talk = transcript(turn(message, id=1, reply=reply), turn(said, id=2))
    results = [check(item, talk) for item in signal_proposals(talk, Rules().extract(talk).candidates)]
    return [
        (one.proposal.content, one.waits) for one in results if isinstance(one, Checked) and one.turn.id == 2
    ]


@pytest.mark.parametrize(
    ("reply", "said", "content"),
    [
        pytest.param("数据库端口是 5432。", "不对，应该是 5433", "数据库端口是 5433", id="number"),
        pytest.param("好的，我把主分支改成 main 了", "不对，应该是 trunk", "主分支是 trunk", id="name"),
        pytest.param("包管理器用 npm", "不对，应该用 pnpm", "包管理器用 pnpm", id="its verb"),
        pytest.param(
            "Done. The staging port is 5432.", "no, it should be 5433", "The staging port is 5433", id="en"
        ),
        pytest.param(
            "I've set the branch to main.", "Wrong, it's trunk", "The branch is trunk", id="en name"
        ),
    ],
)
def test_a_correction_takes_its_subject_from_the_turn_before(reply: str, said: str, content: str) -> None:
    assert corrected(said, reply=reply) == [(content, None)]


def test_the_human_may_have_named_it_himself() -> None:
    assert corrected("不对，应该是 5433", message="端口写成 5432 了", reply="好") == [
        ("应该是 5433", Reason.NO_SUBJECT)
    ]
    assert corrected("不对，应该是 5433", message="数据库端口是 5432") == [("数据库端口是 5433", None)]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param("", id="nothing before"),
        pytest.param("超时是 30 秒，重试次数是 3", id="two things"),
        pytest.param("主色用的是蓝色", id="no value of the kind"),
        pytest.param("我用的是 5432", id="a pronoun"),
    ],
)
def test_where_no_subject_is_clear_a_person_is_asked(reply: str) -> None:
    assert corrected("不对，应该是 5433", reply=reply) == [("应该是 5433", Reason.NO_SUBJECT)]


def test_a_correction_with_a_subject_keeps_its_own() -> None:
    assert corrected("不对，网关端口是 9000", reply="数据库端口是 5432") == [("网关端口是 9000", None)]


@pytest.mark.parametrize(
    ("message", "reply", "said", "content"),
    [
        pytest.param(
            "支付超时是 15 分钟",
            "明白，超时设为 15 分钟。",
            "不对，应该是 30 分钟",
            "支付超时是 30 分钟",
            id="zh",
        ),
        pytest.param(
            "The upload limit is 20 MB.",
            "OK, the limit is set to 20 MB.",
            "no, it should be 50 MB",
            "The upload limit is 50 MB",
            id="en",
        ),
    ],
)
def test_an_answer_that_repeats_the_value_under_a_shorter_name_speaks_of_the_same(
    message: str, reply: str, said: str, content: str
) -> None:
    assert corrected(said, message=message, reply=reply) == [(content, None)]


@pytest.mark.parametrize(
    ("message", "reply"),
    [
        pytest.param("支付超时是 15 分钟", "超时设为 20 分钟。", id="another value"),
        pytest.param("支付超时是 15 分钟", "登录超时是 15 分钟。", id="another name"),
    ],
)
def test_another_thing_or_value_before_it_leaves_open_what_is_meant(message: str, reply: str) -> None:
    assert corrected("不对，应该是 30 分钟", message=message, reply=reply) == [
        ("应该是 30 分钟", Reason.NO_SUBJECT)
    ]
