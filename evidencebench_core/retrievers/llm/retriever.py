"""A language model that is asked which sentences it would choose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.budget import Price, price_of
from evidencebench_core.llm.parse import ParsedAnswer
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.llm.examples import MADE_UP, ExamplePool
from evidencebench_core.retrievers.llm.outcome import calls_json, outcome_text, reasons_json
from evidencebench_core.retrievers.llm.strategies import Session, Steps, steps_for, used_prompts
from evidencebench_core.retrievers.table import LlmSettings

if TYPE_CHECKING:
    from evidencebench_core.data.model import Focus
    from evidencebench_core.data.store import Store
    from evidencebench_core.llm.client import LLM

_FOCUSES: Final[tuple[Focus, ...]] = ("all", "results")
_MAX_TOKENS: Final = 1_024
_MAX_TOKENS_THINKING: Final = 16_384


class LanguageModel:
    """Asks a model on an OpenAI-compatible server by one of the paper's strategies.

    The ranking is the selection, in the order in which the model named it. A selection beyond the budget stays as it
    is, to be scored by expectation. An answer without a list, a refusal or one cut off selects nothing, and
    ``details["outcome"]`` tells them apart; `calls_in` reads the calls behind a retrieval.
    """

    name = "llm"

    def __init__(self, store: Store | None = None, **settings: object) -> None:
        given: dict[str, Any] = LlmSettings.read(f"retriever {self.name}", settings).values()
        strategy, examples = given["strategy"], given["examples"]
        if given["model"] is None:
            raise _wrong("has no model", "Name one, as in --set model=gpt-4o-mini.")
        if strategy == "icl" and examples is None:
            raise _wrong("icl has no examples", "Name a dataset of the store, as in --set examples=train.")
        if strategy == "auto" and given["prompt"]:
            raise _wrong("has a prompt of its own and the strategy auto", "Name the strategy it is for.")
        self._steps: dict[object, Steps] = {
            (focus, budget): steps_for(strategy, focus, budget, given["prompt"], examples is not None)
            for focus in _FOCUSES
            for budget in (1, None)
        }
        _fill(given, "prompts", used_prompts(self._steps))
        self._store = store
        self._pool: ExamplePool | None = None
        if store is not None and examples is not None:
            self._pool = ExamplePool(store, examples)
            _fill(given, "examples_sha256", self._pool.sha256)
        self._given = given

    @property
    def settings(self) -> Mapping[str, Setting]:
        """All settings, with the versions of the prompts and, once connected, what examples there are."""
        return MappingProxyType(self._given)

    def connected(self, store: Store) -> LanguageModel:
        """The same, with its examples from a store, and its answers kept there."""
        return LanguageModel(store, **self._given)

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """Ask, read, select.

        Raises
        ------
        LLMError
            If the model gave no answer.
        RetrieverError
            If there is no example for the query.
        """
        steps = self._steps[query.focus, None if query.budget is None else 1]
        session = Session(llm, query, self._parameters, self._examples(query, steps), self._price)
        chosen = await session.selection(steps)
        return Retrieval(
            ranking=chosen.indices,
            scores=tuple(float(place) for place in range(len(chosen.indices), 0, -1)),
            selection=chosen.indices,
            seconds=sum(call.seconds for call in session.calls),
            details=_details(session, steps.strategy, chosen),
        )

    def retrieve(self, query: Query) -> Retrieval:
        """The same, asking the server that the environment names; answers are kept in the store at hand."""
        from evidencebench_core.data.store import open_store
        from evidencebench_core.llm import LLM, answer_of

        store = self._store or open_store()
        retriever = self if self._store else self.connected(store)
        return answer_of(LLM(store=store), lambda llm: retriever.answer(llm, query))

    @cached_property
    def _parameters(self) -> dict[str, Any]:
        """The fields of every request but the messages."""
        given = self._given
        most = given["max_tokens"]
        if most is None:
            most = _MAX_TOKENS_THINKING if given["reasoning_effort"] else _MAX_TOKENS
        own = {name: given[name] for name in ("model", "temperature", "reasoning_effort")}
        return {**own, "max_tokens": most or None, **json.loads(given["extra_body"] or "{}")}

    @cached_property
    def _price(self) -> Price | None:
        return price_of(self._given["model"])

    def _examples(self, query: Query, steps: Steps) -> str:
        if not any("examples" in prompt.fields for prompt in steps.prompts):
            return ""
        if self._pool is not None:
            n = 1 if steps.strategy == "result-section" else self._given["n_examples"]
            return "\n\n".join(self._pool.drawn(query, n))
        if self._given["examples"] is not None:
            raise _wrong("has no store to take its examples from", "Call connected(store) first.")
        return MADE_UP


def _details(session: Session, strategy: str, chosen: ParsedAnswer) -> Mapping[str, str]:
    budget, calls = session.query.budget, session.calls
    n_unknown = sum(call.n_unknown for call in calls)
    answered = [call for call in calls if call.kind != "failed"]
    details = {
        "outcome": outcome_text(
            chosen.kind,
            over=budget is not None and len(chosen.indices) > budget,
            unknown_indices=n_unknown > 0,
            regenerated=session.regenerated,
            partly=session.partly,
        ),
        "strategy": strategy,
        "prompts": ", ".join(dict.fromkeys(call.prompt for call in calls)),
        "n_unknown": str(n_unknown),
        "prompt_tokens": _sum(call.prompt_tokens for call in answered),
        "completion_tokens": _sum(call.completion_tokens for call in answered),
        "cost": _sum((call.cost for call in answered), ".6f"),
        "reasoning": reasons_json(chosen.indices, chosen.reasons),
        "calls": calls_json(calls),
    }
    return MappingProxyType({name: text for name, text in details.items() if text})


def _sum(figures: Iterable[float | None], form: str = "") -> str:
    """The sum of what is known of every call; empty if one is not known."""
    known = list(figures)
    return "" if None in known else format(sum(figure or 0 for figure in known), form)


def _fill(given: dict[str, Any], name: str, now: Setting) -> None:
    """Fill in what is derived, unless a run's settings have it otherwise."""
    if given[name] not in (None, now):
        raise _wrong(
            f"{name} is {shown(given[name])} in the run's settings, and now it is {shown(now)}",
            f"Leave {name} out: that begins another run.",
        )
    given[name] = now


def _wrong(problem: str, remedy: str) -> SettingError:
    return SettingError("retriever llm", problem, remedy)
