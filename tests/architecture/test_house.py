"""Rules of the house that a test can hold; import-linter and ruff hold the others."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from celery import current_app
from django.conf import settings
from django.urls import URLPattern, URLResolver, get_resolver

ROOT = Path(settings.BASE_DIR)
APPS = ("config", "projects", "memories", "chats")
# Who writes what. Everything else asks the door.
DOORS = {
    "Memory": ("memories/store/",),
    "Tombstone": ("memories/store/",),
    "AuditEvent": ("projects/audit.py",),
    "ApiKey": ("projects/store.py", "projects/http/authentication.py"),
    "Project": ("projects/store.py", "memories/store/locks.py"),
    "Instruction": ("chats/instructions.py", "chats/erasure.py"),
    "Topic": ("chats/turns.py", "chats/schedule.py", "chats/summaries.py"),
    "Summary": ("chats/summaries.py",),
    "EpisodeTerm": ("chats/episodes.py", "chats/erasure.py"),
    "Chat": (
        "chats/turns.py",
        "chats/endings.py",
        "chats/steps.py",
        "chats/records.py",
        "chats/distil.py",
        "chats/episodes.py",
    ),
    "Breaker": ("memories/extraction/breaker.py",),
    "Extraction": (
        "chats/distil.py",
        "chats/schedule.py",
        "memories/store/removal.py",
        "memories/retention.py",
    ),
}
WRITES = {"create", "bulk_create", "update", "bulk_update", "delete", "get_or_create", "update_or_create"}


def python_files() -> list[Path]:
    return [
        path for app in APPS for path in sorted((ROOT / app).rglob("*.py")) if "migrations" not in path.parts
    ]


def written_models(tree: ast.AST) -> set[str]:
    """Names of models in chains like `Model.objects….update(…)` and in calls like `Model(…)`."""
    found = set()
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if isinstance(node.func, ast.Name) and node.func.id in DOORS:
            found.add(node.func.id)
        if isinstance(node.func, ast.Attribute) and node.func.attr in WRITES:
            inner: ast.AST = node.func.value
            while isinstance(inner, ast.Call | ast.Attribute):
                inner = inner.func if isinstance(inner, ast.Call) else inner.value
            if isinstance(inner, ast.Name) and inner.id in DOORS:
                found.add(inner.id)
    return found


def test_no_model_is_written_outside_its_door() -> None:
    strays = []
    for path in python_files():
        relative = path.relative_to(ROOT).as_posix()
        for model in written_models(ast.parse(path.read_text())):
            if not relative.startswith(DOORS[model]):
                strays.append(f"{relative} writes {model}")
    assert strays == []


def test_every_door_that_is_allowed_exists_and_is_used() -> None:
    writers = {
        (model, path.relative_to(ROOT).as_posix())
        for path in python_files()
        for model in written_models(ast.parse(path.read_text()))
    }
    stale = [
        f"{model}: {door}"
        for model, doors in DOORS.items()
        for door in doors
        if not any(model == written and where.startswith(door) for written, where in writers)
    ]
    assert stale == []


def test_no_module_hides_behind_a_name_that_says_nothing() -> None:
    names = {path.stem for path in python_files()} | {path.parent.name for path in python_files()}
    assert names & {"utils", "util", "helpers", "common", "core", "misc", "base"} == set()


def test_no_module_hides_a_second_noun() -> None:
    lengths = {path.relative_to(ROOT).as_posix(): path.read_text().count("\n") for path in python_files()}
    assert {name: length for name, length in lengths.items() if length > 460} == {}


def test_every_scheduled_task_exists() -> None:
    current_app.loader.import_default_modules()
    scheduled = {entry["task"] for entry in settings.CELERY_BEAT_SCHEDULE.values()}
    # Other tests bring tasks of their own.
    ours = {name for name in current_app.tasks if not name.startswith(("celery.", "tests."))}
    assert scheduled <= ours
    assert ours == {
        "chats.distil",
        "chats.sum_up",
        "chats.sweep",
        "memories.fade",
        "memories.retain",
        "memories.rescan",
        "memories.roll_up_usage",
        "projects.forget_idempotency",
        "projects.forget_logins",
    }


def routes() -> list[tuple[str, URLPattern]]:
    found: list[tuple[str, URLPattern]] = []

    def walk(resolver: URLResolver, prefix: str) -> None:
        for pattern in resolver.url_patterns:
            route = prefix + str(pattern.pattern)
            if isinstance(pattern, URLResolver):
                walk(pattern, route)
            else:
                found.append((route, pattern))

    walk(get_resolver(), "")
    return found


# Routes without a project, each with its reason.
UNSCOPED = {
    "api/v1/me/": "about the caller alone",
    "api/v1/projects/": "lists what the caller may see",
    "api/v1/health/live/": "says only that the process answers",
    "api/v1/health/ready/": "says only what is missing",
    "api/v1/schema/": "the public description of the API",
    "api/v1/docs/": "a page over that description",
}


def test_every_api_view_asks_access_for_its_project() -> None:
    """The module of each view that takes a slug or an id goes through projects.http.access."""
    api = {route: pattern for route, pattern in routes() if route.startswith("api/v1/")}
    assert api, "the API has routes"
    naked = []
    for route, pattern in api.items():
        if re.sub(r"[\^$?]", "", route) in UNSCOPED:
            continue
        view = getattr(pattern.callback, "cls", None) or getattr(
            pattern.callback, "view_class", pattern.callback
        )
        module = __import__(view.__module__, fromlist=["x"])
        source = Path(module.__file__ or "").read_text()
        if "projects.http.access" not in source and "projects.http import access" not in source:
            naked.append(f"{route} ({view.__module__})")
    assert naked == []


@pytest.mark.parametrize("folder", ["templates", "static", "docs", "examples"])
def test_no_page_needs_a_cdn(folder: str) -> None:
    loads = re.compile(r"""(?:src|href)=["'](?:https?:)?//(?!127\.0\.0\.1|localhost)""")
    files = [path for path in (ROOT / folder).rglob("*") if path.suffix in {".html", ".css", ".js"}]
    assert [path.name for path in files if loads.search(path.read_text(errors="replace"))] == []
