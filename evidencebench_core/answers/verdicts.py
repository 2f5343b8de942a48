"""A model's opinion of sentences of a paper: do they speak for the hypothesis, or against it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeVar, cast

from evidencebench_core.answers.cited import Pair, Support
from evidencebench_core.answers.judging import citation_request, read_judgement
from evidencebench_core.llm import Ask, ChatRequest, Conversation
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


def verdict_request(model: str) -> ChatRequest:
    """Every question to the judge, without its messages."""
    return ChatRequest(model, (), max_tokens=MAX_TOKENS)


def verdicts(request: ChatRequest, hypothesis: str, sentences: Mapping[int, str]) -> Conversation[Verdicts]:
    """Ask the citation judge about each sentence: the hypothesis is the claim, the sentence its source."""
    return _supports(
        request, {index: (f"sentence {index}", hypothesis, text) for index, text in sentences.items()}
    )


def citation_verdicts(
    request: ChatRequest, pairs: Mapping[Pair, tuple[str, str]]
) -> Conversation[Mapping[Pair, Support | None]]:
    """Ask the citation judge about each citation of an answer: its sentence is the claim, the cited one the source."""
    named = {(u, s): (f"sentence {u + 1}, citation {s}", *texts) for (u, s), texts in pairs.items()}
    return _supports(request, named)


def _supports(
    request: ChatRequest, pairs: Mapping[_K, tuple[str, str, str]]
) -> Conversation[Mapping[_K, Support | None]]:
    """Ask about steps with claims and sources, all at once."""
    asks = [
        Ask(step, citation_request(request, claim, source), "LABEL: neutral")
        for step, claim, source in pairs.values()
    ]
    answers: Sequence[Any] = (yield asks) if asks else []
    read: dict[_K, Support | None] = {}
    for key, answer in zip(pairs, answers, strict=True):
        said = {"text": answer.text, "refusal": answer.refusal, "finish_reason": answer.finish_reason}
        read[key] = cast("Support | None", read_judgement(said))
    return read
