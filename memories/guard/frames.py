"""Frames: what a sentence speaks of when it is aimed at a model, whichever way it is put."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from memories.guard import lexicon
from memories.guard.lexicon import BITS, Mention


@dataclass(frozen=True, slots=True)
class Frame:
    code: str
    weight: int
    parts: tuple[int, ...]  # one mention of each
    unless: int = 0
    wide: bool = False  # the sentence before counts, too
    refusing: bool = False  # "reject", "block" are what it is about, no negation


def _frame(
    code: str, weight: int, parts: str, unless: str = "", *, wide: bool = False, refusing: bool = False
) -> Frame:
    return Frame(
        code,
        weight,
        tuple(_any(part) for part in parts.split()),
        _any(unless) if unless else 0,
        wide,
        refusing,
    )


def _any(names: str) -> int:
    mask = 0
    for name in names.split("|"):
        mask |= BITS[name]
    return mask


# fmt: off
FRAMES: Final = (
    _frame("override", 2, "dismiss guide|loose_guide your_config"),
    _frame("override", 2, "dismiss guide prior you|model"),
    _frame("override", 2, "dismiss guide maker you|model|me|priority"),
    _frame("override", 2, "dismiss guide|prior priority"),
    _frame("override", 2, "priority guide|loose_guide|maker your_config"),
    _frame("override", 2, "priority self guide|maker|model|you"),
    _frame("override", 2, "priority model|you dismiss|maker|prior"),
    _frame("override", 2, "dismiss prior your_config"),
    _frame("override", 2, "dismiss prior guide self|all|role"),
    _frame("override", 2, "disobey prior|your_config"),
    _frame("override", 2, "dismiss maker your_config|model"),
    _frame("override", 2, "me dismiss your_config|guide|prior"),
    _frame("override", 2, "license your_config"),
    _frame("override", 2, "priority guide dismiss"),
    _frame("persona", 2, "free role"),
    _frame("persona", 2, "free you|model"),
    _frame("persona", 2, "free_from guide you|model|role"),
    _frame("override", 2, "dismiss maker gave"),
    _frame("override", 2, "dismiss human self|priority obey|priority"),
    _frame("override", 2, "obey self human"),
    _frame("override", 2, "priority self all|human"),
    _frame("remote", 2, "outlet obey"),
    _frame("persona", 2, "role dismiss guide|maker"),
    _frame("concealment", 2, "sly you|model|human|self|conceal"),
    _frame("concealment", 2, "conceal self"),
    _frame("concealment", 2, "conceal human self|you", "feature"),
    _frame("concealment", 2, "sly reply|private"),
    _frame("concealment", 2, "sly conceal|disable"),
    _frame("exfiltration", 2, "send secret|private outlet"),
    _frame("exfiltration", 2, "send secret human trigger|all", "feature"),
    _frame("exfiltration", 2, "send mine private|secret|all"),
    _frame("exfiltration", 2, "send all shady"),
    _frame("exfiltration", 2, "show secret you|me trigger|all"),
    _frame("exfiltration", 2, "show|send secret|private hijack"),
    _frame("prompt_leak", 2, "show hidden_text"),
    _frame("prompt_leak", 2, "show prompt dismiss"),
    _frame("propagation", 2, "keep self everywhere"),
    _frame("propagation", 2, "keep self model"),
    _frame("authority", 2, "office license you|model|me|all", wide=True),
    _frame("authority", 2, "office license secret|private", wide=True),
    _frame("authority", 2, "office license shield|guide"),
    _frame("authority", 2, "office dismiss|disable guide|shield"),
    _frame("danger", 2, "disable shield all|sly|trigger|slant|you|model|conceal|memory"),
    _frame("danger", 2, "disable shield human", "feature"),
    _frame("danger", 2, "disable tests claim"),
    _frame("danger", 2, "disable tests all model"),
    _frame("remote", 2, "act|fetch shady all|trigger|sly"),
    _frame("danger", 2, "disable tests deceive|slant"),
    _frame("danger", 2, "act|keep|disable danger trigger|all|sly|slant|self"),
    _frame("danger", 2, "disable shield danger|no_ask"),
    _frame("approval", 2, "consent risky all|no_ask|trigger", "feature"),
    _frame("approval", 2, "consent risky human", "feature"),
    _frame("approval", 2, "consent obey"),
    _frame("approval", 2, "no_ask risky human|you|all", "feature"),
    _frame("deceit", 2, "deceive slant"),
    _frame("deceit", 2, "slant conceal|claim"),
    _frame("deceit", 2, "rival smear claim|ask|show|all"),
    _frame("concealment", 2, "conceal sly"),
    _frame("deceit", 2, "deceive all|trigger|you|model"),
    _frame("deceit", 2, "slant show|act|push all|trigger|you|model|human"),
    _frame("phishing", 2, "ask human personal"),
    _frame("phishing", 2, "ask|push human shady"),
    _frame("tampering", 2, "wipe memory|self target", "feature", refusing=True),
    _frame("fake_turn", 2, "faked consent|risky|secret|license|dismiss|danger|private|free|disable|no_ask", wide=True),
    _frame("pretext", 2, "pretext guide|comply|free|hidden_text dismiss|comply|show|free", wide=True),
    _frame("steering", 2, "trigger push deceive|slant|shady"),
    _frame("steering", 2, "trigger human shady"),
    _frame("steering", 2, "push|keep|send outlet reply all"),
    _frame("steering", 2, "push outlet praise all|trigger|you"),
    _frame("steering", 2, "account digits trigger|human|act|all|wipe"),
    # Two concepts that ordinary rules never bring together.
    _frame("override", 2, "dismiss your_config"),
    _frame("override", 2, "your_config prior|priority|self|disable|risky"),
    _frame("concealment", 2, "conceal you", "feature"),
    _frame("concealment", 2, "sly all|wipe|risky|target"),
    _frame("prompt_leak", 2, "hidden_text you|send|prior|dismiss|license|comply|pretext"),
    _frame("danger", 2, "danger all|shield|outlet", "feature"),
    _frame("remote", 2, "shady all|send|risky|human|push"),
    _frame("approval", 2, "no_ask consent|human|model|all", "feature"),
    _frame("deceit", 2, "deceive human|target|claim|push|disable|show"),
    _frame("deceit", 2, "slant all|ask"),
    _frame("fake_turn", 2, "faked human|me|you"),
)
# fmt: on

_BLOCK: Final = BITS["report"]
_NEGATION: Final = BITS["negation"]
_DENIAL: Final = BITS["negation"] | BITS["denial"]


def find(plain: str) -> Iterator[tuple[Frame, int, int]]:
    """The frames that hold in a sentence, with the stretch that their mentions cover."""
    most = lexicon.reach(plain)
    likely: list[Frame] = []
    for frame in FRAMES:
        for part in frame.parts:
            if not part & most:
                break
        else:
            likely.append(frame)
    if not likely:
        return
    before: list[Mention] = []
    for mentions in lexicon.sentences(plain):
        spoken = _said(mentions)
        both = spoken | _said(before)
        for frame in likely:
            wide = frame.wide
            if (both if wide else spoken) & (frame.unless | _BLOCK):
                continue
            for part in frame.parts:
                if not part & (both if wide else spoken):
                    break
            else:
                where = before + mentions if wide else mentions
                if _holds(frame, where):
                    yield frame, where[0].start, where[-1].end
        before = mentions


def _said(mentions: list[Mention]) -> int:
    spoken = 0
    for mention in mentions:
        spoken |= mention.concepts
    return spoken


def _holds(frame: Frame, mentions: list[Mention]) -> bool:
    if frame.code == "approval" and not _are_apart(mentions, *frame.parts[:2]):
        return False
    return not _is_negated(mentions, frame.parts[0], refusing=frame.refusing)


def _are_apart(mentions: list[Mention], first: int, second: int) -> bool:
    """Whether two different words stand for the two concepts."""
    ones = [at for at, mention in enumerate(mentions) if mention.concepts & first]
    others = [at for at, mention in enumerate(mentions) if mention.concepts & second]
    return len(ones) > 1 or len(others) > 1 or ones != others


def _is_negated(mentions: list[Mention], action: int, *, refusing: bool) -> bool:
    """Whether every mention of the action stands behind a negation of its clause."""
    clause, denied = -1, False
    for mention in mentions:
        if mention.clause != clause:
            clause, denied = mention.clause, False
        if mention.concepts & action and not denied and (refusing or not mention.concepts & _NEGATION):
            return False
        denied = denied or bool(mention.concepts & _DENIAL)
    return True
