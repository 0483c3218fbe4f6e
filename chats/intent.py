"""Pure: what kind of message this is, by rules that are named in the answer.

The intent adds to a context or narrows its recall; it never takes the topic's window away.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum

from memories.text import terms


class Kind(StrEnum):
    CONTINUE = "continue"
    LOOKUP = "lookup"
    NEW_TASK = "new_task"


@dataclass(frozen=True, slots=True)
class Intent:
    """`contentless`: nothing in the message to recall on. `greeting`: only the always tier belongs with it."""

    value: Kind
    rule: str
    contentless: bool = False
    greeting: bool = False


_EDGES = " \t\n。．.!！?？~～,，、…:：;；)）(（\"'“”‘’👍🙏😊🎉"


def _phrases(text: str) -> frozenset[str]:
    """Phrases, parted by bars and line ends."""
    return frozenset(phrase for line in text.splitlines() for phrase in line.strip().split("|") if phrase)


_GREETINGS = _phrases(
    """
    hi|hello|hey|hey there|hi there|hello there|good morning|good afternoon|good evening|morning|thanks|thank you
    thanks a lot|thank you very much|thx|ty|cheers|bye|goodbye|great|nice|cool|perfect|awesome|well done
    你好|您好|嗨|哈喽|早|早上好|上午好|中午好|下午好|晚上好|大家好|在吗|谢谢|谢谢你|谢谢啦|多谢|感谢|辛苦了|辛苦
    再见|拜拜|太好了|很好|不错|棒|太棒了|赞|厉害|你好啊|您好啊
    """
)
_CONTINUATIONS = _phrases(
    """
    continue|go on|go ahead|proceed|keep going|carry on|next|yes|yes please|yep|yeah|ok|okay|ok go|sure|do it
    please continue|please go on|and then|more|right|fine|sounds good|lgtm|ok continue|yes continue
    继续|继续吧|请继续|接着|接着来|接着做|往下|下一步|然后呢|然后|好|好的|好吧|行|可以|嗯|嗯嗯|是|是的|对|没错|同意
    开始|开始吧|就这样|就这么办|ok继续|好的继续|好继续|继续做|继续写|再来|再来一个|没问题
    """
)
_LOOKUP = re.compile(
    r"之前|上次|以前|前面(?:说|提|定)|当时|早先|曾经|我们(?:定|说|选|用)的(?:是)?什么|"
    r"\b(?:what|which|where|when|why|how)\b.{0,60}"
    r"\b(?:did we|had we|was it|were we|we (?:set|use|decide|agree|choose|pick)"
    r"|last time|earlier|before|previously)\b|\b(?:last time|previously|as (?:we )?(?:said|agreed|discussed)"
    r"|remind me|do you remember)\b|你还?记得",
    re.IGNORECASE | re.DOTALL,
)
_BACK_REFERENCE = re.compile(
    r"^(?:那|那么|所以|另外|还有|再|然后|接着|继续|改成|换成|把它|它|这个|这里|刚才|上面|以上)|"
    r"^(?:and|also|then|now|but|so|it|that|this|these|those|instead|same|continue|keep)\b",
    re.IGNORECASE,
)


def classify(message: str, *, first_in_topic: bool, override: str | None = None) -> Intent:
    """The intent of a message; `override` is the caller's own word for it."""
    bare = message.strip(_EDGES).casefold()
    is_greeting = bare in _GREETINGS
    is_contentless = is_greeting or bare in _CONTINUATIONS or not terms(message)
    if override is not None:
        return Intent(Kind(override), "caller", contentless=is_contentless, greeting=is_greeting)
    if is_greeting:
        return Intent(Kind.CONTINUE, "greeting", contentless=True, greeting=True)
    if is_contentless:
        return Intent(Kind.CONTINUE, "contentless_continuation", contentless=True)
    if _LOOKUP.search(message[:2000]):
        return Intent(Kind.LOOKUP, "asks_for_the_past")
    if _BACK_REFERENCE.match(message.lstrip()):
        return Intent(Kind.CONTINUE, "back_reference")
    if first_in_topic:
        return Intent(Kind.NEW_TASK, "first_in_topic")
    return Intent(Kind.NEW_TASK, "no_back_reference")
