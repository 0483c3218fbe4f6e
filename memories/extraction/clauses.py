"""What a clause does in its sentence, and which clauses around a sign belong to what it states. Pure."""

import re
from functools import lru_cache

from memories.extraction import dates, phrases
from memories.extraction.sentences import Piece, Sentence
from memories.extraction.signs import CONSTRAINT, Sign

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


def is_request(clause: str) -> bool:
    bare = phrases.OPENERS.sub("", clause)
    return phrases.REQUEST.search(bare) is not None or phrases.ASKED.search(clause) is not None


def is_question(sentence: Sentence) -> bool:
    return sentence.stop.startswith(("?", "？")) or phrases.QUESTION.search(sentence.plain) is not None


def is_for_the_moment(words: str) -> bool:
    # A day to come is written out, and holds beyond this moment.
    words = dates.without_coming_days(words)
    return phrases.MOMENT.search(words) is not None and phrases.LASTING.search(words) is None


@lru_cache(maxsize=2048)
def bare(clause: str) -> str:
    """The clause without the words before its matter."""
    return phrases.OPENERS.sub("", clause)


@lru_cache(maxsize=2048)
def _after_lead(clause: str) -> str:
    return phrases.DIRECTIVE_LEAD.sub("", bare(clause))


def matches(sign: Sign, clause: str) -> bool:
    if sign.leads:
        return sign.pattern.search(_after_lead(clause)) is not None
    if sign.pattern.search(clause) is not None:
        return True
    shorter = bare(clause)
    return shorter != clause and sign.pattern.search(shorter) is not None


def is_narrative(words: str) -> bool:
    bare = phrases.OPENERS.sub("", words)
    return any(
        veto.search(text) for veto in (phrases.NARRATIVE, phrases.NOTHING_ELSE) for text in (words, bare)
    )


def stretch_around(sentence: Sentence, sign: Sign) -> str | None:
    """The clauses around the sign that belong to it; None where it specifies a request before it."""
    clauses = sentence.clauses
    at = next((i for i, clause in enumerate(clauses) if matches(sign, clause.plain)), None)
    if at is None:
        # The sign spans a comma: take the sentence whole, if no clause of it asks for anything.
        whole = not any(is_request(clause.plain) for clause in clauses)
        return sentence.text if whole else None
    if is_request(clauses[at].plain) and not (
        sign.type == CONSTRAINT and phrases.LASTING.search(sentence.plain)
    ):
        return None
    if any(is_request(clause.plain) for clause in clauses[:at]) and not phrases.LASTING.search(
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
    """What stands before belongs to it, unless it is about the talk, the speaker or the task."""
    earlier = clauses[first - 1]
    if _is_aside(earlier) or is_request(earlier.plain) or phrases.QUESTION.search(earlier.plain):
        return False
    bare = phrases.OPENERS.sub("", earlier.plain)
    if phrases.CONDITION.search(bare):
        return True
    return not (is_narrative(bare) or is_for_the_moment(bare) or phrases.PAST.search(bare))


def stretch_of(sentence: Sentence) -> str | None:
    """The sentence without the chatter around what it states and the requests after it."""
    clauses = list(sentence.clauses)
    while clauses and _is_aside(clauses[0]):
        clauses.pop(0)
    while clauses and not _belongs_after(clauses[-1], lasting=False) and len(clauses) > 1:
        clauses.pop()
    if not clauses or is_request(clauses[0].plain):
        return None
    offset = sentence.start
    return sentence.text[clauses[0].start - offset : clauses[-1].end - offset]


def _is_aside(clause: Piece) -> bool:
    bare = phrases.OPENERS.sub("", clause.plain)
    return not bare or bool(_COMMA_CHATTER.search(clause.plain) or phrases.RETRACTION.search(clause.plain))


def _belongs_after(clause: Piece, *, lasting: bool) -> bool:
    return not (
        _COMMENT.search(clause.plain)
        or (is_request(clause.plain) and not lasting)
        or _COMMA_CHATTER.search(clause.plain)
        or phrases.QUESTION.search(clause.plain)
    )
