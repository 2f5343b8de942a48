"""A model's opinion of sentences of a paper: do they speak for the hypothesis, or against it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, cast

from evidencebench_core.answers.judging import LABELS, read_judgement
from evidencebench_core.llm import Ask, ChatRequest, Conversation, prompt
from evidencebench_core.metrics.cited import Support
from evidencebench_core.runs import MAX_TOKENS

SIGNS: Final[Mapping[Support | None, str]] = {"supports": "▲", "contradicts": "▼", "neutral": "●", None: "?"}
_WORDS: Final[Mapping[Support | None, str]] = {
    "supports": "supports the hypothesis",
    "contradicts": "contradicts the hypothesis",
    "neutral": "neither supports nor contradicts it",
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


def verdict_request(model: str) -> ChatRequest:
    """What every question to the judge has but its messages."""
    return ChatRequest(model, (), max_tokens=MAX_TOKENS)


def verdicts(request: ChatRequest, hypothesis: str, sentences: Mapping[int, str]) -> Conversation[Verdicts]:
    """Ask the citation judge about each sentence, all at once: the hypothesis is the claim, the sentence its source."""
    labels = "\n".join(f"- {label}: {meaning}." for label, meaning in LABELS["ternary"].items())
    asking = prompt("citation-judge")
    asks = [
        Ask(
            f"sentence {index}",
            replace(request, messages=asking.messages(sentence=hypothesis, document=text, labels=labels)),
            "LABEL: neutral",
        )
        for index, text in sentences.items()
    ]
    answers: Sequence[Any] = (yield asks) if asks else []
    read: dict[int, Support | None] = {}
    for index, answer in zip(sentences, answers, strict=True):
        said = {"text": answer.text, "refusal": answer.refusal, "finish_reason": answer.finish_reason}
        read[index] = cast("Support | None", read_judgement(said, "ternary").label)
    return read
