"""The API of this app, under `/api/v1/`."""

from django.urls import path

from chats.api.erasure import ErasureView
from chats.api.extractions import RetryView
from chats.api.health import LiveView, ReadyView
from chats.api.instructions import DismissView, InstructionListView, PromoteView
from chats.api.topics import CompleteView, TopicListView, TopicView
from chats.api.traces import TraceView
from chats.api.turns import ContextView, FinishView, StepListView, TurnListView

app_name = "chats"
urlpatterns = [
    path("projects/<slug:slug>/turns/", TurnListView.as_view(), name="turn-list"),
    path("turns/<int:turn_id>/", TraceView.as_view(), name="turn"),
    path("turns/<int:turn_id>/context/", ContextView.as_view(), name="turn-context"),
    path("turns/<int:turn_id>/steps/", StepListView.as_view(), name="turn-steps"),
    path("turns/<int:turn_id>/finish/", FinishView.as_view(), name="turn-finish"),
    path("projects/<slug:slug>/topics/", TopicListView.as_view(), name="topic-list"),
    path("topics/<int:topic_id>/", TopicView.as_view(), name="topic"),
    path("topics/<int:topic_id>/complete/", CompleteView.as_view(), name="topic-complete"),
    path("topics/<int:topic_id>/instructions/", InstructionListView.as_view(), name="topic-instructions"),
    path("instructions/<int:instruction_id>/dismiss/", DismissView.as_view(), name="instruction-dismiss"),
    path("instructions/<int:instruction_id>/promote/", PromoteView.as_view(), name="instruction-promote"),
    path("extractions/<int:extraction_id>/retry/", RetryView.as_view(), name="extraction-retry"),
    path("projects/<slug:slug>/erase-person/", ErasureView.as_view(), name="erase-person"),
    path("health/live/", LiveView.as_view(), name="health-live"),
    path("health/ready/", ReadyView.as_view(), name="health-ready"),
]
