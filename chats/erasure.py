"""Erasing a person: their words go, from the turns that they spoke in and from wherever these were taken.

Turns keep their places and counts, memories stay, without quotes and names.
"""

from __future__ import annotations

from collections import Counter
from itertools import batched
from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from chats import schedule, summaries
from chats.models import Chat, EpisodeTerm, Instruction, Topic
from memories import guard, store
from memories.models import Candidate, Extraction, Recall
from projects import audit
from projects.models import Project
from projects.transactions import atomic_retry

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from datetime import datetime

    from django.db.models import QuerySet

    from projects.actors import Actor

# The error of a turn that ran when its words went: no late ending may bring some back.
ERASED = "erased"
BATCH = 500
# What counts were asked for, in the order in which they are told.
COUNTS = (
    "turns",
    "steps",
    "recalls",
    "candidates",
    "extractions",
    "instructions",
    "topics",
    "quotes",
    "memories",
    "audit",
)
_NO_WORDS: dict[str, Any] = {
    "message": "",
    "attached": "",
    "further": [],
    "reply": "",
    "files": [],
    "tools": [],
    "milestone": "",
    "digest": "",
    "digest_tokens": None,
    "message_tokens": 0,
    "reply_tokens": 0,
    "author_ref": "",
    "author_name": "",
    "author_user": None,
    # What was refused stands in it, masked.
    "explicit": {},
}


class _TakeBack(Exception):
    """A dry run ends."""


@atomic_retry
def erase_person(
    *,
    project: Project,
    by: Actor,
    author_ref: str = "",
    user: User | None = None,
    dry_run: bool = False,
    reason: str = "",
) -> dict[str, int]:
    """Erase whoever spoke as `author_ref`, or the member `user`, in this project; how many rows of each of COUNTS.

    What others said about them is theirs and stays, and so do topics' titles. A namesake among the authors loses
    the name on what they changed, too. A dry run does it and takes it back. Twice changes nothing more.
    """
    if bool(author_ref) == (user is not None):
        raise TypeError("Name the person either as an author or as a user.")
    version = project.memory_version
    try:
        with transaction.atomic():
            counts = _erase(project, by, author_ref, user, reason)
            if dry_run:
                raise _TakeBack
    except _TakeBack:
        project.memory_version = version
    return counts


def is_known(*, project: Project, author_ref: str = "", user: User | None = None) -> bool:
    """Whether they spoke in the project, or changed something there."""
    users = _users(project, author_ref, user)
    return _turns(project, author_ref, users).exists() or audit.knows(project, [one.pk for one in users])


def _erase(project: Project, by: Actor, author_ref: str, user: User | None, reason: str) -> dict[str, int]:
    now = timezone.now()
    counts = Counter(dict.fromkeys(COUNTS, 0))
    store.lock(project)
    users = _users(project, author_ref, user)
    turns = _turns(project, author_ref, users).order_by("pk")
    topic_ids = sorted(set(turns.order_by().values_list("topic_id", flat=True)))
    for ids in batched(topic_ids, BATCH):
        list(Topic.objects.select_for_update().filter(pk__in=ids).order_by("pk").values_list("pk"))
    rows = list(turns.values_list("pk", "author_name", "message"))
    turn_ids = [pk for pk, _name, _message in rows]
    names = {name for _pk, name, _message in rows} - {""}
    counts["turns"], counts["topics"] = len(turn_ids), len(topic_ids)
    step_ids = [pk for ids in batched(turn_ids, BATCH) for pk in _ids(Chat.objects.filter(parent__in=ids))]
    counts["steps"] = len(step_ids)
    chat_ids = [*turn_ids, *step_ids]
    counts["recalls"] = _forget_recalls(turn_ids, topic_ids, [message for _pk, _name, message in rows])
    for ids in batched(chat_ids, BATCH):
        of_them = Candidate.objects.filter(extraction__project=project, chat_id__in=ids)
        found = _ids(of_them)
        counts["candidates"] += Candidate.objects.filter(pk__in=found).update(key="", content="", quote="")
        EpisodeTerm.objects.filter(chat_id__in=ids).delete()
        counts["instructions"] += Instruction.objects.filter(chat_id__in=ids).delete()[0]
    for ids in batched(topic_ids, BATCH):
        runs = Extraction.objects.filter(topic_id__in=ids).exclude(raw_output="")
        counts["extractions"] += runs.update(raw_output="")
    counts["quotes"] = store.forget_sources(project=project, chat_ids=chat_ids, by=by) if chat_ids else 0
    for ids in batched(chat_ids, BATCH):
        _empty(ids, now)
    for ids in batched(topic_ids, BATCH):
        summaries.forget(ids, now=now)
        schedule.interrupt(ids, now=now)
    user_ids = [user.pk for user in users]
    counts["memories"] = store.forget_person(project=project, user_ids=user_ids, names=names)
    counts["audit"] = audit.forget_person(project, user_ids=user_ids, names=names)
    if any(counts.values()):
        # Who it was is what nobody is to know any more.
        audit.record("person.erase", by=by, project=project, reason=guard.mask(reason), counts=counts)
    return {name: counts[name] for name in COUNTS}


