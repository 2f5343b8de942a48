"""Stages that ask once (S2 to S5, S7 to S9): what their prompts are filled with, and how answers are read.

An answer that cannot be used is asked for once more in the same conversation, with the reason; a refusal is not.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from evidencebench_core.construction.state import CUT_OFF, BuildState, Stage, StageResult
from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Answer, Ask, ChatRequest, Message, prompt
from evidencebench_core.llm.conversation import Conversation
from evidencebench_core.llm.parse import (
    after_thinking,
    no_answer_reason,
    parsed_aspects,
    parsed_hypothesis,
    plain_text,
    read_answer,
    without_marks,
)
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.papers.sentences import sentences_of
from evidencebench_core.runs import request_with

STAGE_VERSION: Final[Mapping[Stage, int]] = {
    **dict.fromkeys(("boundary", "suitability", "motive", "leak", "results", "stance"), 1),
    **dict.fromkeys(("hypothesis", "aspects"), 2),
}
"""Of how an answer is read; counted up where a reader or a check changes."""

_AGAIN: Final = "construct-again"
_PROPOSE: Final = "construct-propose"
PROMPTS: Final[Mapping[Stage, tuple[str, ...]]] = {
    "boundary": ("construct-boundary", _AGAIN),
    "suitability": ("construct-suitable", _AGAIN),
    "motive": ("construct-motive", _AGAIN),
    "hypothesis": ("construct-hypothesis", _AGAIN),
    "aspects": ("construct-aspects", _AGAIN, _PROPOSE),
    "leak": ("construct-leak", _AGAIN),
    "results": ("construct-results", _AGAIN),
    "stance": ("construct-stance", _AGAIN),
}
"""The prompts of a stage, the one of its first question first."""

MOST_ASPECTS: Final = 60
MOST_WORDS: Final = 49
"""Of a hypothesis (S5)."""

_LONGEST_ASPECT: Final = 2_000  # characters
_LONGEST: Final = 20_000  # characters of an answer that are kept beside what was read
_FIGURE: Final = re.compile(r"\.\d++|\d++(?:[.,]\d++)*+")
_NUMBER: Final = re.compile(
    r"""(?<![\w.,])(?<![^\W\d]-)  # not within "CYP2E1" or "IL-6"
    (?:(?:\d++(?:,\d++)*+)?\.\d++(?:[.,]\d++)*+  # a decimal, whatever follows: "2.5mg", "3.5-fold"
    |\d++(?:,\d++)*+(?:(?=(?:[kcmnµμ]?(?:[glLmM]|mol)|h|min)(?![\w-]))  # "10mg", and
    |(?!\.\d|[^\W_]|-(?!\d)|\([A-Za-z]+\))))  # what begins no name: "5HT", "12-week", "25(OH)D"
    """,
    re.VERBOSE,
)
_QUESTION: Final = re.compile(r"(?<!\w)question[ \t*_`]*[:：][ \t*_`]*([^\n]*)", re.IGNORECASE)
_VERDICT: Final = re.compile(r"(?<!\w)verdict[ \t*_`]*[:：][ \t*_`\"']*(yes|no)\b", re.IGNORECASE)
_STANCE: Final = re.compile(
    r"^[ \t*_`-]*(\d{1,4})[ \t*_`]*[:.)-][ \t*_`\"']*(supports|refutes|neither)\b",
    re.IGNORECASE | re.MULTILINE,
)
_VERB: Final = r"(?:was|were|is|are|has|have|had|did|does|\w+(?:ed|es))"
_TWO_CLAUSES: Final = re.compile(rf"\b{_VERB}\b[^.;]*\band\b[^.;]*\b{_VERB}\b", re.IGNORECASE)


def fields(stage: Stage, state: BuildState) -> Mapping[str, str]:
    """The fields of a stage's prompt."""
    of = state.input
    if stage == "boundary":
        first = "not known" if of.citing is None else str(of.citing)
        return {"title": of.title or "(not given)", "first": first, "sentences": numbered(of.paragraph)}
    if stage == "motive":
        return {
            "review_title": of.review_title or "(not given)",
            "section": " > ".join(of.section) or "(not given)",
            "context_before": of.context_before or "(nothing)",
            "summary": state.summary,
            "context_after": of.context_after or "(nothing)",
        }
    if stage == "hypothesis":
        return {"question": state.question, "summary": state.summary}
    if stage == "aspects" and not state.summary:
        sentences = state.pool.sentences if state.pool else ()
        return {"hypothesis": state.hypothesis, "sentences": numbered(sentences)}
    if stage == "stance":
        return {"hypothesis": state.hypothesis, "aspects": numbered([one.text for one in state.aspects])}
    aspects = numbered([one.text for one in state.drafted])
    filled = {"summary": state.summary, "aspects": aspects}
    wanted = {"leak": ("summary", "aspects"), "results": ("aspects",)}
    return {name: filled[name] for name in wanted.get(stage, ("summary",))}


