"""A language model that selects sentences."""

from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, Literal, get_args

from pydantic import Field

from evidencebench_core.data.model import Focus
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.llm.client import LLM
from evidencebench_core.llm.prompts import Prompt, prompt, prompt_part
from evidencebench_core.retrievers.base import Query, Retrieval, ServedRetriever, ranking_in_order
from evidencebench_core.retrievers.llm.examples import ExamplePool
from evidencebench_core.retrievers.llm.strategies import (
    CALLS,
    REGENERATE,
    CallRecord,
    Session,
    ask,
    prompts_for,
    strategy_for,
)
from evidencebench_core.retrievers.settings import (
    ExtraBody,
    ReasoningEffort,
    Settings,
    Temperature,
    parameters_of,
)

_MAX_TOKENS: Final = 1_024
_MAX_TOKENS_THINKING: Final = 16_384


class LanguageModelSettings(Settings):
    model: str | None = Field(None, description="The model, as the server calls it. It has to be named.")
    strategy: Literal["auto", "cot", "icl", "section", "result-section", "unconstrained"] = Field(
        "auto",
        description="cot: the whole paper at once, reasons first; icl: with examples; section: section by section, "
        "then the best of what was found; result-section: the same for results, with one example; unconstrained: "
        "any number, for results with examples if named; auto: cot for ER, result-section for Result-ER, "
        "unconstrained without a budget.",
    )
    prompts: str | None = Field(
        None,
        description="A folder with prompts named like ours (cot.txt, regenerate.txt) that take their place, such as "
        "the authors' own words.",
    )
    examples: str | None = Field(
        None,
        description="The dataset in the store that examples come from, best the train set; icl cannot do without. "
        "Never the instance's own hypothesis or paper.",
    )
    n_examples: int = Field(8, ge=1, le=64, description="How many examples are shown.")
    temperature: Temperature = 0.0
    max_tokens: int | None = Field(
        None,
        ge=1,
        description="Most tokens of an answer, reasons included; none: 1,024, or 16,384 with reasoning_effort.",
    )
    reasoning_effort: ReasoningEffort = None
    extra_body: ExtraBody = None


class LanguageModel(ServedRetriever):
    """Asks a model on an OpenAI-compatible server by one of the paper's strategies.

    The ranking is the selection, in the order in which the model named it; one beyond the budget stays as it is.
    ``details["outcome"]`` says what came of the answers, and `calls_in` reads them.
    """

    name = "llm"
    summary = (
        "A language model on an OpenAI-compatible server, asked by one of the paper's strategies. "
        "Ranks only what it selects."
    )
    settings_class = LanguageModelSettings
    by_budget = True
    by_focus = True

    def __init__(self, settings: Settings | None = None, **needs: Any) -> None:
        super().__init__(settings, **needs)
        chosen = self.settings
        if chosen.strategy == "icl" and chosen.examples is None:
            remedy = "Name a dataset of the store, as in --set examples=train."
            raise SettingError("retriever llm", "has no examples for icl", remedy)
        most = chosen.max_tokens
        if most is None:
            most = _MAX_TOKENS_THINKING if chosen.reasoning_effort else _MAX_TOKENS
        self._parameters = parameters_of(chosen.model, {**chosen.values(), "max_tokens": most})
        folder = None if chosen.prompts is None else Path(chosen.prompts).expanduser()
        self._again = prompt(REGENERATE, folder)
        self._again.messages(n_given=2, budget=1)  # an unknown field fails here, not during a run
        self._templates: dict[tuple[str, Focus], tuple[Prompt, ...]] = {}
        for focus, budget in product(get_args(Focus), (1, None)):
            strategy = strategy_for(chosen.strategy, focus, budget)
            templates = prompts_for(strategy, focus, chosen.examples is not None, folder)
            self._templates[strategy, focus] = templates
        self._pool = None if chosen.examples is None else ExamplePool(self.store, chosen.examples)
        used = {self._again, *chain.from_iterable(self._templates.values())}
        files = sorted(f"{template.name}.txt" for template in used)
        if folder is not None and not any((folder / file).is_file() for file in files):
            problem = f"has none of its prompts in prompts={shown(str(folder), 200)}"
            remedy = f"Name a folder with one or more of {', '.join(files)}."
            raise SettingError("retriever llm", problem, remedy)
        self.basis = {"prompts": ", ".join(sorted(map(str, used)))}
        if self._pool is not None:
            self.basis["examples"] = self._pool.sha256

    async def answer(self, llm: LLM, query: Query) -> Retrieval:
        """Ask, read, select; `LLMError` if the model gave no answer, `RetrieverError` if there is no example."""
        strategy = strategy_for(self.settings.strategy, query.focus, query.budget)
        budget = None if strategy == "unconstrained" else query.budget
        templates = self._templates[strategy, query.focus]
        examples = self._examples(query, strategy, templates)
        session = Session(llm, query, budget, templates, self._again, self._parameters, examples)
        choice = await ask(session)
        n_picks = len(choice.indices)
        if query.budget is not None and n_picks > query.budget:
            session.flags.add("over")
        details = {
            "outcome": " ".join((choice.kind, *sorted(session.flags))),
            "strategy": strategy,
            "reasons": [choice.reasons.get(index, "") for index in choice.indices],
            "calls": CALLS.dump_python(tuple(session.calls), mode="json", exclude_defaults=True),
        }
        seconds = sum(call.answer.seconds for call in session.calls)
        ranking = ranking_in_order(choice.indices)
        return replace(ranking, n_picks=n_picks, seconds=seconds, details=MappingProxyType(details))

    def _examples(self, query: Query, strategy: str, templates: tuple[Prompt, ...]) -> str:
        if not any("examples" in template.fields for template in templates):
            return ""
        if self._pool is None:
            return prompt_part("made-up-example")
        n = 1 if strategy == "result-section" else self.settings.n_examples
        return "\n\n".join(self._pool.draw(query, n))


def reasons_in(retrieval: Retrieval) -> dict[int, str]:
    """The model's reasons by sentence index; picks without a reason are left out."""
    reasons = retrieval.details.get("reasons", ())
    return {index: reason for index, reason in zip(retrieval.selection, reasons, strict=False) if reason}


def calls_in(retrieval: Retrieval) -> tuple[CallRecord, ...]:
    """The calls behind a retrieval, in order."""
    return CALLS.validate_python(retrieval.details.get("calls", ()))
