"""How well a backend extracts on labelled talk: precision, recall, what it invented; by type. Writes nothing."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any, override

from django.core.management.base import BaseCommand, CommandError

from memories.evaluation.corpus import BadLine, Conversation, read
from memories.evaluation.extraction import Report, Score, measure
from memories.extraction import (
    Extracted,
    InputRefused,
    ProviderDown,
    Transcript,
    UnknownBackend,
    Unreadable,
    backend,
)


class Command(BaseCommand):
    help = (
        "Runs an extraction backend over labelled conversations (JSON Lines; docs/evaluation.md has the format) and"
        " tells its precision, its recall and what it invented: for what it proposes, for what a run would keep of"
        " that, and for what would be in force at once. It reads one file and writes nothing."
    )
    # Neither the database nor the URLs have to be in order.
    requires_system_checks: list[str] | tuple[str, ...] = ()

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--corpus", type=Path, required=True, metavar="FILE")
        parser.add_argument("--backend", default="rules", help="rules (default), or llm as it is configured")
        parser.add_argument("--json", action="store_true", help="print the figures as one JSON object")
        parser.add_argument("--wrong", action="store_true", help="list what was wrong, invented or missed")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["corpus"]
        try:
            with path.open(encoding="utf-8") as lines:
                conversations = list(read(lines))
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{path} is no UTF-8 text.") from error
        except BadLine as bad:
            raise CommandError(f"{path}, {bad}") from bad
        if not conversations:
            raise CommandError(f"{path} has no lines.")
        report = self.measured(conversations, options["backend"])
        if options["json"]:
            self.stdout.write(
                json.dumps(figures(report, options["backend"], wrong=options["wrong"]), ensure_ascii=False)
            )
        else:
            self.tell(report, wrong=options["wrong"])

    def measured(self, conversations: list[Conversation], name: str) -> Report:
        try:
            chosen = backend(name)
        except UnknownBackend as unknown:
            raise CommandError(str(unknown)) from unknown

        def extract(transcript: Transcript) -> Extracted | None:
            try:
                return chosen.extract(transcript)
            except (Unreadable, InputRefused):
                return None

        try:
            return measure(conversations, extract)
        except ProviderDown as down:
            raise CommandError(f"The provider did not answer ({down.reason or 'unknown'}).") from down

    def tell(self, report: Report, *, wrong: bool) -> None:
        write = self.stdout.write
        write(
            f"{report.conversations} conversations, {report.nothing} with nothing to keep; from"
            f" {report.stored_from_nothing} of these something was kept"
        )
        if report.unreadable:
            write(f"{report.unreadable} answers could not be read")
        write(
            f"{'':<12}{'right':>7}{'wrong':>7}{'missed':>8}{'precision':>11}{'recall':>8}{'type':>7}{'invented':>10}"
        )
        rows = [("proposed", report.proposals), ("kept", report.kept), ("in force", report.active)]
        for name, score in [*rows, *sorted(report.types.items())]:
            write(
                f"{name:<12}{score.right:>7}{score.wrong:>7}{score.missed:>8}{_share(score.precision):>11}"
                f"{_share(score.recall):>8}{_share(_typed(score)):>7}{score.invented:>10}"
            )
        if wrong:
            for one in report.mistakes:
                told = f" ({one.reason})" if one.reason else ""
                write(f"{one.conversation}: {one.what} {one.type}: {one.content}{told}")


def figures(report: Report, name: str, *, wrong: bool = False) -> dict[str, Any]:
    """The report as JSON: above, what a run would keep."""
    told = {
        "backend": name,
        "conversations": report.conversations,
        "nothing": report.nothing,
        "stored_from_nothing": report.stored_from_nothing,
        "unreadable": report.unreadable,
        **_figures(report.kept),
        "proposals": _figures(report.proposals),
        "active": _figures(report.active),
        "types": {type_: _figures(score) for type_, score in sorted(report.types.items())},
        "outcomes": dict(sorted(report.outcomes.items())),
    }
    return {**told, "mistakes": [asdict(one) for one in report.mistakes]} if wrong else told


def _figures(score: Score) -> dict[str, Any]:
    return {
        "precision": _rounded(score.precision),
        "recall": _rounded(score.recall),
        "type_accuracy": _rounded(_typed(score)),
        "right": score.right,
        "wrong": score.wrong,
        "missed": score.missed,
        "invented": score.invented,
    }


def _typed(score: Score) -> float | None:
    return score.type_right / score.typed if score.typed else None


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _share(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
