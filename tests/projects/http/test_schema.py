"""How the API of this app is described."""

from __future__ import annotations

import pytest
from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.validation import validate_schema
from openapi_spec_validator import OpenAPIV31SpecValidator

from projects import urls
from projects.http.schema import add_conventions


@pytest.fixture(scope="module")
def schema() -> dict:
    generator = SchemaGenerator(patterns=urls.urlpatterns)
    return add_conventions(generator.get_schema(request=None, public=True), generator, None, True)


def test_it_is_valid_openapi(schema: dict) -> None:
    validate_schema(schema)
    assert list(OpenAPIV31SpecValidator(schema).iter_errors()) == []


def test_every_operation_names_its_problems_and_how_to_sign_in(schema: dict) -> None:
    operations = [
        (path, method, operation)
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    ]
    assert len(operations) == 6
    for path, method, operation in operations:
        assert {"401", "default"} <= set(operation["responses"]), (path, method)
        assert operation["security"] == [{"apiKey": []}, {"session": []}], (path, method)
        for status, answer in operation["responses"].items():
            if status[0] not in "23":
                assert answer["content"] == {
                    "application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}
                }, (path, method, status)
    assert schema["components"]["securitySchemes"]["apiKey"]["scheme"] == "bearer"
    assert "Problem" in schema["components"]["schemas"]


def test_a_list_is_described_as_pages(schema: dict) -> None:
    operation = schema["paths"]["/projects/"]["get"]
    assert {parameter["name"] for parameter in operation["parameters"]} == {"cursor", "limit"}
    answer = operation["responses"]["200"]["content"]["application/json"]["schema"]
    page = schema["components"]["schemas"][answer["$ref"].rsplit("/", 1)[1]]
    assert set(page["properties"]) == {"results", "next"}
