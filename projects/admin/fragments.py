"""Pieces of pages: links, times, texts, lists, tables and bars. Whatever goes in is escaped."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.formats import date_format
from django.utils.html import format_html, format_html_join
from django.utils.http import urlencode
from django.utils.text import capfirst
from django.utils.timezone import localtime

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from django.db.models import Model
    from django.utils.safestring import SafeString

NOTHING = "–"
BETWEEN = " · "
BAR = 72
TONES = {
    "success": "bg-green-100 text-green-700 dark:bg-green-500/20 dark:text-green-400",
    "info": "bg-blue-100 text-blue-700 dark:bg-blue-500/20 dark:text-blue-400",
    "warning": "bg-orange-100 text-orange-700 dark:bg-orange-500/20 dark:text-orange-400",
    "danger": "bg-red-100 text-red-700 dark:bg-red-500/20 dark:text-red-400",
    "": "bg-base-500/8 text-base-700 dark:bg-base-500/20 dark:text-base-200",
}


def page(model: type[Model], pk: Any, text: Any) -> SafeString:
    """A link to the page of a row that need not be loaded."""
    name = f"admin:{model._meta.app_label}_{model._meta.model_name}_change"
    return format_html('<a class="cairn-link" href="{}">{}</a>', reverse(name, args=[pk]), text)


def link(target: Model | None, text: Any = None) -> SafeString | str:
    """A link to the target's own page; a dash for nothing."""
    return NOTHING if target is None else page(type(target), target.pk, text or target)


def list_link(model: type[Model], text: Any, **filters: Any) -> SafeString:
    """A link to the filtered list of another model."""
    url = reverse(f"admin:{model._meta.app_label}_{model._meta.model_name}_changelist")
    return format_html('<a class="cairn-link" href="{}?{}">{}</a>', url, urlencode(filters), text)


def moment(value: datetime | str | None) -> SafeString | str:
    """Date and time, each on a line of its own where there is little room."""
    if isinstance(value, str):
        value = parse_datetime(value)
    if value is None:
        return NOTHING
    here = localtime(value)
    return format_html(
        '<time class="cairn-moment" datetime="{}"><span>{}</span> <span>{}</span></time>',
        value.isoformat(),
        date_format(here, "DATE_FORMAT"),
        date_format(here, "TIME_FORMAT"),
    )


def quiet(*parts: Any) -> SafeString | str:
    """What supports the rest, in one line of a paler colour; empty parts are left out."""
    said = [part for part in parts if part]
    return (said and format_html('<span class="cairn-quiet">{}</span>', joined(said))) or ""


def joined(parts: Iterable[Any]) -> SafeString:
    return format_html_join(BETWEEN, "{}", ((part,) for part in parts))


def stacked(rows: Iterable[Any]) -> SafeString | str:
    """One thing below the other; empty ones are left out."""
    return format_html_join("", '<div class="cairn-row">{}</div>', ((row,) for row in rows if row)) or NOTHING


def prose(text: str) -> SafeString | str:
    """What people or agents wrote, with its line breaks."""
    return format_html('<div class="cairn-prose">{}</div>', text) if text else NOTHING


def marked(text: str, spans: Iterable[tuple[int, int]]) -> SafeString | str:
    """A text with parts of it marked; what nobody could see in a marked part stands there by its number."""
    if not text:
        return NOTHING
    pieces: list[tuple[str, str]] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            start = max(start, at)
            pieces.append((text[at:start], "".join(map(_visible, text[start:end]))))
            at = end
    body = format_html_join("", "{}<mark>{}</mark>", pieces)
    return format_html('<div class="cairn-prose">{}{}</div>', body, text[at:])


def _visible(char: str) -> str:
    return char if char.isprintable() or char == "\n" else f"[U+{ord(char):04X}]"


def exact(text: str) -> SafeString | str:
    """A text whose every character counts."""
    return format_html('<pre class="cairn-exact" tabindex="0">{}</pre>', text) if text else NOTHING


def quote(text: str, *about: Any) -> SafeString:
    """Somebody's words, with who said them and when."""
    return format_html('<blockquote class="cairn-quote">{} {}</blockquote>', text, quiet(*about))


def tags(values: Iterable[Any]) -> SafeString | str:
    return (
        format_html_join(" ", '<code class="cairn-tag">{}</code>', ((value,) for value in values)) or NOTHING
    )


def badge(text: Any, tone: str = "") -> SafeString:
    """A filled pill; its tone is one of the theme's, never the only thing that tells."""
    return format_html('<span class="cairn-badge {}">{}</span>', TONES.get(tone, TONES[""]), text)


def counted(counts: Mapping[str, Any], names: Mapping[str, Any] | None = None) -> str:
    """`3 stored · 1 dropped`; a code without a name stands for itself."""
    known = names or {}
    return (
        BETWEEN.join(f"{number(count)} {known.get(code, code)}" for code, count in counts.items()) or NOTHING
    )


def number(value: Any, digits: int = 1) -> str:
    """1,204 or 0.85: English and Chinese write numbers alike. `digits` are those of a fraction."""
    return f"{value:,.{digits}f}" if isinstance(value, float) else f"{value:,}"


def bar(value: float, most: float = 1.0) -> SafeString:
    """How much of `most` it is. It says nothing to a screen reader: its number always stands beside it."""
    width = round(BAR * min(max(value / most, 0.0), 1.0), 1) if most else 0
    return format_html(
        '<svg class="cairn-bar" width="{}" height="6" aria-hidden="true"><rect width="{}" height="6" rx="3"/>'
        '<rect class="cairn-bar-value" width="{}" height="6" rx="3"/></svg>',
        BAR,
        BAR,
        width,
    )


def scores(parts: Iterable[tuple[Any, float]]) -> SafeString | str:
    """Named numbers between 0 and 1, each with its bar."""
    return (
        format_html_join(
            "",
            '<span class="cairn-part"><span>{}</span> {} <b>{}</b></span>',
            ((name, bar(value), number(value, 3)) for name, value in parts),
        )
        or NOTHING
    )


def table(headings: Iterable[Any], rows: Iterable[Iterable[Any]], *, more: Any = "") -> SafeString | str:
    """`more` stands below, for what the table leaves out. No rows: a dash."""
    body = format_html_join(
        "",
        "<tr>{}</tr>",
        ((format_html_join("", "<td>{}</td>", ((cell,) for cell in row)),) for row in rows),
    )
    if not body:
        return NOTHING
    head = format_html_join(
        "", '<th scope="col">{}</th>', ((capfirst(str(heading)),) for heading in headings)
    )
    return format_html(
        '<div class="cairn-scroll" tabindex="0"><table class="cairn-table"><thead><tr>{}</tr></thead>'
        "<tbody>{}</tbody></table></div>{}",
        head,
        body,
        format_html('<p class="cairn-more">{}</p>', more) if more else "",
    )
