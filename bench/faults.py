"""Many topics at once on a real site, and then the same with things going wrong. In the end everything must add up.

    make faults                                  # 50 topics × 20 turns a scenario
    python -m bench.faults --short               # 6 × 10, the way CI does it
    python -m bench.faults "worker killed"

gunicorn, four workers, a beat, MariaDB and Redis are started for it and thrown away. Every
scenario has a project of its own. Exit status 1 when anything is lost, doubled, left over, or answered with a
failure that the scenario does not excuse.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import django
from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()

from bench.crowd import Crowd, GaveUp
from bench.figures import percentile
from bench.fleet import WORKERS, Fleet, Pace, fleet
from bench.ledger import Ledger
from tests.llm_server import SHAPES, llm_server, refusal

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path


@dataclass(frozen=True, kw_only=True)
class Size:
    """How much is said, how long an outage lasts, how patiently the end is awaited."""

    topics: int
    turns: int
    outage_s: float
    quiet_within_s: float
    pace: Pace


FULL = Size(
    topics=50,
    turns=20,
    outage_s=10,
    quiet_within_s=240,
    pace=Pace(sweep_every_s=2, lease_s=20, idle_transaction_s=10),
)
SHORT = Size(
    topics=6,
    turns=10,
    outage_s=2,
    quiet_within_s=60,
    pace=Pace(sweep_every_s=0.5, lease_s=6, idle_transaction_s=3, back_off_s=(0.5, 1, 2), pause_s=1),
)


def holds_within(seconds: float, condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@dataclass
class Play:
    """One scenario under way: who talks, what can be hurt, and what was seen."""

    site: Fleet
    size: Size
    crowd: Crowd
    ledger: Ledger
    seen: list[str] = field(default_factory=list)
    broken: list[str] = field(default_factory=list)
    # How many programs were killed whole; none may end otherwise.
    killed: int = 0

    def expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self.broken.append(otherwise)

    @property
    def halves(self) -> tuple[range, range]:
        middle = self.size.turns // 2
        return range(middle), range(middle, self.size.turns)

    @contextmanager
    def meanwhile(self, job: Callable[[], None]) -> Iterator[None]:
        """Do the job in a thread while the block runs; what it raises is raised at the end."""
        raised: list[BaseException] = []

        def work() -> None:
            try:
                job()
            except BaseException as error:
                raised.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield
        finally:
            thread.join()
        if raised:
            raise raised[0]

    def runs_of(self, topic_id: int, status: str) -> set[int]:
        query = f"SELECT id FROM memories_extraction WHERE topic_id = {topic_id} AND status = '{status}'"  # noqa: S608
        return {pk for (pk,) in self.ledger.rows(query)}

    def excuse_nothing(self) -> None:
        self.expect(not self.crowd.troubles, f"requests failed: {dict(self.crowd.troubles)}")


# --- What goes wrong -----------------------------------------------------------------------------------------


# Nobody dies here: a run is taken over only if it outlives its lease.
UNDISTURBED = ("calm", "messages doubled")


def calm(play: Play) -> None:
    """Nothing goes wrong, and no request fails."""
    play.crowd.send(range(play.size.turns))
    play.excuse_nothing()


PLACES = ("claimed", "reading", "locked", "written", "telling")


def worker_killed(play: Play) -> None:
    """Workers are killed by SIGKILL at every step of a run: whole, as by a power cut, and one process alone."""

    struck: Counter[int] = Counter()

    def kill() -> None:
        for place in PLACES:
            for whom in ("group", "process"):
                # A turn that three runs in a row do not survive is given up, and rightly so.
                spared = [str(topic) for topic, blows in struck.items() if blows == 2]
                order = play.site.order(f"worker-{place}", f"KILL {whom} {','.join(spared)}")
                _, topic = play.site.await_blow(order)
                struck[topic] += 1
                play.killed += whom == "group"
                play.seen.append(f"SIGKILL of a worker's {whom}, topic {topic} {place}")

    with play.meanwhile(kill):
        for number in range(play.size.turns):
            play.crowd.send([number])
            # Slowly enough for a run, or what is left of it, between two turns.
            time.sleep(play.size.pace.sweep_every_s)
    play.excuse_nothing()


def web_killed(play: Play) -> None:
    """The web process dies between a commit and what comes after it. The client asks again, with the same refs.

    In opening, before anything is recalled; in finishing, before a worker is told. Of the latter each topic's last turn
    is struck, so that no later message makes up for it.
    """
    last = play.size.turns - 1
    struck = [topic for topic in range(play.size.topics) if topic % 3 == 0]
    one_at_a_time = threading.Lock()

    def see(order: Path, what: str) -> None:
        pid, topic_id = play.site.await_blow(order)
        play.killed += 1
        play.seen.append(f"SIGKILL of web process {pid}, topic {topic_id} {what}")

    def kill_after_commit(topic: int, number: int) -> None:
        if number == last and topic in struck:
            one_at_a_time.acquire()
            order = play.site.order("web-telling", "KILL group", topic_id=play.crowd.topic_ids[topic])

            def watch() -> None:
                try:
                    see(order, "finished and not told")
                finally:
                    one_at_a_time.release()

            threading.Thread(target=watch).start()

    first, second = play.halves
    order = play.site.order("web-recalling", "KILL group")
    with play.meanwhile(lambda: see(order, "opened and not recalled")):
        play.crowd.send(first)
    play.crowd.send(second, before_finish=kill_after_commit)
    with one_at_a_time:
        play.expect(play.killed == len(struck) + 1, f"{play.killed} of {len(struck) + 1} kills took place")
    missed = [topic for topic in struck if not play.crowd.repeated[topic]]
    play.expect(not missed, f"the turn was not committed before the kill in topics {missed}")


def redis_stopped(play: Play) -> None:
    """Redis is away for a while: finishing answers 200 all the same, and at once."""
    play.crowd.send(play.halves[0])
    play.site.services("stop", "redis")
    try:
        _send_through_outage(play)
    finally:
        play.site.services("start", "redis")
    play.excuse_nothing()


def redis_hangs(play: Play) -> None:
    """Redis keeps its connections and answers nothing: a request waits for it once, then nobody asks any more."""
    play.crowd.send(play.halves[0])
    pid = play.site.services.pid("redis")
    os.kill(pid, signal.SIGSTOP)
    try:
        usual_ms = _send_through_outage(play)
    finally:
        os.kill(pid, signal.SIGCONT)
    # Waiting for it takes a second.
    play.expect(usual_ms < 900, f"half of all finishes take {usual_ms:.0f} ms: they wait for Redis")
    play.excuse_nothing()


def _send_through_outage(play: Play) -> float:
    """Send the second half of the turns, and wait until the outage has lasted; the usual time of finishing, in ms."""
    began = time.monotonic()
    play.crowd.meanwhile = " meanwhile"
    play.crowd.send(play.halves[1])
    took_s = time.monotonic() - began
    time.sleep(max(0.0, play.size.outage_s - took_s))
    play.seen.append(
        f"away for {time.monotonic() - began:.1f} s; the turns of the second half took {took_s:.1f} s"
    )
    return percentile(play.crowd.took["finish meanwhile"], 0.5)


def redis_emptied(play: Play) -> None:
    """Redis loses all it knew, and the workers die with what they had fetched: only the database knows what is due."""
    first, second = play.halves
    play.crowd.send(first)
    play.site.halt(*WORKERS)
    play.crowd.send(second)
    # Without append-only file and snapshots it comes back empty.
    play.site.services("kill", "redis")
    play.site.services("start", "redis")
    play.seen.append("Redis killed with every message in it")
    play.site.resume(*WORKERS)
    play.excuse_nothing()


def mariadb_restarted(play: Play) -> None:
    """MariaDB is stopped and started, then killed and started, under load. Clients ask again with the same refs."""

    def restart() -> None:
        for how in ("stop", "kill"):
            time.sleep(play.size.outage_s / 4)
            play.site.services(how, "mariadb")
            time.sleep(play.size.outage_s / 4)
            play.site.services("start", "mariadb")
            play.seen.append(f"MariaDB {how} and start")

    with play.meanwhile(restart):
        for number in range(play.size.turns):
            play.crowd.send([number])
            time.sleep(play.size.outage_s / play.size.turns)
    unexpected = set(play.crowd.troubles) - {
        f"{kind}: {what}" for kind in ("open", "finish") for what in ("503",)
    }
    play.expect(not unexpected, f"answered otherwise than 503: {dict(play.crowd.troubles)}")


def lease_outlived(play: Play) -> None:
    """A worker is stopped in mid-run until its lease is over and others have read the turns; then it goes on."""
    _stopped_when(play, "reading")


def lock_outlived(play: Play) -> None:
    """A worker is stopped with project and topic locked. The database lets them go, and nobody's request fails."""
    _stopped_when(play, "locked")


