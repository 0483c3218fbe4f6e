import json
import time
from pathlib import Path

import pytest
from django.conf import settings

from memories.extraction import UnknownBackend, backend
from memories.extraction.clauses import is_request
from memories.extraction.rules import MAX_MESSAGE, Rules, signal_proposals
from memories.extraction.sentences import split
from memories.extraction.transcript import Signal, without_quoted_matter

from .builders import transcript, turn

TURNS = [json.loads(line) for line in (Path(__file__).parent / "turns.jsonl").read_text().splitlines()]
REALMEM = Path(settings.BASE_DIR).parent / "shared" / "data" / "recall" / "realmem_dev.jsonl"


def read(message: str, **fields: str) -> list[tuple[str, str]]:
    extracted = Rules().extract(transcript(turn(message, **fields)))
    return [(candidate.type, candidate.content) for candidate in extracted.candidates]


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param(
            "对了，表名统一加 t_ 前缀。帮我看看登录",
            [("constraint", "表名统一加 t_ 前缀")],
            id="opener, request",
        ),
        pytest.param(
            "所有接口必须走网关，帮我改一下",
            [("constraint", "所有接口必须走网关")],
            id="request in one sentence",
        ),
        pytest.param(
            "如果返回 401，必须跳登录页。",
            [("constraint", "如果返回 401，必须跳登录页")],
            id="condition kept",
        ),
        pytest.param("From now on, always squash!", [("constraint", "always squash")], id="from now on goes"),
        pytest.param("我们决定用 Vue 3。", [("decision", "我们决定用 Vue 3")], id="decision zh"),
        pytest.param(
            "ok, let's use Redis for jobs", [("decision", "let's use Redis for jobs")], id="decision en"
        ),
        pytest.param("我喜欢简短的回答", [("preference", "我喜欢简短的回答")], id="preference zh"),
        pytest.param(
            "I prefer **tabs** over spaces", [("preference", "I prefer tabs over spaces")], id="emphasis goes"
        ),
        pytest.param(
            "踩过坑：iOS 上 100vh 不准", [("pitfall", "踩过坑：iOS 上 100vh 不准")], id="pitfall zh"
        ),
        pytest.param("Watch out: it drops rows", [("pitfall", "Watch out: it drops rows")], id="pitfall en"),
        pytest.param("数据库端口是 `5432`", [("fact", "数据库端口是 `5432`")], id="fact zh"),
        pytest.param("The API base is /api/v2.", [("fact", "The API base is /api/v2")], id="fact en"),
        pytest.param(
            "代码规范：\n- 缩进 2 空格\n- 不写分号",
            [("constraint", "缩进 2 空格"), ("constraint", "不写分号")],
            id="list",
        ),
    ],
)
def test_what_was_marked_as_lasting_is_taken_word_for_word(
    message: str, expected: list[tuple[str, str]]
) -> None:
    assert read(message) == expected


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("用 Obsidian 会不会有帮助？", id="question"),
        pytest.param("Should we always use UTC", id="question without a mark"),
        pytest.param("做一个注册页，密码必须 8 位以上", id="request with its terms"),
        pytest.param("Build a form. The name must be unique.", id="terms after a request"),
        pytest.param("也许以后都用 pnpm", id="guess"),
        pytest.param("lol always use comic sans", id="joke"),
        pytest.param("必须用 tab。开玩笑的", id="taken back"),
        pytest.param("老板说所有按钮必须是红色", id="reported"),
        pytest.param("文案写“所有用户必须登录”", id="quoted"),
        pytest.param("`必须` 这个词删掉", id="code"),
        pytest.param("记住：所有接口走 /api/v2", id="explicit channel's"),
        pytest.param("不用记住：端口是 9999", id="not to be remembered"),
        pytest.param("这次必须用蓝色", id="this time"),
        pytest.param("以前我们用 npm", id="past"),
        pytest.param("写一份规则：\n- 所有人必须登录\n- 禁止转发", id="list that is asked for"),
        pytest.param("保存时会导致崩溃，帮我修一下", id="bug report"),
        pytest.param("I always forget the flag", id="habit of a person"),
        pytest.param("所有接口必须走网关。" * 700, id="a document"),
        pytest.param(
            "该标准于 1998 年发布，规定所有成员国的铁路信号系统必须采用统一的编码方式以保证互通。"
            "此后十年间，各国铁路公司陆续禁止旧式信号设备在干线以及主要支线上继续运行。"
            "时至今日，任何未经认证的列车一律不得驶入位于首都圈之内的主要车站。",
            id="an article",
        ),
    ],
)
def test_what_was_not_said_for_good_yields_nothing(message: str) -> None:
    assert read(message) == []


