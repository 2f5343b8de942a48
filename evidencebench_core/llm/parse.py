"""A model's words -> the sentences it chose, or why there are none."""

import json
import re
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

OUTCOME_KINDS: Final = {
    "selection": "a selection",
    "empty": "chose nothing",
    "unknown": "only indices not shown",
    "no_list": "no list found",
    "refusal": "refused",
    "cut_off": "cut off by the token limit",
    "failed": "call failed",
}
"""The kinds of outcome, with a name for people. Retrievers that ask no model have none of these."""

UNREADABLE: Final = ("cut_off", "refusal", "no_list")
"""The kinds of answers that do not tell what the model would choose; the least telling first."""

_THINKING: Final = re.compile(r"(?i)<(/?)(?:think|thinking)>|\[(/?)THINK\]")
_SORRY: Final = re.compile(
    r"(?i)\s*(sorry|i apologi[sz]e|i(['’]m| am) (sorry|unable)|i (cannot|can['’]t|won['’]t))\b"
)
_WESTERN: Final = str.maketrans("［］【】：，、；–—", "[][]:,,;--")
_MARKUP: Final = re.compile(r"(?im)```\w*|[*`]|<[/|]?[a-z]\w{0,20}\|?>|^ *\|[^\d\n]*$")
_NOTE: Final = re.compile(r"\([^()]*\)")
_DECISION: Final = re.compile(r"(?im)\bd[eé]cision(?: is)?[\"' ]*(?:[:=]|-(?= )|$|(?=[\[\d]))")
# [3, 7], or [3], [7]
_BRACKETS: Final = re.compile(r"[^.\d\[\]\n]{0,60}\n?(\[[^\[\]]*\](?:,? ?(?:and )?\[[^\[\]]*\])*)")
_LABEL: Final = re.compile(r"^((my|the|final|answer|select\w+|choice|sentences|indices|are|is)\b ?){0,5}:")
_ITEM: Final = r"(?i)[ >|+-]*(?:\d{1,3}[.)] (?=\[))?(?:sentence |index |s)?\[?(\d{1,9})[.)\]]?"
_ROW: Final = re.compile(_ITEM + r"(?: ?[:|(-].*| *\|?)")
_NUMBERS: Final = re.compile(r"(?i)(?<![\d.])(\d{1,9})(?:\.0)?(?: ?(?:-|to) ?s?(\d{1,9}))?(?!\d|\.\d)")
_FILLING: Final = re.compile(r"(?i)and|or|ind(?:ex|ices)|sentences?|s|[\s\[\]*,;:.'\"`#&-]")
_NONE: Final = re.compile(r"(?i)[ \n\"'-]*(none|nothing|no (\w+ )?(sentences?|indices))\b(?!.*\bexcept\b)")
_REASON: Final = re.compile(
    r"(?im)^[ \t>*•#(\[-]*(?:sentence |index )?(\d{1,7})[\])*. ]{0,4}[:-][ \t]*(\S.*)$"
)


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A model's choice, or why there is none."""

    kind: str  # of `OUTCOME_KINDS`
    indices: tuple[int, ...] = ()  # chosen, in the order of the answer, each once
    n_unknown: int = 0  # indices chosen that the prompt did not show
    reasons: Mapping[int, str] = field(default_factory=dict)  # where the answer gives one


def read_answer(
    text: str,
    shown: Collection[int],
    *,
    refusal: str | None = None,
    finish_reason: str | None = None,
    thoughts: str = "",
) -> ParsedAnswer:
    """The selection in an answer, of the indices that the prompt showed; ``thoughts`` may hold the reasons.

    JSON is read as such. Else the first list behind the last DECISION counts, and "none" is an empty one; nothing else
    is looked at. Without DECISION it is the last list on a line of its own, of an answer that was not cut off.
    """
    answer = after_thinking(text)
    ranges = _decided_ranges((answer or "").translate(_WESTERN), is_cut=finish_reason == "length")
    if ranges is None:
        return ParsedAnswer(no_answer_reason(answer, refusal, finish_reason) or "no_list")
    order = sorted(shown)
    indices: dict[int, None] = {}
    n_unknown = 0
    for numbers in dict.fromkeys(ranges):
        inside = [index for index in order if index in numbers]
        indices |= dict.fromkeys(inside)
        n_unknown += len(numbers) - len(inside)
    if not indices:
        return ParsedAnswer("unknown" if n_unknown else "empty", (), n_unknown)
    reasons = {int(number): reason.strip() for number, reason in _REASON.findall(f"{thoughts}\n{text}")}
    chosen = {index: reasons[index] for index in indices if index in reasons}
    return ParsedAnswer("selection", tuple(indices), n_unknown, chosen)


