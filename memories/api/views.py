"""Memories of a project as resources: the list, one of them, and its history."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from drf_spectacular.utils import extend_schema
from rest_framework.response import Response

from memories import store
from memories.api import examples
from memories.api.filters import MemoryParameters, narrowed
from memories.api.problems import StoreView
from memories.api.serializers import (
    MemoryAnswer,
    MemoryBody,
    VersionAnswer,
    memory_json,
    version_json,
)
from memories.api.undoing import ChangedAnswer, changed_json
from memories.models import MAX_REASON, Memory, Source
from projects.http import access, idempotency, paging, preconditions
from projects.http.idempotency import Outcome
from projects.http.problems import not_found
from projects.http.schema import IDEMPOTENCY_KEY, IF_MATCH, problems
from projects.http.serializers import (
    Parameters,
    StringField,
    read_body,
    read_parameters,
    reject_unknown_parameters,
)
from projects.models import Scope
from projects.roles import Permission

if TYPE_CHECKING:
    from rest_framework.request import Request

    from projects.models import Project


def found(project: Project, memory_id: int) -> Memory:
    """The memory with all that its answer shows. Raises Memory.DoesNotExist."""
    memory: Memory = Memory.objects.of(project).with_provenance().get(pk=memory_id)
    memory.project = project
    return memory


def answer(memory: Memory, *, status: int = 200) -> Response:
    return Response(memory_json(memory), status=status, headers={"ETag": preconditions.etag(memory.version)})


class MemoryListView(StoreView):
    pagination_class = paging.CursorPagination  # for the API's description

    @extend_schema(
        operation_id="memories_list",
        tags=["memories"],
        parameters=[MemoryParameters],
        responses={200: MemoryAnswer(many=True), **problems(400, 403, 404)},
        examples=[examples.memory],
    )
    def get(self, request: Request, slug: str) -> Response:
        """The project's memories in every status, newest first; the parameters narrow them down."""
        project = access.project_for(request, slug, scope=Scope.MEMORIES_READ, permission=Permission.VIEW)
        wanted = read_parameters(MemoryParameters, request, also=paging.PARAMETERS)
        memories = narrowed(Memory.objects.of(project), wanted).with_provenance()
        return paging.paged(request, memories, memory_json)

    @extend_schema(
        operation_id="memories_create",
        tags=["memories"],
        parameters=[IDEMPOTENCY_KEY],
        request=MemoryBody,
        responses={201: ChangedAnswer, **problems(400, 403, 404, 409, 413, 422)},
        examples=[examples.new_memory, examples.changed_memory],
    )
    def post(self, request: Request, slug: str) -> Response:
        """Write a memory. `status` in the answer says whether it is in force.

        A person's is active. An agent's with the scope `memories:write` is active unless the review policy, a
        contradiction or an earlier deletion makes it wait; with `memories:propose` it always waits.
        """
        reject_unknown_parameters(request)
        project = access.project_for(
            request, slug, scope=(Scope.MEMORIES_WRITE, Scope.MEMORIES_PROPOSE), permission=Permission.CURATE
        )
        values = read_body(MemoryBody, request)
        key = access.key_of(request)
        reason = values.pop("reason", "")
        fields: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value for name, value in values.items()
        }
        draft = store.Draft(**fields)

        def act() -> Outcome:
            memory = store.add(
                project=project,
                draft=draft,
                source=Source.AGENT if key else Source.MANUAL,
                by=access.actor_of(request),
                only_propose=key is not None and not access.has_scope(key, Scope.MEMORIES_WRITE),
                reason=reason,
            )
            return Outcome(201, {"memory": memory.pk})

        response = idempotency.once(
            request,
            act=act,
            render=lambda outcome: changed_json(request, found(project, outcome.ids["memory"])),
        )
        response["ETag"] = preconditions.etag(response.data["version"])
        return response


class DeletionParameters(Parameters):
    reason = StringField(required=False, max_length=MAX_REASON, help_text="Kept in history and audit.")


class MemoryView(StoreView):
    """PATCH and DELETE take the version that the caller has seen as `If-Match`."""

    @extend_schema(
        operation_id="memories_get",
        tags=["memories"],
        responses={200: MemoryAnswer, **problems(400, 403, 404)},
        examples=[examples.memory],
    )
    def get(self, request: Request, slug: str, memory_id: int) -> Response:
        """One memory; its version is the ETag."""
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=Scope.MEMORIES_READ, permission=Permission.VIEW)
        return answer(found(project, memory_id))

    @extend_schema(
        operation_id="memories_patch",
        tags=["memories"],
        parameters=[IF_MATCH],
        request=MemoryBody(partial=True),
        responses={200: ChangedAnswer, **problems(400, 403, 404, 409, 412, 413, 422, 428)},
        examples=[examples.changes, examples.changed_memory],
    )
    def patch(self, request: Request, slug: str, memory_id: int) -> Response:
        """Change what is sent. Agents change only what no person stands behind."""
        reject_unknown_parameters(request)
        project = access.project_for(request, slug, scope=Scope.MEMORIES_WRITE, permission=Permission.CURATE)
        version = _seen(request, project, memory_id)
        changes = read_body(MemoryBody, request, partial=True)
        reason = changes.pop("reason", "")
        store.edit(
            project=project,
            memory_id=memory_id,
            changes=changes,
            by=access.actor_of(request),
            version=version,
            reason=reason,
        )
        memory = found(project, memory_id)
        etag = preconditions.etag(memory.version)
        return Response(changed_json(request, memory), headers={"ETag": etag})

    @extend_schema(
        operation_id="memories_delete",
        tags=["memories"],
        parameters=[IF_MATCH, DeletionParameters],
        responses={204: None, **problems(400, 403, 404, 412, 428)},
    )
    def delete(self, request: Request, slug: str, memory_id: int) -> Response:
        """Remove the memory; it does not come back by itself. For 30 days `restore` undoes it."""
        project = access.project_for(request, slug, scope=Scope.MEMORIES_WRITE, permission=Permission.CURATE)
        reason = read_parameters(DeletionParameters, request).get("reason", "")
        version = _seen(request, project, memory_id)
        store.delete(
            project=project, memory_id=memory_id, by=access.actor_of(request), version=version, reason=reason
        )
        return Response(status=204)


class HistoryView(StoreView):
    pagination_class = paging.CursorPagination  # for the API's description

    @extend_schema(
        operation_id="memories_history",
        tags=["memories"],
        responses={200: VersionAnswer(many=True), **problems(400, 403, 404)},
        examples=[examples.version],
    )
    def get(self, request: Request, slug: str, memory_id: int) -> Response:
        """Every version, newest first, with who made it and why; of a deleted memory, too."""
        project = access.project_for(request, slug, scope=Scope.MEMORIES_READ, permission=Permission.VIEW)
        reject_unknown_parameters(request, paging.PARAMETERS)
        versions = Memory.history.model.objects.filter(  # type: ignore[attr-defined]
            id=memory_id, project_id=project.pk
        )
        page = paging.paged(request, versions, version_json, ordering=("-history_id",))
        # Every memory has a first version.
        if not page.data["results"] and "cursor" not in request.query_params:
            raise not_found()
        return page


def _seen(request: Request, project: Project, memory_id: int) -> int | None:
    memory = found(project, memory_id)
    return preconditions.seen_version(request, memory.version, current=lambda: memory_json(memory))
