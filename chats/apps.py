from django.apps import AppConfig


class ChatsConfig(AppConfig):
    name = "chats"
    verbose_name = "Chats"

    def ready(self) -> None:
        from chats import checks  # noqa: F401, PLC0415  (registers the checks)
