"""What goes out: compact UTF-8 JSON. Problems keep their own media type, see problems.py."""

from __future__ import annotations

from rest_framework import renderers


class JSONRenderer(renderers.JSONRenderer):
    ensure_ascii = False
    compact = True
    # NaN and Infinity are not JSON.
    strict = True
