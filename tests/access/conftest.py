from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.db import connection, transaction

from projects import transactions
from tests.access.routes import ROUTES
from tests.access.world import World, make_world

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pytest_django import DjangoDbBlocker


class Outermost:
    """The connection as `atomic_retry` would find it if the test were in no transaction.

    So what a service does in its outermost transaction goes into a savepoint, and is rolled back when the
    service refuses, as it is where requests have no transaction around them.
    """

    def __init__(self) -> None:
        self._around = len(connection.atomic_blocks)

    @property
    def in_atomic_block(self) -> bool:
        return len(connection.atomic_blocks) > self._around

    @property
    def vendor(self) -> str:
        return connection.vendor


@pytest.fixture(scope="package")
def made(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[World]:
    """One world for all tests here: each runs in a savepoint of the transaction that holds it."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield make_world(route.scopes for route in ROUTES)
        transaction.set_rollback(True)


@pytest.fixture
def world(made: World, db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(transactions, "connection", Outermost())
    return made
