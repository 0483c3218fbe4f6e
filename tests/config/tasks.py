"""Tasks that end in every way a task can; a worker of tests/config/test_task_log.py runs them."""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from celery import current_app, shared_task
from django.db import IntegrityError

SECRET = "canary7731"
# How long a worker waits for a process that is gone.
current_app.conf.worker_lost_wait = 0.5


@shared_task(name="tests.succeed")
def succeed(topic_id: int, said: str) -> None:
    pass


@shared_task(name="tests.fail")
def fail(topic_id: int, said: str) -> None:
    raise IntegrityError(1062, f"Duplicate entry '{said}'")


@shared_task(name="tests.try_again", bind=True, max_retries=1)
def try_again(self: Any, topic_id: int, said: str) -> None:
    try:
        raise ValueError(said)
    except ValueError as error:
        raise self.retry(exc=error, countdown=0) from error


@shared_task(name="tests.dawdle", soft_time_limit=1)
def dawdle(topic_id: int, said: str) -> None:
    time.sleep(30)


@shared_task(name="tests.hang", time_limit=1)
def hang(topic_id: int, said: str) -> None:
    time.sleep(30)


# Not taken again: it would die again.
@shared_task(name="tests.die", acks_late=False, reject_on_worker_lost=False)
def die(topic_id: int, said: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
