"""Of what is in force by itself, some is put before a person all the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from django.urls import reverse

from memories import store
from memories.models import Memory, Source, Status
from memories.trust import is_drawn
from projects.actors import WORKER, Actor
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.test import Client
    from pytest_django.fixtures import SettingsWrapper

    from projects.models import Project

CONTENT = "the export keeps 14 copies"


@pytest.fixture
def project(db: None, settings: SettingsWrapper) -> Project:
    settings.SPOT_CHECK_SHARE = 1.0
    return make_project()


def kept(
    project: Project, content: str = CONTENT, *, status: Status = Status.ACTIVE, **fields: Any
) -> Memory:
    draft = store.Draft(type="fact", content=content)
    return store.propose(
        project=project, draft=draft, source=Source.EXTRACTED, by=WORKER, status=status, **fields
    )


def owner(project: Project) -> Actor:
    return Actor.for_user(project.owner, transport="web")


def test_about_the_share_is_drawn_and_the_same_words_always_or_never() -> None:
    hashes = [f"{number:064x}" for number in range(2_000)]
    drawn = [one for one in hashes if is_drawn(7, one, share=0.05)]
    assert len(drawn) == 89
    assert drawn == [one for one in hashes if is_drawn(7, one, share=0.05)]
    assert drawn != [one for one in hashes if is_drawn(8, one, share=0.05)]
    assert {is_drawn(7, one, share=0.0) for one in hashes} == {False}
    assert {is_drawn(7, one, share=1.0) for one in hashes} == {True}


def test_what_is_in_force_by_itself_is_drawn_and_nothing_else(project: Project) -> None:
    waits = kept(project, "the depot opens at six", status=Status.PROPOSED)
    own = store.add(
        project=project,
        draft=store.Draft(type="fact", content="the depot closes at ten"),
        source=Source.MANUAL,
        by=owner(project),
    )
    agent = store.add(
        project=project,
        draft=store.Draft(type="fact", content="drafts go to Ines"),
        source=Source.AGENT,
        by=Actor(kind="key", name="bot", transport="api"),
    )
    active = kept(project)
    newer = store.replace(
        project=project,
        target=active,
        draft=store.Draft(type="fact", content="the export keeps 15 copies"),
        source=Source.EXTRACTED,
        by=WORKER,
    )
    active.refresh_from_db()
    flags = [memory.spot_check for memory in (waits, own, agent, active, newer)]
    assert flags == [False, False, True, False, True]


@pytest.mark.parametrize(
    ("verb", "fields", "status", "authority"),
    [
        pytest.param("confirm", {}, "active", "person", id="confirm"),
        pytest.param("edit", {"changes": {"content": "it keeps 15"}}, "active", "person", id="edit"),
        pytest.param("disable", {}, "disabled", "person", id="disable"),
        pytest.param("reject", {}, "rejected", "automatic", id="reject"),
    ],
)
def test_whatever_a_person_does_with_it_is_the_look(
    project: Project, verb: str, fields: dict[str, Any], status: str, authority: str
) -> None:
    memory = kept(project)
    after = getattr(store, verb)(project=project, memory_id=memory.pk, by=owner(project), **fields)
    after.refresh_from_db()
    assert (after.status, after.authority, after.spot_check) == (status, authority, False)
    if verb == "reject":
        again = store.tombstones.meet(project, content=CONTENT, key=memory.key)
        assert again is not None
        assert again.kind == "content"


def test_one_that_was_not_drawn_is_decided_already(project: Project, settings: SettingsWrapper) -> None:
    settings.SPOT_CHECK_SHARE = 0.0
    memory = kept(project)
    for verb in (store.confirm, store.reject):
        with pytest.raises(store.ProposalDecided):
            verb(project=project, memory_id=memory.pk, by=owner(project))
    memory.refresh_from_db()
    assert (memory.status, memory.version) == ("active", 1)


def test_more_evidence_does_not_end_it(project: Project) -> None:
    memory = kept(project)
    quote = store.Evidence(quote=CONTENT, role="user", chat_id=None, said_at=memory.said_at)
    store.add_evidence(project=project, memory=memory, evidence=quote, by=WORKER)
    memory.refresh_from_db()
    assert (memory.version, memory.spot_check) == (2, True)


def test_the_api_tells_which_were_drawn_and_confirms_one(
    project: Project, settings: SettingsWrapper, api: Callable[..., Any], api_as: Callable[..., Any]
) -> None:
    drawn = kept(project)
    settings.SPOT_CHECK_SHARE = 0.0
    other = kept(project, "the depot opens at six")
    client = api(make_key(project)[1])
    address = f"/api/v1/projects/{project.slug}/memories/"
    for wanted, expected in (("true", drawn), ("false", other)):
        (found,) = client.get(address, {"spot_check": wanted}).json()["results"]
        assert (found["id"], found["spot_check"]) == (expected.pk, expected is drawn)
    answer = api_as(project.owner).post(f"{address}{drawn.pk}/confirm/")
    assert answer.status_code == 200
    assert client.get(address, {"spot_check": "true"}).json()["results"] == []


def test_the_admin_lists_which_were_drawn_and_offers_the_decision(
    project: Project, client: Client, settings: SettingsWrapper
) -> None:
    drawn = kept(project)
    client.force_login(
        make_user(is_staff=True, is_superuser=True), backend="django.contrib.auth.backends.ModelBackend"
    )
    page = client.get(reverse("admin:memories_memory_changelist"), {"spot_check__exact": "1"}).text
    assert (page.count(CONTENT) > 0, "drawn for a look" in page) == (True, True)
    assert (
        CONTENT
        not in client.get(reverse("admin:memories_memory_changelist"), {"spot_check__exact": "0"}).text
    )
    form = client.get(reverse("admin:memories_memory_change", args=[drawn.pk])).text
    assert ['name="memories_memory_confirm"' in form, 'name="memories_memory_reject"' in form] == [True, True]
