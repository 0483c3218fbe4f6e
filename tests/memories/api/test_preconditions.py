"""`If-Match` on what it guards: a memory is changed or deleted by those alone who have seen it as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from memories import store
from memories.models import Memory
from tests.factories import make_memory
from tests.memories.test_store import person, traces

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient

    from projects.models import Project

pytestmark = [pytest.mark.django_db, pytest.mark.urls("tests.memories.urls")]
# What is sent, and whether it names version 2.
TAGS = [
    pytest.param('"2"', 0, id="the present version"),
    pytest.param('W/"2"', 0, id="the present version, weakened by a proxy"),
    pytest.param('"1", "2"', 0, id="the present version among others"),
    pytest.param('W/"1",W/"2" , "7"', 0, id="the present version among weak ones"),
    pytest.param("*", 0, id="any version"),
    pytest.param(None, 428, id="none"),
    pytest.param('"1"', 412, id="an older version"),
    pytest.param('"3"', 412, id="a version to come"),
    pytest.param('"1", W/"3"', 412, id="others only"),
    pytest.param("2", 412, id="a number without quotes"),
    pytest.param('"2', 412, id="half a tag"),
    pytest.param('"02"', 412, id="the same number in other letters"),
    pytest.param("", 412, id="nothing"),
    pytest.param('"*"', 412, id="a tag that is a star"),
]


@pytest.fixture
def memory(project: Project) -> Memory:
    """At version 2."""
    made = make_memory(project)
    return store.edit(project=project, memory_id=made.pk, changes={"importance": 4}, by=person(project))


@pytest.mark.parametrize("method", ["patch", "delete", "disable"])
@pytest.mark.parametrize(("tag", "refused"), TAGS)
def test_who_has_not_seen_it_as_it_is_changes_nothing(
    api_as: Callable[..., APIClient],
    project: Project,
    memory: Memory,
    method: str,
    tag: str | None,
    refused: int,
) -> None:
    ana = api_as(project.owner)
    path = f"/api/v1/projects/shop/memories/{memory.pk}/"
    headers = {} if tag is None else {"If-Match": tag}
    present, before = ana.get(path).json(), traces(project)
    answer: Any
    match method:
        case "patch":
            answer = ana.patch(path, {"content": "Changed."}, headers=headers)
        case "delete":
            answer = ana.delete(path, headers=headers)
        case _:
            answer = ana.post(f"{path}disable/", headers=headers)
            refused = 0 if tag is None else refused  # a verb says what it expects to find
    if not refused:
        assert answer.status_code == (204 if method == "delete" else 200)
        assert traces(project)[:2] == (before[0] + 1, before[1] + 1)
        return
    assert (answer.status_code, answer.json()["code"]) == (
        refused,
        {412: "stale_memory", 428: "if_match_required"}[refused],
    )
    if refused == 412:
        assert (answer.json()["current"], answer.headers["ETag"]) == (present, '"2"')
    assert traces(project)[:2] == before[:2]
    assert Memory.objects.get().version == 2


@pytest.mark.parametrize("tag", ['"1"', "*", None])
def test_what_is_not_there_is_not_found_whatever_was_seen(
    api_as: Callable[..., APIClient], project: Project, memory: Memory, tag: str | None
) -> None:
    store.delete(project=project, memory_id=memory.pk, by=person(project))
    headers = {} if tag is None else {"If-Match": tag}
    ana, path = api_as(project.owner), f"/api/v1/projects/shop/memories/{memory.pk}/"
    answers = [ana.patch(path, {"content": "Changed."}, headers=headers), ana.delete(path, headers=headers)]
    assert [(answer.status_code, answer.json()["code"]) for answer in answers] == [(404, "not_found")] * 2
