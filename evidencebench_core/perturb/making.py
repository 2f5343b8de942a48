"""Drafts of other wordings that a language model writes; to be read by somebody before they are used."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Generator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final, Literal, Protocol

from evidencebench_core.data.store import Store
from evidencebench_core.errors import LLMCancelledError, LLMError
from evidencebench_core.llm.lines import parsed_hypothesis
from evidencebench_core.llm.parallel import in_parallel
from evidencebench_core.llm.prices import estimated_prompt_tokens
from evidencebench_core.llm.prompts import prompt
from evidencebench_core.llm.request import Answer, ChatRequest
from evidencebench_core.perturb.drafts import Draft
from evidencebench_core.perturb.wordings import LONGEST_WORDING, NEGATION, PARAPHRASE, MadeBy, wording_problem

Kind = Literal["paraphrase", "negation"]
KINDS: Final[tuple[Kind, ...]] = ("paraphrase", "negation")
_TOKENS: Final = 150  # of an answer, before one is known: a sentence or two of thought and the wording
_SAMPLE: Final = 50  # instances whose prompts are made for a plan; the others are taken to be like them
# Numbers and their units, and words with a digit or two capitals: IL-6, BRCA1, 5-HT, 0.3, mRNA.
_TERM: Final = re.compile(r"[^\s()\[\],;:]+")


class ChatClient(Protocol):
    """The part of `evidencebench_core.llm.LLM` that asks."""

    def chat(
        self, request: ChatRequest, fresh: bool = False, on_delta: Callable[[str | None], None] | None = None
    ) -> Answer: ...

    def close(self) -> None: ...


class AnswerLookup(Protocol):
    """The part of `evidencebench_core.llm.LLM` that knows whether a request is answered already."""

    def cached(self, request: ChatRequest) -> bool: ...


@dataclass(frozen=True, slots=True)
class DraftPlan:
    """The cost of `new_drafts`; tokens are estimates."""

    n_wordings: int
    n_instances: int
    n_sampled: int  # instances whose prompts were made; the others are taken to be like these
    calls: int  # to the server
    cached: int  # answered from the store
    prompt_tokens: int  # of the calls
    completion_tokens: int


def prompt_of(kind: Kind) -> str:
    """Name and version of the prompt that makes a kind: ``"negation 1-3fa9c2d1"``."""
    return f"{kind} {prompt(kind).version}"


def draft_plan(  # noqa: PLR0913 - the arguments of `new_drafts`
    store: Store,
    dataset: str,
    model: str,
    client: AnswerLookup,
    *,
    kinds: Sequence[Kind] = KINDS,
    limit: int | None = None,
    known: Container[tuple[str, str]] = (),
    fresh: bool = False,
) -> DraftPlan:
    """The cost of `new_drafts` with the same arguments. Nothing is sent."""
    prompts = {kind: prompt(kind) for kind in kinds}
    wanted = {
        one: left
        for one in store.ids(dataset, limit)
        if (left := [kind for kind in kinds if (one, kind) not in known])
    }
    n_wordings = sum(map(len, wanted.values()))
    sample = tuple(wanted)[:: max(1, -(-len(wanted) // _SAMPLE))]
    calls = cached = tokens = 0
    for row in store.rows(dataset, sample):
        for kind in wanted[row.id]:
            request = ChatRequest(model, prompts[kind].messages(hypothesis=row.hypothesis))
            if not fresh and client.cached(request):
                cached += 1
            else:
                calls, tokens = calls + 1, tokens + estimated_prompt_tokens(request.messages)
    factor = n_wordings / (calls + cached) if calls + cached else 0.0
    all_calls = round(calls * factor)
    return DraftPlan(
        n_wordings,
        len(wanted),
        len(sample),
        all_calls,
        n_wordings - all_calls,
        round(tokens * factor),
        all_calls * _TOKENS,
    )


def new_drafts(  # noqa: PLR0913 - what is asked, and how
    store: Store,
    dataset: str,
    model: str,
    client: ChatClient,
    *,
    kinds: Sequence[Kind] = KINDS,
    limit: int | None = None,
    concurrency: int = 8,
    known: Container[tuple[str, str]] = (),
    fresh: bool = False,
    cancelled: Callable[[], bool] = lambda: False,
) -> Generator[Draft, None, None]:
    """Ask a model for wordings of every hypothesis, at temperature 0, as they come.

    Answers are kept by the client, so that going on after a kill costs nothing twice. A wording that is
    empty or the original again is refused, and so is a paraphrase that has lost a term (`lost_terms`). Instance
    ids with kinds in `known` are not asked for; once `cancelled` says so nothing more is. An error that every
    further call would meet is raised after what came till then.
    """
    fatal: list[LLMError] = []
    prompts = {kind: prompt(kind) for kind in kinds}
    versions = {kind: prompt_of(kind) for kind in kinds}

    def draft(item: tuple[str, str, Kind]) -> Draft | None:
        instance_id, original, kind = item
        name = NEGATION if kind == "negation" else PARAPHRASE + model
        if fatal:
            return None
        try:
            request = ChatRequest(model, prompts[kind].messages(hypothesis=original))
            answer = client.chat(request, fresh=fresh)
        except LLMCancelledError:
            return None
        except LLMError as error:
            if error.stops_run:
                fatal.append(error)
                return None
            return Draft(instance_id, name, original, "", str(error), failed=True)
        text = " ".join((parsed_hypothesis(answer.text) or "").split())
        made_by = MadeBy(model, versions[kind], datetime.now(UTC).isoformat(timespec="seconds"))
        problem = wording_problem(original, text)
        if not problem and kind == "paraphrase" and (lost := lost_terms(original, text)):
            problem = f"the paraphrase has lost {', '.join(lost)}"
        if problem:
            text = text.encode("utf-8", "replace").decode()[:LONGEST_WORDING]
        return Draft(instance_id, name, original, text, problem, made_by, "refused" if problem else "waiting")

    def items() -> Generator[tuple[str, str, Kind], None, None]:
        for row in store.rows(dataset, store.ids(dataset, limit)):
            for kind in kinds:
                if fatal:
                    return
                if (row.id, kind) not in known:
                    yield row.id, row.hypothesis, kind

    batches = in_parallel(
        draft, items(), concurrency, stopped=cancelled, stop=lambda: None, close=client.close
    )
    for batch in batches:
        yield from (one for one in batch if one is not None)
    if fatal:
        raise fatal[0]


def lost_terms(original: str, paraphrase: str) -> tuple[str, ...]:
    """Terms that a paraphrase does not have: words with a digit, or with two capitals or one inside.

    Other words may change; whether they were terms only a reader can tell.
    """
    there = {term.casefold() for term in _terms(paraphrase)}
    return tuple(dict.fromkeys(term for term in _terms(original) if term.casefold() not in there))


def _terms(text: str) -> list[str]:
    words = (word.strip(".'\"“”‘’!?") for word in _TERM.findall(text))
    return [word for word in words if any(map(str.isdigit, word)) or any(map(str.isupper, word[1:]))]
