"""Scripted conversations: each with the rules and with a model that also makes something up."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from memories.models import Memory

from . import chinese, english, mixed
from .script import Conversation, Invention, Say

if TYPE_CHECKING:
    from collections.abc import Callable

    from .stage import Stage

ALL = (*chinese.CONVERSATIONS, *english.CONVERSATIONS, *mixed.CONVERSATIONS)


def named(conversation: Conversation) -> str:
    return conversation.name


@pytest.mark.django_db
@pytest.mark.parametrize("backend", ["rules", "model"])
@pytest.mark.parametrize("conversation", ALL, ids=named)
def test_what_is_kept_of_a_conversation_and_recalled_after_it(
    set_up: Callable[..., Stage], backend: str, conversation: Conversation
) -> None:
    stage = set_up(
        backend,
        review_policy=conversation.policy,
        explicit_policy=conversation.explicit,
        static_instructions=conversation.instructions,
    )
    stage.play(conversation)
    expected = (
        conversation.model if backend == "model" and conversation.model is not None else conversation.live
    )
    assert stage.live() == expected
    ever = Memory.history.filter(status="active").values_list("content", flat=True)  # type: ignore[attr-defined]
    assert set(stage.inventions).isdisjoint(ever)


def test_there_are_forty_of_them_in_both_languages_and_each_holds_an_invention() -> None:
    assert len(ALL) >= 40
    assert len({conversation.name for conversation in ALL}) == len(ALL)
    without = [
        conversation.name
        for conversation in ALL
        if not any(
            isinstance(note, Invention)
            for step in conversation.steps
            if isinstance(step, Say)
            for note in step.model
        )
    ]
    assert without == []
