"""How a log line looks, and what may stand in it: no content, whoever logs.

Libraries put what they were given into their messages, and databases quote values in their errors. So a message is
told only if it stands in its own program as it is, with numbers filled in and other values left out; what anything
else says is known by its file and line. An exception is told by its classes and places, without its message. With
DEBUG=1 everything is told.
"""

from __future__ import annotations

import ast
import logging
import re
import sys
import traceback
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import structlog

from projects.http import request_id

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, MutableMapping
    from types import TracebackType

    type Event = MutableMapping[str, Any]

FORMATS: Final = ("json", "console")
OURS: Final = ("config", "chats", "memories", "projects")
# What our own lines may say besides their message, in this order.
FIELDS: Final = (
    "task", "task_id", "method", "route", "status", "code", "outcome", "ms", "caller", "key", "user", "project",
    "topic", "retries", "bytes_in", "bytes_out", "error",
)  # fmt: skip
# Said by servers about themselves: addresses, signals and names of tasks, nothing that anybody sent.
HARMLESS: Final = frozenset(
    {
        "Starting gunicorn %s",
        "Listening at: %s (%s)",
        "Using worker: %s",
        "Handling signal: %s",
        "Worker (pid:%s) was sent %s!",
        "Connected to %s",
        "%s ready.",
        "Hard time limit (%ss) exceeded for %s[%s]",
        "Soft time limit (%ss) exceeded for %s[%s]",
    }
)
# Errors whose message is a sentence of this program, which says what to do.
OWN_SENTENCES: Final = frozenset(
    {"django.core.exceptions.ImproperlyConfigured", "memories.tokens.TokenizerUnavailable"}
)
WITHHELD: Final = "***"
MAX_FRAMES: Final = 40
MAX_CAUSES: Final = 5
_NAME: Final = re.compile(r"[\w.:/<>-]{1,80}\Z")
_WARNING: Final = re.compile(r"(?P<place>[^\n]+?:\d+): (?P<category>\w+): ")
_HOME: Final = Path(__file__).resolve().parent.parent
_GUNICORN: Final = ("arbiter.py", "workers/base.py", "workers/gthread.py")


def configuration(*, form: str, level: str, debug: bool = False) -> dict[str, Any]:
    """`LOGGING`: everything goes to stderr, one line each (`json`), or readable (`console`)."""
    return {
        "version": 1,
        "disable_existing_loggers": False,
        "formatters": {"line": {"()": formatter, "form": form, "debug": debug}},
        "handlers": {"stderr": {"()": "config.logs.StderrHandler", "formatter": "line"}},
        "root": {"handlers": ["stderr"], "level": level},
        "loggers": {
            # Django gives it a handler of its own, for a server that nobody runs in production.
            "django": {"handlers": [], "level": "NOTSET", "propagate": True},
            # What these say of every request and task, the lines of the site's own say without content.
            "django.request": {"level": "ERROR"},
            "celery.app.trace": {"level": "WARNING"},
            "celery.worker.strategy": {"level": "WARNING"},
            "celery.beat": {"level": "WARNING"},
            # billiard's, which hands nothing on by itself: the worker's processes that ended.
            "multiprocessing": {"handlers": ["stderr"], "level": "WARNING", "propagate": False},
            "gunicorn.error": {"handlers": [], "level": level, "propagate": True},
            "gunicorn.access": {"handlers": [], "level": "CRITICAL", "propagate": False},
        },
    }


def formatter(*, form: str, debug: bool = False) -> logging.Formatter:
    if form == "json":
        last: list[Any] = [structlog.processors.JSONRenderer()]
    else:
        last = [_readable, structlog.dev.ConsoleRenderer(colors=False, pad_event_to=0, sort_keys=False)]
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[_Line(debug=debug)],
        processors=last,
        use_get_message=False,
        pass_foreign_args=True,
    )


class StderrHandler(logging.StreamHandler[Any]):
    """To whatever stderr is now. A line that cannot be written is not quoted in the complaint about it."""

    def __init__(self) -> None:
        super().__init__(sys.stderr)

    def handleError(self, record: logging.LogRecord) -> None:
        error = sys.exc_info()[0]
        if error is not None and not issubclass(error, OSError):
            place = f"{_place(record.pathname)}:{record.lineno}"
            sys.stderr.write(
                f'{{"level": "error", "event": "{error.__name__} while logging", "at": "{place}"}}\n'
            )


class _Line:
    """A record as a flat event: structlog's first processor, and the only one that sees the record."""

    def __init__(self, *, debug: bool) -> None:
        self.debug = debug

    def __call__(self, logger: Any, method: str, event: Event) -> dict[str, Any]:
        record: logging.LogRecord = event["_record"]
        args = event.get("positional_args") or ()
        is_ours = record.name.partition(".")[0] in OURS
        if self.debug:
            said: str | None = _filled(record.msg, args, str)
        elif is_ours:
            said = _filled(record.msg, args, _named)
        else:
            said = _told_by_library(record, args)
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "event": WITHHELD if said is None else said,
            "pid": record.process,
            "request_id": request_id.current() or None,
        }
        if said is None:
            line["at"] = f"{_place(record.pathname)}:{record.lineno}"
        if is_ours:
            line |= {name: record.__dict__[name] for name in FIELDS if name in record.__dict__}
        if (exc_info := event.get("exc_info")) and exc_info[1] is not None:
            line["exception"] = told(exc_info[1], exc_info[2], with_message=self.debug)
        return line


