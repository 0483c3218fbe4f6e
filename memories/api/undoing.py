"""What every change of a memory answers: the memory as it is now, and the request that takes the change back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from rest_framework import serializers

from memories import store
from memories.api.serializers import MemoryAnswer, memory_json
from projects.http import access

if TYPE_CHECKING:
    from rest_framework.request import Request

    from memories.models import Memory


class UndoAnswer(serializers.Serializer[Any]):
    method = serializers.CharField()
    path = serializers.CharField()
    body = serializers.DictField()


class ChangedAnswer(MemoryAnswer):
    undo = UndoAnswer(
        allow_null=True,
        help_text="The request that takes the memory's last change back; null where the caller cannot.",
    )


def changed_json(request: Request, memory: Memory) -> dict[str, Any]:
    project = memory.project
    undo = None
    if store.can_undo(project=project, memory_id=memory.pk, by=access.actor_of(request)):
        undo = {
            "method": "POST",
            "path": reverse("memories:memory-undo", args=[project.slug, memory.pk]),
            "body": {"undoes_version": memory.version},
        }
    return memory_json(memory) | {"undo": undo}
