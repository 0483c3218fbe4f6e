"""Every door of the store passes the guard in every text: what is refused is found nowhere, what is held waits."""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest
from django.utils import timezone

from memories import guard, store
from memories.models import Memory, Source, Status
from projects.actors import WORKER, Actor
from tests.canary.conftest import log as log
from tests.canary.kinds import CODES, DOUBT, KINDS, ORDER, SECRET, UNSEEN, Stopped, stopped
from tests.canary.rows import everything
from tests.factories import make_memory, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.canary.rows import Log

pytestmark = pytest.mark.django_db
FIELDS = ("content", "key", "area", "keywords", "files")
AGENT = Actor(kind="key", name="agent", transport="api")
REFUSED, WITHHELD, VOUCHED, MASKED, KEPT = "refused", "withheld", "vouched", "masked", "kept"
# What becomes of a doubt: it waits, or the person who writes it stands behind it. The others are refused.
WAITS = dict.fromkeys(KINDS, REFUSED) | {DOUBT: WITHHELD}
VOUCHES = dict.fromkeys(KINDS, REFUSED) | {DOUBT: VOUCHED}
# Words to people alone: an order in them reaches no model.
SAID = dict.fromkeys(KINDS, KEPT) | {SECRET: MASKED}


class Place:
    """A project with memories to do something with."""

    def __init__(self) -> None:
        self.project = make_project(review_policy="none")
        self.person = Actor.for_user(self.project.owner, transport="web")

    def memory(self, content: str = "Lists show twenty rows.") -> Memory:
        return make_memory(self.project, content)

    def learned(self, status: Status = Status.ACTIVE) -> Memory:
        draft = store.Draft(type="fact", content="Deploys happen at night.")
        return store.propose(
            project=self.project, draft=draft, source=Source.EXTRACTED, by=WORKER, status=status
        )

    def draft(self, field: str, text: str) -> store.Draft:
        value: Any = (text,) if field in ("keywords", "files") else text
        plain: dict[str, Any] = {"type": "fact", "content": "Pages load in two seconds."}
        return store.Draft(**plain | {field: value})

    def aged(self, status: Status, field: str, text: str) -> Memory:
        """A memory that says what older rules let in."""
        memory = self.learned(Status.ACTIVE)
        value: Any = [text] if field in ("keywords", "files") else text
        Memory.objects.filter(pk=memory.pk).update(status=status, **{field: value})
        memory.history.update(**{field: value})  # type: ignore[attr-defined]
        memory.refresh_from_db()
        memory.project = self.project
        return memory


def change(field: str, text: str) -> dict[str, Any]:
    return {field: [text] if field in ("keywords", "files") else text}


@dataclass(frozen=True, slots=True)
class Door:
    """A way in. `verbs`: the functions of the store that it is a test of; `write` puts the text at the field."""

    name: str
    verbs: tuple[str, ...]
    write: Callable[[Place, str, str], Any]
    expected: dict[str, str]
    fields: tuple[str, ...] = FIELDS


def _add(by: str) -> Callable[[Place, str, str], Any]:
    def write(place: Place, field: str, text: str) -> Any:
        actor = place.person if by == "person" else AGENT
        return store.add(
            project=place.project, draft=place.draft(field, text), source=Source.MANUAL, by=actor
        )

    return write


def _propose(source: Source) -> Callable[[Place, str, str], Any]:
    def write(place: Place, field: str, text: str) -> Any:
        return store.propose(
            project=place.project,
            draft=place.draft(field, text),
            source=source,
            by=WORKER,
            status=Status.ACTIVE,
        )

    return write


def _replace(place: Place, field: str, text: str) -> Any:
    return store.replace(
        project=place.project,
        target=place.memory(),
        draft=place.draft(field, text),
        source=Source.EXPLICIT,
        by=place.person,
    )


def _remember(place: Place, field: str, text: str) -> Any:
    told = store.remember(project=place.project, draft=place.draft(field, text), by=place.person)
    if told.outcome is store.Outcome.REFUSED:
        return told
    return told.memory


def _edit(by: str) -> Callable[[Place, str, str], Any]:
    def write(place: Place, field: str, text: str) -> Any:
        actor, memory = (place.person, place.memory()) if by == "person" else (AGENT, place.learned())
        return store.edit(project=place.project, memory_id=memory.pk, changes=change(field, text), by=actor)

    return write


def _confirm_with_changes(place: Place, field: str, text: str) -> Any:
    memory = place.learned(Status.PROPOSED)
    return store.confirm(
        project=place.project, memory_id=memory.pk, changes=change(field, text), by=place.person
    )


def _verb(verb: str, status: Status) -> Callable[[Place, str, str], Any]:
    """A memory from before the rules knew it, on which somebody acts now."""

    def write(place: Place, field: str, text: str) -> Any:
        memory = place.aged(status, field, text)
        return getattr(store, verb)(project=place.project, memory_id=memory.pk, by=place.person)

    return write


