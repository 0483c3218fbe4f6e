"""What the database says when all is quiet, held against what the clients said. In SQL, past the product's own code."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

import MySQLdb

from memories.dedupe import Relation, compare, near_key

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bench.crowd import Said

LIVE = ("active", "disabled", "proposed")
WAITING = """
SELECT (SELECT COUNT(*) FROM chats_topic WHERE project_id = %(project)s AND (distil_pending
          OR distil_due_at IS NOT NULL OR distil_lease_token IS NOT NULL OR distil_lease_until IS NOT NULL)),
       (SELECT COUNT(*) FROM chats_chat WHERE project_id = %(project)s AND parent_id IS NULL
          AND status = 'succeeded' AND distil_outcome IS NULL),
       (SELECT COUNT(*) FROM memories_extraction WHERE project_id = %(project)s AND status = 'running')
"""


@dataclass(frozen=True)
class Turn:
    id: int
    topic: str
    seq: int
    ref: str
    status: str
    outcome: str | None
    extraction: int | None
    memory_refs: str | None
    degraded: str


class Ledger:
    """The rows of one project."""

    def __init__(self, database_url: str, project_id: int) -> None:
        self.url, self.project_id = urlsplit(database_url), project_id

    def rows(self, query: str) -> Sequence[tuple[Any, ...]]:
        connection = MySQLdb.connect(
            host=self.url.hostname,
            port=self.url.port,
            user=self.url.username,
            password=unquote(self.url.password or ""),
            database=self.url.path.strip("/"),
            charset="utf8mb4",
        )
        try:
            cursor = connection.cursor()
            cursor.execute(query, {"project": self.project_id})
            return cursor.fetchall()
        finally:
            connection.close()

    def await_quiet(self, *, within_s: float) -> list[str]:
        """Wait until nothing is due, held, unread or running; what still is when the time is over."""
        deadline = time.monotonic() + within_s
        while True:
            topics, turns, runs = self.rows(WAITING)[0]
            if not (topics or turns or runs):
                return []
            if time.monotonic() > deadline:
                return [
                    f"after {within_s} s: {topics} topics pending or leased, {turns} succeeded turns unread, "
                    f"{runs} runs running"
                ]
            time.sleep(0.1)

    def runs(self) -> Counter[str]:
        """Runs by status, and by kind of error where they failed."""
        query = "SELECT status, error_kind FROM memories_extraction WHERE project_id = %(project)s"
        return Counter(f"{status} ({kind})" if kind else status for status, kind in self.rows(query))

    def taken_over_early(self, *, lease_s: float) -> int:
        """Runs that others took over before their lease can have ended (a second is left for the clock)."""
        query = (
            "SELECT started_at, finished_at FROM memories_extraction"
            " WHERE project_id = %(project)s AND status = 'abandoned'"
        )
        return sum((end - begin).total_seconds() < lease_s - 1 for begin, end in self.rows(query))

    def violations(self, said: Sequence[Said]) -> list[str]:
        """Every promise that the rows break, in words."""
        turns = self._turns()
        return [
            *turns_as_said(turns, said),
            *read_once(turns, self._reads()),
            *contexts(turns),
            *self._only_succeeded_runs_wrote(),
            *self._candidates_of_succeeded_turns(),
            *memories_as_said(self._memories(), said),
            *self._versions(),
        ]

    def _turns(self) -> list[Turn]:
        query = """
            SELECT chat.id, topic.ref, chat.seq, chat.ref, chat.status, chat.distil_outcome, chat.extraction_id,
                   chat.memory_refs, chat.degraded
            FROM chats_chat chat JOIN chats_topic topic ON topic.id = chat.topic_id
            WHERE chat.project_id = %(project)s AND chat.parent_id IS NULL ORDER BY topic.id, chat.seq
        """
        return [Turn(*row) for row in self.rows(query)]

    def _reads(self) -> dict[int, list[tuple[int, str]]]:
        """The runs that read each turn: (id, status)."""
        query = "SELECT id, status, chats_read FROM memories_extraction WHERE project_id = %(project)s"
        reads = defaultdict(list)
        for run, status, chats in self.rows(query):
            for chat in json.loads(chats):
                reads[chat].append((run, status))
        return reads

    def _memories(self) -> list[tuple[int, str, str, str, int | None]]:
        query = """
            SELECT id, status, content, content_hash, source_chat_id FROM memories_memory
            WHERE project_id = %(project)s
        """
        return list(self.rows(query))

    def _only_succeeded_runs_wrote(self) -> list[str]:
        query = """
            SELECT run.id, run.status,
                   (SELECT COUNT(*) FROM memories_candidate WHERE extraction_id = run.id),
                   (SELECT COUNT(*) FROM memories_memory WHERE extraction_id = run.id),
                   (SELECT COUNT(*) FROM chats_chat WHERE extraction_id = run.id)
            FROM memories_extraction run WHERE run.project_id = %(project)s AND run.status <> 'succeeded'
        """
        return [
            f"run {run} is {status}, but left {candidates} candidates, {memories} memories, {chats} turns"
            for run, status, candidates, memories, chats in self.rows(query)
            if candidates or memories or chats
        ]

    def _candidates_of_succeeded_turns(self) -> list[str]:
        query = """
            SELECT chat.ref, chat.status, COUNT(*) FROM memories_candidate candidate
            JOIN chats_chat chat ON chat.id = candidate.chat_id
            WHERE chat.project_id = %(project)s AND chat.status <> 'succeeded' GROUP BY chat.ref, chat.status
        """
        return [f"{ref} {status}, but has {n} candidates" for ref, status, n in self.rows(query)]

    def _versions(self) -> list[str]:
        query = """
            SELECT memory.id, memory.version, COUNT(old.history_id), COUNT(DISTINCT old.version)
            FROM memories_memory memory LEFT JOIN memories_historicalmemory old ON old.id = memory.id
            WHERE memory.project_id = %(project)s GROUP BY memory.id, memory.version
        """
        return [
            f"memory {memory} is version {version}, but its history has {rows} rows of {versions} versions"
            for memory, version, rows, versions in self.rows(query)
            if not version == rows == versions
        ]


def turns_as_said(turns: Sequence[Turn], said: Sequence[Said]) -> list[str]:
    """Every turn is there once, in order, and ended as its client said."""
    found = [(turn.topic, turn.ref, turn.status) for turn in turns]
    wanted = [(one.topic, one.ref, one.ending) for one in said]
    broken = [f"turn {turn} was said, but is not there" for turn in sorted(set(wanted) - set(found))]
    broken += [f"turn {turn} is there, but was not said" for turn in sorted(set(found) - set(wanted))]
    broken += [f"turn {turn} is there {n} times" for turn, n in Counter(found).items() if n > 1]
    numbers = defaultdict(list)
    for turn in turns:
        numbers[turn.topic].append((turn.seq, turn.ref))
    for topic, pairs in numbers.items():
        in_order = [one.ref for one in said if one.topic == topic]
        if [ref for _, ref in pairs] != in_order or [n for n, _ in pairs] != list(range(1, len(pairs) + 1)):
            broken.append(f"{topic} is numbered {pairs}")
    return broken


def read_once(turns: Sequence[Turn], reads: dict[int, list[tuple[int, str]]]) -> list[str]:
    """Every succeeded turn is read by exactly one succeeded run; a failed or cancelled one by none at all."""
    broken = []
    for turn in turns:
        good = [run for run, status in reads[turn.id] if status == "succeeded"]
        if turn.status != "succeeded":
            if reads[turn.id] or turn.extraction or turn.outcome:
                broken.append(f"{turn.ref} {turn.status}, but was read: {reads[turn.id]}, {turn.outcome}")
        elif len(good) != 1 or turn.extraction != good[0] or turn.outcome not in ("read", "nothing"):
            broken.append(
                f"{turn.ref} was read by {len(good)} succeeded runs {good}; it names {turn.extraction}, "
                f"{turn.outcome}"
            )
    return broken


def contexts(turns: Sequence[Turn]) -> list[str]:
    """Every turn got its context, whatever happened between its storing and its recall."""
    return [f"{turn.ref} never got its context" for turn in turns if turn.memory_refs is None]


def memories_as_said(
    memories: Sequence[tuple[int, str, str, str, int | None]], said: Sequence[Said]
) -> list[str]:
    """What was said to be kept is kept once, nothing else is kept, and no two live memories are alike."""
    live = [row for row in memories if row[1] in LIVE]
    contents = Counter(content for _, _, content, _, _ in live)
    wanted = {one.kept for one in said if one.kept}
    broken = [
        f"“{content}” is kept {contents[content]} times"
        for content in sorted(wanted)
        if contents[content] != 1
    ]
    broken += [f"“{content}” is kept, but nobody wanted it" for content in sorted(set(contents) - wanted)]
    hashes = Counter(hashed for _, _, _, hashed, _ in live)
    broken += [f"{n} live memories have the hash {hashed}" for hashed, n in hashes.items() if n > 1]
    alike = Counter(near_key(content) for _, _, content, _, _ in live)
    broken += [f"{n} live memories say nearly the same: {key}" for key, n in alike.items() if n > 1]
    broken += [
        f"“{a}” and “{b}” are {relation}"
        for a, b in combinations(sorted(contents), 2)
        if (relation := compare(a, b)) is not Relation.DIFFERENT
    ]
    # Words of turns of which nothing may be kept, wherever a memory might hold them, superseded or not.
    taboo = {one.word for one in said if not one.kept}
    broken += [
        f"memory {pk} holds words of a turn that is not to be kept: {content}"
        for pk, _, content, _, _ in memories
        if taboo & set(content.split())
    ]
    return broken
