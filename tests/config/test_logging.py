"""What a log line says, and what it never holds, whoever logs: libraries, the database's errors, our own code."""

from __future__ import annotations

import ast
import io
import json
import logging
import logging.config
import subprocess
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.db import IntegrityError

from config import logs
from projects.http import request_id
from tests.factories import make_key, make_project, make_user

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from rest_framework.test import APIClient

SECRET = "canary7731"
type Lines = Callable[[], list[dict[str, Any]]]


class Lined(logging.StreamHandler[io.StringIO]):
    def __init__(self, form: str = "json", *, debug: bool = False) -> None:
        super().__init__(io.StringIO())
        self.setFormatter(logs.formatter(form=form, debug=debug))

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.stream.getvalue().splitlines()]

    def text(self) -> str:
        return self.stream.getvalue()


@pytest.fixture
def handler(request: pytest.FixtureRequest) -> Iterator[Lined]:
    made = Lined(**getattr(request, "param", {}))
    logging.getLogger().addHandler(made)
    yield made
    logging.getLogger().removeHandler(made)


@pytest.fixture
def library(tmp_path: Path) -> Callable[[str], Any]:
    """A module that is nobody's of ours, with this body."""

    def made(body: str) -> Any:
        path = tmp_path / "library.py"
        path.write_text(f"import logging\nlogger = logging.getLogger('library')\n{body}\n")
        names: dict[str, Any] = {}
        exec(compile(path.read_text(), str(path), "exec"), names)  # noqa: S102
        return names["say"]

    return made


@pytest.mark.parametrize(
    ("statement", "event"),
    [
        pytest.param("logger.warning('it broke')", "it broke", id="a text of its own"),
        pytest.param("logger.warning('%s broke %d times', text, 3)", "*** broke 3 times", id="arguments"),
        pytest.param(
            "logger.warning('%(who)s: %(n).1f', {'who': text, 'n': 2})", "***: 2.0", id="named arguments"
        ),
        pytest.param("logger.warning('a ' 'long ' 'text')", "a long text", id="a text in pieces"),
        pytest.param("logger.warning('''\n  lines\n'''.strip())", "lines", id="a text it trims"),
        pytest.param("logger.warning(f'broken: {text}')", None, id="an f-string"),
        pytest.param("logger.warning('broken: ' + text)", None, id="put together"),
        pytest.param("logger.warning(text)", None, id="somebody's text"),
        pytest.param("logger.warning(ValueError(text))", None, id="an error"),
        pytest.param("logger.warning('broken: {}'.format(text))", None, id="formatted"),
        pytest.param(
            "logger.warning('%d broke', __import__('decimal').Decimal(3))",
            None,
            id="arguments that do not fit",
        ),
        pytest.param("logger.warning('broke', extra={'route': text, 'status': text})", "broke", id="extra"),
        pytest.param("logger.warning('broke', stack_info=True)", "broke", id="a stack"),
    ],
)
def test_a_library_says_what_stands_in_its_program_and_nothing_that_it_was_given(
    statement: str, event: str | None, library: Callable[[str], Any], handler: Lined, caplog: Any
) -> None:
    library(f"def say(text):\n    {statement}")(SECRET)
    [line] = handler.lines()
    assert SECRET not in handler.text()
    assert line["event"] == ("***" if event is None else event)
    assert line.get("at", "").endswith("library.py:4") is (event is None)
    assert (line["level"], line["logger"]) == ("warning", "library")
    assert set(line) <= {"time", "level", "logger", "event", "pid", "request_id", "at"}


def test_an_error_is_told_by_class_and_place_and_number_not_by_its_words(
    library: Callable[[str], Any], handler: Lined
) -> None:
    say = library(
        "from django.db import IntegrityError\n"
        "def fail(text):\n"
        "    raise IntegrityError(1062, f'Duplicate entry {text}')\n"
        "def say(text):\n"
        "    try:\n"
        "        try:\n"
        "            fail(text)\n"
        "        except IntegrityError as error:\n"
        "            raise KeyError(text) from error\n"
        "    except KeyError:\n"
        "        logger.exception('it broke')\n"
    )
    say(SECRET)
    [line] = handler.lines()
    assert SECRET not in handler.text()
    error, cause = line["exception"], line["exception"]["caused_by"]
    assert error["class"] == "KeyError"
    assert [frame.rpartition("/")[2] for frame in error["frames"]] == ["library.py:11 say"]
    assert (cause["class"], cause["number"]) == ("django.db.utils.IntegrityError", 1062)
    assert [frame.rpartition("/")[2] for frame in cause["frames"]] == [
        "library.py:9 say",
        "library.py:5 fail",
    ]
    assert "message" not in error
    assert "message" not in cause


