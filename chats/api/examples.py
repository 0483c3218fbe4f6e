"""A turn from its opening to its trace, as the API's description shows it."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiExample

from memories.api.examples import CANDIDATE, EXTRACTION

MEMORY: dict[str, Any] = {
    "id": 12,
    "version": 1,
    "key": "页面引用区块",
    "type": "constraint",
    "status": "active",
    "content": "页面引用区块要用区块 ID",
}
ALWAYS = (
    "<project_memory>\nWhat holds in every turn of this project.\n"
    "## Rules set by people (follow unless the current message says otherwise)\n"
    "- constraint #12 (2026-12-01): 页面引用区块要用区块 ID\n</project_memory>\n"
)
INSTRUCTION: dict[str, Any] = {"id": 5, "kind": "correction", "content": "应该是先校验手机号再发验证码"}
INTENT = {"value": "new_task", "rule": "no_back_reference"}
TOKENS: dict[str, Any] = {
    "encoding": "o200k_base",
    "window": 40000,
    "instructions": 24,
    "memory": 71,
    "summary": 31,
    "episodes": 33,
    "history": 1280,
    "message": 21,
    "free": 38540,
}
GIVEN: dict[str, Any] = {
    "block": ALWAYS,
    "always": ALWAYS,
    "relevant": "",
    "sha256": "0a2f6f5f0a6c3f6f5a4c8e2b9d7c1e3f5a7b9c1d3e5f7a9b1c3d5e7f9a1b3c5d",
    "refs": [12],
    "tokens": 71,
}
SUMMED_UP = "- 1: 做登录页，支持手机号和验证码 → 已新增登录页，支持手机号和验证码 [pages/login.vue]"
EPISODE: dict[str, Any] = {
    "turn": 208,
    "topic": {"id": 31, "ref": "conv-87002", "title": "注册页"},
    "sent_at": "2026-11-20T02:10:00Z",
    "content": "验证码定 6 位，5 分钟内有效 → 已改为 6 位，5 分钟后失效 [pages/register.vue]",
    "tokens": 33,
}
CONTEXT: dict[str, Any] = {
    "memory_enabled": True,
    "degraded": [],
    "intent": INTENT,
    "instructions": [INSTRUCTION],
    "memory": GIVEN,
    "summary": SUMMED_UP,
    "episodes": [EPISODE],
    "history": [
        {"turn": 310, "role": "user", "content": "早上好，先看看登录页现在的状态"},
        {"turn": 310, "role": "assistant", "content": "登录页目前有三个区块。"},
    ],
    "tokens": TOKENS,
}
HEARD: dict[str, Any] = {
    "remembered": [{"outcome": "stored", "memory": MEMORY}],
    "refused": [
        {"text": "数据库密码是 Ab***", "code": "secret_found", "message": "未保存：含有密码、密钥或令牌。"}
    ],
    "forgotten": [],
}
TOPIC: dict[str, Any] = {
    "id": 40,
    "ref": "conv-88213",
    "title": "登录页",
    "area": "登录",
    "status": "open",
    "turns": 4,
    "summary": {
        "text": SUMMED_UP,
        "through": 3,
        "tokens": 31,
        "backend": "rules",
        "created_at": "2026-12-01T01:31:20Z",
    },
    "distil": {"state": "pending", "due_at": "2026-12-01T01:31:20Z"},
    "created_at": "2026-12-01T01:12:00Z",
    "updated_at": "2026-12-01T01:31:18Z",
}
SUMMARY: dict[str, Any] = {
    "id": 311,
    "ref": "req-5c1e",
    "seq": 3,
    "status": "succeeded",
    "topic": {"id": 40, "ref": "conv-88213", "title": "登录页"},
    "origin": "human",
    "author": {"ref": "u-1007", "name": "设计组"},
    "agent": "architect",
    "excerpt": "记住：页面引用区块要用区块 ID。现在做登录页",
    "memory_refs": [12, 7],
    "memory_tokens": 71,
    "degraded": [],
    "distil_outcome": "read",
    "sent_at": "2026-12-01T01:30:12Z",
    "finished_at": "2026-12-01T01:31:18Z",
}
STEP: dict[str, Any] = {
    "id": 312,
    "ref": "step-1",
    "position": 1,
    "agent": "editor",
    "status": "running",
    "memory_refs": [12, 7],
    "memory_tokens": 71,
}
RECALL: dict[str, Any] = {
    "id": 901,
    "created_at": "2026-12-01T01:30:12Z",
    "query": "记住：页面引用区块要用区块 ID。现在做登录页",
    "files": ["src/pages/login.vue"],
    "intent": INTENT,
    "ranker": "rules-1",
    "parameters": {},
    "ms": 4.1,
    "tokens": 71,
    "error": "",
    "block": ALWAYS,
    "sha256": GIVEN["sha256"],
    "items": [
        {
            "id": 12,
            "version": 1,
            "tier": "always",
            "rank": 1,
            "score": None,
            "parts": {},
            "tokens": 26,
            "now": MEMORY,
        }
    ],
    "omitted": [{"id": 7, "reason": "below_floor", "score": 0.11}],
    "omitted_counts": {"below_floor": 31},
}
TRACE: dict[str, Any] = {
    "turn": {name: value for name, value in SUMMARY.items() if name != "excerpt"}
    | {
        "message": SUMMARY["excerpt"],
        "further": [],
        "attached": "",
        "reply": "已新增登录页。",
        "files": ["src/pages/login.vue"],
        "tools": [{"name": "create_page", "ok": True}],
        "milestone": "",
        "model": "",
        "usage": {"input": 5120, "output": 830},
        "error": "",
        "already_happened": False,
        "started_at": "2026-12-01T01:30:12Z",
        "message_tokens": 21,
        "reply_tokens": 9,
    },
    "steps": [
        STEP
        | {
            "status": "succeeded",
            "message": "写登录页",
            "reply": "已写好。",
            "started_at": "2026-12-01T01:30:20Z",
            "finished_at": "2026-12-01T01:30:32Z",
        }
    ],
    "heard": HEARD,
    "given": {
        "memory_enabled": True,
        "parts": ["instructions", "memory", "summary", "episodes", "history"],
        "intent": INTENT,
        "instructions": [INSTRUCTION | {"state": "active", "memory": None}],
        "summary": {"id": 7, "through": 1, "text": SUMMED_UP, "tokens": 31},
        "episodes": [EPISODE],
        "history": [310],
        "tokens": TOKENS,
    },
    "recalls": [RECALL],
    "extraction": EXTRACTION | {"candidates": [CANDIDATE]},
    "distil": {"state": "idle", "due_at": None},
}


def _asked(name: str, value: dict[str, Any]) -> OpenApiExample:
    return OpenApiExample(name, value, request_only=True)


def _answered(name: str, value: dict[str, Any], *statuses: str) -> OpenApiExample:
    return OpenApiExample(name, value, response_only=True, status_codes=list(statuses or ("200",)))


open_body = _asked(
    "a turn",
    {
        "topic": {"ref": "conv-88213", "title": "登录页", "area": "登录"},
        "ref": "req-5c1e",
        "message": "记住：页面引用区块要用区块 ID。现在做登录页",
        "attached": "",
        "files": ["src/pages/login.vue"],
        "author": {"ref": "u-1007", "name": "设计组"},
        "agent": "architect",
        "sent_at": "2026-12-01T09:30:12+08:00",
        "context": {
            "window_tokens": 40000,
            "parts": ["instructions", "memory", "summary", "episodes", "history"],
        },
    },
)
happened_body = _asked(
    "a turn that already happened",
    {
        "topic": {"ref": "conv-88213"},
        "ref": "req-5c1f",
        "message": "表格分页用 20 条",
        "sent_at": "2026-12-01T09:20:00+08:00",
        "status": "succeeded",
        "reply": "好的。",
    },
)
opened = _answered(
    "opened",
    {
        "turn": {
            "id": 311,
            "ref": "req-5c1e",
            "seq": 3,
            "status": "running",
            "topic": {"id": 40, "ref": "conv-88213", "created": False},
        },
        **HEARD,
        "context": CONTEXT,
    },
    "200",
    "201",
)
further_body = _asked("a correction", {"message": "不对，应该是先校验手机号再发验证码"})
fresh = _answered(
    "context",
    {
        "turn": {"id": 311, "status": "running"},
        "remembered": [],
        "refused": [],
        "forgotten": [],
        "context": CONTEXT,
    },
)
step_body = _asked("a step", {"agent": "editor", "ref": "step-1", "message": "写登录页"})
step = _answered("step", {"step": STEP, "repeated": False, "context": CONTEXT}, "200", "201")
finish_body = _asked(
    "succeeded",
    {
        "status": "succeeded",
        "reply": "已新增登录页。",
        "files": ["src/pages/login.vue"],
        "tools": [{"name": "create_page", "ok": True}],
        "steps": [],
        "milestone": "",
        "model": "some-model",
        "usage": {"input": 5120, "output": 830},
    },
)
finished = _answered(
    "finished",
    {
        "turn": {"id": 311, "status": "succeeded"},
        "repeated": False,
        "distil": {"state": "pending", "due_at": "2026-12-01T01:31:20Z"},
        "receipt": {
            "text": "已记住 1 条 · 用到 4 条记忆（312 tokens）",
            "remembered": 1,
            "refused": 0,
            "used": 4,
            "tokens": 312,
            "url": "https://cairn.example/api/v1/turns/311/",
        },
    },
)
turns = _answered("turns", SUMMARY)
trace = _answered("trace", TRACE)
topic = _answered("topic", TOPIC)
topic_changes = _asked("changes", {"title": "登录与注册"})
instruction = _answered(
    "instruction",
    INSTRUCTION
    | {"state": "active", "tokens": 12, "turn": 311, "memory": None, "created_at": "2026-12-01T01:30:12Z"},
)
promoted = _answered(
    "promoted",
    {
        "outcome": "stored",
        "memory": MEMORY,
        "instruction": INSTRUCTION
        | {
            "state": "promoted",
            "tokens": 12,
            "turn": 311,
            "memory": 12,
            "created_at": "2026-12-01T01:30:12Z",
        },
    },
)
promotion = _asked("for a human", {"author": {"ref": "u-1007", "name": "设计组"}})
retried = _answered(
    "due", {"topic": 40, "distil": {"state": "pending", "due_at": "2026-12-01T02:00:00Z"}}, "202"
)
