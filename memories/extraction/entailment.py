"""Whether a content says neither more nor other than the words around its quote do. Pure.

Both are read as parts: clauses, cut where a conjunction begins another statement. A content stands on parts that it
takes whole, so that it can drop no condition, no "most" and no "legacy" from them; of one part that comes before these
it may take the beginning alone: "the export starts at 2 and keeps 14 copies" says that the export keeps 14 copies.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memories import claims
from memories.extraction import phrases
from memories.extraction.sentences import Piece, split

# Words that frame a claim without adding to it, and may come and go.
_FRAMING = re.findall(
    r"\w+",
    """
        use using used project team user users decided decision agreed chosen choose chose
        rule convention should must required require requires default standard currently
        now already also just really actually basically simply still then please let lets go with ok well all both
        each every here there going everything everyone too very quite as such again finally mainly generally
        will shall put keep done in on at for and or but that which who it they them their its one i me my
        """,
)
_FRAME_RUNS = re.compile(
    "项目|团队|用户(?!表|数|名|组|量|端|画像|体验|协议|中心|模块|服务|密|信)|使用|采用|决定|规则|约定|要求|默认|目前|当前|现在|已经|一直|应该"
    "|需要|必须|所有|统一|一律|其实|另外|然后|所以|比较|非常|绝对|务必|一定|以后|今后|定了|都|也|还|再(?!建|做|发|跑|部署)|就|里面|里|中|上|内|在|到|着|会|得|能|吧"
    "|本|各|把|将|我|们|你|咱|很|更|选|这个|那个|这|那|该|由|被|绝"
)
# What one wants is no rule yet, what one may do no duty.
_WANT = re.compile(
    r"\b(?:prefers?|preferred|likes?|wants?|wish(?:es)?|loves?|hopes?)\b|喜欢|偏好|希望|想要?|更爱|倾向", re.I
)
_WEAK = re.compile(
    r"\b(?:may|can(?!['’]t)|could|might|recommend\w*|suggest\w*|optional(?:ly)?|consider)\b"
    r"|可以|允许|建议|推荐|可选|最好|尽量",
    re.I,
)
_DUTY = re.compile(r"\b(?:must|always|required?|mandatory|has\s+to|have\s+to)\b|必须|务必|一定要|强制", re.I)
# Spoken of all cases, of which the words must speak, too.
_UNIVERSAL = re.compile(
    r"\b(?:always|all|every\w*|any\w*|each|whenever|never|no|must|only|from\s+now|going\s+forward|throughout|across)\b"
    r"|所有|全部|统一|一律|都|任何|每|凡|始终|永远|以后|今后|从现在|全|必须|禁止|不[要能得许]|一切|各",
    re.I,
)
_UNIVERSAL_CLAIM = re.compile(
    r"\b(?:always|all|every\w*|any\w*|each|whenever|everywhere)\b"
    r"|所有|全部|统一|一律|任何|每个|每次|凡是|始终|永远|一切",
    re.I,
)
# A clause that says when, where or for whom the next one holds.
_CONDITION = re.compile(
    r"^(?:if|unless|when(?:ever)?|while|until|once|during|except|provided|in\s+case|as\s+long\s+as|apart\s+from|other\s+than|but\s+not"
    r"|only|in|on|at|for|with(?:in|out)?|under|after|before|outside|inside|from|by)\b"
    r"|^(?:如果|若|假如|要是|当|除|只有|只要|一旦|在|对(?=.{2})|遇到|凡|仅|每逢|直到)|(?:的话|时|时候|期间|之前|之后|以前|以后|前|后|里|中|上|除外|例外)$",
    re.I,
)
_NO_CONDITION = re.compile(
    r"^(?:if\s+(?:possible|you\s+(?:can|want|like|have)|needed|necessary)|in\s+(?:short|fact|general|future|the\s+future|my\s+opinion|addition|any\s+case)"
    r"|for\s+(?:the\s+record|example|sure|clarity|what|your|now|us|me)|by\s+the\s+way|at\s+(?:last|least|the\s+end)|on\s+(?:that|another)\s+note"
    r"|from\s+(?:now|here|today|this)|with\s+that|after\s+(?:some|a\s+long|much|all|discussing|talking)|as\s+\w+|in\s+this\s+(?:project|repo|codebase)|once\s+more"
    r"|when\s+you|before\s+i\s+forget)"
    r"|^(?:如果可以|可以的话|有空|在这个?项目|在本项目|在我看来|对了|在此|另外|除此之外|从现在|以后|今后)|^(?:以后|今后|往后|目前)$|有空.{0,4}时候|方便.{0,4}时",
    re.I,
)
# "Careful: …", "坑：…".
_LABEL = re.compile(
    r"^(?:for\s+the\s+record|careful|note|heads[- ]up|remember|important|fact|rule|pitfall|gotcha|lesson|tip|btw"
    r"|decision|decided|agreed|constraint|preference|convention|坑|注意|小心|提醒|记录一?下|备忘|定了|决定|结论|规则|约定|偏好|事实|教训|经验|补充|说明|强调)(?:\s+\w{1,9})?\s*[:：,，]\s*",
    re.I,
)
_CONJUNCTION = re.compile(
    r"(?<=\S)\s*\b(?:and|but|while|whereas|yet|so|because)\b\s*|\s+or\s+"
    r"|\s+(?=(?:instead\s+of|rather\s+than|as\s+opposed\s+to)\b)"
    r"|(?<!\bis)(?<!\bare)(?<!\bdo)(?<!\bdoes)(?<!\bdid)(?<!\bwas)(?<!\bwere)(?<!\bhas)(?<!\bhave)(?<!\bwill)(?<!\bwould)(?<!\bshould)"
    r"(?<!\bmust)(?<!\bcan)(?<!\bmay)(?<!\bshall)(?<!\bmight)(?<!\bbe)(?<!\bif)(?<!\bor)(?<!\band)(?<!\bbut)(?<=\w)\s+(?=not\s+\w)"
    r"|(?=而不是|而非)|而且|并且|但是?|同时|以及|(?<![从进然反因])而(?![后不非])|(?:[，,]\s*)?并(?=[\u4e00-\u9fff]{2})(?!发|行|列|联|购)",
    re.I,
)
# Somebody speaks of himself: no part that hangs on the one before it.
_SPEAKER = re.compile(r"^(?:i|we|you|he|she|我们?|你们?|咱们?|他们?|她们?)(?![a-z])", re.I)
# Turned round, these words turn what stands beside them round.
_ASYMMETRIC = re.compile(
    r"\b(?:over|than|before|after|above|below|from|to|into|instead|then|first|last|under|until|copies|calls|depends|extends|overrides|reviews?\s+by)\b"
    r"|先|再|之?[前后]|比|优先|高于|低于|大于|小于|依赖|继承|覆盖|调用|从|到|给|向",
    re.I,
)
_PASSIVE = re.compile(r"\bby\b|由|被|归|把|给", re.I)
_LINK = re.compile(r"\b(?:is|are|was|were|be|uses?|used|using|has|have)\b|[用是为]", re.I)
_CONTRACTED = re.compile(r"(?:i|we|you|they|it|he|she|that|there|let)['’](?:m|re|ve|ll|d|s)")
_HELPING = frozenset(("don't", "never", "always", "will", "do", "please"))
_PLACES = re.compile(r"\b(?:for|in|at|on|with|under|via|per|during|as|is|are|use[sd]?|using)\b", re.I)

# Statements; nobody reads on in more than these, and each is held against each.
_MOST_CLAIMED, _MOST_SAID = 40, 1_000
type Atom = tuple[bool, str]


def entails(evidence: str, content: str) -> bool:
    """Whether `evidence` says what `content` does: every name, number and word, with the same polarity and order, and
    under the same conditions; words that only frame a claim may come and go.
    """
    said, claimed = _parts(evidence), _parts(content)
    if len(claimed) > _MOST_CLAIMED or len(said) > _MOST_SAID:
        return False
    wanted: frozenset[Atom] = frozenset().union(*(part.atoms for part in claimed))
    if not wanted:
        return False
    if frozenset().union(*(part.strict for part in claimed)) - frozenset().union(
        *(part.strict for part in said)
    ):
        return False
    used = _standing_on(said, claimed, wanted)
    if used is None or not _is_in_order(used, claimed):
        return False
    words = " ".join(part.text for part in used)
    return _is_no_stronger(words, evidence, content) and not _lacks_condition(said, used, wanted)


@dataclass(frozen=True, slots=True)
class _Part:
    """One statement. `atoms`: (denied, word, number or Chinese character); `order`: the same as they stand."""

    text: str
    sentence: int
    clause: int
    atoms: frozenset[Atom]
    order: tuple[str, ...]
    strict: frozenset[str]
    starts_clause: bool


@lru_cache(maxsize=512)
def _parts(text: str) -> tuple[_Part, ...]:
    found: list[_Part] = []
    clauses = 0
    for number, sentence in enumerate(split(text)):
        for clause in sentence.clauses:
            clauses += 1
            for at, piece in enumerate(_pieces(clause)):
                order, denied, strict = _read(piece)
                atoms = frozenset((denied, atom) for atom in order)
                found.append(_Part(piece, number, clauses, atoms, order, strict, at == 0))
    return tuple(found)


def _pieces(clause: Piece) -> Iterator[str]:
    """The statements of a clause, without what only opens or closes them."""
    text = clause.text
    for pattern in (_LABEL, phrases.OPENERS, phrases.DIRECTIVE_LEAD, _LABEL):
        text = pattern.sub("", text, count=1)
    for piece in _CONJUNCTION.split(phrases.TAIL.sub("", text)):
        if piece and piece.strip():
            yield piece.strip(" ,，")


def _read(text: str) -> tuple[tuple[str, ...], bool, frozenset[str]]:
    """(what it says in order, whether it is denied, what may never vary)."""
    order: list[str] = []
    strict: set[str] = set()
    denied = False
    for token in claims.read(text).tokens:
        match token.kind:
            case "not":
                denied = not denied
            case "may":
                pass
            case "run":
                order.extend(_FRAME_RUNS.sub("", token.value))
            case "word" | "identifier":
                word = _stem(token.value.casefold())
                if word not in _FRAME and not _CONTRACTED.fullmatch(word):
                    order.append(word)
            case "number":
                order.append(token.value)
            case "direction" if token.value in _LOOSE:
                pass
            case _:
                order.append(token.value)
                strict.add(token.value)
    return tuple(order), denied, frozenset(strict)


# Prepositions come and go with the wording; order and place do not.
_LOOSE = frozenset(
    re.findall(
        r"\S+", "by from to into onto over under inside or either +with 按 按照 以 根据 从 到 往 或 或者"
    )
)


def _stem(word: str) -> str:
    """cached, caching, caches: one word."""
    if len(word) < 5 or not word.isalpha() or not word.isascii():
        return word
    for ending in ("ing", "ed", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not word.endswith("ss"):
            stem = word[: -len(ending)]
            doubled = len(stem) > 3 and stem[-1] == stem[-2] and stem[-1] not in "ls"
            return (stem[:-1] if doubled else stem).removesuffix("e")
    return word.removesuffix("e")


_FRAME = frozenset(map(_stem, _FRAMING))


def _standing_on(
    said: Sequence[_Part], claimed: Sequence[_Part], wanted: frozenset[Atom]
) -> list[_Part] | None:
    """The parts that carry all that is wanted: taken whole, but for one that lends its beginning."""
    whole = [part for part in said if part.atoms and part.atoms <= wanted and _is_taken(part, claimed)]
    carried = frozenset().union(*(part.atoms for part in whole)) if whole else frozenset()
    if wanted <= carried:
        return _needed(whole, wanted)
    missing = wanted - carried
    for part in said:
        if not missing <= part.atoms or part in whole:
            continue
        hanging = [other for other in whole if _hangs_on(other, part)]
        if hanging and wanted <= part.atoms.union(*(other.atoms for other in hanging)):
            return [part, *hanging]
    return None


def _is_taken(part: _Part, claimed: Sequence[_Part]) -> bool:
    """Whether the claim holds the part's Chinese in its order: 月报 is not in 周报每月."""
    characters = [atom for atom in part.order if _is_character(atom)]
    return all(
        _is_within(characters[:2], [atom for atom in other.order if _is_character(atom)])
        for other in claimed
        if set(characters) <= set(other.order)
    )


