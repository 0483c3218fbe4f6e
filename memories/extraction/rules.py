"""The offline backend: what a human stated for good, in Chinese and English, word for word.

Deterministic and without a model. It trades recall for precision: a sentence is taken where its own words mark it
as lasting (`signs`), or where more speaks for it than against it (`standing`), and it is its own evidence. It
reads the human's own speech and nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memories import explicit
from memories.dedupe import content_hash
from memories.extraction import clauses, corrections, phrases, standing, summary
from memories.extraction.backends import USER, Extracted, Proposal, Summarised, SummaryRequest
from memories.extraction.procedures import PROCEDURE, procedures
from memories.extraction.sentences import Sentence, mask, split
from memories.extraction.signs import CONSTRAINT, DECISION, FACT, PITFALL, PREFERENCE, SIGNS, Sign
from memories.extraction.transcript import SUCCEEDED, Transcript, Turn, language

MIN_LENGTH, MAX_LENGTH = 4, 300
# A longer message is a document: its author pasted it more likely than said it.
MAX_MESSAGE = 6_000
MAX_LISTED = 8

_IMPORTANCE = {CONSTRAINT: 4, DECISION: 3, PREFERENCE: 3, PITFALL: 3, FACT: 3}
_UNIVERSAL = re.compile(
    r"所有|一律|统一|任何|永远|每[个次条张]|凡是|严?禁|\b(?:always|never|all|every|any|each)\b", re.IGNORECASE
)
_FILE = re.compile(
    r"(?<![\w:/.@])(?:[\w@.*-]+/)*[\w@*-]+\.(?:py|ts|tsx|js|jsx|vue|md|toml|ya?ml|json|css|scss|sql|go|rs|java|kt|html)\b|(?<![\w:/.@])(?:src|app|lib|tests?|docs|packages)/[\w@./*-]+"
)
_KEYWORD = re.compile(
    r"`([^`\n]{2,40})`|(?<![\w/])([A-Za-z][\w.+#-]*[A-Z_\d.+#][\w.+#-]*|[A-Z][a-zA-Z]{2,})(?![\w/])"
)
# Underscores embrace names, too: only several words between them are emphasised.
_EMPHASIS = re.compile(
    r"(?<!\w)(\*{1,3})(\S(?:.{0,200}?\S)?)\1(?!\w)|(?<!\w)__(\S{1,80}\s.{0,200}?\S)__(?!\w)"
)


@dataclass(frozen=True, slots=True)
class _Found:
    sentence: Sentence
    type: str
    content: str
    quote: str


class Rules:
    """`extract` and `summarise` call nobody and are the same for the same talk."""

    name = "rules"
    model = ""
    prompt_version = "1"

    def extract(self, transcript: Transcript) -> Extracted:
        candidates = [
            _proposal(
                turn,
                found.type,
                corrections.stand_alone(found.quote, turn, transcript) or found.content,
                found.quote,
            )
            for turn in transcript.citable
            for found in _read(turn.readable)
        ]
        return Extracted(candidates=(*candidates, *_procedures(transcript)))

    def summarise(self, request: SummaryRequest) -> Summarised:
        return Summarised(summary.extractive(request))


def _procedures(transcript: Transcript) -> Iterator[Proposal]:
    if not transcript.completed:
        return
    warnings = {
        turn.id: [found.content for found in _read(turn.readable) if found.type == PITFALL]
        for turn in transcript.turns
        if turn.status == SUCCEEDED
    }
    yield from procedures(transcript, warnings)


def signal_proposals(transcript: Transcript, own: tuple[Proposal, ...] = ()) -> tuple[Proposal, ...]:
    """`own`, and every directive and correction of the citable turns that it misses, whatever the backend
    was.

    A signal that already became an Instruction lends its id to the proposal it stands for.
    """
    merged = list(own)
    for turn in transcript.citable:
        for kind, text, instruction_id in _signals(turn):
            place = next((i for i, known in enumerate(merged) if _covers(known, turn, text)), None)
            if place is None:
                type_ = _type_of(text, default=CONSTRAINT if kind == "directive" else FACT)
                content = (
                    kind == "correction" and corrections.stand_alone(text, turn, transcript)
                ) or _cleaned(text)
                if content:
                    merged.append(
                        replace(_proposal(turn, type_, content, text), instruction_id=instruction_id)
                    )
            elif instruction_id is not None and merged[place].instruction_id is None:
                merged[place] = replace(merged[place], instruction_id=instruction_id)
    return tuple(merged)


def _signals(turn: Turn) -> Iterator[tuple[str, str, int | None]]:
    by_text = {_squeezed(signal.content): signal for signal in turn.signals}
    for utterance in explicit.read(turn.human_text).utterances:
        if utterance.kind in ("directive", "correction"):
            known = by_text.pop(_squeezed(utterance.text), None)
            yield utterance.kind, turn.message[utterance.start : utterance.end], known.id if known else None
    for signal in by_text.values():
        yield signal.kind, signal.content, signal.id


def _covers(known: Proposal, turn: Turn, text: str) -> bool:
    """Whether a proposal already stands for the sentence: one holds the other's words, or they clean to the
    same.
    """
    if known.turn_id != turn.id or known.quote_role != USER or known.type == PROCEDURE:
        return False
    mine, theirs = _squeezed(text), _squeezed(known.quote)
    return mine in theirs or theirs in mine or content_hash(_cleaned(text)) == content_hash(known.content)


def _squeezed(text: str) -> str:
    return re.sub(r"[\s，,。.！!；;：:]+", "", text).casefold()


def _proposal(turn: Turn, type_: str, content: str, quote: str) -> Proposal:
    keywords = dict.fromkeys(word for match in _KEYWORD.finditer(content) for word in match.groups() if word)
    return Proposal(
        type=type_,
        content=content,
        quote=quote,
        turn_id=turn.id,
        importance=_IMPORTANCE[type_],
        keywords=tuple(keywords)[:6],
        files=tuple(dict.fromkeys(_FILE.findall(content)))[:4],
        always=type_ == CONSTRAINT and _UNIVERSAL.search(content) is not None,
    )


def _read(text: str) -> list[_Found]:
    """What a message states for good, in order."""
    sentences = split(text)
    if len(text.strip()) > MAX_MESSAGE or _is_exposition(sentences):
        return []
    found: list[_Found] = []
    requested = mending = False
    header: Sentence | None = None
    listed = 0
    skipping = False
    for sentence in sentences:
        if len(sentence.text) > MAX_LENGTH:
            continue
        if phrases.RETRACTION.search(sentence.plain):
            if found and not text[found[-1].sentence.end : sentence.start].strip(" \n。.！!；;，,…～~"):
                found.pop()
            requested = requested or clauses.is_request(sentence.plain)
            # What a correction goes on to say may still be a statement.
        if header is not None and (sentence.listed or skipping):
            if sentence.listed and not skipping and listed < MAX_LISTED and _is_rule_of_list(sentence):
                listed += 1
                found.append(_Found(sentence, CONSTRAINT, _cleaned(sentence.text), sentence.text))
            if sentence.listed:
                continue
        header, skipping, listed = None, False, 0
        is_request = (
            any(clauses.is_request(clause.plain) for clause in sentence.clauses)
            or phrases.TASK_HEADER.match(sentence.plain) is not None
        )
        if sentence.plain.rstrip().endswith((":", "：")):
            if (
                phrases.RULES_HEADER.search(sentence.plain)
                and not is_request
                and not requested
                and _is_rule_of_list(sentence)
            ):
                header = sentence
                continue
            if is_request:
                header, skipping = sentence, True
        mending = (
            mending
            or (is_request and _MEND.search(sentence.plain) is not None)
            or clauses.is_question(sentence)
        )
        taken = _take(sentence, after_request=requested) or _plain(
            sentence, _setting(sentences, sentence, after_request=requested)
        )
        if taken is not None:
            found.append(taken)
        requested = requested or is_request
    if mending:
        # Where help is asked with a fault, what "breaks when …" is the fault, not a lesson from it.
        found = [item for item in found if item.type != PITFALL or not _is_told_by_effect(item)]
    return [item for item in found if MIN_LENGTH <= len(item.content) <= MAX_LENGTH]


def _is_exposition(sentences: list[Sentence]) -> bool:
    """Long sentences in which nobody says I, we or you: an article, not somebody speaking."""
    prose = [sentence.plain for sentence in sentences if not sentence.listed]
    if len(prose) < 3 or any(_SPEAKER.search(sentence) for sentence in prose):
        return False
    return sum(map(len, prose)) > len(prose) * (_LONG_ZH if language("".join(prose)) == "zh" else _LONG_EN)


_SPEAKER = re.compile(r"[我你您咱请]|\b(?:i|we|you|our|my|your|us|me|let's|please)\b", re.IGNORECASE)
# Characters a sentence, on average.
_LONG_ZH, _LONG_EN = 28, 90
_MEND = re.compile(
    r"修|查|排查|解决|看|帮|处理|fix|look|check|debug|investigate|solve|help|why", re.IGNORECASE
)


def _is_told_by_effect(item: _Found) -> bool:
    signs = [sign for sign in SIGNS if sign.type == PITFALL and clauses.matches(sign, item.sentence.plain)]
    return all(sign.weak for sign in signs)


def _may_last(sentence: Sentence, type_: str, sign: Sign | None = None) -> bool:
    """Whether nothing about the sentence says that it is a question, a guess, a joke, another's words, or for
    now.
    """
    masked = sentence.plain
    if clauses.is_question(sentence):
        return False
    if any(veto.search(masked) for veto in (phrases.JOKE, phrases.REPORTED, phrases.NOT_FOR_KEEPS)):
        return False
    if phrases.HYPOTHETICAL.search(masked) and not (type_ == PITFALL and "可能" in masked):
        return False
    return not (phrases.PAST.search(masked) and not (sign is not None and sign.past))


def _is_rule_of_list(sentence: Sentence) -> bool:
    return _may_last(sentence, CONSTRAINT) and not clauses.is_for_the_moment(sentence.plain)


def _take(sentence: Sentence, *, after_request: bool) -> _Found | None:
    """What the sentence states for good, if anything: the clauses that state it, as one content."""
    if len(sentence.text) < MIN_LENGTH:
        return None
    for sign in SIGNS:
        if not clauses.matches(sign, sentence.plain) and not any(
            clauses.matches(sign, c.plain) for c in sentence.clauses
        ):
            continue
        if not _may_last(sentence, sign.type, sign):
            return None
        if sign.weak and after_request:
            continue
        chosen = clauses.stretch_around(sentence, sign)
        if chosen is None:
            continue
        words = mask(chosen).replace("*", "")
        if clauses.is_for_the_moment(words):
            continue
        if sign.type in (CONSTRAINT, FACT) and clauses.is_narrative(words):
            continue
        content = _cleaned(chosen)
        if content:
            return _Found(sentence, sign.type, content, sentence.text)
    return None


def _plain(sentence: Sentence, setting: standing.Setting) -> _Found | None:
    """What a sentence states for good without any word that says so."""
    if len(sentence.text) < MIN_LENGTH or clauses.is_question(sentence):
        return None
    if any(veto.search(sentence.plain) for veto in _NO_STATEMENT):
        return None
    chosen = clauses.stretch_of(sentence)
    if chosen is None:
        return None
    words = phrases.DIRECTIVE_LEAD.sub(
        "", phrases.OPENERS.sub("", mask(chosen).replace("*", "").replace("__", ""))
    )
    if clauses.is_narrative(words) and standing.kind(words) != PREFERENCE:
        return None
    if standing.score(words, setting) <= 0:
        return None
    content = _cleaned(chosen)
    return _Found(sentence, standing.kind(words), content, sentence.text) if content else None


_NO_STATEMENT = (phrases.JOKE, phrases.REPORTED, phrases.NOT_FOR_KEEPS, phrases.HYPOTHETICAL)
_SELF = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|me)\b|我(?!们|方|司)", re.IGNORECASE)
_WARM = re.compile(
    r"[!！]|\b(?:thanks|thank|great|perfect|good|love|sounds|excited|ready|hi|hello|hey)\b|谢|辛苦|不错|太好|早上好|你好",
    re.IGNORECASE,
)


def _setting(sentences: list[Sentence], sentence: Sentence, *, after_request: bool) -> standing.Setting:
    others = [other for other in sentences if other is not sentence]
    return standing.Setting(
        asks=any(clauses.is_question(each) for each in sentences),
        after_request=after_request,
        warm=any(_WARM.search(other.text) for other in others),
        about_self=sum(_SELF.search(other.plain) is not None for other in others),
        listed=sentence.listed,
    )


def _type_of(text: str, *, default: str) -> str:
    """The type whose sign the text bears first; its own veto words do not matter here."""
    masked = mask(text)
    return next((sign.type for sign in SIGNS if sign.type != FACT and clauses.matches(sign, masked)), default)


def _cleaned(text: str) -> str:
    """The statement without greetings, joke marks, “from now on”, closing particles and full stop."""
    content = _EMPHASIS.sub(r"\2\3", " ".join(text.split()))
    for _ in range(3):
        shorter = phrases.DIRECTIVE_LEAD.sub("", phrases.OPENERS.sub("", content))
        if shorter == content:
            break
        content = shorter
    content = phrases.TAIL.sub("", content)
    if content.startswith("的"):
        content = content[1:]
    return content.strip(" ,，:：")
