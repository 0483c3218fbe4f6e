"""A caller of the API on one connection that stays open, as an agent service keeps it."""

from __future__ import annotations

import http.client
import json
import time
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from bench.figures import Figures


class Refused(Exception):
    """The site answered with an error; the message says which."""


class Client:
    def __init__(self, url: str, key: str, figures: Figures) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=60)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.figures = figures

    def __call__(self, kind: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        payload = json.dumps(body).encode() if body is not None else None
        started = time.perf_counter()
        self.connection.request(method, f"/api/v1{path}", payload, self.headers)
        response = self.connection.getresponse()
        answer = response.read()
        ms = (time.perf_counter() - started) * 1000
        if response.status >= 400:
            raise Refused(f"{method} {path} answered {response.status}: {answer.decode()[:300]}")
        self.figures.add(kind, ms)
        return json.loads(answer) if answer else None

    def close(self) -> None:
        self.connection.close()
