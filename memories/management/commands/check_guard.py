"""How well the guard does on a labelled file: what it finds where it should and should not, and by which rules."""

import json
import time
from argparse import ArgumentParser
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NamedTuple, override

from django.core.management.base import BaseCommand, CommandError

from memories import guard

KINDS: Final = ("any", "secret", "injection", "hidden")
_SHARES: Final = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


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
    family: str

    def groups(self) -> tuple[Group, Group]:
        """The lines of the table in which this row is counted: its own and the sum."""
        own = Group(self.kind if self.positive else "benign", self.lang, self.form)
        return own, Group("found" if self.positive else "alarms", "all", "all")


@dataclass(slots=True)
class Measured:
    """Counts over the rows of a file; `us` is the processor time of each text in microseconds."""

    rows: Counter[Group] = field(default_factory=Counter)
    found: Counter[Group] = field(default_factory=Counter)
    refused: Counter[Group] = field(default_factory=Counter)
    families: dict[tuple[str, bool], list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    # Family of rules → texts that it finds, that it alone finds, that it alarms about.
    rules: dict[str, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0, 0]))
    us: list[float] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)

    def add(self, row: Row, *, by_rule: bool) -> None:
        started = time.process_time()
        findings = guard.inspect(row.text)
        self.us.append((time.process_time() - started) * 1e6)
        wanted = row.kind if row.positive and row.kind != "any" else None
        worst = guard.worst([one for one in findings if wanted in (None, one.kind)])
        for group in row.groups():
            self.rows[group] += 1
            self.found[group] += worst is not None
            self.refused[group] += worst is not None and worst.certainty == "refuse"
        if row.family:
            counts = self.families[row.family, row.positive]
            counts[0] += 1
            counts[1] += worst is not None
        if (worst is not None) != row.positive:
            self.wrong.append(row.number)
        if by_rule:
            rules = {rule for rule, one in guard.found_by(row.text) if wanted in (None, one.kind)}
            for rule in rules:
                self.rules[rule][0 if row.positive else 2] += 1
                self.rules[rule][1] += row.positive and len(rules) == 1

    def lines(self) -> Iterator[dict[str, Any]]:
        """One line for each group, the sums last."""
        for group in sorted(self.rows, key=lambda one: (one.lang == "all", one)):
            n, found, refused = self.rows[group], self.found[group], self.refused[group]
            shares = {"n": n, "found": found, "rate": round(found / n, 4)}
            yield group._asdict() | shares | {"refused": refused, "held": found - refused}

    def by_family(self) -> Iterator[dict[str, Any]]:
        for (family, positive), (n, found) in sorted(self.families.items()):
            label = "found" if positive else "alarms"
            yield {"family": family, "label": label, "n": n, "found": found, "rate": round(found / n, 4)}

    def by_rule(self) -> Iterator[dict[str, Any]]:
        for rule, (found, alone, alarms) in sorted(self.rules.items(), key=lambda one: (-one[1][1], one[0])):
            yield {"rule": rule, "found": found, "alone": alone, "alarms": alarms}

    def times(self) -> dict[str, float]:
        ordered = sorted(self.us)
        last = len(ordered) - 1
        spread = {
            name: round(ordered[min(last, int(share * len(ordered)))], 1) for name, share in _SHARES.items()
        }
        return {"mean": round(sum(ordered) / len(ordered), 1), **spread}


def read(path: Path, kind: str) -> Iterator[Row]:
    """Rows of a JSON Lines file: `text`, `label` (1 or 0), and where given `kind`, `lang`, `form`, `family`."""
    with path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if not raw.strip():
                continue
            try:
                data = json.loads(raw.decode())
            except UnicodeDecodeError as error:
                raise CommandError(f"{path}, line {number} is no UTF-8: {error.reason}.") from error
            except json.JSONDecodeError as error:
                raise CommandError(f"{path}, line {number} is no JSON: {error.msg}.") from error
            yield _row(path, number, data, kind)


