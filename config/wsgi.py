"""What gunicorn serves."""

import logging
import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from memories import tokens

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

logger = logging.getLogger(__name__)

application = get_wsgi_application()


def _warm_up() -> None:
    """Load what the first request would otherwise wait for: a caller gives it two seconds."""
    try:
        tokens.count("warm")
    except tokens.TokenizerUnavailable:
        # The process answers all the same, so that /health/ready/ can say why it must not be used.
        logger.exception("tokens cannot be counted")
    assert get_resolver().url_patterns  # noqa: S101 (imports every view)


_warm_up()
