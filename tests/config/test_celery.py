"""The worker ends with its beat, and begins warm."""

from __future__ import annotations

import os
import signal
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from celery import signals as celery_signals

from config.celery import WatchBeat, app
from memories import tokens

if TYPE_CHECKING:
    from collections.abc import Callable


@pytest.mark.parametrize("is_alive", [True, False], ids=["alive", "dead"])
def test_a_worker_asks_itself_to_end_when_its_beat_is_dead(
    is_alive: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    signals: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "kill", lambda pid, number: signals.append((pid, number)))
    looks: list[Callable[[], None]] = []

    def call_repeatedly(seconds: float, look: Callable[..., None], args: tuple[Any, ...]) -> Any:
        looks.append(lambda: look(*args))
        return SimpleNamespace(cancel=looks.clear)

    worker = SimpleNamespace(
        beat=SimpleNamespace(is_alive=lambda: is_alive),
        timer=SimpleNamespace(call_repeatedly=call_repeatedly),
    )
    watch = WatchBeat(worker)
    assert watch.include_if(worker)
    watch.start(worker)
    looks[0]()
    assert signals == ([] if is_alive else [(os.getpid(), signal.SIGTERM)])
    assert len(looks) == is_alive
    assert WatchBeat in app.steps["worker"]


def test_what_every_child_of_a_worker_needs_is_loaded_before_they_are_forked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tokens, "_loaded", {})
    celery_signals.worker_init.send(sender=None)
    assert list(tokens._loaded) == ["o200k_base"]