def test_the_assistant_and_machines_are_not_read() -> None:
    assert read("ok", reply="I prefer tabs. We must always use them.") == []
    assert read("All services must expose /health.", origin="machine") == []


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        pytest.param("Images get tagged with the git sha.", "constraint", id="what is done"),
        pytest.param("Nobody edits the xml by hand.", "constraint", id="what nobody does"),
        pytest.param("退货地址是义乌仓，不是杭州仓", "fact", id="what something is"),
        pytest.param("审批单由财务部归档，满三年销毁", "fact", id="who does it, and when"),
        pytest.param("We threw out Realm and went with Room.", "decision", id="what was chosen"),
        pytest.param("合同首页不盖章，只在骑缝处盖", "constraint", id="what is not done"),
    ],
)
def test_what_is_said_plainly_of_every_case_is_taken_without_a_marker(message: str, expected: str) -> None:
    assert [type_ for type_, _ in read(message)] == [expected]


@pytest.mark.parametrize(
    "message",
    [
        pytest.param("The build takes ages today", id="now"),
        pytest.param("the plot is too small", id="a judgement"),
        pytest.param("昨晚的任务跑了三个小时", id="what happened"),
        pytest.param("堡垒机登不上去", id="a fault"),
        pytest.param("I pushed a fix to main", id="about himself"),
        pytest.param("All 212 tests are green", id="how far it has got"),
        pytest.param("Translate:\nAll vendors must be insured.", id="matter for work"),
        pytest.param("需求：\n- 每页必须显示 20 条", id="a task's terms"),
    ],
)
def test_what_is_said_of_this_case_or_this_moment_is_not(message: str) -> None:
    assert read(message) == []


@pytest.mark.parametrize(
    "message",
    [
        "Please publish the release notes for version 4.2 on the docs site.",
        "Please call the customer Mrs. Lee.",
        "Deploy v3.1 to the staging cluster in Utrecht.",
        "请发布 4.2 版本的更新说明",
        "部署 4.2 到测试环境",
        pytest.param("第 5 步：调整报表的表头，金额列注意小数点", id="under its number"),
        pytest.param("Step 3: wire the form to the API", id="under its number, English"),
        pytest.param("下一个任务是给导出功能加进度条", id="the next one"),
        pytest.param("做结算页：左边商品列表，右边金额汇总", id="what it shall look like"),
    ],
)
def test_a_piece_of_work_that_is_asked_for_is_no_fact(message: str) -> None:
    assert read(message) == []
    assert any(is_request(clause.plain) for one in split(message) for clause in one.clauses)


@pytest.mark.parametrize(
    "message",
    ["Please publish releases only on Tuesdays.", "Please never publish on Fridays.", "请不要在周五发布"],
)
def test_a_courtesy_before_a_rule_leaves_it_one(message: str) -> None:
    assert len(read(message)) == 1


def test_our_own_block_in_a_message_yields_nothing() -> None:
    block = "<project_memory>\n- 所有接口必须走网关\n</project_memory>"
    assert read(f"{block}\n帮我看看登录", reply=block) == []
    assert read("<project_memory>\nAll services must expose /health.") == []


