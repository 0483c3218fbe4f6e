"""Passwords, tokens and keys: by their own form, or a label with a value that passes the value test."""

import string
from collections.abc import Iterator
from typing import Final

from memories.guard import columns, commands, labels, providers, shapes, ties, values
from memories.guard.findings import Finding, occurs
from memories.guard.ties import Bond
from memories.guard.traditional import SIMPLIFIED
from memories.guard.views import View

_RUNS: Final = 8  # runs of characters after a label that are looked at
_REACH: Final = 110  # characters after a label in which its value may stand
_BEHIND: Final = 56  # characters before a label in which the end of its value may stand

_CODES: Final = {
    "password": "password", "zh_password": "password", "pin": "one_time_code", "zh_pin": "one_time_code",
    "token": "token", "zh_token": "token",
    "key": "key", "scheme": "token", "pair": "password", "access": "password",
}  # fmt: skip
_FORMS: Final = {
    "private keys": shapes.keys, "JSON web tokens": shapes.tokens, "addresses": shapes.addresses,
    "links": shapes.links, "providers": providers.find,
}  # fmt: skip
# The families of rules, in the order in which a value is given its code.
FAMILIES: Final = (
    *_FORMS, "commands", "columns", "recovery phrases", "label, value", "value, label", "label, word",
)  # fmt: skip
_VALUE_SIGNS: Final = frozenset(string.ascii_letters + string.digits + "!@#$%^&*_+-./=~")


def find(view: View) -> Iterator[Finding]:
    """Secrets in one view, with offsets of the original."""
    for _, finding in found_by(view):
        yield finding


def found_by(view: View) -> Iterator[tuple[str, Finding]]:
    """Secrets in one view, each with the family of rules that found it."""
    for family, form in _FORMS.items():
        for code, start, end, sure in form(view.text):
            yield family, _finding(view, code, start, end, sure=sure)
    low = view.low
    if not view.text.isascii():
        low = low.translate(SIMPLIFIED)
    for code, start, end, sure in commands.find(view.text, low):
        yield "commands", _finding(view, code, start, end, sure=sure)
    if not occurs(labels.TRIGGERS, low):
        return
    for kind, start, end in columns.cells(view.text, low):
        value = _judge(view.text, start, view.text[start:end], kind, "firm")
        if value:
            yield "columns", _finding(view, _CODES[kind], *value, sure=True)
    for kind, at, end in labels.find(low):
        if labels.ARN.search(low, max(0, at - 80), at):
            continue
        if kind == "phrase":
            words = ties.WORDS.match(low, end) or ties.WORDS_BEFORE.search(low, max(0, at - 320), at)
            if words:
                yield "recovery phrases", _finding(view, "recovery_phrase", *words.span(1), sure=True)
            continue
        if value := _value_after(view.text, end, kind):
            if view.text[slice(*value)].isdigit() and not labels.is_whole(low[at:end]):
                continue
            talked_of = ties.SPEAKS_ILL_OF.search(low, max(0, at - 12), at) and not values.is_strong(
                view.text[slice(*value)]
            )
            if not talked_of and not labels.OPEN.search(low, max(0, at - 14), at):
                yield "label, value", _finding(view, _CODES[kind], *value, sure=True)
        elif before := _value_before(view.text, low, at, end, kind):
            yield "value, label", _finding(view, _CODES[kind], *before[:2], sure=before[2])
        elif kind in ("password", "zh_password") and (word := _word_after(view.text, low, at, end)):
            yield "label, word", _finding(view, "password", *word[:2], sure=word[2])


def _finding(view: View, code: str, start: int, end: int, *, sure: bool) -> Finding:
    return Finding("secret", code, *view.span(start, end), "refuse" if sure else "hold")


