"""Holds each proposal against what was said. Pure: a proposal comes out checked, or with the reason why it is
dropped.

The steps of one proposal, in order: schema, evidence, who said it, already explicit, already instructed,
entailment.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

from memories import explicit, guard
from memories.dedupe import Relation, compare, content_hash
from memories.extraction import corrections, dates, stance
from memories.extraction.backends import ASSISTANT, USER, Proposal
from memories.extraction.entailment import entails
from memories.extraction.reasons import Reason
from memories.extraction.sentences import Sentence, split
from memories.extraction.transcript import SUCCEEDED, Transcript, Turn
from memories.text import InvalidText, clean, fold, slug, terms

TYPES = frozenset({"constraint", "decision", "preference", "fact", "pitfall", "procedure"})
# What somebody wants, nobody but a human can say.
HUMAN_TYPES = frozenset({"constraint", "decision", "preference"})
PROCEDURE = "procedure"
MAX_CONTENT = 1_000
# The words in which a procedure is put: when it is used, its steps, tools, output, pitfalls.
_FRAME = frozenset(
    terms("when steps tools output watch out 用于 步骤 工具 产出 注意 use uses 1 2 3 4 5 6 7 8")
)
MAX_IMPORTANCE = 4
MIN_QUOTE = 4
# Keywords, files and tools that one proposal may name: as many as a memory holds.
MAX_NAMED = 12
# A correction of what? Nobody can tell once the talk is over.
_SUBJECTLESS_CORRECTION = re.compile(
    r"^(?:应该|应当|其实)?(?:是|叫|改成|改为|换成)|^(?:应该|应当)(?:用|走)|^(?:it|that|this)(?:'s|\s+is|\s+should|\s+must)\b|^should\s+be\b",
    re.IGNORECASE,
)
# Characters of a masked secret between two parts of a quote, and places at which such a quote is tried.
_LONGEST_SECRET, _PLACES = 512, 20
# What the guard leaves of a secret in a text that a model is shown.
_MASKED = re.compile(r"[^\s*]{1,2}\*{3}(?!\*)")
_GUARD_REASONS = {
    "secret": Reason.SECRET_FOUND,
    "injection": Reason.INJECTION_FOUND,
    "hidden": Reason.HIDDEN_CHARACTERS,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A proposal that was really said. `waits`: why it may not be in force without a person, whatever the
    policy.
    """

    proposal: Proposal
    turn: Turn
    by_human: bool
    said_at: datetime
    content_hash: str
    key_given: bool
    waits: Reason | None = None


@dataclass(frozen=True, slots=True)
class Rejected:
    proposal: Proposal
    reason: Reason


def parse(items: Iterable[object]) -> tuple[list[Proposal], int]:
    """Proposals from JSON-like objects, item by item, and how many items could not be saved.

    A field of the wrong type is left out if the proposal can do without it.
    """
    found: list[Proposal] = []
    unparsable = 0
    for item in items:
        proposal = _parsed(item) if isinstance(item, Mapping) else None
        if proposal is None:
            unparsable += 1
        else:
            found.append(proposal)
    return found, unparsable


def _parsed(item: Mapping[object, object]) -> Proposal | None:
    type_, content, quote = (_text(item.get(name)) for name in ("type", "content", "quote"))
    if not type_ or not content or not quote:
        return None
    turn = item.get("turn_id", item.get("turn"))
    return Proposal(
        type=type_.casefold(),
        content=content,
        quote=quote,
        turn_id=_whole(turn),
        quote_role=ASSISTANT
        if _text(item.get("role", item.get("quote_role"))).casefold() == ASSISTANT
        else USER,
        key=_text(item.get("key")),
        importance=min(max(_whole(item.get("importance")) or 3, 1), MAX_IMPORTANCE),
        keywords=_texts(item.get("keywords")),
        files=_texts(item.get("files")),
        replaces_key=_text(item.get("replaces", item.get("replaces_key"))),
        always=item.get("always") is True,
        tools=_texts(item.get("tools")),
    )


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _whole(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int | float) and value == value and abs(value) < 2**53:
        return int(value)
    digits = re.search(r"\d{1,15}", value) if isinstance(value, str) else None
    return int(digits.group()) if digits else None


def _texts(value: object) -> tuple[str, ...]:
    if isinstance(value, str):
        value = re.split(r"[,，、]", value)
    if not isinstance(value, list | tuple):
        return ()
    return tuple(dict.fromkeys(text for item in value if (text := _text(item))))[:MAX_NAMED]