def _users(project: Project, author_ref: str, user: User | None) -> list[User]:
    """The members that the person is: the one that is named, or whom the author's turns were matched to."""
    if user is not None:
        return [user]
    spoke = Chat.objects.of(project).turns().filter(author_ref=author_ref).exclude(author_user=None)
    return list(User.objects.filter(pk__in=spoke.order_by().values("author_user").distinct()))


def _turns(project: Project, author_ref: str, users: Sequence[User]) -> QuerySet[Chat]:
    """A caller may name a member by user name or address, before they are matched, too."""
    refs = {author_ref, *(ref for user in users for ref in (user.get_username(), user.email))} - {""}
    found: QuerySet[Chat] = Chat.objects.of(project).turns()
    return found.filter(Q(author_ref__in=refs) | Q(author_user__in=[user.pk for user in users]))


def _empty(ids: Sequence[int], now: datetime) -> None:
    """Take every word out of these turns and steps. What still ran is over, what was unread has nothing to read."""
    chats = Chat.objects.filter(pk__in=ids)
    chats.filter(status=Chat.ChatStatus.RUNNING).update(
        status=Chat.ChatStatus.CANCELLED, error=ERASED, finished_at=now
    )
    chats.exclude(error__in=("", ERASED)).update(error=ERASED)
    chats.undistilled().update(distil_outcome=Chat.DistilOutcome.NOTHING)
    # Touched: a context of theirs that is being made finds that out before it writes what it recalled on.
    chats.update(**_NO_WORDS, erased_at=now, touched_at=now)


def _forget_recalls(turn_ids: Sequence[int], topic_ids: Sequence[int], messages: Iterable[str]) -> int:
    """What was recalled on: in their turns, and in others' where "go on" looked up what they had said."""
    forgotten = 0
    for ids in batched(turn_ids, BATCH):
        forgotten += Recall.objects.filter(chat_id__in=ids).update(query="", files=[])
    said = {guard.mask(message)[:200] for message in messages} - {""}
    for ids in batched(topic_ids, BATCH):
        others = Recall.objects.filter(chat__topic_id__in=ids).exclude(query="").only("pk", "query")
        repeating = [recall.pk for recall in others.iterator() if any(text in recall.query for text in said)]
        forgotten += Recall.objects.filter(pk__in=repeating).update(query="", files=[])
    return forgotten


def _ids(rows: QuerySet[Any]) -> list[int]:
    return list(rows.values_list("pk", flat=True))


def projects_of(*, author_ref: str = "", user: User | None = None) -> Iterator[Project]:
    """The projects in which `erase_person` would find something."""
    for project in Project.objects.order_by("pk"):
        if is_known(project=project, author_ref=author_ref, user=user):
            yield project