def _value_after(text: str, at: int, kind: str) -> tuple[int, int] | None:
    """Offsets of the value that belongs to a label ending at `at`, within reach and the same sentence."""
    aside = ties.PARENTHESIS.match(text, at)
    if aside:
        at = aside.end()
    answer = (
        ties.ANSWER.match(text, at, at + _REACH)
        if text[at : at + 1] != "." and any(mark in text[at : at + 40] for mark in "?;.!")
        else None
    )
    below = ties.NEXT_LINE.match(text, at)
    limit = min(len(text), at + _REACH)
    stop = ties.SENTENCE_END.search(text, answer.end() if answer else below.end() if below else at, limit)
    bound = stop.start() if stop else limit
    for number, run in enumerate(ties.RUN.finditer(text, at, min(len(text), bound + values.MAX_LENGTH))):
        if run.start() >= bound or number == _RUNS:
            return None
        gap = text[at : run.start()]
        if not gap and run[0][0] in "@/._-":
            if text[run.end() : run.end() + 3] in ('", ', "', "):
                continue  # `set("….key.name", "…")`
            return None  # the label is part of a path, an address or a longer name
        firm = ties.is_firm(gap) or (answer is not None and run.start() <= answer.end() + 1)
        if (firm or number == 0) and ties.HOLDS_PLACE.search(gap):
            if text[run.end() : run.end() + 3] == " = ":
                continue  # a block opens: `variable "password" { default = "…" }`
            return None
        bond: Bond = "adjacent" if ties.BLANK.match(gap) else "firm" if firm else "loose"
        found = _judge(text, run.start(1) if run[1] else run.start(), run[1] or run[0], kind, bond)
        if found:
            return found
    return None


def _judge(text: str, start: int, run: str, kind: str, bond: Bond) -> tuple[int, int] | None:
    """The value inside one run of characters: without a leading connector, trailing stops, a user's name."""
    bare = run.lstrip(":=")
    if bare != run:
        bond = "firm"
    start += len(run) - len(bare)
    after = text[start + len(bare) : start + len(bare) + 2]
    if after[:1] in ("(", "[", "{", "<") and after != "</" and ("." in bare or not values.is_strong(bare)):
        return None  # a call, an index, a template
    value = bare.rstrip(".,:;?") if after[:1] not in ("'", '"') else bare
    if not value:
        return None
    if values.is_digest(value):
        return None
    if is_secret(value, kind, bond):
        pair = ties.LOGIN.match(value)
        if pair and values.is_name(pair[1]) and is_secret(pair[3], kind, "firm"):
            return start + pair.start(3), start + len(value)
        return start, start + len(value)
    pair = ties.LOGIN.match(value)
    if pair and is_secret(pair[3], kind, bond if bond == "loose" else "firm"):
        return start + pair.start(3), start + len(value)
    return None


def is_secret(value: str, kind: str, bond: Bond) -> bool:
    """The test of a value for its kind of label and for what stands between the two."""
    value = value[: values.TESTED]
    if not value.isdigit() and values.is_no_value(value):
        return False
    if kind in ("key", "scheme", "token", "zh_token") and values.is_sequence(value):
        return False
    if kind in ("key", "scheme"):
        random = values.is_random(value) or values.is_uuid(value)
        if bond == "loose":
            return kind == "key" and len(value) >= 32 and values.is_dense(value)
        return random or (kind == "key" and bond == "firm" and values.is_varied(value))
    if kind == "access":
        return values.is_varied(value)
    if kind == "pair":
        likely = bond == "adjacent" and values.is_passwordlike(value)
        return likely and (values.is_varied(value) or not values.is_name(value))
    if bond == "loose":
        return values.is_strong(value)
    if kind in ("pin", "zh_pin"):
        short = (
            kind == "zh_pin"
            and value.isalnum()
            and 4 <= len(value) <= 8
            and (
                any(map(str.isdigit, value))
                or (value != value.title() and not value.islower() and not value.isupper())
            )
        )
        return (
            values.is_number(value)
            or values.is_grouped(value)
            or (short and not values.is_algorithm(value))
            or values.is_tokenlike(value)
        )
    if kind in ("password", "zh_password"):
        return (
            values.is_passwordlike(value)
            or values.is_random(value)
            or (values.is_number(value) and len(value) >= 6)
        )
    return values.is_tokenlike(value) or values.is_random(value) or values.is_grouped(value, least=4)


