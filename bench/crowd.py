"""Many clients of the API at once: what they say, how they say it again when nobody answers, and what it took."""

from __future__ import annotations

import hashlib
import http.client
import json
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

CLIENTS = 12
# A client that gets no answer asks again, with the same refs, for as long as this.
GIVE_UP_S = 90
ONCE_A_TOPIC = "记住：提交前必须运行 lint"
EVERYBODY_SAYS = "我们决定 日志 采用 JSON。"
# What the turns of a topic are, counted from its end. At most four things to distil in ten turns: a run keeps eight.
PATTERN = (
    "statement", "failed statement", "explicit", "directive", "cancelled statement",
    "common explicit", "question", "common statement", "failed explicit", "statement",
)  # fmt: skip


@dataclass(frozen=True)
class Said:
    """One turn as its client meant it. `kept`: the content that must become a memory, exactly once."""

    topic: str
    number: int
    ref: str
    kind: str
    message: str
    ending: str
    kept: str
    # A word that stands in this turn alone.
    word: str


def say(seed: str, topic: int, number: int, turns: int) -> Said:
    """The turn of that number, always the same."""
    kind = PATTERN[(turns - 1 - number) % len(PATTERN)]
    ending, _, what = kind.rpartition(" ") if kind.startswith(("failed", "cancelled")) else ("", "", kind)
    subject, value = (_word(f"{seed}-{topic}-{number}-{part}") for part in ("subject", "value"))
    message = {
        "statement": f"我们决定 {subject} 采用 {value}。",
        "explicit": f"记住：{subject} 模块必须使用 {value}",
        "directive": f"以后 {subject} 一律使用 {value}。",
        "question": f"{subject} 的列表怎么排？",
        "common explicit": ONCE_A_TOPIC,
        "common statement": EVERYBODY_SAYS,
    }[what]
    content = message.removeprefix("记住：").removeprefix("以后 ").rstrip("。")
    # What is said explicitly stays, whatever becomes of its turn.
    kept = "" if what == "question" or (ending and what != "explicit") else content
    return Said(
        topic=f"topic-{topic}",
        number=number,
        ref=f"turn-{topic}-{number}",
        kind=kind,
        message=message,
        ending=ending or "succeeded",
        kept=kept,
        word=subject,
    )


def _word(text: str) -> str:
    """A pronounceable word that no other text has: identical identifiers would make claims contradict each other."""
    digest = hashlib.blake2b(text.encode(), digest_size=5).digest()
    return "".join("bcdfghjklmnpqrst"[byte >> 4] + "aeiouaeiouaeioua"[byte & 15] for byte in digest)


class GaveUp(Exception):
    """The site did not answer for too long, or with something that no retry mends."""


@dataclass
class Crowd:
    """The clients of one project."""

    url: str
    slug: str
    key: str
    topics: int
    turns: int
    # By kind of request, the milliseconds of the attempt that was answered; `meanwhile` is added to the kind.
    took: dict[str, list[float]] = field(default_factory=dict)
    meanwhile: str = ""
    # Attempts that were not answered with a success, by what happened instead.
    troubles: Counter[str] = field(default_factory=Counter)
    topic_ids: dict[int, int] = field(default_factory=dict)
    # Answers of finishing that said `repeated`, by topic.
    repeated: Counter[int] = field(default_factory=Counter)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def said(self) -> list[Said]:
        return [
            say(self.slug, topic, number, self.turns)
            for topic in range(self.topics)
            for number in range(self.turns)
        ]

    def send(
        self, numbers: Iterable[int], *, before_finish: Callable[[int, int], None] | None = None
    ) -> None:
        """Send the turns of these numbers, of all topics, as fast as the site answers.

        Within a topic one after the other; topics take turns, so that all of them last. `before_finish` is told
        topic and number. Raises GaveUp.
        """
        wanted = list(numbers)

        def work(share: int) -> None:
            client = _Client(self)
            for number in wanted:
                for topic in range(share, self.topics, CLIENTS):
                    self._turn(client, topic, number, before_finish)
            client.connection.close()

        with ThreadPoolExecutor(CLIENTS) as pool:
            for job in [pool.submit(work, share) for share in range(CLIENTS)]:
                job.result()

    def _turn(
        self, client: _Client, topic: int, number: int, before_finish: Callable[[int, int], None] | None
    ) -> None:
        said = say(self.slug, topic, number, self.turns)
        body = {"topic": {"ref": said.topic}, "ref": said.ref, "message": said.message}
        opened = client("open", f"/projects/{self.slug}/turns/", body)
        self.topic_ids[topic] = opened["turn"]["topic"]["id"]
        if before_finish:
            before_finish(topic, number)
        ending = {"status": said.ending, "reply": "好的。" if said.ending == "succeeded" else ""}
        finished = client("finish", f"/turns/{opened['turn']['id']}/finish/", ending)
        if finished["repeated"]:
            with self._lock:
                self.repeated[topic] += 1

    def note(self, kind: str, ms: float) -> None:
        with self._lock:
            self.took.setdefault(kind + self.meanwhile, []).append(ms)

    def trouble(self, what: str) -> None:
        with self._lock:
            self.troubles[what] += 1


class _Client:
    """One connection that stays open, and what an agent service does when it breaks: the same again."""

    def __init__(self, crowd: Crowd) -> None:
        self.crowd = crowd
        self.connection = http.client.HTTPConnection(urlsplit(crowd.url).netloc, timeout=30)
        self.headers = {"Authorization": f"Bearer {crowd.key}", "Content-Type": "application/json"}

    def __call__(self, kind: str, path: str, body: dict[str, Any]) -> Any:
        payload = json.dumps(body).encode()
        deadline = time.monotonic() + GIVE_UP_S
        while True:
            started = time.perf_counter()
            try:
                self.connection.request("POST", f"/api/v1{path}", payload, self.headers)
                response = self.connection.getresponse()
                status, answer = response.status, response.read()
            except (OSError, http.client.HTTPException) as error:
                self.connection.close()
                status, answer = 0, type(error).__name__.encode()
            if status in (200, 201):
                self.crowd.note(kind, (time.perf_counter() - started) * 1000)
                return json.loads(answer)
            self.crowd.trouble(f"{kind}: {status or answer.decode()}")
            if (status and status < 500) or time.monotonic() > deadline:
                raise GaveUp(f"{kind} answered {status}: {answer.decode()[:500]}")
            time.sleep(0.1)
