"""A language model that is asked which sentences it would choose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm import (
    LLM,
    AnswerCache,
    ChatRequest,
    Conversation,
    Price,
    answer_of,
    price_of,
    prices,
)
from evidencebench_core.llm.parse import ParsedAnswer
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.llm.choosing import Work
from evidencebench_core.retrievers.llm.examples import MADE_UP, ExamplePool
from evidencebench_core.retrievers.llm.outcome import calls_json, outcome_text, reasons_json
from evidencebench_core.retrievers.llm.strategies import Steps, selection, steps_for, used_prompts
from evidencebench_core.retrievers.table import LlmSettings

if TYPE_CHECKING:
    from evidencebench_core.data.model import Focus
    from evidencebench_core.data.store import Store

_FOCUSES: Final[tuple[Focus, ...]] = ("all", "results")
_MAX_TOKENS: Final = 1_024
_MAX_TOKENS_THINKING: Final = 16_384


class LanguageModel:
    """Asks a model on an OpenAI-compatible server (the paper's strategies, and ``guided``, ours).

    The ranking is the selection, in the order in which the model named it: what it did not choose has no
    rank. A selection beyond the budget stays as it is, to be scored by expectation (spec rule 10). An
    answer without a list, a refusal or one cut off selects nothing, and ``details["outcome"]`` tells them
    apart; `calls_in` reads the calls behind a retrieval.
    """

    name = "llm"

    def __init__(self, store: Store | None = None, **settings: object) -> None:
        given: dict[str, Any] = LlmSettings.read(f"retriever {self.name}", settings).values()
        strategy, examples, ids = given["strategy"], given["examples"], given["example_ids"]
        own, own_final = given["prompt"], given["final_prompt"]
        if given["model"] is None:
            raise _wrong("has no model", "Name one, as in --set model=gpt-4o-mini.")
        if examples is None and (strategy == "icl" or ids):
            problem = "has example_ids and no examples" if ids else "icl has no examples"
            raise _wrong(problem, "Name a dataset of the store, as in --set examples=train.")
        if strategy == "auto" and (own or own_final):
            raise _wrong("has a prompt of its own and the strategy auto", "Say the strategy it is for.")
        self._steps: dict[object, Steps] = {
            (focus, budget): steps_for(strategy, focus, budget, own, own_final, examples is not None)
            for focus in _FOCUSES
            for budget in (1, None)
        }
        if own_final is not None and any(len(one.prompts) < 2 for one in self._steps.values()):
            raise _wrong(f"has a final_prompt, and {strategy} asks once only", "Leave it out.")
        self._as_json = given["format"] == "json" or (given["format"] == "auto" and strategy == "guided")
        _fill(given, "prompts", used_prompts(self._steps, self._as_json))
        self._pool: ExamplePool | None = None
        if store is not None and examples is not None:
            self._pool = ExamplePool(store, examples, given["examples_seed"], ids or ())
            _fill(given, "examples_sha256", self._pool.sha256)
        extra, most = json.loads(given["extra_body"] or "{}"), given["max_tokens"]
        if effort := given["reasoning_effort"]:
            extra["reasoning_effort"] = effort
        if most is None:
            most = _MAX_TOKENS_THINKING if effort else _MAX_TOKENS
        self._request = ChatRequest(
            given["model"], (), given["temperature"], given["seed"], most or None, extra
        )
        self._given = given

    @property
    def settings(self) -> Mapping[str, Setting]:
        """All settings, with the versions of the prompts and, once connected, what examples there are."""
        return MappingProxyType(self._given)

    def connected(self, store: Store) -> LanguageModel:
        """The same, with its examples from a store."""
        return LanguageModel(store, **self._given)

    def conversation(self, query: Query) -> Conversation[Retrieval]:
        """Ask, read, select.

        Raises
        ------
        RetrieverError
            If there is no example for the query.
        """
        steps = self._steps[query.focus, None if query.budget is None else 1]
        examples = self._examples(query, steps)
        work = Work(query, self._request, self._price, examples, self._as_json, self._given["samples"])
        chosen = yield from selection(work, steps, self._given["n_aspects"])
        return Retrieval(
            ranking=chosen.indices,
            scores=tuple(float(place) for place in range(len(chosen.indices), 0, -1)),
            selection=chosen.indices,
            seconds=sum(call.seconds for call in work.calls),
            details=_details(work, steps.strategy, chosen),
        )

    def retrieve(self, query: Query) -> Retrieval:
        """The same, asking the server and the store that the environment names."""
        from evidencebench_core.data.store import open_store

        store = open_store()
        return answer_of(LLM(answers=AnswerCache(store)), self.connected(store).conversation(query))

    @cached_property
    def _price(self) -> Price | None:
        return price_of(self._request.model, prices())

    def _examples(self, query: Query, steps: Steps) -> str:
        given = self._given
        if not any("examples" in prompt.fields for prompt in steps.prompts):
            return ""
        if self._pool is not None:
            named = len(given["example_ids"] or ())
            n = 1 if steps.strategy == "result-section" else named or given["n_examples"]
            return "\n\n".join(self._pool.drawn(query, n))
        if given["examples"] is not None:
            raise _wrong("has no store to take its examples from", "Call connected(store) first.")
        return MADE_UP


def _details(work: Work, strategy: str, chosen: ParsedAnswer) -> Mapping[str, str]:
    budget = work.query.budget
    n_unknown = sum(call.n_unknown for call in work.calls)
    answered = [call for call in work.calls if call.kind != "failed"]
    details = {
        "outcome": outcome_text(
            chosen.kind,
            over=budget is not None and len(chosen.indices) > budget,
            unknown_indices=n_unknown > 0,
            regenerated=work.regenerated,
            partly=work.partly,
        ),
        "strategy": strategy,
        "prompts": ", ".join(dict.fromkeys(call.prompt for call in work.calls)),
        "n_unknown": str(n_unknown),
        "prompt_tokens": _sum(call.prompt_tokens for call in answered),
        "completion_tokens": _sum(call.completion_tokens for call in answered),
        "cost": _sum((call.cost for call in answered), ".6f"),
        "reasoning": reasons_json(chosen.indices, chosen.reasons),
        "calls": calls_json(work.calls),
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
