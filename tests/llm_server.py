"""An HTTP server that speaks the OpenAI protocol: it says what it was given to say, and keeps what it was asked.

Left alone it answers an extraction's prompt as the rules would, in the shape that the model's name asks for (SHAPES):
so `make fake-llm` serves by hand what the tests script.
"""

from __future__ import annotations

import json
import re
import threading
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from memories.extraction import prompt
from memories.extraction.rules import Rules
from memories.extraction.transcript import Transcript, Turn

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

type Item = dict[str, Any]

CHATTER = "好的，已完成。"


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What the server does with one request. `body` takes the place of the whole completion; `wait_s` passes before
    the first byte, `drip_s` before each further one; `drop` closes the connection without a word.
    """

    content: str | list[Any] | None = None
    finish_reason: str = "stop"
    refusal: str | None = None
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None
    usage: tuple[int, int] = (900, 60)
    wait_s: float = 0.0
    drip_s: float = 0.0
    drop: bool = False

    def bytes(self) -> bytes:
        if self.body is not None:
            return self.body.encode()
        message = {"role": "assistant", "content": self.content, "refusal": self.refusal}
        told = {
            "id": "c-1",
            "object": "chat.completion",
            "created": 0,
            "model": "fake",
            "choices": [{"index": 0, "message": message, "finish_reason": self.finish_reason}],
            "usage": {
                "prompt_tokens": self.usage[0],
                "completion_tokens": self.usage[1],
                "total_tokens": sum(self.usage),
            },
        }
        # Escaped, as JSON may be: a lone surrogate goes over the wire like any other character.
        return json.dumps(told).encode()


def refusal(status: int, message: str, *, code: str = "", headers: dict[str, str] | None = None) -> Answer:
    """An error as the protocol words it."""
    told = {
        "error": {"message": message, "type": "invalid_request_error", "param": None, "code": code or None}
    }
    return Answer(status=status, body=json.dumps(told), headers=headers or {})


# --- Shapes of one and the same answer --------------------------------------------------------------------------


def envelope(items: list[Item]) -> str:
    return json.dumps({"memories": items}, ensure_ascii=False)


def _said(text: Callable[[list[Item]], str], **told: Any) -> Callable[[list[Item]], Answer]:
    return lambda items: Answer(content=text(items), **told)


def _cut_off(items: list[Item]) -> str:
    """The answer with one item more, which breaks off in the middle of a word."""
    last = {**(items[-1] if items else {}), "type": "fact", "content": "the last one is not wh"}
    text = envelope([*items, last])
    return text[: text.index("not wh") + len("not wh")]


def _damaged(items: list[Item]) -> str:
    """As models write it by hand: trailing commas, a comment."""
    lines = ",\n".join(json.dumps(item, ensure_ascii=False)[:-1] + ",}" for item in items)
    return '{"memories": [\n// what I found\n' + lines + ",\n]}"


def _beside_rubbish(items: list[Item]) -> str:
    wrong = {"type": None, "content": 5, "quote": ["no"], "turn": {}, "keywords": 7}
    bent = [{**item, "importance": "high", "keywords": None, "files": 3, "always": "yes"} for item in items]
    return json.dumps({"memories": [None, wrong, *bent, "text"]}, ensure_ascii=False)


def _with_surrogates(items: list[Item]) -> str:
    broken = [{**item, "content": item["content"] + "\ud83d", "key": "\udc00"} for item in items]
    marked = [{**item, "keywords": ["\ud800", "kept"]} for item in items]
    return envelope([*broken, *marked])


SHAPES: dict[str, Callable[[list[Item]], Answer]] = {
    "plain": _said(envelope),
    "nothing": lambda items: Answer(content='{"memories": []}'),
    "fenced": _said(lambda items: f"```json\n{envelope(items)}\n```"),
    "prose": _said(
        lambda items: (
            f"From {{the talk}} [1] I keep:\n\n{envelope(items)}\n\nLet me know {{if}} more is needed!"
        )
    ),
    "thinking": _said(
        lambda items: (
            '<think>Maybe {"memories": [{"type": "fact", "content": "a draft", "quote": "draft"}]}? No.</think>\n'
            + envelope(items)
        )
    ),
    "thinking-unopened": _said(
        lambda items: f'First {{"memories": []}}, but no.\n</think>\n\n{envelope(items)}'
    ),
    "cut-off": _said(_cut_off, finish_reason="length"),
    "cut-off-silently": _said(_cut_off),
    "cut-off-at-once": lambda items: Answer(content='{"memories": [{"type": "fa', finish_reason="length"),
    "bare-object": _said(lambda items: "\n".join(json.dumps(item, ensure_ascii=False) for item in items)),
    "bare-list": _said(lambda items: json.dumps(items, ensure_ascii=False)),
    "damaged": _said(_damaged),
    "beside-rubbish": _said(_beside_rubbish),
    "surrogates": _said(_with_surrogates),
    "in-parts": lambda items: Answer(
        content=[
            {"type": "text", "text": envelope(items)[:20]},
            {"type": "text", "text": envelope(items)[20:]},
        ]
    ),
    "echo": _said(lambda items: envelope([*prompt.EXAMPLE, *items])),
    "refused": lambda items: Answer(refusal="I can't help with that."),
    "filtered": lambda items: Answer(content="", finish_reason="content_filter"),
    "small-talk": lambda items: Answer(content="I'm sorry, but nothing came to my mind."),
    "rubbish": lambda items: Answer(content='{"memories": [null, 5]}'),
    "empty": lambda items: Answer(content=""),
    "null": lambda items: Answer(content=None),
    "no-body": lambda items: Answer(body=""),
    "not-json": lambda items: Answer(body="<html>Welcome</html>"),
    "no-choice": lambda items: Answer(body='{"choices": []}'),
    "rate-limited": lambda items: refusal(429, "Slow down.", headers={"Retry-After": "120"}),
    "server-error": lambda items: refusal(500, "Something broke."),
    "too-long": lambda items: refusal(
        400, "This model's maximum context length is 8192 tokens.", code="context_length_exceeded"
    ),
    "wrong-key": lambda items: refusal(401, "Incorrect API key provided.", code="invalid_api_key"),
    "wrong-model": lambda items: refusal(404, "The model does not exist.", code="model_not_found"),
    "hang": lambda items: Answer(wait_s=600, drop=True),
    "dribble": lambda items: Answer(content=envelope(items), drip_s=0.3),
    "drop": lambda items: Answer(drop=True),
}


# --- What the rules would say to a prompt -----------------------------------------------------------------------


def talk(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The turns in an extraction's prompt, as the model was told them; none in any other request."""
    text = asked["messages"][-1]["content"] if asked["messages"] else ""
    found = re.findall(r"^<talk[^\n]*>\n(.*?)\n</talk>$", text, re.DOTALL | re.MULTILINE)
    return [json.loads(line) for line in found[-1].splitlines()] if found else []