def _stopped_when(play: Play, place: str) -> None:
    play.crowd.send(play.halves[0])
    order = play.site.order(f"worker-{place}", "STOP group")
    with play.meanwhile(lambda: play.crowd.send(play.halves[1])):
        pid, topic = play.site.await_blow(order)
        held = play.runs_of(topic, "running")
    play.broken += play.ledger.await_quiet(within_s=play.size.quiet_within_s)
    os.killpg(os.getpgid(pid), signal.SIGCONT)
    # It finds out when it comes to its last transaction.
    time.sleep(2)
    taken_over = held & play.runs_of(topic, "abandoned")
    play.seen.append(f"a worker stopped when {place}, until its run was abandoned; then it went on")
    play.expect(bool(taken_over), f"of the runs {held} of topic {topic} none was taken over")
    play.excuse_nothing()


def power_cut(play: Play) -> None:
    """Everything dies at once: web, workers, beat, Redis, MariaDB. Clients ask again until the site is back."""

    def cut() -> None:
        time.sleep(play.size.outage_s / 4)
        play.site.halt(*play.site.programs)
        for name in ("redis", "mariadb"):
            play.site.services("kill", name)
        for name in ("redis", "mariadb"):
            play.site.services("start", name)
        play.site.resume(*play.site.programs)
        play.seen.append("all killed, and started again")

    with play.meanwhile(cut):
        for number in range(play.size.turns):
            play.crowd.send([number])
            time.sleep(play.size.outage_s / play.size.turns)
    play.expect(bool(play.crowd.troubles), "nobody noticed")


