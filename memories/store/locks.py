"""The project's lock: whoever writes memories holds it alone, whoever adds rows beside them shares it."""

from __future__ import annotations

from django.db import connection

from projects.models import Project, new_version


def lock(project: Project) -> None:
    """Lock the project's row until the transaction ends, and make every recall index of it out of date.

    One UPDATE does both: the new version becomes visible with the commit, never before. Taken first by every
    write, it puts all writers of a project in one line, so nothing below needs a lock of its own.
    Raises Project.DoesNotExist when the project is gone.
    """
    project.memory_version = new_version()
    if not Project.objects.filter(pk=project.pk).update(memory_version=project.memory_version):
        raise Project.DoesNotExist


def share(project: Project) -> str:
    """Keep whoever writes memories out until the transaction ends; the memory_version that holds until then.

    Taken first by every transaction that adds rows which refer to the project, or changes an index that begins with
    it: the database shares the project's lock for each of them, and behind the topic's that would be the wrong
    order. Others may share it, too, so nobody who has it calls `lock` any more. Raises Project.DoesNotExist when
    the project is gone.
    """
    # Django has no word for it; SQLite needs none, there a transaction is alone.
    shared = " LOCK IN SHARE MODE" if connection.vendor == "mysql" else ""
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT memory_version FROM projects_project WHERE id = %s{shared}", [project.pk])  # noqa: S608
        row = cursor.fetchone()
    if row is None:
        raise Project.DoesNotExist
    return str(row[0])
