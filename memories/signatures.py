"""Signatures: digests by which a text that is kept no longer is known again in nearly the same words.

MinHash over shingles of one and two words (Broder 1997), behind a digest of what must be equal.
"""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from memories.claims import HARD, reworded
from memories.text import fold

_PERMUTATIONS: Final = 32
_PRIME: Final = (1 << 61) - 1
# Of 32 minima, some 27 agree where 85 % of the shingles do; other subjects in the same frame share fewer.
_SIMILAR: Final = 0.85


def _digest(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=7).digest())


_MULTIPLIERS: Final = tuple(_digest(f"multiplier {i}") | 1 for i in range(_PERMUTATIONS))
_SHIFTS: Final = tuple(_digest(f"shift {i}") for i in range(_PERMUTATIONS))


def signature(text: str) -> tuple[int, ...]:
    """A digest of what must be equal (numbers, identifiers, polarity, …), then minima over shingles.

    Similar texts share most elements, position by position: keyed one by one they stay comparable.
    """
    claim = reworded(text)
    hard = _digest("\x1f".join(f"{t.kind}\x1e{t.value}" for t in claim.tokens if t.kind in HARD))
    words = [value for _, value in claim.key]
    shingles = set(words) | {f"{a}\x1f{b}" for a, b in pairwise(words)} or {" ".join(fold(text).split())}
    digests = [_digest(shingle) for shingle in shingles]
    minima = (min((m * d + s) % _PRIME for d in digests) for m, s in zip(_MULTIPLIERS, _SHIFTS, strict=True))
    return (hard, *minima)


def similar_signature(a: Sequence[int | str], b: Sequence[int | str]) -> bool:
    """Whether two signatures (or their keyed forms) belong to texts that say nearly the same."""
    if len(a) != len(b) or not a or a[0] != b[0]:
        return False
    equal = sum(x == y for x, y in zip(a[1:], b[1:], strict=True))
    return equal >= _SIMILAR * (len(a) - 1)
