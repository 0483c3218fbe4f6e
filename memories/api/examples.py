"""One memory and its neighbours, as the API's description shows them."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

from memories.api.serializers import OF_VERSION

MEMORY: dict[str, Any] = {
    "id": 12,
    "version": 1,
    "type": "constraint",
    "key": "页面引用区块",
    "content": "页面引用区块要用区块 ID",
    "importance": 5,
    "always": True,
    "keywords": [],
    "files": ["src/pages/**"],
    "area": "",
    "source": "explicit",
    "authority": "person",
    "status": "active",
    "withheld": False,
    "withheld_for": "",
    "findings": [],
    "spot_check": False,
    "evidence": [
        {"quote": "页面引用区块要用区块 ID", "role": "user", "turn": 311, "said_at": "2026-12-01T01:30:12Z"}
    ],
    "said_at": "2026-12-01T01:30:12Z",
    "created_at": "2026-12-01T01:30:13Z",
    "updated_at": "2026-12-01T01:30:13Z",
    "confirmed_at": None,
    "expires_at": None,
    "created_by": "ana",
    "updated_by": "ana",
    "confirmed_by": None,
    "source_topic": {"id": 40, "ref": "conv-88213", "title": "登录页"},
    "source_turn": 311,
    "extraction": None,
    "replaces": None,
    "contradicts": None,
    "tokens": 24,
    "fades_at": None,
    "usage": {"count": 3, "last_at": "2026-12-02T07:12:40Z"},
}
VERSION: dict[str, Any] = {name: MEMORY[name] for name in OF_VERSION} | {
    "version": 2,
    "action": "edit",
    "at": "2026-12-02T08:00:00Z",
    "by": "ana",
    "by_kind": "user",
    "transport": "api",
    "request_id": "5c1e0f6a",
    "reason": "clearer",
}
EXTRACTION: dict[str, Any] = {
    "id": 7,
    "topic": {"id": 40, "ref": "conv-88213", "title": "登录页"},
    "trigger": "turn",
    "status": "succeeded",
    "result": "kept",
    "backend": "rules",
    "model": "",
    "prompt_version": "",
    "turns": [311, 312],
    "attempts": 1,
    "counts": {"stored": 1, "dropped": 1},
    "tokens_in": 0,
    "tokens_out": 0,
    "error_kind": "",
    "error": "",
    "started_at": "2026-12-01T01:30:20Z",
    "finished_at": "2026-12-01T01:30:20Z",
}
CANDIDATE: dict[str, Any] = {
    "type": "decision",
    "key": "数据库",
    "content": "数据库用 MariaDB 10.11",
    "quote": "我们决定数据库用 MariaDB 10.11",
    "quote_role": "user",
    "turn": 312,
    "outcome": "stored",
    "reason": "new",
    "memory": 13,
    "target": None,
}

memory = OpenApiExample("memory", MEMORY, response_only=True, status_codes=["200", "201"])
changed_memory = OpenApiExample(
    "changed",
    MEMORY
    | {
        "version": 2,
        "undo": {
            "method": "POST",
            "path": "/api/v1/projects/shop/memories/12/undo/",
            "body": {"undoes_version": 2},
        },
    },
    response_only=True,
    status_codes=["200", "201"],
)
new_memory = OpenApiExample(
    "new memory",
    {"type": "constraint", "content": "页面引用区块要用区块 ID", "files": ["src/pages/**"]},
    request_only=True,
)
changes = OpenApiExample(
    "changes", {"content": "页面引用区块一律用区块 ID", "reason": "clearer"}, request_only=True
)
reason = OpenApiExample("with a reason", {"reason": "no longer true"}, request_only=True)
version = OpenApiExample("version", VERSION, response_only=True, status_codes=["200"])
extraction = OpenApiExample("extraction", EXTRACTION, response_only=True, status_codes=["200"])
extraction_detail = OpenApiExample(
    "extraction", EXTRACTION | {"candidates": [CANDIDATE]}, response_only=True, status_codes=["200"]
)
