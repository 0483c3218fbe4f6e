"""The explicit channel's writes: each "Remember: …" and "Forget: …" has an outcome that is told."""

from __future__ import annotations

from dataclasses import dataclass
from dataclasses import replace as with_changes
from enum import StrEnum
from typing import TYPE_CHECKING

from django.db.models import Q

from memories import guard
from memories.dedupe import Relation, compare, one_value_changed, resembling
from memories.models import Authority, Memory, Source, Status
from memories.store.changes import verb
from memories.store.drafts import Draft
from memories.store.errors import GuardRefused, InvalidMemory
from memories.store.lifecycle import confirm, disable, enable
from memories.store.locks import lock
from memories.store.relatives import related, sharing_words
from memories.store.removal import versions_of
from memories.store.writing import create, replace, save, supersede, trust
from memories.text import fold, terms
from projects import audit
from projects.models import ExplicitPolicy

if TYPE_CHECKING:
    from projects.actors import Actor
    from projects.models import Project

EXPLICIT_IMPORTANCE = 5


class Outcome(StrEnum):
    STORED = "stored"
    ALREADY_KNOWN = "already_known"
    CONFIRMED = "confirmed"
    REPLACED = "replaced"
    NEEDS_CONFIRMATION = "needs_confirmation"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """What became of one item. `other` is what it replaced, contradicts or would undo."""

    outcome: Outcome
    memory: Memory | None = None
    other: Memory | None = None
    code: str = ""
    message: str = ""
    text: str = ""


@verb
def remember(
    *,
    project: Project,
    draft: Draft,
    by: Actor,
    key_given: bool = False,
    announces_change: bool = False,
    only_propose: bool = False,
) -> Remembered:
    """Keep what a person said in so many words, or say why not: what was said is refused, never raised.

    Raises TargetChanged or KeyTaken where an older proposal that says the same can no longer be confirmed.

    `by` is the author; `by.user` is set when the author is a known member. `key_given` says that the author
    wrote the key; `announces_change` that the words say that something changed (X 改为 Y, instead of).
    `only_propose`: the words are old, so they wait for a person.
    """
    lock(project)
    draft = with_changes(draft, importance=EXPLICIT_IMPORTANCE)
    try:
        draft = draft.checked()
        held = draft.guarded()
    except GuardRefused as refusal:
        return Remembered(
            outcome=Outcome.REFUSED, code=refusal.code, message=refusal.message, text=refusal.masked
        )
    except InvalidMemory as invalid:
        return Remembered(
            outcome=Outcome.REFUSED,
            code=invalid.errors[0].code,
            message=invalid.message,
            text=guard.mask(draft.content)[:200],
        )
    may_decide = not only_propose and (
        by.user is not None or project.explicit_policy == ExplicitPolicy.ANYONE
    )
    neighbours = list(related(project, draft.content))
    known = _same_or_near(neighbours)
    if known is not None:
        may_decide = may_decide and not held
        rival = _other_value_in_force(known, neighbours)
        if rival is None or known.replaces_id == rival.pk:
            return _again(project, known, by=by, may_decide=may_decide)
        if not may_decide or _undoes_a_member(known, by) or _undoes_a_member(rival, by):
            return Remembered(outcome=Outcome.NEEDS_CONFIRMATION, memory=known, other=rival)
        # What was given up before is said anew, against what took its place: the newer word replaces that.
        supersede(known, by=by)
        neighbours = [(memory, relation) for memory, relation in neighbours if memory.pk != known.pk]
    target, contradicted = _subject(
        project, draft, neighbours, key_given=key_given, announces_change=announces_change
    )
    if held or not may_decide or (target is not None and _undoes_a_member(target, by)):
        waiting = create(
            project=project,
            draft=draft,
            source=Source.EXPLICIT,
            status=Status.PROPOSED,
            by=by,
            replaces=target,
            contradicts=contradicted,
        )
        return Remembered(outcome=Outcome.NEEDS_CONFIRMATION, memory=waiting, other=target)
    if target is not None:
        newer = replace(
            project=project,
            target=target,
            draft=with_changes(draft, key=draft.key if key_given else target.key),
            source=Source.EXPLICIT,
            by=by,
        )
        return Remembered(outcome=Outcome.REPLACED, memory=newer, other=target)
    stored = create(
        project=project,
        draft=draft,
        source=Source.EXPLICIT,
        status=Status.ACTIVE,
        by=by,
        contradicts=contradicted,
        key_may_change=True,
    )
    return Remembered(outcome=Outcome.STORED, memory=stored, other=contradicted)


