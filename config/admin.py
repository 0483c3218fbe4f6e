"""How the admin is put together: its menu and its colours, from the same tokens as the web pages."""

from __future__ import annotations

from typing import Any

from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.translation import gettext_lazy as _

# Granite and tarn, as in the style sheets: 50 is the lightest.
COLOURS = {
    "base": {
        "50": "#f2f4f1",
        "100": "#e9ece8",
        "200": "#d6dbd5",
        "300": "#bfc9c3",
        "400": "#9faba4",
        "500": "#77827b",
        "600": "#56615b",
        "700": "#323b37",
        "800": "#232a27",
        "900": "#191e1c",
        "950": "#111513",
    },
    "primary": {
        "50": "#eef6f9",
        "100": "#deedf2",
        "200": "#bedbe5",
        "300": "#a9dbeb",
        "400": "#82c7de",
        "500": "#2f86a3",
        "600": "#135d77",
        "700": "#0f506a",
        "800": "#0c4559",
        "900": "#16343f",
        "950": "#06212b",
    },
    "font": {
        "subtle-light": "var(--color-base-600)",
        "subtle-dark": "var(--color-base-400)",
        "default-light": "var(--color-base-700)",
        "default-dark": "var(--color-base-200)",
        "important-light": "var(--color-base-900)",
        "important-dark": "var(--color-base-50)",
    },
}


def _page(title: Any, icon: str, model: str, app: str, says: Any, query: str = "") -> dict[str, Any]:
    """`says` is what the first page tells of it."""
    url = reverse_lazy(f"admin:{app}_{model}_changelist")
    return {
        "title": title,
        "icon": icon,
        "says": says,
        "link": (lambda request: f"{url}{query}") if query else url,
        "permission": lambda request: request.user.has_perm(f"{app}.view_{model}"),
    }


# Each entry is there only for those who may see what it leads to.
NAVIGATION = [
    {
        "title": _("What is kept"),
        "separator": True,
        "items": [
            _page(_("Memories"), "landscape", "memory", "memories", _("What agents are given, in any topic")),
            _page(
                _("Reviews"),
                "rule",
                "memory",
                "memories",
                _("Memories that wait for a person"),
                "?status__exact=proposed",
            ),
            _page(
                _("Extractions"),
                "filter_alt",
                "extraction",
                "memories",
                _("Runs that read turns and proposed memories"),
            ),
            _page(
                _("Candidates"),
                "fact_check",
                "candidate",
                "memories",
                _("What was proposed, and what became of it"),
            ),
            _page(
                _("Recalls"),
                "manage_search",
                "recall",
                "memories",
                _("What a turn was given, what not, and why"),
            ),
            _page(
                _("Versions"),
                "history",
                "historicalmemory",
                "memories",
                _("Every change of a memory, and by whom"),
            ),
            _page(
                _("Tombstones"),
                "delete_history",
                "tombstone",
                "memories",
                _("What must not come back by itself"),
            ),
        ],
    },
    {
        "title": _("What was said"),
        "separator": True,
        "items": [
            _page(
                _("Topics"), "forum", "topic", "chats", _("Conversations, and how far they were distilled")
            ),
            _page(
                _("Turns"),
                "chat",
                "chat",
                "chats",
                _("Messages with their replies, and the memories they got"),
            ),
            _page(
                _("Instructions"), "assignment", "instruction", "chats", _("Rules that hold within one topic")
            ),
        ],
    },
    {
        "title": _("Who"),
        "separator": True,
        "items": [
            _page(
                _("Projects"),
                "workspaces",
                "project",
                "projects",
                _("Owners, settings, and all that is in them"),
            ),
            _page(
                _("Rights"),
                "verified_user",
                "projectgrant",
                "projects",
                _("Who may do what in which project"),
            ),
            _page(_("API keys"), "key", "apikey", "projects", _("What agent services sign in with")),
            _page(
                _("Audit"), "history_edu", "auditevent", "projects", _("Who did what, when, and by which way")
            ),
            _page(_("Users"), "person", "user", "auth", _("People who can log in")),
            _page(_("Groups"), "group", "group", "auth", _("Rights that staff have in common")),
            _page(
                _("Failed log-ins"),
                "lock_person",
                "accessattempt",
                "axes",
                _("Who is kept from logging in, and for how long"),
            )
            | {"permission": "projects.admin.logins.may_see"},
        ],
    },
    {
        "title": _("Behind it"),
        "separator": True,
        "collapsible": True,
        "items": [
            _page(
                _("Recalled memories"),
                "format_list_numbered",
                "recallitem",
                "memories",
                _("Each memory in each recall, with its score"),
            ),
            _page(
                _("Blocks"),
                "description",
                "recallblock",
                "memories",
                _("The exact texts that went into prompts"),
            ),
            _page(
                _("Model providers"),
                "cloud_off",
                "breaker",
                "memories",
                _("Which of them answer, and who waits for those that do not"),
            ),
            _page(_("Usage"), "monitoring", "memoryusage", "memories", _("How often memories were given")),
            _page(
                _("Repeated requests"),
                "repeat",
                "idempotencyrecord",
                "projects",
                _("What requests sent twice are answered from"),
            ),
        ],
    },
]
UNFOLD = {
    "SITE_TITLE": "Cairn",
    "SITE_HEADER": "Cairn",
    "SITE_SUBHEADER": _("Project memory for agents"),
    "SITE_SYMBOL": "landscape",
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("cairn/icon.svg")}
    ],
    "SHOW_LANGUAGES": True,
    "SHOW_HISTORY": False,
    "SHOW_BACK_BUTTON": True,
    "DASHBOARD_CALLBACK": "chats.admin.distilling.dashboard",
    "STYLES": [lambda request: static("cairn/admin.css")],
    "COLORS": COLOURS,
    "SIDEBAR": {"show_search": True, "show_all_applications": False, "navigation": NAVIGATION},
}
