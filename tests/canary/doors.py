"""Every place of every API operation where a caller can put a text, from the API's own description."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from drf_spectacular.generators import SchemaGenerator

if TYPE_CHECKING:
    from collections.abc import Iterator

type Path = tuple[str | int, ...]
NAMES = "*"
_numbers = itertools.count(1)
# What a filled body says where the schema's first choice would not do, by operation.
SAID: dict[str, dict[Path, Any]] = {
    "turns_open": {("status",): "running", ("origin",): "human"},
    "turns_finish": {("status",): "succeeded", ("steps", 0, "status"): "succeeded"},
    "memories_bulk": {("action",): "disable"},
    "projects_patch": {("memory_enabled",): True},
    "projects_put": {("memory_enabled",): True},
}
LEFT_OUT: dict[str, set[Path]] = {
    "turns_open": {("reply",)},
    "memories_bulk": {("filter",), ("selection",)},
    "memories_confirm": {("target_version",)},
    "projects_put": {("owner",)},
    "projects_patch": {("max_items",), ("max_tokens",), ("window_tokens",), ("review_policy",)},
    "recall": {("why",)},
    "person_erase": {("author_ref",), ("user",)},
}
# A filter stands in their place.
IDS: set[Path] = {("ids",), ("filter", "ids")}
FREE_PARAMETERS = {"Idempotency-Key", "If-None-Match", "q", "area", "author", "reason"}
# These name something that is there.
MUST_EXIST = {("owner",), ("selection",)}
# A reply belongs to a turn that is over; who is erased is named in one way.
WITH: dict[tuple[str, Path], dict[Path, Any]] = {
    ("turns_open", ("reply",)): {("status",): "succeeded"},
    ("person_erase", ("reason",)): {("author_ref",): "nobody"},
    ("person_erase", ("Idempotency-Key",)): {("author_ref",): "nobody"},
}


@dataclass(frozen=True)
class Door:
    operation: str
    method: str
    path: str
    place: Path
    where: str  # body, query or header
    # Any text is taken here, not only a few words, a date or a version.
    is_free: bool

    @property
    def name(self) -> str:
        return f"{self.method} {self.path} {self.where} {'/'.join(map(str, self.place))}"


class Description:
    def __init__(self) -> None:
        described = SchemaGenerator().get_schema(request=None, public=True)
        self._components = described["components"]["schemas"]
        self._operations = {
            operation["operationId"]: (method.upper(), path, operation)
            for path, operations in described["paths"].items()
            for method, operation in operations.items()
        }

    def doors(self) -> Iterator[Door]:
        for operation, (method, path, told) in self._operations.items():
            for parameter in told.get("parameters", ()):
                if parameter["in"] != "path":
                    name = parameter["name"]
                    yield Door(operation, method, path, (name,), parameter["in"], name in FREE_PARAMETERS)
            if (schema := self._body(told)) is not None:
                for place, leaf in self._texts(schema, ()):
                    is_free = not leaf.keys() & {"enum", "format"} and place not in MUST_EXIST
                    yield Door(operation, method, path, place, "body", is_free)

    def body(self, door: Door, text: str, given: dict[Path, Any]) -> dict[str, Any] | None:
        """Everything that the operation takes, `text` at the door, and what is `given`."""
        _method, _path, told = self._operations[door.operation]
        schema = self._body(told)
        if schema is None:
            return None
        said = given | SAID.get(door.operation, {}) | WITH.get((door.operation, door.place), {})
        if door.where == "body":
            said = said | {door.place: text}
        left = LEFT_OUT.get(door.operation, set()) | (IDS if door.place[0] == "filter" else set())
        filled: dict[str, Any] = self._filled(schema, (), said, left)
        return filled

    def _body(self, operation: dict[str, Any]) -> dict[str, Any] | None:
        if "requestBody" not in operation:
            return None
        return self._resolved(operation["requestBody"]["content"]["application/json"]["schema"])

    def _resolved(self, schema: dict[str, Any]) -> dict[str, Any]:
        while True:
            if "$ref" in schema:
                schema = self._components[schema["$ref"].rpartition("/")[2]]
            elif "properties" in schema or "type" in schema:
                return schema
            elif (several := schema.get("allOf") or schema.get("oneOf") or schema.get("anyOf")) is not None:
                schema = several[0]
            else:
                return schema

    def _texts(self, schema: dict[str, Any], path: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
        schema = self._resolved(schema)
        if "properties" in schema or schema.get("type") == "object":
            for name, inner in schema.get("properties", {}).items():
                yield from self._texts(inner, (*path, name))
            if isinstance(schema.get("additionalProperties"), dict):
                yield (*path, NAMES), {}
        elif schema.get("type") == "array":
            yield from self._texts(schema["items"], (*path, 0))
        elif "string" in schema.get("type", ()):
            yield path, schema

    def _filled(self, schema: dict[str, Any], path: Path, said: dict[Path, Any], left: set[Path]) -> Any:
        schema = self._resolved(schema)
        if path in said:
            return said[path]
        if "enum" in schema:
            return schema["enum"][0]
        match schema.get("type"):
            case "array":
                return [self._filled(schema["items"], (*path, 0), said, left)]
            case "integer" | "number":
                return schema.get("minimum", 1)
            case "boolean":
                return False
            case "object":
                made = {
                    name: self._filled(inner, (*path, name), said, left)
                    for name, inner in schema.get("properties", {}).items()
                    if (*path, name) not in left
                    or any(place[: len(path) + 1] == (*path, name) for place in said)
                }
                if isinstance(schema.get("additionalProperties"), dict):
                    made[said.get((*path, NAMES), "input")] = 1
                return made
        if schema.get("format") == "date-time":
            return "2030-01-02T03:04:05+08:00"
        # Of refs, keys and contents no two may be alike.
        return f"plain-{next(_numbers)}"
