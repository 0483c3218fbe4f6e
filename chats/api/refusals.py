"""What the services of this app refuse, as problems of the API; every view of it is a ServiceView."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from chats import errors
from chats.models import Chat, Instruction, Topic
from memories import store
from memories.api.problems import StoreView
from projects.http.problems import FieldError, Problem, not_found

if TYPE_CHECKING:
    from rest_framework.response import Response

STATUSES = {errors.NotATurn: 400, errors.RefReused: 422}


class ServiceView(StoreView):
    """A view in which TurnErrors and StoreErrors may pass through."""

    def handle_exception(self, exc: Exception) -> Response:
        match exc:
            case errors.TurnError():
                exc = _refusal(exc)
            case store.GuardRefused() if "/" in exc.field or exc.field == "agent":
                # Named by its place in the request, see TurnRequest.names.
                found = FieldError(f"/{exc.field}", exc.code, exc.message, exc.start, exc.end)
                exc = Problem(422, exc.code, exc.message, [found])
            case Topic.DoesNotExist() | Chat.DoesNotExist() | Instruction.DoesNotExist():
                # Somebody deleted it while this request was on its way.
                exc = not_found()
        return super().handle_exception(exc)


def _refusal(error: errors.TurnError) -> Problem:
    extra: dict[str, Any] = {}
    match error:
        case errors.TurnAlreadyFinished() | errors.RefReused():
            extra["turn"] = {"id": error.chat.pk, "status": error.chat.status}
    return Problem(STATUSES.get(type(error), 409), error.code, error.message, **extra)