def _restore_deleted(place: Place, field: str, text: str) -> Any:
    memory = place.aged(Status.ACTIVE, field, text)
    store.delete(project=place.project, memory_id=memory.pk, by=place.person)
    return store.restore(project=place.project, memory_id=memory.pk, by=place.person)


def _merge_into(place: Place, field: str, text: str) -> Any:
    target, source = place.aged(Status.ACTIVE, field, text), place.memory()
    return store.merge(project=place.project, memory_id=source.pk, into_id=target.pk, by=place.person)


def _undo(place: Place, field: str, text: str) -> Any:
    memory = place.aged(Status.ACTIVE, field, text)
    store.disable(project=place.project, memory_id=memory.pk, by=place.person)
    return store.undo(project=place.project, memory_id=memory.pk, by=place.person)


def _bulk(place: Place, field: str, text: str) -> Any:
    memory = place.aged(Status.DISABLED, field, text)
    store.bulk(project=place.project, action="enable", ids=[memory.pk], by=place.person)
    memory.refresh_from_db()
    return memory


def _quote(place: Place, _field: str, text: str) -> Any:
    said = store.Evidence(quote=text, role="user", chat_id=None, said_at=timezone.now())
    return store.add_evidence(project=place.project, memory=place.learned(), evidence=said, by=WORKER)


def _why(verb: str, status: Status = Status.ACTIVE, **more: Any) -> Door:
    def write(place: Place, _field: str, text: str) -> Any:
        memory = place.learned(Status.PROPOSED if status == Status.PROPOSED else Status.ACTIVE)
        if status not in (Status.ACTIVE, Status.PROPOSED):
            Memory.objects.filter(pk=memory.pk).update(status=status)
        arguments: dict[str, Any] = {"memory_id": memory.pk, "by": place.person, "reason": text}
        arguments |= {name: value(place) for name, value in more.items()}
        return getattr(store, verb)(project=place.project, **arguments)

    return Door(f"reason of {verb}", (verb,), write, SAID, ("reason",))


def _reason_of_new(verb: str) -> Door:
    def write(place: Place, _field: str, text: str) -> Any:
        draft = place.draft("content", "Tests run in CI.")
        more: dict[str, Any] = {"target": place.memory()} if verb == "replace" else {}
        return getattr(store, verb)(
            project=place.project, draft=draft, source=Source.MANUAL, by=place.person, reason=text, **more
        )

    return Door(f"reason of {verb}", (verb,), write, SAID, ("reason",))


def _reason_of_superseding(place: Place, _field: str, text: str) -> Any:
    memory = place.memory()
    store.lock(place.project)
    store.supersede(memory, by=place.person, reason=text)
    return memory


def _reason_of_bulk(place: Place, _field: str, text: str) -> Any:
    memory = place.memory()
    store.bulk(project=place.project, action="disable", ids=[memory.pk], by=place.person, reason=text)
    return memory


DOORS = (
    Door("written by a person", ("add",), _add("person"), WAITS),
    Door("written by an agent", ("add",), _add("agent"), WAITS),
    Door("distilled", ("propose",), _propose(Source.EXTRACTED), WAITS),
    Door("imported", ("propose",), _propose(Source.IMPORTED), WAITS),
    Door("in another's place", ("replace",), _replace, WAITS),
    Door("said to remember", ("remember",), _remember, WAITS),
    Door("edited by a person", ("edit",), _edit("person"), VOUCHES),
    Door("edited by an agent", ("edit",), _edit("agent"), WAITS),
    Door("edited and confirmed", ("confirm",), _confirm_with_changes, VOUCHES),
    Door("confirmed", ("confirm",), _verb("confirm", Status.PROPOSED), VOUCHES),
    Door("enabled", ("enable",), _verb("enable", Status.DISABLED), VOUCHES),
    Door("enabled with others", ("bulk",), _bulk, VOUCHES),
    Door("restored", ("restore",), _verb("restore", Status.ARCHIVED), VOUCHES),
    Door("brought back after its deletion", ("restore",), _restore_deleted, VOUCHES),
    Door("merged into", ("merge",), _merge_into, VOUCHES),
    Door("switched back by undo", ("undo",), _undo, VOUCHES),
    Door("quoted", ("add_evidence",), _quote, SAID, ("quote",)),
    _reason_of_new("add"),
    _reason_of_new("propose"),
    _reason_of_new("replace"),
    _why("confirm", Status.PROPOSED),
    _why("reject", Status.PROPOSED),
    _why("edit", changes=lambda _place: {"importance": 5}),
    _why("enable", Status.DISABLED),
    _why("disable"),
    _why("archive"),
    _why("restore", Status.ARCHIVED),
    _why("delete"),
    _why("purge"),
    Door("reason of bulk", ("bulk",), _reason_of_bulk, SAID, ("reason",)),
    Door("reason of supersede", ("supersede",), _reason_of_superseding, SAID, ("reason",)),
)
# They take words of nobody, or only to look for what is there.
WITHOUT_WORDS = {
    "can_undo": "asks",
    "fade": "by the clock",
    "forget": "looks for what the words mean, and keeps none of them",
    "forget_sources": "takes words away",
}