def test_an_error_of_a_thousand_frames_is_cut_in_the_middle() -> None:
    def deeper() -> None:
        deeper()

    with pytest.raises(RecursionError) as caught:
        deeper()
    frames = logs.told(caught.value, caught.tb)["frames"]
    assert len(frames) == logs.MAX_FRAMES + 1
    assert frames[logs.MAX_FRAMES // 2].endswith("more)")


def test_what_to_do_about_a_wrong_setting_is_told(handler: Lined) -> None:
    try:
        raise ImproperlyConfigured("Set SECRET_KEY.")
    except ImproperlyConfigured:
        logging.getLogger("gunicorn.error").error("Exception in worker process", exc_info=True)
    assert handler.lines()[0]["exception"]["message"] == "Set SECRET_KEY."


def test_our_own_lines_name_things_and_carry_the_fields_that_are_known(handler: Lined) -> None:
    request_id.begin("req-1")
    logger = logging.getLogger("chats.somewhere")
    logger.warning(
        "topic %s: %s after %s, %s",
        7,
        "provider_down",
        ValueError(SECRET),
        f"a sentence of {SECRET}",
        extra={"status": 500, "message_of_somebody": SECRET},
    )
    [line] = handler.lines()
    assert SECRET not in handler.text()
    assert line["event"] == "topic 7: provider_down after ValueError, ***"
    assert (line["status"], line["request_id"]) == (500, "req-1")
    assert "message_of_somebody" not in line


def test_a_warning_is_told_by_its_kind_and_place(handler: Lined) -> None:
    logging.getLogger("py.warnings").warning(
        "%s", warnings.formatwarning(SECRET, UserWarning, f"{settings.BASE_DIR}/chats/x.py", 3)
    )
    assert handler.lines()[0]["event"] == "UserWarning at chats/x.py:3"
    assert SECRET not in handler.text()


@pytest.mark.parametrize("handler", [{"debug": True}], indirect=True)
def test_with_debug_everything_is_told(library: Callable[[str], Any], handler: Lined) -> None:
    try:
        raise IntegrityError(SECRET)
    except IntegrityError:
        library("def say(text):\n    logger.exception('broken: %s', text)")(SECRET)
    [line] = handler.lines()
    assert (line["event"], line["exception"]["message"]) == (f"broken: {SECRET}", SECRET)


@pytest.mark.parametrize("handler", [{"form": "console"}], indirect=True)
def test_on_a_terminal_the_same_is_readable(library: Callable[[str], Any], handler: Lined) -> None:
    request_id.begin("req-1")
    try:
        raise IntegrityError(1062, SECRET)
    except IntegrityError:
        library("def say(text):\n    logger.exception('broken: %s', text)")(SECRET)
    first, *rest = handler.text().splitlines()
    assert first[8:] == " [error    ] broken: *** [library] request_id=req-1"
    assert rest[-1] == "django.db.utils.IntegrityError: 1062"
    assert SECRET not in handler.text()


def test_a_line_that_cannot_be_written_quotes_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    handler = logs.StderrHandler()
    handler.setFormatter(logs.formatter(form="json"))

    class Unwritable:
        def __str__(self) -> str:
            raise RuntimeError(SECRET)

    logger = logging.Logger("chats.somewhere")
    logger.addHandler(handler)
    logger.warning("status", extra={"status": Unwritable()})
    logger.warning("status", extra={"status": {1, 2}})
    told = capsys.readouterr().err
    assert SECRET not in told
    for line in told.splitlines():
        json.loads(line)


# --- Requests ----------------------------------------------------------------------------------------------


def requests(handler: Lined) -> list[dict[str, Any]]:
    return [line for line in handler.lines() if line["logger"] == "projects.http.request_log"]


@pytest.mark.django_db
def test_a_request_is_one_line_with_its_route_and_caller(
    handler: Lined, api: Callable[..., APIClient]
) -> None:
    project = make_project("shop")
    key, secret = make_key(project)
    body = json.dumps({"type": "fact", "content": f"Lists show {SECRET}."})
    answer = api(secret).generic(
        "POST",
        "/api/v1/projects/shop/memories/",
        body,
        "application/json",
        headers={"X-Request-ID": "req-5c1e", "User-Agent": SECRET, "Idempotency-Key": SECRET},
    )
    assert answer.status_code == 201
    [line] = handler.lines()
    assert line.pop("ms") > 0
    assert line.pop("time").endswith("+00:00")
    assert line.pop("pid")
    assert line == {
        "level": "info",
        "logger": "projects.http.request_log",
        "event": "request",
        "request_id": "req-5c1e",
        "method": "POST",
        "route": "api/v1/projects/<slug:slug>/memories/",
        "status": 201,
        "caller": "key",
        "key": key.prefix,
        "project": project.pk,
        "bytes_in": len(body),
        "bytes_out": len(answer.content),
    }


@pytest.mark.django_db
def test_a_persons_request_names_them_by_id_and_the_project_they_reached(
    handler: Lined, api_as: Callable[..., APIClient]
) -> None:
    project = make_project("shop")
    api_as(project.owner).get("/api/v1/projects/shop/")
    api_as(make_user()).get("/api/v1/projects/shop/")
    [mine, strangers] = requests(handler)
    assert (mine["caller"], mine["user"], mine["project"]) == ("user", project.owner_id, project.pk)
    # What they must not know of they did not reach.
    assert (strangers["status"], strangers["code"]) == (404, "not_found")
    assert "project" not in strangers


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "told"),
    [
        pytest.param("GET", f"/{SECRET}/?q={SECRET}", ("GET", None, 404), id="no such address"),
        pytest.param(
            "GET", f"/api/v1/projects/{SECRET}/", ("GET", "api/v1/projects/<slug:slug>/", 401), id="a slug"
        ),
        pytest.param("GET", f"/login/?next=/{SECRET}", ("GET", "login/", 200), id="a query string"),
        pytest.param(
            SECRET.upper(), "/api/v1/health/live/", ("other", "api/v1/health/live/", 405), id="method"
        ),
        pytest.param("GET", "/static/cairn/icon.svg", ("GET", "static/*", 200), id="a static file"),
    ],
)
def test_neither_the_address_nor_the_query_string_stands_in_a_line(
    method: str, path: str, told: tuple[str, str | None, int], handler: Lined, api: Callable[..., APIClient]
) -> None:
    list(api().generic(method, path, headers={"Accept-Language": SECRET, "Referer": SECRET}))
    [line] = handler.lines()
    assert (line["method"], line.get("route"), line["status"]) == told
    assert line["caller"] == "anonymous"
    assert SECRET not in handler.text().lower()


