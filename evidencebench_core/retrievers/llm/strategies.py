"""The paper's strategies: async functions that ask a model about a query until it has chosen."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter

from evidencebench_core.data.model import Focus, SentenceType
from evidencebench_core.errors import SettingError
from evidencebench_core.llm.answers import Answer, Message, estimated_prompt_tokens
from evidencebench_core.llm.budget import price_of
from evidencebench_core.llm.client import LLM, gather
from evidencebench_core.llm.parse import UNREADABLE, ParsedAnswer, read_answer
from evidencebench_core.llm.prompts import Prompt, numbered, prompt
from evidencebench_core.retrievers.base import Query

REGENERATE: Final = "regenerate"
_BY_SECTION: Final = ("section", "result-section")
LONGEST_PROMPT: Final = 6_000  # tokens; the prompt of a section that has more is cut in four
_FORTIETHS: Final = ((0, 13), (9, 22), (18, 31), (27, 40))  # slices of a section that is too long


class Part(NamedTuple):
    """The candidates of one step: its name, their indices, and the number of the first in the prompt."""

    step: str
    indices: Sequence[int]
    first: int = 1


@dataclass(frozen=True, slots=True)
class CallRecord:
    """One question to the model; the store has its request under ``answer.key``."""

    step: str  # "whole paper", "section 2 of 7", "final choice"
    prompt: str  # name and version
    kind: str  # of `OUTCOME_KINDS`
    answer: Answer
    cost: float | None = None  # dollars when it was first given, if price and tokens are known


CALLS: Final = TypeAdapter(tuple[CallRecord, ...])


@dataclass
class Session:
    """One query to a model, with a record of its calls, which all have these ``parameters``."""

    llm: LLM
    query: Query
    budget: int | None
    templates: tuple[Prompt, ...]  # in the order of their use
    again: Prompt  # for fewer
    parameters: Mapping[str, Any]
    examples: str
    calls: list[CallRecord] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)  # of `OUTCOME_FLAGS`

    async def choose(
        self, part: Part, template: Prompt, messages: tuple[Message, ...] = ()
    ) -> tuple[ParsedAnswer, CallRecord]:
        """A choice from a part of the paper, as indices in the paper, and the record of the call."""
        messages = messages or self.messages(part, template)
        shown = dict(enumerate(part.indices, start=part.first))
        rehearsal = f"DECISION: {list(shown)[: self.budget or 1]}"
        answer = await self.llm.chat(messages, rehearsal=rehearsal, **self.parameters)
        choice = read_answer(
            answer.text,
            shown.keys(),
            refusal=answer.refusal,
            finish_reason=answer.finish_reason,
            thoughts=answer.reasoning,
        )
        if choice.n_unknown:
            self.flags.add("some-unknown")
        indices = tuple(shown[number] for number in choice.indices)
        reasons = {shown[number]: reason for number, reason in choice.reasons.items()}
        is_counted = answer.prompt_tokens is not None and answer.completion_tokens is not None
        cost = price_of(self.parameters["model"], *answer.tokens(0), answer.batch) if is_counted else None
        call = CallRecord(part.step, str(template), choice.kind, answer, cost)
        return replace(choice, indices=indices, reasons=reasons), call

    async def final_choice(self, part: Part, template: Prompt) -> ParsedAnswer:
        """The choice that counts; if it has too many sentences, the model is asked once for fewer."""
        choice, call = await self.choose(part, template)
        self.calls.append(call)
        if self.budget is None or len(choice.indices) <= self.budget:
            return choice
        self.flags.add("regenerated")
        part = part._replace(step=f"{part.step}, asked again for fewer")
        messages = (
            *self.messages(part, template),
            Message("assistant", call.answer.text),
            *self.again.messages(n_given=len(choice.indices), budget=self.budget),
        )
        fewer, call = await self.choose(part, self.again, messages)
        self.calls.append(call)
        if fewer.kind not in ("selection", "empty"):
            return choice
        earlier = {index: reason for index, reason in choice.reasons.items() if index in fewer.indices}
        return replace(fewer, reasons=earlier | dict(fewer.reasons))

    def messages(self, part: Part, template: Prompt) -> tuple[Message, ...]:
        """The prompt, filled in."""
        return template.messages(
            hypothesis=self.query.hypothesis,
            sentences=numbered([self.query.sentences[index] for index in part.indices], part.first),
            examples=self.examples,
            budget=len(part.indices) if self.budget is None else self.budget,
        )


async def ask(session: Session) -> ParsedAnswer:
    """The choice from the whole paper or, where there are two prompts, from what was chosen section by section."""
    template, *final = session.templates
    if not final:
        whole = Part("whole paper", range(len(session.query.sentences)), first=0)
        return await session.final_choice(whole, template)
    parts: list[Part] = []
    sections = section_indices(session.query.sentence_types)
    for number, indices in enumerate(sections, start=1):
        part = Part(f"section {number} of {len(sections)}", indices)
        texts = [message.content for message in session.messages(part, template)]
        if estimated_prompt_tokens(texts) <= LONGEST_PROMPT:
            parts.append(part)
            continue
        slices = overlapping_slices(indices)
        for place, piece in enumerate(slices, start=1):
            parts.append(Part(f"{part.step}, part {place} of {len(slices)}", piece))
    results = await gather(*(session.choose(part, template) for part in parts))
    session.calls += [call for _, call in results]
    choices = [choice for choice, _ in results]
    candidates = sorted({index for choice in choices for index in choice.indices})
    if not candidates:  # the least telling kind
        kinds = [choice.kind for choice in choices]
        return ParsedAnswer(next((kind for kind in (*UNREADABLE, "unknown") if kind in kinds), "empty"))
    last = await session.final_choice(Part("final choice", candidates), *final)
    if any(choice.kind in UNREADABLE for choice in choices):
        session.flags.add("partly")
    reasons = {index: reason for choice in (*choices, last) for index, reason in choice.reasons.items()}
    return replace(last, reasons=reasons)


def strategy_for(name: str, focus: Focus, budget: int | None) -> str:
    """The strategy for a task; ``auto`` takes the paper's."""
    if name == "auto":
        return "unconstrained" if budget is None else "cot" if focus == "all" else "result-section"
    return "result-section" if name == "section" and focus == "results" else name


