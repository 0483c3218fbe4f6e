"""The admin where distilling fails: what is down, what a run came to, and reading again."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chats import queue
from chats.models import Chat, Topic
from memories.admin.words import BREAKER_TONES, FAILURES
from memories.extraction import ProviderDown, breaker
from memories.models import Breaker, Extraction
from projects.models import AuditEvent
from tests.chats.turns import turn
from tests.factories import make_project, make_user

if TYPE_CHECKING:
    from projects.models import Project

pytestmark = pytest.mark.django_db

INDEX = reverse("admin:index")
RUNS = reverse("admin:memories_extraction_changelist")
PROVIDERS = reverse("admin:memories_breaker_changelist")


@pytest.fixture(autouse=True)
def _no_worker_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)


@pytest.fixture
def project() -> Project:
    return make_project("shop")


@pytest.fixture
def browser() -> Client:
    return logged_in(is_superuser=True)


def logged_in(*rights: str, **fields: Any) -> Client:
    user = make_user(is_staff=True, **fields)
    user.user_permissions.set(Permission.objects.filter(codename__in=rights))
    client = Client()
    client.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
    return client


def open_breaker(backend: str = "llm") -> Breaker:
    for _ in range(breaker.FAILURES):
        breaker.failed(breaker.Admission(backend), ProviderDown("rate_limited"), now=timezone.now())
    return Breaker.objects.get(pk=backend)


def waiting_topic(project: Project, backend: str = "llm") -> Topic:
    later = timezone.now() + timedelta(minutes=9)
    topic_id = turn(project, "We decided to use MariaDB.").topic_id
    Topic.objects.filter(pk=topic_id).update(distil_waits_for=backend, distil_retry_at=later)
    return Topic.objects.get(pk=topic_id)


def failed_run(project: Project, **fields: Any) -> Extraction:
    chat = turn(project, "We decided to use MariaDB.")
    values = {"status": "failed", "error_kind": "unparsable", "error": "not_json"} | fields
    run = Extraction.objects.create(
        project=project,
        topic=chat.topic,
        trigger="turn",
        backend="llm",
        lease_token="gone",
        chats_read=[chat.pk],
        raw_output="Sure!",
        **values,
    )
    Chat.objects.update(distil_outcome="failed", extraction=run, distil_attempts=3)
    Topic.objects.update(distil_pending=False, distil_due_at=None)
    return run


@pytest.mark.parametrize(
    ("language", "said"),
    [
        pytest.param(
            "en", ("by a model", "left alone", "it asked for a pause", "topics that wait"), id="English"
        ),
        pytest.param("zh-hans", ("由模型", "已停用", "它要求暂停", "等待中的话题"), id="中文"),
    ],
)
def test_the_first_page_tells_of_a_provider_that_is_left_alone(
    language: str, said: tuple[str, ...], project: Project, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "EXTRACTION_BACKEND", "llm")
    row = open_breaker()
    waiting_topic(project)
    page = browser.get(INDEX, headers={"accept-language": language})
    html = page.content.decode()
    for words in said:
        assert words in html
    assert f'datetime="{row.opened_at.isoformat()}"' in html
    assert f'datetime="{row.retry_at.isoformat()}"' in html
    (told,) = page.context["providers"]
    assert (told["is_used"], told["waiting"]) == (True, "1")


def test_the_first_page_says_when_all_is_well(browser: Client) -> None:
    (told,) = browser.get(INDEX).context["providers"]
    assert (str(told["name"]), told["is_used"], "answers" in told["badge"]) == ("by rules", True, True)
    open_breaker()
    told = browser.get(INDEX).context["providers"]
    assert [(str(one["name"]), one["is_used"]) for one in told] == [("by rules", True), ("by a model", False)]
    breaker.answered(breaker.Admission("llm"))
    assert len(browser.get(INDEX).context["providers"]) == 1, "not in use, and nothing is wrong with it"


def test_who_may_not_see_providers_sees_none_on_the_first_page() -> None:
    open_breaker()
    page = logged_in("view_memory").get(INDEX)
    assert page.status_code == 200
    assert "providers" not in page.context
    assert logged_in("view_memory").get(PROVIDERS).status_code == 403


def test_a_provider_s_list_leads_to_the_topics_that_wait(project: Project, browser: Client) -> None:
    open_breaker()
    topic = waiting_topic(project)
    assert f'href="{reverse("admin:chats_topic_changelist")}?distil_waits_for=llm"' in (
        browser.get(PROVIDERS).content.decode()
    )
    listed = browser.get(reverse("admin:chats_topic_changelist"), {"distil_waits_for": "llm"})
    assert list(listed.context["cl"].queryset) == [topic]
    assert "waits for the model provider" in listed.content.decode()


def test_trying_now_makes_the_waiting_topics_due_and_is_audited(project: Project, browser: Client) -> None:
    open_breaker()
    topic = waiting_topic(project)
    answer = browser.post(PROVIDERS, {"action": "try_now", "_selected_action": "llm"}, follow=True)
    assert [str(message) for message in answer.context["messages"]] == ["1 topic is due now."]
    assert Breaker.objects.get().retry_at <= timezone.now()
    topic.refresh_from_db()
    assert (topic.distil_retry_at, topic.distil_waits_for) == (None, "")
    event = AuditEvent.objects.get(action="provider.try")
    assert (event.target_key, event.counts, event.transport) == ("llm", {"topics": 1}, "admin")


def test_who_may_only_look_makes_nobody_try(project: Project) -> None:
    row = open_breaker()
    waiting_topic(project)
    watcher = logged_in("view_breaker")
    watcher.post(PROVIDERS, {"action": "try_now", "_selected_action": "llm"})
    assert Breaker.objects.get().retry_at == row.retry_at
    assert Topic.objects.get().distil_waits_for == "llm"
    assert AuditEvent.objects.filter(action="provider.try").count() == 0


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        pytest.param({}, ("answer could not be parsed", "no structure in the answer"), id="unparsable"),
        pytest.param(
            {"error_kind": "provider_down", "error": "timeout"},
            ("provider down", "it took too long"),
            id="provider down",
        ),
        pytest.param(
            {"status": "succeeded", "error_kind": "", "error": ""}, ("nothing worth keeping",), id="nothing"
        ),
    ],
)
def test_a_run_says_which_of_three_things_it_came_to(
    fields: dict[str, str], said: tuple[str, ...], project: Project, browser: Client
) -> None:
    run = failed_run(project, **fields)
    page = browser.get(reverse("admin:memories_extraction_change", args=[run.pk])).content.decode()
    for words in said:
        assert words in page
    assert said[0] in browser.get(RUNS).content.decode()
    assert list(browser.get(RUNS, {"result": run.result}).context["cl"].queryset) == [run]
    assert list(browser.get(RUNS, {"result": "kept"}).context["cl"].queryset) == []


def test_a_failed_run_has_a_button_that_makes_its_turns_due(project: Project, browser: Client) -> None:
    run = failed_run(project)
    again = reverse("admin:memories_extraction_read_again", args=[run.pk])
    page = reverse("admin:memories_extraction_change", args=[run.pk])
    assert f'action="{again}"' in browser.get(page).content.decode()
    assert browser.get(again).status_code == 405
    assert Chat.objects.get().distil_outcome == "failed"
    answer = browser.post(again, follow=True)
    assert answer.redirect_chain == [(page, 302)]
    assert [str(message) for message in answer.context["messages"]] == ["1 run is read again now."]
    chat, topic = Chat.objects.get(), Topic.objects.get()
    assert (chat.distil_outcome, topic.distil_pending, topic.distil_trigger) == (None, True, "retry")
    assert AuditEvent.objects.get(action="extraction.retry").transport == "admin"


def test_a_run_that_succeeded_has_no_such_button(project: Project, browser: Client) -> None:
    run = failed_run(project, status="succeeded", error_kind="")
    again = reverse("admin:memories_extraction_read_again", args=[run.pk])
    page = reverse("admin:memories_extraction_change", args=[run.pk])
    assert again not in browser.get(page).content.decode()
    answer = browser.post(again, follow=True)
    assert [str(message) for message in answer.context["messages"]] == [
        f"#{run.pk}: Nothing of this run waits to be read again."
    ]
    assert Topic.objects.get().distil_pending is False


def test_who_may_only_look_reads_nothing_again(project: Project) -> None:
    run = failed_run(project)
    watcher = logged_in("view_extraction")
    again = reverse("admin:memories_extraction_read_again", args=[run.pk])
    page = watcher.get(reverse("admin:memories_extraction_change", args=[run.pk]))
    assert again not in page.content.decode()
    watcher.post(again)
    watcher.post(RUNS, {"action": "read_again", "_selected_action": run.pk})
    stranger = Client()
    assert stranger.post(again).status_code == 302
    assert Topic.objects.get().distil_pending is False
    assert AuditEvent.objects.filter(action="extraction.retry").count() == 0


def test_many_runs_are_read_again_in_one_go(project: Project, browser: Client) -> None:
    run = failed_run(project)
    done = Extraction.objects.create(
        project=project, topic=run.topic, trigger="turn", backend="llm", lease_token="x", status="succeeded"
    )
    answer = browser.post(RUNS, {"action": "read_again", "_selected_action": [run.pk, done.pk]}, follow=True)
    assert sorted(str(message) for message in answer.context["messages"]) == [
        f"#{done.pk}: Nothing of this run waits to be read again.",
        "1 run is read again now.",
    ]
    assert Topic.objects.get().distil_pending is True


def test_every_state_and_failure_that_is_shown_has_words() -> None:
    assert set(BREAKER_TONES) == set(Breaker.State)
    source = "".join(
        (Path(settings.BASE_DIR) / "memories" / "extraction" / f"{name}.py").read_text()
        for name in ("llm", "answer", "run")
    )
    raised = set(re.findall(r'(?:ProviderDown|InputRefused|Unreadable|NoAnswer)\("(\w+)"', source))
    assert len(raised) >= 10
    assert raised - set(FAILURES) == set()