@verb
def forget(
    *, project: Project, text: str, by: Actor, only_find: bool = False
) -> tuple[Memory | None, list[Memory]]:
    """Disable the one active memory that `text` means: (it, []). None or several: (None, candidates).

    `only_find`: the words are old, so that even the one is no more than named.
    """
    lock(project)
    wanted = set(terms(text))
    # Seen without reading the content; numbers may be written in another way, and plurals end in "ies".
    plain = [term.removesuffix("y") for term in wanted if term.isalpha()]
    resembles = resembling(text)
    said, mentioned = [], []
    for pk, content in sharing_words(project, text, among=(Status.ACTIVE,)):
        if resembles(content) and compare(content, text) in (Relation.SAME, Relation.NEAR):
            said.append(pk)
            continue
        folded = fold(content).casefold()
        if wanted and all(term in folded for term in plain) and wanted <= set(terms(content)):
            mentioned.append(pk)
    rows = Memory.objects.of(project).in_bulk(said or mentioned)
    chosen = [rows[pk] for pk in said or mentioned]
    if only_find or len(chosen) != 1 or _undoes_a_member(chosen[0], by):
        return None, chosen
    return disable(project=project, memory_id=chosen[0].pk, by=by), []


def _again(project: Project, known: Memory, *, by: Actor, may_decide: bool) -> Remembered:
    """The project has heard this before: what that means depends on where the old one stands."""
    is_withheld = known.status == Status.ACTIVE and known.withheld
    if (
        (known.status == Status.PROPOSED or is_withheld)
        and may_decide
        and not (known.replaces is not None and _undoes_a_member(known.replaces, by))
    ):
        return Remembered(
            outcome=Outcome.CONFIRMED, memory=confirm(project=project, memory_id=known.pk, by=by)
        )
    if known.status == Status.DISABLED and may_decide and not _undoes_a_member(known, by):
        return Remembered(
            outcome=Outcome.CONFIRMED, memory=enable(project=project, memory_id=known.pk, by=by)
        )
    if known.status != Status.ACTIVE or is_withheld:
        return Remembered(outcome=Outcome.NEEDS_CONFIRMATION, memory=known)
    if known.authority != Authority.PERSON and may_decide:
        known.importance = EXPLICIT_IMPORTANCE
        trust(known, by=by)
        save(known, action="confirm", by=by)
    return Remembered(outcome=Outcome.ALREADY_KNOWN, memory=known)


def _other_value_in_force(known: Memory, neighbours: list[tuple[Memory, Relation]]) -> Memory | None:
    """What is in force in the place of a memory that is not: the same with another value."""
    if known.status == Status.ACTIVE:
        return None
    return next(
        (
            memory
            for memory, _relation in neighbours
            if memory.status == Status.ACTIVE and one_value_changed(memory.content, known.content)
        ),
        None,
    )


def _same_or_near(neighbours: list[tuple[Memory, Relation]]) -> Memory | None:
    """A live memory that says the same; the same words before other words for it."""
    for wanted in (Relation.SAME, Relation.NEAR):
        for memory, relation in neighbours:
            if relation is wanted:
                return memory
    return None


def _subject(
    project: Project,
    draft: Draft,
    neighbours: list[tuple[Memory, Relation]],
    *,
    key_given: bool,
    announces_change: bool,
) -> tuple[Memory | None, Memory | None]:
    """(what the new words replace, what they merely contradict)."""
    contradicted = None
    for memory, relation in neighbours:
        if memory.status != Status.ACTIVE:
            continue
        if one_value_changed(memory.content, draft.content):
            return memory, None
        if relation is Relation.CONFLICT and contradicted is None:
            contradicted = memory
    holder = Memory.objects.of(project).holding_key(draft.key).first() if draft.key else None
    if holder is not None:
        holder.project = project
        if key_given or announces_change:
            return holder, None
    if announces_change and contradicted is not None:
        return contradicted, None
    return None, contradicted


def _undoes_a_member(memory: Memory, by: Actor) -> bool:
    """Whether a stranger's words would undo what a member wrote, confirmed or switched."""
    if by.user is not None or memory.authority != Authority.PERSON:
        return False
    if memory.created_by_id is not None or memory.confirmed_by_id is not None:
        return True
    # A member who was erased has no name there any more; what they did still counts.
    done = versions_of(memory.project, memory.pk)
    return bool(done.filter(Q(actor_kind="user") | Q(actor_name=audit.ERASED)).exists())
