"""Eight clients at once with all kinds of requests, a worker distilling meanwhile: throughput, p95, errors, memory.

    python -m bench load

Each client plays turns: a third of them says something to remember or to distil; between turns it recalls, lists
memories and adds one. Exits with 1 if any request failed, or if the processes grew after the first half
of the time, in which they warm up.
"""

from __future__ import annotations

import argparse
import os
import sys
import threading
import time

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from django.db import connection

from bench import sites
from bench.clients import Client, Refused
from bench.corpus import Filled, Speech, fill
from bench.figures import Figures, percentile
from chats.models import Topic
from memories.models import Extraction, Memory

CLIENTS = 8
# Growth that is no leak: caches fill, and the project itself grows by what the clients add to it.
ALLOWED_GROWTH = 0.10
# A shorter run says nothing about memory.
WARM_S = 45


class Agent(threading.Thread):
    """One client: an agent service that holds a conversation after another until it is told to stop."""

    def __init__(self, number: int, url: str, filled: Filled, stop: threading.Event) -> None:
        super().__init__(name=f"agent-{number}", daemon=True)
        self.number, self.slug, self.stop = number, filled.project.slug, stop
        self.figures, self.errors = Figures(), list[str]()
        self.client = Client(url, filled.key, self.figures)
        self.speech = Speech(seed=100 + number)

    def run(self) -> None:
        turn = 0
        while not self.stop.is_set():
            try:
                self.play(turn)
            except (Refused, OSError) as error:
                self.errors.append(repr(error))
            turn += 1
        self.client.close()

    def play(self, turn: int) -> None:
        say, words = self.client, self.speech.sentence
        kind, message = "open", words(15)
        match turn % 6:
            case 1:
                kind, message = "open, explicit", f"Remember: {words(8)} {self.number}-{turn}."
            case 4:
                message = f"We use {words(2)} for {words(2)} {self.number}-{turn}. {words(6)}"
        body = {"topic": {"ref": f"load-{self.number}-{turn // 10}"}, "ref": f"t-{turn}", "message": message}
        opened = say(kind, "POST", f"/projects/{self.slug}/turns/", body)
        say("recall", "POST", f"/projects/{self.slug}/recall/", {"message": words(12)})
        ending = {"status": "failed" if turn % 10 == 7 else "succeeded", "reply": words(40)}
        say("finish", "POST", f"/turns/{opened['turn']['id']}/finish/", ending)
        if turn % 3 == 0:
            say("list memories", "GET", f"/projects/{self.slug}/memories/?limit=20")
        if turn % 6 == 5:
            memory = {"type": "fact", "content": f"{words(10)} {self.number}-{turn}"}
            say("add a memory", "POST", f"/projects/{self.slug}/memories/", memory)


def report(agents: list[Agent], seconds: float) -> int:
    """Print what the clients saw; how many requests failed."""
    kinds = sorted({kind for agent in agents for kind in agent.figures.took})
    print(f"load, {connection.vendor}, {CLIENTS} clients, {seconds:.0f} s")
    print(f"  {'':16} {'n':>7} {'a second':>9} {'p50 ms':>8} {'p95 ms':>8}")
    together: list[float] = []
    for kind in kinds:
        took = [ms for agent in agents for ms in agent.figures.took.get(kind, [])]
        together += took
        _line(kind, took, seconds)
    _line("all", together, seconds)
    errors = [error for agent in agents for error in agent.errors]
    print(f"  errors: {len(errors)}", *errors[:5], sep="\n    " if errors else "")
    return len(errors)


def _line(kind: str, took: list[float], seconds: float) -> None:
    middle, late = percentile(took, 0.5), percentile(took, 0.95)
    print(f"  {kind:16} {len(took):7} {len(took) / seconds:9.1f} {middle:8.1f} {late:8.1f}")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--memories", type=int, default=300)
    asked = parser.parse_args()
    filled = fill("load", asked.memories)
    environment = dict(os.environ)
    stop = threading.Event()
    with sites.worker(environment) as worker, sites.web(environment, workers=2) as (web, url):
        agents = [Agent(number, url, filled, stop) for number in range(CLIENTS)]
        held = {"at start": (web.kilobytes(), worker.kilobytes())}
        began = time.perf_counter()
        for agent in agents:
            agent.start()
        time.sleep(asked.seconds / 2)
        held["after warm-up"] = (web.kilobytes(), worker.kilobytes())
        time.sleep(asked.seconds - (time.perf_counter() - began))
        held["at the end"] = (web.kilobytes(), worker.kilobytes())
        stop.set()
        for agent in agents:
            agent.join(timeout=60)
        seconds = time.perf_counter() - began
        failed = report(agents, seconds)
        for program in (web, worker):
            program.check()
        if failed:
            print(web.log.read_text(errors="replace")[-4000:])
        waiting = Topic.objects.filter(distil_due_at__isnull=False).count()
    runs = Extraction.objects.count()
    live = Memory.objects.of(filled.project).live().count()
    print(f"  the worker ended {runs} runs, {waiting} topics wait; memories: {asked.memories} → {live}")
    for moment, (of_web, of_worker) in held.items():
        print(f"  memory {moment:14} web {of_web / 1024:6.0f} MB   worker {of_worker / 1024:6.0f} MB")
    warm, last = held["after warm-up"], held["at the end"]
    grown = [(after - before) / before for before, after in zip(warm, last, strict=True)]
    print(f"  growth after the warm-up: web {grown[0]:+.1%}, worker {grown[1]:+.1%}")
    # A process that has just begun still loads what it will need.
    is_leaking = asked.seconds >= WARM_S and max(grown) > ALLOWED_GROWTH
    return int(failed > 0 or is_leaking)


if __name__ == "__main__":
    sys.exit(main())
