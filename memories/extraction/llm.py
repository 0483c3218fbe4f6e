"""The model backend: one chat completion of any endpoint that speaks the OpenAI protocol, at most a few for a run.

What may go wrong is told apart here: a provider that does not answer (ProviderDown), one that does not take what it is
to read (InputRefused), and an answer that nothing can be made of (Unreadable). None of them carries the provider's
words, the talk or the key. Retries are the caller's: its back-off knows how many others wait.
"""

import json
import logging
import re
import socket
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Final

import httpx2
import openai
from django.conf import settings

from memories.extraction import answer, prompt, summary
from memories.extraction.backends import (
    Extracted,
    InputRefused,
    Proposal,
    ProviderDown,
    Summarised,
    SummaryRequest,
    Unreadable,
    Usage,
)
from memories.extraction.transcript import Transcript
from memories.extraction.verify import parse

MAX_RETRY_AFTER_S: Final = 3600.0
MAX_TOKENS_TOLD: Final = 2_000_000_000
CONNECT_S: Final = 10.0

# At level DEBUG they write down what is answered, headers and all.
for _name in ("openai", "httpx2", "httpcore2"):
    logging.getLogger(_name).setLevel(logging.WARNING)

# Structured output, strongest first.
JSON_SCHEMA, JSON_OBJECT, NONE = FORMS = ("json_schema", "json_object", "none")
_RESPONSE_FORMATS: Final[dict[str, dict[str, Any]]] = {
    JSON_SCHEMA: {
        "type": "json_schema",
        "json_schema": {"name": "memories", "strict": True, "schema": prompt.SCHEMA},
    },
    JSON_OBJECT: {"type": "json_object"},
}
# What each endpoint and model was seen to take. Lost with the process, and found out again with one request.
_taken: dict[tuple[str, str], str] = {}

_ABOUT_FORM = re.compile(
    r"response_?format|json_?schema|json_?object|structured|guided|grammar", re.IGNORECASE
)
_TOO_LONG = re.compile(
    r"context.{0,3}(?:length|window|size)|maximum context|too (?:long|large|many (?:input )?tokens)"
    r"|reduce the length|string_above_max_length|max_?model_?len|input length|prompt is too"
    r"|exceed\w*.{0,60}(?:tokens|length|context)|(?:超过|超出).{0,20}(?:长度|上限|限制)|输入过长",
    re.IGNORECASE,
)
# One request of more tokens than a minute allows: to wait does not help.
_LARGER_THAN_LIMIT = re.compile(r"request too large", re.IGNORECASE)
_TRIVIAL: Final = [{"role": "user", "content": 'Answer with the JSON object {"memories": []}.'}]
# Why a request was turned down, when it was not for what it said.
_REASONS: Final = {401: "unauthorized", 402: "quota", 404: "not_found", 408: "timeout"}


class Llm:
    """`extract` makes at most EXTRACTION_MAX_REQUESTS calls, each of at most EXTRACTION_TIMEOUT_S."""

    name = "llm"
    prompt_version = prompt.PROMPT_VERSION

    def __init__(self) -> None:
        self.model: str = settings.LLM_MODEL

    def extract(self, transcript: Transcript) -> Extracted:
        """What the model proposes. Raises ProviderDown, InputRefused, Unreadable."""
        conversation = _Conversation(self.model)
        reminder = False
        while True:
            told = conversation.ask(prompt.written(transcript, reminder=reminder))
            try:
                proposals, lost = _read(told)
            except answer.NoAnswer as nothing:
                # A model that refuses, or was cut off, would only do it again.
                final = told.is_refused or told.is_cut or reminder or not conversation.requests_left
                if final:
                    reason = "refused" if told.is_refused else nothing.reason
                    raise Unreadable(reason, raw=told.text, usage=conversation.usage) from None
                reminder = True
            else:
                return Extracted(
                    candidates=tuple(proposals),
                    raw=told.text,
                    usage=conversation.usage,
                    unparsable=lost,
                )

    def summarise(self, request: SummaryRequest) -> Summarised:
        """What the model makes of a topic's talk, as plain text. Raises ProviderDown, InputRefused, Unreadable."""
        conversation = _Conversation(self.model)
        told = conversation.ask_plainly(summary.written(request))
        try:
            if told.is_refused:
                raise answer.NoAnswer("refused")
            text = summary.read(told.text, cut=told.is_cut)
        except answer.NoAnswer as nothing:
            raise Unreadable(nothing.reason, raw=told.text, usage=conversation.usage) from None
        return Summarised(text, usage=conversation.usage)


def _read(told: "_Completion") -> tuple[list[Proposal], int]:
    """The proposals of an answer, and how many items of it are lost. Raises NoAnswer, also if all are."""
    found = answer.read(told.text, cut=told.is_cut)
    proposals, unparsable = parse(found.items)
    if not proposals and (unparsable or found.lost):
        raise answer.NoAnswer("no_item_readable")
    return proposals, unparsable + found.lost