def conversation(
    stage: Stage, state: BuildState, model: str, settings: Mapping[str, Any]
) -> Conversation[StageResult]:
    """The conversation of a stage about a build; its result as `StageResult` has it."""
    if stage not in _READERS:
        raise SettingError("stage", f"{stage} asks nobody", f"Choices are: {', '.join(_READERS)}.")
    is_proposal = stage == "aspects" and not state.summary
    name = _PROPOSE if is_proposal else PROMPTS[stage][0]
    messages = prompt(name).messages(**fields(stage, state))
    request = replace(request_with(model, settings, messages), may_be_empty=True)
    answers: list[Answer] = []
    for attempt in range(2):
        (answer,) = yield [Ask(stage + (", asked again" if attempt else ""), request)]
        answers.append(answer)
        text = without_marks(plain_text(after_thinking(answer.text) or ""))
        why = no_answer_reason(after_thinking(answer.text), answer.refusal, answer.finish_reason)
        found = (
            _Found(problem=CUT_OFF if why == "cut_off" else "It has not the form that was asked for.")
            if why
            else _READERS[stage](text, state)
        )
        if not found.problem or why == "refusal":
            break
        request = _asked_again(request, answer.text, found.problem, why == "cut_off")
    outcome = "done" if not found.problem else found.otherwise
    counts = {
        name: None if None in of else sum(of)
        for name in ("prompt_tokens", "completion_tokens", "seconds")
        for of in [[getattr(one, name) for one in answers]]
    }
    said = {
        "text": answers[-1].text[:_LONGEST],
        "keys": [one.key for one in answers],
        "problem": found.problem,
    }
    return {"outcome": outcome if found.drop is None else found.drop, **found.values, **said, **counts}


