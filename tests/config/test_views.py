"""The API's description and its page, as they are served."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from django.test import Client


@pytest.mark.parametrize("media_type", ["application/json", "application/yaml"])
def test_the_description_is_served_to_everybody(client: Client, media_type: str) -> None:
    answer = client.get("/api/v1/schema/", headers={"Accept": media_type})
    assert answer.status_code == 200
    assert b"/projects/{slug}/turns/" in answer.content


def test_the_page_to_try_the_api_needs_no_other_site(client: Client) -> None:
    answer = client.get("/api/v1/docs/")
    assert answer.status_code == 200
    assert b"/api/v1/schema/" in answer.content
    assert b"https://" not in answer.content
