"""A language model that is asked which sentences it would choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from evidencebench_core.errors import SettingError, shown
from evidencebench_core.retrievers.base import Query, Retrieval, Setting
from evidencebench_core.retrievers.llm.conversation import Conversation, Sampling
from evidencebench_core.retrievers.llm.examples import MADE_UP, ExamplePool
from evidencebench_core.retrievers.llm.outcome import outcome_text
from evidencebench_core.retrievers.llm.plan import Plan, plan_for, used_prompts
from evidencebench_core.retrievers.llm.records import calls_json, reasons_json
from evidencebench_core.retrievers.llm.rehearsal import Planned, Rehearsal
from evidencebench_core.retrievers.llm.session import Session, default_session
from evidencebench_core.retrievers.llm.strategies import ANSWERED_BY, Given

if TYPE_CHECKING:
    from evidencebench_core.data.model import Focus
    from evidencebench_core.retrievers.llm.conversation import Chosen


_FOCUSES: Final[tuple[Focus, ...]] = ("all", "results")
_NO_MODEL: Final = "Name one, as in --set model=gpt-4o-mini."


class LanguageModel:
    """Asks a model on an OpenAI-compatible server (the paper's strategies, and ``guided``, ours).

    The ranking is the selection, in the order in which the model named it: what it did not choose has no
    rank. A selection beyond the budget stays as it is, to be scored by expectation (spec rule 10). An
    answer without a list, a refusal or one cut off selects nothing, and ``details["outcome"]`` tells them
    apart; `records` reads the calls behind a retrieval.
    """

    name = "llm"
    concurrency = 8

    def __init__(  # noqa: PLR0913 - one for every setting
        self,
        *,
        model: str | None = None,
        strategy: str = "auto",
        prompt: str | None = None,
        final_prompt: str | None = None,
        examples: str | None = None,
        n_examples: int = 8,
        examples_seed: int = 0,
        n_aspects: int = 8,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int | None = None,
        reasoning_effort: str | None = None,
        prompts: tuple[str, ...] | None = None,
        examples_sha256: str | None = None,
        session: Session | None = None,
    ) -> None:
        if model is None:
            raise SettingError("retriever llm", "has no model", _NO_MODEL)
        if strategy == "icl" and examples is None:
            raise SettingError(
                "retriever llm",
                "icl has no examples",
                "Name a dataset of the store, as in --set examples=train.",
            )
        used = used_prompts(strategy, prompt, final_prompt)
        _check("prompts", prompts, used)
        self._given: dict[str, Setting] = {
            "model": model,
            "strategy": strategy,
            "prompt": prompt,
            "final_prompt": final_prompt,
            "examples": examples,
            "n_examples": n_examples,
            "examples_seed": examples_seed,
            "n_aspects": n_aspects,
            "temperature": temperature,
            "seed": seed,
            "max_tokens": max_tokens,
            "reasoning_effort": reasoning_effort,
            "prompts": used,
            "examples_sha256": examples_sha256,
        }
        self._plans = {
            (focus, limited): plan_for(strategy, focus, 1 if limited else None, prompt, final_prompt)
            for focus in _FOCUSES
            for limited in (True, False)
        }
        self._sampling = Sampling(model, temperature, seed, max_tokens, reasoning_effort)
        self._n_examples, self._n_aspects = n_examples, n_aspects
        self._session = session
        self._pool: ExamplePool | None = None
        if session is not None and examples is not None and session.store is not None:
            self._pool = ExamplePool(session.store, examples, examples_seed)
            _check("examples_sha256", examples_sha256, self._pool.sha256)
            self._given["examples_sha256"] = self._pool.sha256

    @property
    def settings(self) -> Mapping[str, Setting]:
        """All settings, with the versions of the prompts and, once connected, what examples there are."""
        return MappingProxyType(self._given)

    def connected(self, session: Session) -> LanguageModel:
        """The same, asking through a session."""
        return LanguageModel(**self._given, session=session)  # type: ignore[arg-type]

    def retrieve(self, query: Query) -> Retrieval:
        """Ask, parse, select."""
        if self._session is None or (self._given["examples"] and self._pool is None):
            return self.connected(default_session()).retrieve(query)
        plan = self._plans[query.focus, query.budget is not None]
        talk = Conversation(self._session, self._sampling)
        chosen = ANSWERED_BY[plan.strategy](
            Given(query, plan, talk, self._examples(query, plan), self._n_aspects)
        )
        n_picks = len(chosen.picks)
        return Retrieval(
            ranking=chosen.picks,
            scores=tuple(float(place) for place in range(n_picks, 0, -1)),
            selection=chosen.picks,
            seconds=sum(call.seconds for call in talk.calls),
            details=MappingProxyType(_details(query, plan, talk, chosen)),
        )

    def rehearsed(self, queries: Sequence[Query]) -> Planned:
        """The cost of one instance's queries; nothing is sent."""
        real = self._session or default_session()
        rehearsal = Rehearsal(real.client, real.fresh)
        stand_in = self.connected(Session(rehearsal, real.store))
        for query in queries:
            rehearsal.budget, rehearsal.n_aspects = query.budget, self._n_aspects
            stand_in.retrieve(query)
        return rehearsal.planned

    def _examples(self, query: Query, plan: Plan) -> str:
        if not any("examples" in prompt.fields for prompt in plan.prompts):
            return ""
        if self._pool is None:
            return str(MADE_UP)
        n = 1 if plan.strategy == "result-section" else self._n_examples
        return "\n\n".join(map(str, self._pool.drawn(query, n)))


def _details(query: Query, plan: Plan, talk: Conversation, chosen: Chosen) -> dict[str, str]:
    n_unknown = sum(call.n_unknown for call in talk.calls)
    answered = [call for call in talk.calls if call.kind != "failed"]
    costs = [call.cost for call in answered]
    details = {
        "outcome": outcome_text(
            chosen.kind,
            over=query.budget is not None and len(chosen.picks) > query.budget,
            some_unknown=n_unknown > 0,
            regenerated=talk.regenerated,
            partly=chosen.partly,
        ),
        "strategy": plan.strategy,
        "prompts": ", ".join(dict.fromkeys(call.prompt for call in talk.calls)),
        "n_unknown": str(n_unknown),
        "prompt_tokens": _sum(call.prompt_tokens for call in answered),
        "completion_tokens": _sum(call.completion_tokens for call in answered),
        "cost": "" if None in costs else f"{sum(cost or 0.0 for cost in costs):.6f}",
        "reasoning": reasons_json(chosen.picks, chosen.reasons),
        "calls": calls_json(tuple(talk.calls)),
    }
    return {name: text for name, text in details.items() if text}


def _sum(counts: Iterable[int | None]) -> str:
    """The sum of what the server counted; empty if it left a call uncounted."""
    known = list(counts)
    return "" if None in known else str(sum(count or 0 for count in known))


def _check(name: str, given: Setting, now: Setting) -> None:
    if given is not None and given != now:
        raise SettingError(
            "retriever llm",
            f"{name} is {shown(given)} in the run's settings, and now it is {shown(now)}",
            f"Leave {name} out: that begins another run.",
        )
