"""A language model that is asked which sentences it would choose."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cached_property
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.conversation import Conversation, answer_of
from evidencebench_core.llm.prices import Price, price_of, prices
from evidencebench_core.llm.request import ChatRequest
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.llm.choosing import Calls, Chosen
from evidencebench_core.retrievers.llm.examples import MADE_UP, ExamplePool
from evidencebench_core.retrievers.llm.outcome import outcome_text
from evidencebench_core.retrievers.llm.records import calls_json, reasons_json
from evidencebench_core.retrievers.llm.strategies import ANSWERED_BY, Steps, Work, steps_for, used_prompts

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
    apart; `records` reads the calls behind a retrieval.
    """

    name = "llm"

    def __init__(  # noqa: PLR0913 - one for every setting
        self,
        *,
        model: str | None = None,
        strategy: str = "auto",
        prompt: str | None = None,
        final_prompt: str | None = None,
        examples: str | None = None,
        example_ids: tuple[str, ...] | None = None,
        n_examples: int = 8,
        examples_seed: int = 0,
        n_aspects: int = 8,
        samples: int = 1,
        format: str = "auto",
        temperature: float | None = 0.0,
        seed: int = 0,
        max_tokens: int | None = None,
        reasoning_effort: str | None = None,
        extra_body: str | None = None,
        prompts: tuple[str, ...] | None = None,
        examples_sha256: str | None = None,
        store: Store | None = None,
    ) -> None:
        if model is None:
            raise _wrong("has no model", "Name one, as in --set model=gpt-4o-mini.")
        if examples is None and (strategy == "icl" or example_ids):
            needs = "example_ids names instances" if example_ids else "icl has no examples"
            raise _wrong(needs, "Name a dataset of the store, as in --set examples=train.")
        if strategy == "auto" and (prompt or final_prompt):
            raise _wrong("has a prompt of its own and the strategy auto", "Say the strategy it is for.")
        if max_tokens is None:
            max_tokens = _MAX_TOKENS_THINKING if reasoning_effort else _MAX_TOKENS
        self._as_json = format == "json" or (format == "auto" and strategy == "guided")
        self._steps: dict[object, Steps] = {
            (focus, limited): steps_for(
                strategy, focus, 1 if limited else None, prompt, final_prompt, examples is not None
            )
            for focus in _FOCUSES
            for limited in (True, False)
        }
        if final_prompt is not None and any(len(one.prompts) < 2 for one in self._steps.values()):
            raise _wrong(f"has a final_prompt, and {strategy} asks once only", "Leave it out.")
        used = used_prompts(self._steps, self._as_json)
        _check("prompts", prompts, used)
        self._pool: ExamplePool | None = None
        if store is not None and examples is not None:
            self._pool = ExamplePool(store, examples, examples_seed, example_ids or ())
            _check("examples_sha256", examples_sha256, self._pool.sha256)
            examples_sha256 = self._pool.sha256
        self._settings: dict[str, Setting] = {
            "model": model,
            "strategy": strategy,
            "prompt": prompt,
            "final_prompt": final_prompt,
            "examples": examples,
            "example_ids": example_ids,
            "n_examples": n_examples,
            "examples_seed": examples_seed,
            "n_aspects": n_aspects,
            "samples": samples,
            "format": format,
            "temperature": temperature,
            "seed": seed,
            "max_tokens": max_tokens,
            "reasoning_effort": reasoning_effort,
            "extra_body": extra_body,
            "prompts": used,
            "examples_sha256": examples_sha256,
        }
        extra: dict[str, Any] = {} if extra_body is None else json.loads(extra_body)
        if reasoning_effort is not None:
            extra["reasoning_effort"] = reasoning_effort
        self._request = ChatRequest(model, (), temperature, seed, max_tokens or None, extra)
        self._samples, self._n_aspects = samples, n_aspects
        self._n_examples = len(example_ids) if example_ids else n_examples

    @property
    def settings(self) -> Mapping[str, Setting]:
        """All settings, with the versions of the prompts and, once connected, what examples there are."""
        return MappingProxyType(self._settings)

    def connected(self, store: Store) -> LanguageModel:
        """The same, with its examples from a store."""
        return LanguageModel(**self._settings, store=store)  # type: ignore[arg-type]

    def conversation(self, query: Query) -> Conversation[Retrieval]:
        """Ask, read, select.

        Raises
        ------
        RetrieverError
            If there is no example for the query.
        """
        steps = self._steps[query.focus, query.budget is not None]
        calls = Calls(self._request, self._price, self._as_json, self._samples)
        work = Work(query, steps, calls, self._examples(query, steps), self._n_aspects)
        chosen = yield from ANSWERED_BY[steps.strategy](work)
        return Retrieval(
            ranking=chosen.picks,
            scores=tuple(float(place) for place in range(len(chosen.picks), 0, -1)),
            selection=chosen.picks,
            seconds=sum(call.seconds for call in calls.records),
            details=MappingProxyType(_details(query, steps, calls, chosen)),
        )

    def retrieve(self, query: Query) -> Retrieval:
        """The same, asking the server and the store that the environment names."""
        from evidencebench_core.data.store import open_store
        from evidencebench_core.llm import LLM, AnswerCache

        store = open_store()
        return answer_of(LLM(answers=AnswerCache(store)), self.connected(store).conversation(query))

    @cached_property
    def _price(self) -> Price | None:
        return price_of(self._request.model, prices())

    def _examples(self, query: Query, steps: Steps) -> str:
        if not any("examples" in prompt.fields for prompt in steps.prompts):
            return ""
        if self._pool is not None:
            n = 1 if steps.strategy == "result-section" else self._n_examples
            return "\n\n".join(map(str, self._pool.drawn(query, n)))
        if self._settings["examples"] is not None:
            raise _wrong("has no store to take its examples from", "Call connected(store) first.")
        return str(MADE_UP)


def _details(query: Query, steps: Steps, calls: Calls, chosen: Chosen) -> dict[str, str]:
    records = calls.records
    n_unknown = sum(call.n_unknown for call in records)
    answered = [call for call in records if call.kind != "failed"]
    costs = [call.cost for call in answered]
    details = {
        "outcome": outcome_text(
            chosen.kind,
            over=query.budget is not None and len(chosen.picks) > query.budget,
            some_unknown=n_unknown > 0,
            regenerated=calls.regenerated,
            partly=chosen.partly,
        ),
        "strategy": steps.strategy,
        "prompts": ", ".join(dict.fromkeys(call.prompt for call in records)),
        "n_unknown": str(n_unknown),
        "prompt_tokens": _sum(call.prompt_tokens for call in answered),
        "completion_tokens": _sum(call.completion_tokens for call in answered),
        "cost": "" if None in costs else f"{sum(cost or 0.0 for cost in costs):.6f}",
        "reasoning": reasons_json(chosen.picks, chosen.reasons),
        "calls": calls_json(tuple(records)),
    }
    return {name: text for name, text in details.items() if text}


def _sum(counts: Iterable[int | None]) -> str:
    """The sum of what the server counted; empty if it left a call uncounted."""
    known = list(counts)
    return "" if None in known else str(sum(count or 0 for count in known))


def _check(name: str, given: Setting, now: Setting) -> None:
    if given is not None and given != now:
        raise _wrong(
            f"{name} is {shown(given)} in the run's settings, and now it is {shown(now)}",
            f"Leave {name} out: that begins another run.",
        )


def _wrong(problem: str, remedy: str) -> SettingError:
    return SettingError("retriever llm", problem, remedy)
