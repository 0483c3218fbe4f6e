"""The pages that join the apps: what a person meets at the front door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from django.core.paginator import Paginator
from django.db.models import Count
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from chats.models import Topic
from memories.models import Memory
from projects.models import Project
from projects.roles import Role, is_superadmin

if TYPE_CHECKING:
    from django.contrib.auth.models import User
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.functional import Promise

PROJECTS_A_PAGE = 50
ROLE_NAMES = {
    Role.OWNER: _("owner"),
    Role.COLLABORATOR: _("collaborator"),
    Role.SUPERADMIN: _("superadmin"),
}


@dataclass(frozen=True)
class Entry:
    """A project in the list of someone's projects."""

    project: Project
    role_name: str | Promise
    in_force: int
    waiting: int
    topics: int


@never_cache
@require_safe
def home(request: HttpRequest) -> HttpResponse:
    """Whoever is logged in sees their projects; everybody else, what this is."""
    if not request.user.is_authenticated:
        return render(request, "welcome.html")
    user = request.user
    visible = Project.objects.visible_to(user).order_by("name", "pk")
    page = Paginator(visible, PROJECTS_A_PAGE).get_page(request.GET.get("page"))
    return render(request, "home.html", {"page": page, "entries": _entries(list(page), user)})


def _entries(projects: list[Project], user: User) -> list[Entry]:
    in_force = _by_project(Memory.objects.recallable(), projects)
    waiting = _by_project(Memory.objects.proposed(), projects)
    topics = _by_project(Topic.objects.all(), projects)
    # Who sees a project without owning it is a collaborator or sees all of them.
    otherwise = Role.SUPERADMIN if is_superadmin(user) else Role.COLLABORATOR
    return [
        Entry(
            project=project,
            role_name=ROLE_NAMES[Role.OWNER if project.owner_id == user.pk else otherwise],
            in_force=in_force.get(project.pk, 0),
            waiting=waiting.get(project.pk, 0),
            topics=topics.get(project.pk, 0),
        )
        for project in projects
    ]


def _by_project(rows: QuerySet[Memory] | QuerySet[Topic], projects: list[Project]) -> dict[int, int]:
    counted = rows.filter(project__in=projects).order_by().values_list("project").annotate(Count("pk"))
    return dict(counted)
