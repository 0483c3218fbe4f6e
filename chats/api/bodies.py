"""What callers send about turns, topics and instructions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from django.utils.translation import gettext_lazy as _
from rest_framework import serializers

from chats.context import PARTS
from chats.intent import Kind
from chats.models import MAX_REF, Chat
from projects.http.problems import FieldError, Problem, pointer
from projects.http.serializers import (
    SAYS_SOMETHING,
    BooleanField,
    ChoiceField,
    DateTimeField,
    IntegerField,
    ListField,
    ObjectField,
    StrictSerializer,
    StringField,
    read_body,
)

if TYPE_CHECKING:
    from rest_framework.request import Request

# Of every text that is sent, in characters; more is 413 `too_large`.
MAX_TEXT = 200_000
MAX_FILES = 200
MAX_FILE = 500
MAX_TOOLS = 500
MAX_STEPS = 100
MAX_NAME = 120

INTENTS = [str(kind) for kind in Kind]
ENDINGS = [choice for choice in Chat.ChatStatus.choices if choice[0] != Chat.ChatStatus.RUNNING]


class Text(StringField):
    """What was said: bounded by MAX_TEXT, which `read` checks."""

    def __init__(self, **kwargs: Any) -> None:
        kwargs.setdefault("allow_blank", True)
        kwargs.setdefault("help_text", f"At most {MAX_TEXT:,} characters; more is 413 `too_large`.")
        super().__init__(**kwargs)


class Ref(StringField):
    """The caller's own id. Blanks around it are no part of it: databases disagree about them."""

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(max_length=MAX_REF, trim_whitespace=True, **kwargs)


class Files(ListField):
    def __init__(self, **kwargs: Any) -> None:
        super().__init__(
            child=StringField(max_length=MAX_FILE), max_length=MAX_FILES, required=False, **kwargs
        )


class TopicOfTurn(StrictSerializer):
    ref = Ref(help_text="Your id of the conversation; the topic is made when it is new.")
    title = StringField(max_length=200, allow_blank=True, default="")
    area = StringField(
        max_length=MAX_NAME, allow_blank=True, default="", help_text="The sub-project; memories inherit it."
    )


class Author(StrictSerializer):
    ref = Ref(help_text="Matched to a member by user name or e-mail address.")
    name = StringField(max_length=MAX_NAME, allow_blank=True, default="")


class ContextWanted(StrictSerializer):
    window_tokens = IntegerField(
        min_value=1000, max_value=2_000_000, required=False, help_text="Default: the project's."
    )
    parts = ListField(
        child=ChoiceField(choices=PARTS), max_length=len(PARTS), required=False, help_text="Default: all."
    )
    intent = ChoiceField(
        choices=INTENTS,
        required=False,
        help_text="Your own word for it; by default rules decide.",
    )


class TurnBody(StrictSerializer):
    topic = TopicOfTurn()
    ref = Ref(help_text="Your id of the turn: the same request sent twice is the same turn.")
    message = Text(help_text=f"The human's own words, at most {MAX_TEXT:,} characters; more is 413.")
    attached = Text(
        required=False,
        help_text="Recognised files and the like: recalled on, never read for “Remember:”.",
    )
    files = Files(help_text="Paths that the turn is about.")
    author = Author(required=False)
    agent = StringField(max_length=MAX_NAME, allow_blank=True, default="")
    origin = ChoiceField(choices=Chat.Origin.choices, default=Chat.Origin.HUMAN)
    sent_at = DateTimeField(required=False, help_text="With its offset; default: now.")
    context = ContextWanted(required=False)  # type: ignore[assignment]
    status = ChoiceField(
        choices=Chat.ChatStatus.choices,
        default=Chat.ChatStatus.RUNNING,
        help_text="Other than `running`: the turn already happened, and what it yields is proposed.",
    )
    reply = Text(default="", help_text="Of a turn that already happened.")

    described: ClassVar = {
        "allOf": [
            {
                "anyOf": [
                    {"properties": {"message": {"type": "string", "pattern": SAYS_SOMETHING}}},
                    {
                        "properties": {"attached": {"type": "string", "minLength": 1}},
                        "required": ["attached"],
                    },
                    {"properties": {"files": {"type": "array", "minItems": 1}}, "required": ["files"]},
                ]
            },
            {
                "anyOf": [
                    {
                        "properties": {"status": {"type": "string", "not": {"const": "running"}}},
                        "required": ["status"],
                    },
                    {"properties": {"reply": {"const": ""}}},
                ]
            },
        ]
    }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs["message"].strip() and not attrs.get("attached") and not attrs.get("files"):
            raise serializers.ValidationError(
                {"message": _("Say something, attach something or name files.")}, "blank"
            )
        if attrs["reply"] and attrs["status"] == Chat.ChatStatus.RUNNING:
            raise serializers.ValidationError({"reply": _("A running turn has no reply yet.")}, "invalid")
        return attrs


