"""Which strategy answers a query, and with which prompts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Literal, cast

from evidencebench_core.errors import SettingError
from evidencebench_core.llm.prompts import Prompt, prompt
from evidencebench_core.retrievers.llm.conversation import REGENERATE

if TYPE_CHECKING:
    from evidencebench_core.data.model import Focus


Strategy = Literal["cot", "icl", "section", "result-section", "unconstrained", "guided"]

STRATEGIES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "auto": "the paper's for the task: cot for ER, result-section for Result-ER, unconstrained without a budget",
        "cot": "the whole paper at once, reasons first",
        "icl": "as cot, with examples from a dataset",
        "section": "every section on its own, then the best of what was found",
        "result-section": "as section, for results and analyses only, with one example",
        "unconstrained": "the whole paper at once, any number of sentences",
        "guided": "our own, not the paper's: name the points to look for, search for each, choose for coverage",
    }
)
"""The strategies with what they do; ``auto`` chooses one of the others for every task."""

# By strategy and focus the prompts in the order of their use; the first and the last can be replaced.
_PROMPTS: Final[Mapping[tuple[str, str], tuple[str, ...]]] = MappingProxyType(
    {
        ("cot", "all"): ("cot",),
        ("cot", "results"): ("cot-results",),
        ("icl", "all"): ("icl",),
        ("icl", "results"): ("icl-results",),
        ("section", "all"): ("section", "section-final"),
        ("result-section", "all"): ("result-section", "result-section-final"),
        ("result-section", "results"): ("result-section", "result-section-final"),
        ("unconstrained", "all"): ("unconstrained",),
        ("unconstrained", "results"): ("unconstrained-results",),
        ("guided", "all"): ("guided-aspects", "guided-retrieve", "guided-final"),
        ("guided", "results"): ("guided-aspects", "guided-retrieve", "guided-final"),
    }
)


@dataclass(frozen=True, slots=True)
class Plan:
    """A strategy with its prompts, in the order of their use."""

    strategy: Strategy
    prompts: tuple[Prompt, ...]


def _in_place_of(ours: str, own: str) -> Prompt:
    """A prompt that can do what one of ours does: it shows what is chosen from, and needs nothing else."""
    needed, asked = prompt(ours).fields, prompt(own)
    shown = needed & {"hypothesis", "sentences"}
    if missing := sorted(shown - asked.fields):
        raise SettingError(
            f"prompt {own}",
            f"has no ${missing[0]}, which the model has to see",
            f"Put it in, as {ours} does.",
        )
    known = needed | ({"budget", "examples"} if "sentences" in needed else set())
    if unknown := sorted(asked.fields - known):
        raise SettingError(
            f"prompt {own}",
            f"has ${unknown[0]}, which is not known in the place of {ours}",
            f"Known there: {', '.join('$' + name for name in sorted(known))}.",
        )
    return asked


def plan_for(
    strategy: str, focus: Focus, budget: int | None, own: str | None = None, own_final: str | None = None
) -> Plan:
    """How a query is answered."""
    if strategy == "auto":
        strategy = "unconstrained" if budget is None else "cot" if focus == "all" else "result-section"
    elif strategy == "section" and focus == "results":
        strategy = "result-section"
    names = _PROMPTS[strategy, focus]
    prompts = [prompt(name) for name in names]
    if own is not None:
        prompts[0] = _in_place_of(names[0], own)
    if own_final is not None:
        prompts[-1] = _in_place_of(names[-1], own_final)
    return Plan(cast("Strategy", strategy), tuple(prompts))


def used_prompts(strategy: str, own: str | None = None, own_final: str | None = None) -> tuple[str, ...]:
    """Name and version of every prompt that a run may use, whichever tasks it is asked for; sorted."""
    if strategy == "auto" and (own or own_final):
        raise SettingError(
            "retriever llm", "has a prompt of its own and the strategy auto", "Say the strategy it is for."
        )
    focuses: tuple[Focus, ...] = ("all", "results")
    plans = [plan_for(strategy, focus, budget, own, own_final) for focus in focuses for budget in (1, None)]
    if own_final is not None and any(len(plan.prompts) < 2 for plan in plans):
        raise SettingError(
            "retriever llm", f"has a final_prompt, and {strategy} asks once only", "Leave it out."
        )
    used = {one.name: one for plan in plans for one in (*plan.prompts, prompt(REGENERATE))}
    return tuple(f"{name} {used[name].version}" for name in sorted(used))
