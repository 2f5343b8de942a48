"""A model's words -> the sentences it chose: JSON, else the list behind ``DECISION``, else the last list."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

OutcomeKind = Literal["selection", "empty", "unknown", "no_list", "refusal", "cut_off"]

LONGEST: Final = 65_536
"""Characters of an answer that are read, from its end."""

_LONGEST_REASON: Final = 1_000
_LONGEST_LIST: Final = 4_000

# Full-width and typographic forms of what lists are made of.
_PLAIN: Final = str.maketrans(
    dict(zip("：［］【】，、；（）’０１２３４５６７８９", ":[][],,;()'0123456789", strict=True))
    | dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-")
    | {"\u00a0": " ", "\u202f": " ", "\u200b": "", "\ufeff": ""}
)
# Tags of thinking models, and the channels of gpt-oss.
_THINKING: Final = re.compile(
    r"<(/?)(?:think|thinking|thought|reasoning)>|\[(/?)THINK\]|◁(/?)think▷"
    r"|<\|channel\|>(?:(final)|analysis|commentary)\b",
    re.IGNORECASE,
)
_MARKS: Final = re.compile(
    r"[*$]|\\(?=[\[\]])|```\w{0,10}|\\(?:boxed|text\w{0,2})\{|</?[a-z_]{1,20}>|<\|[^<>|\n]{1,40}\|>",
    re.IGNORECASE,
)
_TAG: Final = re.compile(r"<(?:final_)?(?:decision|answer|selection)>", re.IGNORECASE)
_SORRY: Final = re.compile(
    r"\s{0,9}(?:i(?:'m| am) (?:very |really )?(?:sorry|unable)|sorry\b|i apologi[sz]e|i (?:can(?:no|')t|won't"
    r"|must decline|will not|am not able)|(?:unfortunately|regrettably),? i (?:can|am|must)|as an ai\b)",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(r"\b(?:final answer|(?:final|revised) selection|decision)\b", re.IGNORECASE)
_NONE: Final = re.compile(r"(?:none|nothing|empty|no sentences?)\b", re.IGNORECASE)
_BRACKET: Final = re.compile(r"\[([^\[\]]*)\]")
_BULLET: Final = re.compile(r"^[ \t]*[-*•][ \t]", re.MULTILINE)
_TOKEN: Final = re.compile(r"\d+(?:\.\d+)?|[^\W\d]+|\S")
_WORDS: Final = ("and", "or", "index", "indices", "sentence", "sentences", "s", "no", "nos", "is")
_FILLING: Final = frozenset((*_WORDS, *",;.:#'\"`&(){}_|"))
_EMPTY: Final = frozenset({"", "none", "nothing", "empty", "null", "n/a"})
_REASON: Final = re.compile(
    r"^[\s>*•#(\[-]{0,12}(?:sentence |index )?(\d{1,7})[\])*. ]{0,4}[:-]\s{0,5}(\S.*)$", re.IGNORECASE
)
_HYPOTHESIS: Final = re.compile(r"\bhypothesis[ *_`]{0,4}:[ *_`]{0,4}", re.IGNORECASE)


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
    text = plain_text(text)
    answer = after_thinking(text)
    ranges = None if answer is None else _decision(without_marks(answer))
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
    lines = (*plain_text(thoughts).splitlines(), *text.splitlines())
    matches = [match for line in lines if (match := _REASON.match(line[: _LONGEST_REASON + 40]))]
    reasons = {int(match[1]): match[2][:_LONGEST_REASON].strip() for match in matches}
    chosen = {index: reasons[index] for index in indices if index in reasons}
    return ParsedAnswer("selection", tuple(indices), n_unknown, chosen)


def plain_text(text: str) -> str:
    """The end of a text, with full-width and typographic characters as their plain ones."""
    return text[-LONGEST:].translate(_PLAIN)


def after_thinking(text: str) -> str | None:
    """The text after the last marked thoughts; ``None`` if they never ended."""
    tags = list(_THINKING.finditer(text))
    if not tags:
        return text
    return text[tags[-1].end() :] if any(tags[-1].groups()) else None


def without_marks(answer: str) -> str:
    """An answer without bold, fences and tags; a tag such as ``<answer>`` becomes ``DECISION:``."""
    return _MARKS.sub("", _TAG.sub(" DECISION: ", answer)).strip()


def no_answer_reason(
    answer: str | None, refusal: str | None = None, finish_reason: str | None = None
) -> Literal["refusal", "cut_off"] | None:
    """Why a text after thinking (``None``: it never came) holds nothing that was asked for, if it says so."""
    if refusal or finish_reason == "content_filter" or _SORRY.match((answer or "")[:200]):
        return "refusal"
    return "cut_off" if answer is None or finish_reason == "length" else None


def parsed_hypothesis(text: str) -> str | None:
    """The one line after the last ``HYPOTHESIS:``, without quotes and bold; ``None`` if there is none."""
    _, *after = _HYPOTHESIS.split(after_thinking(text[-LONGEST:]) or "")
    lines = after[-1].strip().splitlines() if after else []
    return lines[0].strip(" \t*_`\"'“”‘’„«»") or None if lines else None


def index_list(inside: str) -> list[range] | None:
    """The indices in a bracket: ``2, 5``, ``9-12``, ``S12``, ``sentences 3 and 7``; ``None`` if it is prose."""
    return _indices(plain_text(inside)) or None if len(inside) <= _LONGEST_LIST else None


def _decision(text: str) -> list[range] | None:
    """The list that counts; ``None`` if there is none."""
    if text[:1] in ("{", "["):
        try:
            return _of_json(json.loads(text))
        except (ValueError, RecursionError):
            pass
    for head in reversed(list(_DECISION.finditer(text))):
        before = text[max(0, head.start() - _LONGEST_LIST) : head.start()].rpartition("\n")[2]
        is_quoted = before.count('"') % 2 == 1 or before.count("“") > before.count("”")  # from the paper
        behind = text[head.end() : head.end() + _LONGEST_LIST].lstrip(" :=_`\"'")
        if not is_quoted and (ranges := _list_behind(behind)) is not None:
            return ranges
    lines = [line for line in text.splitlines() if line.strip()]
    for line in reversed(lines):
        if "[" in line and (ranges := _brackets(line)) is not None:
            return ranges
    return _indices(lines[-1]) or None if lines else None


def _list_behind(text: str) -> list[range] | None:
    """The brackets on the first line that has any, else bare numbers, perhaps a line each."""
    if _NONE.match(text):
        return []
    start = text.find("[", 0, 200)
    if start >= 0:
        head, end, _ = text[start:].partition("]\n")
        return _brackets(head + end)
    return _indices(text.partition("\n")[0]) or _indices(_BULLET.sub(", ", text)) or None


def _brackets(text: str) -> list[range] | None:
    """The indices in all brackets of a text; ``None`` if one holds prose."""
    ranges: list[range] = []
    contents = _BRACKET.findall(text)
    for inside in contents:
        if inside.strip(" .'\"").casefold() in _EMPTY:
            continue
        part = _indices(inside)
        if not part:
            return None
        ranges += part
    return ranges if contents else None


def _indices(text: str) -> list[range] | None:
    """The indices in ``3, "5", index 7, 9-12``; ``None`` if it is prose."""
    ranges: list[range] = []
    is_range = False
    for token in _TOKEN.findall(text):
        if token.isdecimal() and len(token) < 10:
            number = int(token)
            first = ranges.pop().start if is_range and ranges else number
            ranges.append(range(first, number + 1))
            is_range = False
        elif token in ("-", "to"):
            is_range = True
        elif token.casefold() not in _FILLING:
            return None
    return ranges


def _of_json(value: Any) -> list[range] | None:
    """The list in a JSON value: numbers, texts, objects that name an index, or the last list in an object."""
    if isinstance(value, list):
        parts = [_of_json(item) for item in value]
        if None in parts:
            return None
        return [numbers for part in parts for numbers in part or ()]
    if isinstance(value, dict):
        for name in ("index", "id", "sentence"):
            if isinstance(value.get(name), (int, str)):
                return _of_json(value[name])
        lists = [item for item in value.values() if isinstance(item, list)]
        objects = [item for item in value.values() if isinstance(item, dict)]
        inner: list[Any] = lists or objects
        return _of_json(inner[-1]) if inner else None
    return _indices(str(value)) if isinstance(value, (int, str)) and not isinstance(value, bool) else None
