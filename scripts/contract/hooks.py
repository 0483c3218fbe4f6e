"""What schemathesis cannot know of the data that it makes up."""

from __future__ import annotations

import itertools
import tomllib
from pathlib import Path

import schemathesis
from schemathesis.generation import GenerationMode

KEY = "Idempotency-Key"
numbers = itertools.count()
# Memories that `bulk` may use up.
FOR_BULK = tomllib.loads(Path("schemathesis.toml").read_text())["dictionaries"]["bulk"]["values"]


@schemathesis.hook
def map_case(context: schemathesis.HookContext, case: schemathesis.Case) -> schemathesis.Case:
    """A cursor is signed for one address: none that is made up is valid. Tampering is tested in tests/access.

    Every call that fits has an Idempotency-Key of its own: a repeated one with another body would be refused. And a
    filter finds some memories, not all: one call would delete what the others are about.
    """
    is_valid = case.meta is not None and case.meta.generation.mode is GenerationMode.POSITIVE
    if is_valid and case.query and "cursor" in case.query:
        del case.query["cursor"]
    if is_valid and case.headers and KEY in case.headers:
        case.headers[KEY] = f"contract-{next(numbers)}"
    if case.path.endswith("/bulk/") and isinstance(case.body, dict):
        chosen = case.body.get("filter")
        if isinstance(chosen, dict):
            chosen.setdefault("ids", FOR_BULK[:5])
    return case
