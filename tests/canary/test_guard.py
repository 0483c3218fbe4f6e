"""Each kind of thing that the guard stops at, through every text of the API: what is answered, and where it went."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from chats.models import Instruction
from memories.models import Memory
from tests.canary.doors import Description
from tests.canary.kinds import CODES, DOUBT, KINDS, ORDER, SECRET, UNSEEN, Stopped, stopped
from tests.canary.place import Place, distil_everything
from tests.canary.rows import VERBATIM, Log, everything
from tests.chats.turns import finished, opened
from tests.factories import make_key, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.response import Response
    from rest_framework.test import APIClient

    from tests.canary.doors import Door

pytestmark = pytest.mark.django_db

# What a model may come to read: refused at the door. A doubt in a name is no reason to refuse a whole turn.
NAMES = {
    "turns_open": {"topic/ref", "topic/title", "topic/area", "ref", "author/ref", "author/name", "agent"},
    "topics_patch": {"title", "area"},
    "turns_finish": {"steps/0/agent", "steps/0/ref"},
    "turns_step": {"agent", "ref"},
    "instructions_promote": {"author/ref", "author/name"},
    "projects_put": {"name", "description", "guidance"},
    "projects_patch": {"name", "description", "guidance"},
}
_MEMORY = {"content", "key", "keywords/0", "files/0", "area"}
# A person writes them: a doubt waits in a new memory, and is vouched for in one that is changed.
MEMORIES = {
    "memories_create": _MEMORY,
    "memories_patch": _MEMORY,
    "memories_confirm": {f"changes/{field}" for field in _MEMORY},
}
# The agent's own system text: orders to a model are what it is.
FOR_MODELS = {"projects_put": {"static_instructions"}, "projects_patch": {"static_instructions"}}
# What was said and done, kept as it was; what is asked, kept nowhere; and why, in people's own words to people.
TALK = {
    "turns_open": {"message", "attached", "files/0", "reply"},
    "turns_context": {"message", "files/0"},
    "turns_finish": {
        *("reply", "error", "files/0", "tools/0/name", "tools/0/error", "milestone", "model", "usage/*"),
        *("steps/0/message", "steps/0/reply"),
    },
    "turns_step": {"message", "reply"},
}
ASKED = {
    "recall": {"message", "files/0", "instructions/0", "area"},
    "memories_bulk": {"filter/area", "filter/q"},
}
_VERBS = (
    *("create", "patch", "archive", "confirm", "disable", "enable", "merge"),
    *("purge", "reject", "restore", "undo", "bulk"),
)
REASONS = {f"memories_{verb}": {"reason"} for verb in _VERBS}
# Not taken as what they are to name, whatever they hold: nobody is called so, no code is so long.
NOBODY = {
    "person_erase": {"author_ref", "user", "reason"},
    "memories_bulk": {"filter/withheld_for"},
}
KINDS_OF_DOORS: tuple[dict[str, set[str]], ...] = (NAMES, MEMORIES, FOR_MODELS, TALK, ASKED, REASONS, NOBODY)
# Where words to people stand, and those of an agent about itself.
REASONS_STAND = {
    "memories_historicalmemory.history_change_reason",
    "projects_auditevent.reason",
    "chats_chat.error",
    "memories_recall.query",
    "memories_recall.files",
    "projects_project.static_instructions",
}


def place_of(door: Door) -> str:
    return "/".join(map(str, door.place))


def is_in(door: Door, kind: dict[str, set[str]]) -> bool:
    return place_of(door) in kind.get(door.operation, ())


def is_guarded(door: Door) -> bool:
    """The other doors have been through with secrets elsewhere; one kind more is enough for them."""
    return is_in(door, NAMES) or is_in(door, MEMORIES) or is_in(door, FOR_MODELS)


def is_refused(door: Door, kind: str) -> bool:
    if is_in(door, NAMES) or is_in(door, MEMORIES):
        return kind != DOUBT
    return is_in(door, FOR_MODELS) and kind in (SECRET, UNSEEN)


def send(client: APIClient, place: Place, description: Description, door: Door, sent: Stopped) -> Response:
    headers = {"If-Match": "*"} if door.method in ("PATCH", "DELETE") else {}
    body = description.body(door, sent.text, place.given(door))
    method: Any = getattr(client, door.method.lower())
    answer: Response = method(place.address(door), body, headers=headers)
    return answer


@pytest.fixture
def doors() -> list[Door]:
    return [door for door in Description().doors() if door.where == "body" and door.is_free]


def test_every_text_of_the_api_is_of_one_kind(doors: list[Door]) -> None:
    """A new text must be put where it belongs: may a model come to read it?"""
    known = {
        (operation, place)
        for kind in KINDS_OF_DOORS
        for operation, places in kind.items()
        for place in places
    }
    assert {(door.operation, place_of(door)) for door in doors} == known
    assert sum(len(places) for kind in KINDS_OF_DOORS for places in kind.values()) == len(known)


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_guard_stops_at_is_refused_where_a_model_would_read_it(
    kind: str,
    doors: list[Door],
    log: Log,
    api: Callable[..., APIClient],
    api_as: Callable[..., APIClient],
) -> None:
    place, description = Place(make_project("shop")), Description()
    owner, key = api_as(place.project.owner), api(make_key(place.project)[1])
    sent: dict[str, tuple[Door, Stopped]] = {}
    wrong = []
    for door in doors:
        if is_in(door, NOBODY) or (kind != ORDER and not is_guarded(door)):
            continue
        text = stopped(kind)
        sent[text.mark] = (door, text)
        # A person speaks for nobody else.
        answer = send(key if "author" in door.place else owner, place, description, door, text)
        refused = (answer.status_code, answer.json()["code"]) if answer.status_code >= 400 else None
        if refused != ((422, CODES[kind]) if is_refused(door, kind) else None):
            wrong.append((door.name, refused))
        if refused:
            assert text.mark not in answer.content.decode(), door.name
            (error,) = answer.json()["errors"]
            assert error["pointer"] in (f"/{place_of(door)}", ""), door.name
    assert wrong == []
    distil_everything(place.project)
    columns = everything()
    strays = {
        (door.name, column)
        for mark, (door, _text) in sent.items()
        for column, held in columns.items()
        if mark.casefold() in held and not _may_stand(column, door, kind)
    }
    assert strays == set()
    assert [
        door.name for mark, (door, _text) in sent.items() if mark.casefold() in log.text().casefold()
    ] == []
    # What is held is recalled only where a person stands behind it.
    in_force = " ".join(map(str, Memory.objects.recallable().values())).casefold()
    recalled = {door.operation for mark, (door, _text) in sent.items() if mark.casefold() in in_force}
    assert recalled == ({"memories_patch", "memories_confirm"} if kind == DOUBT else set())


def _may_stand(column: str, door: Door, kind: str) -> bool:
    if kind == SECRET:
        return column in VERBATIM and is_in(door, TALK)
    if kind == DOUBT and (is_in(door, NAMES) or is_in(door, MEMORIES)):
        return True
    return column in VERBATIM | REASONS_STAND


SAYINGS = [
    pytest.param("记住：{text}", id="记住"),
    pytest.param("Remember: {text}", id="remember"),
    pytest.param("记住[{text}]：列表显示二十行", id="as the key"),
    pytest.param("From now on, {text}", id="a directive"),
]


@pytest.mark.parametrize("saying", SAYINGS)
@pytest.mark.parametrize("kind", [SECRET, ORDER, UNSEEN])
def test_what_a_human_says_goes_into_the_talk_alone(
    saying: str, kind: str, api: Callable[..., APIClient]
) -> None:
    project = make_project("shop")
    client = api(make_key(project)[1])
    first, further = stopped(kind), stopped(kind)
    body = {"topic": {"ref": "a"}, "ref": "1", "message": saying.format(text=first.text)}
    opened_turn = client.post("/api/v1/projects/shop/turns/", body).json()
    heard = client.post(
        f"/api/v1/turns/{opened_turn['turn']['id']}/context/", {"message": saying.format(text=further.text)}
    ).json()
    for answer, text in ((opened_turn, first), (heard, further)):
        assert answer["remembered"] == []
        assert [one["code"] for one in answer["refused"]] == [CODES[kind]]
        if kind == SECRET:
            assert text.mark not in str(answer["refused"])
    assert (Memory.objects.count(), Instruction.objects.count()) == (0, 0)
    columns = everything()
    for text in (first, further):
        found = {column for column, held in columns.items() if text.mark.casefold() in held}
        allowed = VERBATIM | ({"memories_recall.query", "chats_chat.explicit"} if kind != SECRET else set())
        assert found <= allowed


def test_a_rule_in_doubt_is_not_in_force_and_a_memory_in_doubt_waits(api: Callable[..., APIClient]) -> None:
    project = make_project("shop")
    rule, memory = stopped(DOUBT), stopped(DOUBT)
    turn = opened(project, f"From now on, {rule.text}\n记住：{memory.text}").chat
    finished(project, turn)
    distil_everything(project)
    assert Instruction.objects.count() == 0
    kept = Memory.objects.get()
    assert (kept.content, kept.status, kept.withheld_for) == (memory.text, "proposed", "override")
    assert not Memory.objects.recallable().exists()


def test_an_old_rule_that_is_promoted_passes_the_guard(api_as: Callable[..., APIClient]) -> None:
    project = make_project("shop")
    place = Place(project)
    for kind in (SECRET, ORDER, UNSEEN):
        rule, text = place.instruction(), stopped(kind)
        Instruction.objects.filter(pk=rule).update(content=text.text)
        answer = api_as(project.owner).post(f"/api/v1/instructions/{rule}/promote/", {})
        assert (answer.status_code, answer.json().get("code")) == (422, CODES[kind])
        assert text.mark not in (answer.content.decode() if kind == SECRET else "")
    assert Memory.objects.count() == 0
