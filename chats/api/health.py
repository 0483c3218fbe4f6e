"""Whether the process answers, and whether it can do its work. For probes: no key, no details."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiExample, extend_schema
from kombu import Connection
from kombu.exceptions import KombuError
from rest_framework import serializers
from rest_framework.permissions import AllowAny
from rest_framework.response import Response
from rest_framework.views import APIView

from chats import queue
from memories import tokens
from projects.http.problems import Problem
from projects.http.schema import problems
from projects.http.serializers import reject_unknown_parameters

if TYPE_CHECKING:
    from rest_framework.request import Request

logger = logging.getLogger(__name__)

OK, MISSING, UNKNOWN = "ok", "missing", "unknown"
# What is reported, but not needed: what the broker loses, the sweep finds.
NOT_REQUIRED = frozenset({"broker"})
# How long a broker that hangs may hold up the answer; probes themselves often wait no longer than a second.
BROKER_S = 0.25


_broker_failed = queue.BrokerBreaker()


class LiveAnswer(serializers.Serializer[Any]):
    status = serializers.CharField()


class ReadyAnswer(LiveAnswer):
    checks = serializers.DictField(
        child=serializers.ChoiceField(choices=(OK, MISSING, UNKNOWN)),
        help_text="database, migrations, tokenizer; broker is reported, not required.",
    )


class PublicView(APIView):
    authentication_classes = ()
    permission_classes = (AllowAny,)


class LiveView(PublicView):
    @extend_schema(operation_id="health_live", tags=["health"], responses={200: LiveAnswer, **problems(400)})
    def get(self, request: Request) -> Response:
        """The process answers."""
        reject_unknown_parameters(request)
        return Response({"status": OK})


class ReadyView(PublicView):
    @extend_schema(
        operation_id="health_ready",
        tags=["health"],
        responses={200: ReadyAnswer, **problems(400, 503)},
        examples=[
            OpenApiExample(
                "ready",
                {
                    "status": "ok",
                    "checks": {"database": "ok", "migrations": "ok", "tokenizer": "ok", "broker": "missing"},
                },
                response_only=True,
                status_codes=["200"],
            )
        ],
    )
    def get(self, request: Request) -> Response:
        """The process can serve turns; else 503 with the `checks` that say what is missing."""
        reject_unknown_parameters(request)
        database = _database()
        checks = {
            "database": database,
            "migrations": _migrations() if database == OK else UNKNOWN,
            "tokenizer": _tokenizer(),
            "broker": _broker(),
        }
        if any(state != OK for name, state in checks.items() if name not in NOT_REQUIRED):
            raise Problem(
                503, "unavailable", _("Try again in a moment."), headers={"Retry-After": "5"}, checks=checks
            )
        return Response({"status": OK, "checks": checks})


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        logger.exception("the database does not answer")
        return MISSING
    return OK


class _Migrations:
    """Which migrations wait. Reading all of their files costs a hundred times what asking the database does, and
    leads elsewhere only after a migration was applied or taken back, or in a new process.
    """

    def __init__(self) -> None:
        self._seen: frozenset[tuple[str, str]] | None = None
        self._is_behind = True

    def are_behind(self) -> bool:
        applied = frozenset(MigrationRecorder(connection).migration_qs.values_list("app", "name"))
        if applied != self._seen:
            # One that is applied although an earlier one is not counts, too.
            needed = MigrationLoader(connection).graph.nodes
            self._is_behind, self._seen = not applied.issuperset(needed), applied
        return self._is_behind


_known = _Migrations()


def _migrations() -> str:
    try:
        return MISSING if _known.are_behind() else OK
    except DatabaseError:
        logger.exception("the migrations cannot be read")
        return MISSING


def _tokenizer() -> str:
    try:
        tokens.check()
    except tokens.TokenizerUnavailable:
        logger.exception("tokens cannot be counted")
        return MISSING
    return OK


def _broker() -> str:
    if queue.breaker.is_open or _broker_failed.is_open:
        # Whoever asks again within seconds would only wait for the same.
        return MISSING
    options = settings.CELERY_BROKER_TRANSPORT_OPTIONS | {
        "socket_connect_timeout": BROKER_S,
        "socket_timeout": BROKER_S,
    }
    try:
        with Connection(settings.CELERY_BROKER_URL, transport_options=options) as broker:
            broker.ensure_connection(max_retries=0, timeout=1)
    except (KombuError, OSError):
        _broker_failed.trip()
        logger.warning("the broker does not answer")
        return MISSING
    return OK