def _is_character(atom: str) -> bool:
    return len(atom) == 1 and not atom.isascii()


def _needed(whole: Sequence[_Part], wanted: frozenset[Atom]) -> list[_Part]:
    """Those that are needed; one that carries it all stands for itself."""
    alone = next((part for part in whole if part.atoms == wanted), None)
    return [alone] if alone is not None else list(whole)


def _hangs_on(part: _Part, before: _Part) -> bool:
    """Whether `part` goes on about what `before` speaks of."""
    if part.clause == before.clause:
        return True
    follows = part.clause > before.clause and part.sentence - before.sentence <= 1
    return follows and not _SPEAKER.search(part.text)


def _is_in_order(used: Sequence[_Part], claimed: Sequence[_Part]) -> bool:
    """Whether the words stand in the same order, or where that does not matter."""
    if _is_within(
        [atom for part in claimed for atom in part.order], [atom for part in used for atom in part.order]
    ):
        return True
    if all(any(_is_same_order(part, other) for other in used) for part in claimed):
        return True
    # 下周一前把旧编号迁完: of the invoices, says the sentence before.
    lender, *whole = used
    if len(claimed) > 1:
        return False
    own = {atom for part in whole for atom in part.order}
    return bool(whole) and all(
        _is_within([atom for atom in part.order if atom not in own], lender.order)
        and any(_is_within([atom for atom in part.order if atom in own], other.order) for other in whole)
        for part in claimed
    )