@dataclass(frozen=True, slots=True)
class _Completion:
    """What a provider answered. `is_cut`: it stopped before the end; `is_refused`: it would not say it."""

    text: str
    usage: Usage
    is_cut: bool = False
    is_refused: bool = False


class _TurnedDown(Exception):
    """The provider refused the request with a 4xx that leaves open why. It works, or its set-up is wrong."""

    def __init__(self, *, about_form: bool, may_be_form: bool) -> None:
        super().__init__()
        self.about_form = about_form
        self.may_be_form = may_be_form


class _Conversation:
    """The calls of one run: counts them and what they cost, and finds out which structured output is taken."""

    def __init__(self, model: str) -> None:
        self.model = model
        self.requests_left: int = settings.EXTRACTION_MAX_REQUESTS
        self.usage = Usage()
        self._endpoint = (settings.LLM_BASE_URL, model)

    def ask(self, messages: Sequence[Mapping[str, str]]) -> _Completion:
        """The answer, in the strongest form that the endpoint takes."""
        wanted = settings.LLM_STRUCTURED
        known = _taken.get(self._endpoint)
        form = wanted if wanted != "auto" else known or JSON_SCHEMA
        while True:
            try:
                told = self._send(messages, form)
            except _TurnedDown as turned_down:
                weaker = _weaker(form, turned_down, is_known=known is not None)
                if wanted != "auto" or weaker is None:
                    raise self._blamed(form) from None
                if not self.requests_left:
                    # The next run begins where this one ends.
                    _taken[self._endpoint] = weaker
                    raise ProviderDown("form_refused") from None
                form, known = weaker, None
            else:
                if wanted == "auto":
                    _taken[self._endpoint] = form
                return told

    def ask_plainly(self, messages: Sequence[Mapping[str, str]]) -> _Completion:
        """The answer, in no form at all."""
        try:
            return self._send(messages, NONE)
        except _TurnedDown:
            raise self._blamed(NONE) from None

    def _blamed(self, form: str) -> Exception:
        """Whose fault a refusal is: the turns' only if the endpoint takes a request that says nothing. A wrong key
        or model must cost no turn.
        """
        if self.requests_left:
            try:
                self._send(_TRIVIAL, form)
            except _TurnedDown:
                pass
            else:
                return InputRefused("refused")
        return ProviderDown("rejected")

    def _send(self, messages: Sequence[Mapping[str, str]], form: str) -> _Completion:
        self.requests_left -= 1
        told = _call(self.model, messages, form)
        self.usage = Usage(
            min(self.usage.input + told.usage.input, MAX_TOKENS_TOLD),
            min(self.usage.output + told.usage.output, MAX_TOKENS_TOLD),
        )
        return told


def _weaker(form: str, turned_down: _TurnedDown, *, is_known: bool) -> str | None:
    """The form to try next; None if the form is not why the request was turned down."""
    if form == NONE or not turned_down.may_be_form or (is_known and not turned_down.about_form):
        return None
    # Where the provider does not say that it is the form, one try without any will tell.
    return FORMS[FORMS.index(form) + 1] if turned_down.about_form else NONE


# --- One call ----------------------------------------------------------------------------------------------


