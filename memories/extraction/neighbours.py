"""Which live memories a content can have to do with: to compare it with all of a large project takes seconds.

Two contents that say the same share all their words, and two that contradict each other all but a value's. So a
content is compared with the few that are most alike, and with no others.
"""

import heapq
from collections.abc import Iterable
from functools import lru_cache

from memories.text import terms

# Compared with one content, at most.
MOST = 50


# A run looks at all keys and contents of its project twice, the second time with the project locked.
@lru_cache(maxsize=32_768)
def words(text: str) -> frozenset[str]:
    """What the text is about."""
    return frozenset(terms(text))


def nearest(content: str, others: Iterable[tuple[int, str]], *, most: int = MOST) -> list[int]:
    """Ids of those of `others` (id, content) that share words with `content`: at most `most`, most alike first."""
    wanted = words(content)
    found = []
    for id_, text in others:
        own = words(text)
        if shared := len(own & wanted):
            found.append((shared / (len(own) + len(wanted) - shared), id_))
    return [id_ for _, id_ in heapq.nlargest(most, found)]
