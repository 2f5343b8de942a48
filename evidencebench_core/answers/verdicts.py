"""A model's opinion of sentences of a paper: do they speak for the hypothesis, or against it?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeVar, cast

from evidencebench_core.answers.cited import Pair, Support
from evidencebench_core.answers.judging import read_judgement, support_fields
from evidencebench_core.llm import LLM, gather, prompt
from evidencebench_core.runs import MAX_TOKENS

_K = TypeVar("_K")

SIGNS: Final[Mapping[Support | None, str]] = {"supports": "▲", "contradicts": "▼", "neutral": "●", None: "?"}
_WORDS: Final[Mapping[Support | None, str]] = {
    "supports": "supports the hypothesis",
    "contradicts": "contradicts the hypothesis",
    "neutral": "neither supports nor contradicts it",
    None: "could not be judged",
}
_CITED: Final[Mapping[Support | None, str]] = {
    "supports": "supports",
    "contradicts": "contradicts",
    "neutral": "does not support",
    None: "could not be judged",
}
_PLAIN: Final[Mapping[Support | None, str]] = {
    "supports": "says so",
    "contradicts": "says the opposite",
    "neutral": "does not say so",
    None: "could not check",
}

Verdicts = Mapping[int, Support | None]
"""By sentence index; ``None``: the judge gave no label."""


def verdict_words(verdict: Support | None, plain: bool = False) -> str:
    """A sign and words, never a colour alone: ``▲ supports the hypothesis``; for a clinician ``▲ says so``."""
    return f"{SIGNS[verdict]} {(_PLAIN if plain else _WORDS)[verdict]}"


def citation_words(gold: bool | None, *label: Support | None) -> str:
    """Of a citation whether it is gold, where there is any, and what a judge said, if one did: ``▲ gold, supports``."""
    known = [] if gold is None else ["gold" if gold else "not gold"]
    if not label:
        return ", ".join([*known, "unchecked"])
    return f"{SIGNS[label[0]]} {', '.join([*known, _CITED[label[0]]])}"


def verdict_parameters(model: str) -> dict[str, Any]:
    """The fields of every question to the judge, but the messages."""
    return {"model": model, "temperature": 0.0, "max_tokens": MAX_TOKENS}


async def verdicts(llm: LLM, model: str, hypothesis: str, sentences: Mapping[int, str]) -> Verdicts:
    """Ask the citation judge about each sentence: the hypothesis is the claim, the sentence its source."""
    steps = {index: (f"sentence {index}", hypothesis, text) for index, text in sentences.items()}
    return await _supports(llm, model, steps)


async def citation_verdicts(
    llm: LLM, model: str, pairs: Mapping[Pair, tuple[str, str]]
) -> Mapping[Pair, Support | None]:
    """Ask the citation judge about each citation of an answer: its sentence is the claim, the cited one the source."""
    steps = {(u, s): (f"sentence {u + 1}, citation {s}", *texts) for (u, s), texts in pairs.items()}
    return await _supports(llm, model, steps)


async def _supports(
    llm: LLM, model: str, steps: Mapping[_K, tuple[str, str, str]]
) -> dict[_K, Support | None]:
    """Ask about steps with claims and sources, all at once."""
    parameters = verdict_parameters(model)

    async def ask(step: str, claim: str, source: str) -> Support | None:
        messages = prompt("citation-judge").messages(**support_fields(claim, source))
        answer = await llm.chat(messages, step=step, rehearsal="LABEL: neutral", **parameters)
        result = {"text": answer.text, "refusal": answer.refusal, "finish_reason": answer.finish_reason}
        return cast("Support | None", read_judgement(result))

    labels = await gather(*(ask(*step) for step in steps.values()))
    return dict(zip(steps, labels, strict=True))
