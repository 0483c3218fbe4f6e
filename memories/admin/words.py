"""Codes of recall and extraction in the reader's language. A code that has no words stands for itself."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from memories import guard
from memories.extraction.reasons import Outcome, Reason
from memories.fading import Why
from memories.store.rescan import REASON
from projects.admin.words import REASONS as CODED_REASONS

STATUS_TONES = {"active": "success", "proposed": "warning", "superseded": "info", "rejected": "danger"}
RESULT_TONES = {
    "running": "info",
    "kept": "success",
    "nothing": "",
    "cancelled": "warning",
    "abandoned": "warning",
    "provider_down": "warning",
}
BREAKER_TONES = {"closed": "success", "open": "danger", "trying": "warning"}
OUTCOME_TONES = {
    "stored": "success",
    "replaced": "success",
    "merged": "info",
    "proposed": "warning",
}

ROLES = {"user": _("a person"), "assistant": _("the agent")}
TIERS = {"always": _("always"), "relevant": _("when relevant")}
PARTS = {
    "lexical": _("words"),
    "files": _("files"),
    "area": _("area"),
    "importance": _("importance"),
    "type": _("type"),
    "authority": _("authority"),
    "recency": _("recency"),
}
OMITTED = {
    "below_floor": _("too little in common with the message"),
    "over_items": _("no place left"),
    "over_tokens": _("too long for the tokens left"),
    "near_duplicate": _("says the same as one that was given"),
    "always_overflow": _("always, but did not fit"),
    "withheld": _("withheld by the guard"),
    "expired": _("expired"),
    "disabled": _("disabled"),
    "superseded": _("superseded"),
    "proposed": _("waits for review"),
}
# What the guard has against a text, by the code of its finding.
WITHHELD_FOR: dict[str, Any] = {
    "password": _("a password"),
    "one_time_code": _("a one-time code"),
    "token": _("a token"),
    "key": _("a key"),
    "provider_key": _("a provider's key"),
    "private_key": _("a private key"),
    "connection_string": _("a connection string with its password"),
    "webhook": _("a webhook's address"),
    "recovery_phrase": _("a seed phrase"),
    "password_hash": _("the hash of a password"),
    "override": _("it sets other instructions aside"),
    "persona": _("it gives the agent another role"),
    "safeguards": _("it switches safeguards off"),
    "stealth": _("it asks for something done in secret"),
    "concealment": _("it keeps something from the user"),
    "phishing": _("it has users give something away"),
    "propagation": _("it wants to be copied"),
    "prompt_leak": _("it asks for the agent's instructions"),
    "exfiltration": _("it sends something outside"),
    "approval": _("it claims an approval"),
    "authority": _("it claims authority"),
    "tampering": _("it tampers with memories"),
    "remote_code": _("it runs what it loads"),
    "steering": _("it steers recommendations"),
    "role_marker": _("it poses as another speaker"),
    "block_escape": _("it would close the block"),
    "fake_turn": _("it plays a turn that never was"),
    "hidden_markup": _("it hides words in markup"),
    "danger": _("it asks for something dangerous"),
    "deceit": _("it has the agent deceive"),
    "pretext": _("it brings a pretext along"),
    "remote": _("it has orders fetched from elsewhere"),
    "control": _("control characters"),
    "bidi": _("characters that turn the direction"),
    "mark": _("marks of direction"),
    "zero_width": _("characters without width"),
    "filler": _("blank letters"),
    "tags": _("tag characters"),
    "selectors": _("variation selectors"),
    "marks": _("piled-up accents"),
}
KINDS_FOUND = {
    "secret": _("it contains a password, key or token"),
    "injection": _("it reads like an order to a future model"),
    "hidden": _("it contains invisible characters"),
}
INTENTS = {"continue": _("goes on"), "lookup": _("asks for the past"), "new_task": _("a new task")}
INTENT_RULES = {
    "caller": _("the caller said so"),
    "greeting": _("it is a greeting"),
    "contentless_continuation": _("it only says to go on"),
    "asks_for_the_past": _("it asks for what was said before"),
    "back_reference": _("it refers to what was just said"),
    "leans_on_what_was_said": _("it is short and leans on what was said"),
    "first_in_topic": _("it is the first of its topic"),
    "no_back_reference": _("it refers to nothing before it"),
}
DEGRADED = {
    "recall_failed": _("recall failed, the turn opened without"),
    "recall_deadline": _("recall took too long, the turn opened without"),
    "episodes_failed": _("turns of other topics could not be looked up"),
    "summary_failed": _("the topic's summary could not be read"),
}
OUTCOMES: dict[str, Any] = {
    Outcome.STORED: _("stored"),
    Outcome.PROPOSED: _("waits for review"),
    Outcome.MERGED: _("merged"),
    Outcome.REPLACED: _("replaced an older one"),
    Outcome.DROPPED: _("dropped"),
}
REASONS: dict[str, Any] = {
    Reason.NEW: _("nothing known is like it"),
    Reason.STATED_BY_HUMAN: _("a person changed what was never confirmed"),
    Reason.POLICY_NONE: _("the project reviews nothing"),
    Reason.REVIEW_POLICY: _("the project reviews what is as important as this"),
    Reason.NOT_ENTAILED: _("it says more than its quote"),
    Reason.ASSISTANT_QUOTE: _("it rests on the agent's words"),
    Reason.JOKE: _("it sounds like a joke"),
    Reason.SUPPOSED: _("it guesses, supposes or wishes"),
    Reason.REPORTED: _("it tells what somebody else says"),
    Reason.PAST: _("it was so once"),
    Reason.FOR_NOW: _("it holds for the moment alone"),
    Reason.TAKEN_BACK: _("it was taken back at once"),
    Reason.REQUESTED: _("it asks for a piece of work"),
    Reason.PUT_TOGETHER: _("it puts together what several turns say"),
    Reason.NO_SUBJECT: _("a correction that does not say of what"),
    Reason.ALREADY_HAPPENED: _("its turn was reported after the fact"),
    Reason.TOMBSTONED_KEY: _("a memory of this key was deleted or rejected"),
    Reason.CONTRADICTS: _("it contradicts a memory"),
    Reason.REPLACEMENT: _("it would replace a memory"),
    Reason.WITHHELD: _("the guard wants a person to look at it"),
    Reason.DUPLICATE: _("the same words are known"),
    Reason.NEAR_DUPLICATE: _("the same is known in other words"),
    Reason.PROPOSAL_OPEN: _("the same already waits for review"),
    Reason.UNPARSABLE: _("it could not be read"),
    Reason.UNKNOWN_TYPE: _("its type is unknown"),
    Reason.NO_CONTENT: _("it has no content"),
    Reason.TOO_LONG: _("it is too long"),
    Reason.INVALID_TEXT: _("it has characters that are no text"),
    Reason.NO_EVIDENCE: _("nobody said what it quotes"),
    Reason.NEEDS_HUMAN_WORDS: _("no person put it into words"),
    Reason.ASKED: _("it was asked, not said"),
    Reason.ALREADY_EXPLICIT: _("“Remember:” took these words"),
    Reason.IN_INSTRUCTIONS: _("the agent's own instructions say so"),
    Reason.SECRET_FOUND: _("it contains a password, key or token"),
    Reason.INJECTION_FOUND: _("it reads like an order to a future model"),
    Reason.HIDDEN_CHARACTERS: _("it contains invisible characters"),
    Reason.INVALID: _("one of its fields is not valid"),
    Reason.OVER_LIMIT: _("its run proposed too many"),
    Reason.ALREADY_DISTILLED: _("an earlier run settled it"),
    Reason.ALREADY_KNOWN: _("a memory has it from this very turn"),
    Reason.TOMBSTONED: _("it was deleted or rejected before"),
    Reason.MANUAL_PRECEDENCE: _("a person's memory stands"),
    Reason.STALE: _("something said later contradicts it"),
}
# Why a provider is down, or its answer could not be read.
FAILURES: dict[str, Any] = {
    "timeout": _("it took too long"),
    "rate_limited": _("it asked for a pause"),
    "server_error": _("it reported an error of its own"),
    "connection": _("it cannot be reached"),
    "quota": _("its quota is used up"),
    "unauthorized": _("it does not know the key"),
    "not_found": _("it does not know the model or the address"),
    "rejected": _("it refuses whatever it is asked"),
    "form_refused": _("it refuses the form of the answer"),
    "no_completion": _("what answers is no model"),
    "too_long": _("more than it reads at once"),
    "not_json": _("no structure in the answer"),
    "refused": _("the model refused to answer"),
    "cut_off": _("the answer was cut off"),
    "empty": _("the answer was empty"),
    "no_item_readable": _("nothing in the answer could be read"),
}
# Why a memory was put away.
FADING: dict[str, Any] = {
    Why.EXPIRED: _("its date has passed"),
    Why.FADED: _("nobody has needed it for long"),
    Why.UNREVIEWED: _("nobody has decided on it for long"),
}
CODED_REASONS.update(REASONS)
CODED_REASONS.update(FADING)
CODED_REASONS.update({f"{REASON}{code}": words for code, words in WITHHELD_FOR.items()})
RANKERS = {
    "rules": pgettext_lazy("how something is done", "by rules"),
    "llm": pgettext_lazy("how something is done", "by a model"),
}


def opening(message: str, *, limit: int) -> str:
    """How a message begins, its secrets masked: what somebody typed by mistake is no business of operators."""
    # Masked before it is cut: half a secret is not known as one.
    return guard.mask(message[: 4 * limit])[:limit]
