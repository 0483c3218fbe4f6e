"""The broker Redis, whose loss a worker survives.

A worker that had fetched messages and was waiting for more when Redis went away closes its channel twice: the first
time fails on the waiting, the second gives the messages back over a connection that is no more, which kombu does not
expect, and the worker ends. Here they are let go: Redis, if it still has them, delivers them again, and the sweep finds
what they were about.
"""

from __future__ import annotations

from typing import Any

from kombu.transport import redis


class QoS(redis.QoS):
    def restore_unacked(self, client: Any = None) -> Any:
        transport: Any = self.channel.connection
        delivered: Any = self._delivered
        if client is None and (transport is None or transport.client is None):
            delivered.clear()
            return None
        return super().restore_unacked(client)


class Channel(redis.Channel):
    QoS = QoS


class Transport(redis.Transport):
    Channel = Channel
