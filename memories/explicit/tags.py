"""Tags behind a trigger: the type and the key that 记住（偏好）： and 记住[api-base]： name."""

import re
from typing import Final

from memories.explicit.reading import MemoryType

_TAG = re.compile(r"[\[(]([^\[\]()\n]{0,100})[\])]")
_TYPES: Final[tuple[tuple[re.Pattern[str], MemoryType], ...]] = (
    (re.compile("偏好|喜好|习惯|preferences?|pref"), "preference"),
    (re.compile("约束|规则|规范|规定|要求|constraints?|rules?"), "constraint"),
    (re.compile("决策|决定|decisions?"), "decision"),
    (re.compile("事实|信息|facts?"), "fact"),
    (re.compile("踩坑|坑点?|教训|注意|pitfalls?|gotchas?"), "pitfall"),
    (re.compile("流程|步骤|做法|procedures?|how-?to"), "procedure"),
)
_SLUG = re.compile(r"[a-z0-9][\w.-]{0,79}")


def read(tags: str) -> tuple[MemoryType | None, str, tuple[int, int]]:
    """The type and the key that `tags` name, and the key's span in it; (0, 0) where there is no key."""
    type_: MemoryType | None = None
    key, span = "", (0, 0)
    for tag in _TAG.finditer(tags):
        word = tag[1].strip()
        known = next((name for pattern, name in _TYPES if pattern.fullmatch(word)), None)
        if known:
            type_ = known
        elif tag[0][0] == "[" or (_SLUG.fullmatch(word) and not key):
            key, span = word, tag.span(1)
    return type_, key, span