@dataclass(frozen=True, slots=True)
class _Found:
    """An answer as it was read.

    With a ``problem`` it is asked for again, and comes to ``otherwise`` if that does not help; a ``drop`` is a
    readable answer that ends the build.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    problem: str = ""
    otherwise: str = "failed"
    drop: str | None = None


def _asked_again(request: ChatRequest, said: str, problem: str, is_cut_off: bool) -> ChatRequest:
    """For an answer that was cut off twice the room; for another the reason."""
    if is_cut_off:
        return replace(request, max_tokens=request.max_tokens and 2 * request.max_tokens)
    turns = (
        Message("assistant", said[:_LONGEST] or "(no answer)"),
        *prompt(_AGAIN).messages(problem=problem),
    )
    return replace(request, messages=(*request.messages, *turns))


# -- readers --------------------------------------------------------------------------------------


def _boundary(text: str, state: BuildState) -> _Found:
    paragraph, citing = state.input.paragraph, state.input.citing
    chosen, problem = _chosen(text, len(paragraph))
    if problem:
        return _Found(problem=problem)
    near = {citing} if citing is None else {citing - 1, citing, citing + 1}
    if not chosen or (citing is not None and not near & set(chosen)):
        where = (
            ""
            if citing is None
            else f" Sentence {citing} cites the paper: take it, or what stands beside it."
        )
        return _Found(
            problem=f"No sentence of those that report on the paper is chosen.{where}",
            otherwise="boundary_empty",
        )
    return _Found({"sentences": chosen, "summary": " ".join(paragraph[index] for index in chosen)})


def _suitability(text: str, state: BuildState) -> _Found:
    if not (said := _VERDICT.findall(text)):
        return _Found(problem="No line says VERDICT: yes or VERDICT: no.")
    return _Found({}, drop=None if said[-1].casefold() == "yes" else "unsuitable")


def _motive(text: str, state: BuildState) -> _Found:
    said = [one.strip(" \t*_`\"'“”") for one in _QUESTION.findall(text)]
    if not (said and said[-1]):
        return _Found(problem="No line begins with QUESTION:.")
    return _Found({"question": said[-1]})


def _hypothesis(text: str, state: BuildState) -> _Found:
    said = parsed_hypothesis(text)
    if said is None:
        return _Found(problem="No line begins with HYPOTHESIS:.")
    problems = hypothesis_problems(said, state.summary)
    values = {"hypothesis": said, "problems": problems}
    return _Found(values, " ".join(problems), otherwise="hypothesis_refused")


def hypothesis_problems(hypothesis: str, summary: str) -> list[str]:
    """The objections of rule 7 to a hypothesis, a sentence each; none if it passes."""
    problems = []
    if (n_words := len(hypothesis.split())) > MOST_WORDS:
        problems.append(f"The hypothesis has {n_words} words; {MOST_WORDS} are the most.")
    if "?" in hypothesis:
        problems.append("The hypothesis is a question.")
    if shared := _numbers(hypothesis) & _numbers(summary):
        problems.append(f"The hypothesis has a number of the summary: {min(shared)}.")
    if _same(hypothesis) in {_same(one) for one in sentences_of(summary)}:
        problems.append("The hypothesis is a sentence of the summary.")
    return problems


def _aspects(text: str, state: BuildState) -> _Found:
    said = {_same(one): one for one in reversed(parsed_aspects(text, limit=MOST_ASPECTS + 1))}
    texts = list(reversed(said.values()))
    source = state.summary or " ".join(state.pool.sentences if state.pool else ())
    what = "summary" if state.summary else "paper"
    if problems := aspect_problems(texts, source, what):
        return _Found(problem=" ".join(problems))
    n_merged = len(parsed_aspects(text, limit=MOST_ASPECTS + 1)) - len(texts)
    lost = sorted(_numbers(state.summary) - _numbers(" ".join(texts)))
    return _Found(
        {
            "aspects": [{"text": one, "problems": _doubts(one)} for one in texts],
            "n_merged": n_merged,
            "lost_numbers": lost,
        }
    )


def aspect_problems(texts: Sequence[str], source: str, what: str = "summary") -> list[str]:
    """The objections of rule 8 to a list of aspects, a sentence each; none if it passes."""
    if not texts:
        return ["No list of aspects follows ASPECTS:."]
    if len(texts) > MOST_ASPECTS:
        return [f"There are more than {MOST_ASPECTS} aspects."]
    problems = []
    known = _numbers(source, in_names=True)
    for number, text in enumerate(texts, start=1):
        if not any(map(str.isalpha, text)):
            problems.append(f"Aspect {number} has no words.")
        if len(text) > _LONGEST_ASPECT:
            problems.append(f"Aspect {number} is longer than {_LONGEST_ASPECT:,} characters.")
        if foreign := sorted(_numbers(text) - known):
            problems.append(f"Aspect {number} has {foreign[0]}, which is not in the {what}.")
    return problems


def _doubts(text: str) -> list[str]:
    return ["Perhaps two pieces of information."] if _TWO_CLAUSES.search(text) else []


def _leak(text: str, state: BuildState) -> _Found:
    leaked, problem = _chosen(text, len(state.drafted))
    return _Found({"leaked": leaked}, problem, drop="leak" if leaked else None)


def _results(text: str, state: BuildState) -> _Found:
    named, problem = _chosen(text, len(state.drafted))
    return _Found({"results": named}, problem)


def _stance(text: str, state: BuildState) -> _Found:
    *_, listed = text.rpartition("STANCES:")
    said = {int(number): stance.casefold() for number, stance in _STANCE.findall(listed)}
    lacking = [number for number in range(len(state.aspects)) if number not in said]
    if lacking:
        return _Found(problem=f"Below STANCES: no line says what aspect {lacking[0]} does.")
    return _Found({"stances": [said[number] for number in range(len(state.aspects))]})


_READERS: Final[Mapping[Stage, Callable[[str, BuildState], _Found]]] = {
    "boundary": _boundary,
    "suitability": _suitability,
    "motive": _motive,
    "hypothesis": _hypothesis,
    "aspects": _aspects,
    "leak": _leak,
    "results": _results,
    "stance": _stance,
}


def _chosen(text: str, n: int) -> tuple[list[int], str]:
    """The numbers below ``n`` that an answer decides for, ascending, and why they cannot be used."""
    found = read_answer(text, range(n))
    if found.kind in ("selection", "empty"):
        return sorted(found.indices), ""
    if found.kind == "unknown":
        return [], f"It names numbers that were not shown; there are 0 to {n - 1}."
    return [], "No line says DECISION: with a list in brackets."


def _numbers(text: str, *, in_names: bool = False) -> set[str]:
    """The numbers of a text, ".03" as "0.03"; those within names, such as CYP2E1 or IL-6, only where asked for."""
    found = (_FIGURE if in_names else _NUMBER).findall(plain_text(text))
    return {f"{'0' * one.startswith('.')}{one.replace(',', '')}" for one in found}


def _same(text: str) -> str:
    """A text for comparison: case, white space and a final stop do not count."""
    return " ".join(text.casefold().split()).rstrip(".")
