"""The broker Redis, whose loss a worker survives.

A worker whose connection broke still has messages in hand: it acknowledges them on the old channel when their tasks
end, or gives them back when it closes it. kombu then asks a connection that is no more for its address, and the
AttributeError, which nobody expects, ends the worker. Here it is told as what it is, a connection lost: that everybody
who acknowledges or closes expects.

And a message that could not be acknowledged, because Redis hung just then, would count as in hand for ever: a worker
that may have one of them in hand never fetched another. Here it counts as done. Redis, if it still has these messages,
delivers them again; what is done twice changes nothing.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis


class QoS(redis.QoS):
    _dirty: set[str]

    def ack(self, delivery_tag: str) -> None:
        try:
            super().ack(delivery_tag)
        finally:
            self._dirty.add(delivery_tag)

    def reject(self, delivery_tag: str, requeue: bool = False) -> None:
        try:
            super().reject(delivery_tag, requeue=requeue)
        finally:
            self._dirty.add(delivery_tag)


class Channel(redis.Channel):
    QoS = QoS

    def _connparams(self, asynchronous: bool = False) -> Any:
        transport: Any = self.connection
        base: Any = super()
        if transport is None or transport.client is None:
            raise ConnectionError("The channel's connection to Redis is gone.")
        return base._connparams(asynchronous=asynchronous)


class Transport(redis.Transport):
    Channel = Channel