@pytest.mark.parametrize("status", ["failed", "cancelled", "running"])
def test_a_turn_that_did_not_succeed_yields_nothing(status: str) -> None:
    assert read("所有接口必须走网关", status=status) == []


def test_a_proposal_carries_its_evidence_and_what_it_names() -> None:
    (found,) = (
        Rules()
        .extract(transcript(turn("另外，所有样式都放 src/styles/*.scss，不用 `styled`", id=7)))
        .candidates
    )
    assert (found.turn_id, found.quote_role) == (7, "user")
    assert found.quote == "另外，所有样式都放 src/styles/*.scss，不用 `styled`"
    assert (found.files, found.keywords) == (("src/styles/*.scss",), ("styled",))
    assert (found.importance, found.always) == (4, True)


def test_own_corpus_precision_and_recall() -> None:
    """Exact, so that a change of the rules shows; the aim is precision ≥ .90, recall ≥ .60."""
    right = wrong = missed = 0
    for row in TURNS:
        wanted = [item["says"] for item in row["keep"]]
        fields = {name: row[name] for name in ("reply", "origin") if name in row}
        for _, content in read(row["message"], **fields):
            said = next((words for words in wanted if words in content), None)
            right, wrong = right + (said is not None), wrong + (said is None)
            if said is not None:
                wanted.remove(said)
        missed += len(wanted)
    assert len(TURNS) == 453
    assert sum(not row["keep"] for row in TURNS) == 242
    assert (right, wrong, missed) == (210, 9, 3)


@pytest.mark.skipif(not REALMEM.exists(), reason="the shared corpus is not here")
def test_personal_talk_yields_next_to_nothing() -> None:
    queries = [row for row in map(json.loads, REALMEM.read_text().splitlines()) if row["kind"] == "query"]
    kept = sum(bool(read(row["text"])) for row in queries)
    assert kept <= 0.02 * len(queries)


def test_a_directive_enters_whatever_the_backend_and_keeps_its_instruction() -> None:
    said = turn(
        "下次不要再用 moment 了", signals=(Signal(id=5, kind="directive", content="下次不要再用 moment 了"),)
    )
    (found,) = signal_proposals(transcript(said))
    assert (found.type, found.content, found.quote) == (
        "constraint",
        "不要再用 moment 了",
        "下次不要再用 moment 了",
    )
    assert found.instruction_id == 5


def test_a_signal_that_the_backend_already_found_is_not_doubled_but_named() -> None:
    said = turn(
        "以后提交信息都用英文写", signals=(Signal(id=5, kind="directive", content="以后提交信息都用英文写"),)
    )
    own = Rules().extract(transcript(said)).candidates
    merged = signal_proposals(transcript(said), own)
    assert [(item.content, item.instruction_id) for item in merged] == [("提交信息都用英文写", 5)]


def test_a_correction_enters_as_a_candidate() -> None:
    (found,) = signal_proposals(transcript(turn("不是 npm 而是 pnpm")))
    assert found.content == "不是 npm 而是 pnpm"


def test_an_unknown_backend_is_named_in_a_sentence() -> None:
    assert backend("rules").name == "rules"
    with pytest.raises(
        UnknownBackend, match="no extraction backend “gpt”: set EXTRACTION_BACKEND to one of llm, rules"
    ):
        backend("gpt")


@pytest.mark.parametrize(
    "piece", ["`", "<project_memory", "?", ".", "“", "必须，", "use the ", "- \n", "import ", "| "]
)
def test_hostile_text_costs_time_in_proportion_to_its_length(piece: str) -> None:
    """A pattern that reads on at each place would take minutes here."""
    text = (piece * 20_000)[:20_000]
    start = time.perf_counter()
    split(without_quoted_matter(text))
    read(text[:MAX_MESSAGE])
    assert time.perf_counter() - start < 2
