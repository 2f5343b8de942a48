"""Models that answer by a rule, so that every figure can be computed by hand.

``always-yes``; ``word-overlap`` (yes where half of the question's words are in the context).
"""

import re
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
    if model == "always-yes":
        return "Yes."
    names = ("statement_1", "statement_2") if "statement_1" in parts else ("question", "context")
    question, context = (set(re.findall(r"[a-z]{4,}", parts.get(name, "").lower())) for name in names)
    share = len(question & context) / max(1, len(question))
    if share >= 0.5:
        return "**Yes**, the text has most of these words."
    is_unknown = "Unknown" in around and share < 0.2
    return "The text does not give enough information." if is_unknown else "No, it speaks of other things."


def step(request: dict[str, Any]) -> Step:
    """For `tests.llm.server.scripted`."""
    return reply(answer(request["model"], request["messages"][-1]["content"]))
