"""A model's words -> the sentences it chose. Nothing is taken that the model did not say it chose.

The last of the answer's decisions counts: a word such as ``DECISION:`` or ``Final answer is`` with a list behind it,
in brackets, JSON, bare, or a line each. Without one, a list that is the answer's last line; then
``Selected sentences: 3``; then ``I choose sentences 3 and 7``. Texts of 10 MB are read in linear time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Literal

from evidencebench_core.llm.lists import ITEM, decision

OutcomeKind = Literal["selection", "empty", "unknown", "no_list", "refusal", "cut_off"]


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A model's choice.

    ``kind`` is "empty" where the model says that it chooses nothing, "unknown" where it chose only what it was not
    shown, "no_list" where it did not say what it chooses, "cut_off" where it could not, for its tokens ran out.
    """

    kind: OutcomeKind
    indices: tuple[int, ...] = ()  # chosen and shown, in the order of the answer, each once
    n_unknown: int = (
        0  # elements of the list that are no index that was shown; a range counts each of its numbers
    )
    reasons: Mapping[int, str] = field(default_factory=dict)  # where the answer gives a reason


# Full-width, Chinese, Arabic and typographic forms of what lists are made of.
_PLAIN: Final = str.maketrans(
    dict(zip("：［］【】〔〕，、；（）،؛＝’", ":[][][],,;(),;='", strict=True))
    | {chr(0xFF10 + digit): str(digit) for digit in range(10)}
    | dict.fromkeys("\u2010\u2011\u2012\u2212\uff0d", "-")
    | {"\u00a0": " ", "\u202f": " ", "\u3000": " ", "\u200b": "", "\u200e": "", "\u200f": "", "\ufeff": ""}
)
# Tags of thinking models: DeepSeek and Qwen, Magistral, Kimi; and the channels of gpt-oss.
_THINKING: Final = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]|◁(/?)think▷"
    r"|<\|channel\|>(?:(final)|analysis|commentary)\b",
    re.IGNORECASE,
)
_SORRY: Final = re.compile(
    r"\s*(?:i(?:'m| am) (?:very |really )?(?:sorry|unable)|sorry\b|i apologi[sz]e|i (?:can(?:no|')t|won't|must decline"
    r"|will not|do not feel comfortable|am not able)|(?:unfortunately|regrettably),? i (?:can|am|must)|as an ai\b"
    r"|es tut mir leid|je suis désolée?|lo siento|很抱歉|抱歉|对不起|извините)",
    re.IGNORECASE,
)
_LONGEST_REASON: Final = 1_000
_JSON_REASON: Final = re.compile(r'\{\s*"\w+":\s*"?(\d{1,7})"?,\s*"\w+":\s*("(?:[^"\\]|\\.)*+")')
_MENTION: Final = re.compile(r"(?:sentences?|index|idx|#|\[|,|\band)[ \t]*(\d{1,7})\b", re.IGNORECASE)
_DECISION_LINE: Final = re.compile(r"[\s>*#_`\"']*(?:decision|[{\[\"])", re.IGNORECASE)
_ASPECT: Final = re.compile(r"[ \t>]*(?:[-*•–]|\(?\d{1,3}[.):])[ \t]*(\S[^\n]*)")
_ASPECTS: Final = re.compile(
    r"(?<![^\W_])aspects?[ \t*_`\"]*(?:[:：][ \t*_`]*|(?=\n[ \t]*(?:[-*•–]|\(?\d{1,3}[.):])))", re.IGNORECASE
)
_HYPOTHESIS: Final = re.compile(r"(?<!\w)hypothesis[ \t*_`]*[:：][ \t*_`]*", re.IGNORECASE)


def read_answer(
    text: str,
    shown: Collection[int],
    *,
    refusal: str | None = None,
    finish_reason: str | None = None,
    thoughts: str = "",
) -> ParsedAnswer:
    """The selection in an answer (spec rule 20), of the indices that the prompt showed.

    ``refusal`` and ``finish_reason``, as the server says them, tell why there is no list. By ``thoughts`` that come
    apart from the text nothing is chosen, but they may hold the reasons that the answer does not give.
    """
    said = text.translate(_PLAIN)
    answer = _after_thinking(said)
    chosen = None if answer is None else decision(answer)
    if chosen is None:
        if refusal or finish_reason == "content_filter" or _SORRY.match((answer or "")[:200]):
            return ParsedAnswer("refusal")
        return ParsedAnswer("cut_off" if answer is None or finish_reason == "length" else "no_list")
    known, indices, n_unknown = frozenset(shown), dict[int, None](), chosen.count(None)
    for numbers in filter(None, chosen):
        fewer = numbers if len(numbers) < 10_000 else sorted(known)
        inside = [one for one in fewer if one in known and one in numbers]
        indices |= dict.fromkeys(inside)
        n_unknown += len(numbers) - len(inside)
    if not indices:
        return ParsedAnswer("unknown" if n_unknown else "empty", (), n_unknown)
    reasons = _reasons(said, indices)
    if thoughts and len(reasons) < len(indices):
        reasons = _reasons(thoughts.translate(_PLAIN), indices) | reasons
    return ParsedAnswer("selection", tuple(indices), n_unknown, reasons)


def parsed_aspects(text: str, limit: int = 20) -> tuple[str, ...]:
    """The lines of the list after the last ``ASPECTS:``, without their bullets; empty if there is none."""
    _, *after = _ASPECTS.split(_after_thinking(text) or "")
    aspects: dict[str, None] = {}
    for line in after[-1].splitlines() if after else ():
        match = _ASPECT.match(line)
        if len(aspects) == limit or (not match and aspects and line.strip()):
            break
        if match and (aspect := match[1].strip(' \t*_`"')):
            aspects.setdefault(aspect)
    return tuple(aspects)


def parsed_hypothesis(text: str) -> str | None:
    """The one line after the last ``HYPOTHESIS:``, without quotes and bold; ``None`` if there is none."""
    _, *after = _HYPOTHESIS.split(_after_thinking(text) or "")
    lines = after[-1].strip().splitlines() if after else []
    return lines[0].strip(" \t*_`\"'“”‘’„«»") or None if lines else None


def _after_thinking(text: str) -> str | None:
    """The text after the last marked thoughts; ``None`` if they never ended."""
    tags = list(_THINKING.finditer(text))
    if not tags:
        return text
    return text[tags[-1].end() :] if any(tags[-1].groups()) else None


# -- reasons --------------------------------------------------------------------------------------


def _reasons(text: str, indices: Collection[int]) -> dict[int, str]:
    """The reason that the answer gives for each index, in JSON or on lines; indices without one are left out."""
    reasons: dict[int, dict[str, None]] = {index: {} for index in indices}
    mentions: dict[int, dict[str, None]] = {}
    for match in _JSON_REASON.finditer(text):
        with suppress(ValueError):
            reasons.get(int(match[1]), {}).setdefault(str(json.loads(match[2], strict=False)))
    for line in text.splitlines():
        if (item := ITEM.match(line)) and (why := (item["why"] or "").strip(" \t\r|")):
            for number in re.findall(r"\d+", item["numbers"]):
                reasons.get(int(number), {}).setdefault(why[:_LONGEST_REASON])
        if not _DECISION_LINE.match(line):
            for number in _MENTION.findall(line[:_LONGEST_REASON]):
                mentions.setdefault(int(number), {}).setdefault(line.strip()[:_LONGEST_REASON])
    every = {index: "\n".join(said or mentions.get(index, {})) for index, said in reasons.items()}
    return {index: said[:_LONGEST_REASON] for index, said in every.items() if said}
