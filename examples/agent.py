"""An agent with project memory, in one file: open the turn → assemble the prompt → stream the reply → finish.

    pip install httpx
    export CAIRN_URL=http://127.0.0.1:8000 CAIRN_KEY=cairn_… CAIRN_PROJECT=shop
    export LLM_BASE_URL=https://…/v1 LLM_API_KEY=… LLM_MODEL=…      # any OpenAI-compatible endpoint
    python examples/agent.py --topic conv-1 "记住：页面引用区块要用区块ID。现在做登录页"

Memory helps, but must never stand in the way: Cairn gets 0.3 s to connect and 2 s in all. When it does not
answer, the agent goes on without memory and keeps the turn in an outbox, to report it afterwards.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import httpx

NEEDED = ("CAIRN_URL", "CAIRN_KEY", "CAIRN_PROJECT", "LLM_BASE_URL", "LLM_MODEL")
CONNECT_S, TOTAL_S = 0.3, 2.0
STATIC_INSTRUCTIONS = "You are a careful software engineer. Answer in the language of the user."


class Unavailable(Exception):
    """Cairn did not answer in time or cannot answer now: go on without it."""


class Cairn:
    """The few calls that an agent needs. Every one ends within TOTAL_S."""

    def __init__(self, url: str, key: str, project: str) -> None:
        self.project = project
        self.http = httpx.Client(
            base_url=f"{url.rstrip('/')}/api/v1",
            headers={"Authorization": f"Bearer {key}", "Accept-Language": "zh-hans, en;q=0.8"},
            timeout=httpx.Timeout(TOTAL_S, connect=CONNECT_S),
        )

    def open_turn(self, turn: dict[str, Any]) -> dict[str, Any]:
        return self._post(f"/projects/{self.project}/turns/", turn)

    def finish_turn(self, turn_id: int, ending: dict[str, Any]) -> dict[str, Any]:
        return self._post(f"/turns/{turn_id}/finish/", ending)

    def _post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        # httpx limits each read, not the whole; a thread that is not waited for any longer limits the whole.
        answer: list[httpx.Response | httpx.HTTPError] = []

        def send() -> None:
            try:
                answer.append(self.http.post(path, json=body))
            except httpx.HTTPError as error:
                answer.append(error)

        sender = threading.Thread(target=send, daemon=True)
        sender.start()
        sender.join(TOTAL_S)
        if not answer:
            raise Unavailable("no answer in time")
        response = answer[0]
        if isinstance(response, httpx.HTTPError):
            raise Unavailable(str(response) or type(response).__name__)
        if response.status_code >= 500 or response.status_code == 429:
            raise Unavailable(f"status {response.status_code}")
        # Anything else that is wrong (a key, a field) is a mistake to be seen, not a time to go on quietly.
        response.raise_for_status()
        body_of: dict[str, Any] = response.json()
        return body_of


@dataclass
class Outbox:
    """Turns that Cairn has not heard of, a JSON line each. Sending one twice is safe: its ref is the same."""

    path: Path

    def keep(self, turn: dict[str, Any]) -> None:
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(turn, ensure_ascii=False) + "\n")

    def send(self, cairn: Cairn) -> int:
        """Report what waits, oldest first, until Cairn does not answer. Returns how many left the outbox.

        What Cairn answers but refuses will never go: it is set aside beside the outbox, for a person.
        """
        if not self.path.exists():
            return 0
        waiting = self.path.read_text(encoding="utf-8").splitlines()
        sent = 0
        try:
            for line in waiting:
                try:
                    cairn.open_turn(json.loads(line))
                except httpx.HTTPStatusError as error:
                    say(f"[a turn was refused with status {error.response.status_code} and set aside]")
                    with self.path.with_suffix(".refused").open("a", encoding="utf-8") as file:
                        file.write(line + "\n")
                sent += 1
        except Unavailable:
            pass  # The next turn tries again.
        if rest := waiting[sent:]:
            self.path.write_text("\n".join(rest) + "\n", encoding="utf-8")
        else:
            self.path.unlink()
        return sent


def assemble(context: dict[str, Any] | None, message: str) -> list[dict[str, str]]:
    """Where each part goes. What stays the same comes first: providers cache that prefix."""
    memory = (context or {}).get("memory") or {}
    context = context or {}
    stable = [STATIC_INSTRUCTIONS, memory.get("always", "")]
    messages = [{"role": "system", "content": "\n\n".join(part for part in stable if part)}]
    for line in context.get("history", []):
        messages.append({"role": line["role"], "content": line["content"]})
    # What belongs to this turn alone stands right before the message, the rules of the topic first.
    rules = "\n".join(f"- {rule['content']}" for rule in context.get("instructions", []))
    for_this_turn = [
        f"In this conversation:\n{rules}" if rules else "",
        memory.get("relevant", ""),
        context.get("summary") or "",
        *(episode["content"] for episode in context.get("episodes", [])),
    ]
    if any(for_this_turn):
        messages.append({"role": "system", "content": "\n\n".join(part for part in for_this_turn if part)})
    messages.append({"role": "user", "content": message})
    return messages


def stream_reply(messages: list[dict[str, str]]) -> Iterator[str]:
    """The model's words as they come, from any endpoint that speaks the OpenAI protocol."""
    request = {"model": os.environ["LLM_MODEL"], "messages": messages, "stream": True}
    with httpx.stream(
        "POST",
        f"{os.environ['LLM_BASE_URL'].rstrip('/')}/chat/completions",
        json=request,
        headers={"Authorization": f"Bearer {os.environ.get('LLM_API_KEY', '')}"},
        timeout=httpx.Timeout(120, connect=10),
    ) as response:
        response.raise_for_status()
        for line in response.iter_lines():
            if not line.startswith("data:") or line.removeprefix("data:").strip() == "[DONE]":
                continue
            for choice in json.loads(line.removeprefix("data:"))["choices"]:
                if words := choice["delta"].get("content"):
                    yield words


