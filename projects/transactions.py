"""Transactions that survive a deadlock."""

from __future__ import annotations

import functools
import logging
import random
import time
from typing import TYPE_CHECKING

from django.db import IntegrityError, OperationalError, connection, transaction

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.db import models

logger = logging.getLogger(__name__)

ATTEMPTS = 5
# No attempt begins later than this after the first: a caller who waits gives up some time.
BUDGET_S = 20.0
# MySQL: deadlock, lock wait timeout. Both roll the statement or the whole transaction back.
_MYSQL_RETRIABLE = (1213, 1205)


def atomic_retry[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Run `function` in a transaction; if it is the outermost one and deadlocks, run it again.

    A deadlock rolls back everything, so only the outermost transaction can be retried: inside another one
    the error passes through. `function` must therefore have no effect outside the database.
    """

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        if connection.in_atomic_block:
            return function(*args, **kwargs)
        began = time.monotonic()
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except OperationalError as error:
                is_last = attempt == ATTEMPTS or time.monotonic() - began > BUDGET_S
                if is_last or not _is_retriable(error):
                    raise
                logger.info("deadlock in %s, attempt %s", function.__qualname__, attempt)
                time.sleep(random.uniform(0.005, 0.02) * 2**attempt)  # noqa: S311 (spreads retries, no secret)
        raise AssertionError("unreachable")

    return run


def delete_whole(row: models.Model) -> dict[str, int]:
    """Delete a row and all that hangs on it, inside the caller's transaction; how many rows of each model.

    Django first collects what hangs on the row, then deletes. What another transaction adds in between makes
    the database refuse; it is collected again.
    """
    for _ in range(ATTEMPTS):
        try:
            with transaction.atomic():
                return row.delete()[1]
        except IntegrityError:
            logger.info("rows were added to %s while it was deleted", row._meta.label)
    return row.delete()[1]


def _is_retriable(error: OperationalError) -> bool:
    if connection.vendor == "mysql":
        return bool(error.args) and error.args[0] in _MYSQL_RETRIABLE
    return "locked" in str(error)
