"""Models that answer by a rule, so that every figure can be computed by hand.

``always-yes``; ``word-overlap`` (yes where half of the question's words are in the context, or a quarter of a
hypothesis' words in the sentence).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from tests.llm.server import Step, reply

_TAGGED: Final = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)


def overlap(question: str, context: str) -> float:
    """Share of the question's words of four letters or more that the context has, 0 to 1."""
    words = {word for word in re.findall(r"[a-z]+", question.lower()) if len(word) > 3}
    return len(words & set(re.findall(r"[a-z]+", context.lower()))) / len(words) if words else 0.0


def _word_overlap(parts: Mapping[str, str], can_refrain: bool) -> str:
    if "statement_1" in parts:
        share = overlap(parts["statement_1"], parts["statement_2"])
    else:
        question = parts.get("question", parts.get("hypothesis", ""))
        names = ("summary", "context", "sentence", "passage", "passages")
        share = overlap(question, next((parts[name] for name in names if name in parts), ""))
    if can_refrain and share < 0.2:
        return "The text does not give enough information."
    enough = 0.25 if "hypothesis" in parts else 0.5
    return (
        "**Yes**, the text has most of these words." if share >= enough else "No, it speaks of other things."
    )


MODELS: Final[Mapping[str, Callable[[Mapping[str, str], bool], str]]] = {
    "always-yes": lambda parts, can_refrain: "Yes.",
    "word-overlap": _word_overlap,
}


def answer(model: str, prompt: str) -> str:
    """The answer of a model to the last message of a request."""
    parts = dict(_TAGGED.findall(prompt))
    around = _TAGGED.sub("", prompt)
    if "NEW QUESTION:" in around:
        return f"NEW QUESTION: In other words, {parts['question'][:1].lower()}{parts['question'][1:]}"
    if "NEW CONTEXT:" in around:
        return f"All of it.\nNEW CONTEXT:\nThis was not found.\n\n{parts['context']}"
    if re.search(r"\bYes\b", around):
        return MODELS[model](parts, "Unknown" in around)
    text = parts.get("context", parts.get("answer", ""))  # free text is asked for
    return text.rsplit(". ", 1)[-1] if model == "word-overlap" else text.split(". ", 1)[0]


def step(request: dict[str, Any]) -> Step:
    """For `tests.llm.server.scripted`."""
    return reply(answer(request["model"], request["messages"][-1]["content"]))
