"""Times taken, and the tables they become: p50, p95, and how many times the first row's p50."""

from __future__ import annotations

import statistics
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


class Figures:
    """Milliseconds by kind, in the order in which the kinds first came."""

    def __init__(self) -> None:
        self.took: dict[str, list[float]] = {}

    def add(self, kind: str, ms: float) -> None:
        self.took.setdefault(kind, []).append(ms)

    def time[R](self, kind: str, job: Callable[[], R]) -> R:
        started = time.perf_counter()
        result = job()
        self.add(kind, (time.perf_counter() - started) * 1000)
        return result

    def p50(self, kind: str) -> float:
        return statistics.median(self.took[kind])

    def table(self, title: str) -> str:
        """Every kind beside the first one."""
        first = self.p50(next(iter(self.took)))
        lines = [f"{title:44} {'n':>6} {'p50 ms':>9} {'p95 ms':>9} {'ratio':>7}"]
        for kind, values in self.took.items():
            middle, ratio = self.p50(kind), f"×{self.p50(kind) / first:.1f}"
            lines.append(
                f"  {kind:42} {len(values):6} {middle:9.2f} {percentile(values, 0.95):9.2f} {ratio:>7}"
            )
        return "\n".join(lines)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
