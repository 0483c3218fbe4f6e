"""Statements that are compiled once do what the ORM's own do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from chats.models import Chat, Topic
from chats.statements import locked_topic, newest_turns
from memories.models import Recall, RecallBlock, RecallItem
from projects.models import Project
from projects.statements import Insert, Select
from tests.factories import make_memory, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

pytestmark = pytest.mark.django_db


@pytest.fixture
def by_slug() -> Select[Project]:
    return Select(
        lambda pk, slug: Project.objects.filter(pk__gte=pk, slug=slug, memory_enabled=True), int, str
    )


def test_a_select_finds_what_its_queryset_finds_each_time_with_other_values(by_slug: Select[Project]) -> None:
    shop, desk = make_project("shop"), make_project("desk")
    make_project("dark", memory_enabled=False)
    assert by_slug(0, "shop") == [shop]
    assert by_slug(0, "desk") == [desk]
    assert by_slug(desk.pk + 1, "desk") == []
    assert by_slug(0, "dark") == []
    assert by_slug(0, "' OR 1=1 --") == []
    assert by_slug(0, "shop")[0].owner == shop.owner


def test_a_select_is_put_together_once(by_slug: Select[Project], monkeypatch: pytest.MonkeyPatch) -> None:
    shop = make_project("shop")
    assert by_slug(0, "shop") == [shop]
    monkeypatch.setattr(by_slug, "_queryset", None)
    with CaptureQueriesContext(connection) as queries:
        assert by_slug(0, "shop") == [shop]
    assert len(queries) == 1


@pytest.mark.parametrize(
    "queryset",
    [
        pytest.param(lambda slug: Project.objects.filter(name=slug, slug=slug), id="twice"),
        pytest.param(lambda slug: Project.objects.filter(slug="x"), id="not at all"),
    ],
)
def test_a_value_stands_in_its_statement_once(queryset: Callable[..., object]) -> None:
    with pytest.raises(ValueError, match="Each value must stand in the statement once"):
        Select(queryset, str)("shop")  # type: ignore[arg-type]


def test_columns_that_the_queryset_leaves_out_are_read_when_they_are_wanted() -> None:
    topic = Topic.objects.create(project=make_project(), ref="a")
    for number in (1, 2, 3):
        Chat.objects.create(project=topic.project, topic=topic, seq=number, message=f"m{number}", error="e")
    turns = newest_turns(topic.pk, limit=2)
    assert [turn.message for turn in turns] == ["m3", "m2"]
    assert turns[0].get_deferred_fields() >= {"error", "attached", "tools"}
    assert turns[0].error == "e"


def test_a_topic_is_locked_where_the_database_locks_rows() -> None:
    topic = Topic.objects.create(project=make_project(), ref="a")
    with CaptureQueriesContext(connection) as queries:
        assert locked_topic(topic.project_id, "a") == topic
    assert queries[0]["sql"].endswith("FOR UPDATE") == connection.features.has_select_for_update
    assert locked_topic(topic.project_id, "b") is None


def test_an_insert_writes_what_bulk_create_writes() -> None:
    project = make_project()
    memory = make_memory(project)
    topic = Topic.objects.create(project=project, ref="a")
    chat = Chat.objects.create(project=project, topic=topic, seq=1, message="m")
    rows = [Recall.objects.create(project=project, chat=chat, query="", tokens=1, ms=1) for _ in range(2)]
    values = [
        {
            "memory_id": memory.pk,
            "version": 1,
            "tier": "always",
            "rank": 1,
            "score": None,
            "parts": {"a": 0.5},
        },
        {"memory_id": memory.pk, "version": 2, "tier": "relevant", "rank": 2, "score": 0.25, "parts": {}},
    ]
    RecallItem.objects.bulk_create([RecallItem(recall=rows[0], tokens=9, **one) for one in values])
    insert = Insert(RecallItem, "recall_id", "tokens", *values[0])
    insert((rows[1].pk, 9, *one.values()) for one in values)
    written, expected = (
        list(RecallItem.objects.filter(recall=row).order_by("rank").values(*values[0], "tokens"))
        for row in (rows[1], rows[0])
    )
    assert written == expected
    assert len(written) == 2


def test_an_instance_is_saved_whole_and_gets_its_id() -> None:
    topic = Topic.objects.create(project=make_project(), ref="a")
    chats = [
        Chat(
            project=topic.project,
            topic=topic,
            seq=number,
            message="主色 🎉",
            files=["a.py"],
            memory_refs=None,
        )
        for number in (1, 2)
    ]
    chats[0].save(force_insert=True)
    Insert(Chat).save(chats[1])
    assert chats[1].pk == chats[0].pk + 1
    assert (chats[1]._state.adding, chats[1]._state.db) == (False, "default")
    chats[1].reply = "saved again: an UPDATE"
    chats[1].save()
    chats[1].refresh_from_db()
    assert chats[1].reply == "saved again: an UPDATE"
    names = {field.attname for field in Chat._meta.concrete_fields} - {"id", "seq", "reply"}
    names -= {"sent_at", "started_at", "touched_at"}  # each its own now
    written = [{name: getattr(chat, name) for name in names} for chat in chats]
    assert written[0] == written[1]


def test_a_row_that_is_there_already_stays_and_another_kind_of_error_is_raised() -> None:
    project = make_project()
    insert = Insert(RecallBlock, "sha256", "project_id", "text", "created_at", ignore_conflicts=True)
    for text in ("first", "second"):
        insert([("a" * 64, project.pk, text, timezone.now())])
    assert RecallBlock.objects.get().text == "first"
    with pytest.raises(IntegrityError), transaction.atomic():
        Insert(RecallBlock, "sha256", "project_id", "text", "created_at")(
            [("a" * 64, project.pk, "third", timezone.now())]
        )
    assert RecallBlock.objects.get().text == "first"