def messages_doubled(play: Play) -> None:
    """Every topic is named to the workers again and again, whether anything of it is due or not."""
    over = threading.Event()
    sent = 0

    def storm() -> None:
        nonlocal sent
        with Celery(broker=play.site.environment["CELERY_BROKER_URL"], set_as_current=False) as broker:
            while not over.is_set():
                for topic_id in list(play.crowd.topic_ids.values()):
                    broker.send_task("chats.distil", args=[topic_id], queue="cairn")
                    sent += 1
                time.sleep(0.05)

    with play.meanwhile(storm):
        try:
            play.crowd.send(range(play.size.turns))
        finally:
            over.set()
    play.seen.append(f"{sent} messages that nobody asked for")
    play.excuse_nothing()


def provider_fails(play: Play) -> None:
    """A model reads the turns; its provider limits, breaks, hangs, hangs up, is down for long and answers rubbish."""

    def is_left_alone() -> bool:
        return play.ledger.rows("SELECT COUNT(*) FROM memories_breaker WHERE opened_at IS NOT NULL") != (
            (0,),
        )

    with llm_server() as provider:
        settings = {"EXTRACTION_BACKEND": "llm", "LLM_BASE_URL": provider.base_url, "LLM_MODEL": "plain"}
        with play.site.equipped(*WORKERS, **settings):
            first, second = play.halves
            provider.script += [refusal(429, "Slow down.", headers={"Retry-After": "1"})]
            provider.script += [SHAPES[shape]([]) for shape in ("server-error", "hang", "drop")]
            play.crowd.send(first)
            # Five failures in a row, whoever meets them, and nobody asks any more.
            provider.script += [refusal(503, "Overloaded.")] * 8
            play.crowd.send(second)
            play.expect(
                holds_within(play.size.quiet_within_s, is_left_alone), "a provider that is down is asked on"
            )
            asked = len(provider.asked)
            # When it is back it says nothing that can be read, twice; then it is well.
            provider.script[:] = [SHAPES["small-talk"]([]), SHAPES["cut-off-at-once"]([])]
            play.broken += play.ledger.await_quiet(within_s=play.size.quiet_within_s)
            play.seen.append(
                f"{asked} questions until the provider was left alone, {len(provider.asked)} in all"
            )
    failures = [what for what in play.ledger.runs() if what.startswith("failed")]
    play.expect(
        {"failed (provider_down)", "failed (unparsable)"} <= set(failures), f"runs failed as {failures}"
    )
    play.excuse_nothing()


