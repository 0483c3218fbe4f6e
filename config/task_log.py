"""One line for each task: what ran, for which topic, what came of it, how long it took, and which request caused it.

Celery calls these in the process that runs the task; of one whose process was killed, the worker itself tells.
"""

from __future__ import annotations

import inspect
import logging
import time
from typing import Any

from billiard.einfo import ExceptionInfo
from billiard.exceptions import WorkerLostError
from celery import Task, signals
from celery.exceptions import SoftTimeLimitExceeded
from celery.worker.request import Request

from projects.http import request_id

logger = logging.getLogger(__name__)

# How Celery calls the ends of a task, in our words.
OUTCOMES = {"SUCCESS": "succeeded", "FAILURE": "failed", "RETRY": "retried", "IGNORED": "succeeded"}
_started: dict[str, float] = {}
_errors: dict[str, str] = {}


class LoggedRequest(Request):
    """A message that the worker works on. Its process may be killed, and then tells nothing any more."""

    def on_timeout(self, soft: bool, timeout: float) -> None:
        super().on_timeout(soft, timeout)
        if not soft:
            self._tell("timed_out", "TimeLimitExceeded")

    def on_failure(
        self, exc_info: ExceptionInfo, send_failed_event: bool = True, return_ok: bool = False
    ) -> None:
        super().on_failure(exc_info, send_failed_event, return_ok)
        error = exc_info.exception
        if isinstance(getattr(error, "exc", error), WorkerLostError):
            self._tell("lost", WorkerLostError.__name__)

    def _tell(self, outcome: str, error: str) -> None:
        request_id.begin(caused_by(self.request_dict))
        began = self.time_start
        write(
            self.task,
            task_id=self.id,
            args=self.args,
            kwargs=self.kwargs,
            outcome=outcome,
            ms=(time.time() - began) * 1000 if began else None,
            retries=self.request_dict.get("retries") or 0,
            error=error,
        )


class LoggedTask(Task):
    Request = f"{LoggedRequest.__module__}:{LoggedRequest.__qualname__}"


def write(
    task: Any,
    *,
    task_id: str,
    args: Any,
    kwargs: Any,
    outcome: str,
    ms: float | None,
    retries: int,
    error: str | None = None,
) -> None:
    told: dict[str, Any] = {
        "task": task.name,
        "task_id": task_id,
        "outcome": outcome,
        "ms": None if ms is None else round(ms, 1),
        **_ids(task, args, kwargs),
        "retries": retries,
        "error": error,
    }
    level = logging.ERROR if error and outcome != "retried" else logging.INFO
    logger.log(level, "task", extra={name: value for name, value in told.items() if value is not None})


def caused_by(headers: Any) -> str:
    """The id of the request that asked for the task, empty where none did (the sweep, the beat)."""
    sent = headers.get(request_id.HEADER) if isinstance(headers, dict) else None
    return sent if isinstance(sent, str) else ""


@signals.task_prerun.connect
def _begin(task_id: str, task: Any, **kwargs: Any) -> None:
    # One that nothing caused gets an id of its own, and so do the tasks that it causes.
    request_id.begin(caused_by(task.request.headers))
    _started[task_id] = time.perf_counter()


@signals.task_failure.connect
@signals.task_retry.connect
def _note_error(exception: Any = None, task_id: str = "", reason: Any = None, **kwargs: Any) -> None:
    # Celery wraps what made a task try again.
    error = exception or getattr(reason, "exc", None) or reason
    task_id = task_id or getattr(kwargs.get("request"), "id", "")
    if task_id in _started and isinstance(error, BaseException):
        _errors[task_id] = type(error).__name__


@signals.task_postrun.connect
def _end(task_id: str, task: Any, args: Any, kwargs: Any, state: str | None = None, **_kwargs: Any) -> None:
    began = _started.pop(task_id, None)
    error = _errors.pop(task_id, None)
    if state is None:
        # The process is being ended; the worker tells.
        return
    is_late = error == SoftTimeLimitExceeded.__name__
    write(
        task,
        task_id=task_id,
        args=args,
        kwargs=kwargs,
        outcome="timed_out" if is_late else OUTCOMES.get(state, "failed"),
        ms=None if began is None else (time.perf_counter() - began) * 1000,
        retries=task.request.retries or 0,
        error=error,
    )


def _ids(task: Any, args: Any, kwargs: Any) -> dict[str, int]:
    """What the task is about: its arguments called `…_id`, by that name without the end."""
    try:
        given = inspect.signature(task.run).bind(*args, **kwargs).arguments
    except TypeError:
        return {}
    return {
        name.removesuffix("_id"): value
        for name, value in given.items()
        if name.endswith("_id") and isinstance(value, int)
    }
