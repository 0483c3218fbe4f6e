"""Pure: what may be in force by itself, and what waits for a person first (design: Trust)."""

from __future__ import annotations

import hashlib

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


def is_drawn(project_id: int, content_hash: str, *, share: float) -> bool:
    """Whether a person looks at this one, too, although it is in force by itself: about `share` (0 to 1) of all.

    Always the same for the same words in the same project: nothing is drawn again by being said again.
    """
    digest = hashlib.sha256(f"{project_id}:{content_hash}".encode()).digest()
    return int.from_bytes(digest[:8]) < share * 2**64
