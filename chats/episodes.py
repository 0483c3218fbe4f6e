"""Episodes: finished turns of other topics, found by the words that their digests were filed under.

Two queries: the newest turns of each term, from the index alone, and the rows of the best of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.db import connection

from chats import digests
from chats.given import GivenEpisode
from chats.intent import question
from chats.models import Chat, EpisodeTerm
from memories.extraction import gist
from memories.tokens import count

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime

    from projects.models import Project

MAX_GIVEN = 5
# What a question is about may stand beside it.
MIN_ASKED = 2
# "Go on" in a new topic: so many of the latest turns, looked for among so many.
MAX_LATEST = 2
LATEST_READ = 50
# How many of the best by words are read, and how much what was said lately or in the same area is worth.
MAX_READ = 100
RECENCY, HALF_LIFE_DAYS = 0.15, 30.0
SAME_AREA = 1.1
# How many turns' digests one transaction writes.
BATCH = 20

_COLUMNS = ("digest", "digest_tokens", "sent_at", "topic__ref", "topic__title", "topic__area", "topic__id")


# --- Found -------------------------------------------------------------------------------------------------


def find(chat: Chat, words: str, *, room: int, now: datetime) -> tuple[GivenEpisode, ...]:
    """The turns of the project's other topics that `words` ask for, best first: at most MAX_GIVEN, within `room`
    tokens, whole; nothing where nothing is relevant.
    """
    asked = digests.asked_for(question(words))
    if len(asked) < MIN_ASKED:
        # "I am at the invoices. What did we decide?"
        asked = digests.asked_for(words)
    if not asked or room <= 0:
        return ()
    postings = _postings(chat.project_id, [digests.number_of(term) for term in asked])
    best = digests.ranked(asked, postings)[:MAX_READ]
    turns = _tellable(chat).in_bulk([turn for turn, _ in best])
    scored = [(share * _nearness(turns[pk], chat, now), pk) for pk, share in best if pk in turns]
    return _packed([turns[pk] for _, pk in sorted(scored, reverse=True)], limit=MAX_GIVEN, room=room)


def latest(chat: Chat, *, room: int) -> tuple[GivenEpisode, ...]:
    """What the author of `chat` (anybody, if nobody is named) did last in another topic, newest first."""
    newest = Chat.objects.turns().filter(project_id=chat.project_id).exclude(topic_id=chat.topic_id)
    read = newest.order_by("-pk").values_list("pk", "topic_id", "author_ref")[:LATEST_READ]
    of_author = [row for row in read if not chat.author_ref or row[2] == chat.author_ref]
    if not of_author:
        return ()
    same_topic = [pk for pk, topic, _ in of_author if topic == of_author[0][1]]
    turns = _tellable(chat).in_bulk(same_topic)
    return _packed([turns[pk] for pk in same_topic if pk in turns], limit=MAX_LATEST, room=room)


def given(ids: Sequence[int]) -> tuple[GivenEpisode, ...]:
    """Episodes by their turns, in this order; those that are gone or erased are left out."""
    turns = Chat.objects.select_related("topic").filter(digest_tokens__gt=0).in_bulk(ids) if ids else {}
    return tuple(_given(turns[pk]) for pk in ids if pk in turns)


def _tellable(chat: Chat) -> Any:
    """Digested turns of the other topics of the project, with what an episode tells."""
    return (
        Chat.objects.filter(
            project_id=chat.project_id,
            status=Chat.ChatStatus.SUCCEEDED,
            origin=Chat.Origin.HUMAN,
            digest_tokens__gt=0,
            erased_at=None,
        )
        .exclude(topic_id=chat.topic_id)
        .select_related("topic")
        .only(*_COLUMNS)
    )


def _postings(project_id: int, numbers: Sequence[int]) -> Mapping[int, list[int]]:
    """The newest turns that have a term, by term."""
    table = connection.ops.quote_name(EpisodeTerm._meta.db_table)
    # One range of the index each, read backwards. SQLite takes a LIMIT only within brackets of its own.
    one = (
        "SELECT * FROM (SELECT term, chat_id FROM {table} WHERE project_id = %s AND term = %s"
        " ORDER BY chat_id DESC LIMIT {limit}) AS t{number}"
    )
    sql = " UNION ALL ".join(
        one.format(table=table, limit=digests.MAX_POSTINGS, number=number) for number in range(len(numbers))
    )
    found: dict[int, list[int]] = {}
    with connection.cursor() as cursor:
        cursor.execute(sql, [value for number in numbers for value in (project_id, number)])
        for term, turn in cursor.fetchall():
            found.setdefault(term, []).append(turn)
    return found


def _nearness(turn: Chat, chat: Chat, now: datetime) -> float:
    """What a turn's score is multiplied by for having been said lately, and in the same area."""
    age_days = max((now - turn.sent_at).total_seconds(), 0.0) / 86_400
    recency: float = 1 - RECENCY + RECENCY * 0.5 ** (age_days / HALF_LIFE_DAYS)
    area = chat.topic.area
    return recency * (SAME_AREA if area and turn.topic.area == area else 1.0)


def _packed(turns: Iterable[Chat], *, limit: int, room: int) -> tuple[GivenEpisode, ...]:
    """What fits, in this order; of equal digests the first."""
    chosen: dict[str, GivenEpisode] = {}
    for turn in turns:
        cost = turn.digest_tokens or 0
        if len(chosen) < limit and cost <= room and turn.digest not in chosen:
            chosen[turn.digest] = _given(turn)
            room -= cost
    return tuple(chosen.values())


def _given(turn: Chat) -> GivenEpisode:
    return GivenEpisode(
        turn=turn.pk,
        topic=turn.topic_id,
        # Whoever opened that topic named it; here it comes before another topic's agent.
        topic_ref=turn.topic.ref if gist.is_keepable(turn.topic.ref) else "",
        topic_title=gist.named(turn.topic.title),
        sent_at=turn.sent_at,
        content=turn.digest,
        tokens=turn.digest_tokens or 0,
    )


# --- Kept --------------------------------------------------------------------------------------------------


def undigested(topic_id: int) -> Any:
    """Succeeded turns of a person that have no digest yet. What was said while memory was off gets none."""
    return (
        Chat.objects.turns()
        .filter(
            topic_id=topic_id,
            status=Chat.ChatStatus.SUCCEEDED,
            origin=Chat.Origin.HUMAN,
            digest_tokens=None,
            erased_at=None,
        )
        .exclude(distil_outcome=Chat.DistilOutcome.MEMORY_OFF)
    )


def read(turn: Chat, *, title: str) -> tuple[str, tuple[int, ...]]:
    """A turn's digest, and the numbers of the terms it is found by; both empty if nothing of it may be told."""
    files = tuple(str(path) for path in turn.files)
    digest = digests.digest(turn.words, turn.reply, files)
    if not digest:
        return "", ()
    told = digests.telling(
        message=turn.words, reply=turn.reply, files=files, digest=digest, title=gist.named(title)
    )
    return digest, tuple(map(digests.number_of, told))


def keep(project: Project, turn_id: int, digest: str, numbers: Iterable[int]) -> None:
    """Write a turn's digest and terms, unless it has one or was erased meanwhile; the project's lock is shared
    already, and the topic is locked.
    """
    kept = Chat.objects.filter(pk=turn_id, digest_tokens=None, erased_at=None).update(
        digest=digest, digest_tokens=count(digest) if digest else 0
    )
    if kept == 1:
        EpisodeTerm.objects.bulk_create(
            [EpisodeTerm(project=project, term=number, chat_id=turn_id) for number in sorted(set(numbers))],
            ignore_conflicts=True,
        )
