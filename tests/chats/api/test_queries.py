"""What opening a turn costs the database.

Counted are the statements that Django sends on the connection during the request, authentication included
and BEGIN, COMMIT, SAVEPOINT and RELEASE left out, for a key whose use was noted within the last minute (it is
noted once a minute, by one UPDATE more), in a process whose recall index of the project is warm.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from chats.models import Chat
from tests.factories import make_memory

if TYPE_CHECKING:
    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project
    from tests.chats.api.agent import Agent

pytestmark = pytest.mark.django_db(transaction=True)
TRANSACTIONS = ("BEGIN", "COMMIT", "SAVEPOINT", "RELEASE SAVEPOINT")


def statements(queries: CaptureQueriesContext) -> list[str]:
    """`SELECT projects_apikey`, `INSERT chats_chat` …: the verb and the first table."""
    told = []
    for query in queries.captured_queries:
        # Many rows at once are told as "12 times: INSERT …".
        sql = re.sub(r"\A\d+ times: ", "", query["sql"].replace('"', "").replace("`", ""))
        if not sql.startswith(TRANSACTIONS):
            words = sql.split()
            verb = words[0]
            place = {"SELECT": "FROM", "INSERT": "INTO", "UPDATE": "UPDATE"}[verb]
            told.append(f"{verb} {words[words.index(place) + 1]}")
    return told


def test_opening_a_turn_takes_eleven_queries(agent: Agent, project: Project) -> None:
    make_memory(project, "Amounts are stored in cents.", always=True)
    for number in range(5):
        make_memory(project, f"Order table number {number} shows twenty rows.")
    agent.turn("From now on use pnpm.", reply="Fine.")
    for _ in range(3):
        agent.turn("Show the order table.", reply="Shown.")
    with CaptureQueriesContext(connection) as queries:
        body = agent.open("Show the order table once more.", files=["src/orders.vue"])
    assert len(body["context"]["memory"]["refs"]) == 6
    assert len(body["context"]["history"]) == 8
    assert len(body["context"]["instructions"]) == 1
    assert statements(queries) == [
        "SELECT projects_apikey",
        "SELECT projects_project",
        "SELECT chats_topic",
        "SELECT chats_chat",
        "INSERT chats_chat",
        "SELECT chats_instruction",
        "SELECT projects_project",
        "UPDATE chats_chat",
        "INSERT memories_recallblock",
        "INSERT memories_recall",
        "INSERT memories_recallitem",
    ]


def test_a_long_topic_costs_no_more_and_its_oldest_turn_is_known_again(
    agent: Agent, project: Project, settings: SettingsWrapper
) -> None:
    settings.HISTORY_MAX_TURNS = 3
    make_memory(project, "Amounts are stored in cents.", always=True)
    first = agent.open("Begin.", ref="req-first")["turn"]["id"]
    for number in range(4):
        agent.turn(f"Step {number}.")
    with CaptureQueriesContext(connection) as queries:
        agent.open("Show the amounts.")
    assert len(statements(queries)) == 11
    again = agent.send("Begin.", ref="req-first")
    assert (again.status_code, again.json()["turn"]["id"]) == (200, first)
    assert Chat.objects.count() == 6
