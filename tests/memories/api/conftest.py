"""A project, its owner's session, and an agent that may write."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from projects.models import Project, Scope
from tests.factories import make_key, make_project

if TYPE_CHECKING:
    from collections.abc import Callable

    from rest_framework.test import APIClient


@pytest.fixture
def project() -> Project:
    return make_project("shop")


@pytest.fixture
def ana(project: Project, api_as: Callable[..., APIClient]) -> APIClient:
    """The owner's session."""
    return api_as(project.owner)


@pytest.fixture
def writer(project: Project, api: Callable[..., APIClient]) -> APIClient:
    """An agent that may write."""
    return api(make_key(project, [Scope.MEMORIES_WRITE])[1])
