"""Recall tried out: what a message would be given, and why not something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import OpenApiExample, extend_schema
from rest_framework import serializers
from rest_framework.response import Response
from rest_framework.views import APIView

from memories.models import MemoryType
from memories.recall import explain, recall
from projects.http import access
from projects.http.schema import problems
from projects.http.serializers import (
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

    from memories.recall import Explanation, Item, RecallResult

MAX_MESSAGE = 200_000
MAX_WHY = 50
# How many of the best that are left out are told.
MAX_OMITTED = 20
NOT_FOUND = "not_found"


class RecallBody(StrictSerializer):
    message = StringField(max_length=MAX_MESSAGE, allow_blank=True)
    files = ListField(
        child=StringField(max_length=500),
        max_length=200,
        required=False,
        help_text="Paths that the turn is about.",
    )
    instructions = ListField(
        child=StringField(max_length=2000),
        max_length=20,
        required=False,
        help_text="Rules that hold in the topic.",
    )
    area = StringField(max_length=120, allow_blank=True, required=False)
    max_items = IntegerField(min_value=1, max_value=12, required=False, help_text="Default: the project’s.")
    max_tokens = IntegerField(
        min_value=1, max_value=6000, required=False, help_text="Default: the project’s."
    )
    why = ListField(
        child=IntegerField(min_value=1),
        max_length=MAX_WHY,
        required=False,
        help_text="Ids of memories, each of which is explained.",
    )


class RecalledItem(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    version = serializers.IntegerField()
    type = serializers.ChoiceField(choices=MemoryType.choices)
    key = serializers.CharField()
    content = serializers.CharField()
    tier = serializers.ChoiceField(choices=("always", "relevant"))
    rank = serializers.IntegerField()
    score = serializers.FloatField(allow_null=True, help_text="Null in the always tier.")
    parts = serializers.DictField(child=serializers.FloatField(), help_text="What the score is made of.")
    matched = serializers.ListField(child=serializers.CharField(), help_text="Terms of the turn that it has.")
    tokens = serializers.IntegerField()


class OmittedItem(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    version = serializers.IntegerField()
    reason = serializers.CharField()
    score = serializers.FloatField()
    parts = serializers.DictField(child=serializers.FloatField())


class WhyItem(serializers.Serializer[Any]):
    id = serializers.IntegerField()
    reason = serializers.CharField(
        help_text="`recalled`, `below_floor`, `over_items`, `over_tokens`, `near_duplicate`, `always_overflow`, "
        "`withheld`, `expired`, the memory's status when it is not in force, or `not_found`."
    )
    score = serializers.FloatField(allow_null=True)
    parts = serializers.DictField(child=serializers.FloatField())
    matched = serializers.ListField(child=serializers.CharField())


class BlockAnswer(serializers.Serializer[Any]):
    block = serializers.CharField(help_text="`always` followed by `relevant`.")
    always = serializers.CharField()
    relevant = serializers.CharField()
    sha256 = serializers.CharField(help_text="Of the block.")
    refs = serializers.ListField(child=serializers.IntegerField())
    tokens = serializers.IntegerField()


class DryRecallAnswer(serializers.Serializer[Any]):
    memory_enabled = serializers.BooleanField(help_text="False: turns are given nothing at present.")
    memory = BlockAnswer()
    items = RecalledItem(many=True, help_text="By rank.")
    omitted = OmittedItem(many=True, help_text=f"The best {MAX_OMITTED} that were asked for and left out.")
    omitted_counts = serializers.DictField(
        child=serializers.IntegerField(), help_text="All of them, by reason."
    )
    why = WhyItem(many=True, help_text="One for each id that was asked about, in that order.")
    ranker = serializers.CharField()
    ms = serializers.FloatField()


_PARTS = {"lexical": 0.51, "files": 0.1, "importance": 0.02, "recency": 0.08}
_EXAMPLE = {
    "memory_enabled": True,
    "memory": {
        "block": "<project_memory>\n…\n- constraint #12 (2026-12-01): 页面引用区块要用区块 ID\n</project_memory>\n",
        "always": "<project_memory>\n…\n- constraint #12 (2026-12-01): 页面引用区块要用区块 ID\n</project_memory>\n",
        "relevant": "",
        "sha256": "9d0f…",
        "refs": [12],
        "tokens": 58,
    },
    "items": [
        {
            "id": 12,
            "version": 1,
            "type": "constraint",
            "key": "页面引用区块",
            "content": "页面引用区块要用区块 ID",
            "tier": "always",
            "rank": 1,
            "score": None,
            "parts": _PARTS,
            "matched": ["页面", "区块"],
            "tokens": 24,
        }
    ],
    "omitted": [],
    "omitted_counts": {},
    "why": [{"id": 7, "reason": "disabled", "score": None, "parts": {}, "matched": []}],
    "ranker": "rules",
    "ms": 0.8,
}


class RecallView(APIView):
    @extend_schema(
        operation_id="recall",
        tags=["recall"],
        request=RecallBody,
        responses={200: DryRecallAnswer, **problems(400, 403, 404, 413)},
        examples=[
            OpenApiExample(
                "message",
                {"message": "做登录页，引用页头区块", "files": ["src/pages/login.vue"], "why": [7]},
                request_only=True,
            ),
            OpenApiExample("recalled", _EXAMPLE, response_only=True),
        ],
    )
    def post(self, request: Request, slug: str) -> Response:
        """What a turn with this message would be given. A dry run: nothing is written or counted."""
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=Scope.RECALL, permission=Permission.TURNS)
        values = read_body(RecallBody, request)
        message, ids = values.pop("message"), values.pop("why", [])
        result = recall(project, message, **values)
        explained = explain(project, message, ids, **values) if ids else {}
        return Response(
            {
                "memory_enabled": project.memory_enabled,
                "memory": _block(result),
                "items": [_item(item) for item in result.items],
                "omitted": [item.as_json() for item in result.omitted[:MAX_OMITTED]],
                "omitted_counts": result.omitted_counts,
                "why": [_why(memory_id, explained.get(memory_id)) for memory_id in dict.fromkeys(ids)],
                "ranker": result.ranker,
                "ms": round(result.ms, 3),
            }
        )


def _block(result: RecallResult) -> dict[str, Any]:
    return {
        "block": result.block,
        "always": result.always,
        "relevant": result.relevant,
        "sha256": result.sha256,
        "refs": result.refs,
        "tokens": result.tokens,
    }


def _item(item: Item) -> dict[str, Any]:
    return {
        "id": item.id,
        "version": item.version,
        "type": item.entry.type,
        "key": item.entry.key,
        "content": item.entry.content,
        "tier": item.tier,
        "rank": item.rank,
        "score": item.score,
        "parts": item.parts,
        "matched": item.matched,
        "tokens": item.tokens,
    }


def _why(memory_id: int, explanation: Explanation | None) -> dict[str, Any]:
    if explanation is None:
        return {"id": memory_id, "reason": NOT_FOUND, "score": None, "parts": {}, "matched": []}
    return {
        "id": memory_id,
        "reason": explanation.reason,
        "score": None if explanation.score is None else round(explanation.score, 4),
        "parts": explanation.parts,
        "matched": explanation.matched,
    }
