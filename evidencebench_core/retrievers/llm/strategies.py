"""The paper's strategies: async functions that ask a model about a query until it has chosen."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.errors import BudgetReachedError, LLMCancelledError, LLMError, SettingError
from evidencebench_core.llm.answers import Message, estimated_prompt_tokens
from evidencebench_core.llm.client import gather
from evidencebench_core.llm.parse import ParsedAnswer, read_answer
from evidencebench_core.llm.prompts import Prompt, numbered, prompt
from evidencebench_core.retrievers.llm.outcome import UNREADABLE, CallRecord, least_informative

if TYPE_CHECKING:
    from evidencebench_core.data.model import Focus, SentenceType
    from evidencebench_core.llm.budget import Price
    from evidencebench_core.llm.client import LLM
    from evidencebench_core.retrievers.base import Query

REGENERATE: Final = "regenerate"
LONGEST_PROMPT: Final = 6_000  # tokens; the prompt of a section that has more is cut in four
_FORTIETHS: Final = ((0, 13), (9, 22), (18, 31), (27, 40))  # slices of a section that is too long


class Part(NamedTuple):
    """Sentences that are chosen from: what the step is called, their indices, and the number of the first."""

    step: str
    indices: Sequence[int]
    first: int = 1


@dataclass
class Session:
    """One query put to a model, and a record of every call for it; ``parameters`` are those of each call."""

    llm: LLM
    query: Query
    prompts: tuple[Prompt, ...]  # in the order of their use
    parameters: Mapping[str, Any]
    examples: str = ""
    price: Price | None = None
    calls: list[CallRecord] = field(default_factory=list)
    is_regenerated: bool = False  # told that it had chosen too many
    is_partial: bool = False  # an answer that could have had more was unreadable

    async def choose(
        self, part: Part, template: Prompt, budget: int | None, messages: tuple[Message, ...] = ()
    ) -> tuple[ParsedAnswer, CallRecord]:
        """A choice from a part of the paper, as indices of the paper, and the record of the call."""
        messages = messages or self.messages(part, template, budget)
        shown = dict(enumerate(part.indices, start=part.first))
        rehearsal = f"DECISION: {list(shown)[: budget or 1]}"
        answer = await self.llm.chat(messages, rehearsal=rehearsal, **self.parameters)
        choice = read_answer(
            answer.text,
            shown.keys(),
            refusal=answer.refusal,
            finish_reason=answer.finish_reason,
            thoughts=answer.reasoning,
        )
        read = {"kind": choice.kind, "picked": choice.indices, "n_unknown": choice.n_unknown}
        call = CallRecord.of(answer, messages, self.price, step=part.step, prompt=str(template), **read)
        indices = tuple(shown[number] for number in choice.indices)
        reasons = {shown[number]: reason for number, reason in choice.reasons.items()}
        return replace(choice, indices=indices, reasons=reasons), call

    async def final_choice(self, part: Part, template: Prompt, budget: int | None) -> ParsedAnswer:
        """The choice that counts; if it is of too many sentences the model is told so once."""
        choice, call = await self.choose(part, template, budget)
        self.calls.append(call)
        if budget is None or len(choice.indices) <= budget:
            return choice
        self.is_regenerated = True
        again, part = prompt(REGENERATE), part._replace(step=f"{part.step}, asked again for fewer")
        messages = (
            *self.messages(part, template, budget),
            Message("assistant", call.text),
            *again.messages(n_given=len(choice.indices), budget=budget),
        )
        try:
            fewer, call = await self.choose(part, again, budget, messages)
        except LLMError as error:  # of this call alone: else the answer is yet to come
            if error.stops_run or isinstance(error, (BudgetReachedError, LLMCancelledError)):
                raise
            self.calls.append(
                CallRecord(step=part.step, prompt=str(again), kind="failed", problem=str(error))
            )
            return choice
        self.calls.append(call)
        if fewer.kind not in ("selection", "empty"):
            return choice
        earlier = {index: reason for index, reason in choice.reasons.items() if index in fewer.indices}
        return replace(fewer, reasons=earlier | dict(fewer.reasons))

    def messages(self, part: Part, template: Prompt, budget: int | None) -> tuple[Message, ...]:
        """The prompt, filled in."""
        return template.messages(
            hypothesis=self.query.hypothesis,
            sentences=numbered([self.query.sentences[index] for index in part.indices], part.first),
            examples=self.examples,
            budget=len(part.indices) if budget is None else budget,
        )


async def whole_paper(session: Session) -> ParsedAnswer:
    """All sentences at once, as many as the budget allows."""
    part = Part("whole paper", range(len(session.query.sentences)), first=0)
    return await session.final_choice(part, session.prompts[0], session.query.budget)


async def unconstrained(session: Session) -> ParsedAnswer:
    """All sentences at once, any number of them."""
    part = Part("whole paper", range(len(session.query.sentences)), first=0)
    return await session.final_choice(part, session.prompts[0], None)


async def by_section(session: Session) -> ParsedAnswer:
    """All sections side by side, then the best of what was chosen; asked even if no more than allowed was."""
    template, final = session.prompts
    budget = session.query.budget
    parts: list[Part] = []
    sections = section_indices(session.query.sentence_types)
    for number, indices in enumerate(sections, start=1):
        part = Part(f"section {number} of {len(sections)}", indices)
        if estimated_prompt_tokens(session.messages(part, template, budget)) <= LONGEST_PROMPT:
            parts.append(part)
            continue
        slices = overlapping_slices(indices)
        for place, piece in enumerate(slices, start=1):
            parts.append(Part(f"{part.step}, part {place} of {len(slices)}", piece))
    results = await gather(*(session.choose(part, template, budget) for part in parts))
    session.calls += [call for _, call in results]
    choices = [choice for choice, _ in results]
    candidates = sorted({index for choice in choices for index in choice.indices})
    if not candidates:
        return ParsedAnswer(least_informative(choice.kind for choice in choices))
    last = await session.final_choice(Part("final choice", candidates), final, budget)
    session.is_partial = any(choice.kind in UNREADABLE for choice in choices)
    reasons = {index: reason for choice in (*choices, last) for index, reason in choice.reasons.items()}
    return replace(last, reasons=reasons)


STRATEGIES: Final[Mapping[str, Callable[[Session], Awaitable[ParsedAnswer]]]] = {
    "cot": whole_paper,
    "icl": whole_paper,
    "section": by_section,
    "result-section": by_section,
    "unconstrained": unconstrained,
}


def strategy_for(name: str, focus: Focus, budget: int | None) -> str:
    """The strategy for a task: ``auto`` takes the paper's, and a section of results has prompts of its own."""
    if name == "auto":
        return "unconstrained" if budget is None else "cot" if focus == "all" else "result-section"
    return "result-section" if name == "section" and focus == "results" else name