def _value_before(text: str, low: str, at: int, label_end: int, kind: str) -> tuple[int, int, bool] | None:
    """ "… is the password", "enter … at the password prompt": the value stands before its label."""
    if kind in ("scheme", "pin", "zh_pin", "pair", "access"):
        return None
    since = max(0, at - _BEHIND)
    link = ties.IS_THE.search(low, since, at)
    given = None if link else ties.GIVEN_TO.search(low, since, at)
    link = link or given
    if not link or not ties.ENDS.match(low, label_end):
        return None
    end = link.start()
    while end > 0 and text[end - 1] in " \"'`”’」】*":
        end -= 1
    start = end
    while start > max(0, end - values.TESTED) and text[start - 1] in _VALUE_SIGNS:
        start -= 1
    value = text[start:end]
    if text[end : end + 1] == "(" and low[at].isascii():
        return None  # a call
    if ties.DIGEST.search(low, max(0, start - 16), start):
        return None
    if given and not ties.GIVES.search(low, max(0, start - 16), start):
        return None
    if kind in ("token", "zh_token", "key"):
        return (start, end, True) if values.is_random(value) else None
    if values.is_strong(value):
        return start, end, True
    chosen = (
        values.is_chosen(value)
        and not value.isdigit()
        and not (text[at - 1].isascii() and text[at - 1] not in " (`*\t\"'")
    )
    return (start, end, True) if chosen else None


def _word_after(text: str, low: str, start: int, end: int) -> tuple[int, int, bool] | None:
    """A value that could be any word or number, tied so closely to "password" that it can be nothing else."""
    if not ties.BARE.fullmatch(low, start, end) or ties.SPEAKS_ABOUT.search(low, max(0, start - 12), start):
        return None
    tied = ties.TIED.match(low, end, min(len(low), end + _REACH))
    if not tied:
        return None
    at, tie = tied.end(), low[end : tied.end()]
    stop = at
    while stop < min(len(text), at + 64) and text[stop] in _VALUE_SIGNS:
        stop += 1
    value = text[at:stop].rstrip(".!*?/=")
    if not value or (text[at - 1].isascii() and text[at - 1].isalnum()):
        return None
    stop = at + len(value)
    chinese = not low[start].isascii()
    if (not chinese and "," in tie) or (low[end] == "-" and low[end + 1 : end + 2].isalnum()):
        return None
    if ties.UNIT.match(low, stop) or not ties.CLAUSE_END.match(low, stop):
        return _phrase_at(text, low, at) if ties.TELLS.search(tie) else None
    if values.is_chosen(value):
        short = value.isdigit() and len(value) < 6 and not chinese
        return (at, stop, True) if not short or ties.SAYS.search(tie) else None
    told = bool(ties.TELLS.search(tie))
    if values.is_common(value) and (told or chinese):
        return at, stop, True
    if values.is_word(value) and (ties.SAYS.search(tie) or (chinese and told)):
        return at, stop, False
    return (at, stop, False) if values.is_phrase(value) else None


def _phrase_at(text: str, low: str, at: int) -> tuple[int, int, bool] | None:
    """A passphrase of several words up to the end of the clause or of its quotation."""
    stop = at
    while stop < min(len(text), at + 90) and (
        text[stop].isascii() and (text[stop].islower() or text[stop] in " -")
    ):
        stop += 1
    words = text[at:stop].rstrip()
    stop = at + len(words)
    quoted = "phrase" in low[max(0, at - 40) : at] or (
        text[at - 1] in "\"'`“‘「" and text[stop : stop + 1] in "\"'`”’」"
    )
    ends = ties.CLAUSE_END.match(low, stop)
    return (at, stop, False) if ends and values.is_phrase(words, quoted=quoted) else None
