"""What the store refuses, as problems of the API; every view of memories is a StoreView."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.utils.translation import gettext_lazy as _
from rest_framework.views import APIView

from memories import guard, store, tokens
from memories.api.serializers import memory_json, named
from memories.models import Memory
from projects.http import preconditions
from projects.http.problems import FieldError, Problem, invalid, not_found, pointer
from projects.models import Project

if TYPE_CHECKING:
    from rest_framework.response import Response

logger = logging.getLogger(__name__)


class StoreView(APIView):
    """A view in which StoreErrors may pass through."""

    def handle_exception(self, exc: Exception) -> Response:
        if isinstance(exc, store.StoreError):
            exc = problem_of(exc, self.request.data)
        elif isinstance(exc, Memory.DoesNotExist | Project.DoesNotExist):
            exc = not_found()
        elif isinstance(exc, tokens.TokenizerUnavailable):
            # /health/ready/ says so as well.
            logger.exception("tokens cannot be counted")
            exc = Problem(503, "unavailable", _("Try again in a moment."), headers={"Retry-After": "5"})
        return super().handle_exception(exc)


def problem_of(error: store.StoreError, body: Any) -> Problem:
    """The refusal as it is told; `body` is the request's, for pointers into it."""
    # A confirmation brings what it changes in a member of its own.
    within = ("changes",) if isinstance(body, dict) and isinstance(body.get("changes"), dict) else ()
    match error:
        case store.InvalidMemory():
            return _invalid(error, within)
        case store.GuardRefused():
            return Problem(422, error.code, error.message, [_found(error, body, within)])
        case store.StaleMemory():
            return preconditions.stale(current=memory_json(error.current))
        case store.TargetChanged():
            return _conflict(
                error, memory=named(error.memory), target=memory_json(error.target), diff=_diff(error)
            )
        case store.KeyTaken() | store.ContentTaken() | store.ProposalDecided() | store.WrongStatus():
            return _conflict(error, memory=named(error.memory))
        case store.NothingToUndo() | store.Tombstoned():
            return _conflict(error)
        case store.PartnerChanged():
            return _conflict(error, partner=error.partner_id)
        case store.SelectionChanged():
            return _conflict(error, results=[result_json(result) for result in error.results])
        case store.TooManySelected():
            return invalid(FieldError("", error.code, error.message))
        case store.PersonRequired():
            return Problem(403, error.code, error.message)
    raise TypeError(f"not told how to answer {error!r}")


def result_json(result: store.BulkResult) -> dict[str, Any]:
    told: dict[str, Any] = {"id": result.memory_id, "outcome": result.outcome}
    return told | {"code": result.code, "detail": result.message} if result.code else told


def _conflict(error: store.StoreError, **extra: Any) -> Problem:
    return Problem(409, error.code, error.message, **extra)


def _invalid(error: store.InvalidMemory, within: tuple[str, ...]) -> Problem:
    errors = [FieldError(pointer(*within, one.field), one.code, one.message) for one in error.errors]
    if any(one.code == "invalid_text" for one in errors):
        return Problem(400, "invalid_text", _("The text holds characters that cannot be stored."), errors)
    return invalid(*errors)


def _found(error: store.GuardRefused, body: Any, within: tuple[str, ...]) -> FieldError:
    """Where in the request the guard's finding stands. What the request did not bring has no place in it."""
    for member in within:
        body = body[member]
    sent = body.get(error.field)
    if isinstance(sent, list):
        for position, entry in enumerate(sent):
            finding = guard.worst(guard.inspect(entry.strip()))
            if finding is not None and finding.certainty == "refuse":
                place = pointer(*within, error.field, position)
                return FieldError(place, error.code, error.message, *_span(entry, finding.start, finding.end))
    if not isinstance(sent, str):
        return FieldError("", error.code, error.message)
    if error.field == "key":
        # A key is guarded as the slug that it becomes; offsets in that are none in what was sent.
        return FieldError(pointer(*within, "key"), error.code, error.message)
    start, end = _span(sent, error.start, error.end)
    return FieldError(pointer(*within, error.field), error.code, error.message, start, end)


def _span(sent: str, start: int, end: int) -> tuple[int, int]:
    """Offsets in a text's stored form (trimmed, line feeds for all line ends) as offsets in what was sent."""
    places = [place for place in range(len(sent)) if sent[place : place + 2] != "\r\n"]
    blank = next((number for number, place in enumerate(places) if not sent[place].isspace()), 0)
    return places[blank + start], places[blank + end - 1] + 1


def _diff(error: store.TargetChanged) -> list[dict[str, Any]]:
    """What changed in the target since it was seen."""
    seen = (
        Memory.history.model.objects.filter(  # type: ignore[attr-defined]
            id=error.target.pk, project_id=error.target.project_id, version=error.memory.replaces_version
        )
        .order_by("-history_id")
        .first()
    )
    return [
        {"field": name, "seen": getattr(seen, name, None), "now": getattr(error.target, name)}
        for name in (*store.EDITABLE, "status")
        if getattr(seen, name, None) != getattr(error.target, name)
    ]
