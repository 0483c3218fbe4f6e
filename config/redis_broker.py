"""The broker Redis, whose loss a worker survives.

A worker whose connection broke still has messages in hand: it acknowledges them on the old channel when their tasks
end, or gives them back when it closes it. kombu then asks a connection that is no more for its address, and the
AttributeError, which nobody expects, ends the worker. Here it is told as what it is, a connection lost: that everybody
who acknowledges or closes expects. Redis, if it still has the messages, delivers them again.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis


class Channel(redis.Channel):
    def _connparams(self, asynchronous: bool = False) -> Any:
        transport: Any = self.connection
        base: Any = super()
        if transport is None or transport.client is None:
            raise ConnectionError("The channel's connection to Redis is gone.")
        return base._connparams(asynchronous=asynchronous)


class Transport(redis.Transport):
    Channel = Channel
