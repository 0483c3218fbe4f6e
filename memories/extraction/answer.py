"""Reads a model's answer: finds the items in whatever it wrote around them. Pure.

Models were asked for {"memories": […]} and write it in a fence, after their thoughts, between sentences, as a bare
list or a bare object, with the end missing. What is whole is taken; of what is cut off, no part is.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import json_repair

# What no answer needs; reading on would only keep a worker busy.
MAX_LENGTH = 200_000
_MAX_STARTS = 2_000
_MAX_DEPTH = 50
_MAX_REPAIRED = 30_000

_NAMES = ("memories", "items", "candidates", "results", "data")
_THOUGHT = re.compile(r"\s*<(think|thinking|thought|reasoning)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE)
_THOUGHT_ENDS = re.compile(
    r"\A.*</(?:think|thinking|thought|reasoning)>(?=\s*(?:[{\[`\n]|\Z))", re.DOTALL | re.IGNORECASE
)
_FENCE = re.compile(r"\A\s*```[\w-]*\s*\n(.*?)\n?\s*```\s*\Z", re.DOTALL)
_START = re.compile(r"[{\[]")
_ARRAY = re.compile(r"\[\s*\{|\{\s*\"(?:" + "|".join(_NAMES) + r")\"\s*:")
_decoder = json.JSONDecoder(strict=False)


class NoAnswer(Exception):
    """Nothing in the text is an answer. `reason`: empty, cut_off, not_json."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Answer:
    """The items as they were written, and how many of them broke off. No items and nothing lost: there was
    nothing worth keeping.
    """

    items: tuple[object, ...]
    lost: int = 0


def read(text: str, *, cut: bool = False) -> Answer:
    """The items of an answer. `cut`: the provider said that it stopped before the end. Raises NoAnswer."""
    cut = cut or len(text) > MAX_LENGTH
    text = spoken(text[:MAX_LENGTH])
    if not text:
        raise NoAnswer("cut_off" if cut else "empty")
    if _is_tangled(text):
        raise NoAnswer("not_json")
    whole = decoded(_FENCE.sub(r"\1", text))
    answers = [(whole, len(text))] if whole is not None else list(_values(text))
    found = _best([value for value, _ in answers])
    if found is not None:
        return Answer(tuple(found))
    bare = [value for value, _ in answers if _is_item(value)]
    if whole is None and _ARRAY.search(text):
        end = max((end for value, end in answers if _is_item(value)), default=0)
        return _salvaged(text, bare, text[end:], cut=cut)
    if bare:
        return Answer(tuple(bare))
    if any(value == [] for value, _ in answers):
        return Answer(())
    raise NoAnswer("cut_off" if cut else "not_json")


def spoken(text: str) -> str:
    """The text without the model's thoughts; one that never ends takes all of it."""
    if decoded(_FENCE.sub(r"\1", text)) is not None:
        return text.strip()
    text = _THOUGHT.sub("", text, count=1) if _THOUGHT.match(text) else _THOUGHT_ENDS.sub("", text)
    return text.strip()


def _is_tangled(text: str) -> bool:
    """Whether brackets stand in brackets so deep that a parser would be long about it."""
    depth = deepest = 0
    for bracket in re.findall(r"[][{}]", text):
        depth = depth + 1 if bracket in "[{" else max(depth - 1, 0)
        deepest = max(deepest, depth)
    return deepest > _MAX_DEPTH


def decoded(text: str) -> object | None:
    """The JSON value that the text is, nothing around it; None if it is none."""
    try:
        value: object = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value


def _values(text: str) -> Iterator[tuple[object, int]]:
    """The JSON objects and lists in a text, outermost first, one after the other, and where each ends."""
    at = 0
    for _ in range(_MAX_STARTS):
        start = _START.search(text, at)
        if start is None:
            return
        try:
            value, at = _decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            at = start.end()
        else:
            yield value, at


def _best(answers: list[object]) -> list[object] | None:
    """The last that names its items, else the last list of them: what comes before is a draft."""
    named = [items for answer in answers if (items := _named(answer)) is not None]
    if named:
        return named[-1]
    lists = [answer for answer in answers if isinstance(answer, list) and any(map(_is_item, answer))]
    return lists[-1] if lists else None


def _named(answer: object) -> list[object] | None:
    """The items of {"memories": [...]}, whatever their name; null stands for none."""
    if not isinstance(answer, Mapping) or _is_item(answer):
        return None
    for name in _NAMES:
        if name in answer:
            value = answer[name]
            if isinstance(value, list):
                return value
            return [] if value is None else [value]
    lists = [value for value in answer.values() if isinstance(value, list) and any(map(_is_item, value))]
    return lists[0] if len(lists) == 1 else None


def _is_item(value: object) -> bool:
    return isinstance(value, Mapping) and "content" in value and ("type" in value or "quote" in value)


def _salvaged(text: str, bare: list[object], rest: str, *, cut: bool) -> Answer:
    """What is whole in a list that is broken, or breaks off. `bare` are its sound items, `rest` what follows them:
    where nothing closes the list, an item that begins there is not whole.
    """
    cut = cut or not text.rstrip("` \n").endswith(("]", "}"))
    lost = int(cut and "{" in rest)
    repaired = _repaired(text)
    if lost and (not bare or repaired[-1:] != bare[-1:]):
        repaired = repaired[:-1]
    items = repaired if len(repaired) > len(bare) else bare
    if not items:
        raise NoAnswer("cut_off" if cut else "not_json")
    return Answer(tuple(items), lost)


def _repaired(text: str) -> list[object]:
    """The items as a lenient parser reads them from where the list begins."""
    start = _ARRAY.search(text)
    if start is None or len(text) > _MAX_REPAIRED:
        return []
    try:
        value = json_repair.loads(text[start.start() :], skip_json_loads=True)
    except (ValueError, RecursionError, IndexError, KeyError, TypeError):
        return []
    answers = value if isinstance(value, list) and not any(map(_is_item, value)) else [value]
    found = _best(answers)
    return [item for item in found or [] if _is_item(item)]
