"""The broker made of files: what one process puts, another gets whole."""

from __future__ import annotations

import subprocess
import sys
import time
from queue import Empty
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from kombu import Connection

from config.file_broker import Transport

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MESSAGES = 100
# What takes long to be written down keeps the file that it goes to waiting.
WRITER = """
import sys
from kombu import Connection
import config
options = {f"data_folder_{way}": sys.argv[1] for way in ("in", "out")} | {"control_folder": sys.argv[1]}
with Connection("filesystem://", transport_options=options) as connection:
    channel = connection.channel()
    for number in range(int(sys.argv[2])):
        channel._put("cairn", {"number": number, "filler": [0] * 100_000})
"""


@pytest.fixture
def connection(tmp_path: Path) -> Iterator[Connection]:
    folder = str(tmp_path)
    options = {"data_folder_in": folder, "data_folder_out": folder, "control_folder": folder}
    with Connection("filesystem://", transport_options=options) as connection:
        yield connection


def test_the_site_uses_it(connection: Connection) -> None:
    assert isinstance(connection.transport, Transport)


def test_each_message_is_read_once_and_whole_while_another_process_writes(
    connection: Connection, tmp_path: Path
) -> None:
    channel: Any = connection.channel()
    command = [sys.executable, "-c", WRITER, str(tmp_path), str(MESSAGES)]
    got: list[int] = []
    with subprocess.Popen(command, cwd=settings.BASE_DIR) as writer:
        deadline = time.monotonic() + 60
        while len(got) < MESSAGES and time.monotonic() < deadline:
            try:
                got.append(channel._get("cairn")["number"])
            except Empty:
                if writer.poll() is not None and not list(tmp_path.glob("*.msg")):
                    break
    assert writer.returncode == 0
    assert sorted(got) == list(range(MESSAGES))
    assert list(tmp_path.glob("*.draft")) == []


def test_a_message_that_a_crash_cut_off_is_dropped_and_the_next_one_read(
    connection: Connection, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    channel: Any = connection.channel()
    (tmp_path / "0_cut.cairn.msg").write_text('{"numb')
    channel._put("cairn", {"number": 1})
    assert channel._get("cairn") == {"number": 1}
    assert [record.message for record in caplog.records] == ["a message that was not whole is dropped"]
    with pytest.raises(Empty):
        channel._get("cairn")


def test_queues_are_bound_once_in_a_table_that_is_never_empty(connection: Connection) -> None:
    channel: Any = connection.channel()
    for _ in range(2):
        channel._queue_bind("cairn", "cairn", "", "cairn")
        channel._queue_bind("cairn", "other", "", "other")
    assert [tuple(entry) for entry in channel.get_table("cairn")] == [
        ("other", "", "other"),
        ("cairn", "", "cairn"),
    ]
