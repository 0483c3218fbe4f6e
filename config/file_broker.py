"""The broker made of files, with messages that appear whole.

kombu's own transport writes a message where its readers look for it: one that is quicker reads half of it, and the
worker ends with a JSONDecodeError (celery/kombu#1551). Here a message is written aside and renamed.
"""

from __future__ import annotations

import logging
import os
import uuid
from pathlib import Path
from time import monotonic
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps

logger = logging.getLogger(__name__)


class Channel(filesystem.Channel):
    # The bases of kombu do not agree about the name of what is put.
    def _put(self, queue: str, message: Any, **kwargs: Any) -> None:  # type: ignore[override]
        # Read in the order of their names, as kombu's own are; a draft's name is no message's.
        name = f"{round(monotonic() * 1000)}_{uuid.uuid4()}"
        try:
            _write(Path(self.data_folder_out) / f"{name}.{queue}.msg", dumps(message))
        except OSError as error:
            raise ChannelError(f"Cannot put a message into {self.data_folder_out!r}") from error

    def _get(self, queue: str, timeout: float | None = None) -> Any:
        while True:
            try:
                return super()._get(queue)
            except ValueError:
                # Cut off by a crash of the machine. It is gone; the sweep finds what it was about.
                logger.warning("a message that was not whole is dropped")

    def _queue_bind(self, exchange: Any, routing_key: Any, pattern: Any, queue: Any) -> None:
        channel: Any = self
        table: Path = channel._exchange_file(exchange)
        if not table.exists():
            # kombu truncates a new table before it locks it.
            _write(table, "[]", replace=False)
        super()._queue_bind(exchange, routing_key, pattern, queue)


class Transport(filesystem.Transport):
    Channel = Channel


def _write(path: Path, text: str, *, replace: bool = True) -> None:
    """Make the file appear whole; without `replace` one that is there already stays."""
    draft = path.with_name(f"{path.name.split('.')[0]}-{uuid.uuid4()}.draft")
    draft.write_text(text)
    try:
        if replace:
            draft.rename(path)
        else:
            os.link(draft, path)
    except FileExistsError:
        pass
    finally:
        draft.unlink(missing_ok=True)
