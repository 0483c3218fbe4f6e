"""Looking again, under the guard's present rules, at all that was kept under older ones."""

from argparse import ArgumentParser
from typing import Any, override

from django.core.management.base import BaseCommand

from memories import guard
from memories.models import Memory
from memories.store import rescan
from projects.actors import SYSTEM

SHOWN = 50


class Command(BaseCommand):
    help = (
        "Looks again at memories, and at copies of what was said, that were last looked at under older rules of the"
        " guard: memories are withheld or let go, secrets in copies masked. A worker does the same in the background."
    )

    @override
    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="only tell what would change")

    @override
    def handle(self, *args: Any, **options: Any) -> None:
        looked = rescan.run(by=SYSTEM, dry_run=options["dry_run"])
        self.stdout.write(
            f"Rules of version {guard.GUARD_VERSION}. {'rows':<32}{'looked at':>10}{'changed':>9}"
        )
        for label, seen in looked.seen.items():
            self.stdout.write(f"{label:<53}{seen:>10,}{looked.changed[label]:>9,}")
        if not looked.seen:
            self.stdout.write("Everything was looked at under these rules already.")
        for one in looked.verdicts[:SHOWN]:
            standing = f"withheld for {one.code}" if one.code else "let go"
            self.stdout.write(f"{one.project}: memory {one.memory_id} {standing}")
        if (more := len(looked.verdicts) - SHOWN) > 0:
            self.stdout.write(f"and {more:,} more")
        if options["dry_run"]:
            self.stdout.write("Nothing was written.")
        elif left := Memory.objects.filter(guard_version__lt=guard.GUARD_VERSION).count():
            self.stdout.write(f"{left:,} memories changed meanwhile; the next round looks at them.")
