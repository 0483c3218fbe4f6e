"""What opening and finishing a turn cost over HTTP, beside an authenticated request that does nothing else.

    python -m bench turns

The no-op is `GET /me/`: the same middleware, one SELECT by key. The kinds of request take turns on one
connection, so that a busy moment hits all of them alike. Topics of ten turns; every turn is given memories.
"""

from __future__ import annotations

import argparse
import os
import statistics

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection

from bench import sites
from bench.clients import Client
from bench.corpus import Filled, fill
from bench.figures import Figures

TURNS_A_TOPIC = 10
WARM_UP = 20


def play(client: Client, filled: Filled, number: int) -> tuple[int, int]:
    """One turn with everything beside it; how many memories it was given, and how many tokens."""
    slug, speech = filled.project.slug, filled.speech
    client("no-op: GET /me/", "GET", "/me/")
    topic = {"ref": f"topic-{number // TURNS_A_TOPIC}"}
    body = {"topic": topic, "ref": f"t-{number}", "message": speech.sentence(15), "files": ["src/a/b.ts"]}
    opened = client("open a turn", "POST", f"/projects/{slug}/turns/", body)
    client("recall, dry run", "POST", f"/projects/{slug}/recall/", {"message": speech.sentence(15)})
    ending = {"status": "succeeded", "reply": speech.sentence(40)}
    client("finish a turn", "POST", f"/turns/{opened['turn']['id']}/finish/", ending)
    memory = opened["context"]["memory"]
    return len(memory["refs"]), memory["tokens"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--turns", type=int, default=400)
    parser.add_argument("--memories", type=int, default=300)
    asked = parser.parse_args()
    filled = fill("turns", asked.memories)
    with sites.web(dict(os.environ), workers=1) as (_web, url):
        warming = Client(url, filled.key, Figures())
        for number in range(WARM_UP):
            play(warming, filled, number)
        figures = Figures()
        client = Client(url, filled.key, figures)
        given = [play(client, filled, number) for number in range(WARM_UP, WARM_UP + asked.turns)]
        client.close()
    items, tokens = (statistics.median(values) for values in zip(*given, strict=True))
    print(figures.table(f"HTTP, {connection.vendor}, {asked.memories} memories"))
    print(f"  a turn was given {items:.0f} memories, {tokens:.0f} tokens (medians)")


if __name__ == "__main__":
    main()
