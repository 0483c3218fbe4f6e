"""The API of this app, under `/api/v1/`."""

from django.urls import path

from memories.api.bulk import BulkView
from memories.api.extractions import ExtractionListView, ExtractionView
from memories.api.recalls import RecallView
from memories.api.verbs import (
    ArchiveView,
    ConfirmView,
    DisableView,
    EnableView,
    MergeView,
    PurgeView,
    RejectView,
    RestoreView,
    UndoView,
)
from memories.api.views import HistoryView, MemoryListView, MemoryView

_MEMORIES = "projects/<slug:slug>/memories/"
_VERBS = {
    "enable": EnableView,
    "disable": DisableView,
    "confirm": ConfirmView,
    "reject": RejectView,
    "restore": RestoreView,
    "archive": ArchiveView,
    "undo": UndoView,
    "merge": MergeView,
    "purge": PurgeView,
}

app_name = "memories"
urlpatterns = [
    path("projects/<slug:slug>/recall/", RecallView.as_view(), name="recall"),
    path(_MEMORIES, MemoryListView.as_view(), name="memory-list"),
    path(f"{_MEMORIES}bulk/", BulkView.as_view(), name="memory-bulk"),
    path(f"{_MEMORIES}<int:memory_id>/", MemoryView.as_view(), name="memory"),
    path(f"{_MEMORIES}<int:memory_id>/history/", HistoryView.as_view(), name="memory-history"),
    *(
        path(f"{_MEMORIES}<int:memory_id>/{verb}/", view.as_view(), name=f"memory-{verb}")
        for verb, view in _VERBS.items()
    ),
    path("projects/<slug:slug>/extractions/", ExtractionListView.as_view(), name="extraction-list"),
    path("extractions/<int:extraction_id>/", ExtractionView.as_view(), name="extraction"),
]
