"""How well the guard does on a labelled file: a table of what it finds where it should and should not."""

import json
import time
from argparse import ArgumentParser
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, override

from django.core.management.base import BaseCommand, CommandError

from memories import guard


class Group(NamedTuple):
    kind: str
    lang: str
    form: str


@dataclass(frozen=True, slots=True)
class Row:
    number: int
    text: str
    positive: bool
    kind: str
    lang: str
    form: str

    def groups(self) -> tuple[Group, Group]:
        """The lines of the table in which this row is counted: its own and the sum."""
        own = Group(self.kind if self.positive else "benign", self.lang, self.form)
        return own, Group("found" if self.positive else "alarms", "all", "all")


def read(path: Path, kind: str) -> Iterator[Row]:
    """Rows of a JSON Lines file: `text`, `label` (1 or 0), and where given `kind`, `lang`, `form`."""
    with path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                data = json.loads(line)
            except json.JSONDecodeError as error:
                raise CommandError(f"{path}, line {number} is no JSON: {error.msg}.") from error
            if not isinstance(data, dict) or "label" not in data or not isinstance(data.get("text"), str):
                template = isinstance(data, dict) and "template" in data
                hint = (
                    " It holds templates: expand them to texts first and check that file." if template else ""
                )
                raise CommandError(f'{path}, line {number} needs "text" and "label".{hint}')
            wanted = str(data.get("kind") or kind)
            lang, form = str(data.get("lang") or "-"), str(data.get("form") or "-")
            yield Row(number, data["text"], bool(data["label"]), wanted, lang, form)


class Command(BaseCommand):
    help = (
        'Runs the guard over a JSON Lines file whose lines have "text" and "label" (1: must be found,'
        ' 0: must pass), and where given "kind", "lang" and "form". Files of templates are expanded to such'
        " lines first, so that no stored file holds anything like a live token. A positive counts as found"
        " when a finding of its kind is there (any kind if none is given); on a negative every finding is a"
        " false alarm."
    )

    # It reads one file: neither the database nor the URLs have to be in order.
    requires_system_checks: list[str] | tuple[str, ...] = ()

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--kind",
            choices=["any", "secret", "injection", "hidden"],
            default="any",
            help="what positives without a kind of their own must be found as",
        )
        parser.add_argument(
            "--wrong", action="store_true", help="also list the lines that were judged wrongly"
        )

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        self.report(read(path, options["kind"]), wrong=options["wrong"])

    def report(self, rows: Iterable[Row], *, wrong: bool) -> None:
        counts: Counter[Group] = Counter()
        found: Counter[Group] = Counter()
        refused: Counter[Group] = Counter()
        misjudged: list[int] = []
        spent = 0.0
        for row in rows:
            started = time.process_time()
            findings = guard.inspect(row.text)
            spent += time.process_time() - started
            if row.positive and row.kind != "any":
                findings = [one for one in findings if one.kind == row.kind]
            worst = guard.worst(findings)
            for group in row.groups():
                counts[group] += 1
                found[group] += worst is not None
                refused[group] += worst is not None and worst.certainty == "refuse"
            if (worst is not None) != row.positive:
                misjudged.append(row.number)
        if not counts:
            raise CommandError("The file has no lines.")
        head = f"{'kind':<10}{'lang':<6}{'form':<14}"
        self.stdout.write(f"{head}{'n':>7}{'found':>7}{'rate':>8}{'refused':>9}{'held':>6}")
        for group in sorted(counts, key=lambda one: (one.lang == "all", one)):
            n, hits, no = counts[group], found[group], refused[group]
            label = f"{group.kind:<10}{group.lang:<6}{group.form:<14}"
            self.stdout.write(f"{label}{n:>7}{hits:>7}{hits / n:>8.4f}{no:>9}{hits - no:>6}")
        total = sum(n for group, n in counts.items() if group.lang == "all")
        self.stdout.write(
            f"{spent / total * 1e6:.0f} µs of processor time per text, guard version {guard.GUARD_VERSION}"
        )
        if wrong:
            self.stdout.write("judged wrongly, by line: " + (", ".join(map(str, misjudged)) or "none"))
