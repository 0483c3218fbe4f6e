"""`Server-Timing`: what a request took, by part, and nothing of the request before."""

from __future__ import annotations

import re

from django.http import HttpResponse
from django.test import RequestFactory

from projects.http import timing


def header_after(*parts: tuple[str, float]) -> str:
    def view(request: object) -> HttpResponse:
        for part, ms in parts:
            timing.note(part, ms)
        return HttpResponse()

    return timing.ServerTimingMiddleware(view)(RequestFactory().get("/"))[timing.HEADER]


def test_parts_are_summed_and_the_total_comes_last() -> None:
    header = header_after(("recall", 1.25), ("recall", 2.0), ("store", 0.5))
    assert re.fullmatch(r"recall;dur=3\.2, store;dur=0\.5, total;dur=\d+\.\d", header)


def test_a_request_starts_without_the_parts_of_the_last() -> None:
    header_after(("recall", 1.0))
    assert re.fullmatch(r"total;dur=\d+\.\d", header_after())


def test_outside_of_a_request_nothing_is_kept() -> None:
    timing.note("recall", 1.0)
    assert "recall" not in header_after()
