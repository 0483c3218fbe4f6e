"""Projects and the caller, as bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rest_framework import serializers

from projects.http.serializers import (
    BooleanField,
    ChoiceField,
    IntegerField,
    StrictSerializer,
    StringField,
)
from projects.models import ExplicitPolicy, ReviewPolicy, Scope

if TYPE_CHECKING:
    from projects.models import ApiKey, Project


class ProjectBody(StrictSerializer):
    """What PUT sets (all of it) and PATCH changes (what is sent)."""

    name = StringField(max_length=120, trim_whitespace=True)
    description = StringField(max_length=2000, allow_blank=True, default="")
    memory_enabled = BooleanField(default=True)
    review_policy = ChoiceField(choices=ReviewPolicy.choices, default=ReviewPolicy.IMPORTANT)
    explicit_policy = ChoiceField(choices=ExplicitPolicy.choices, default=ExplicitPolicy.ANYONE)
    max_items = IntegerField(min_value=1, max_value=12, default=12)
    max_tokens = IntegerField(min_value=100, max_value=6000, default=6000)
    window_tokens = IntegerField(min_value=1000, max_value=2_000_000, default=40_000)
    static_instructions = StringField(max_length=40_000, allow_blank=True, default="")
    guidance = StringField(max_length=1000, allow_blank=True, default="")
    mask_chats = BooleanField(default=False)
    debug_mode = BooleanField(default=False)


class ProjectPut(ProjectBody):
    owner = StringField(
        max_length=150,
        required=False,
        help_text="User name of a new project’s owner, else the caller. For platform keys and superadmins.",
    )


class ProjectAnswer(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()
    description = serializers.CharField()
    owner = serializers.CharField()
    memory_enabled = serializers.BooleanField()
    memory_switched_at = serializers.DateTimeField(allow_null=True)
    review_policy = serializers.ChoiceField(choices=ReviewPolicy.choices)
    explicit_policy = serializers.ChoiceField(choices=ExplicitPolicy.choices)
    max_items = serializers.IntegerField()
    max_tokens = serializers.IntegerField()
    window_tokens = serializers.IntegerField()
    static_instructions = serializers.CharField()
    guidance = serializers.CharField()
    mask_chats = serializers.BooleanField()
    debug_mode = serializers.BooleanField()
    created_at = serializers.DateTimeField()
    updated_at = serializers.DateTimeField()


class KeyProject(serializers.Serializer[Any]):
    slug = serializers.CharField()
    name = serializers.CharField()


class KeyAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    name = serializers.CharField()
    prefix = serializers.CharField()
    project = KeyProject(allow_null=True)
    expires_at = serializers.DateTimeField(allow_null=True)


class UserAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    username = serializers.CharField()
    name = serializers.CharField()


class RequestsAnswer(serializers.Serializer[Any]):
    limit = serializers.IntegerField(help_text="Requests in a window.")
    window_s = serializers.IntegerField()
    remaining = serializers.IntegerField(help_text="Of the window under way, after this request.")
    resets_in_s = serializers.IntegerField()


class LimitsAnswer(serializers.Serializer[Any]):
    body_bytes = serializers.IntegerField()
    page = serializers.IntegerField()
    max_items = serializers.IntegerField(
        allow_null=True, help_text="Memories a turn; null without a project."
    )
    max_tokens = serializers.IntegerField(allow_null=True)
    requests = RequestsAnswer(
        allow_null=True,
        help_text="Of a project’s key for its project; of other callers for what belongs to no project: in each "
        "project they have as many again. Null without a throttle.",
    )


class MeAnswer(serializers.Serializer[Any]):
    kind = serializers.ChoiceField(choices=("key", "user"))
    key = KeyAnswer(allow_null=True)
    user = UserAnswer(allow_null=True)
    scopes = serializers.ListField(
        child=serializers.ChoiceField(choices=Scope.choices),
        help_text="Empty for people: their role decides.",
    )
    limits = LimitsAnswer()


_PROJECT_MEMBERS: tuple[str, ...] = tuple(ProjectAnswer().get_fields())


def project_answer(project: Project) -> dict[str, Any]:
    told = {name: getattr(project, name) for name in _PROJECT_MEMBERS}
    return told | {"owner": project.owner.get_username()}


def key_answer(key: ApiKey) -> dict[str, Any]:
    return {
        "id": key.pk,
        "name": key.name,
        "prefix": key.prefix,
        "project": {"slug": key.project.slug, "name": key.project.name} if key.project else None,
        "expires_at": key.expires_at,
    }
