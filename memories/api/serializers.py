"""Memories, their versions and what extraction made of them, as bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from memories.models import (
    MAX_CONTENT,
    MAX_KEY,
    MAX_REASON,
    Authority,
    Extraction,
    MemoryType,
    Source,
    Status,
)
from memories.store.archiving import fate_of
from memories.store.drafts import MAX_FILES, MAX_KEYWORDS, MAX_SHORT
from memories.withheld import against, shown
from projects.http.problems import pointer
from projects.http.serializers import (
    BooleanField,
    ChoiceField,
    DateTimeField,
    IntegerField,
    ListField,
    StrictSerializer,
    StringField,
)

if TYPE_CHECKING:
    from django.contrib.auth.models import User

    from memories.models import Candidate, Memory

# --- What is sent ------------------------------------------------------------------------------------------


class Reason(StrictSerializer):
    reason = StringField(
        max_length=MAX_REASON, allow_blank=True, required=False, help_text="Kept in history and audit."
    )


class MemoryBody(Reason):
    """A memory as a person or an agent writes it; PATCH changes the members that are sent."""

    type = ChoiceField(choices=MemoryType.choices)
    content = StringField(max_length=MAX_CONTENT, says_something=True)
    key = StringField(
        max_length=MAX_KEY,
        allow_blank=True,
        required=False,
        help_text="What it is about; one live memory per key. Without one it is derived from the content.",
    )
    importance = IntegerField(min_value=1, max_value=5, required=False, help_text="An agent’s is 4 at most.")
    always = BooleanField(required=False, help_text="In every turn, instead of only when relevant.")
    keywords = ListField(child=StringField(max_length=MAX_SHORT), max_length=MAX_KEYWORDS, required=False)
    files = ListField(
        child=StringField(max_length=MAX_SHORT), max_length=MAX_FILES, required=False, help_text="Globs."
    )
    area = StringField(max_length=MAX_SHORT, allow_blank=True, required=False)
    expires_at = DateTimeField(allow_null=True, required=False)


class Changes(MemoryBody):
    """What is changed of a memory, as PATCH takes it."""

    type = ChoiceField(choices=MemoryType.choices, required=False)
    content = StringField(max_length=MAX_CONTENT, says_something=True, required=False)
    reason = None  # type: ignore[assignment]


class Confirmation(Reason):
    changes = Changes(required=False, help_text="Made before it is put in force, in one step with that.")
    target_version = IntegerField(
        min_value=1,
        required=False,
        help_text="After `target_changed`: the version of the memory to be replaced that you have seen.",
    )


class Merge(Reason):
    into = IntegerField(help_text="The memory that stays; it takes over the evidence.")


class Undoing(Reason):
    undoes_version = IntegerField(
        min_value=1,
        required=False,
        help_text="Nothing is undone unless the memory is still at this version.",
    )


# --- What is answered --------------------------------------------------------------------------------------


class EvidenceAnswer(serializers.Serializer[Any]):
    quote = serializers.CharField()
    role = serializers.ChoiceField(choices=("user", "assistant"))
    turn = serializers.IntegerField(allow_null=True)
    said_at = serializers.DateTimeField()


class TopicReference(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    ref = serializers.CharField()
    title = serializers.CharField()


class UsageAnswer(serializers.Serializer[Any]):
    count = serializers.IntegerField(help_text="Turns that were given it.")
    last_at = serializers.DateTimeField(allow_null=True)


class FindingAnswer(serializers.Serializer[Any]):
    pointer = serializers.CharField(help_text="JSON pointer into the memory: `/content`, `/keywords/0` …")
    kind = serializers.ChoiceField(choices=("secret", "injection", "hidden"))
    code = serializers.CharField()
    start = serializers.IntegerField(
        allow_null=True, help_text="In characters; null where secrets are masked."
    )
    end = serializers.IntegerField(allow_null=True)


class MemoryAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    version = serializers.IntegerField()
    type = serializers.ChoiceField(choices=MemoryType.choices)
    key = serializers.CharField()
    content = serializers.CharField()
    importance = serializers.IntegerField()
    always = serializers.BooleanField()
    keywords = serializers.ListField(child=serializers.CharField())
    files = serializers.ListField(child=serializers.CharField())
    area = serializers.CharField()
    # A member of the answer; DRF has an attribute of that name.
    source = serializers.ChoiceField(choices=Source.choices)  # type: ignore[assignment]
    authority = serializers.ChoiceField(choices=Authority.choices)
    status = serializers.ChoiceField(choices=Status.choices)
    withheld = serializers.BooleanField(help_text="The guard holds it for a person; it is not recalled.")
    withheld_for = serializers.CharField(help_text="The guard’s code for why; empty unless withheld.")
    findings = FindingAnswer(
        many=True, help_text="All that the guard has against it now; empty unless withheld."
    )
    spot_check = serializers.BooleanField(
        help_text="In force by itself, and drawn for a person to look at: confirm, edit, disable or reject it."
    )
    evidence = EvidenceAnswer(many=True)
    said_at = serializers.DateTimeField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()
    confirmed_at = serializers.DateTimeField(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)
    created_by = serializers.CharField(allow_null=True, help_text="User name; null for agents and workers.")
    updated_by = serializers.CharField(allow_null=True)
    confirmed_by = serializers.CharField(allow_null=True)
    source_topic = TopicReference(allow_null=True)
    source_turn = serializers.IntegerField(allow_null=True)
    extraction = serializers.IntegerField(allow_null=True)
    replaces = serializers.IntegerField(allow_null=True)
    contradicts = serializers.IntegerField(allow_null=True)
    tokens = serializers.IntegerField(help_text="Of its line in the block.")
    fades_at = serializers.DateTimeField(
        allow_null=True,
        help_text="When it will be archived if nobody uses, changes or confirms it until then; null: never.",
    )
    usage = UsageAnswer()


class VersionAnswer(serializers.Serializer[Any]):
    """A memory as it was at one version, who made it so and why."""

    version = serializers.IntegerField()
    action = serializers.CharField()
    at = serializers.DateTimeField()
    by = serializers.CharField()
    by_kind = serializers.ChoiceField(choices=("user", "author", "key", "worker", "system"))
    transport = serializers.CharField()
    request_id = serializers.CharField()
    reason = serializers.CharField()
    type = serializers.ChoiceField(choices=MemoryType.choices)
    key = serializers.CharField()
    content = serializers.CharField()
    importance = serializers.IntegerField()
    always = serializers.BooleanField()
    keywords = serializers.ListField(child=serializers.CharField())
    files = serializers.ListField(child=serializers.CharField())
    area = serializers.CharField()
    authority = serializers.ChoiceField(choices=Authority.choices)
    status = serializers.ChoiceField(choices=Status.choices)
    withheld = serializers.BooleanField()
    withheld_for = serializers.CharField()
    expires_at = serializers.DateTimeField(allow_null=True)


class ExtractionAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    topic = TopicReference(allow_null=True)
    trigger = serializers.ChoiceField(choices=Extraction.Trigger.choices)
    status = serializers.ChoiceField(choices=Extraction.RunStatus.choices)
    result = serializers.ChoiceField(
        choices=Extraction.Result.choices,
        help_text="What it came to: `nothing` worth keeping, an `unparsable` answer and `provider_down` differ.",
    )
    backend = serializers.CharField()
    model = serializers.CharField()
    prompt_version = serializers.CharField()
    turns = serializers.ListField(child=serializers.IntegerField(), help_text="The turns that it read.")
    attempts = serializers.IntegerField()
    counts = serializers.DictField(child=serializers.IntegerField(), help_text="Candidates by outcome.")
    tokens_in = serializers.IntegerField()
    tokens_out = serializers.IntegerField()
    error_kind = serializers.ChoiceField(choices=Extraction.ErrorKind.choices)
    error = serializers.CharField(
        help_text="A word for what went wrong, such as `rate_limited` or `not_json`."
    )
    started_at = serializers.DateTimeField()
    finished_at = serializers.DateTimeField(allow_null=True)


class CandidateAnswer(serializers.Serializer[Any]):
    type = serializers.ChoiceField(choices=MemoryType.choices)
    key = serializers.CharField()
    content = serializers.CharField()
    quote = serializers.CharField()
    quote_role = serializers.CharField()
    turn = serializers.IntegerField(allow_null=True)
    outcome = serializers.CharField()
    reason = serializers.CharField(help_text="Why: a code such as `review_policy` or `manual_precedence`.")
    memory = serializers.IntegerField(allow_null=True, help_text="The memory that it became.")
    target = serializers.IntegerField(allow_null=True, help_text="The memory that it met.")


class ExtractionDetail(ExtractionAnswer):
    candidates = CandidateAnswer(many=True)


# --- From rows to answers ----------------------------------------------------------------------------------

_LINKS = {
    "id",
    "findings",
    "evidence",
    "created_by",
    "updated_by",
    "confirmed_by",
    "source_topic",
    "source_turn",
    "extraction",
    "replaces",
    "contradicts",
    "fades_at",
    "usage",
}
_PLAIN = tuple(name for name in MemoryAnswer().get_fields() if name not in _LINKS)
OF_VERSION = tuple(name for name in VersionAnswer().get_fields() if name in _PLAIN)
_OF_RUN = tuple(name for name in ExtractionAnswer().get_fields() if name not in {"id", "topic", "turns"})
_OF_CANDIDATE = ("type", "key", "content", "quote", "quote_role", "outcome", "reason")


def named(memory: Memory) -> dict[str, Any]:
    """Which memory is meant, without what it says."""
    return {
        "id": memory.pk,
        "version": memory.version,
        "key": memory.key,
        "type": memory.type,
        "status": memory.status,
    }


def memory_brief(memory: Memory) -> dict[str, Any]:
    """A memory in one line of another answer; costs no query."""
    return named(memory) | {"content": shown(memory, memory.content)}


def memory_json(memory: Memory) -> dict[str, Any]:
    """The whole memory, as MemoryAnswer describes it. Costs no query after `with_provenance()`."""
    usage = getattr(memory, "usage", None)
    return (
        {name: getattr(memory, name) for name in _PLAIN}
        | _texts(memory)
        | {
            "id": memory.pk,
            "findings": [
                {
                    "pointer": pointer(one.field, *([] if one.position is None else [one.position])),
                    "kind": one.kind,
                    "code": one.code,
                    "start": one.span[0] if one.span else None,
                    "end": one.span[1] if one.span else None,
                }
                for one in against(memory)
            ],
            "evidence": [
                {"quote": one["quote"], "role": one["role"], "turn": one["chat"], "said_at": one["said_at"]}
                for one in memory.evidence
            ],
            "created_by": _name(memory.created_by),
            "updated_by": _name(memory.updated_by),
            "confirmed_by": _name(memory.confirmed_by),
            "source_topic": topic_reference(memory.source_topic),
            "source_turn": memory.source_chat_id,
            "extraction": memory.extraction_id,
            "replaces": memory.replaces_id,
            "contradicts": memory.contradicts_id,
            "fades_at": fate.at if (fate := fate_of(memory)) else None,
            "usage": {"count": usage.count if usage else 0, "last_at": usage.last_at if usage else None},
        }
    )


def _texts(memory: Memory) -> dict[str, Any]:
    """The texts of a withheld memory, in which the guard may have come to know a secret."""
    if not memory.withheld:
        return {}
    return {name: shown(memory, getattr(memory, name)) for name in ("content", "key", "area")} | {
        name: [shown(memory, text) for text in getattr(memory, name)] for name in ("keywords", "files")
    }


def version_json(version: Any) -> dict[str, Any]:
    """A row of history."""
    return {name: getattr(version, name) for name in OF_VERSION} | {
        "action": version.action,
        "at": version.history_date,
        "by": version.actor_name,
        "by_kind": version.actor_kind,
        "transport": version.transport,
        "request_id": version.request_id,
        "reason": version.history_change_reason or "",
    }


def extraction_json(extraction: Extraction) -> dict[str, Any]:
    return {name: getattr(extraction, name) for name in _OF_RUN} | {
        "id": extraction.pk,
        "topic": topic_reference(extraction.topic),
        "turns": extraction.chats_read,
    }


def candidate_json(candidate: Candidate) -> dict[str, Any]:
    return {name: getattr(candidate, name) for name in _OF_CANDIDATE} | {
        "turn": candidate.chat_id,
        "memory": candidate.memory_id,
        "target": candidate.target_id,
    }


def topic_reference(topic: Any) -> dict[str, Any] | None:
    """A topic of chats, which this app knows only through its foreign keys."""
    return {"id": topic.pk, "ref": topic.ref, "title": topic.title} if topic else None


def _name(user: User | None) -> str | None:
    return user.get_username() if user else None
