"""A model sums up over HTTP: what it is asked, what may come back, and what each failure is."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest

from chats import summaries
from chats.models import Summary
from memories.extraction import InputRefused, ProviderDown, Said, SummaryRequest, Unreadable, Usage, summary
from memories.extraction.llm import Llm
from memories.tokens import count
from tests.chats.turns import turn
from tests.llm_server import Answer, refusal

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project
    from tests.llm_server import LlmServer

SECRET = "Ab12cd34" + "!x9Kq"
REQUEST = SummaryRequest(
    turns=(
        Said(
            number=1,
            message=f"Round invoices half up. The password is {SECRET}.",
            reply="Done.",
            sent_at=datetime(2026, 3, 6, 10, tzinfo=UTC),
        ),
    )
)


def test_it_is_asked_once_in_plain_text_and_its_answer_is_kept_guarded(server: LlmServer) -> None:
    server.script = [Answer(content=f"- Invoices are rounded half up.\n- The password is {SECRET}.")]
    summarised = Llm().summarise(REQUEST)
    assert summarised.text == "- Invoices are rounded half up.\n- The password is Ab***."
    assert summarised.usage == Usage(900, 60)
    (asked,) = server.asked
    assert "response_format" not in asked
    assert SECRET not in str(asked)


@pytest.mark.parametrize(
    ("answer", "error", "reason"),
    [
        pytest.param(Answer(content=""), Unreadable, "empty", id="empty"),
        pytest.param(Answer(refusal="I can't."), Unreadable, "refused", id="refuses"),
        pytest.param(Answer(content="- one", finish_reason="length"), Unreadable, "cut_off", id="cut-off"),
        pytest.param(refusal(500, "Broken."), ProviderDown, "server_error", id="server-error"),
        pytest.param(refusal(401, "Key."), ProviderDown, "unauthorized", id="key"),
        pytest.param(Answer(drop=True), ProviderDown, "connection", id="hangs-up"),
        pytest.param(
            refusal(400, "too long", code="context_length_exceeded"), InputRefused, "too_long", id="too-long"
        ),
    ],
)
def test_each_failure_is_what_it_is(
    server: LlmServer, answer: Answer, error: type[Exception], reason: str
) -> None:
    server.script = [answer]
    with pytest.raises(error) as failure:
        Llm().summarise(REQUEST)
    assert failure.value.reason == reason  # type: ignore[attr-defined]
    assert SECRET not in str(failure.value)


def test_an_input_that_is_turned_down_is_told_from_a_setting_that_is(server: LlmServer) -> None:
    server.script = [refusal(400, "Content policy.")]
    with pytest.raises(InputRefused):
        Llm().summarise(REQUEST)
    assert len(server.asked) == 2, "a request that says nothing is taken: it lies with the talk"
    server.script = [refusal(400, "No such thing."), refusal(400, "No such thing.")]
    with pytest.raises(ProviderDown):
        Llm().summarise(REQUEST)


@pytest.mark.django_db
def test_a_topic_is_summed_up_by_the_model_and_the_row_says_what_it_cost(
    project: Project, server: LlmServer, settings: SettingsWrapper
) -> None:
    settings.SUMMARY_AFTER_TOKENS, settings.SUMMARY_IDLE_S = 1, 0.0
    chat = turn(project, f"Round invoices half up. The password is {SECRET}.", reply="Done.")
    server.script = [Answer(content="- Invoices are rounded half up.")]
    assert summaries.run(chat.topic_id) is False
    row = Summary.objects.get()
    assert (row.backend, row.model, row.through) == ("llm", "plain", 1)
    assert (row.text, row.tokens_in, row.tokens_out) == ("- Invoices are rounded half up.", 900, 60)
    assert SECRET not in str(server.asked)


def test_left_alone_the_server_of_the_tests_says_who_said_what(server: LlmServer) -> None:
    assert Llm().summarise(REQUEST).text == "- 1: Round invoices half up. The password is Ab***."


def test_an_answer_of_many_lines_is_cut_without_counting_it_line_by_line(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    monkeypatch.setattr(summary.tokens, "count", lambda text: asked.append(len(text)) or count(text))
    server.script = [Answer(content="- They went on.\n" * 6_000)]
    told = Llm().summarise(REQUEST).text
    assert told.splitlines() == ["- They went on."] * (summary.MAX_TOKENS // count("- They went on.\n"))
    assert (len(asked) < 12, sum(asked) < 100_000) == (True, True)


def test_a_provider_that_hangs_is_left_after_its_time(server: LlmServer, settings: SettingsWrapper) -> None:
    settings.EXTRACTION_TIMEOUT_S = 0.3
    server.script = [Answer(content="- late", wait_s=30)]
    with pytest.raises(ProviderDown) as down:
        Llm().summarise(REQUEST)
    assert down.value.reason == "timeout"
