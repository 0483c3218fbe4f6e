"""Holds each proposal against what was said. Pure: a proposal comes out checked, or with the reason why it is
dropped.

The steps of one proposal, in order: schema, evidence, who said it, already explicit, already instructed,
entailment.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache

from memories import claims, explicit
from memories.dedupe import Relation, compare, content_hash
from memories.extraction import phrases
from memories.extraction.backends import ASSISTANT, USER, Proposal
from memories.extraction.reasons import Reason
from memories.extraction.sentences import Sentence, split
from memories.extraction.transcript import Transcript, Turn
from memories.text import InvalidText, clean, slug

TYPES = frozenset({"constraint", "decision", "preference", "fact", "pitfall", "procedure"})
# What somebody wants, nobody but a human can say.
HUMAN_TYPES = frozenset({"constraint", "decision", "preference"})
MAX_CONTENT = 1_000
MAX_IMPORTANCE = 4
MIN_QUOTE = 4
# Of the bigrams of a content's Chinese, so many must stand in the evidence: function words come and go
# between them.
MIN_BIGRAMS = 0.6

# Words that frame a claim without adding to it.
_FRAME = frozenset(
    re.findall(
        r"\w+",
        """
        use using used project team user users prefer prefers preferred decided decision agreed chosen choose
        rule convention should must required require requires want wants like likes default standard currently
        """,
    )
)
_FRAME_RUNS = re.compile(
    "项目|团队|用户|使用|采用|决定|偏好|喜欢|规则|约定|要求|希望|默认|目前|当前|应该|需要|必须|所有|统一|一律|本"
)
# Prepositions come and go with the wording; order and place do not.
_LOOSE_DIRECTIONS = frozenset(
    (
        "by",
        "from",
        "to",
        "into",
        "onto",
        "over",
        "under",
        "only",
        "按",
        "按照",
        "以",
        "根据",
        "从",
        "到",
        "往",
    )
)
# A correction of what? Nobody can tell once the talk is over.
_SUBJECTLESS_CORRECTION = re.compile(
    r"^(?:应该|应当|其实)?(?:是|叫|改成|改为|换成)|^(?:it|that|this)(?:'s|\s+is|\s+should|\s+must)\b|^should\s+be\b",
    re.IGNORECASE,
)
_DENIED_REACH = 6


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
    return tuple(dict.fromkeys(text for item in value if (text := _text(item))))[:12]


def check(proposal: Proposal, transcript: Transcript) -> Checked | Rejected:
    """The proposal in its stored form with the turn its quote was found in, or why it is dropped."""
    if proposal.type not in TYPES:
        return Rejected(proposal, Reason.UNKNOWN_TYPE)
    try:
        content = " ".join(clean(proposal.content).split())
        quote, key = clean(proposal.quote).strip(), slug(clean(proposal.key))
    except InvalidText:
        return Rejected(proposal, Reason.INVALID_TEXT)
    if not content:
        return Rejected(proposal, Reason.NO_CONTENT)
    if len(content) > MAX_CONTENT:
        return Rejected(proposal, Reason.TOO_LONG)
    importance = min(max(proposal.importance, 1), MAX_IMPORTANCE)

    place = _find(quote, proposal.turn_id, transcript)
    if place is None:
        taken = any(_position(quote, turn.message) is not None for turn in transcript.citable if turn.blanked)
        return Rejected(proposal, Reason.ALREADY_EXPLICIT if taken else Reason.NO_EVIDENCE)
    turn, role, words, start, end = place
    proposal = replace(
        proposal,
        content=content,
        quote=words[start:end],
        quote_role=role,
        turn_id=turn.id,
        key=key or explicit.derive_key(content),
        importance=importance,
    )
    if role == ASSISTANT and proposal.type in HUMAN_TYPES:
        return Rejected(proposal, Reason.NEEDS_HUMAN_WORDS)
    if turn.blanked and _said_explicitly(content, turn):
        return Rejected(proposal, Reason.ALREADY_EXPLICIT)
    if _says(transcript.static_instructions, content):
        return Rejected(proposal, Reason.IN_INSTRUCTIONS)
    return Checked(
        proposal=proposal,
        turn=turn,
        by_human=role == USER,
        said_at=turn.sent_at,
        content_hash=content_hash(content),
        key_given=bool(key),
        waits=_doubt(proposal, words, start, end, happened=turn.already_happened),
    )


def _doubt(proposal: Proposal, words: str, start: int, end: int, *, happened: bool) -> Reason | None:
    if proposal.quote_role == ASSISTANT:
        return Reason.ASSISTANT_QUOTE
    if not entails(surroundings(words, start, end), proposal.content):
        return Reason.NOT_ENTAILED
    if _is_joke(words, start, end):
        return Reason.JOKE
    if _SUBJECTLESS_CORRECTION.search(proposal.content):
        return Reason.NO_SUBJECT
    return Reason.ALREADY_HAPPENED if happened else None


def _is_joke(words: str, start: int, end: int) -> bool:
    """Whether the sentence laughs about itself, or the next one takes it back."""
    sentences = split(words)
    inside = [i for i, sentence in enumerate(sentences) if sentence.start < end and sentence.end > start]
    following = sentences[inside[-1] + 1 : inside[-1] + 2] if inside else []
    return any(phrases.JOKE.search(sentences[i].plain) for i in inside) or any(
        phrases.RETRACTION.search(sentence.plain) for sentence in following
    )


# --- Evidence
# -------------------------------------------------------------------------------------------------------


def _find(quote: str, turn_id: int | None, transcript: Transcript) -> tuple[Turn, str, str, int, int] | None:
    """Where the quote was said: by a human first, in the turn that was named first."""
    if len("".join(quote.split())) < MIN_QUOTE:
        return None
    turns = sorted(transcript.citable, key=lambda turn: turn.id != turn_id)
    for role in (USER, ASSISTANT):
        for turn in turns:
            words = turn.readable if role == USER else turn.readable_reply
            if (span := _position(quote, words)) is not None:
                return turn, role, words, *span
    return None


def _position(quote: str, text: str) -> tuple[int, int] | None:
    """Where `quote` stands in `text`; width, case, white space and quotation marks do not matter."""
    wanted = _folded(quote)[0]
    characters, places = _folded(text)
    at = characters.find(wanted) if wanted else -1
    return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)


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


# --- Entailment
# -----------------------------------------------------------------------------------------------------


def entails(evidence: str, content: str) -> bool:
    """Whether `content` says nothing that `evidence` does not: its numbers, names and words occur there, what
    it denies is denied there and what it affirms is not, and its Chinese is covered.
    """
    said, claimed = _sides(evidence), _sides(content)
    if claimed.strict - said.strict:
        return False
    if claimed.denied & (said.affirmed - said.denied) or claimed.affirmed & (said.denied - said.affirmed):
        return False
    known = said.affirmed | said.denied
    words = {atom for atom in claimed.affirmed | claimed.denied if not _is_bigram(atom)}
    if not words <= known | _FRAME:
        return False
    bigrams = [atom for atom in claimed.bigrams if not _FRAME_RUNS.search(atom)]
    if not bigrams:
        return True
    characters = set("".join(said.bigrams))
    covered = sum(atom in known for atom in bigrams)
    return covered >= MIN_BIGRAMS * len(bigrams) and all(set(atom) <= characters for atom in bigrams)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The atoms of a text: words and identifiers, bigrams of Chinese; `strict` are those that never vary."""

    affirmed: frozenset[str]
    denied: frozenset[str]
    strict: frozenset[str]
    bigrams: tuple[str, ...]


