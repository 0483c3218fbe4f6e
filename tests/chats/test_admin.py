"""Topics and turns in the admin: from a turn one reaches what it was given, and what it brought."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.contrib.auth.models import Permission
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from chats import context, queue, summaries
from chats.models import Chat, Instruction, Summary, Topic
from memories.admin.words import DEGRADED, INTENT_RULES, INTENTS, OMITTED, OUTCOMES, PARTS, REASONS
from memories.extraction.reasons import Outcome, Reason
from memories.models import Candidate, Extraction, Memory, Recall, RecallItem
from memories.recall import parameters
from memories.recall.pack import Reason as Omission
from tests.admin_world import World, make_world
from tests.chats.turns import opened, turn
from tests.factories import make_user

if TYPE_CHECKING:
    from django.db.models import Model
    from pytest_django.fixtures import SettingsWrapper


@pytest.fixture
def world(db: None, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(queue, "distil", lambda topic_id, delay_s=0.0: None)
    return make_world()


@pytest.fixture
def browser(db: None) -> Client:
    client = Client()
    client.force_login(make_user("root", is_staff=True, is_superuser=True))
    return client


def page(row: Model) -> str:
    return reverse(f"admin:{row._meta.app_label}_{row._meta.model_name}_change", args=[row.pk])


def shown(browser: Client, row: Model, language: str = "en") -> str:
    return browser.get(page(row), headers={"accept-language": language}).content.decode()


def test_a_turn_leads_to_all_that_memory_had_to_do_with_it(world: World, browser: Client) -> None:
    asked, told, ruled = (shown(browser, chat) for chat in (world.asked, world.told, world.ruled))
    recall = Recall.objects.get(chat=world.asked)
    for row in (world.memory, recall, world.asked.topic, world.asked.steps.get()):
        assert f'href="{page(row)}"' in asked
    (remembered,) = Memory.objects.filter(source_chat=world.told)
    assert f'href="{page(remembered)}"' in told
    candidate, rule = Candidate.objects.get(chat=world.ruled), Instruction.objects.get(chat=world.ruled)
    for linked in (candidate, rule, candidate.extraction, candidate.memory):
        assert linked is not None
        assert f'href="{page(linked)}"' in ruled


def test_a_memory_leads_to_its_turn_topic_run_and_recalls(world: World, browser: Client) -> None:
    learned = Memory.objects.exclude(extraction=None).first()
    assert learned is not None
    html = shown(browser, learned)
    for row in (learned.source_chat, learned.extraction, Candidate.objects.get(memory=learned)):
        assert row is not None
        assert f'href="{page(row)}"' in html
    given = RecallItem.objects.filter(memory_id=world.memory.pk).first()
    assert given is not None
    html = shown(browser, world.memory)
    for row in (given.recall, given.recall.chat, given.recall.chat.topic, world.project):
        assert f'href="{page(row)}"' in html


def test_a_recall_shows_parts_with_numbers_reasons_in_words_and_the_exact_block(
    world: World, browser: Client
) -> None:
    recall = Recall.objects.get(chat=world.asked)
    item = recall.items.get(memory_id=world.memory.pk)
    html = shown(browser, recall)
    assert f'href="{page(world.asked)}"' in html
    assert f'href="{page(world.memory)}"' in html
    assert f"{item.score:.3f}" in html
    assert f"<b>{item.parts['lexical']:.3f}</b>" in html
    assert html.count('<svg class="cairn-bar"') >= len(item.parts) - list(item.parts.values()).count(0)
    assert f"#{world.memory.pk}" in html
    assert "&lt;/project_memory" in html


def test_a_recall_names_a_memory_that_is_gone_since(world: World, browser: Client) -> None:
    live = Memory.objects.values("pk")
    item = RecallItem.objects.exclude(memory_id__in=live).first()
    assert item is not None, "the world has deleted a memory that was given"
    assert f"#{item.memory_id}" in shown(browser, item.recall)
    assert "gone since" in shown(browser, item.recall)
    assert "gone since" in shown(browser, item)
    listed = browser.get(reverse("admin:memories_recallitem_changelist"), {"memory_id": item.memory_id})
    assert item in listed.context["cl"].queryset


def test_an_extraction_leads_to_the_turns_it_read_and_what_it_proposed(world: World, browser: Client) -> None:
    run = Extraction.objects.get(topic=world.told.topic)
    html = shown(browser, run)
    for row in (*Chat.objects.filter(pk__in=run.chats_read), *run.candidates.all(), run.topic):
        assert f'href="{page(row)}"' in html
    assert len(run.chats_read) == 4


def test_a_project_leads_to_everything_in_it(world: World, browser: Client) -> None:
    html = shown(browser, world.project)
    for model in ("memory", "recall", "extraction", "tombstone"):
        assert (
            f"{reverse(f'admin:memories_{model}_changelist')}?project__id__exact={world.project.pk}" in html
        )
    for model in ("topic", "chat"):
        assert f"{reverse(f'admin:chats_{model}_changelist')}?project__id__exact={world.project.pk}" in html


def test_the_list_is_of_turns_and_a_step_has_a_page(world: World, browser: Client) -> None:
    listed = set(browser.get(reverse("admin:chats_chat_changelist")).context["cl"].queryset)
    step = world.asked.steps.get()
    assert listed == set(Chat.objects.filter(parent=None))
    assert step not in listed
    assert f'href="{page(world.asked)}"' in shown(browser, step)


def test_turns_that_are_still_due_can_be_listed(world: World, browser: Client) -> None:
    due = (
        browser.get(reverse("admin:chats_chat_changelist"), {"distil_outcome": "due"}).context["cl"].queryset
    )
    assert set(due) == set(Chat.objects.filter(topic=world.asked.topic, parent=None))


def test_what_was_refused_is_told_without_the_secret(world: World, browser: Client) -> None:
    refused = Chat.objects.get(topic=world.told.topic, seq=2)
    assert "Not saved: it contains a password, key or token." in shown(browser, refused)
    assert "未保存：" in shown(browser, refused, "zh-hans")


def test_a_turn_shows_the_summary_and_the_turns_of_other_topics_that_it_was_given(
    world: World, browser: Client, settings: SettingsWrapper
) -> None:
    settings.SUMMARY_AFTER_TOKENS, settings.HISTORY_MAX_TURNS = 1, 1
    elsewhere = turn(
        world.project, "Round the invoices half up.", topic="bills", reply="Rounded <b>them</b>."
    )
    for number in range(2):
        turn(world.project, f"Build page {number}.", topic="pages", reply="Built it.")
    for topic in Topic.objects.filter(ref__in=("bills", "pages")):
        Topic.objects.filter(pk=topic.pk).update(summary_due_at=timezone.now())
        summaries.run(topic.pk)
    asked = opened(world.project, "How did we round the invoices?", topic="pages").chat
    html = shown(browser, asked)
    assert "- 1: Build page 0 → Built it" in html
    assert "up to turn 2" in html
    assert f'href="{page(elsewhere)}"' in html
    assert "Round the invoices half up → Rounded &lt;b&gt;them&lt;/b&gt;" in html
    assert "Round the invoices half up → Rounded" in shown(browser, elsewhere), "its own digest"
    topic_page = shown(browser, asked.topic)
    assert "- 1: Build page 0 → Built it" in topic_page
    assert "made by rules" in topic_page
    assert "按规则生成" in shown(browser, asked.topic, "zh-hans")
    assert "pages，第 3 轮" in shown(browser, asked, "zh-hans"), "its own heading"
    Summary.objects.all().delete()
    assert "forgotten since" in shown(browser, asked)


def test_who_has_no_right_to_turns_sees_none(world: World) -> None:
    staff = make_user(is_staff=True)
    staff.user_permissions.set(Permission.objects.filter(codename="view_memory"))
    client = Client()
    client.force_login(staff)
    for model in (Chat, Topic, Instruction):
        name = model._meta.model_name
        assert client.get(reverse(f"admin:chats_{name}_changelist")).status_code == 403
        row = model._base_manager.first()
        assert row is not None
        assert client.get(page(row)).status_code == 403


def test_every_code_that_is_shown_has_words() -> None:
    assert set(REASONS) == set(Reason)
    assert set(OUTCOMES) == set(Outcome)
    assert set(PARTS) == set(parameters.PARTS)
    assert set(OMITTED) >= set(Omission)
    assert set(INTENTS) == {"continue", "lookup", "new_task"}
    assert len(INTENT_RULES) == 8
    assert set(DEGRADED) == {
        context.RECALL_FAILED,
        context.RECALL_DEADLINE,
        context.EPISODES_FAILED,
        context.SUMMARY_FAILED,
    }