def check(proposal: Proposal, transcript: Transcript) -> Checked | Rejected:
    """The proposal in its stored form with the turn its quote was found in, or why it is dropped."""
    if proposal.type not in TYPES:
        return Rejected(proposal, Reason.UNKNOWN_TYPE)
    try:
        content = " ".join(clean(proposal.content).split())
        quote, written_key = clean(proposal.quote).strip(), clean(proposal.key)
    except InvalidText:
        return Rejected(proposal, Reason.INVALID_TEXT)
    if not content:
        return Rejected(proposal, Reason.NO_CONTENT)
    if len(content) > MAX_CONTENT:
        return Rejected(proposal, Reason.TOO_LONG)
    # A slug has no capitals and few signs left, by which the guard knows a secret.
    found = guard.worst(guard.inspect(written_key))
    if found is not None and found.certainty == "refuse":
        return Rejected(proposal, _GUARD_REASONS[found.kind])
    if _shows_masked(content, transcript):
        return Rejected(proposal, Reason.SECRET_FOUND)
    key = "" if found else slug(written_key)
    importance = min(max(proposal.importance, 1), MAX_IMPORTANCE)

    place = _find(quote, proposal.turn_id, _citable(proposal, transcript))
    if place is None:
        taken = any(_position(quote, turn.message) is not None for turn in transcript.citable if turn.blanked)
        return Rejected(proposal, Reason.ALREADY_EXPLICIT if taken else Reason.NO_EVIDENCE)
    turn, role, words, start, end = place
    content = dates.written_out(content, turn.sent_at.date())
    proposal = replace(
        proposal,
        content=content,
        quote=words[start:end],
        quote_role=role,
        turn_id=turn.id,
        key=key or explicit.derive_key(content),
        importance=importance,
        keywords=_cleaned(proposal.keywords),
        files=_of_the_talk(proposal.files, transcript),
        replaces_key=_known_key(proposal.replaces_key, transcript),
    )
    if role == ASSISTANT and proposal.type in HUMAN_TYPES:
        return Rejected(proposal, Reason.NEEDS_HUMAN_WORDS)
    if turn.blanked and _said_explicitly(content, turn):
        return Rejected(proposal, Reason.ALREADY_EXPLICIT)
    if _says(transcript.static_instructions, content):
        return Rejected(proposal, Reason.IN_INSTRUCTIONS)
    if corrections.stand_alone(proposal.quote, turn, transcript) == proposal.content:
        # The turn before says of what: it is no more than that.
        doubt: Reason | None = Reason.ALREADY_HAPPENED if turn.already_happened else None
    elif proposal.type == PROCEDURE and role == USER and _is_of_the_talk(proposal, transcript):
        doubt = Reason.PUT_TOGETHER
    else:
        doubt = _doubt(proposal, turn, words, start, end)
    if doubt is Reason.ASKED:
        return Rejected(proposal, doubt)
    return Checked(
        proposal=proposal,
        turn=turn,
        by_human=role == USER,
        said_at=turn.sent_at,
        content_hash=content_hash(content),
        key_given=bool(key),
        waits=doubt,
    )


def _cleaned(words: Iterable[str]) -> tuple[str, ...]:
    """Those that can be stored: a bad word costs the word, not the proposal."""
    kept = []
    for word in words:
        with suppress(InvalidText):
            kept.append(clean(word))
    return tuple(kept)


def _of_the_talk(files: Iterable[str], transcript: Transcript) -> tuple[str, ...]:
    """The paths that somebody named or changed in it; the others were invented."""
    talk = "\n".join(text for turn in transcript.turns for text in (turn.message, turn.reply, *turn.files))
    told = fold(talk).casefold()
    return tuple(
        path
        for path in _cleaned(files)
        if (wanted := fold(path).casefold().removeprefix("./").strip())
        and re.search(rf"(?<![\w-]){re.escape(wanted)}(?![\w-])", told)
    )


def _known_key(key: str, transcript: Transcript) -> str:
    """The key of a memory that the backend was shown: it can replace no other, it only guesses it."""
    wanted = {key, slug(key)} - {""}
    return next((memory.key for memory in transcript.known if memory.key in wanted), "")


def _shows_masked(content: str, transcript: Transcript) -> bool:
    """Whether the content holds the rest of a secret, as it was shown to a model and said by nobody."""
    marks = _MASKED.findall(content)
    talk = [text for turn in transcript.turns for text in (turn.message, turn.reply)] if marks else []
    return any(not any(mark in text for text in talk) for mark in marks)


