"""The strategies: a query in, what the model chose out (spec rules 13 to 19, and one of our own)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from evidencebench_core.llm.lines import parsed_aspects
from evidencebench_core.llm.parse import OutcomeKind, parsed
from evidencebench_core.llm.prices import estimated_prompt_tokens
from evidencebench_core.llm.prompts import Prompt, focus_phrase, numbered
from evidencebench_core.retrievers.llm.conversation import Chosen, Conversation
from evidencebench_core.retrievers.llm.outcome import is_lost, least_told
from evidencebench_core.retrievers.llm.sections import in_paper_order, overlapping_slices, section_indices

if TYPE_CHECKING:
    from evidencebench_core.retrievers.base import Query
    from evidencebench_core.retrievers.llm.plan import Plan, Strategy


LONGEST_PROMPT: Final = 6_000  # tokens; the prompt of a section that has more is cut in four
PER_ASPECT: Final = 3  # sentences that guided asks for a point


@dataclass(frozen=True, slots=True)
class Given:
    """The inputs of a strategy."""

    query: Query
    plan: Plan
    talk: Conversation
    examples: str = ""
    n_aspects: int = 8


def _whole_paper(given: Given) -> Chosen:
    """``cot``, ``icl`` and ``unconstrained``: one prompt with the whole paper, counted from 0."""
    query = given.query
    budget = None if given.plan.strategy == "unconstrained" else query.budget
    everything = range(len(query.sentences))
    return given.talk.choice(
        "whole paper",
        given.plan.prompts[0],
        dict(enumerate(everything)),
        budget,
        **_fields(given, everything, first=0),
    )


def _by_section(given: Given) -> Chosen:
    """``section`` and ``result-section``: every section, then the best of what was found."""
    first, final = given.plan.prompts
    found: list[Chosen] = []
    sections = section_indices(given.query.sentence_types)
    for number, section in enumerate(sections, start=1):
        step = f"section {number} of {len(sections)}"
        slices = _slices(given, first, section)
        for place, part in enumerate(slices, start=1):
            name = step if len(slices) == 1 else f"{step}, part {place} of {len(slices)}"
            found.append(_from_one(given, name, first, part))
    return _best_of(given, final, found)


def _guided(given: Given) -> Chosen:
    """Ours: name the points a judgement needs, search the paper for each, choose for coverage."""
    naming, searching, final = given.plan.prompts
    query = given.query
    answer = given.talk.answer(
        "points to look for",
        naming,
        hypothesis=query.hypothesis,
        focus=focus_phrase(query.focus),
        n_aspects=given.n_aspects,
    )
    aspects = parsed_aspects(answer.text, given.n_aspects)
    if not aspects:
        nothing = parsed(answer.text, (), refusal=answer.refusal, finish_reason=answer.finish_reason or None)
        kinds: tuple[OutcomeKind, ...] = ("refusal", "cut_off")
        return Chosen(nothing.kind if nothing.kind in kinds else "no_list")
    everything = range(len(query.sentences))
    found = [
        given.talk.choice(
            f"point {number} of {len(aspects)}",
            searching,
            dict(enumerate(everything)),
            PER_ASPECT,
            **{**_fields(given, everything, first=0), "aspect": aspect},
        )
        for number, aspect in enumerate(aspects, start=1)
    ]
    listed = "\n".join(f"- {aspect}" for aspect in aspects)
    return _best_of(given, final, found, first=0, aspects=listed)


def _slices(given: Given, asked: Prompt, section: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """The section, or four overlapping parts of it if its prompt is too long (spec rule 15)."""
    budget = len(section) if given.query.budget is None else given.query.budget
    messages = asked.messages(budget=budget, **_fields(given, section, first=1))
    if estimated_prompt_tokens(messages) <= LONGEST_PROMPT:
        return (tuple(section),)
    return overlapping_slices(section)


def _from_one(given: Given, step: str, asked: Prompt, part: Sequence[int]) -> Chosen:
    shown = dict(enumerate(part, start=1))
    return given.talk.choice(step, asked, shown, given.query.budget, **_fields(given, part, first=1))


def _best_of(
    given: Given, asked: Prompt, found: Sequence[Chosen], *, first: int = 1, **fields: str
) -> Chosen:
    """The last step: all that was found, in the order of the paper, renumbered (spec rule 16).

    It is asked even if no more was found than is allowed; where nothing was, there is nothing to ask.
    """
    candidates = in_paper_order(pick for one in found for pick in one.picks)
    if not candidates:
        return Chosen(least_told(one.kind for one in found))
    chosen = given.talk.choice(
        "final choice",
        asked,
        dict(enumerate(candidates, start=first)),
        given.query.budget,
        **_fields(given, candidates, first=first),
        **fields,
    )
    earlier = {index: reason for one in found for index, reason in one.reasons.items()}
    reasons = {pick: earlier[pick] for pick in chosen.picks if pick in earlier} | dict(chosen.reasons)
    return Chosen(chosen.kind, chosen.picks, reasons, any(is_lost(one.kind) for one in found))


def _fields(given: Given, part: Sequence[int], *, first: int) -> dict[str, str]:
    """The fields of every prompt of sentences, for a part of the paper numbered from ``first``."""
    query = given.query
    return {
        "hypothesis": query.hypothesis,
        "sentences": numbered([query.sentences[index] for index in part], first),
        "examples": given.examples,
    }


ANSWERED_BY: Final[Mapping[Strategy, Callable[[Given], Chosen]]] = {
    "cot": _whole_paper,
    "icl": _whole_paper,
    "unconstrained": _whole_paper,
    "section": _by_section,
    "result-section": _by_section,
    "guided": _guided,
}
