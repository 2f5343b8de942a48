"""The paper's strategies: async functions that ask a model about a query until it has chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, LLMError, SettingError
from evidencebench_core.llm.answers import Message, estimated_prompt_tokens
from evidencebench_core.llm.client import gather
from evidencebench_core.llm.parse import ParsedAnswer, read_answer
from evidencebench_core.llm.prompts import Prompt, numbered, prompt, prompt_version
from evidencebench_core.retrievers.llm.outcome import LOST, CallRecord, least_informative

if TYPE_CHECKING:
    from evidencebench_core.data.model import Focus, SentenceType
    from evidencebench_core.llm.budget import Price
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.retrievers.base import Query

STRATEGIES: Final[Mapping[str, str]] = {
    "auto": "the paper's for the task: cot for ER, result-section for Result-ER, unconstrained without a budget",
    "cot": "the whole paper at once, reasons first",
    "icl": "as cot, with examples from a dataset",
    "section": "every section on its own, then the best of what was found",
    "result-section": "as section, for results and analyses only, with one example in the first step",
    "unconstrained": "the whole paper at once, any number of sentences; for results with examples, if named",
}
"""The strategies with what they do; ``auto`` chooses one of the others for every task."""

REGENERATE: Final = "regenerate"
LONGEST_PROMPT: Final = 6_000  # tokens; the prompt of a section that has more is cut in four
_FORTIETHS: Final = ((0, 13), (9, 22), (18, 31), (27, 40))  # slices of a section that is too long


class Steps(NamedTuple):
    """A strategy, no longer ``auto``, with its prompts in the order of their use."""

    strategy: str
    prompts: tuple[Prompt, ...]


def steps_for(
    strategy: str, focus: Focus, budget: int | None, own: str | None = None, has_examples: bool = False
) -> Steps:
    """How a query is answered; the prompt ``own`` takes the place of the first."""
    if strategy == "auto":
        strategy = "unconstrained" if budget is None else "cot" if focus == "all" else "result-section"
    elif strategy == "section" and focus == "results":
        strategy = "result-section"
    if strategy in ("section", "result-section"):
        first, others = strategy, [f"{strategy}-final"]
    else:
        first, others = f"{strategy}-results" if focus == "results" else strategy, []
        if first == "unconstrained-results" and has_examples:
            first = "unconstrained-results-icl"
    own_or_ours = prompt(first) if own is None else _in_place_of(first, own)
    return Steps(strategy, (own_or_ours, *map(prompt, others)))


def _in_place_of(ours: str, own: str) -> Prompt:
    """A prompt that can do what one of ours does: it shows what is chosen from, and needs nothing else."""
    given = prompt(own)
    known = prompt(ours).fields | {"budget", "examples"}
    if missing := sorted({"hypothesis", "sentences"} - given.fields):
        problem = f"has no ${missing[0]}, which the model has to see"
    elif unknown := sorted(given.fields - known):
        problem = f"has ${unknown[0]}, which is not known in the place of {ours}"
    else:
        return given
    remedy = f"Known there: {', '.join('$' + name for name in sorted(known))}; see {ours}."
    raise SettingError(f"prompt {own}", problem, remedy)


def used_prompts(every: Mapping[object, Steps]) -> tuple[str, ...]:
    """Name and version of every prompt that a run may use, whichever tasks it is asked for; sorted."""
    used = {prompt(REGENERATE), *(item for steps in every.values() for item in steps.prompts)}
    return tuple(map(str, sorted(used, key=lambda item: item.name)))


def outdated_prompts(settings: Mapping[str, object]) -> tuple[str, ...]:
    """Names of the prompts of a stored run that are not there any more as they were used; empty for other runs."""

    def version_now(name: str) -> str:
        try:
            return prompt_version(name)
        except SettingError:
            return ""

    used = [text.partition(" ") for text in cast("Sequence[str]", settings.get("prompts") or ())]
    return tuple(name for name, _, version in used if version_now(name) != version)


@dataclass
class Session:
    """One query put to a model, and a record of every call for it; ``parameters`` are those of each call."""

    llm: LLM
    query: Query
    parameters: Mapping[str, Any]
    examples: str = ""
    price: Price | None = None
    calls: list[CallRecord] = field(default_factory=list)
    regenerated: bool = False  # told that it had chosen too many
    partly: bool = False  # an answer that could have had more was unreadable

    async def selection(self, steps: Steps) -> ParsedAnswer:
        """The selection of a strategy."""
        if len(steps.prompts) > 1:
            return await self._by_section(*steps.prompts)
        budget = None if steps.strategy == "unconstrained" else self.query.budget
        everything = range(len(self.query.sentences))
        return await self._final("whole paper", steps.prompts[0], everything, 0, budget)

    async def _by_section(self, first: Prompt, final: Prompt) -> ParsedAnswer:
        """All sections side by side, then the best of what was found; asked even if no more than allowed was."""
        budget = self.query.budget
        sections = section_indices(self.query.sentence_types)
        parts: list[tuple[str, Sequence[int]]] = []
        for number, section in enumerate(sections, start=1):
            step = f"section {number} of {len(sections)}"
            if estimated_prompt_tokens(self._messages(first, section, 1, budget)) <= LONGEST_PROMPT:
                parts.append((step, section))
                continue
            slices = overlapping_slices(section)
            places = enumerate(slices, start=1)
            parts += [(f"{step}, part {place} of {len(slices)}", part) for place, part in places]
        choices = await gather(*(self._choice(step, first, part, 1, budget) for step, part in parts))
        self.calls += [call for _, call in choices]
        chosen = [answer for answer, _ in choices]
        candidates = sorted({index for answer in chosen for index in answer.indices})
        if not candidates:
            return ParsedAnswer(least_informative(answer.kind for answer in chosen))
        last = await self._final("final choice", final, candidates, 1, budget)
        self.partly = any(answer.kind in LOST for answer in chosen)
        reasons = {index: why for answer in (*chosen, last) for index, why in answer.reasons.items()}
        return replace(last, reasons=reasons)

    async def _final(
        self, step: str, asked: Prompt, part: Sequence[int], first: int, budget: int | None
    ) -> ParsedAnswer:
        """The choice that counts; too many sentences are asked for once more."""
        answer, call = await self._choice(step, asked, part, first, budget)
        self.calls.append(call)
        if budget is None or len(answer.indices) <= budget:
            return answer
        self.regenerated = True
        again, step = prompt(REGENERATE), f"{step}, asked again for fewer"
        messages = (
            *self._messages(asked, part, first, budget),
            Message("assistant", call.text),
            *again.messages(n_given=len(answer.indices), budget=budget),
        )
        try:
            fewer, call = await self._choice(step, again, part, first, budget, messages)
        except LLMError as error:  # of this call alone: else the answer is yet to come
            if error.stops_run or isinstance(error, (BudgetReachedError, LLMCancelledError)):
                raise
            self.calls.append(CallRecord(step=step, prompt=str(again), kind="failed", problem=str(error)))
            return answer
        self.calls.append(call)
        if fewer.kind not in ("selection", "empty"):
            return answer
        earlier = {index: why for index, why in answer.reasons.items() if index in fewer.indices}
        return replace(fewer, reasons=earlier | dict(fewer.reasons))

    async def _choice(
        self,
        step: str,
        asked: Prompt,
        part: Sequence[int],
        first: int,
        budget: int | None,
        messages: tuple[Message, ...] = (),
    ) -> tuple[ParsedAnswer, CallRecord]:
        """A choice from a part of the paper, numbered from ``first``, and the record of the call."""
        messages = messages or self._messages(asked, part, first, budget)
        shown = dict(enumerate(part, start=first))
        rehearsal = f"DECISION: {list(shown)[: budget or 1]}"
        answer = await self.llm.chat(messages, rehearsal=rehearsal, **self.parameters)
        read = read_answer(
            answer.text,
            shown.keys(),
            refusal=answer.refusal,
            finish_reason=answer.finish_reason,
            thoughts=answer.reasoning,
        )
        call = CallRecord.of(answer, messages, self.price)
        call = replace(
            call, step=step, prompt=str(asked), kind=read.kind, picked=read.indices, n_unknown=read.n_unknown
        )
        indices = tuple(shown[number] for number in read.indices)
        reasons = {shown[number]: why for number, why in read.reasons.items()}
        return replace(read, indices=indices, reasons=reasons), call

    def _messages(
        self, asked: Prompt, part: Sequence[int], first: int, budget: int | None
    ) -> tuple[Message, ...]:
        return asked.messages(
            hypothesis=self.query.hypothesis,
            sentences=numbered([self.query.sentences[index] for index in part], first),
            examples=self.examples,
            budget=len(part) if budget is None else budget,
        )


def section_indices(types: Sequence[SentenceType]) -> tuple[tuple[int, ...], ...]:
    """The sections of a paper, each as the 0-based indices of its sentences, ascending.

    All ``abstract`` sentences, wherever they stand, are the first section; then every ``section_name`` opens one and
    is its first sentence. Text before the first heading is a section of its own.
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

    Bounds are rounded down. Slices that are empty, or the same as one before, are left out.
    """
    n = len(indices)
    slices = (tuple(indices[low * n // 40 : high * n // 40]) for low, high in _FORTIETHS)
    return tuple(dict.fromkeys(part for part in slices if part))
