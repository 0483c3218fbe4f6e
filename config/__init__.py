from kombu.transport import TRANSPORT_ALIASES

from config.celery import app as celery_app

TRANSPORT_ALIASES["filesystem"] = "config.file_broker:Transport"
TRANSPORT_ALIASES["redis"] = TRANSPORT_ALIASES["rediss"] = "config.redis_broker:Transport"

__all__ = ["celery_app"]