def _is_bigram(atom: str) -> bool:
    return not atom.isascii() and len(atom) <= 2


def _sides(text: str) -> _Sides:
    affirmed: set[str] = set()
    denied: set[str] = set()
    strict: set[str] = set()
    bigrams: list[str] = []
    for sentence in split(text):
        for clause in sentence.clauses:
            reach = 0
            for token in claims.read(clause.text).tokens:
                if token.kind == "not":
                    reach = _DENIED_REACH
                    continue
                if token.kind == "number":
                    strict.add(token.value.split()[0])
                elif token.kind in ("compare", "switch") or (
                    token.kind == "direction" and token.value not in _LOOSE_DIRECTIONS
                ):
                    strict.add(token.value)
                atoms = _atoms(token)
                bigrams.extend(atom for atom in atoms if _is_bigram(atom))
                (denied if reach > 0 else affirmed).update(atoms)
                reach -= 1
    return _Sides(frozenset(affirmed), frozenset(denied), frozenset(strict), tuple(bigrams))


def _atoms(token: claims.Token) -> list[str]:
    if token.kind == "run":
        pieces = [piece for piece in _FRAME_RUNS.split(token.value) if piece]
        return [piece[i : i + 2] for piece in pieces for i in range(max(len(piece) - 1, 1))]
    return [token.value.casefold()] if token.kind in ("word", "identifier") else []