def _is_same_order(claim: _Part, part: _Part) -> bool:
    """The same order, or one that a passive, a moved place or a verb put behind its object makes of it."""
    if _is_within(claim.order, part.order):
        return True
    if not frozenset(claim.order) <= frozenset(part.order):
        return False
    if bool(_PASSIVE.search(part.text)) != bool(_PASSIVE.search(claim.text)):
        return True
    if _opens_with(part.text, part.order[0]):
        rest = list(claim.order)
        rest.remove(part.order[0])
        if rest == list(part.order[1:]):
            return True
    if _ASYMMETRIC.search(part.text) or _ASYMMETRIC.search(claim.text):
        return False
    return _segments(part.text) == _segments(claim.text)


def _opens_with(text: str, word: str) -> bool:
    """ "Run migrations before …", "we name branches after …": the verb may stand behind its object, too."""
    told = _SPEAKER.sub("", text).split()
    told = told[1:] if told[:1] and told[0].casefold() in _HELPING else told
    return bool(told) and _stem(told[0].casefold()) == word and _LINK.search(text) is None


def _segments(text: str) -> set[tuple[str, ...]]:
    """What stands between prepositions: each may be moved."""
    return {order for piece in _PLACES.split(text) if (order := _read(piece)[0])}


def _is_within(wanted: Sequence[str], order: Sequence[str]) -> bool:
    rest = iter(order)
    return all(atom in rest for atom in wanted)


def _is_no_stronger(words: str, evidence: str, content: str) -> bool:
    """A wish is no rule, a permission no duty, one case not all."""
    if _WANT.search(words) and not _WANT.search(content):
        return False
    if bool(_WEAK.search(words)) != bool(_WEAK.search(content)) and not (
        _DUTY.search(words) and _DUTY.search(content)
    ):
        return False
    return not (_UNIVERSAL_CLAIM.search(content) and not _UNIVERSAL.search(evidence))


def _lacks_condition(said: Sequence[_Part], used: Sequence[_Part], wanted: frozenset[Atom]) -> bool:
    """Whether a clause of the same sentence that says when it holds was left out."""
    sentences = {part.sentence for part in used}
    return any(
        part.sentence in sentences
        and part not in used
        and part.starts_clause
        and part.atoms
        and not {atom for _, atom in part.atoms} <= {atom for _, atom in wanted}
        and _CONDITION.search(part.text) is not None
        and _NO_CONDITION.search(part.text) is None
        for part in said
    )
