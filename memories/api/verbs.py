"""What is done to one memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from memories import store
from memories.api import examples
from memories.api.problems import StoreView
from memories.api.serializers import Confirmation, Merge, Reason, Undoing, memory_json
from memories.api.undoing import ChangedAnswer, changed_json
from memories.api.views import found
from memories.models import Memory
from projects.http import access, idempotency, preconditions
from projects.http.idempotency import Outcome
from projects.http.schema import IDEMPOTENCY_KEY, OPTIONAL_IF_MATCH, problems
from projects.http.serializers import StrictSerializer, read_body, reject_unknown_parameters
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.request import Request

    from projects.models import Project


class VerbView(StoreView):
    """A POST that changes one memory and answers with it, and with what takes that back.

    `If-Match` is heeded where it is sent, not asked for: the verb itself says what it expects to find.
    """

    scope: access.Scopes = Scope.MEMORIES_WRITE
    permission = Permission.CURATE
    body: type[StrictSerializer] = Reason

    def done(
        self, request: Request, slug: str, memory_id: int, verb: Callable[..., Memory | None]
    ) -> Response:
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=self.scope, permission=self.permission)
        values = read_body(self.body, request)

        def act() -> Outcome:
            self._require_match(request, project, memory_id)
            memory = verb(project=project, memory_id=memory_id, by=access.actor_of(request), **values)
            return Outcome(200, {"memory": memory.pk}) if memory else Outcome(204, {})

        response = idempotency.once(
            request,
            act=act,
            render=lambda outcome: (
                changed_json(request, found(project, outcome.ids["memory"]))
                if "memory" in outcome.ids
                else None
            ),
        )
        if response.data is not None:
            response["ETag"] = preconditions.etag(response.data["version"])
        return response

    def _require_match(self, request: Request, project: Project, memory_id: int) -> None:
        if "If-Match" not in request.headers:
            return
        store.lock(project)
        memory = found(project, memory_id)
        preconditions.seen_version(request, memory.version, current=lambda: memory_json(memory))


def _described(
    name: str, body: type[StrictSerializer] = Reason, *, answers: bool = True, may_end: bool = False
) -> Any:
    """`may_end`: where nothing of the memory is left, 204 says so."""
    return extend_schema(
        operation_id=f"memories_{name}",
        tags=["memories"],
        parameters=[IDEMPOTENCY_KEY, OPTIONAL_IF_MATCH],
        request=body,
        responses={
            **({200: ChangedAnswer} if answers else {}),
            **({204: None} if may_end else {}),
            **problems(400, 403, 404, 409, 412, 422),
        },
        examples=[examples.reason, examples.changed_memory] if answers else [examples.reason],
    )


class EnableView(VerbView):
    @_described("enable")
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Put a disabled memory in force again."""
        return self.done(request, slug, memory_id, store.enable)


class DisableView(VerbView):
    @_described("disable")
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Hide an active memory from recall. It keeps key and content, so it does not come back by itself."""
        return self.done(request, slug, memory_id, store.disable)


class ConfirmView(VerbView):
    scope = None
    body = Confirmation

    @_described("confirm", Confirmation)
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Put a proposal in force, changed first if `changes` say so; what it replaces is superseded. Only people do.

        409 `target_changed` if what it would replace changed since, with `target` as it is now and the
        `diff`; whoever has seen that confirms with its version as `target_version`.
        """
        return self.done(request, slug, memory_id, store.confirm)


class RejectView(VerbView):
    scope = None

    @_described("reject")
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Turn a proposal down; it is not proposed again. Only people do."""
        return self.done(request, slug, memory_id, store.reject)


class RestoreView(VerbView):
    @_described("restore")
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Bring back what was deleted within 30 days, rejected, archived or superseded.

        What had replaced a superseded memory is superseded in its turn.
        """
        return self.done(request, slug, memory_id, store.restore)


class ArchiveView(VerbView):
    @_described("archive")
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Put a memory away: it is recalled no more, and its key and content are free. `restore` brings it back."""
        return self.done(request, slug, memory_id, store.archive)


class UndoView(VerbView):
    body = Undoing

    @_described("undo", Undoing, may_end=True)
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Take the memory's last change back, with all that it did to others; undo again to redo.

        204 where the memory came with that change and is gone again. 409 `nothing_to_undo`, or `partner_changed`
        where another memory of that change (`partner`) was changed since. An agent takes back what its own key did.
        """
        return self.done(request, slug, memory_id, _undo_one)


class MergeView(VerbView):
    body = Merge

    @_described("merge", Merge)
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Fold this memory into another that says the same; answers with the other."""
        return self.done(request, slug, memory_id, _merge)


class PurgeView(VerbView):
    scope = None
    permission = Permission.ADMINISTER

    @_described("purge", answers=False, may_end=True)
    def post(self, request: Request, slug: str, memory_id: int) -> Response:
        """Remove every copy for good: history, candidates, raw outputs, blocks. No undo. For owners."""
        return self.done(request, slug, memory_id, store.purge)


def _undo_one(*, undoes_version: int | None = None, **values: Any) -> Memory | None:
    return store.undo(version=undoes_version, **values)


def _merge(*, project: Project, memory_id: int, into: int, **values: Any) -> Memory:
    return store.merge(project=project, memory_id=memory_id, into_id=into, **values)
