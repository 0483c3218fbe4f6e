"""What opening and finishing a turn cost over HTTP, beside an authenticated request that does nothing else.

    make run                                     # in another terminal; it prints a key
    python bench/turns.py --url http://127.0.0.1:8000 --key cairn_… --project shop

Milliseconds depend on the machine; the ratios to `GET /me/` (same middleware, one SELECT by key) say more. Kinds of
request take turns, so that a busy moment hits all of them alike. It leaves one topic behind and deletes it.
"""

import argparse
import http.client
import json
import statistics
import time
import uuid
from typing import Any
from urllib.parse import urlsplit


class Caller:
    def __init__(self, url: str, key: str) -> None:
        self.connection = http.client.HTTPConnection(urlsplit(url).netloc, timeout=30)
        self.headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        self.took: dict[str, list[float]] = {}

    def __call__(self, kind: str, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        payload = json.dumps(body).encode() if body is not None else None
        started = time.perf_counter()
        self.connection.request(method, f"/api/v1{path}", payload, self.headers)
        response = self.connection.getresponse()
        answer = response.read()
        self.took.setdefault(kind, []).append((time.perf_counter() - started) * 1000)
        if response.status >= 400:
            raise SystemExit(f"{method} {path} answered {response.status}: {answer.decode()[:300]}")
        return json.loads(answer) if answer else None


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--url", default="http://127.0.0.1:8000")
    parser.add_argument("--key", required=True)
    parser.add_argument("--project", default="shop")
    parser.add_argument("--turns", type=int, default=100)
    arguments = parser.parse_args()
    call = Caller(arguments.url, arguments.key)
    topic = f"bench-{uuid.uuid4().hex[:8]}"
    topic_id = None
    for number in range(arguments.turns):
        call("no-op (GET /me/)", "GET", "/me/")
        opened = call(
            "open a turn",
            "POST",
            f"/projects/{arguments.project}/turns/",
            {
                "topic": {"ref": topic},
                "ref": f"t-{number}",
                "message": "引用区块的列表页怎么排？ How are lists paged?",
            },
        )
        topic_id = opened["turn"]["topic"]["id"]
        call(
            "finish a turn",
            "POST",
            f"/turns/{opened['turn']['id']}/finish/",
            {"status": "succeeded", "reply": "按 ID 引用。By cursor."},
        )
        call(
            "recall (dry run)",
            "POST",
            f"/projects/{arguments.project}/recall/",
            {"message": "How are lists paged?"},
        )
    call("delete the topic", "DELETE", f"/topics/{topic_id}/")
    no_op = statistics.median(call.took["no-op (GET /me/)"])
    print(f"{'':20} {'n':>5} {'p50 ms':>8} {'p95 ms':>8} {'x no-op':>8}")
    for kind, values in call.took.items():
        middle = statistics.median(values)
        print(
            f"{kind:20} {len(values):5} {middle:8.1f} {percentile(values, 0.95):8.1f} {middle / no_op:8.1f}"
        )


if __name__ == "__main__":
    main()
