"""An agent service that talks to the API, as tests need one."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rest_framework.response import Response
    from rest_framework.test import APIClient

_numbers = itertools.count(1)


@dataclass
class Agent:
    client: APIClient
    slug: str = "shop"

    def post(self, path: str, body: dict[str, Any] | None = None, **headers: str) -> Response:
        return self.client.post(f"/api/v1/{path}", body or {}, headers=headers)

    def get(self, path: str, **parameters: Any) -> Response:
        return self.client.get(f"/api/v1/{path}", parameters)

    def send(self, message: str, *, topic: str = "conv-1", language: str = "en", **body: Any) -> Response:
        """Open a turn, whatever the answer."""
        body = {"topic": {"ref": topic}, "ref": f"req-{next(_numbers)}", "message": message} | body
        return self.post(f"projects/{self.slug}/turns/", body, **{"Accept-Language": language})

    def open(self, message: str, **body: Any) -> dict[str, Any]:
        answer = self.send(message, **body)
        assert answer.status_code == 201, answer.content
        return answer.json()

    def finish(
        self, turn: int, *, status: str = "succeeded", reply: str = "Done.", language: str = "en", **body: Any
    ) -> dict[str, Any]:
        body = {"status": status, "reply": reply} | body
        answer = self.post(f"turns/{turn}/finish/", body, **{"Accept-Language": language})
        assert answer.status_code == 200, answer.content
        return answer.json()

    def turn(self, message: str, *, status: str = "succeeded", reply: str = "Done.", **body: Any) -> int:
        """A whole turn; its id."""
        turn = self.open(message, **body)["turn"]["id"]
        self.finish(turn, status=status, reply=reply)
        return turn
