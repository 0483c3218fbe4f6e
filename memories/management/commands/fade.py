"""Archive what expired, faded or waited too long for a person, or say what would go and why."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from memories import store
from projects.actors import SYSTEM
from projects.models import Project

if TYPE_CHECKING:
    from django.core.management.base import CommandParser

_ROW = "{:<20} {:>8}  {:<10} {:>2}  {:<10} {:<16} {}"


class Command(BaseCommand):
    help = "Archive memories that expired, faded, or were never reviewed. The worker does so every hour."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "--dry-run", action="store_true", help="Say what would go and why; change nothing."
        )
        parser.add_argument("--project", help="The slug of the one project to look at.")

    def handle(self, *args: Any, **options: Any) -> None:
        project = _project(options["project"])
        now = timezone.now()
        if options["dry_run"]:
            self._tell(list(store.fading_now(now=now, project=project)))
            return
        counts = store.fade(now=now, by=SYSTEM, project=project)
        self.stdout.write(f"{counts.total()} archived{_by_reason(counts)}")

    def _tell(self, faded: list[store.Faded]) -> None:
        """A memory by its key, never by what it says."""
        if faded:
            self.stdout.write(_ROW.format("project", "memory", "type", "!", "why", "due since", "key"))
        counts: dict[str, int] = {}
        for one in faded:
            memory, why = one.memory, str(one.fate.why)
            counts[why] = counts.get(why, 0) + 1
            since = timezone.localtime(one.fate.at).strftime("%Y-%m-%d %H:%M")
            row = (memory.project.slug, memory.pk, memory.type, memory.importance, why, since, memory.key)
            self.stdout.write(_ROW.format(*row))
        self.stdout.write(f"{len(faded)} would be archived{_by_reason(counts)}")


def _project(slug: str | None) -> Project | None:
    if slug is None:
        return None
    try:
        return Project.objects.get(slug=slug)
    except Project.DoesNotExist:
        raise CommandError(f"There is no project {slug!r}.") from None


def _by_reason(counts: dict[str, int]) -> str:
    return ": " + ", ".join(f"{why} {count}" for why, count in sorted(counts.items())) if counts else ""
