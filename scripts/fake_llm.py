"""A model for `EXTRACTION_BACKEND=llm` that is none: the tests' protocol server, until Ctrl-C."""

import importlib
import os
import sys
from pathlib import Path

import django

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup()
# Only now: the rules that it answers by are part of an app.
llm_server = importlib.import_module("tests.llm_server")


def main() -> None:
    with llm_server.LlmServer(port=int(os.environ.get("FAKE_LLM_PORT", "8099"))) as server:
        sys.stdout.write(
            f"It listens at {server.base_url}. In other windows:\n\n"
            f"  EXTRACTION_BACKEND=llm LLM_BASE_URL={server.base_url} LLM_MODEL=plain DISTIL_IDLE_S=2 make run\n\n"
            f"LLM_MODEL chooses the shape of its answers: {', '.join(llm_server.SHAPES)}.\n"
        )
        sys.stdout.flush()
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            server.stopping.set()


if __name__ == "__main__":
    main()