def _doubt(proposal: Proposal, turn: Turn, words: str, start: int, end: int) -> Reason | None:
    if proposal.quote_role == ASSISTANT:
        return Reason.ASSISTANT_QUOTE
    evidence = surroundings(words, start, end)
    # A day that its turn named by the day it was said on is written out.
    claim = dates.without_resolved(proposal.content, evidence, turn.sent_at.date())
    names_a_day = claim != proposal.content
    if (reason := stance.of(words, start, end, proposal.content, dated=names_a_day)) is not None:
        return reason
    if names_a_day:
        evidence = dates.undated(evidence)
    if not entails(evidence, claim):
        return Reason.NOT_ENTAILED
    if _SUBJECTLESS_CORRECTION.search(proposal.content):
        return Reason.NO_SUBJECT
    return Reason.ALREADY_HAPPENED if turn.already_happened else None


# --- Evidence ---------------------------------------------------------------------------------------------------


def _citable(proposal: Proposal, transcript: Transcript) -> tuple[Turn, ...]:
    """The turns that may prove it: of a completed topic a procedure may cite those, too, that were read before."""
    if proposal.type == PROCEDURE and transcript.completed:
        return tuple(turn for turn in transcript.turns if turn.status == SUCCEEDED)
    return transcript.citable


def _is_of_the_talk(proposal: Proposal, transcript: Transcript) -> bool:
    """Whether all but the frame of a procedure was said in the completed topic, or is a tool or file of it."""
    if not transcript.completed:
        return False
    known: set[str] = set(_FRAME)
    for turn in transcript.turns:
        for text in (turn.message, turn.reply, *turn.agents, *turn.tools, *turn.files):
            known.update(terms(text))
    return known.issuperset(terms(proposal.content))


def _find(quote: str, turn_id: int | None, citable: Sequence[Turn]) -> tuple[Turn, str, str, int, int] | None:
    """Where the quote was said: by a human first, in the turn that was named first."""
    turns = sorted(citable, key=lambda turn: turn.id != turn_id)
    for role in (USER, ASSISTANT):
        for turn in turns:
            words = turn.readable if role == USER else turn.readable_reply
            if (span := _position(quote, words)) is not None:
                return turn, role, words, *span
    return None


def _position(quote: str, text: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`; width, case, white space and quotation marks do not matter.

    A quote of a text whose secrets were masked is found by the words around them, and its longest stretch stands
    for it: what was masked is no evidence that may be kept.
    """
    characters, places = _folded(text)
    if any(mark not in text for mark in _MASKED.findall(quote)):
        parts = [part for piece in _MASKED.split(quote) if (part := _folded(piece)[0])]
    else:
        parts = [_folded(quote)[0]]
    if max(map(len, parts), default=0) < MIN_QUOTE or not (starts := _in_order(parts, characters)):
        return None
    start, length = max(zip(starts, map(len, parts), strict=True), key=lambda place: place[1])
    return places[start], places[start + length - 1] + 1


def _in_order(parts: Sequence[str], text: str) -> list[int]:
    """Where the parts stand, one after the other with a secret's length between them; empty if they do not."""
    first = -1
    for _ in range(_PLACES):
        first = text.find(parts[0], first + 1)
        starts = [first]
        for before, part in pairwise(parts):
            end = starts[-1] + len(before)
            starts.append(text.find(part, end + 1, end + _LONGEST_SECRET + len(part)))
            if starts[-1] < 0:
                break
        if first < 0 or starts[-1] >= 0:
            break
    return starts if min(starts) >= 0 else []


@lru_cache(maxsize=128)
def _folded(text: str) -> tuple[str, tuple[int, ...]]:
    """The characters that count, and the place in `text` of each."""
    characters: list[str] = []
    places: list[int] = []
    for place, character in enumerate(text):
        for folded in unicodedata.normalize("NFKC", character).casefold():
            if not folded.isspace() and folded not in "“”„\"‘’'「」『』*`":
                characters.append(folded)
                places.append(place)
    return "".join(characters), tuple(places)


def surroundings(words: str, start: int, end: int) -> str:
    """The sentences that hold the span, with one neighbour on either side."""
    sentences = split(words)
    inside = [i for i, sentence in enumerate(sentences) if sentence.start < end and sentence.end > start]
    if not inside:
        return words[start:end]
    near: Sequence[Sentence] = sentences[max(inside[0] - 1, 0) : inside[-1] + 2]
    return "\n".join(sentence.text for sentence in near)


def _said_explicitly(content: str, turn: Turn) -> bool:
    items = explicit.read(turn.message).items
    return any(compare(item.content, content) in (Relation.SAME, Relation.NEAR) for item in items)


def _says(text: str, content: str) -> bool:
    return any(compare(sentence.text, content) in (Relation.SAME, Relation.NEAR) for sentence in split(text))
