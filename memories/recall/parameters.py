"""The one set of numbers that recall is tuned by; the same for every project and language."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

PARTS: Final = ("lexical", "files", "area", "importance", "type", "authority", "recency")


def _fixed(**values: float) -> Mapping[str, float]:
    return MappingProxyType(values)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameters:
    """Weights sum to 1, so that a score lies between 0 and 1."""

    # Weights of the parts.
    lexical: float = 0.64
    files: float = 0.10
    area: float = 0.10
    importance: float = 0.03
    type: float = 0.01
    authority: float = 0.03
    recency: float = 0.09

    # BM25, with the words of key and keywords counted more than those of the content. Memories are short: what is
    # longer says more, rather than the same with more words, so length is held against it only a little.
    k1: float = 1.2
    b: float = 0.3
    key_weight: float = 3.0
    keyword_weight: float = 2.0
    # Rarity of a word is never judged among fewer memories than this.
    least_crowd: int = 30
    # "ecommerce-api" is found by its parts already: the whole only tips the scales.
    compound_weight: float = 0.15
    # What is said by an Instruction of the topic counts less than the message itself.
    instruction_weight: float = 0.5
    # A message may be long: its two ends are read, and its rarest terms decide.
    max_query_characters: int = 20_000
    max_query_terms: int = 96

    # Lexical value = BM25 / (best BM25 + this): where even the best match is weak, all values stay low.
    saturation: float = 1.0
    # The least lexical value, and the least files value, that counts as evidence.
    lexical_floor: float = 0.45
    files_floor: float = 0.5

    # Days until what was said or confirmed counts half as fresh.
    half_fresh_days: float = 30.0
    types: Mapping[str, float] = field(
        default_factory=lambda: _fixed(
            constraint=1.0, decision=0.8, pitfall=0.8, preference=0.6, procedure=0.6, fact=0.4
        )
    )

    # The always tier.
    always_items: int = 8
    always_tokens: int = 2000


DEFAULT: Final = Parameters()
