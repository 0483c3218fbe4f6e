"""The Celery application: workers read it with `celery -A config worker -B`."""

import logging
import logging.config
import os
import signal
from typing import Any

from celery import Celery, bootsteps, signals
from django.conf import settings

from memories import tokens

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")

app = Celery("cairn", task_cls="config.task_log:LoggedTask")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()


@signals.setup_logging.connect
def _set_up_logging(**kwargs: Any) -> None:
    """The site's own lines instead of Celery's; LOG_LEVEL says how many, `--loglevel` nothing."""
    logging.config.dictConfig(settings.LOGGING)


@signals.worker_init.connect
def _warm_up(**kwargs: Any) -> None:
    """Load before the children are forked what each would load for itself: some 80 MB, and a third of a second."""
    tokens.count("warm")


class WatchBeat(bootsteps.StartStopStep):
    """End a worker whose beat has died (killed for want of memory, say), so that whoever runs it starts it anew.

    Without the beat nothing sweeps, and what the broker loses would wait for ever; Celery itself doesn't look.
    """

    requires = ("celery.worker.components:Timer", "celery.worker.components:Beat")
    every_s = 5.0

    def include_if(self, worker: Any) -> bool:
        return bool(worker.beat)

    def start(self, worker: Any) -> None:
        self.entry = worker.timer.call_repeatedly(self.every_s, self.look, (worker,))

    def look(self, worker: Any) -> None:
        if worker.beat.is_alive():
            return
        self.entry.cancel()
        logging.getLogger(__name__).critical("The beat is dead: the worker ends.")
        # As if it were asked to: what it has in hand is finished. (The timer may run in a thread of its own.)
        os.kill(os.getpid(), signal.SIGTERM)


app.steps["worker"].add(WatchBeat)
