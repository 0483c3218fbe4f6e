"""Transactions that survive a deadlock."""

from __future__ import annotations

import functools
import random
import time
from typing import TYPE_CHECKING

from django.db import OperationalError, connection, transaction

if TYPE_CHECKING:
    from collections.abc import Callable

ATTEMPTS = 5
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
        for attempt in range(1, ATTEMPTS + 1):
            try:
                with transaction.atomic():
                    return function(*args, **kwargs)
            except OperationalError as error:
                if attempt == ATTEMPTS or not _is_retriable(error):
                    raise
                time.sleep(random.uniform(0.005, 0.02) * 2**attempt)  # noqa: S311 (spreads retries, no secret)
        raise AssertionError("unreachable")

    return run


def _is_retriable(error: OperationalError) -> bool:
    if connection.vendor == "mysql":
        return bool(error.args) and error.args[0] in _MYSQL_RETRIABLE
    return "locked" in str(error)
