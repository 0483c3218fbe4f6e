from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest

from chats import queue
from config import logs
from tests.canary.rows import Log

if TYPE_CHECKING:
    from collections.abc import Iterator


@pytest.fixture(autouse=True)
def _no_worker(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if "processes" not in request.node.path.name:
        monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)


@pytest.fixture
def log() -> Iterator[Log]:
    """Every line that the site would write."""
    yield from _listening(logging.INFO)


@pytest.fixture
def debug_log() -> Iterator[Log]:
    """Also what libraries tell when they debug."""
    yield from _listening(logging.DEBUG)


def _listening(level: int) -> Iterator[Log]:
    root, before = logging.getLogger(), logging.getLogger().level
    handler = Log()
    handler.setFormatter(logs.formatter(form="json"))
    root.addHandler(handler)
    root.setLevel(level)
    yield handler
    root.setLevel(before)
    root.removeHandler(handler)
