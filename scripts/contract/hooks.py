"""What schemathesis cannot know of the data that it makes up: which rows there are, and what they are good for.

A part of a request that is meant to be wrong stays as it was made.
"""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import schemathesis
from schemathesis.core.parameters import ParameterLocation

# Lists of ids by name, from seed.py. Calls use rows up, so each takes the next.
KNOWN = {name: itertools.cycle(values) for name, values in json.loads(Path("known.json").read_text()).items()}
# Which list an address's parameter is taken from, by default and for what needs rows of one kind or spoils them.
LISTS = {
    "slug": "slugs",
    "memory_id": "active",
    "topic_id": "topics",
    "turn_id": "running",
    "extraction_id": "extractions",
    "instruction_id": "dismissed",
}
LISTS_OF_OPERATIONS = {
    ("projects_put", "slug"): "settings",
    ("projects_patch", "slug"): "settings",
    ("projects_delete", "slug"): "doomed",
    ("turns_get", "turn_id"): "traces",
    ("turns_finish", "turn_id"): "finishing",
    ("topics_delete", "topic_id"): "ended",
    ("topics_complete", "topic_id"): "ended",
    ("instructions_promote", "instruction_id"): "promoted",
    ("memories_enable", "memory_id"): "disabled",
    ("memories_confirm", "memory_id"): "confirmed",
    ("memories_reject", "memory_id"): "rejected",
    ("memories_restore", "memory_id"): "deleted",
    ("memories_archive", "memory_id"): "archived",
    ("memories_undo", "memory_id"): "undone",
    ("memories_merge", "memory_id"): "merged",
    ("memories_purge", "memory_id"): "purged",
    ("memories_delete", "memory_id"): "removed",
}
requests = itertools.count()


@schemathesis.hook
def before_add_examples(context: schemathesis.HookContext, examples: list[schemathesis.Case]) -> None:
    for case in examples:
        map_case(context, case)


@schemathesis.hook
def map_case(context: schemathesis.HookContext, case: schemathesis.Case) -> schemathesis.Case:
    operation = case.operation.definition.raw["operationId"]

    def fits(location: ParameterLocation, part: Any) -> bool:
        # Examples of the description have no such notes, and are meant to fit.
        return bool(part) and not (case.meta and case.meta.is_negative_at(location))

    if fits(ParameterLocation.PATH, case.path_parameters):
        for name in case.path_parameters:
            chosen = LISTS_OF_OPERATIONS.get((operation, name)) or LISTS[name]
            case.path_parameters[name] = next(KNOWN[chosen])
    if fits(ParameterLocation.QUERY, case.query):
        # Signed for one address: none that is made up is valid. Tampering is tested in tests/access.
        case.query.pop("cursor", None)
    if fits(ParameterLocation.HEADER, case.headers):
        if "Idempotency-Key" in case.headers:
            # A repeated one with another body would be refused.
            case.headers["Idempotency-Key"] = f"contract-{next(requests)}"
        if "If-Match" in case.headers:
            case.headers["If-Match"] = "*"
    if fits(ParameterLocation.BODY, case.body) and isinstance(case.body, dict):
        if "owner" in case.body:
            case.body["owner"] = next(KNOWN["people"])
        if "into" in case.body:
            case.body["into"] = next(KNOWN["active"])
        if operation == "memories_bulk" and "ids" in case.body:
            case.body["ids"] = [next(KNOWN["bulk"]) for _ in case.body["ids"]]
        if operation == "memories_bulk" and "filter" in case.body:
            # Else one call would delete what the others are about.
            case.body["filter"]["ids"] = [next(KNOWN["bulk"]) for _ in range(3)]
    return case
