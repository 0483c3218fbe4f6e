"""What tests of every app use."""

from __future__ import annotations

from typing import TYPE_CHECKING

import hypothesis
import pytest
from django.conf import settings as site
from rest_framework.test import APIClient

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.contrib.auth.models import User
    from pytest_django.fixtures import SettingsWrapper

# How long an example takes says nothing on a busy machine. The same examples each time: a change is judged by what it
# changes; `--hypothesis-profile=default` looks further.
hypothesis.settings.register_profile("cairn", deadline=None, derandomize=True)
hypothesis.settings.load_profile("cairn")


@pytest.fixture(scope="session", autouse=True)
def _static_files_are_looked_up_when_asked_for() -> None:
    """Else each test client would read through all of them, and warn where none are collected."""
    site.WHITENOISE_AUTOREFRESH = True


@pytest.fixture(scope="session", autouse=True)
def _nobody_is_throttled() -> None:
    """Tests send as much as they like: keys of one test have the ids of another's. Those of the throttle set a rate."""
    site.THROTTLE_RATE = ""


@pytest.fixture(autouse=True)
def _nothing_is_drawn_for_a_look(settings: SettingsWrapper) -> None:
    """What is drawn depends on the project's id, which is another in each run. Tests of it set the share."""
    settings.SPOT_CHECK_SHARE = 0.0


@pytest.fixture
def api() -> Callable[..., APIClient]:
    """`api(secret)`: a client that sends this key; `api()`: one that sends none."""

    def client(secret: str | None = None) -> APIClient:
        made = APIClient()
        if secret is not None:
            made.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
        return made

    return client


@pytest.fixture
def api_as() -> Callable[..., APIClient]:
    """`api_as(user)`: a client with the user's session; with `csrf=True` it is held to the CSRF rules."""

    def client(user: User, *, csrf: bool = False) -> APIClient:
        made = APIClient(enforce_csrf_checks=csrf)
        made.force_login(user, backend="django.contrib.auth.backends.ModelBackend")
        return made

    return client
