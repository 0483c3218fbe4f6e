"""Whether a content says no more than the words around its quote do. Pure."""

import re
from dataclasses import dataclass

from memories import claims
from memories.extraction.sentences import split

# Of the bigrams of a content's Chinese, so many must stand in the evidence: function words come and go
# between them.
MIN_BIGRAMS = 0.6

# Words that frame a claim without adding to it.
_FRAME = frozenset(
    re.findall(
        r"\w+",
        """
        use using used project team user users prefer prefers preferred decided decision agreed chosen choose
        rule convention should must required require requires want wants like likes default standard currently
        """,
    )
)
_FRAME_RUNS = re.compile(
    "项目|团队|用户|使用|采用|决定|偏好|喜欢|规则|约定|要求|希望|默认|目前|当前|应该|需要|必须|所有|统一|一律|本"
)
# Prepositions come and go with the wording; order and place do not.
_LOOSE_DIRECTIONS = frozenset(
    (
        "by",
        "from",
        "to",
        "into",
        "onto",
        "over",
        "under",
        "only",
        "按",
        "按照",
        "以",
        "根据",
        "从",
        "到",
        "往",
    )
)
_DENIED_REACH = 6


def entails(evidence: str, content: str) -> bool:
    """Whether `content` says nothing that `evidence` does not: its numbers, names and words occur there, what
    it denies is denied there and what it affirms is not, and its Chinese is covered.
    """
    said, claimed = _sides(evidence), _sides(content)
    if claimed.strict - said.strict:
        return False
    if claimed.denied & (said.affirmed - said.denied) or claimed.affirmed & (said.denied - said.affirmed):
        return False
    known = said.affirmed | said.denied
    words = {atom for atom in claimed.affirmed | claimed.denied if not _is_bigram(atom)}
    if not words <= known | _FRAME:
        return False
    bigrams = [atom for atom in claimed.bigrams if not _FRAME_RUNS.search(atom)]
    if not bigrams:
        return True
    characters = set("".join(said.bigrams))
    covered = sum(atom in known for atom in bigrams)
    return covered >= MIN_BIGRAMS * len(bigrams) and all(set(atom) <= characters for atom in bigrams)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The atoms of a text: words and identifiers, bigrams of Chinese; `strict` are those that never vary."""

    affirmed: frozenset[str]
    denied: frozenset[str]
    strict: frozenset[str]
    bigrams: tuple[str, ...]


def _is_bigram(atom: str) -> bool:
    return not atom.isascii() and len(atom) <= 2


def _sides(text: str) -> _Sides:
    affirmed: set[str] = set()
    denied: set[str] = set()
    strict: set[str] = set()
    bigrams: list[str] = []
    for sentence in split(text):
        for clause in sentence.clauses:
            reach = 0
            for token in claims.read(clause.text).tokens:
                if token.kind == "not":
                    reach = _DENIED_REACH
                    continue
                if token.kind == "number":
                    strict.add(token.value.split()[0])
                elif token.kind in ("compare", "switch") or (
                    token.kind == "direction" and token.value not in _LOOSE_DIRECTIONS
                ):
                    strict.add(token.value)
                atoms = _atoms(token)
                bigrams.extend(atom for atom in atoms if _is_bigram(atom))
                (denied if reach > 0 else affirmed).update(atoms)
                reach -= 1
    return _Sides(frozenset(affirmed), frozenset(denied), frozenset(strict), tuple(bigrams))


def _atoms(token: claims.Token) -> list[str]:
    if token.kind == "run":
        pieces = [piece for piece in _FRAME_RUNS.split(token.value) if piece]
        return [piece[i : i + 2] for piece in pieces for i in range(max(len(piece) - 1, 1))]
    return [token.value.casefold()] if token.kind in ("word", "identifier") else []
