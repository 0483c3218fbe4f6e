"""Many at once: threads that are let go at one moment, each with a database connection of its own."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from django.db import connection, connections

from tests.chats.api.agent import Agent

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from rest_framework.response import Response
    from rest_framework.test import APIClient

THREADS = 16
WAIT_S = 60


def rounds() -> Iterator[int]:
    """How often a race is run. SQLite lets one writer in at a time, so that each round would be the same one."""
    return iter(range(1 if connection.vendor == "sqlite" else 3))


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """What each act returned or, if it raised, the exception; in their order."""
    barrier = threading.Barrier(len(acts))

    def run(act: Callable[[], Any]) -> Any:
        try:
            connection.ensure_connection()
            barrier.wait(WAIT_S)
            return act()
        except Exception as error:
            return error
        finally:
            connections.close_all()

    with ThreadPoolExecutor(len(acts)) as pool:
        return list(pool.map(run, acts))


def told(answers: Sequence[Response]) -> dict[tuple[int, str], int]:
    """How many answers have which status and, if refused, which code."""
    counts: dict[tuple[int, str], int] = {}
    for answer in answers:
        if isinstance(answer, Exception):
            raise answer
        body = answer.json() if answer.content else {}
        kind = (answer.status_code, body.get("code", ""))
        counts[kind] = counts.get(kind, 0) + 1
    return counts


@dataclass
class Callers:
    """THREADS clients of one project: agents with its key, and its owner with a session for each thread."""

    agents: list[Agent]
    people: list[APIClient]

    def of_agents(self, act: Callable[[Agent, int], Response]) -> list[Response]:
        return at_once(*(_bound(act, agent, number) for number, agent in enumerate(self.agents)))

    def of_people(self, act: Callable[[APIClient, int], Response]) -> list[Response]:
        return at_once(*(_bound(act, person, number) for number, person in enumerate(self.people)))


def _bound(act: Callable[[Any, int], Response], caller: Any, number: int) -> Callable[[], Response]:
    return lambda: act(caller, number)
