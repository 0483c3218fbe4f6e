"""How much a sentence sounds like a statement of how things stand or are to be, where no word marks it as lasting.

Most of what a team agrees on is said plainly: “Images get tagged with the git sha”, 返回地址是义乌仓. `traits` says
what speaks for it and what against; `score` is the sum. Pure.
"""

import re
from dataclasses import dataclass

from memories.extraction import phrases
from memories.extraction.sentences import MASK
from memories.extraction.signs import FACT
from memories.extraction.traits import EN, KINDS, ZH

_CJK = re.compile(r"[\u3400-\u9fff]")
# Where nothing else is known of a sentence, and how few words weigh.
_BASE = {"en": -1.7, "zh": -0.2}
_SHORT = {"en": (18, -1.6), "zh": (7, -1.1)}
_MOMENT, _PAST, _LISTED, _AFTER_REQUEST, _ASKS, _WARM, _SELF = -3.0, -3.0, -0.4, -0.8, -0.8, -0.6, -1.0

# Words that are mostly quoted are somebody else's, or a text to be written somewhere.
_MOSTLY_QUOTED, _NOTHING = 0.5, -9.0

_PATTERNS = {
    tongue: [(weight, re.compile(pattern, re.IGNORECASE)) for weight, pattern in table.values()]
    for tongue, table in (("en", EN), ("zh", ZH))
}
# Of what kind it is, if it is one: the first that fits.
_KIND_PATTERNS = {
    tongue: [(kind, re.compile(pattern, re.IGNORECASE)) for kind, pattern in kinds]
    for tongue, kinds in KINDS.items()
}


@dataclass(frozen=True, slots=True)
class Setting:
    """What stands around a sentence in its message: whether it asks or requests something, speaks warmly, and how
    many of its other sentences speak of the speaker himself.
    """

    asks: bool = False
    after_request: bool = False
    warm: bool = False
    about_self: int = 0
    listed: bool = False


def score(words: str, setting: Setting) -> float:
    """Above 0, a masked sentence more likely stands for good than not."""
    if words.count(MASK) > _MOSTLY_QUOTED * len(words):
        return _NOTHING
    tongue = _tongue(words)
    shortest, short = _SHORT[tongue]
    total = _BASE[tongue] + (short if len(words) < shortest else 0)
    total += sum(weight for weight, pattern in _PATTERNS[tongue] if pattern.search(words))
    if phrases.MOMENT.search(words) and not phrases.LASTING.search(words):
        total += _MOMENT
    if phrases.PAST.search(words):
        total += _PAST
    total += _LISTED * setting.listed + _AFTER_REQUEST * setting.after_request + _ASKS * setting.asks
    return total + _WARM * setting.warm + _SELF * ((setting.about_self > 0) + (setting.about_self > 2))


def kind(words: str) -> str:
    """The type of memory that a statement makes."""
    return next((kind for kind, pattern in _KIND_PATTERNS[_tongue(words)] if pattern.search(words)), FACT)


def _tongue(words: str) -> str:
    """A sentence of names and paths is Chinese by the few characters between them."""
    return "zh" if len(_CJK.findall(words)) >= 2 else "en"
