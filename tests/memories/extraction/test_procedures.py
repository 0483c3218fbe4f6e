"""What a completed topic shows of ways of doing a task."""

import pytest

from memories.extraction.procedures import MAX_LENGTH
from memories.extraction.reasons import Reason
from memories.extraction.rules import Rules
from memories.extraction.transcript import Transcript, Turn
from memories.extraction.verify import Checked, Rejected, check

from .builders import proposal, transcript, turn


def found(*turns: Turn, completed: bool = True) -> list[str]:
    said = transcript(*turns, completed=completed)
    return [item.content for item in Rules().extract(said).candidates if item.type == "procedure"]


PUBLISH = turn(
    "帮我把登录页发布到预发环境", id=1, tools=("build_site", "upload_oss"), files=("dist/login.zip",)
)
CACHE = turn("缓存没清。小心：发布前不清缓存会用到旧的包", id=2, tools=("clear_cache", "upload_oss"))
WORKS = turn("可以了，预发正常了。改一下标题", id=3)


def test_what_was_asked_what_ran_and_what_went_wrong_make_a_procedure_once_it_works() -> None:
    assert found(PUBLISH, CACHE, WORKS) == [
        "用于：把登录页发布到预发环境。步骤：1. 把登录页发布到预发环境 (build_site、upload_oss、clear_cache)。"
        "工具：build_site、upload_oss、clear_cache。产出：dist/login.zip。注意：发布前不清缓存会用到旧的包"
    ]


def test_each_request_is_a_step() -> None:
    assert found(
        turn("Can you deploy the api to staging?", id=1, tools=("run_tests", "deploy")),
        turn("now add a smoke test", id=2, tools=("write_file", "run_tests")),
        turn("works, thanks!", id=3),
    ) == [
        "When: deploy the api to staging. Steps: 1. deploy the api to staging (run_tests, deploy); "
        "2. add a smoke test (write_file, run_tests). Tools: run_tests, deploy, write_file"
    ]


def test_work_of_any_trade_is_asked_for() -> None:
    assert found(
        turn("Please ship the 12 chairs to the Utrecht hall.", id=1, tools=("print_label", "book_carrier")),
        turn("Perfect, that works.", id=2),
    ) == [
        "When: ship the 12 chairs to the Utrecht hall. Steps: 1. ship the 12 chairs to the Utrecht hall "
        "(print_label, book_carrier). Tools: print_label, book_carrier"
    ]
    assert found(turn("好了，帮我打包这批安装盘", id=1, tools=("pack", "scan")), turn("可以了", id=2)) == [
        "用于：打包这批安装盘。步骤：1. 打包这批安装盘 (pack、scan)。工具：pack、scan"
    ]


@pytest.mark.parametrize(
    "turns",
    [
        pytest.param((PUBLISH, CACHE), id="nobody said so"),
        pytest.param((PUBLISH, turn("还是不行", id=2)), id="it does not"),
        pytest.param((PUBLISH, turn("可以了吗？", id=2)), id="a question"),
        pytest.param((PUBLISH, turn("it works but the title is wrong", id=2)), id="not all of it"),
        pytest.param((turn("帮我改标题", id=1, tools=("edit_file",)), WORKS), id="one tool"),
        pytest.param((turn("帮我改标题", id=1, reply="改好了"), WORKS), id="no tool"),
        pytest.param((turn("早上好", id=1, tools=("a", "b")), WORKS), id="nothing was asked for"),
        pytest.param(
            (turn("帮我发布", id=1, tools=("a", "b"), status="failed"), WORKS), id="the turn failed"
        ),
        pytest.param(
            (turn("帮我发布", id=1, tools=("a", "b"), origin="machine"), WORKS), id="a machine asked"
        ),
        pytest.param((PUBLISH, turn("", id=2, reply="It works perfectly now")), id="the assistant says so"),
    ],
)
def test_what_was_not_asked_run_and_confirmed_is_none(turns: tuple[Turn, ...]) -> None:
    assert found(*turns) == []


def test_a_topic_that_goes_on_shows_none_yet() -> None:
    assert found(PUBLISH, CACHE, WORKS, completed=False) == []


def test_it_waits_for_a_person_and_may_cite_what_was_read_before() -> None:
    said = transcript(
        turn("帮我把登录页发布到预发环境", id=1, citable=False, tools=("a", "b")), WORKS, completed=True
    )
    (own,) = [item for item in Rules().extract(said).candidates if item.type == "procedure"]
    result = check(own, said)
    assert isinstance(result, Checked)
    assert (result.waits, result.turn.id, result.proposal.quote) == (
        Reason.PUT_TOGETHER,
        1,
        "帮我把登录页发布到预发环境",
    )
    assert (own.key, own.tools) == ("把登录页发布到预发环境", ("a", "b"))


def test_nothing_else_may_and_a_step_that_nobody_took_is_no_part_of_it() -> None:
    said = transcript(PUBLISH, WORKS, completed=True)
    invented = proposal("发布前先用 rollback_tool 回滚", quote="把登录页发布到预发环境", type="procedure")
    result = check(invented, said)
    assert isinstance(result, Checked)
    assert result.waits is not None
    assert result.waits is not Reason.PUT_TOGETHER
    before = Transcript(turns=(turn("端口是 5432", id=1, citable=False), WORKS), completed=True)
    assert check(proposal("端口是 5432"), before) == Rejected(proposal("端口是 5432"), Reason.NO_EVIDENCE)


def test_a_long_one_keeps_to_what_a_memory_may_hold() -> None:
    asked = "帮我" + "把很长很长的说明都写进部署文档里面去" * 15
    turns = [turn(asked, id=i, tools=(f"tool_{'x' * 20}_{i}", "deploy")) for i in range(1, 13)]
    (content,) = found(*turns, turn("可以了", id=20))
    assert len(content) <= MAX_LENGTH
