"""Nuggets, one atomic fact each: the lines that a model writes, and what experts wrote (spec rules 10 to 12)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

from evidencebench_core.llm.parse import after_thinking, no_answer_reason

NuggetOutcome = Literal["nuggets", "none", "unparsed", "refusal", "cut_off"]

_HEAD: Final = re.compile(r"^[ \t>#*_`]*NUGGETS[ \t*_`]*[:：][ \t*_`]*", re.IGNORECASE | re.MULTILINE)
_MARKER: Final = re.compile(
    r"[ \t]*(?:[-*•]|\d{1,4}[.)])[ \t]+"
)  # not the "2" of "2.5 mg", nor the "B." of "B. subtilis"
_FENCE: Final = re.compile(r"[ \t]*```\w*[ \t]*")
_NONE: Final = re.compile(r"[\s*_`\"'(\[]*(?:none|no nuggets|no facts?)[\s*_`\"').\]]*", re.IGNORECASE)

_CONCEPT: Final = re.compile(r" ?\[C\d{7}\]")
_MODIFIED: Final = re.compile(r"\[(?P<modifier>[^\[\]]{1,40})\]\s*")


@dataclass(frozen=True, slots=True)
class Nuggets:
    """The nuggets of a text, as a model listed them.

    ``outcome`` tells apart a text without a fact ("none") from an answer that is no list ("unparsed"); an answer that
    was cut off has lost its last line, and is flagged.
    """

    outcome: NuggetOutcome
    nuggets: tuple[str, ...] = ()
    n_duplicates: int = 0
    is_cut_off: bool = False


def parsed_nuggets(text: str, finish_reason: str = "", refusal: str | None = None) -> Nuggets:
    """The lines after the last ``NUGGETS:``, each without its bullet and once."""
    answer, is_cut_off = after_thinking(text), finish_reason == "length"
    heads = list(_HEAD.finditer(answer or ""))
    if answer is None or not heads:
        why = no_answer_reason(answer, refusal, finish_reason)
        return Nuggets(why or "unparsed", is_cut_off=is_cut_off)
    lines = answer[heads[-1].end() :].splitlines()
    lines = [line for line in (lines[:-1] if is_cut_off else lines) if not _FENCE.fullmatch(line)]
    facts = [fact for line in lines if (fact := _MARKER.sub("", line, count=1).strip())]
    if len(facts) <= 1 and all(map(_NONE.fullmatch, facts)):
        return Nuggets("cut_off" if is_cut_off else "none", is_cut_off=is_cut_off)
    nuggets, n_duplicates = once(facts)
    return Nuggets("nuggets", nuggets, n_duplicates, is_cut_off)


def once(nuggets: Iterable[str]) -> tuple[tuple[str, ...], int]:
    """Each nugget once, as it was first written, and how many were there again; case and white space do not tell."""
    by_form: dict[str, str] = {}
    every = list(nuggets)
    for nugget in every:
        by_form.setdefault(" ".join(nugget.casefold().split()), nugget)
    return tuple(by_form.values()), len(every) - len(by_form)


def written_out(nugget: str) -> tuple[str, bool]:
    """An expert's ``[may] Verb (subject [C0000000], object [C0000000])`` as "subject may verb object".

    What is no such triple stays as it is, but for the concepts' ids, and comes with ``False``.
    """
    modified = _MODIFIED.match(nugget.strip())
    rest = nugget.strip()[modified.end() :] if modified else nugget.strip()
    verb, opening, inside = rest.partition("(")
    inside = inside.rstrip().removesuffix(".").rstrip()
    place = _comma(inside[:-1]) if opening and inside.endswith(")") and verb.strip() else None
    sides = ("", "") if place is None else (inside[:place], inside[place + 1 : -1])
    subject, what = (_CONCEPT.sub("", side).strip() for side in sides)
    if not (subject and what):
        return _CONCEPT.sub("", nugget).strip(), False
    words = (subject, modified["modifier"].strip() if modified else "", verb.strip().lower(), what)
    return " ".join(filter(None, words)), True


def _comma(inside: str) -> int | None:
    """Where the subject ends: the comma behind the first id, else the first outside brackets."""
    first = _CONCEPT.search(inside)
    if first and re.match(r"\s*,", inside[first.end() :]):
        return inside.index(",", first.end())
    depth = 0
    for place, character in enumerate(inside):
        depth += (character in "([") - (character in ")]")
        if character == "," and depth == 0:
            return place
    return None
