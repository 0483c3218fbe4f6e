"""What operators see and do where distilling fails: providers that are down, and runs to be read again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.contrib import admin, messages
from django.db.models import Count, IntegerField, OuterRef, Subquery
from django.db.models.functions import Coalesce
from django.http import HttpResponseNotAllowed, HttpResponseRedirect
from django.urls import path, reverse
from django.utils import timezone
from django.utils.translation import gettext, ngettext
from django.utils.translation import gettext_lazy as _
from unfold.decorators import action, display

from chats import topics
from chats.errors import TurnError
from chats.models import Topic
from memories.admin import ExtractionAdmin
from memories.admin.words import BREAKER_TONES, FAILURES, RANKERS
from memories.models import Breaker, Extraction
from projects.admin import ReadableAdmin, actor
from projects.admin.fragments import NOTHING, badge, list_link, moment, number

if TYPE_CHECKING:
    from django.db.models import QuerySet
    from django.http import HttpRequest, HttpResponse
    from django.utils.safestring import SafeString


@admin.register(Breaker)
class BreakerAdmin(ReadableAdmin):
    list_display = ("name", "state_said", "since", "next_try", "why", "in_a_row", "last", "waiting")
    actions = ("try_now",)
    fields = (("name", "state_said"), ("since", "next_try"), ("why", "in_a_row", "last"), "waiting")

    def get_queryset(self, request: HttpRequest) -> QuerySet[Breaker]:
        waiting = (
            Topic.objects.filter(distil_waits_for=OuterRef("pk"), distil_due_at__isnull=False)
            .order_by()
            .values("distil_waits_for")
            .annotate(n=Count("pk"))
            .values("n")
        )
        found: QuerySet[Breaker] = super().get_queryset(request)
        return found.annotate(topics=Coalesce(Subquery(waiting, output_field=IntegerField()), 0))

    def has_try_now_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("memories.change_breaker")

    @action(description=_("Try again now"), permissions=["try_now"], icon="refresh")
    def try_now(self, request: HttpRequest, queryset: QuerySet[Breaker]) -> None:
        woken = sum(topics.try_provider_now(breaker.pk, by=actor(request)) for breaker in queryset)
        text = ngettext("%(n)s topic is due now.", "%(n)s topics are due now.", woken)
        messages.success(request, text % {"n": number(woken)})

    @display(description=_("backend"), ordering="backend")
    def name(self, obj: Breaker) -> str:
        return str(RANKERS.get(obj.backend, obj.backend))

    @display(description=_("state"))
    def state_said(self, obj: Breaker) -> SafeString:
        return state_badge(obj)

    @display(description=_("since"), ordering="opened_at")
    def since(self, obj: Breaker) -> SafeString | str:
        return moment(obj.opened_at)

    @display(description=_("next try"), ordering="retry_at")
    def next_try(self, obj: Breaker) -> SafeString | str:
        return moment(obj.retry_at)

    @display(description=_("reason"), ordering="reason")
    def why(self, obj: Breaker) -> str:
        return str(FAILURES.get(obj.reason, obj.reason)) or NOTHING

    @display(description=_("failures in a row"), ordering="failures")
    def in_a_row(self, obj: Breaker) -> str:
        return number(obj.failures)

    @display(description=_("last failure"), ordering="failed_at")
    def last(self, obj: Breaker) -> SafeString | str:
        return moment(obj.failed_at)

    @display(description=_("topics that wait"))
    def waiting(self, obj: Breaker) -> SafeString:
        return list_link(Topic, number(obj.topics), distil_waits_for=obj.pk)  # type: ignore[attr-defined]


admin.site.unregister(Extraction)


@admin.register(Extraction)
class RunAdmin(ExtractionAdmin):
    """The page of memories, with the button that only chats can answer."""

    actions = ("read_again",)
    change_form_outer_before_template = "admin/read_again.html"

    def has_read_again_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm("memories.change_extraction")

    def get_urls(self) -> list[Any]:
        one = path(
            "<int:run_id>/read-again/",
            self.admin_site.admin_view(self.read_one_again),
            name="memories_extraction_read_again",
        )
        return [one, *super().get_urls()]

    def change_view(
        self, request: HttpRequest, object_id: str, form_url: str = "", extra_context: Any = None
    ) -> HttpResponse:
        run = self.get_object(request, object_id)
        offered = run is not None and run.status in topics.READABLE_AGAIN
        offered = offered and self.has_read_again_permission(request)
        return super().change_view(
            request, object_id, form_url, {**(extra_context or {}), "offers_to_read_again": offered}
        )

    def read_one_again(self, request: HttpRequest, run_id: int) -> HttpResponse:
        if request.method != "POST":
            return HttpResponseNotAllowed(["POST"])
        self._read_again(request, Extraction.objects.filter(pk=run_id))
        return HttpResponseRedirect(reverse("admin:memories_extraction_change", args=[run_id]))

    @action(description=_("Read again"), permissions=["read_again"], icon="refresh")
    def read_again(self, request: HttpRequest, queryset: QuerySet[Extraction]) -> None:
        self._read_again(request, queryset)

    def _read_again(self, request: HttpRequest, runs: QuerySet[Extraction]) -> None:
        """One after the other: what refuses is named, the others are due."""
        if not self.has_read_again_permission(request):
            messages.error(request, gettext("You may not do this."))
            return
        done = 0
        for run in runs.select_related("project").order_by("project_id", "pk"):
            try:
                topics.retry(project=run.project, extraction=run, by=actor(request))
                done += 1
            except TurnError as refusal:
                messages.error(request, f"#{run.pk}: {refusal.message}")
        if done:
            text = ngettext("%(n)s run is read again now.", "%(n)s runs are read again now.", done)
            messages.success(request, text % {"n": number(done)})


def state_badge(breaker: Breaker | None) -> SafeString:
    """A backend that never failed has no row."""
    state = breaker.state(now=timezone.now()) if breaker else Breaker.State.CLOSED
    return badge(Breaker.State(state).label, BREAKER_TONES[state])


def dashboard(request: HttpRequest, context: dict[str, Any]) -> dict[str, Any]:
    """What the first page says of the backends: the one in use, and whichever is left alone."""
    if not request.user.has_perm("memories.view_breaker"):
        return context
    rows = {row.pk: row for row in admin.site._registry[Breaker].get_queryset(request)}
    used = settings.EXTRACTION_BACKEND
    shown = [used, *(name for name, row in rows.items() if name != used and row.opened_at)]
    told = [
        {
            "name": RANKERS.get(name, name),
            "is_used": name == used,
            "badge": state_badge(rows.get(name)),
            "since": moment(rows[name].opened_at),
            "next_try": moment(rows[name].retry_at),
            "reason": FAILURES.get(rows[name].reason, rows[name].reason),
            "waiting": number(rows[name].topics),  # type: ignore[attr-defined]
            "is_open": rows[name].opened_at is not None,
        }
        if name in rows
        else {"name": RANKERS.get(name, name), "is_used": True, "badge": state_badge(None)}
        for name in shown
    ]
    return {**context, "providers": told}
