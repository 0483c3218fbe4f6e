"""What the pages of topics and of turns both say, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from memories.admin.words import DEGRADED, opening
from projects.admin.fragments import link, number, table

if TYPE_CHECKING:
    from collections.abc import Iterable

    from django.utils.safestring import SafeString

    from chats.models import Chat, Instruction

SHOWN = 50
TURN_TONES = {"running": "info", "succeeded": "success", "failed": "danger", "cancelled": "warning"}
RULE_TONES = {"active": "success", "promoted": "info", "dismissed": ""}
TOPIC_TONES = {"open": "info", "completed": "success"}
HEARD = {
    "stored": _("stored"),
    "already_known": _("already known"),
    "confirmed": _("confirmed"),
    "replaced": _("replaced an older one"),
    "needs_confirmation": _("waits for confirmation"),
    "refused": _("refused"),
}
# What the tokens of a context went to, in the order of the context.
ACCOUNT = {
    "instructions": _("instructions"),
    "memory": _("memory"),
    "summary": _("summary"),
    "episodes": _("episodes"),
    "history": _("history"),
    "message": _("message"),
    "free": _("free"),
    "window": _("window"),
}
USAGE = {"input": _("in"), "output": _("out")}


def given_in_words(chat: Chat) -> str:
    """The chip of a turn: memories and tokens, or why there are none."""
    if chat.memory_refs is None:
        return str(_("memory off"))
    if not chat.memory_refs:
        codes = [str(DEGRADED.get(code, code)) for code in chat.degraded]
        return ", ".join(codes) or str(_("nothing relevant"))
    memories = ngettext("%(n)s memory", "%(n)s memories", len(chat.memory_refs))
    tokens = ngettext("%(n)s token", "%(n)s tokens", chat.memory_tokens or 0)
    return " · ".join(
        (memories % {"n": number(len(chat.memory_refs))}, tokens % {"n": number(chat.memory_tokens or 0)})
    )


def instructions_table(rules: Iterable[Instruction]) -> SafeString | str:
    """`rules` come with chat and memory."""
    rows = (
        (
            link(rule, rule.content),
            rule.get_kind_display(),
            rule.get_state_display(),
            link(rule.chat, rule.chat.seq),
            link(rule.memory, rule.memory and rule.memory.content),
        )
        for rule in rules
    )
    return table((_("content"), _("kind"), _("state"), _("turn"), _("became")), rows)


def excerpt(chat: Chat) -> str:
    return opening(chat.message, limit=120) or f"#{chat.pk}"
