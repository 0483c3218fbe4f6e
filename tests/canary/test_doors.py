"""What is sent through any door of the API is found in no log, error, audit or row but where it belongs."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from tests.canary.canaries import KINDS, PASSWORD, WORD, Canary, canary
from tests.canary.doors import Description
from tests.canary.place import Place, distil_everything
from tests.canary.rows import VERBATIM, Log, leaks
from tests.factories import make_key, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.response import Response
    from rest_framework.test import APIClient

    from tests.canary.doors import Door

pytestmark = pytest.mark.django_db(transaction=True)


class Sent:
    """What went in, and what was answered."""

    def __init__(self) -> None:
        self.canaries: list[Canary] = []
        self.echoed: set[str] = set()
        self.taken: set[str] = set()
        self.refusals: dict[str, set[str]] = {}

    def note(self, sent: Canary, answer: Response) -> None:
        self.canaries.append(sent)
        headers = " ".join(f"{name}: {value}" for name, value in answer.items())
        told = headers + (answer.content.decode() if answer.status_code >= 400 else "")
        if sent.secret.casefold() in told.casefold():
            self.echoed.add(f"{answer.status_code} {sent.kind}: {sent.door}")
        if answer.status_code < 400:
            self.taken.add(sent.door)
        else:
            self.refusals.setdefault(sent.door, set()).add(f"{answer.status_code} {answer.json()['code']}")
        assert answer.status_code < 500, sent.door


def send(client: APIClient, place: Place, description: Description, door: Door, sent: Canary) -> Response:
    address = place.address(door)
    headers = {"If-Match": "*"} if door.method in ("PATCH", "DELETE") else {}
    query = {"limit": "5"}
    body = description.body(door, sent.text, place.given(door))
    if door.where == "header":
        headers[str(door.place[0])] = sent.secret
    arguments: dict[str, Any] = {"headers": headers}
    if door.where == "query":
        query = {str(door.place[0]): sent.text}
        arguments["query_params"] = query
    method = getattr(client, door.method.lower())
    return method(address, body, **arguments) if body is not None else method(address, **arguments)


@pytest.mark.parametrize("mask_chats", [False, True], ids=["as said", "masked"])
def test_a_text_goes_where_it_belongs_and_nowhere_else(
    mask_chats: bool, debug_log: Log, api: Callable[..., APIClient], api_as: Callable[..., APIClient]
) -> None:
    place = Place(make_project("shop", mask_chats=mask_chats))
    key, platform = api(make_key(place.project)[1]), api(make_key(None)[1])
    owner = api_as(place.project.owner)
    description, sent = Description(), Sent()
    sent_through = []
    for door in description.doors():
        of_talk = door.operation.startswith("turns_")
        if mask_chats and not of_talk:
            continue
        sent_through.append(door)
        callers = itertools.cycle([owner, platform if door.operation.startswith("projects_") else key])
        for kind in KINDS if door.where == "body" else (PASSWORD, WORD):
            one = canary(kind, door.name)
            sent.note(one, send(next(callers), place, description, door, one))
    distil_everything(place.project)

    assert sorted(sent.echoed) == []
    assert [one.door for one in sent.canaries if one.secret.casefold() in debug_log.text().casefold()] == []
    assert leaks(sent.canaries, allowed=frozenset() if mask_chats else VERBATIM) == {}
    never = {
        door.name: sent.refusals[door.name]
        for door in sent_through
        if door.is_free and door.name not in sent.taken
    }
    assert never == {}