def _row(path: Path, number: int, data: Any, kind: str) -> Row:
    if not isinstance(data, dict) or "label" not in data or not isinstance(data.get("text"), str):
        template = isinstance(data, dict) and "template" in data
        hint = " It holds templates: expand them to texts first and check that file." if template else ""
        raise CommandError(f'{path}, line {number} needs "text" and "label".{hint}')
    if data["label"] not in (0, 1):
        raise CommandError(f'{path}, line {number}: "label" is 1 (must be found) or 0 (must pass).')
    wanted = str(data.get("kind") or kind)
    if wanted not in KINDS:
        raise CommandError(f'{path}, line {number}: "kind" is one of {", ".join(KINDS)}, not {wanted!r}.')
    lang, form = str(data.get("lang") or "-"), str(data.get("form") or "-")
    return Row(number, data["text"], bool(data["label"]), wanted, lang, form, str(data.get("family") or ""))


class Command(BaseCommand):
    help = (
        'Runs the guard over a JSON Lines file whose lines have "text" and "label" (1: must be found,'
        ' 0: must pass), and where given "kind", "lang", "form" and "family". Files of templates are expanded'
        " to such lines first, so that no stored file holds anything like a live token. A positive counts as"
        " found when a finding of its kind is there (any kind if none is given); on a negative every finding"
        " is a false alarm."
    )

    # It reads one file: neither the database nor the URLs have to be in order.
    requires_system_checks: list[str] | tuple[str, ...] = ()

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", type=Path)
        parser.add_argument(
            "--kind",
            choices=KINDS,
            default="any",
            help="what positives without a kind of their own must be found as",
        )
        parser.add_argument(
            "--families",
            action="store_true",
            help="also a table of the families of rules: the texts that each finds, and those that it alone"
            " finds, which would be missed without it",
        )
        parser.add_argument(
            "--wrong", action="store_true", help="also list the lines that were judged wrongly"
        )
        parser.add_argument("--json", action="store_true", help="all of it as one JSON object")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file {path}.")
        measured = self.measure(read(path, options["kind"]), by_rule=options["families"] or options["json"])
        if options["json"]:
            self.stdout.write(json.dumps(self.as_json(measured), ensure_ascii=False))
        else:
            self.report(measured, families=options["families"], wrong=options["wrong"])

    def measure(self, rows: Iterable[Row], *, by_rule: bool) -> Measured:
        measured = Measured()
        for row in rows:
            measured.add(row, by_rule=by_rule)
        if not measured.us:
            raise CommandError("The file has no lines.")
        return measured

    def as_json(self, measured: Measured) -> dict[str, Any]:
        return {
            "guard_version": guard.GUARD_VERSION,
            "groups": list(measured.lines()),
            "families": list(measured.by_family()),
            "rules": list(measured.by_rule()),
            "us": measured.times(),
            "wrong": measured.wrong,
        }

    def report(self, measured: Measured, *, families: bool, wrong: bool) -> None:
        write = self.stdout.write
        write(f"{'kind':<10}{'lang':<6}{'form':<14}{'n':>7}{'found':>7}{'rate':>8}{'refused':>9}{'held':>6}")
        for line in measured.lines():
            label = f"{line['kind']:<10}{line['lang']:<6}{line['form']:<14}"
            numbers = f"{line['n']:>7}{line['found']:>7}{line['rate']:>8.4f}"
            write(f"{label}{numbers}{line['refused']:>9}{line['held']:>6}")
        if measured.families:
            write(f"\n{'family':<24}{'label':<8}{'n':>7}{'found':>7}{'rate':>8}")
            for line in measured.by_family():
                numbers = f"{line['n']:>7}{line['found']:>7}{line['rate']:>8.4f}"
                write(f"{line['family']:<24}{line['label']:<8}{numbers}")
        if families:
            write(f"\n{'family of rules':<32}{'found':>7}{'alone':>7}{'alarms':>8}")
            for line in measured.by_rule():
                write(f"{line['rule']:<32}{line['found']:>7}{line['alone']:>7}{line['alarms']:>8}")
        spread = ", ".join(f"{name} {value:.0f}" for name, value in measured.times().items())
        write(f"µs of processor time per text: {spread}; guard version {guard.GUARD_VERSION}")
        if wrong:
            write("judged wrongly, by line: " + (", ".join(map(str, measured.wrong)) or "none"))
