"""What distilling made of the turns: its runs, and what became of each candidate."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response
from rest_framework.views import APIView

from memories.api import examples
from memories.api.filters import SeveralOf
from memories.api.serializers import ExtractionAnswer, ExtractionDetail, candidate_json, extraction_json
from memories.models import Extraction
from projects.http import access, paging
from projects.http.schema import problems
from projects.http.serializers import Parameters, QueryInteger, read_parameters, reject_unknown_parameters
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request


class ExtractionParameters(Parameters):
    status = SeveralOf(Extraction.RunStatus.choices)
    result = SeveralOf(Extraction.Result.choices)
    trigger = SeveralOf(Extraction.Trigger.choices)
    topic = QueryInteger(required=False)


class ExtractionListView(APIView):
    pagination_class = paging.CursorPagination  # for the API's description

    @extend_schema(
        operation_id="extractions_list",
        tags=["extractions"],
        parameters=[ExtractionParameters],
        responses={200: ExtractionAnswer(many=True), **problems(400, 403, 404)},
        examples=[examples.extraction],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The project's runs of distilling, newest first."""
        project = access.project_for(request, slug, scope=Scope.TRACES_READ, permission=Permission.VIEW)
        wanted = read_parameters(ExtractionParameters, request, also=paging.PARAMETERS)
        runs = Extraction.objects.filter(project=project, **_conditions(wanted)).select_related("topic")
        if "result" in wanted:
            runs = runs.with_result(wanted["result"])
        return paging.paged(request, runs, extraction_json)


class ExtractionView(APIView):
    @extend_schema(
        operation_id="extractions_get",
        tags=["extractions"],
        responses={200: ExtractionDetail, **problems(400, 403, 404)},
        examples=[examples.extraction_detail],
    )
    def get(self, request: Request, extraction_id: int) -> Response:
        """One run with its candidates: what each became, and the code of the reason."""
        reject_unknown_parameters(request)
        run = access.reach(
            request,
            Extraction.objects.select_related("topic").filter(pk=extraction_id).first(),
            scope=Scope.TRACES_READ,
            permission=Permission.VIEW,
        )
        candidates = [candidate_json(candidate) for candidate in run.candidates.order_by("position")]
        return Response(extraction_json(run) | {"candidates": candidates})


def _conditions(wanted: dict[str, Any]) -> dict[str, Any]:
    conditions = {f"{name}__in": wanted[name] for name in ("status", "trigger") if name in wanted}
    return conditions | ({"topic_id": wanted["topic"]} if "topic" in wanted else {})