SCENARIOS: dict[str, Callable[[Play], None]] = {
    scenario.__name__.replace("_", " "): scenario
    for scenario in (
        calm, worker_killed, web_killed, redis_stopped, redis_hangs, redis_emptied, mariadb_restarted,
        lease_outlived, lock_outlived, power_cut, messages_doubled,
        provider_fails,
    )
}  # fmt: skip


# --- How it ends ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    name: str
    seconds: float
    crowd: Crowd
    seen: list[str]
    runs: Counter[str]
    violations: list[str]

    def __str__(self) -> str:
        turns = self.crowd.topics * self.crowd.turns
        lines = [f"{self.name}: {turns} turns, {self.seconds:.1f} s"]
        lines += [
            f"  {kind}: {len(took)} · p50 {percentile(took, 0.5):.0f} · p95 {percentile(took, 0.95):.0f}"
            f" · max {max(took):.0f} ms"
            for kind, took in sorted(self.crowd.took.items())
        ]
        lines.append("  runs: " + ", ".join(f"{n} {what}" for what, n in sorted(self.runs.items())))
        if self.crowd.troubles:
            lines.append(
                "  asked again: " + ", ".join(f"{n} × {what}" for what, n in self.crowd.troubles.items())
            )
        lines += [f"  · {what}" for what in self.seen]
        lines += [f"  VIOLATION: {what}" for what in self.violations[:20]]
        if len(self.violations) > 20:
            lines.append(f"  and {len(self.violations) - 20} more")
        if not self.violations:
            lines.append("  nothing lost, nothing doubled, nothing left over")
        return "\n".join(lines)


def play(site: Fleet, name: str, size: Size) -> Report:
    """One scenario to its end, and what it came to."""
    slug = slug_of(name)
    project_id, key = site.projects[slug]
    crowd = Crowd(site.url, slug, key, size.topics, size.turns)
    ledger = Ledger(site.environment["DATABASE_URL"], project_id)
    stage = Play(site, size, crowd, ledger)
    began, deaths = time.monotonic(), len(site.deaths)
    try:
        SCENARIOS[name](stage)
    except (GaveUp, TimeoutError) as error:
        stage.broken.append(f"the scenario could not be played: {error}")
    seconds = time.monotonic() - began
    stage.broken += ledger.await_quiet(within_s=size.quiet_within_s)
    stage.broken += ledger.violations(crowd.said())
    ended = site.deaths[deaths:]
    stage.expect(len(ended) == stage.killed, f"{stage.killed} programs were killed, these ended: {ended}")
    if name in UNDISTURBED:
        early = ledger.taken_over_early(lease_s=size.pace.lease_s)
        stage.expect(early == 0, f"{early} runs were taken over while their lease ran")
    return Report(name, seconds, crowd, stage.seen, ledger.runs(), stage.broken)


def slug_of(name: str) -> str:
    return name.replace(" ", "-")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", choices=[*SCENARIOS, []], help="default: all")
    parser.add_argument("--short", action="store_true", help="few turns and short waits, as CI does it")
    asked = parser.parse_args()
    # Else whoever ends this program would leave its servers running.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    size = SHORT if asked.short else FULL
    names = asked.scenarios or list(SCENARIOS)
    failed = 0
    with fleet([slug_of(name) for name in names], size.pace) as site:
        for name in names:
            report = play(site, name, size)
            print(report, flush=True)
            if report.violations:
                failed += 1
                print(site.logs(), file=sys.stderr)
    print(f"{len(names) - failed} of {len(names)} scenarios held")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
