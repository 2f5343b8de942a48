"""The strategies (spec rules 13 to 19, and one of our own): conversations about a query that end in a choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from evidencebench_core.errors import SettingError
from evidencebench_core.llm import Conversation, Prompt, prompt
from evidencebench_core.llm.parse import ParsedAnswer, parsed_aspects, read_answer
from evidencebench_core.llm.prompts import focus_phrase, prompt_version
from evidencebench_core.llm.request import estimated_prompt_tokens
from evidencebench_core.retrievers.llm.choosing import AS_JSON, REGENERATE, Choice, Work
from evidencebench_core.retrievers.llm.outcome import LOST, least_informative

if TYPE_CHECKING:
    from evidencebench_core.data.model import Focus, SentenceType

STRATEGIES: Final[Mapping[str, str]] = {
    "auto": "the paper's for the task: cot for ER, result-section for Result-ER, unconstrained without a budget",
    "cot": "the whole paper at once, reasons first",
    "icl": "as cot, with examples from a dataset",
    "section": "every section on its own, then the best of what was found",
    "result-section": "as section, for results and analyses only, with one example in the first step",
    "unconstrained": "the whole paper at once, any number of sentences; for results with examples, if named",
    "guided": "our own, not the paper's: name the points to look for, search for each, choose for coverage",
}
"""The strategies with what they do; ``auto`` chooses one of the others for every task."""

LONGEST_PROMPT: Final = 6_000  # tokens; the prompt of a section that has more is cut in four
PER_ASPECT: Final = 3  # sentences that guided asks for a point
_FORTIETHS: Final = ((0, 13), (9, 22), (18, 31), (27, 40))  # slices of a section that is too long

# The prompts of strategies with several, in the order of their use; the first and the last can be replaced.
_PROMPTS: Final[Mapping[str, tuple[str, ...]]] = {
    "section": ("section", "section-final"),
    "result-section": ("result-section", "result-section-final"),
    "guided": ("guided-aspects", "guided-retrieve", "guided-final"),
}


class Steps(NamedTuple):
    """A strategy, no longer ``auto``, with its prompts in the order of their use."""

    strategy: str
    prompts: tuple[Prompt, ...]


def steps_for(
    strategy: str,
    focus: Focus,
    budget: int | None,
    own: str | None = None,
    own_final: str | None = None,
    has_examples: bool = False,
) -> Steps:
    """How a query is answered; ``own`` and ``own_final`` take the place of the first and the last prompt."""
    if strategy == "auto":
        strategy = "unconstrained" if budget is None else "cot" if focus == "all" else "result-section"
    elif strategy == "section" and focus == "results":
        strategy = "result-section"
    whole = f"{strategy}-results" if focus == "results" else strategy
    if whole == "unconstrained-results" and has_examples:
        whole = "unconstrained-results-icl"
    names = _PROMPTS.get(strategy, (whole,))
    prompts = [prompt(name) for name in names]
    for place, name in ((0, own), (-1, own_final)):
        if name is not None:
            prompts[place] = _in_place_of(names[place], name)
    return Steps(strategy, tuple(prompts))


def _in_place_of(ours: str, own: str) -> Prompt:
    """A prompt that can do what one of ours does: it shows what is chosen from, and needs nothing else."""
    needed, asked = prompt(ours).fields, prompt(own)
    known = needed | ({"budget", "examples"} if "sentences" in needed else set())
    if missing := sorted((needed & {"hypothesis", "sentences"}) - asked.fields):
        problem = f"has no ${missing[0]}, which the model has to see"
    elif unknown := sorted(asked.fields - known):
        problem = f"has ${unknown[0]}, which is not known in the place of {ours}"
    else:
        return asked
    remedy = f"Known there: {', '.join('$' + name for name in sorted(known))}; see {ours}."
    raise SettingError(f"prompt {own}", problem, remedy)


def used_prompts(every: Mapping[object, Steps], as_json: bool) -> tuple[str, ...]:
    """Name and version of every prompt that a run may use, whichever tasks it is asked for; sorted."""
    more = (prompt(REGENERATE), *([prompt(AS_JSON)] if as_json else []))
    used = {*more, *(one for steps in every.values() for one in steps.prompts)}
    return tuple(map(str, sorted(used, key=lambda one: one.name)))


def outdated_prompts(settings: Mapping[str, object]) -> tuple[str, ...]:
    """Names of the prompts of a stored run that are not there any more as they were used; empty for other runs."""

    def version_now(name: str) -> str:
        try:
            return prompt_version(name)
        except SettingError:
            return ""

    used = [one.partition(" ") for one in cast("Sequence[str]", settings.get("prompts") or ())]
    return tuple(name for name, _, version in used if version_now(name) != version)


def selection(work: Work, steps: Steps, n_aspects: int = 8) -> Conversation[ParsedAnswer]:
    """The selection of a strategy; ``guided`` looks for up to ``n_aspects`` points."""
    if steps.strategy == "guided":
        return (yield from _by_points(work, steps.prompts, n_aspects))
    if len(steps.prompts) > 1:
        return (yield from _by_section(work, *steps.prompts))
    budget = None if steps.strategy == "unconstrained" else work.query.budget
    everything = range(len(work.query.sentences))
    choice = work.choice("whole paper", steps.prompts[0], everything, first=0, budget=budget)
    return (yield from work.final(choice))


def section_indices(types: Sequence[SentenceType]) -> tuple[tuple[int, ...], ...]:
    """The sections of a paper, each as the 0-based indices of its sentences, ascending.

    All ``abstract`` sentences, wherever they stand, are the first section; then every ``section_name``
    opens one and is its first sentence. Text before the first heading is a section of its own. Empty
    ones are left out, so a paper without sentences has none; a heading without text is a section of one.
    """
    abstract: list[int] = []
    sections: list[list[int]] = [[]]
    for index, kind in enumerate(types):
        if kind == "abstract":
            abstract.append(index)
            continue
        if kind == "section_name":
            sections.append([])
        sections[-1].append(index)
    return tuple(tuple(section) for section in (abstract, *sections) if section)


def overlapping_slices(indices: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Four slices of a section of n sentences: [0, .325n) [.225n, .55n) [.45n, .775n) [.675n, n).

    Bounds are rounded down, by whole-number arithmetic (``.55 * 180`` is 99.00000000000001). Slices that
    are empty, or the same as one before, are left out: sections of fewer than four sentences have those.
    """
    n = len(indices)
    slices = (tuple(indices[low * n // 40 : high * n // 40]) for low, high in _FORTIETHS)
    return tuple(dict.fromkeys(one for one in slices if one))


def _by_section(work: Work, first: Prompt, final: Prompt) -> Conversation[ParsedAnswer]:
    """All sections side by side, then the best of what was found."""
    budget = work.query.budget
    sections = section_indices(work.query.sentence_types)
    choices: list[Choice] = []
    for number, section in enumerate(sections, start=1):
        step = f"section {number} of {len(sections)}"
        whole = work.choice(step, first, section, first=1, budget=budget)
        if estimated_prompt_tokens(whole.messages) <= LONGEST_PROMPT:
            choices.append(whole)
            continue
        slices = overlapping_slices(section)  # spec rule 15
        for place, part in enumerate(slices, start=1):
            name = f"{step}, part {place} of {len(slices)}"
            choices.append(work.choice(name, first, part, first=1, budget=budget))
    found = yield from work.choices(choices)
    return (yield from _best_of(work, final, found, first=1))


def _by_points(work: Work, prompts: Sequence[Prompt], n_aspects: int) -> Conversation[ParsedAnswer]:
    """Name the points a judgement needs, search the paper for each, choose for coverage."""
    naming, searching, final = prompts
    query = work.query
    answer = yield from work.text(
        "points to look for",
        naming,
        "ASPECTS:\n" + "".join(f"- point {number}\n" for number in range(n_aspects)),
        hypothesis=query.hypothesis,
        focus=focus_phrase(query.focus),
        n_aspects=n_aspects,
    )
    aspects = parsed_aspects(answer.text, n_aspects)
    if not aspects:
        kind = read_answer(answer.text, (), refusal=answer.refusal, finish_reason=answer.finish_reason).kind
        return ParsedAnswer(kind if kind in LOST else "no_list")
    everything = range(len(query.sentences))
    choices = [
        work.choice(
            f"point {n} of {len(aspects)}", searching, everything, first=0, budget=PER_ASPECT, aspect=aspect
        )
        for n, aspect in enumerate(aspects, start=1)
    ]
    found = yield from work.choices(choices)
    listed = "\n".join(f"- {aspect}" for aspect in aspects)
    return (yield from _best_of(work, final, found, first=0, aspects=listed))


def _best_of(
    work: Work, asked: Prompt, found: Sequence[ParsedAnswer], *, first: int, **fields: str
) -> Conversation[ParsedAnswer]:
    """The last step: all that was found, in the order of the paper, renumbered (spec rule 16).

    It is asked even if no more was found than is allowed; where nothing was, there is nothing to ask.
    """
    candidates = sorted({pick for one in found for pick in one.indices})
    if not candidates:
        return ParsedAnswer(least_informative(one.kind for one in found))
    choice = work.choice("final choice", asked, candidates, first=first, budget=work.query.budget, **fields)
    chosen = yield from work.final(choice)
    reasons = {index: reason for one in (*found, chosen) for index, reason in one.reasons.items()}
    work.partly = any(one.kind in LOST for one in found)
    return replace(chosen, reasons=reasons)
