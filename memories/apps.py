from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class MemoriesConfig(AppConfig):
    name = "memories"
    verbose_name = _("What is kept")

    def ready(self) -> None:
        from memories import guard  # noqa: PLC0415  (apps are being loaded)
        from memories.store.drafts import refused  # noqa: PLC0415
        from projects import masking  # noqa: PLC0415

        masking.lend(masking.Eye(mask=guard.mask, find=refused))