@pytest.mark.django_db
def test_what_nobody_expected_is_two_lines_of_one_request_without_its_words(
    handler: Lined, api: Callable[..., APIClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(**kwargs: Any) -> None:
        raise IntegrityError(1062, f"Duplicate entry '{kwargs['request'].message}' for key")

    monkeypatch.setattr("chats.turns.open_turn", failing)
    client = api(make_key(make_project("shop"))[1])
    client.raise_request_exception = False
    body = {"topic": {"ref": "a"}, "ref": "1", "message": SECRET}
    answer = client.post("/api/v1/projects/shop/turns/", body)
    assert (answer.status_code, answer.json()["code"]) == (500, "internal")
    error, request = handler.lines()
    assert SECRET not in handler.text() + answer.content.decode()
    assert error["request_id"] == request["request_id"] == answer.json()["request_id"]
    assert (error["logger"], error["level"]) == ("django.request", "error")
    assert error["exception"]["class"] == "django.db.utils.IntegrityError"
    assert any(frame.startswith("chats/api/turns.py:") for frame in error["exception"]["frames"])
    assert (request["level"], request["status"]) == ("error", 500)


@pytest.mark.django_db
def test_a_refusal_is_one_line_with_its_code(handler: Lined, api: Callable[..., APIClient]) -> None:
    client = api(make_key(make_project("shop"))[1])
    client.post("/api/v1/projects/shop/memories/", {"type": SECRET, SECRET: 1})
    [line] = handler.lines()
    assert (line["status"], line["code"], line["level"]) == (400, "unknown_field", "info")
    assert SECRET not in handler.text()


# --- The house ---------------------------------------------------------------------------------------------


def test_an_unknown_format_is_said_at_the_start() -> None:
    ended = subprocess.run(
        [sys.executable, "-c", "import config.settings"],
        cwd=settings.BASE_DIR,
        env={"CAIRN_DATA_DIR": str(settings.DATA_DIR), "LOG_FORMAT": "yaml"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "LOG_FORMAT is 'yaml'; choose one of json, console." in ended.stderr


def test_our_own_lines_are_constants_whose_arguments_can_be_left_out() -> None:
    """A text that is put together before it is logged could hold anything."""
    put_together = []
    for app in logs.OURS:
        for path in (Path(settings.BASE_DIR) / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
                    continue
                if ast.unparse(node.func.value) not in ("logger", "logging.getLogger(__name__)"):
                    continue
                message = node.args[1 if node.func.attr == "log" else 0]
                if not (isinstance(message, ast.Constant) and isinstance(message.value, str)):
                    put_together.append(f"{path}:{node.lineno}")
    assert put_together == []


def test_nobody_prints_or_logs_beside_the_one_handler() -> None:
    configured = logs.configuration(form="json", level="INFO")
    assert list(configured["handlers"]) == ["stderr"]
    handlers = {name: logger.get("handlers", []) for name, logger in configured["loggers"].items()}
    assert {name for name, listed in handlers.items() if listed} == {"multiprocessing"}
    source = Path(settings.BASE_DIR)
    printing = [
        str(path.relative_to(source))
        for app in ("config", "projects", "memories", "chats")
        for path in (source / app).rglob("*.py")
        if "StreamHandler(" in path.read_text() and path.name != "logs.py"
    ]
    assert printing == []
