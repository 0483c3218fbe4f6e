"""Telling workers is a hint: whatever the broker does, the caller goes on, and soon."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import textwrap
from typing import TYPE_CHECKING

import pytest
from django.conf import settings

from chats import queue
from chats.models import Chat
from tests.chats.turns import finished, opened
from tests.factories import make_project

if TYPE_CHECKING:
    from pathlib import Path

TELL_TWICE = textwrap.dedent(
    """
    import json, time, django
    django.setup()
    from chats import queue
    began = time.monotonic()
    queue.distil(1)
    first = time.monotonic()
    queue.distil(1)
    print(json.dumps([first - began, time.monotonic() - first, queue.breaker.is_open]))
    """
)


@pytest.mark.parametrize("is_there", [False, True], ids=["refuses", "never answers"])
def test_a_broker_that_cannot_be_used_costs_little_and_is_left_alone_for_a_while(
    is_there: bool, tmp_path: Path
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        if not is_there:
            server.close()
        told = subprocess.run(
            [sys.executable, "-c", TELL_TWICE],
            cwd=settings.BASE_DIR,
            env={
                "CAIRN_DATA_DIR": str(tmp_path),
                "CELERY_BROKER_URL": f"redis://127.0.0.1:{port}/0",
                "DJANGO_SETTINGS_MODULE": "config.settings",
            },
            capture_output=True,
            text=True,
            check=True,
        )
    first_s, second_s, is_open = json.loads(told.stdout)
    assert first_s < 1.9
    assert second_s < 0.1
    assert is_open


@pytest.mark.django_db(transaction=True)
def test_finishing_does_not_fail_whatever_telling_a_worker_raises(monkeypatch: pytest.MonkeyPatch) -> None:
    def failing(topic_id: int, *, delay_s: float = 0.0) -> None:
        raise ValueError("nobody expects this")

    monkeypatch.setattr(queue, "distil", failing)
    project = make_project()
    finished(project, opened(project, "以后表格分页一律每页 20 条。").chat)
    assert Chat.objects.get().status == "succeeded"
