"""Remove what is older than it is kept, or say how much that is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from memories import retention

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

_ROW = "{:<18} {:<24} {:>5}  {:<17} {:>9}"


class Command(BaseCommand):
    help = "Remove traces that are older than they are kept. The worker does so four times a day."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--dry-run", action="store_true", help="Say how much would go; change nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        now = timezone.now()
        counts = retention.due(now=now) if options["dry_run"] else retention.run(now=now)
        verb = "would go" if options["dry_run"] else "gone"
        self.stdout.write(_ROW.format("kind", "setting", "days", "from before", verb))
        for kind in retention.kinds():
            before = kind.before(now)
            told = timezone.localtime(before).strftime("%Y-%m-%d %H:%M") if before else "kept for good"
            self.stdout.write(_ROW.format(kind.name, kind.setting, kind.days, told, counts[kind.name]))
