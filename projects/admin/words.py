"""Codes of the trail in the reader's language. A code that has no words stands for itself."""

from __future__ import annotations

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

ACTIONS = {
    "project.create": _("project created"),
    "project.edit": _("project changed"),
    "project.delete": _("project deleted"),
    "project.enable_memory": _("memory switched on"),
    "project.disable_memory": _("memory switched off"),
    "project.transfer": _("project handed over"),
    "member.add": _("member added"),
    "member.change": _("member's role changed"),
    "member.remove": _("member removed"),
    "member.leave": _("member left"),
    "key.issue": _("key issued"),
    "key.revoke": _("key revoked"),
    "login.lock": _("log-in locked"),
    "login.unlock": _("lock of a log-in lifted"),
    "person.erase": _("person erased"),
    "topic.edit": _("topic changed"),
    "topic.complete": _("topic completed"),
    "topic.delete": _("topic deleted"),
    "instruction.dismiss": _("instruction dismissed"),
    "instruction.promote": _("instruction became a memory"),
    "extraction.retry": _("extraction tried again"),
    "provider.try": _("model provider tried again"),
    "memory.create": _("memory added"),
    "memory.edit": _("memory changed"),
    "memory.confirm": _("memory confirmed"),
    "memory.reject": _("memory rejected"),
    "memory.enable": _("memory enabled"),
    "memory.disable": _("memory disabled"),
    "memory.supersede": _("memory superseded"),
    "memory.merge": _("memories merged"),
    "memory.add_evidence": _("evidence added"),
    "memory.forget_source": _("source forgotten"),
    "memory.delete": _("memory deleted"),
    "memory.restore": _("memory restored"),
    "memory.purge": _("memory purged"),
    "memory.archive": _("memory archived"),
    "memory.undo": _("last change of a memory undone"),
    "memories.fade": _("memories archived that nobody needs"),
    "memory.rescan": _("memory looked at again"),
    "guard.rescan": _("looked at again by the guard"),
    "memory.cascade": _("deleted with its project"),
}
ACTORS = {
    "user": _("person"),
    "key": _("API key"),
    "author": _("author of a message"),
    "worker": _("worker"),
    "system": _("system"),
}
# Nobody has given these a name of their own.
UNNAMED = ("worker", "system")
NO_EXPIRY = pgettext_lazy("when something expires", "never")
TRANSPORTS = {
    "api": _("API"),
    "web": _("web"),
    "admin": _("admin"),
    "task": _("background task"),
    "command": _("command line"),
}
TARGETS = {
    "memory": _("memory"),
    "topic": _("topic"),
    "instruction": _("instruction"),
    "extraction": _("extraction"),
    "api_key": _("API key"),
    "user": _("user"),
    "login": _("log-in"),
    "guard": _("rules of the guard"),
}
COUNTS = {
    "seen": _("looked at"),
    "changed": pgettext_lazy("of rows", "changed"),
    "through": _("up to row"),
    "done": _("to the end"),
    "failures": _("failures"),
    "turns": _("turns"),
    "steps": _("steps"),
    "recalls": _("recalls"),
    "candidates": _("candidates"),
    "extractions": _("extractions"),
    "instructions": _("instructions"),
    "topics": _("topics"),
    "quotes": _("memories that lost quotes"),
    "memories": _("memories"),
    "audit": _("audit events"),
    "chats": _("turns and steps"),
    "instructions_ended": _("instructions ended"),
    "expired": _("expired"),
    "faded": _("faded"),
    "unreviewed": _("never reviewed"),
    "memories.Memory": _("memories"),
    "memories.HistoricalMemory": _("versions of memories"),
    "memories.MemoryUsage": pgettext_lazy("of memories", "usages"),
    "memories.Tombstone": _("tombstones"),
    "memories.Recall": _("recalls"),
    "memories.RecallItem": _("recalled memories"),
    "memories.RecallBlock": _("blocks"),
    "memories.Extraction": _("extractions"),
    "memories.Candidate": _("candidates"),
    "chats.Topic": _("topics"),
    "chats.Chat": _("turns and steps"),
    "chats.Summary": _("summaries"),
    "projects.AuditEvent": _("audit events"),
    "chats.Chat as said": _("turns and steps, as they were said"),
    "chats.Instruction": _("instructions"),
    "projects.Project": _("project"),
    "projects.ProjectGrant": _("rights"),
    "projects.ApiKey": _("API keys"),
}
# Reasons that a program gave by code; the apps that have such codes add theirs.
REASONS: dict[str, object] = {}


def reason_said(reason: str | None) -> str:
    """A person's own words, or those of a code."""
    return str(REASONS.get(reason or "", reason or ""))


def who(kind: str, name: str) -> str:
    """An actor as the reader calls it: a person's or a key's name, the machinery's in the reader's language."""
    return str(ACTORS[kind]) if kind in UNNAMED else name
