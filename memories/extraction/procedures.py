"""Ways of doing a task that were seen to work: from what was asked, the tools that ran and the word that it is right.

Deterministic. A procedure is read out of a completed topic alone: a human asked for something, tools ran in turns that
succeeded, and a human said that it works. It puts together what several turns say, so it waits for a person.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from memories.extraction import clauses, phrases
from memories.extraction.backends import Proposal
from memories.extraction.sentences import Sentence, split
from memories.extraction.transcript import HUMAN, SUCCEEDED, Transcript, Turn, language
from memories.text import slug

PROCEDURE = "procedure"
MAX_STEPS, MAX_TOOLS, MAX_OUTPUT, MAX_PITFALLS = 8, 8, 6, 3
# Characters of a step, fewer where all of it would be too long.
MAX_ASKED = (120, 50, 20)
MAX_LENGTH, MAX_KEY = 1_000, 40
# One call of one tool is no way of doing anything.
MIN_TOOLS = 2

_WORKS = re.compile(
    r"(?:可以|好|成|行|对|通)了(?![吗么])|成功了?(?!吗)|没(?:有)?问题了?|搞定|跑通|正常了|通过了|生效了|完美|就是这样"
    r"|\b(?:it|that|this|everything|all)?\s*(?:works?|worked)\b|\bworks?\s+(?:now|fine|perfectly|great)|\bthat\s+did\s+it\b"
    r"|\ball\s+(?:green|good|set)\b|\b(?:looks|is)\s+(?:right|correct|good)\b|\bperfect\b|\bsuccess(?:ful(?:ly)?)?\b"
    r"|\b(?:it|all|tests?)\s+pass(?:es|ed)?\b|\bexactly\s+(?:what|right)\b|\bdeployed\s+fine\b",
    re.IGNORECASE,
)
_NOT_YET = re.compile(
    r"不行|不对|没(?:有)?(?:成功|通过|生效)|还(?:是|没|不|有)|但是?|不过|报错|失败|[吗？?]"
    r"|\b(?:but|still|not|n't|except|however|almost|nearly|if|when|until|fails?|failed|error|broken)\b|\w+n't\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"^(?:(?:please|now|then|next|so|ok|okay|and|also|first|hey|hi|can\s+you|could\s+you|would\s+you|will\s+you|"
    r"i\s+(?:need|want|would\s+like)\s+you\s+to|let's|help\s+me(?:\s+to)?|go\s+ahead\s+and)[\s,!:]+)+"
    r"|^(?:(?:好[的了]?|那么?|嗯|现在|然后|再|接着|最后|顺便|另外|首先|麻烦|请|你|您|能不能|能否|可以|帮(?:我|忙|我们)?|给我|一下)[\s，,、]*)+",
    re.IGNORECASE,
)
_CALL = re.compile(r"^(?:注意|小心|watch\s+out|careful|note)[:：,，\s]+", re.IGNORECASE)
_LABELS = {
    "zh": ("用于：", "步骤：", "工具：", "产出：", "注意：", "；", "、"),
    "en": ("When: ", "Steps: ", "Tools: ", "Output: ", "Watch out: ", "; ", ", "),
}


@dataclass(slots=True)
class _Work:
    """What was done since the last word that something works."""

    first: Sentence | None = None
    turn: Turn | None = None
    steps: list[tuple[str, tuple[str, ...]]] = field(default_factory=list)
    tools: dict[str, None] = field(default_factory=dict)
    files: dict[str, None] = field(default_factory=dict)
    pitfalls: dict[str, None] = field(default_factory=dict)


def procedures(transcript: Transcript, pitfalls: dict[int, list[str]]) -> Iterator[Proposal]:
    """Those of a completed topic, in order. `pitfalls`: what went wrong, in the human's words, by the turn's id."""
    if not transcript.completed:
        return
    work = _Work()
    for turn in transcript.turns:
        if turn.status != SUCCEEDED or turn.origin != HUMAN:
            continue
        said = split(turn.readable)
        if work.steps and _is_confirmed(said):
            if (found := _proposal(work)) is not None:
                yield found
            work = _Work()
        work.pitfalls.update(dict.fromkeys(pitfalls.get(turn.id, ())))
        tools = tuple(dict.fromkeys(name for name in turn.tools if name))
        if not tools:
            continue
        asked = next(
            (one for one in said if any(clauses.is_request(each.plain) for each in one.clauses)), None
        )
        if asked is None:
            if work.steps:
                label, before = work.steps[-1]
                work.steps[-1] = label, tuple(dict.fromkeys((*before, *turn.agents, *tools)))
        else:
            if work.first is None:
                work.first, work.turn = asked, turn
            work.steps.append((_task(asked.text), (*turn.agents, *tools)))
        if work.steps:
            work.tools.update(dict.fromkeys(tools))
            work.files.update(dict.fromkeys(turn.files))


def _is_confirmed(said: list[Sentence]) -> bool:
    """Whether a message begins by saying that it works."""
    return bool(said) and any(
        _WORKS.search(clause.plain) is not None
        and _NOT_YET.search(sentence.plain + sentence.stop) is None
        and phrases.HYPOTHETICAL.search(sentence.plain) is None
        for sentence in said[:2]
        for clause in sentence.clauses
    )


def _task(asked: str) -> str:
    """What was asked for, without the asking."""
    return _ASKING.sub("", " ".join(asked.split())).strip(" ，,。.!！？?")


def _proposal(work: _Work) -> Proposal | None:
    if work.first is None or work.turn is None or len(work.tools) < MIN_TOOLS or not work.steps[0][0]:
        return None
    tools, files = list(work.tools)[:MAX_TOOLS], list(work.files)[:MAX_OUTPUT]
    content = next(
        (text for length in MAX_ASKED if len(text := _written(work, tools, files, length)) <= MAX_LENGTH), ""
    )
    if not content:
        return None
    return Proposal(
        type=PROCEDURE,
        content=content,
        quote=work.first.text,
        key=slug(work.steps[0][0])[:MAX_KEY].rstrip("-"),
        turn_id=work.turn.id,
        keywords=tuple(tools[:6]),
        files=tuple(files[:4]),
        tools=tuple(tools),
    )


def _written(work: _Work, tools: list[str], files: list[str], longest: int) -> str:
    """When to use it, its steps, tools, output and pitfalls, as one text; each step of at most `longest` characters."""
    when, how, with_, output, mind, stop, comma = _LABELS[language(work.first.text if work.first else "")]
    asked = [(_clipped(task, longest), used[:MAX_TOOLS]) for task, used in work.steps[:MAX_STEPS]]
    steps = [f"{number}. {task} ({comma.join(used)})" for number, (task, used) in enumerate(asked, 1)]
    parts = [when + asked[0][0], how + stop.join(steps), with_ + comma.join(tools)]
    if files:
        parts.append(output + comma.join(files))
    if work.pitfalls:
        warnings = [_CALL.sub("", one) for one in work.pitfalls]
        parts.append(mind + stop.join(warnings[:MAX_PITFALLS]))
    return ("。" if stop == "；" else ". ").join(parts)


def _clipped(text: str, length: int) -> str:
    return text if len(text) <= length else f"{text[: length - 1]}…"
