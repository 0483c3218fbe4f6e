"""The first requests of a process come at once, and none of them may fail for it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

from django.conf import settings

ALL_AT_ONCE = textwrap.dedent(
    """
    import threading, django
    django.setup()
    from projects.http import throttling

    together, told = threading.Barrier(8), []

    def ask():
        together.wait()
        try:
            throttling._tally("redis://127.0.0.1:1/0")
            told.append("made")
        except Exception as error:
            told.append(type(error).__name__)

    threads = [threading.Thread(target=ask) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print(*told)
    """
)


def test_threads_that_ask_for_redis_at_once_all_get_it() -> None:
    told = subprocess.run(
        [sys.executable, "-c", ALL_AT_ONCE],
        cwd=settings.BASE_DIR,
        env={**os.environ, "DJANGO_SETTINGS_MODULE": "config.settings"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert told.stdout.split() == ["made"] * 8
