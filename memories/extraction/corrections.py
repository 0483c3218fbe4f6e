"""“No, it should be 5433”: of what, the turn before it says, if it says so clearly. Pure."""

import re
from collections.abc import Iterator

from memories.extraction import phrases
from memories.extraction.sentences import split
from memories.extraction.transcript import Transcript, Turn

_REJECTS = re.compile(
    r"^(?:(?:不对|不是这样|不|错了|搞错了|写错了"
    r"|no|nope|wrong|that's\s+wrong|incorrect|wait|actually|correction|sorry)(?:[\s，,。.!！:：—-]+|$))+",
    re.IGNORECASE,
)
_RIGHT = re.compile(
    r"^(?:(?:这里|这个|它)?(?:应该|应当|其实)?(?P<zh>是|用|叫|走|改成|改为|换成|为)\s*"
    r"|(?:(?:it|that|this|they)\s*(?:'s|\s+is|\s+are|\s+should\s+be|\s+must\s+be)|should\s+be|must\s+be)\s+"
    r"|(?P<en>(?:(?:it|that|this|we|they)\s+)?(?:should\s+)?uses?)\s+)(?P<rest>\S.*)$",
    re.IGNORECASE | re.DOTALL,
)
_NUMBER, _NAME = r"\d[\d.,:/]*(?:\s?[A-Za-z%]{1,4}\b)?", r"`?[A-Za-z][\w.+#/@-]*`?"
_SET_ZH = (
    r"(?:已经?|现在|目前|默认|统一|先|都)?"
    r"(?:设为|设成|设的是|改为|改成|用的是|配置为|填的是|填|是|为|用|叫|走|=|：|:)"
)
_SET_EN = r"(?:is\s+set\s+to|set\s+to|is|are|uses?|to|=|as|runs\s+on|listens\s+on)"
_SUBJECT_ZH = r"(?P<subject>[\u4e00-\u9fffA-Za-z][\u4e00-\u9fff\w ./-]{1,20}?)"
_SUBJECT_EN = r"(?P<named>[A-Za-z][\w'/.-]*(?:\s+[\w'/.-]+){0,5}?)"
_STATED = {
    kind: re.compile(
        rf"^{_SUBJECT_ZH}\s*{_SET_ZH}\s*(?P<value>{value})|^{_SUBJECT_EN}\s+{_SET_EN}\s+(?P<said>{value})",
        re.IGNORECASE,
    )
    for kind, value in (("number", _NUMBER), ("name", _NAME))
}
_BEFORE_SUBJECT = re.compile(
    r"^(?:(?:好的?|嗯|已经?|我们?|帮你|给你|这里|现在|把|将)[\s，,]*)+"
    r"|^(?:(?:ok|okay|done|sure|i(?:'ve|'ll|\s+have)?|we(?:'ve)?|have|set|changed|put|configured|updated|made|let's)\s+)+",
    re.IGNORECASE,
)
_NO_SUBJECT = re.compile(
    r"[我你您他她它这那]|的$|^用|^(?:it|that|this|they|there|i|you|we|he|she|which|what)\b", re.IGNORECASE
)


def stand_alone(said: str, turn: Turn, transcript: Transcript) -> str:
    """What a correction in the turn says, with the subject that the turn before it names.

    Empty where it has a subject of its own, or where not exactly one thing before it has a value of the kind.
    """
    right = _RIGHT.match(_REJECTS.sub("", " ".join(said.split())))
    if right is None:
        return ""
    rest = phrases.TAIL.sub("", right["rest"])
    kind = "number" if re.match(_NUMBER, rest) else "name" if re.match(_NAME, rest) else ""
    subject = _one_of(list(_subjects(kind, _before(turn, transcript)))) if kind else ""
    if not subject:
        return ""
    if re.search(r"[\u4e00-\u9fff]", subject):
        verb = {"改成": "改为", "换成": "改为"}.get(right["zh"] or "", right["zh"] or "是")
        return f"{subject}{verb} {rest}"
    return f"{subject[0].upper()}{subject[1:]} {'uses' if right['en'] else 'is'} {rest}"


def _before(turn: Turn, transcript: Transcript) -> str:
    """What was said last before the turn, by both sides."""
    earlier = [one for one in transcript.turns if one.seq < turn.seq]
    return f"{earlier[-1].readable}\n{earlier[-1].readable_reply}" if earlier else ""


def _one_of(stated: list[tuple[str, str]]) -> str:
    """The one thing that all speak of, by its fullest name: who repeats a value calls its subject by less of it."""
    if not stated:
        return ""
    subject, value = max(stated, key=lambda one: len(one[0]))
    for other, its_value in stated:
        shorter = other.casefold().removeprefix("the ")
        is_same = other.casefold() == subject.casefold()
        if not is_same and not (
            its_value == value
            and re.search(rf"(?:^|[\W\u4e00-\u9fff]){re.escape(shorter)}$", subject, re.IGNORECASE)
        ):
            return ""
    return subject


def _subjects(kind: str, text: str) -> Iterator[tuple[str, str]]:
    """What the clauses of a text give a value, and which."""
    for sentence in split(text):
        for clause in sentence.clauses:
            bare = _BEFORE_SUBJECT.sub("", phrases.OPENERS.sub("", clause.text))
            stated = _STATED[kind].match(bare)
            if stated is None:
                continue
            subject = (stated["subject"] or stated["named"]).strip()
            if len(subject) > 1 and not _NO_SUBJECT.search(subject):
                yield subject, (stated["value"] or stated["said"]).rstrip(".,:/").casefold()
