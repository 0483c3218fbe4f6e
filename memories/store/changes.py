"""What belongs together: all that one call of the store writes is one change, and is taken back as one."""

from __future__ import annotations

import functools
import secrets
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_current: ContextVar[str] = ContextVar("change", default="")


@contextmanager
def one_change() -> Iterator[None]:
    """Whatever is saved within belongs to one change; to the outer one, if there is one."""
    if _current.get():
        yield
        return
    before = _current.set(secrets.token_hex(16))
    try:
        yield
    finally:
        _current.reset(before)


def token() -> str:
    """The change that is being made; a save of its own is a change of its own."""
    return _current.get() or secrets.token_hex(16)


def verb[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """A function of the store that is one transaction (see `atomic_retry`) and one change."""
    transaction = atomic_retry(function)

    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with one_change():
            return transaction(*args, **kwargs)

    return run
