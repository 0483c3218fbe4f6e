"""Whole conversations, played through the services: what was said, what is kept of it, what is recalled next."""

import pytest

pytest.register_assert_rewrite(f"{__name__}.stage")