class _Line:
    """The connection of one call, which another thread can cut."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._socket: socket.socket | None = None
        self._is_cut = False

    def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """httpcore tells here what it does; of a new connection, or of TLS on it, the stream."""
        stream = info.get("return_value")
        if stream is None or not event.endswith(("connect_tcp.complete", "start_tls.complete")):
            return
        with self._lock:
            self._socket = stream.get_extra_info("socket")
            if self._is_cut:
                self._shut()

    def cut(self) -> None:
        """Whoever reads or writes on it stops at once. Closing it is for the thread that opened it."""
        with self._lock:
            self._is_cut = True
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            # Of the socket, not of TLS: that would want to say good-bye first.
            with suppress(OSError):
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)


def _call(model: str, messages: Sequence[Mapping[str, str]], form: str) -> _Completion:
    """One request, over within EXTRACTION_TIMEOUT_S whatever the provider does.

    A client's own timeout limits each read: a provider that sends a byte now and then would hold the worker for
    ever. So the request runs in a thread, which is cut off when its time is up.
    """
    line = _Line()
    ended: list[_Completion | Exception] = []

    def send() -> None:
        try:
            ended.append(_complete(line, model, messages, form))
        except Exception as error:
            ended.append(error)

    sender = threading.Thread(target=send, name="llm", daemon=True)
    sender.start()
    try:
        sender.join(settings.EXTRACTION_TIMEOUT_S)
    finally:
        # Also when the task's own time limit interrupts the waiting.
        if is_late := sender.is_alive():
            line.cut()
    if is_late:
        raise ProviderDown("timeout")
    if isinstance(ended[0], Exception):
        raise ended[0]
    return ended[0]


def _complete(line: _Line, model: str, messages: Sequence[Mapping[str, str]], form: str) -> _Completion:
    """The request itself. Every error of the SDK ends here: their texts may quote the talk or the key."""

    def watch(request: httpx2.Request) -> None:
        request.extensions["trace"] = line.trace

    limit = httpx2.Timeout(
        settings.EXTRACTION_TIMEOUT_S, connect=min(CONNECT_S, settings.EXTRACTION_TIMEOUT_S)
    )
    asked: dict[str, Any] = {"model": model, "messages": messages}
    if form != NONE:
        asked["response_format"] = _RESPONSE_FORMATS[form]
    if settings.LLM_TEMPERATURE is not None:
        asked["temperature"] = settings.LLM_TEMPERATURE
    # Redirects are not followed: the talk goes to the configured endpoint and nowhere else.
    with httpx2.Client(timeout=limit, follow_redirects=False, event_hooks={"request": [watch]}) as http:
        client = openai.OpenAI(
            api_key=settings.LLM_API_KEY or "none",
            base_url=settings.LLM_BASE_URL,
            max_retries=0,
            timeout=limit,
            http_client=http,
        )
        # The SDK would take them from variables that were set for another account.
        client.organization = client.project = None
        try:
            raw = client.chat.completions.with_raw_response.create(**asked)
            body = raw.http_response.content
        except openai.APIStatusError as error:
            raise _fault(error) from None
        except openai.APITimeoutError:
            raise ProviderDown("timeout") from None
        except (openai.OpenAIError, httpx2.InvalidURL, UnicodeError):
            raise ProviderDown("connection") from None
    return _completion(body)


def _fault(error: openai.APIStatusError) -> Exception:
    """What an error status means."""
    status, said = error.status_code, f"{error.code} {error.message}"[:4_000]
    too_long = {400: _TOO_LONG, 422: _TOO_LONG, 429: _LARGER_THAN_LIMIT}.get(status)
    if status == 413 or (too_long is not None and too_long.search(said)):
        return InputRefused("too_long")
    if status == 429:
        reason = "quota" if error.code == "insufficient_quota" else "rate_limited"
        return ProviderDown(reason, retry_after_s=_retry_after_s(error.response.headers))
    if status >= 500 or status in (408, 409, 425):
        reason = _REASONS.get(status, "server_error")
        return ProviderDown(reason, retry_after_s=_retry_after_s(error.response.headers))
    if status in (400, 403, 422):
        may_be_form = status != 403
        return _TurnedDown(about_form=may_be_form and bool(_ABOUT_FORM.search(said)), may_be_form=may_be_form)
    return ProviderDown(_REASONS.get(status, "rejected"))


def _retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds until the provider wants to be asked again, as it said it: seconds or a date; at most an hour."""
    told = headers.get("retry-after", "").strip()
    try:
        seconds = float(told)
    except ValueError:
        try:
            at = parsedate_to_datetime(told)
        except (ValueError, TypeError):
            return None
        seconds = ((at if at.tzinfo else at.replace(tzinfo=UTC)) - datetime.now(UTC)).total_seconds()
    return min(max(seconds, 0.0), MAX_RETRY_AFTER_S) if seconds == seconds else None


def _completion(body: bytes) -> _Completion:
    """The answer in a response. Endpoints differ in what they leave out: nothing in it is taken for granted."""
    try:
        told = json.loads(body)
        choice = told["choices"][0]
        message = choice["message"]
    except (ValueError, LookupError, TypeError, RecursionError):
        raise ProviderDown("no_completion") from None
    if not isinstance(message, Mapping) or choice.get("finish_reason") == "error":
        raise ProviderDown("no_completion")
    refusal = message.get("refusal")
    text = _text(message.get("content"))
    return _Completion(
        text=text or (refusal if isinstance(refusal, str) else ""),
        usage=_usage(told.get("usage")),
        is_cut=choice.get("finish_reason") in ("length", "max_tokens"),
        is_refused=bool(refusal) or choice.get("finish_reason") == "content_filter",
    )


def _text(content: object) -> str:
    """A message's text, which some endpoints give in parts."""
    if isinstance(content, list):
        return "".join(_text(part.get("text")) for part in content if isinstance(part, Mapping))
    return content if isinstance(content, str) else ""


def _usage(told: object) -> Usage:
    counts = told if isinstance(told, Mapping) else {}
    return Usage(*(_tokens(counts.get(name)) for name in ("prompt_tokens", "completion_tokens")))


def _tokens(told: object) -> int:
    return min(max(told, 0), MAX_TOKENS_TOLD) if isinstance(told, int) else 0
