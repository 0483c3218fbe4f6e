"""Nothing lost, nothing doubled, whatever dies: real processes on a MariaDB and a Redis that may be hurt."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from django.conf import settings

from bench import faults
from bench.fleet import fleet

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.fleet import Fleet

on_servers = settings.DATABASES["default"]["ENGINE"].endswith("mysql")
pytestmark = pytest.mark.skipif(not on_servers, reason="needs MariaDB and Redis: make test-services")


@pytest.fixture(scope="module")
def site() -> Iterator[Fleet]:
    """One site with servers of its own for all scenarios; each has a project of its own in it."""
    with fleet([faults.slug_of(name) for name in faults.SCENARIOS], faults.SHORT.pace) as made:
        yield made


@pytest.mark.parametrize("name", faults.SCENARIOS)
def test_every_turn_is_read_once_and_no_memory_is_lost_or_doubled(site: Fleet, name: str) -> None:
    report = faults.play(site, name, faults.SHORT)
    assert report.violations == [], f"{report}\n{site.logs()}"
