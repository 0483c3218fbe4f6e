from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ChatsConfig(AppConfig):
    name = "chats"
    verbose_name = _("What was said")

    def ready(self) -> None:
        from chats import checks, copies  # noqa: F401, PLC0415  (registers the checks)
        from chats.retention import SUMMARIES  # noqa: PLC0415  (apps are being loaded)
        from memories import retention  # noqa: PLC0415

        retention.register(SUMMARIES)
        copies.announce()
