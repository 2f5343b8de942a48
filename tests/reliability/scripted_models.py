"""Models that answer by a rule, so that every figure can be computed by hand.

``always-yes``; ``word-overlap`` (yes where half of the question's words are in the context).
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from tests.llm.server import Step, reply

_TAGGED: Final = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)


def answer(model: str, prompt: str) -> str:
    """The answer of a model to the last message of a request."""
    parts = dict(_TAGGED.findall(prompt))
    around = _TAGGED.sub("", prompt)
    if not re.search(r"\bYes\b", around):  # free text is asked for
        text = parts.get("context", parts.get("answer", ""))
        return text.rsplit(". ", 1)[-1] if model == "word-overlap" else text.split(". ", 1)[0]
    return "Yes." if model == "always-yes" else _by_words(parts, can_refrain="Unknown" in around)


def _by_words(parts: Mapping[str, str], can_refrain: bool) -> str:
    names = ("statement_1", "statement_2") if "statement_1" in parts else ("question", "context")
    share = _overlap(*(parts.get(name, "") for name in names))
    if can_refrain and share < 0.2:
        return "The text does not give enough information."
    if share >= 0.5:
        return "**Yes**, the text has most of these words."
    return "No, it speaks of other things."


def _overlap(question: str, context: str) -> float:
    """Share of the question's words of four letters or more that the context has, 0 to 1."""
    words = {word for word in re.findall(r"[a-z]+", question.lower()) if len(word) > 3}
    return len(words & set(re.findall(r"[a-z]+", context.lower()))) / len(words) if words else 0.0


def step(request: dict[str, Any]) -> Step:
    """For `tests.llm.server.scripted`."""
    return reply(answer(request["model"], request["messages"][-1]["content"]))