def run(topic: str, message: str, *, author: str, outbox: Outbox) -> int:
    cairn = Cairn(os.environ["CAIRN_URL"], os.environ["CAIRN_KEY"], os.environ["CAIRN_PROJECT"])
    turn: dict[str, Any] = {
        "topic": {"ref": topic},
        # Our own id: the same request sent twice is the same turn.
        "ref": uuid.uuid4().hex,
        "message": message,
        "author": {"ref": author, "name": author},
        "sent_at": datetime.now().astimezone().isoformat(),
    }
    opened: dict[str, Any] | None = None
    try:
        outbox.send(cairn)
        opened = cairn.open_turn(turn)
        for item in opened["remembered"]:
            say(f"[{item['outcome']}] {(item['memory'] or {}).get('content', '')}")
        for item in opened["refused"]:
            say(f"[refused] {item['message']} {item['text']}")
    except Unavailable as error:
        say(f"[no memory this time: {error}]")

    reply, status = "", "succeeded"
    try:
        for words in stream_reply(assemble(opened["context"] if opened else None, message)):
            reply += words
            print(words, end="", flush=True)
        print()
    except (httpx.HTTPError, KeyboardInterrupt) as error:
        status = "cancelled" if isinstance(error, KeyboardInterrupt) else "failed"
        say(f"[{status}: {error}]")

    try:
        if opened is None:
            raise Unavailable("the turn was never opened")
        finished = cairn.finish_turn(opened["turn"]["id"], {"status": status, "reply": reply})
        say(f"[{finished['receipt']['text']}]")
    except Unavailable:
        # A turn that already happened: opened with its ending at once, under the same ref.
        outbox.keep({**turn, "status": status, "reply": reply})
    return 0 if status == "succeeded" else 1


def say(line: str) -> None:
    print(line, file=sys.stderr)


def main() -> int:
    parser = argparse.ArgumentParser(description="One turn of an agent with project memory.")
    parser.add_argument("message")
    parser.add_argument("--topic", default="example", help="your id of the conversation")
    parser.add_argument("--author", default=os.environ.get("USER", "me"))
    parser.add_argument("--outbox", type=Path, default=Path("cairn-outbox.jsonl"))
    arguments = parser.parse_args()
    if missing := [name for name in NEEDED if not os.environ.get(name)]:
        parser.error(f"set {', '.join(missing)} in the environment, as the head of this file shows")
    try:
        return run(
            arguments.topic, arguments.message, author=arguments.author, outbox=Outbox(arguments.outbox)
        )
    except httpx.HTTPStatusError as error:
        # The body says what is wrong: a problem of RFC 9457.
        sys.exit(f"Cairn refused with status {error.response.status_code}: {error.response.text}")


if __name__ == "__main__":
    sys.exit(main())