def prompts_for(
    strategy: str, focus: Focus, replacement: str | None = None, has_examples: bool = False
) -> tuple[Prompt, ...]:
    """The prompts of a strategy in the order of their use; a ``replacement`` takes the place of the first."""
    if STRATEGIES[strategy] is by_section:
        first, others = strategy, [prompt(f"{strategy}-final")]
    else:
        first, others = f"{strategy}-results" if focus == "results" else strategy, []
        if first == "unconstrained-results" and has_examples:
            first = "unconstrained-results-icl"
    template = prompt(first) if replacement is None else _replacement(replacement, prompt(first))
    return (template, *others)


def _replacement(name: str, ours: Prompt) -> Prompt:
    """A prompt that can do what one of ours does: it shows what is chosen from, and needs nothing else."""
    template, allowed = prompt(name), ours.fields | {"budget", "examples"}
    if missing := sorted({"hypothesis", "sentences"} - template.fields):
        problem = f"has no ${missing[0]}, which the model has to see"
    elif unknown := sorted(template.fields - allowed):
        problem = f"has ${unknown[0]}, which is not known in the place of {ours.name}"
    else:
        return template
    remedy = f"Known there: {', '.join('$' + field for field in sorted(allowed))}; see {ours.name}."
    raise SettingError(f"prompt {name}", problem, remedy)


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
    return tuple(dict.fromkeys(piece for piece in slices if piece))
