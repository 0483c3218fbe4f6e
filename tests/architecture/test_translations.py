"""Whatever the product says, it says in Chinese, too: nothing is left out, half done or not compiled."""

from __future__ import annotations

import ast
import gettext
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from django.conf import settings
from django.utils import translation
from django.utils.translation.template import templatize

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(settings.BASE_DIR)
CATALOGUE = ROOT / "locale" / "zh_Hans" / "LC_MESSAGES" / "django.po"
APPS = ("config", "projects", "memories", "chats")
# Where context, message and plural stand among the arguments.
PLACES = {
    "gettext": (None, 0, None),
    "ngettext": (None, 0, 1),
    "pgettext": (0, 1, None),
    "npgettext": (0, 1, 2),
    "gettext_noop": (None, 0, None),
}
_CALL = re.compile(r"\b(n?p?gettext)\(((?:u?(?:'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\")\s*,?\s*)+)")
_PLACEHOLDER = re.compile(r"%\(\w+\)[sd]|{\w*}")

# Context and message; the catalogue holds one entry for both numbers of a message.
type Said = tuple[str | None, str]


def said_in_python(path: Path) -> Iterator[tuple[Said, str | None]]:
    """Every message that a module marks for translation. Fails for one that is not written out."""
    tree = ast.parse(path.read_text())
    names = {
        alias.asname or alias.name: alias.name.replace("_lazy", "")
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for alias in node.names
    }
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if (places := PLACES.get(names.get(node.func.id, ""))) is None:
            continue
        texts = [argument.value if isinstance(argument, ast.Constant) else None for argument in node.args]
        context, message, plural = (None if place is None else texts[place] for place in places)
        assert isinstance(message, str), f"{path}:{node.lineno} translates what is not written out"
        yield (context, message), plural


def said_in_template(source: str) -> Iterator[tuple[Said, str | None]]:
    for function, arguments in _CALL.findall(templatize(source)):
        texts = ast.literal_eval(f"({arguments.rstrip().rstrip(',')},)")
        context, message, plural = (None if place is None else texts[place] for place in PLACES[function])
        yield (context, message), plural


def everything_said() -> dict[Said, str | None]:
    found: dict[Said, str | None] = {}
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" not in path.parts:
                for said, plural in said_in_python(path):
                    found[said] = plural or found.get(said)
    for path in sorted((ROOT / "templates").rglob("*.html")):
        for said, plural in said_in_template(path.read_text()):
            found[said] = plural or found.get(said)
    return found


def entries() -> dict[Said, dict[str, str]]:
    """The catalogue's entries by what they translate, each with its fields and flags."""
    found: dict[Said, dict[str, str]] = {}
    for block in CATALOGUE.read_text().split("\n\n"):
        entry: dict[str, str] = {"flags": ""}
        field = ""
        for line in block.splitlines():
            if line.startswith("#,"):
                entry["flags"] += line
            elif match := re.match(r'(msgctxt|msgid_plural|msgid|msgstr(?:\[0\])?) (".*")$', line):
                field = match[1].removesuffix("[0]")
                entry[field] = ast.literal_eval(match[2])
            elif line.startswith('"'):
                entry[field] += ast.literal_eval(line)
        if entry.get("msgid"):
            said = (entry.get("msgctxt"), entry["msgid"])
            assert said not in found, f"twice in the catalogue: {said}"
            found[said] = entry
    return found


def test_everything_that_is_said_is_in_the_catalogue() -> None:
    known = entries()
    missing = [
        said
        for said, plural in everything_said().items()
        if said not in known or (plural is not None and known[said].get("msgid_plural") != plural)
    ]
    assert missing == []


def test_no_entry_is_empty_or_a_guess() -> None:
    assert [
        said for said, entry in entries().items() if not entry["msgstr"] or "fuzzy" in entry["flags"]
    ] == []


def test_a_translation_keeps_the_places_for_values() -> None:
    wrong = [
        said
        for said, entry in entries().items()
        if set(_PLACEHOLDER.findall(entry["msgid"])) != set(_PLACEHOLDER.findall(entry["msgstr"]))
    ]
    assert wrong == []


def test_what_is_compiled_is_what_is_written() -> None:
    with CATALOGUE.with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    for (context, message), entry in entries().items():
        if "msgid_plural" in entry:
            got = compiled.ngettext(message, entry["msgid_plural"], 1)
        else:
            got = compiled.gettext(message) if context is None else compiled.pgettext(context, message)
        assert (message, got) == (message, entry["msgstr"])
    assert len(compiled._catalog) == len(entries()) + 1, (
        "the head, and nothing that the catalogue no longer says"
    )


@pytest.mark.parametrize("app", APPS)
def test_there_is_one_catalogue(app: str) -> None:
    assert list((ROOT / app).rglob("*.po")) == []


def test_a_template_is_read_like_a_module() -> None:
    source = """{% load i18n %}{% translate "Save" %}{% translate "key" context "of a memory" %}
    {% blocktranslate count n=1 %}{{ n }} turn{% plural %}{{ n }} turns{% endblocktranslate %}"""
    assert list(said_in_template(source)) == [
        ((None, "Save"), None),
        (("of a memory", "key"), None),
        ((None, "%(n)s turn"), "%(n)s turns"),
    ]


def test_the_theme_speaks_chinese() -> None:
    with translation.override("zh-hans"):
        assert translation.gettext("Type to search") == "输入以搜索"
        assert translation.ngettext("%(n)s token", "%(n)s tokens", 312) % {"n": 312} == "312 tokens"