class FurtherMessage(StrictSerializer):
    message = Text(required=False, help_text="A further message of the same human, such as a correction.")
    files = Files()
    sent_at = DateTimeField(required=False)
    context = ContextWanted(required=False)  # type: ignore[assignment]

    described: ClassVar = {
        "anyOf": [
            {
                "properties": {"message": {"type": "string", "pattern": SAYS_SOMETHING}},
                "required": ["message"],
            },
            {"not": {"anyOf": [{"required": ["files"]}, {"required": ["sent_at"]}]}},
        ]
    }

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if not attrs.get("message", "").strip() and ("files" in attrs or "sent_at" in attrs):
            raise serializers.ValidationError(
                {"message": _("Files and times come with a message.")}, "required"
            )
        return attrs


class Step(StrictSerializer):
    agent = StringField(max_length=MAX_NAME)
    ref = Ref(required=False, help_text="Makes sending it twice safe, and lets a running step be ended.")
    message = Text(default="", help_text="What the agent was asked.")
    reply = Text(default="")
    status = ChoiceField(choices=Chat.ChatStatus.choices, default=Chat.ChatStatus.RUNNING)


class FinishedStep(Step):
    status = ChoiceField(choices=ENDINGS, default=Chat.ChatStatus.SUCCEEDED)


class Tool(StrictSerializer):
    name = StringField(max_length=200)
    ok = BooleanField(default=True)
    error = StringField(max_length=2000, allow_blank=True, required=False)


class FinishBody(StrictSerializer):
    status = ChoiceField(choices=ENDINGS)
    reply = Text(default="")
    error = StringField(max_length=10_000, allow_blank=True, default="", help_text="Secrets are masked.")
    files = Files(help_text="Further paths that the turn touched.")
    tools = ListField(child=Tool(), max_length=MAX_TOOLS, required=False)
    steps = ListField(child=FinishedStep(), max_length=MAX_STEPS, required=False)
    milestone = StringField(max_length=200, allow_blank=True, default="")
    model = StringField(max_length=MAX_NAME, allow_blank=True, default="")
    usage = ObjectField(child=IntegerField(min_value=0), required=False, help_text="Tokens by kind.")


class TopicChanges(StrictSerializer):
    title = StringField(max_length=200, allow_blank=True)
    area = StringField(max_length=MAX_NAME, allow_blank=True)


class Promotion(StrictSerializer):
    author = Author(
        required=False,
        help_text="The human who wants it. Without one, what a key promotes waits for a person.",
    )


class NoBody(StrictSerializer):
    """Nothing, or `{}`."""


def read(body: type[StrictSerializer], request: Request, **kwargs: Any) -> dict[str, Any]:
    """The body's checked values; 413 `too_large` for a text of more than MAX_TEXT characters anywhere."""
    _refuse_large(request.data)
    return read_body(body, request, **kwargs)


def _refuse_large(body: Any) -> None:
    waiting: list[tuple[Any, tuple[str | int, ...]]] = [(body, ())]
    while waiting:
        value, path = waiting.pop()
        match value:
            case str() if len(value) > MAX_TEXT:
                detail = _("This text is too long; %(limit)s characters are allowed.") % {"limit": MAX_TEXT}
                raise Problem(
                    413,
                    "too_large",
                    detail,
                    [FieldError(pointer(*path), "too_large", detail)],
                    limit=MAX_TEXT,
                )
            case dict():
                waiting.extend((inner, (*path, name)) for name, inner in value.items())
            case list():
                waiting.extend((inner, (*path, place)) for place, inner in enumerate(value))
