"""A model's words -> the sentences it chose. Nothing is taken that the model did not say it chose.

The last ``DECISION:`` with a list counts (`decision`); without one, a list that stands alone as the last line.
Around and in the list every habit of models is put up with: fences, bold, quotes, ranges, words, JSON, tables,
bullets, full-width brackets. Texts of 10 MB are read in linear time.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from evidencebench_core.llm.decision import breaks_off, decision_in
from evidencebench_core.llm.reasoning import reasoning_in
from evidencebench_core.llm.said import after_thinking, plain

OutcomeKind = Literal["selection", "empty", "unknown", "no_list", "refusal", "cut_off"]


@dataclass(frozen=True, slots=True)
class ParsedAnswer:
    """A model's choice.

    Attributes
    ----------
    kind : {"selection", "empty", "unknown", "no_list", "refusal", "cut_off"}
        ``"empty"``: the model says that it chooses nothing. ``"unknown"``: it chose, but only what it was
        not shown. ``"no_list"``: it did not say what it chooses. ``"cut_off"``: nor could it, for its
        tokens ran out.
    indices : tuple of int
        Chosen and shown, in the order of the answer, each once.
    n_unknown : int
        Elements of the list that are no index that was shown; a range counts each of its numbers.
    reasoning_by_index : mapping of int to str
        What the answer says of a chosen sentence, where it says something.
    shifted : int
        What was added to the model's numbers because it said outright that it counts from 1 (or 0) where the
        prompt counts from 0 (or 1); else 0.
    """

    kind: OutcomeKind
    indices: tuple[int, ...] = ()
    n_unknown: int = 0
    reasoning_by_index: Mapping[int, str] = field(default_factory=dict)
    shifted: int = 0


_BASE: Final = re.compile(
    r"\b([01])[- ]?(?:based|indexed)\b"
    r"|\b(?:counting|starting|numbered) (?:from|at) ([01])\b",
    re.I,
)
_SORRY: Final = re.compile(
    r"\s*(?:i'?m (?:very |really )?(?:sorry|unable)|i am (?:very |really )?(?:sorry|unable)|sorry\b"
    r"|i apologi[sz]e|i (?:can(?:no|')t|won't|"
    r"must decline|will not|do not feel comfortable|am not able)"
    r"|(?:unfortunately|regrettably),? i (?:can|am|must)"
    r"|as an ai\b"
    r"|es tut mir leid|je suis désolée?|lo siento|desculpe|很抱歉|抱歉|对不起|申し訳|извините|죄송)",
    re.IGNORECASE,
)


def parsed(
    text: str,
    shown: Collection[int],
    *,
    refusal: str | None = None,
    finish_reason: str | None = None,
    thoughts: str = "",
) -> ParsedAnswer:
    """The selection in an answer (spec rule 20).

    Parameters
    ----------
    text : str
        The whole answer.
    shown : collection of int
        The indices that the prompt showed.
    refusal, finish_reason : str, optional
        As the server says them; they tell why there is no list.
    thoughts : str
        What a thinking model thought, where the server sends it apart: nothing is chosen by it, but it may
        hold the reasons that the answer does not give.

    Returns
    -------
    ParsedAnswer
    """
    known = shown if isinstance(shown, (set, frozenset, range)) else frozenset(shown)
    said = plain(text)
    answer, thinks_still = after_thinking(said)
    found = None if thinks_still else decision_in(answer)
    if found is None:
        return ParsedAnswer(_without_list(answer, refusal, finish_reason, thinks_still))
    shift = _shift(found.words, known)
    indices, n_unknown = found.indices.among(known, shift)
    if indices:
        reasons = reasoning_in(said, indices, -shift)
        if thoughts and len(reasons) < len(indices):
            reasons = reasoning_in(plain(thoughts), indices, -shift) | reasons
        return ParsedAnswer("selection", indices, n_unknown, reasons, shift)
    return ParsedAnswer("unknown" if n_unknown else "empty", (), n_unknown, {}, shift)


def _without_list(
    text: str, refusal: str | None, finish_reason: str | None, thinks_still: bool
) -> OutcomeKind:
    if refusal or finish_reason == "content_filter":
        return "refusal"
    if finish_reason == "length" or thinks_still:
        return "cut_off"
    if _SORRY.match(text.replace("’", "'")[:200]):
        return "refusal"
    return "cut_off" if breaks_off(text) else "no_list"


def _shift(words: str, shown: Collection[int]) -> int:
    """The shift of all indices where the model states that it counts otherwise than the prompt."""
    match = _BASE.search(words)
    if match is None or not shown:
        return 0
    first, said = min(shown), int(match[1] or match[2])
    return first - said if first in (0, 1) else 0
