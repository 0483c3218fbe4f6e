"""Erase a person from every project of the site, or from one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from chats import erasure
from projects.actors import SYSTEM
from projects.models import Project

if TYPE_CHECKING:
    from django.core.management.base import CommandParser


class Command(BaseCommand):
    help = (
        "Erase a person: their words, wherever they were taken, and their name. Turns keep their places, "
        "memories stay. The account itself is deleted in the admin."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        who = parser.add_mutually_exclusive_group(required=True)
        who.add_argument("--author-ref", default="", help="The reference under which they spoke.")
        who.add_argument("--user", help="Their user name.")
        parser.add_argument("--project", help="The slug of the one project to look at.")
        parser.add_argument("--dry-run", action="store_true", help="Say what would go; change nothing.")

    def handle(self, *args: Any, **options: Any) -> None:
        who: dict[str, Any] = {"author_ref": options["author_ref"], "user": _user(options["user"])}
        found = list(erasure.projects_of(**who))
        if (slug := options["project"]) is not None:
            if not Project.objects.filter(slug=slug).exists():
                raise CommandError(f"There is no project {slug!r}.")
            found = [project for project in found if project.slug == slug]
        for project in found:
            counts = erasure.erase_person(project=project, by=SYSTEM, dry_run=options["dry_run"], **who)
            told = ", ".join(f"{name} {count}" for name, count in counts.items() if count)
            self.stdout.write(f"{project.slug}: {told or 'nothing'}")
        verb = "would be touched" if options["dry_run"] else "touched"
        self.stdout.write(f"{len(found)} project{'s' * (len(found) != 1)} {verb}")


def _user(name: str | None) -> User | None:
    if name is None:
        return None
    try:
        return User.objects.get(username=name)
    except User.DoesNotExist:
        raise CommandError(f"There is no user {name!r}.") from None
