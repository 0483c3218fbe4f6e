"""One action for many memories at once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.response import Response

from memories import store
from memories.api.filters import MemoryFilter, narrowed
from memories.api.problems import StoreView, result_json
from memories.api.undoing import UndoAnswer
from memories.models import MAX_REASON, Memory
from projects.http import access, idempotency
from projects.http.idempotency import Outcome
from projects.http.problems import FieldError, invalid
from projects.http.schema import IDEMPOTENCY_KEY, problems
from projects.http.serializers import (
    BooleanField,
    ChoiceField,
    IntegerField,
    ListField,
    StrictSerializer,
    StringField,
    read_body,
    reject_unknown_parameters,
)
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

    from projects.models import Project

# Decisions that no key takes.
PEOPLE_ONLY = frozenset({"confirm", "reject"})


class BulkBody(StrictSerializer):
    action = ChoiceField(choices=tuple(store.ACTIONS))
    ids = ListField(
        child=IntegerField(min_value=1), min_length=1, max_length=store.MAX_SELECTED, required=False
    )
    filter = MemoryFilter(required=False)
    dry_run = BooleanField(default=False)
    selection = StringField(
        max_length=64,
        required=False,
        help_text="From a dry run: nothing happens unless the memories are still what they were then.",
    )
    reason = StringField(max_length=MAX_REASON, allow_blank=True, default="")

    described: ClassVar = {"oneOf": [{"required": ["ids"]}, {"required": ["filter"]}]}


class BulkResultAnswer(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    outcome = serializers.ChoiceField(choices=("changed", "unchanged", "refused"))
    code = serializers.CharField(required=False, help_text="Why it was refused.")
    detail = serializers.CharField(required=False)


class BulkAnswer(serializers.Serializer[Any]):
    action = serializers.CharField()
    dry_run = serializers.BooleanField()
    selection = serializers.CharField()
    changed = serializers.IntegerField()
    unchanged = serializers.IntegerField()
    refused = serializers.IntegerField(help_text="Only a dry run has any.")
    results = BulkResultAnswer(many=True)
    undo = UndoAnswer(
        allow_null=True,
        help_text="The request that takes this back; null where nothing changed, and in dry runs.",
    )


class BulkView(StoreView):
    @extend_schema(
        operation_id="memories_bulk",
        tags=["memories"],
        parameters=[IDEMPOTENCY_KEY],
        request=BulkBody,
        responses={200: BulkAnswer, **problems(400, 403, 404, 409, 422)},
        examples=[
            OpenApiExample(
                "by filter",
                {"action": "disable", "filter": {"status": ["active"], "area": "登录"}, "dry_run": True},
                request_only=True,
            ),
            OpenApiExample(
                "disabled",
                {
                    "action": "disable",
                    "dry_run": False,
                    "selection": "0b8f3c5d9a7e41c2b6d0f1e2a3948576",
                    "changed": 1,
                    "unchanged": 1,
                    "refused": 0,
                    "results": [{"id": 12, "outcome": "changed"}, {"id": 13, "outcome": "unchanged"}],
                    "undo": {
                        "method": "POST",
                        "path": "/api/v1/projects/shop/memories/bulk/",
                        "body": {"action": "enable", "ids": [12]},
                    },
                },
                response_only=True,
            ),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """One action for up to 500 memories, named by `ids` or by a `filter`: all of them, or none.

        If one refuses, nothing happens: 409 `selection_changed`, with each memory's outcome in `results`.
        A dry run (200) tells the same beforehand. Only people confirm and reject.
        """
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=Scope.MEMORIES_WRITE, permission=Permission.CURATE)
        values = read_body(BulkBody, request)
        action, selected = values["action"], _selected(project, values)
        if action in PEOPLE_ONLY:
            access.user_of(request)

        def run() -> store.Bulk:
            return store.bulk(
                project=project,
                action=action,
                by=access.actor_of(request),
                selection=values.get("selection", ""),
                dry_run=values["dry_run"],
                reason=values["reason"],
                **selected,
            )

        if values["dry_run"]:
            idempotency.key_of(request)
            return Response(_told(action, run(), undo=None) | {"dry_run": True})

        def act() -> Outcome:
            done = run()
            outcomes = {outcome: done.ids(outcome) for outcome in ("changed", "unchanged")}
            return Outcome(200, {"selection": done.selection, "left": done.left, **outcomes})

        def render(outcome: Outcome) -> dict[str, Any]:
            results = sorted(
                (memory_id, name) for name in ("changed", "unchanged") for memory_id in outcome.ids[name]
            )
            done = store.Bulk(
                selection=outcome.ids["selection"],
                results=tuple(store.BulkResult(memory_id=pk, outcome=name) for pk, name in results),
            )
            return _told(action, done, undo=_undo(project, action, outcome.ids))

        return idempotency.once(request, act=act, render=render)


def _selected(project: Project, values: dict[str, Any]) -> dict[str, Any]:
    if ("ids" in values) == ("filter" in values):
        raise invalid(FieldError("", "invalid", _("Name the memories by either ids or a filter.")))
    if "ids" in values:
        return {"ids": values["ids"]}
    if not values["filter"]:
        raise invalid(FieldError("/filter", "invalid", _("A filter says at least one thing.")))
    return {"among": narrowed(Memory.objects.of(project), values["filter"])}


def _told(action: str, done: store.Bulk, *, undo: dict[str, Any] | None) -> dict[str, Any]:
    return {
        "action": action,
        "dry_run": False,
        "selection": done.selection,
        **{outcome: len(done.ids(outcome)) for outcome in ("changed", "unchanged", "refused")},
        "results": [result_json(result) for result in done.results],
        "undo": undo,
    }


def _undo(project: Project, action: str, done: dict[str, Any]) -> dict[str, Any] | None:
    if not done["changed"]:
        return None
    body = {"action": store.INVERSE[action], "ids": done["changed"]}
    if body["action"] == "undo":
        # Else it would take back what came after.
        body["selection"] = done["left"]
    return {"method": "POST", "path": reverse("memories:memory-bulk", args=[project.slug]), "body": body}
