"""The API's description: valid OpenAPI 3.1, without warnings, with an example for every body."""

from __future__ import annotations

from typing import Any

import pytest
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from openapi_spec_validator import validate


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    with GENERATOR_STATS.silence():
        return SchemaGenerator().get_schema(request=None, public=True)


def test_the_description_is_made_without_a_warning() -> None:
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        SchemaGenerator().get_schema(request=None, public=True)
    assert [*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache] == []


def test_the_description_is_valid(schema: dict[str, Any]) -> None:
    assert schema["openapi"].startswith("3.1")
    validate(schema)


def test_every_body_of_this_app_has_an_example(schema: dict[str, Any]) -> None:
    naked = []
    for path, operations in schema["paths"].items():
        for method, operation in operations.items():
            if not {"turns", "topics", "instructions", "extractions"} & set(operation["tags"]):
                continue
            if not operation["operationId"].startswith(
                ("turns_", "topics_", "instructions_", "extractions_retry")
            ):
                continue
            bodies = [operation.get("requestBody"), *operation["responses"].values()]
            for body in bodies:
                for media, content in ((body or {}).get("content") or {}).items():
                    is_empty = content["schema"].get("$ref", "").endswith("NoBodyRequest")
                    if media == "application/json" and "examples" not in content and not is_empty:
                        naked.append(f"{method} {path}")
    assert naked == []
