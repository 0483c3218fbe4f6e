"""What is said in the demo project: conversations in Chinese and English, as an agent service sends them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    """One turn: the human's message and how the agent ended it."""

    author: str
    message: str
    reply: str
    files: tuple[str, ...] = ()
    status: str = "succeeded"
    tools: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    ref: str
    title: str
    area: str
    turns: tuple[Said, ...]
    complete: bool = False


NAMES = {"mei": "梅 (Mei)", "tom": "Tom"}

CONVERSATIONS = (
    Conversation(
        ref="conv-login",
        title="登录页",
        area="登录",
        turns=(
            Said(
                author="mei",
                message="记住：页面引用区块要用区块ID。现在做登录页",
                reply="好的。登录页已建好，三个区块都按 ID 引用。",
                files=("src/pages/login.vue",),
                tools=("create_page",),
            ),
            Said(
                author="mei",
                message="我们决定登录态存在 HttpOnly Cookie 里，不放 localStorage。",
                reply="明白，已改成 HttpOnly Cookie，前端不再读写令牌。",
                files=("src/api/session.ts",),
                tools=("edit_file",),
            ),
            Said(
                author="mei",
                message="以后按钮文案一律用动词开头，比如“保存设置”。",
                reply="好的，登录页的按钮改成了“登录账号”和“找回密码”。",
                files=("src/pages/login.vue",),
                tools=("edit_file",),
            ),
            Said(
                author="mei",
                message="不对，应该是 /api/v2/session，不是 /api/v1/session。",
                reply="抱歉，已改为 /api/v2/session。",
                files=("src/api/session.ts",),
                tools=("edit_file",),
            ),
        ),
    ),
    Conversation(
        ref="conv-orders",
        title="Order list",
        area="orders",
        turns=(
            Said(
                author="tom",
                message="Remember: amounts are stored in cents, never as floats. Build the order list.",
                reply="Done: the list formats cents at the edge and computes in integers.",
                files=("src/pages/orders/list.vue", "src/lib/money.ts"),
                tools=("create_page", "create_file"),
            ),
            Said(
                author="tom",
                message="Remember: list pages show 20 rows",
                reply="The order list now shows 20 rows a page.",
                files=("src/pages/orders/list.vue",),
            ),
            Said(
                author="tom",
                message="Remember: list pages show 50 rows",
                reply="Changed to 50 rows a page.",
                files=("src/pages/orders/list.vue",),
            ),
            Said(
                author="tom",
                message="Watch out: the staging gateway drops requests larger than 1 MB without an error.",
                reply="Good to know. The export now sends pages of 500 rows.",
                files=("src/lib/export.ts",),
            ),
            Said(
                author="tom",
                message="We decided to use cursor pagination for every list endpoint.",
                reply="The order list uses a cursor now.",
                files=("src/api/orders.ts",),
            ),
            Said(
                author="tom",
                message="Add the refund dialog as well.",
                reply="",
                status="failed",
            ),
        ),
        complete=True,
    ),
    Conversation(
        ref="conv-theme",
        title="主题与样式",
        area="样式",
        turns=(
            Said(
                author="mei",
                message="记住（偏好）：回答用中文，代码注释用英文",
                reply="好的，以后用中文回答，注释写英文。",
            ),
            Said(
                author="mei",
                message="记住：主色用蓝色 #1677ff",
                reply="主色已设为 #1677ff。",
                files=("src/styles/theme.scss",),
            ),
            Said(
                author="mei",
                message="记住：主色用绿色 #1f9d55",
                reply="主色已改为 #1f9d55。",
                files=("src/styles/theme.scss",),
            ),
        ),
    ),
    Conversation(
        ref="conv-checkout",
        title="结算页",
        area="结算",
        turns=(
            Said(
                author="mei",
                message="做结算页：引用收货地址区块和优惠券区块，金额显示到分，主色按约定来",
                reply="结算页做好了：两个区块都按 ID 引用，金额按分计算，主色是绿色。",
                files=("src/pages/checkout.vue",),
                tools=("create_page",),
            ),
            Said(author="mei", message="谢谢", reply="不客气。"),
        ),
    ),
)