def prompts_for(
    strategy: str, focus: Focus, has_examples: bool = False, folder: Path | None = None
) -> tuple[Prompt, ...]:
    """The prompts of a strategy in the order of their use; those in the ``folder`` come before ours."""
    is_by_section = strategy in _BY_SECTION
    first = f"{strategy}-results" if focus == "results" and not is_by_section else strategy
    if first == "unconstrained-results" and has_examples:
        first = "unconstrained-results-icl"
    names = (first, f"{strategy}-final") if is_by_section else (first,)
    return tuple(_strategy_prompt(prompt(name, folder)) for name in names)


def _strategy_prompt(template: Prompt) -> Prompt:
    """The prompt, if its fields are those of a strategy; else `SettingError`."""
    needed = {"hypothesis", "sentences"}
    if needed <= template.fields <= needed | {"budget", "examples"}:
        return template
    problem = f"cannot stand in a strategy with the fields {sorted(template.fields)}"
    remedy = "It has to show $hypothesis and $sentences; $budget and $examples are known, too."
    raise SettingError(f"prompt {template.name}", problem, remedy)


def section_indices(types: Sequence[SentenceType]) -> tuple[tuple[int, ...], ...]:
    """The sections of a paper as indices: all ``abstract`` sentences, then from one ``section_name`` to the next.

    Text before the first heading is a section of its own.
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
    """Slices [0, .325n) [.225n, .55n) [.45n, .775n) [.675n, n), rounded down, each once and none empty."""
    n = len(indices)
    slices = (tuple(indices[low * n // 40 : high * n // 40]) for low, high in _FORTIETHS)
    return tuple(dict.fromkeys(piece for piece in slices if piece))