def after_thinking(text: str) -> str | None:
    """The text after the last marked thoughts; ``None`` if these never ended."""
    tags = list(_THINKING.finditer(text))
    if not tags:
        return text
    return text[tags[-1].end() :] if any(tags[-1].groups()) else None


def no_answer_reason(
    answer: str | None, refusal: str | None = None, finish_reason: str | None = None
) -> Literal["refusal", "cut_off"] | None:
    """Why a text after thinking (``None``: there is none) is no answer, if it is a refusal or was cut off."""
    if refusal or finish_reason == "content_filter" or _SORRY.match(answer or ""):
        return "refusal"
    return "cut_off" if answer is None or finish_reason == "length" else None


def index_list(text: str) -> list[range] | None:
    """The indices in ``2, 5``, ``9-12``, ``S12``, ``sentences 3 and 7``; empty for "none"; ``None`` if it is prose."""
    text = text.translate(_WESTERN)
    ranges = [range(int(first), int(last or first) + 1) for first, last in _NUMBERS.findall(text)]
    if ranges:
        return None if _FILLING.sub("", _NUMBERS.sub("", text)) or not all(ranges) else ranges
    return [] if text.strip(" \t\r\n*_`\"'“”[].:").casefold() in ("", "none", "nothing") else None


def _decided_ranges(answer: str, *, is_cut: bool) -> list[range] | None:
    """The list that counts in an answer; not one that may have been cut off."""
    plain = _MARKUP.sub("", answer).strip()
    if (ranges := _json_list(plain)) is not None:
        return ranges
    _, *parts = _DECISION.split(plain)
    if parts:
        end = max(parts[-1].rfind("\n"), parts[-1].rfind("]")) + 1
        return _list_at_the_beginning(parts[-1][:end] if is_cut else parts[-1])
    if is_cut:
        return None
    lines = [_LABEL.sub("", line.strip().lower()).strip() for line in plain.splitlines()]
    if ranges := _rows(reversed([line for line in lines if line])):
        return ranges[::-1]
    lists = (index_list(line) for line in reversed(lines) if line)
    return next((ranges for ranges in lists if ranges is not None), None)


def _list_at_the_beginning(part: str) -> list[range] | None:
    """The list that a text begins with: in brackets, as JSON, on a line, or one index a line."""
    if _NONE.match(part):
        return []
    lines = [line.strip() for line in part.splitlines() if line.strip()]
    if ranges := _rows(lines):
        return ranges
    in_brackets = _BRACKETS.match(part)
    if in_brackets and (ranges := index_list(in_brackets[1])) is not None:
        return ranges
    return index_list(_NOTE.sub("", lines[0])) if lines else None


def _rows(lines: Iterable[str]) -> list[range] | None:
    """The indices of the first lines that each begin with one; ``None`` if fewer than two do."""
    ranges = []
    for line in lines:
        row = _ROW.fullmatch(line)
        if row is None:
            break
        ranges.append(range(int(row[1]), int(row[1]) + 1))
    return ranges if len(ranges) > 1 else None


def _json_list(answer: str) -> list[range] | None:
    """The list that the answer is, or the last in its object: of numbers, or of objects with an ``index``."""
    try:
        value = json.loads(answer)
    except (ValueError, RecursionError):
        return None
    if isinstance(value, dict):
        lists = {key.lower(): item for key, item in value.items() if isinstance(item, list)}
        value = lists.get("decision", next(reversed(lists.values()), None))
    if not isinstance(value, list):
        return None
    items = [item.get("index") if isinstance(item, dict) else item for item in value]
    return index_list(", ".join(map(str, items)))
