"""Erasing a person from a project."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.contrib.auth.models import User
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from chats import erasure
from chats.api.refusals import ServiceView
from chats.models import MAX_REF
from memories.models import MAX_REASON
from projects.http import access, idempotency
from projects.http.idempotency import Outcome
from projects.http.problems import FieldError, invalid
from projects.http.schema import IDEMPOTENCY_KEY, problems
from projects.http.serializers import (
    BooleanField,
    StrictSerializer,
    StringField,
    read_body,
    reject_unknown_parameters,
)
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

    from projects.models import Project


class ErasureBody(StrictSerializer):
    author_ref = StringField(
        max_length=MAX_REF,
        required=False,
        says_something=True,
        help_text="Whoever spoke under this reference, and the member that they were matched to.",
    )
    user = StringField(
        max_length=150, required=False, says_something=True, help_text="A user name: whoever spoke or acted."
    )
    dry_run = BooleanField(default=False)
    reason = StringField(
        max_length=MAX_REASON,
        allow_blank=True,
        default="",
        help_text="Kept in the audit; it should not name them.",
    )

    described: ClassVar = {"oneOf": [{"required": ["author_ref"]}, {"required": ["user"]}]}


class ErasureAnswer(serializers.Serializer[Any]):
    dry_run = serializers.BooleanField()
    turns = serializers.IntegerField(help_text="They lost every word, and keep their places and counts.")
    steps = serializers.IntegerField()
    recalls = serializers.IntegerField()
    candidates = serializers.IntegerField()
    extractions = serializers.IntegerField(help_text="Runs that lost what a model answered.")
    instructions = serializers.IntegerField()
    topics = serializers.IntegerField(help_text="They are summed up anew from what is left.")
    quotes = serializers.IntegerField(help_text="Memories that lost quotes.")
    memories = serializers.IntegerField(help_text="Memories that were named after them; they stay.")
    audit = serializers.IntegerField(help_text="Events that no longer say who it was.")


class ErasureView(ServiceView):
    @extend_schema(
        operation_id="person_erase",
        tags=["projects"],
        parameters=[IDEMPOTENCY_KEY],
        request=ErasureBody,
        responses={200: ErasureAnswer, **problems(400, 403, 404, 409, 413, 422)},
        examples=[
            OpenApiExample("what would go", {"author_ref": "u-1007", "dry_run": True}, request_only=True),
            OpenApiExample(
                "gone",
                {"dry_run": False} | dict.fromkeys(erasure.COUNTS, 0) | {"turns": 12, "topics": 2},
                response_only=True,
            ),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Erase a person: their words, wherever they were taken, and their name. For owners; no undo.

        Turns keep their places, memories stay without quotes and names. A dry run tells what would go. Whom nobody
        knows there leaves only zeros.
        """
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=None, permission=Permission.ADMINISTER)
        values = read_body(ErasureBody, request)
        if ("author_ref" in values) == ("user" in values):
            raise invalid(FieldError("", "invalid", _("Name the person either as an author or as a user.")))

        def erase() -> dict[str, int]:
            return _erase(project, request, **values)

        if values["dry_run"]:
            idempotency.key_of(request)
            return Response({"dry_run": True} | erase())
        return idempotency.once(
            request,
            act=lambda: Outcome(200, erase()),
            render=lambda outcome: {"dry_run": False} | outcome.ids,
        )


def _erase(
    project: Project, request: Request, *, author_ref: str = "", user: str = "", **values: Any
) -> dict[str, int]:
    named = User.objects.filter(username=user).first() if user else None
    if user and named is None:
        return dict.fromkeys(erasure.COUNTS, 0)
    return erasure.erase_person(
        project=project, author_ref=author_ref, user=named, by=access.actor_of(request), **values
    )