def told(
    error: BaseException, trace: TracebackType | None, *, with_message: bool = False, depth: int = 0
) -> Event:
    """An exception as its class, its places and its causes; a number that a database or system gave it."""
    name = _class_of(error)
    line: Event = {"class": name}
    if with_message or name in OWN_SENTENCES:
        line["message"] = str(error)
    number = error.errno if isinstance(error, OSError) else next(iter(error.args), None)
    if isinstance(number, int) and not isinstance(number, bool):
        line["number"] = number
    frames = [f"{_place(frame.f_code.co_filename)}:{at} {frame.f_code.co_name}" for frame, at in _walk(trace)]
    if len(frames) > MAX_FRAMES:
        frames[MAX_FRAMES // 2 : -MAX_FRAMES // 2] = [f"({len(frames) - MAX_FRAMES} more)"]
    line["frames"] = frames
    cause = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
    if cause is not None and depth < MAX_CAUSES:
        line["caused_by"] = told(cause, cause.__traceback__, with_message=with_message, depth=depth + 1)
    return line


def _walk(trace: TracebackType | None) -> Iterator[tuple[Any, int]]:
    yield from traceback.walk_tb(trace)


def _class_of(error: BaseException) -> str:
    kind = type(error)
    return kind.__qualname__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__qualname__}"


def _told_by_library(record: logging.LogRecord, args: Any) -> str | None:
    """A library's message, None if it may hold what somebody sent."""
    template = record.msg
    if record.name == "py.warnings":
        warning = _WARNING.match(str(args[0])) if args else None
        return f"{warning['category']} at {_place(warning['place'])}" if warning else None
    if not isinstance(template, str) or not _is_literal(template, record):
        return None
    return _filled(template, args, str if template in HARMLESS else _withheld)


def _is_literal(template: str, record: logging.LogRecord) -> bool:
    """Whether the text stands in the program that says it, and was not put together from something."""
    files = [record.pathname]
    if record.name == "gunicorn.error":
        # All of its messages go through one module.
        root = Path(record.pathname).parent
        files = [str(root / name) for name in _GUNICORN]
    return any(template.strip() in _literals(file) for file in files)


@lru_cache(maxsize=64)
def _literals(file: str) -> frozenset[str]:
    try:
        tree = ast.parse(Path(file).read_bytes())
    except (OSError, SyntaxError, ValueError):
        return frozenset()
    nodes = list(ast.walk(tree))
    # The pieces of an f-string are no message of their own.
    pieces = {id(piece) for node in nodes if isinstance(node, ast.JoinedStr) for piece in node.values}
    return frozenset(
        node.value.strip()
        for node in nodes
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in pieces
    )


def _filled(template: Any, args: Any, shown: Any) -> str | None:
    """The message with its arguments as `shown` shows them; None if they do not fit."""
    if not args:
        return str(template)
    try:
        if isinstance(args, dict):
            return str(template) % {name: _shown(value, shown) for name, value in args.items()}
        return str(template) % tuple(_shown(value, shown) for value in args)
    except (TypeError, ValueError, KeyError):
        return None


def _shown(value: Any, shown: Any) -> Any:
    return value if isinstance(value, int | float) else shown(value)


def _withheld(value: Any) -> str:
    return WITHHELD


def _named(value: Any) -> str:
    """Our own lines name things by a word: a kind, a class, a state. Anything longer would be somebody's text."""
    if isinstance(value, BaseException):
        return _class_of(value)
    return text if isinstance(value, str) and _NAME.match(text := str(value)) else WITHHELD


@lru_cache(maxsize=1024)
def _place(file: str) -> str:
    """A file without the folders that differ between machines."""
    for mark in ("/site-packages/", f"{_HOME}/", "/lib/python"):
        _before, found, rest = file.partition(mark)
        if found:
            return rest
    return file


def _readable(logger: Any, method: str, event: Event) -> dict[str, Any]:
    """For the terminal: the time of day, what is known, and the exception under it."""
    line = {name: value for name, value in event.items() if value is not None and name not in ("time", "pid")}
    line["timestamp"] = event["time"][11:19]
    if isinstance(error := line.pop("exception", None), dict):
        line["exception"] = "\n".join(_lines(error))
    return line


def _lines(error: Mapping[str, Any]) -> Iterator[str]:
    if cause := error.get("caused_by"):
        yield from _lines(cause)
        yield "which led to"
    yield from (f"  {frame}" for frame in error["frames"])
    yield ": ".join(str(error[name]) for name in ("class", "number", "message") if name in error)
