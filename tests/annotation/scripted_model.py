"""A model whose answers to the prompts of a proposal are known: a sentence that holds an aspect's word covers it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from evidencebench_core.annotation.model import MODEL, Annotation
from evidencebench_core.annotation.store import PROPOSALS
from evidencebench_core.data import Store
from evidencebench_core.runs import RunSpec, RunStore

WORDS: Final[Mapping[str, Sequence[int]]] = {"blood": (3, 7, 19), "weight": (22,), "sleep": ()}
"""By aspect the sentences that hold its word."""

_ASPECTS: Final = "ASPECTS:\n" + "\n".join(f"- It is about {word}" for word in WORDS)
_ANSWERS: Final = {  # by what a prompt alone says
    "Write the hypothesis": "HYPOTHESIS: Tea is good.",
    "Split the summary": _ASPECTS,
    "Which study aspects of it matter": _ASPECTS,
    "aspects below are results": "DECISION: [0, 1]",
}


def paper_text(name: str = "tea") -> str:
    """24 sentences, the title first; a sentence is a source of an aspect if it holds its word."""
    of = {index: word for word, indices in WORDS.items() for index in indices}
    lines = [f"Alpha{i} beta{i} gamma{i} {of.get(i, 'nothing')} of {name} it." for i in range(1, 24)]
    return f"Study of tea\n\n{' '.join(lines)}"


def scripted_answer(sent: Mapping[str, Any]) -> str:
    text = next(message["content"] for message in sent["messages"] if message["role"] == "user")
    for mark, answer in _ANSWERS.items():
        if mark in text:
            return answer
    word = re.search(r"<aspect>\s*It is about (\w+)", text)
    assert word is not None
    shown = re.findall(
        r"^(\d+): (.*)$", text.partition("<sentences>")[2].partition("</sentences>")[0], re.MULTILINE
    )
    chosen = [(index, sentence) for index, sentence in shown if word[1] in sentence]
    echoes = [f"{index}: {' '.join(sentence.split()[:5])} - it says so" for index, sentence in chosen]
    return "\n".join([*echoes, f"DECISION: [{', '.join(index for index, _ in chosen)}]"])


def save_proposal(store: Store, paper: str, proposal: Annotation, unit: str = "0" * 12) -> None:
    """Have a proposal in the store as a run leaves it; ``unit`` tells apart what a model was asked."""
    spec = RunSpec(*PROPOSALS, {"model": proposal.annotator.removeprefix(MODEL)})
    RunStore(store).create(spec, results={f"{paper}/{unit}": {"": proposal.as_dict()}})
