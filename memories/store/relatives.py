"""Relatives of a content: the memories of its project that say the same, contradict it, or share its words."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memories.dedupe import Relation, compare, resembling
from memories.models import LIVE_FOR_HASHES, Memory
from memories.text import fold, terms

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from memories.models import Status
    from projects.models import Project


def related(project: Project, content: str) -> Iterator[tuple[Memory, Relation]]:
    """Live memories that share words with `content`, newest first, with their relation to it."""
    found = {}
    resembles = resembling(content)
    for pk, other in sharing_words(project, content, among=LIVE_FOR_HASHES):
        if resembles(other) and (relation := compare(other, content)) is not Relation.DIFFERENT:
            found[pk] = relation
    # Whole rows of these few alone: everybody who writes to the project waits.
    rows = Memory.objects.of(project).select_related("replaces").in_bulk(found)
    for pk, relation in found.items():
        memory = rows[pk]
        memory.project = project
        yield memory, relation


def sharing_words(project: Project, content: str, *, among: Sequence[Status]) -> Iterator[tuple[int, str]]:
    """(id, content) of the memories in one of these states that share a word with `content`, newest first."""
    # "policy" is found in "policies", too.
    wanted = {term.removesuffix("y") for term in terms(content)}
    rows = Memory.objects.of(project).filter(status__in=among).order_by("-id").values_list("pk", "content")
    for pk, other in rows:
        folded = fold(other).casefold()
        if not wanted or any(term in folded for term in wanted):
            yield pk, other
