"""A model's words -> the sentences it chose, or one label of a closed list, or why there is neither.

A choice is read as JSON, else as the last list behind ``DECISION``, else as the last list.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

OutcomeKind = Literal["selection", "empty", "unknown", "no_list", "refusal", "cut_off"]

_THINKING: Final = re.compile(r"<(/?)(?:think|thinking)>|\[(/?)THINK\]", re.IGNORECASE)
_SORRY: Final = re.compile(
    r"\s*(?:sorry|i apologi[sz]e|i(?:['’]m| am) (?:sorry|unable)|i (?:can(?:not|['’]t)|won['’]t))\b",
    re.IGNORECASE,
)
_LIST: Final = re.compile(r"\[[^\[\]]*\](?:, ?\[[^\[\]]*\])*")  # [3, 7], or [3], [7]
_NUMBERS: Final = re.compile(r"(?<![\d.])(\d{1,9})(?: ?(?:[-–]|to) ?(\d{1,9}))?(?!\d|\.\d)")
_FILLING: Final = re.compile(r"and|or|ind(?:ex|ices)|sentences?|s|[\s\[\]*,;:.'\"`#-]", re.IGNORECASE)
_REASON: Final = re.compile(
    r"^[ \t>*•#(\[-]*(?:sentence |index )?(\d{1,7})[\])*. ]{0,4}[:-][ \t]*(\S.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_NO_INFORMATION: Final = re.compile(
    r"\bnot (?:\w+ ){0,3}(?:enough|sufficient) information|\binsufficient information"
    r"|\bcan ?not be (?:determined|answered)|\bi do(?: not|n.?t) know|\bnot relevant\b"
)


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A model's choice.

    ``kind`` is "empty" where the model says that it chooses nothing, "unknown" where it chose only what it was not
    shown, "no_list" where there is no list, "cut_off" where its tokens ran out before one.
    """

    kind: OutcomeKind
    indices: tuple[int, ...] = ()  # chosen and shown, in the order of the answer, each once
    n_unknown: int = 0  # chosen, and not shown
    reasons: Mapping[int, str] = field(default_factory=dict)  # where the answer gives one


def read_answer(
    text: str,
    shown: Collection[int],
    *,
    refusal: str | None = None,
    finish_reason: str | None = None,
    thoughts: str = "",
) -> ParsedAnswer:
    """The selection in an answer, of the indices that the prompt showed.

    ``refusal`` and ``finish_reason``, as the server says them, tell why there is no list; ``thoughts`` that come apart
    from the text may hold the reasons.
    """
    answer = after_thinking(text)
    lists = _lists(re.sub(r"```\w*", "", answer or "").strip())
    ranges = next((ranges for ranges in lists if ranges is not None), None)
    if ranges is None:
        return ParsedAnswer(no_answer_reason(answer, refusal, finish_reason) or "no_list")
    order = sorted(shown)
    indices: dict[int, None] = {}
    n_unknown = 0
    for numbers in ranges:
        inside = [index for index in order if index in numbers]
        indices |= dict.fromkeys(inside)
        n_unknown += len(numbers) - len(inside)
    if not indices:
        return ParsedAnswer("unknown" if n_unknown else "empty", (), n_unknown)
    reasons = {int(number): reason.strip() for number, reason in _REASON.findall(f"{thoughts}\n{text}")}
    chosen = {index: reasons[index] for index in indices if index in reasons}
    return ParsedAnswer("selection", tuple(indices), n_unknown, chosen)


def after_thinking(text: str) -> str | None:
    """The end of a text, after the last marked thoughts; ``None`` if they never ended."""
    tags = list(_THINKING.finditer(text))
    if not tags:
        return text
    return text[tags[-1].end() :] if any(tags[-1].groups()) else None


def no_answer_reason(
    answer: str | None, refusal: str | None = None, finish_reason: str | None = None
) -> Literal["refusal", "cut_off"] | None:
    """Why a text after thinking (``None``: it never came) holds nothing that was asked for, if it says so."""
    if refusal or finish_reason == "content_filter" or _SORRY.match(answer or ""):
        return "refusal"
    return "cut_off" if answer is None or finish_reason == "length" else None


def index_list(text: str) -> list[range] | None:
    """The indices in ``2, 5``, ``9-12``, ``S12``, ``sentences 3 and 7``; empty for "none"; ``None`` if it is prose."""
    ranges = [range(int(first), int(last or first) + 1) for first, last in _NUMBERS.findall(text)]
    if ranges:
        return None if _FILLING.sub("", _NUMBERS.sub("", text)) else ranges
    return [] if text.strip(" \t\r\n*_`\"'“”[].:").casefold() in ("", "none", "nothing") else None


def read_label(text: str, labels: Sequence[str]) -> str | None:
    """The label, of some in lower case, that a raw answer states, else begins with, else the only one in it.

    Where "unknown" is one of them, "not enough information" and its like count as unknown.
    """
    plain = re.sub(r"[^\w\s.,:/-]", " ", (after_thinking(text) or "").lower())
    words = "|".join(labels)
    # Neither a choice between labels, as in "yes or no", nor the "no" of "no evidence" is meant.
    plain = re.sub(rf"\b(?:{words})(?:, ?(?:{words}))*,? ?(?:/|\bor\b) ?(?:{words})\b", "", plain)
    plain = re.sub(r"\bno\b(?=[ \t]*[\w-]|\.\s*\d)", "", plain)
    if "unknown" in labels:
        plain = _NO_INFORMATION.sub("unknown", plain)
    label = rf"\b({words})\b"
    if statements := re.findall(rf"\b(?:answer|decision|conclusion)(?: is)?[\s:]*{label}", plain):
        return str(statements[-1])
    if first := re.match(rf"\W*{label}", plain):
        return first[1]
    named = set(re.findall(label, plain))
    return named.pop() if len(named) == 1 else None


def _lists(answer: str) -> Iterator[list[range] | None]:
    """What may be the list of an answer, the one that counts first; ``None`` where it is prose."""
    yield _json_list(answer)
    for part in (re.split(r"(?i)\bdecision\b", answer)[-1], answer):
        yield from map(index_list, reversed(_LIST.findall(part)))
        for text in (part, *reversed(part.splitlines())):
            if "[" not in text and any(map(str.isalnum, text)):
                yield index_list(text)


def _json_list(answer: str) -> list[range] | None:
    """The list that the answer is, or the last in its object: of numbers, or of objects with an ``index``."""
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        value = next((item for item in reversed(value.values()) if isinstance(item, list)), None)
    if not isinstance(value, list):
        return None
    items = [item.get("index") if isinstance(item, dict) else item for item in value]
    return index_list(", ".join(map(str, items)))
