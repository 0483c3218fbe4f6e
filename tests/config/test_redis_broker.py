"""A worker outlives its Redis, whatever it had fetched when that went away."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from kombu import Connection, Exchange, Queue
from kombu.common import ignore_errors

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.skipif(not shutil.which("redis-server"), reason="needs redis-server")


@pytest.fixture
def redis() -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A Redis that a test may kill, and its address."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        port = found.getsockname()[1]
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 10
        while True:
            try:
                socket.create_connection(("127.0.0.1", port), timeout=1).close()
                break
            except OSError:
                assert time.monotonic() < deadline
                time.sleep(0.05)
        yield server, f"redis://127.0.0.1:{port}/0"
    finally:
        server.kill()
        server.wait()


def fetch_one(connection: Connection) -> None:
    """Take a message without acknowledging it, then wait for the next one, as a worker does."""
    queue = Queue("work", Exchange("work"), "work")
    channel = connection.default_channel
    connection.Producer(channel).publish("one", routing_key="work", exchange=queue.exchange, declare=[queue])
    fetched: list[object] = []
    consumer = connection.Consumer([queue], channel=channel, callbacks=[lambda body, m: fetched.append(body)])
    consumer.consume()
    connection.drain_events(timeout=5)
    assert fetched == ["one"]
    channel._brpop_start()


def test_a_broker_that_goes_away_with_messages_in_hand_is_let_go(
    redis: tuple[subprocess.Popen[bytes], str],
) -> None:
    server, url = redis
    options = {"socket_timeout": 1.0, "socket_connect_timeout": 0.5, "max_retries": 0}
    connection = Connection(url, transport_options=options)
    assert type(connection.transport).__module__ == "config.redis_broker"
    fetch_one(connection)
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    channel = connection.default_channel
    # What a worker's consumer does when its connection breaks, as it goes under load: the waiting fails, the channel
    # stays open, the transport is let go, and of what closing then raises only errors of connections are ignored.
    with pytest.raises(connection.connection_errors):
        channel.close()
    connection._do_close_transport()
    ignore_errors(connection, connection.close)
    assert channel.closed


def test_messages_in_hand_go_back_to_a_broker_that_is_there(
    redis: tuple[subprocess.Popen[bytes], str],
) -> None:
    connection = Connection(redis[1])
    fetch_one(connection)
    connection.close()
    with Connection(redis[1]) as another:
        fetched: list[object] = []
        queue = Queue("work", Exchange("work"), "work")
        with another.Consumer([queue], callbacks=[lambda body, m: (fetched.append(body), m.ack())]):
            another.drain_events(timeout=5)
    assert fetched == ["one"]


def test_the_site_talks_to_redis_through_it() -> None:
    if not settings.CELERY_BROKER_URL.startswith("redis"):
        pytest.skip("the broker is made of files")
    assert type(Connection(settings.CELERY_BROKER_URL).transport).__module__ == "config.redis_broker"
