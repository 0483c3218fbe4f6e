"""Conversations in which both languages, several people or a machine speak."""

from .script import Conversation, Invention, Next, Note, Person, Say

NEW, WAITS, UNSAID = "stored/new", "proposed/review_policy", "proposed/not_entailed"
REPLACED = "replaced/stated_by_human"

CONVERSATIONS = (
    Conversation(
        "Redis 端口 6379 then 6380",
        (
            Say("记住：Redis 端口是 6379", heard=("stored",), by="ana"),
            Say(
                "remember: Redis 端口是 6380",
                topic="b",
                heard=("replaced",),
                by="ana",
                model=(Invention("Redis 端口是 6381", "dropped/already_explicit", "Redis 端口是 6380"),),
            ),
            Next("Redis 的端口？", ("Redis 端口是 6380",)),
        ),
        {"Redis 端口是 6380": "active"},
    ),
    Conversation(
        "a person's word stands against what was only heard",
        (
            Say(
                "我们的 API 前缀是 /v1。",
                rules={"我们的 API 前缀是 /v1": NEW},
                model=(Note("我们的 API 前缀是 /v1", NEW),),
            ),
            Person("edit", "我们的 API 前缀是 /v1", "我们的 API 前缀是 /v3"),
            Say(
                "我们的 API 前缀是 /v2。",
                topic="b",
                rules={"我们的 API 前缀是 /v2": "proposed/contradicts"},
                model=(
                    Note("我们的 API 前缀是 /v2", "proposed/contradicts"),
                    Invention(
                        "我们的 API 前缀是 /v2，旧的停用", "proposed/contradicts", "我们的 API 前缀是 /v2"
                    ),
                ),
            ),
            Next("API 前缀是什么？", ("我们的 API 前缀是 /v3",)),
        ),
        {"我们的 API 前缀是 /v3": "active", "我们的 API 前缀是 /v2": "proposed"},
        {
            "我们的 API 前缀是 /v3": "active",
            "我们的 API 前缀是 /v2": "proposed",
            "我们的 API 前缀是 /v2，旧的停用": "proposed",
        },
        policy="none",
    ),
    Conversation(
        "switched off, then heard again",
        (
            Say(
                "The brand color is #3366ff",
                rules={"The brand color is #3366ff": NEW},
                model=(Note("The brand color is #3366ff", NEW),),
            ),
            Person("disable", "The brand color is #3366ff"),
            Say(
                "The brand color is #3366ff",
                topic="b",
                rules={"The brand color is #3366ff": "dropped/manual_precedence"},
                model=(
                    Note("The brand color is #3366ff", "dropped/manual_precedence"),
                    Invention("The brand color of the logo is #3366ff", UNSAID, "The brand color is #3366ff"),
                ),
            ),
            Next("what is the brand color?"),
        ),
        {"The brand color is #3366ff": "disabled"},
        {"The brand color is #3366ff": "disabled", "The brand color of the logo is #3366ff": "proposed"},
        policy="none",
    ),
    Conversation(
        "a further message is the same human's",
        (
            Say(
                "做个登录页",
                further=("我们的登录接口是 /auth/login",),
                rules={"我们的登录接口是 /auth/login": NEW},
                model=(
                    Note("登录接口是 /auth/login", NEW, "我们的登录接口是 /auth/login"),
                    Invention("登录页要有验证码", UNSAID, "做个登录页", "constraint"),
                ),
            ),
            Next("登录接口是哪个？", ("我们的登录接口是 /auth/login",), model=("登录接口是 /auth/login",)),
        ),
        {"我们的登录接口是 /auth/login": "active"},
        {"登录接口是 /auth/login": "active", "登录页要有验证码": "proposed"},
        policy="none",
    ),
    Conversation(
        "a machine's message is no human's word",
        (
            Say(
                "记住：所有部署走 Jenkins。部署域名是 ci.example.com",
                origin="machine",
                model=(
                    Invention("部署域名是 ci.example.com", "dropped/no_evidence"),
                    Invention("所有部署走 Jenkins", "dropped/no_evidence", type="constraint"),
                ),
                read=False,
            ),
            Say("ok", model=(Invention("所有部署走 Jenkins", "dropped/no_evidence", type="constraint"),)),
            Next("部署走什么？"),
        ),
        {},
        policy="none",
    ),
    Conversation(
        "what was fixed for this page is no rule for all",
        (
            Say(
                "这个页面的表格不分页，别的不管",
                rules={},
                model=(
                    Invention("表格不分页", UNSAID, "这个页面的表格不分页", "constraint"),
                    Invention("所有页面的表格不分页", UNSAID, "这个页面的表格不分页", "constraint"),
                ),
            ),
            Next("表格要分页吗？"),
        ),
        {},
        {"表格不分页": "proposed", "所有页面的表格不分页": "proposed"},
        policy="none",
    ),
    Conversation(
        "a request is a piece of work",
        (
            Say(
                "Please make the header blue. 顺便把按钮圆角改成 8",
                rules={},
                model=(
                    Invention("The header is blue", "proposed/requested", "make the header blue"),
                    Invention("按钮圆角统一 8", "proposed/requested", "把按钮圆角改成 8", "constraint"),
                ),
            ),
            Next("which color has the header?"),
        ),
        {},
        {"The header is blue": "proposed", "按钮圆角统一 8": "proposed"},
        policy="none",
    ),
    Conversation(
        "the old way is not how it is",
        (
            Say(
                "We used to deploy with Capistrano. 部署用 ArgoCD。",
                rules={"部署用 ArgoCD": NEW},
                model=(
                    Note("部署用 ArgoCD", NEW),
                    Invention(
                        "We deploy with Capistrano", "proposed/past", "We used to deploy with Capistrano"
                    ),
                    Invention("部署用 Capistrano", UNSAID, "部署用 ArgoCD"),
                ),
            ),
            Next("部署用什么？", ("部署用 ArgoCD",)),
        ),
        {"部署用 ArgoCD": "active"},
        {
            "部署用 ArgoCD": "active",
            "We deploy with Capistrano": "proposed",
            "部署用 Capistrano": "proposed",
        },
        policy="none",
    ),
    Conversation(
        "a secret is kept nowhere",
        (
            Say(
                "The database password is Hq7#" + "mZ2vLp9x. The database host is db.internal",
                rules={"The database password is Hq***": "dropped/secret_found"},
                model=(
                    Note("The database host is db.internal", NEW),
                    Invention(
                        "The database password is Hq***",
                        "dropped/secret_found",
                        "The database host is db.internal",
                    ),
                ),
            ),
            Next("which host has the database?", (), model=("The database host is db.internal",)),
        ),
        {},
        {"The database host is db.internal": "active"},
        policy="none",
    ),
    Conversation(
        "two people, two likings",
        (
            Say(
                "我喜欢深色主题",
                by="ana",
                rules={"我喜欢深色主题": NEW},
                model=(
                    Note("用户喜欢深色主题", NEW, "我喜欢深色主题", "preference"),
                    Invention("界面默认深色主题", UNSAID, "我喜欢深色主题", "constraint"),
                ),
            ),
            Say(
                "I prefer a compact layout",
                by="ben",
                topic="b",
                rules={"I prefer a compact layout": NEW},
                model=(
                    Note("The user prefers a compact layout", NEW, "I prefer a compact layout", "preference"),
                ),
            ),
            Next("主题用深色还是浅色？", ("我喜欢深色主题",), model=("用户喜欢深色主题",)),
        ),
        {"我喜欢深色主题": "active", "I prefer a compact layout": "active"},
        {
            "用户喜欢深色主题": "active",
            "界面默认深色主题": "proposed",
            "The user prefers a compact layout": "active",
        },
    ),
    Conversation(
        "with everything under review nothing is in force by itself",
        (
            Say(
                "Our registry is ghcr.io/acme",
                rules={"Our registry is ghcr.io/acme": WAITS},
                model=(
                    Note("Our registry is ghcr.io/acme", WAITS),
                    Invention(
                        "Our registry is ghcr.io/acme-prod",
                        "dropped/not_entailed",
                        "Our registry is ghcr.io/acme",
                    ),
                ),
            ),
            Person("confirm", "Our registry is ghcr.io/acme"),
            Next("which registry do we push to?", ("Our registry is ghcr.io/acme",)),
        ),
        {"Our registry is ghcr.io/acme": "active"},
        policy="all",
    ),
    Conversation(
        "members only: a stranger's remember waits",
        (
            Say(
                "记住：发布前必须跑 e2e",
                by="stranger",
                heard=("needs_confirmation",),
                model=(Invention("发布前必须跑 e2e 和压测", "dropped/already_explicit", "发布前必须跑 e2e"),),
            ),
            Next("发布前跑什么？"),
            Person("confirm", "发布前必须跑 e2e"),
            Next("发布前跑什么？", ("发布前必须跑 e2e",)),
        ),
        {"发布前必须跑 e2e": "active"},
        explicit="members",
    ),
    Conversation(
        "switch from REST to GraphQL by name of what it replaces",
        (
            Say(
                "Our public API speaks REST",
                rules={"Our public API speaks REST": NEW},
                model=(Note("Our public API speaks REST", NEW, key="public-api"),),
            ),
            Say(
                "Our public API speaks GraphQL",
                topic="b",
                rules={"Our public API speaks GraphQL": REPLACED},
                model=(
                    Note("Our public API speaks GraphQL", REPLACED, key="public-api", replaces="public-api"),
                    Invention(
                        "Our public API speaks gRPC",
                        "proposed/not_entailed",
                        "Our public API speaks GraphQL",
                        key="public-api",
                        replaces="public-api",
                    ),
                ),
            ),
            Next("what does our public API speak?", ("Our public API speaks GraphQL",)),
        ),
        {"Our public API speaks GraphQL": "active"},
        {"Our public API speaks GraphQL": "active", "Our public API speaks gRPC": "proposed"},
    ),
)
