"""Every address of the API ends in a slash; a write that lacks it is taken as if it had one.

A GET is sent on by Django (APPEND_SLASH). A redirected POST would lose its body, so writes are completed in
place, before CommonMiddleware looks at them. No URL pattern has to know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from projects.http.problems import API_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable

    from django.http import HttpRequest, HttpResponse


class TrailingSlashMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if (
            request.method not in ("GET", "HEAD", "OPTIONS")
            and request.path_info.startswith(API_PREFIX)
            and not request.path_info.endswith("/")
        ):
            request.path_info += "/"
            request.path += "/"
        return self.get_response(request)
