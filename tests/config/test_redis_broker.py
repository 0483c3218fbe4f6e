"""A worker outlives its Redis, whatever it had fetched when that went away."""

from __future__ import annotations

import gc
import logging
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
    from collections.abc import Callable, Iterator

    from kombu.message import Message

pytestmark = pytest.mark.skipif(not shutil.which("redis-server"), reason="needs redis-server")
LOGGER = logging.getLogger("worker")
OPTIONS = {"socket_timeout": 1.0, "socket_connect_timeout": 0.5, "max_retries": 0}


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
        gc.collect()  # what a broken channel leaves open is closed by whoever finds it


def fetch_one(connection: Connection) -> Message:
    """Take a message without acknowledging it, then wait for the next one, as a worker does."""
    queue = Queue("work", Exchange("work"), "work")
    channel = connection.default_channel
    connection.Producer(channel).publish("one", routing_key="work", exchange=queue.exchange, declare=[queue])
    fetched: list[Message] = []
    consumer = connection.Consumer([queue], channel=channel, on_message=fetched.append)
    consumer.consume()
    connection.drain_events(timeout=5)
    (message,) = fetched
    channel._brpop_start()
    return message


def test_messages_in_hand_are_let_go_when_their_broker_goes_away(
    redis: tuple[subprocess.Popen[bytes], str], caplog: pytest.LogCaptureFixture
) -> None:
    server, url = redis
    connection = Connection(url, transport_options=OPTIONS)
    message = fetch_one(connection)
    channel, errors = connection.default_channel, connection.connection_errors
    os.kill(server.pid, signal.SIGKILL)
    server.wait()
    # What a worker's consumer does when its connection breaks, as it goes under load: the waiting fails, the channel
    # stays open, the transport is let go, and of what closing then raises only errors of connections are ignored.
    with pytest.raises(errors):
        channel.close()
    connection._do_close_transport()
    ignore_errors(connection, connection.close)
    assert channel.closed
    # The task ends when a new connection is there already: its message can't be acknowledged any more.
    channel._disconnect_pools()
    message.ack_log_error(LOGGER, errors)
    connection.transport.close_channel(channel)
    message.ack_log_error(LOGGER, errors)
    told = [record.levelname for record in caplog.records if record.name == LOGGER.name]
    assert told == ["CRITICAL", "CRITICAL"]
    assert not message.acknowledged


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


@pytest.mark.parametrize(
    "let_go",
    [
        pytest.param(lambda message, errors: message.ack_log_error(LOGGER, errors), id="acknowledged"),
        pytest.param(lambda message, errors: message.reject_log_error(LOGGER, errors), id="rejected"),
        pytest.param(
            lambda message, errors: message.reject_log_error(LOGGER, errors, requeue=True), id="given back"
        ),
    ],
)
def test_a_worker_fetches_on_after_redis_hung_while_a_task_ended(
    redis: tuple[subprocess.Popen[bytes], str],
    caplog: pytest.LogCaptureFixture,
    let_go: Callable[[Message, tuple[type[Exception], ...]], None],
) -> None:
    server, url = redis
    connection = Connection(url, transport_options=OPTIONS)
    channel = connection.default_channel
    channel.basic_qos(0, 1, False)  # one message in hand, as a worker of one process has it
    fetched: list[Message] = []
    queue = Queue("work", Exchange("work"), "work")
    producer = connection.Producer(connection.channel())
    with connection.Consumer([queue], channel=channel, on_message=fetched.append):
        producer.publish("one", routing_key="work", exchange=queue.exchange)
        connection.drain_events(timeout=5)
        server.send_signal(signal.SIGSTOP)
        try:
            let_go(fetched[0], connection.connection_errors)
        finally:
            server.send_signal(signal.SIGCONT)
        assert [record.levelname for record in caplog.records if record.name == LOGGER.name] == ["CRITICAL"]
        producer.publish("two", routing_key="work", exchange=queue.exchange)
        connection.drain_events(timeout=5)
    assert len(fetched) == 2
    connection.close()


def test_the_site_talks_to_redis_through_it() -> None:
    if not settings.CELERY_BROKER_URL.startswith("redis"):
        pytest.skip("the broker is made of files")
    assert type(Connection(settings.CELERY_BROKER_URL).transport).__module__ == "config.redis_broker"
