"""Pure: what may be in force by itself, and what waits for a person first (design: Trust)."""

from __future__ import annotations

AUTOMATIC_MAX_IMPORTANCE = 4


def needs_review(policy: str, *, type: str, importance: int, replaces: bool) -> bool:
    """Whether something that no person wrote waits for one, under a project's review policy.

    `policy` is `all`, `important` or `none`. `important` makes constraints, importance 4 and up and
    replacements wait.
    """
    if policy == "none":
        return False
    if policy == "all":
        return True
    return type == "constraint" or importance >= 4 or replaces
