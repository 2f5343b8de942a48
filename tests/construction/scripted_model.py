"""A model whose answers to the prompts of construction are known: sentences that hold an aspect's word cover it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from tests.construction.test_align import Look
from tests.llm.server import Step, reply

WORDS: Final[Mapping[str, Sequence[int]]] = {"blood": (3, 7, 19), "weight": (22,), "sleep": ()}
"""By aspect the sentences that hold its word."""

_SAID: Final = {  # by stage what its prompt alone says, and the answer
    "boundary": ("Which sentences of the paragraph", "DECISION: [1]"),
    "suitability": ("Is it particular enough", "VERDICT: yes"),
    "motive": ("Which biomedical question", "QUESTION: Is tea good?"),
    "hypothesis": ("Turn the question", "HYPOTHESIS: Tea is good."),
    "aspects": ("Split the summary", "ASPECTS:\n" + "\n".join(f"- It is about {word}" for word in WORDS)),
    "leak": ("Do they say only what", "DECISION: []"),
    "results": ("Which of the study aspects below are results", "DECISION: [0, 1]"),
    "stance": ("What does each aspect do", "STANCES:\n0: supports\n1: refutes\n2: neither"),
}


def paper_text(name: str, words: Mapping[str, Sequence[int]] = WORDS) -> str:
    """24 sentences, the title first; a sentence is a source of an aspect if it holds its word."""
    of = {index: word for word, indices in words.items() for index in indices}
    lines = [f"Alpha{i} beta{i} gamma{i} {of.get(i, 'nothing')} of {name} it." for i in range(1, 24)]
    return f"Study of tea\n\n{' '.join(lines)}"


def stage_of(sent: Mapping[str, Any]) -> str:
    text = next(one["content"] for one in sent["messages"] if one["role"] == "user")
    return next((stage for stage, (mark, _) in _SAID.items() if mark in text), "alignment")


def good(sent: Mapping[str, Any]) -> Step:
    return reply(answer(sent))


def answer(sent: Mapping[str, Any]) -> str:
    stage = stage_of(sent)
    return Look(dict(sent)).answer() if stage == "alignment" else _SAID[stage][1]
