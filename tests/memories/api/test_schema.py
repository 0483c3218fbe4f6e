"""How the API of this app is described."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import include, path
from drf_spectacular.drainage import GENERATOR_STATS
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from openapi_spec_validator import OpenAPIV31SpecValidator

from memories.api import examples, serializers
from projects.http.schema import add_conventions

OPERATIONS = {
    "memories_list",
    "memories_create",
    "memories_get",
    "memories_patch",
    "memories_delete",
    "memories_history",
    "memories_bulk",
    "memories_enable",
    "memories_disable",
    "memories_confirm",
    "memories_reject",
    "memories_restore",
    "memories_archive",
    "memories_undo",
    "memories_merge",
    "memories_purge",
    "recall",
    "extractions_list",
    "extractions_get",
}


@pytest.fixture(scope="module")
def schema() -> dict[str, Any]:
    generator = SchemaGenerator(patterns=[path("api/v1/", include("memories.urls"))])
    GENERATOR_STATS.reset()
    with GENERATOR_STATS.silence():
        told = generator.get_schema(request=None, public=True)
    assert [*GENERATOR_STATS._warn_cache, *GENERATOR_STATS._error_cache] == []
    return add_conventions(told, generator, None, True)


def operations(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [operation for methods in schema["paths"].values() for operation in methods.values()]


def test_it_is_valid_openapi(schema: dict[str, Any]) -> None:
    validate_schema(schema)
    assert list(OpenAPIV31SpecValidator(schema).iter_errors()) == []


def test_every_operation_has_a_name_a_description_and_an_example(schema: dict[str, Any]) -> None:
    assert {operation["operationId"] for operation in operations(schema)} == OPERATIONS
    for operation in operations(schema):
        assert operation["description"], operation["operationId"]
        if operation["operationId"] != "memories_delete":
            assert '"examples"' in str(operation).replace("'", '"'), operation["operationId"]


def test_every_post_takes_an_idempotency_key_unless_it_writes_nothing(schema: dict[str, Any]) -> None:
    without = {
        operation["operationId"]
        for methods in schema["paths"].values()
        for method, operation in methods.items()
        if method == "post"
        and "Idempotency-Key" not in {parameter["name"] for parameter in operation.get("parameters", [])}
    }
    assert without == {"recall"}


@pytest.mark.parametrize(
    ("example", "answer"),
    [
        pytest.param(examples.MEMORY, serializers.MemoryAnswer, id="memory"),
        pytest.param(examples.VERSION, serializers.VersionAnswer, id="version"),
        pytest.param(examples.EXTRACTION, serializers.ExtractionAnswer, id="extraction"),
        pytest.param(examples.CANDIDATE, serializers.CandidateAnswer, id="candidate"),
    ],
)
def test_examples_have_the_members_that_are_described(example: dict[str, Any], answer: type) -> None:
    assert set(example) == set(answer().get_fields())
