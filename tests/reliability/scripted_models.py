"""Models that answer by a rule, so that every figure can be computed by hand; also to look at the page with.

    python -m tests.reliability.scripted_models --port 8123     # OPENAI_BASE_URL=http://127.0.0.1:8123/v1

``always-yes``; ``first-example`` (the answer of the first example that it is shown, else no); ``word-overlap`` (yes
where half of the question's words are in the context, or a quarter of a hypothesis' words in the sentence);
``unknown-when-told`` (unknown wherever it may say so; else yes or no only where it is sure).
"""

from __future__ import annotations

import argparse
import re
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from tests.llm.server import Step, reply, scripted
from tests.llm.server import answering as step_of

_TAGGED: Final = re.compile(r"<(\w+)>\n?(.*?)\n?</\1>", re.DOTALL)


def overlap(question: str, context: str) -> float:
    """Share of the question's words of four letters or more that the context has, 0 to 1."""
    words = {word for word in re.findall(r"[a-z]+", question.lower()) if len(word) > 3}
    return len(words & set(re.findall(r"[a-z]+", context.lower()))) / len(words) if words else 0.0


def _always_yes(parts: Mapping[str, str], can_refrain: bool) -> str:
    return "Yes."


def _first_example(parts: Mapping[str, str], can_refrain: bool) -> str:
    first = re.search(r"^Answer: (Yes|No)$", parts.get("examples", ""), re.MULTILINE)
    return f"Answer: {first[1]}" if first else "No."


def _word_overlap(parts: Mapping[str, str], can_refrain: bool) -> str:
    share = _share(parts)
    if can_refrain and share < 0.2:
        return "The text does not give enough information."
    enough = 0.25 if "hypothesis" in parts else 0.5
    return (
        "**Yes**, the text has most of these words." if share >= enough else "No, it speaks of other things."
    )


def _unknown_when_told(parts: Mapping[str, str], can_refrain: bool) -> str:
    share = _share(parts)
    if can_refrain:
        return "Unknown"
    return "It depends." if 0.4 <= share < 0.6 else "The answer is yes." if share >= 0.6 else "No"


def _share(parts: Mapping[str, str]) -> float:
    if "statement_1" in parts:
        return overlap(parts["statement_1"], parts["statement_2"])
    question = parts.get("question", parts.get("hypothesis", ""))
    shown = (
        parts[name] for name in ("summary", "context", "sentence", "passage", "passages") if name in parts
    )
    return overlap(question, next(shown, ""))


MODELS: Final[Mapping[str, Callable[[Mapping[str, str], bool], str]]] = {
    "always-yes": _always_yes,
    "first-example": _first_example,
    "word-overlap": _word_overlap,
    "unknown-when-told": _unknown_when_told,
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


def main() -> None:
    parser = argparse.ArgumentParser(description="Serve models that answer by a rule, until Ctrl-C.")
    parser.add_argument("--port", type=int, default=0)
    with scripted(step_of(step), listed=tuple(MODELS), port=parser.parse_args().port) as server:
        print(f"{', '.join(MODELS)} at {server.url}", flush=True)
        with suppress(KeyboardInterrupt):
            threading.Event().wait()


if __name__ == "__main__":
    main()
