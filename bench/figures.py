"""Times taken, and the tables they become.

Ratios are to the first row, p50 to p50 and p10 to p10: what else the machine does is hardly in the latter.
"""

from __future__ import annotations

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

    def table(self, title: str) -> str:
        """Every kind beside the first one."""
        first = next(iter(self.took.values()))
        lines = [f"{title:40} {'n':>5} {'p10 ms':>8} {'p50 ms':>8} {'p95 ms':>8} {'p10':>7} {'p50':>7}"]
        for kind, values in self.took.items():
            told = [percentile(values, share) for share in (0.1, 0.5, 0.95)]
            ratios = [f"×{percentile(values, share) / percentile(first, share):.1f}" for share in (0.1, 0.5)]
            lines.append(
                f"  {kind:38} {len(values):5} "
                + " ".join(f"{ms:8.2f}" for ms in told)
                + "".join(f" {ratio:>7}" for ratio in ratios)
            )
        return "\n".join(lines)


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]