def said(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """The turns in a summary's prompt, as the model was told them; none in any other request."""
    text = asked["messages"][-1]["content"] if asked["messages"] else ""
    found = re.findall(r"^<turns>\n(.*?)\n</turns>$", text, re.DOTALL | re.MULTILINE)
    return [json.loads(line) for line in found[-1].splitlines()] if found else []


def by_rules(asked: dict[str, Any]) -> list[Item]:
    """What the rules find in the prompt's turns, as items of an answer."""
    turns = tuple(
        Turn(
            id=told["id"],
            seq=number,
            message=told.get("user", ""),
            reply=told.get("assistant", ""),
            sent_at=datetime.fromisoformat(told["sent_at"]),
            citable=told.get("cite", False),
        )
        for number, told in enumerate(talk(asked))
    )
    return [
        {
            "type": found.type,
            "content": found.content,
            "quote": found.quote,
            "turn": found.turn_id,
            "role": found.quote_role,
            "key": found.key,
            "replaces": None,
            "importance": found.importance,
            "always": found.always,
            "keywords": list(found.keywords),
            "files": list(found.files),
        }
        for found in Rules().extract(Transcript(turns=turns)).candidates
    ]


# --- The server ---------------------------------------------------------------------------------------------------


class LlmServer(ThreadingHTTPServer):
    """`script` holds answers to be given first, in order; then `reply` is said, or what the rules would.

    `forms`: the response formats it takes; `api_key`: the key that it wants.
    """

    daemon_threads = True

    def __init__(self, reply: str | None = None, *, port: int = 0) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.reply = reply
        self.script: list[Answer] = []
        self.forms: set[str] = {"json_schema", "json_object"}
        self.api_key = ""
        self.asked: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.stopping = threading.Event()

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def answer(self, asked: dict[str, Any], authorization: str) -> Answer:
        key = authorization.removeprefix("Bearer ")
        if self.api_key and key != self.api_key:
            # The protocol's first speaker quotes the key that it turns down.
            return refusal(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")
        form = asked.get("response_format", {}).get("type", "text")
        if form != "text" and form not in self.forms:
            return refusal(400, "This response_format type is unavailable now")
        if self.script:
            return self.script.pop(0)
        if self.reply is not None:
            return Answer(content=self.reply)
        if turns := said(asked):
            return Answer(content="\n".join(f"- {one['turn']}: {one.get('user', '…')}" for one in turns))
        shape = SHAPES.get(asked.get("model", ""), SHAPES["plain"])
        return shape(by_rules(asked)) if talk(asked) else Answer(content=CHATTER)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Callers hang up; that is what is tested."""


class _Handler(BaseHTTPRequestHandler):
    server: LlmServer

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append({"path": self.path, **asked})
        self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
        answer = self.server.answer(asked, self.headers.get("Authorization", ""))
        if answer.wait_s:
            self.server.stopping.wait(answer.wait_s)
        if answer.drop:
            return
        if asked.get("stream") and answer.status == 200:
            self._stream(answer)
            return
        body = answer.bytes()
        self.send_response(answer.status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, value in answer.headers.items():
            self.send_header(name, value)
        self.end_headers()
        if not answer.drip_s:
            self.wfile.write(body)
            return
        for byte in body:
            self.wfile.write(bytes([byte]))
            self.wfile.flush()
            if self.server.stopping.wait(answer.drip_s):
                return

    def _stream(self, answer: Answer) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.end_headers()
        for words in str(answer.content or ""):
            self._send({"choices": [{"index": 0, "delta": {"content": words}, "finish_reason": None}]})
        self._send({"choices": [{"index": 0, "delta": {}, "finish_reason": answer.finish_reason}]})
        self.wfile.write(b"data: [DONE]\n\n")

    def _send(self, chunk: dict[str, Any]) -> None:
        event = {"id": "c-1", "object": "chat.completion.chunk", "model": "fake", **chunk}
        self.wfile.write(f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Tests stay quiet."""


@contextmanager
def llm_server(reply: str | None = None) -> Iterator[LlmServer]:
    """A server for the time of a test; without `reply` it answers as the rules would."""
    with LlmServer(reply) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.stopping.set()
            server.shutdown()
            thread.join()