def test_every_function_that_writes_is_a_door_or_takes_no_words() -> None:
    writers = {
        name
        for name in store.__all__
        if inspect.isfunction(function := getattr(store, name))
        and "by" in inspect.signature(function).parameters
    }
    tested = {verb for door in DOORS for verb in door.verbs}
    assert writers == tested | WITHOUT_WORDS.keys()
    assert tested & WITHOUT_WORDS.keys() == set()


def told_by(refusal: store.GuardRefused | store.Remembered | store.SelectionChanged) -> tuple[str, str]:
    """The code, and all that is said of it."""
    if isinstance(refusal, store.SelectionChanged):
        (result,) = refusal.results
        return result.code, f"{result.message} {refusal} {refusal.message}"
    if isinstance(refusal, store.Remembered):
        return refusal.code, f"{refusal.text} {refusal.message}"
    return refusal.code, f"{refusal} {refusal.message} {refusal.masked}"


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.name)
def test_what_the_guard_stops_at_goes_through_no_door(door: Door, kind: str, log: Log) -> None:
    sent = {field: stopped(kind) for field in door.fields}
    came = {field: through(door, Place(), field, text) for field, text in sent.items()}
    assert {field: outcome for field, (outcome, _told) in came.items()} == dict.fromkeys(
        door.fields, door.expected[kind]
    )
    said = log.text() + ("".join(told for _outcome, told in came.values()) if kind == SECRET else "")
    assert [field for field, text in sent.items() if text.mark in said] == []
    if door.expected[kind] in (REFUSED, MASKED):
        # What older rules let in stays where it was, for a person to decide about.
        there = {"memories_memory", "memories_historicalmemory"} if _stood_there(door) else set()
        there |= {"projects_auditevent"} if there and kind != SECRET else set()
        columns = everything()
        for text in sent.values():
            found = {column for column, held in columns.items() if text.mark.casefold() in held}
            assert {column.split(".")[0] for column in found} <= there, found


def _stood_there(door: Door) -> bool:
    return door.expected is VOUCHES and not door.name.startswith("edited")


def through(door: Door, place: Place, field: str, sent: Stopped) -> tuple[str, str]:
    """What became of it, and whatever was said about it."""
    try:
        result = door.write(place, field, sent.text)
    except (store.GuardRefused, store.SelectionChanged) as refusal:
        result = refusal
    if isinstance(result, store.GuardRefused | store.SelectionChanged | store.Remembered):
        code, told = told_by(result)
        assert code == CODES[sent.kind], field
        if isinstance(result, store.GuardRefused):
            assert (result.field, result.end > result.start) == (field, True)
        return REFUSED, told
    if door.expected is SAID:
        columns = " ".join(everything().values())
        return (KEPT if sent.mark.casefold() in columns else MASKED), ""
    memory = Memory.objects.get(pk=result.pk)
    if memory.withheld:
        assert not Memory.objects.recallable().filter(pk=memory.pk).exists()
        assert memory.withheld_for == "override"
        return WITHHELD, ""
    return VOUCHED, ""


@pytest.mark.parametrize("kind", [SECRET, ORDER, UNSEEN])
def test_a_refusal_says_where(kind: str) -> None:
    place, sent = Place(), stopped(kind)
    lead = "Pages load in two seconds. "
    with pytest.raises(store.GuardRefused) as caught:
        _add("person")(place, "content", lead + sent.text)
    refusal = caught.value
    found = (lead + sent.text)[refusal.start : refusal.end].strip()
    assert found
    assert found in sent.text
    assert refusal.masked == guard.mask(lead + sent.text)[:200]


def test_what_is_imported_does_not_bring_back_what_was_deleted_or_rejected() -> None:
    place = Place()
    gone, no = place.memory("Lists show twenty rows."), place.learned(Status.PROPOSED)
    store.delete(project=place.project, memory_id=gone.pk, by=place.person)
    store.reject(project=place.project, memory_id=no.pk, by=place.person)
    for content, memory in (("Lists show twenty rows", gone), ("deploys happen at night", no)):
        for verb in (store.add, store.propose):
            with pytest.raises(store.Tombstoned) as caught:
                verb(
                    project=place.project,
                    draft=store.Draft(type="fact", content=content),
                    source=Source.IMPORTED,
                    by=place.person,
                )
            assert (caught.value.code, caught.value.memory_id) == ("tombstoned", memory.pk)
    assert not Memory.objects.live().exists()


def test_what_is_imported_under_the_key_of_something_deleted_waits() -> None:
    place = Place()
    gone = make_memory(place.project, "Lists show twenty rows.", key="lists")
    store.delete(project=place.project, memory_id=gone.pk, by=place.person)
    memory = store.propose(
        project=place.project,
        draft=store.Draft(type="fact", key="lists", content="Tables are sorted by date."),
        source=Source.IMPORTED,
        by=place.person,
        status=Status.ACTIVE,
    )
    assert memory.status == "proposed"
