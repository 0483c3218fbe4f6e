"""The offline backend: what a human marked as lasting, in Chinese and English, word for word.

Deterministic and without a model. It trades recall for precision: a sentence is taken only when its own words
say that it outlasts the moment, and it is its own evidence. It reads the human's own speech and nothing else.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from memories import explicit
from memories.dedupe import content_hash
from memories.extraction import phrases, summary
from memories.extraction.backends import USER, Extracted, Proposal, Summarised, SummaryRequest
from memories.extraction.phrases import CONSTRAINT, DECISION, FACT, PITFALL, PREFERENCE, Sign
from memories.extraction.sentences import Piece, Sentence, mask, split
from memories.extraction.transcript import Transcript, Turn, language

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
_COMMA_CHATTER = re.compile(
    r"^(?:(?:好的?|嗯+|行|可以|是的|对|ok(?:ay)?|yes|no|sure|great|thanks|sorry|well|lol|哈+|不对|不是|错了|我说过的?|谢谢|辛苦了?|"
    r"(?:as\s+)?i\s+(?:said|told\s+you)(?:\s+\w+)?|我(?:之前|已经|刚才)?(?:看|想|查|试|说|讲)(?:了|过).{0,12}|(?:after|经过).{2,24}|for\s+(?:the\s+)?record)[\s!.]*)$",
    re.IGNORECASE,
)
# A remark about the statement, no part of it.
_COMMENT = re.compile(
    r"^(?:这|那)(?:个|点|条|样)?(?:大家|很|也|是|都|我)|^(?:that's|which\s+is|this\s+is|anyway)\b",
    re.IGNORECASE,
)
_EMPHASIS = re.compile(r"(?<!\w)(\*{1,3}|__)(\S(?:.{0,200}?\S)?)\1(?!\w)")
# A rule that opens with its verb lacks its own subject: the clause before it holds it.
_SUBJECTLESS = re.compile(
    r"^(?:都|也|就|必须|禁止|严禁|不得|不要|不能|一律|统一|只能|只用|只|务必|要|用|改用|否则|不然|会|就会|容易|且|并|而|then|always|never|use|must|do\s+not|don't|it|they|otherwise|or\s+else)",
    re.IGNORECASE,
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
            _proposal(turn, found.type, found.content, found.quote)
            for turn in transcript.citable
            for found in _read(turn.readable)
        ]
        return Extracted(candidates=tuple(candidates))

    def summarise(self, request: SummaryRequest) -> Summarised:
        return Summarised(summary.extractive(request))


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
                content = _cleaned(text)
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
    if known.turn_id != turn.id or known.quote_role != USER:
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
            requested = requested or _is_request(sentence.plain)
            # What a correction goes on to say may still be a statement.
        if header is not None and (sentence.listed or skipping):
            if sentence.listed and not skipping and listed < MAX_LISTED and _is_rule_of_list(sentence):
                listed += 1
                found.append(_Found(sentence, CONSTRAINT, _cleaned(sentence.text), sentence.text))
            if sentence.listed:
                continue
        header, skipping, listed = None, False, 0
        is_request = any(_is_request(clause.plain) for clause in sentence.clauses)
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
            mending or (is_request and _MEND.search(sentence.plain) is not None) or _is_question(sentence)
        )
        taken = _take(sentence, after_request=requested)
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
    signs = [sign for sign in phrases.SIGNS if sign.type == PITFALL and _matches(sign, item.sentence.plain)]
    return all(sign.weak for sign in signs)


def _is_request(clause: str) -> bool:
    return phrases.REQUEST.search(phrases.OPENERS.sub("", clause)) is not None


def _is_question(sentence: Sentence) -> bool:
    return sentence.stop.startswith(("?", "？")) or phrases.QUESTION.search(sentence.plain) is not None


def _may_last(sentence: Sentence, type_: str, sign: Sign | None = None) -> bool:
    """Whether nothing about the sentence says that it is a question, a guess, a joke, another's words, or for
    now.
    """
    masked = sentence.plain
    if _is_question(sentence):
        return False
    if any(veto.search(masked) for veto in (phrases.JOKE, phrases.REPORTED, phrases.NOT_FOR_KEEPS)):
        return False
    if phrases.HYPOTHETICAL.search(masked) and not (type_ == PITFALL and "可能" in masked):
        return False
    return not (phrases.PAST.search(masked) and not (sign is not None and sign.past))


def _is_for_the_moment(words: str) -> bool:
    return phrases.MOMENT.search(words) is not None and phrases.LASTING.search(words) is None


def _is_rule_of_list(sentence: Sentence) -> bool:
    return _may_last(sentence, CONSTRAINT) and not _is_for_the_moment(sentence.plain)


def _matches(sign: Sign, clause: str) -> bool:
    subject = phrases.DIRECTIVE_LEAD.sub("", phrases.OPENERS.sub("", clause)) if sign.leads else clause
    return sign.pattern.search(subject) is not None or (
        not sign.leads and sign.pattern.search(phrases.OPENERS.sub("", clause)) is not None
    )


def _take(sentence: Sentence, *, after_request: bool) -> _Found | None:
    """What the sentence states for good, if anything: the clauses that state it, as one content."""
    if len(sentence.text) < MIN_LENGTH:
        return None
    for sign in phrases.SIGNS:
        if not _matches(sign, sentence.plain) and not any(_matches(sign, c.plain) for c in sentence.clauses):
            continue
        if not _may_last(sentence, sign.type, sign):
            return None
        if sign.weak and after_request:
            continue
        chosen = _stretch(sentence, sign)
        if chosen is None:
            continue
        words = mask(chosen).replace("*", "")
        if _is_for_the_moment(words):
            continue
        if sign.type in (CONSTRAINT, FACT) and _is_narrative(words):
            continue
        content = _cleaned(chosen)
        if content:
            return _Found(sentence, sign.type, content, sentence.text)
    return None


def _is_narrative(words: str) -> bool:
    bare = phrases.OPENERS.sub("", words)
    return any(
        veto.search(text) for veto in (phrases.NARRATIVE, phrases.NOTHING_ELSE) for text in (words, bare)
    )


def _stretch(sentence: Sentence, sign: Sign) -> str | None:
    """The clauses around the sign that belong to it; None where it specifies a request before it."""
    clauses = sentence.clauses
    at = next((i for i, clause in enumerate(clauses) if _matches(sign, clause.plain)), None)
    if at is None:
        # The sign spans a comma: take the sentence whole, if no clause of it asks for anything.
        whole = not any(_is_request(clause.plain) for clause in clauses)
        return sentence.text if whole else None
    if _is_request(clauses[at].plain) and not (
        sign.type == CONSTRAINT and phrases.LASTING.search(sentence.plain)
    ):
        return None
    if any(_is_request(clause.plain) for clause in clauses[:at]) and not phrases.LASTING.search(
        clauses[at].plain
    ):
        return None
    first = last = at
    while first > 0 and _belongs_before(clauses, first, sign):
        first -= 1
    # After “from now on” an imperative is a rule, not a request.
    lasting = phrases.LASTING.search(clauses[at].plain) is not None
    while last + 1 < len(clauses) and _belongs_after(clauses[last + 1], lasting=lasting):
        last += 1
    offset = sentence.start
    return sentence.text[clauses[first].start - offset : clauses[last].end - offset]


def _belongs_before(clauses: tuple[Piece, ...], first: int, sign: Sign) -> bool:
    earlier, clause = clauses[first - 1], clauses[first]
    bare = phrases.OPENERS.sub("", earlier.plain)
    if not bare or _COMMA_CHATTER.search(earlier.plain) or phrases.RETRACTION.search(earlier.plain):
        return False
    body = phrases.OPENERS.sub("", clause.plain)
    return bool(
        (sign.type == PITFALL and sign.weak)
        or phrases.CONDITION.search(bare)
        or _SUBJECTLESS.search(body)
        or any(sign.pattern.search(earlier.plain) for sign in phrases.SIGNS)
    )


def _belongs_after(clause: Piece, *, lasting: bool) -> bool:
    return not (
        _COMMENT.search(clause.plain)
        or (_is_request(clause.plain) and not lasting)
        or _COMMA_CHATTER.search(clause.plain)
        or phrases.QUESTION.search(clause.plain)
    )


def _type_of(text: str, *, default: str) -> str:
    """The type whose sign the text bears first; its own veto words do not matter here."""
    masked = mask(text)
    return next(
        (sign.type for sign in phrases.SIGNS if sign.type != FACT and _matches(sign, masked)), default
    )


def _cleaned(text: str) -> str:
    """The statement without greetings, joke marks, “from now on”, closing particles and full stop."""
    content = _EMPHASIS.sub(r"\2", " ".join(text.split()))
    for _ in range(3):
        shorter = phrases.DIRECTIVE_LEAD.sub("", phrases.OPENERS.sub("", content))
        if shorter == content:
            break
        content = shorter
    content = phrases.TAIL.sub("", content)
    if content.startswith("的"):
        content = content[1:]
    return content.strip(" ,，:：")
