"""Runs of distilling and their candidates over the API."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories.api.serializers import ExtractionAnswer, ExtractionDetail
from memories.models import Candidate, Extraction
from projects.models import Project, Scope
from tests.factories import make_key, make_memory, make_project
from tests.memories.test_store_removal import make_chat

if TYPE_CHECKING:
    from collections.abc import Callable

    from pytest_django import DjangoAssertNumQueries
    from rest_framework.test import APIClient

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.memories.urls")]
EXTRACTIONS = "/api/v1/projects/shop/extractions/"


@pytest.fixture
def tracer(project: Project, api: Callable[..., APIClient]) -> APIClient:
    return api(make_key(project, [Scope.TRACES_READ])[1])


def make_run(project: Project, number: int = 1, **fields: Any) -> Extraction:
    chat = make_chat(project, f"turn {number}")
    values: dict[str, Any] = {"trigger": "turn", "status": "succeeded", "backend": "rules"}
    values |= {"counts": {"stored": 1}} | fields
    return Extraction.objects.create(
        project=project,
        topic=chat.topic,
        chats_read=[chat.pk],
        raw_output="what the backend said",
        lease_token=f"lease {project.pk} {number}",
        **values,
    )


def at(run: Extraction) -> str:
    return f"/api/v1/extractions/{run.pk}/"


@pytest.mark.parametrize("count", [1, 5])
def test_a_list_takes_two_queries_however_long_it_is(
    count: int, project: Project, tracer: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    runs = [make_run(project, number) for number in range(count)]
    make_run(make_project(), 99)
    tracer.get(EXTRACTIONS)  # notes the key's use
    with django_assert_num_queries(2):
        rows = tracer.get(EXTRACTIONS).json()["results"]
    assert [row["id"] for row in rows] == [run.pk for run in reversed(runs)]
    assert set(rows[0]) == set(ExtractionAnswer().get_fields())
    assert rows[0]["topic"] == {"id": runs[-1].topic_id, "ref": f"topic of turn {count - 1}", "title": ""}
    assert (rows[0]["turns"], rows[0]["counts"]) == (runs[-1].chats_read, {"stored": 1})


@pytest.mark.parametrize(
    ("query", "expected"),
    [("status=failed", [1]), ("status=failed,succeeded", [1, 0]), ("trigger=sweep", [1]), ("topic=0", None)],
)
def test_the_list_is_narrowed_down(
    query: str, expected: list[int] | None, project: Project, tracer: APIClient
) -> None:
    runs = [make_run(project, 0), make_run(project, 1, status="failed", trigger="sweep")]
    answer = tracer.get(f"{EXTRACTIONS}?{query}")
    if expected is None:
        assert answer.status_code == 400
        return
    assert [row["id"] for row in answer.json()["results"]] == [runs[number].pk for number in expected]
    of_topic = tracer.get(f"{EXTRACTIONS}?topic={runs[0].topic_id}").json()["results"]
    assert [row["id"] for row in of_topic] == [runs[0].pk]


@pytest.mark.parametrize(
    ("result", "fields"),
    [
        pytest.param("running", {"status": "running", "counts": {}}, id="running"),
        pytest.param("kept", {"counts": {"merged": 1, "dropped": 2}}, id="kept"),
        pytest.param("nothing", {"counts": {}}, id="nothing was proposed"),
        pytest.param("nothing", {"counts": {"dropped": 3, "unparsable": 1}}, id="all was dropped"),
        pytest.param("unparsable", {"status": "failed", "error_kind": "unparsable"}, id="unparsable"),
        pytest.param("provider_down", {"status": "failed", "error_kind": "provider_down"}, id="provider"),
        pytest.param("input", {"status": "failed", "error_kind": "input"}, id="input"),
        pytest.param("timed_out", {"status": "failed", "error_kind": "timed_out"}, id="timed out"),
        pytest.param("internal", {"status": "failed", "error_kind": "internal"}, id="internal"),
        pytest.param("internal", {"status": "failed"}, id="failed without a word"),
        pytest.param("cancelled", {"status": "cancelled"}, id="cancelled"),
        pytest.param("abandoned", {"status": "abandoned"}, id="abandoned"),
    ],
)
def test_what_a_run_came_to_is_told_in_one_word_and_found_by_it(
    result: str, fields: dict[str, Any], project: Project, tracer: APIClient
) -> None:
    run = make_run(project, **fields)
    assert tracer.get(at(run)).json()["result"] == result
    assert [row["result"] for row in tracer.get(f"{EXTRACTIONS}?result={result}").json()["results"]] == [
        result
    ]
    others = ",".join(set(Extraction.Result.values) - {result})
    assert tracer.get(f"{EXTRACTIONS}?result={others}").json()["results"] == []


def test_a_result_that_there_is_not_is_refused(tracer: APIClient) -> None:
    answer = tracer.get(f"{EXTRACTIONS}?result=good")
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


def test_one_run_tells_what_became_of_each_candidate(
    project: Project, tracer: APIClient, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    run, memory = make_run(project), make_memory(project)
    for position, (outcome, reason) in enumerate([("stored", "new"), ("dropped", "manual_precedence")]):
        Candidate.objects.create(
            extraction=run,
            position=position,
            type="fact",
            key=f"key {position}",
            content="content",
            quote="quote",
            quote_role="user",
            chat_id=run.chats_read[0],
            outcome=outcome,
            reason=reason,
            memory=memory if outcome == "stored" else None,
            target=memory if outcome == "dropped" else None,
        )
    tracer.get(at(run))
    with django_assert_num_queries(3):
        answer = tracer.get(at(run))
    body = answer.json()
    assert set(body) == set(ExtractionDetail().get_fields())
    assert body["candidates"] == [
        {
            "type": "fact",
            "key": f"key {position}",
            "content": "content",
            "quote": "quote",
            "quote_role": "user",
            "turn": run.chats_read[0],
            "outcome": outcome,
            "reason": reason,
            "memory": memory.pk if outcome == "stored" else None,
            "target": memory.pk if outcome == "dropped" else None,
        }
        for position, (outcome, reason) in enumerate([("stored", "new"), ("dropped", "manual_precedence")])
    ]
    assert "what the backend said" not in answer.content.decode()


def test_a_run_outlives_its_topic(project: Project, tracer: APIClient) -> None:
    run = make_run(project)
    run.topic.delete()
    assert tracer.get(at(run)).json()["topic"] is None


def test_a_run_that_is_not_there_looks_like_anothers(tracer: APIClient) -> None:
    other = make_run(make_project())
    missing, hidden = tracer.get("/api/v1/extractions/999999/"), tracer.get(at(other))
    known = ("status", "code", "detail", "title", "type")
    assert [missing.json()[name] for name in known] == [hidden.json()[name] for name in known]
