"""A language model that is asked which sentences it would choose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import orjson

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.budget import Price, price_of
from evidencebench_core.llm.parse import ParsedAnswer
from evidencebench_core.llm.prompts import Prompt, prompt
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.llm.examples import MADE_UP, ExamplePool
from evidencebench_core.retrievers.llm.outcome import calls_json, outcome_text
from evidencebench_core.retrievers.llm.strategies import (
    REGENERATE,
    STRATEGIES,
    Session,
    prompts_for,
    strategy_for,
)
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
        values: dict[str, Any] = LlmSettings.read(f"retriever {self.name}", settings).values()
        strategy, examples = values["strategy"], values["examples"]
        if values["model"] is None:
            raise _error("has no model", "Name one, as in --set model=gpt-4o-mini.")
        if strategy == "icl" and examples is None:
            raise _error("icl has no examples", "Name a dataset of the store, as in --set examples=train.")
        if strategy == "auto" and values["prompt"]:
            raise _error("has a prompt of its own and the strategy auto", "Name the strategy it is for.")
        cases = [(focus, strategy_for(strategy, focus, budget)) for focus in _FOCUSES for budget in (1, None)]
        self._prompts = {
            (name, focus): prompts_for(name, focus, values["prompt"], examples is not None)
            for focus, name in cases
        }
        versions = {str(item) for prompts in self._prompts.values() for item in prompts}
        _derive(values, "prompts", tuple(sorted({*versions, str(prompt(REGENERATE))})))
        self._store = store
        self._pool: ExamplePool | None = None
        if store is not None and examples is not None:
            self._pool = ExamplePool(store, examples)
            _derive(values, "examples_sha256", self._pool.sha256)
        self._settings = values

    @property
    def settings(self) -> Mapping[str, Setting]:
        """All settings, with the versions of the prompts and, once connected, what examples there are."""
        return MappingProxyType(self._settings)

    def connected(self, store: Store) -> LanguageModel:
        """The same, with its examples from a store, and its answers kept there."""
        return LanguageModel(store, **self._settings)

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """Ask, read, select; `LLMError` if the model gave no answer, `RetrieverError` if there is no example."""
        strategy = strategy_for(self._settings["strategy"], query.focus, query.budget)
        prompts = self._prompts[strategy, query.focus]
        examples = self._examples(query, strategy, prompts)
        session = Session(llm, query, prompts, self._parameters, examples, self._price)
        choice = await STRATEGIES[strategy](session)
        return Retrieval(
            ranking=choice.indices,
            scores=tuple(float(place) for place in range(len(choice.indices), 0, -1)),
            selection=choice.indices,
            seconds=sum(call.seconds for call in session.calls),
            details=_details(session, strategy, choice),
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
        most = self._settings["max_tokens"]
        if most is None:
            most = _MAX_TOKENS_THINKING if self._settings["reasoning_effort"] else _MAX_TOKENS
        fields = {name: self._settings[name] for name in ("model", "temperature", "reasoning_effort")}
        return {**fields, "max_tokens": most or None, **json.loads(self._settings["extra_body"] or "{}")}

    @cached_property
    def _price(self) -> Price | None:
        return price_of(self._settings["model"])

    def _examples(self, query: Query, strategy: str, prompts: Iterable[Prompt]) -> str:
        if not any("examples" in template.fields for template in prompts):
            return ""
        if self._pool is not None:
            n = 1 if strategy == "result-section" else self._settings["n_examples"]
            return "\n\n".join(self._pool.draw(query, n))
        if self._settings["examples"] is not None:
            raise _error("has no store to take its examples from", "Call connected(store) first.")
        return MADE_UP


def _details(session: Session, strategy: str, choice: ParsedAnswer) -> Mapping[str, str]:
    budget, calls = session.query.budget, session.calls
    n_unknown = sum(call.n_unknown for call in calls)
    answers = [call for call in calls if call.kind != "failed"]
    details = {
        "outcome": outcome_text(
            choice.kind,
            over=budget is not None and len(choice.indices) > budget,
            unknown_indices=n_unknown > 0,
            regenerated=session.is_regenerated,
            partly=session.is_partial,
        ),
        "strategy": strategy,
        "prompts": ", ".join(dict.fromkeys(call.prompt for call in calls)),
        "n_unknown": str(n_unknown),
        "prompt_tokens": _sum(call.prompt_tokens for call in answers),
        "completion_tokens": _sum(call.completion_tokens for call in answers),
        "cost": _sum((call.cost for call in answers), ".6f"),
        # in the order of the selection: that survives another numbering of the paper
        "reasoning": orjson.dumps([choice.reasons.get(index, "") for index in choice.indices]).decode(),
        "calls": calls_json(calls),
    }
    return MappingProxyType({name: text for name, text in details.items() if text})


def _sum(figures: Iterable[float | None], form: str = "") -> str:
    """The sum of what is known of every call; empty if one is not known."""
    values = list(figures)
    return "" if None in values else format(sum(figure or 0 for figure in values), form)


def _derive(settings: dict[str, Any], name: str, value: Setting) -> None:
    """Fill in what is derived, unless a run's settings have it otherwise."""
    if settings[name] not in (None, value):
        raise _error(
            f"{name} is {shown(settings[name])} in the run's settings, and now it is {shown(value)}",
            f"Leave {name} out: that begins another run.",
        )
    settings[name] = value


def _error(problem: str, remedy: str) -> SettingError:
    return SettingError("retriever llm", problem, remedy)
