"""Recall indexes that live in the process, one a project, each for one state of it.

The key is the project's `memory_version`, a random token that every transaction writing its memories replaces.
It is read before the rows: an index may be newer than its version (and is then built once more), never older.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from memories.recall.index import Index


class IndexCache:
    """Bounded by projects and by memories; what was used longest ago goes first. Safe between threads."""

    def __init__(self, *, max_projects: int, max_memories: int) -> None:
        self.max_projects, self.max_memories = max_projects, max_memories
        self._indexes: OrderedDict[int, tuple[str, Index]] = OrderedDict()
        self._memories = 0
        self._lock = threading.Lock()

    def get(self, project_id: int, version: str) -> Index | None:
        with self._lock:
            held = self._indexes.get(project_id)
            if held is None or held[0] != version:
                return None
            self._indexes.move_to_end(project_id)
            return held[1]

    def put(self, project_id: int, version: str, index: Index) -> None:
        """Keep the index, unless it alone is larger than the whole cache."""
        with self._lock:
            self._forget(project_id)
            if len(index) > self.max_memories:
                return
            self._indexes[project_id] = (version, index)
            self._memories += len(index)
            while len(self._indexes) > self.max_projects or self._memories > self.max_memories:
                self._forget(next(iter(self._indexes)))

    def clear(self) -> None:
        with self._lock:
            self._indexes.clear()
            self._memories = 0

    def __len__(self) -> int:
        return len(self._indexes)

    def _forget(self, project_id: int) -> None:
        if (held := self._indexes.pop(project_id, None)) is not None:
            self._memories -= len(held[1])
