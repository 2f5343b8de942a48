"""A short answer to a hypothesis that cites sentences of the paper: how it is read and scored.

A *pair* is an answer sentence and a paper sentence that it cites.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import pandas as pd

from evidencebench_core.answers.brackets import CitedSentence, index_sentences
from evidencebench_core.data.model import EvidenceSet, Focus
from evidencebench_core.llm.parse import after_thinking, no_answer_reason
from evidencebench_core.metrics import aspect_recall, ceiling_range, random_expectation
from evidencebench_core.runs.labels import read_label

CitedOutcome = Literal["answer", "empty", "no_list", "refusal", "cut_off", "failed"]
Pair: TypeAlias = tuple[int, int]

NO_ANSWER: Final[Mapping[str, str]] = {
    "empty": "The model says that the paper holds nothing on the hypothesis.",
    "no_list": "The model's words could not be read as an answer.",
    "refusal": "The model refused to answer.",
    "cut_off": "The answer was cut off.",
    "failed": "The call failed: ask again.",
}
"""For readers, why there is no answer, by outcome."""

_HEAD: Final = re.compile(r"^[ \t>#*_`]*ANSWER[ \t*_`]*:[ \t*_`]*", re.IGNORECASE | re.MULTILINE)
_VERDICTS: Final = ("supports", "contradicts", "mixed", "cannot tell")
_BULLET: Final = re.compile(r"^[ \t>]*(?:[-*•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_LINE_END: Final = re.compile(r"(\][ \t]*[.!?]?)[ \t]*\n")  # a sentence ends with its citation and the line
_NOTHING: Final = frozenset({
    "", "none", "nothing", "no evidence", "no answer", "no information", "nothing in the paper",
    "none in the paper", "no evidence in the paper", "no information in the paper",
    "there is nothing in the paper", "there is no evidence in the paper",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """A model's answer as it was read.

    ``outcome`` is "empty" where the model says that the paper holds nothing; of all that is neither that nor an
    answer there is no score. ``verdict`` is shown and not scored: there is no gold for it.
    """

    outcome: CitedOutcome
    sentences: tuple[CitedSentence, ...] = ()
    verdict: str | None = None

    @property
    def is_scored(self) -> bool:
        return self.outcome in ("answer", "empty")

    @property
    def cited(self) -> tuple[tuple[int, ...], ...]:
        """The indices that each sentence cites."""
        return tuple(sentence.citations for sentence in self.sentences)

    @property
    def selection(self) -> tuple[int, ...]:
        """All indices it cites, in order, each once: a prediction that can be scored at any budget."""
        return tuple(dict.fromkeys(index for cited in self.cited for index in cited))


def read_cited_answer(
    text: str, n_sentences: int, *, refusal: str | None = None, finish_reason: str | None = None
) -> CitedAnswer:
    """The answer after the last ``ANSWER:``; indices that were not shown are dropped and counted."""
    answer = after_thinking(text)
    heads = list(_HEAD.finditer(answer or ""))
    if answer is None or not heads or finish_reason == "length":
        why = no_answer_reason(answer, refusal, finish_reason)
        return CitedAnswer("cut_off" if heads else why or "no_list")
    verdict = read_label(answer, _VERDICTS, "VERDICT")
    body = _BULLET.sub("\n", answer[heads[-1].end() :].replace("**", "").strip().strip("`"))
    if " ".join(re.findall(r"\w+", body.lower())) in _NOTHING:
        return CitedAnswer("empty", verdict=verdict)
    return CitedAnswer("answer", index_sentences(_LINE_END.sub(r"\1\n\n", body), range(n_sentences)), verdict)


# -- scores -----------------------------------------------------------------------------------------

FIGURES: Final[Mapping[str, str]] = {
    "cited_recall": "study aspects that a citation covers / aspects",
    "ceiling": "the best cited recall of as many sentences",
    "random_expectation": "the cited recall of as many sentences by chance",
    "evidence_precision": "citations that are gold / citations",
    "chance": "sentences of the paper that are gold / its sentences, where the answer cites any",
    "coverage": "sentences with a citation / sentences of the answer",
    "support_rate": "citations that support their sentence, by a judge / citations",
    "contradict_rate": "citations that contradict their sentence, by a judge / citations",
    "grounded_recall": "study aspects that a supporting citation covers, by a judge / aspects",
}
"""The shares that an answer is scored by, with their denominators; undefined where that is 0."""


def cited_figures(
    cited: Sequence[Sequence[int]],
    covers: Sequence[frozenset[int]],
    n_sentences: int,
    judged: Mapping[Pair, str | None] | None = None,
) -> dict[str, float | None]:
    """`FIGURES` of one answer; ``cited`` has the indices that each sentence cites, of a paper of ``n_sentences``.

    ``covers`` has the covering sentences of each aspect of the focus. What needs a judge is missing until every pair
    is in ``judged``; a pair without a label does not support.
    """
    gold = frozenset[int]().union(*covers)
    pairs = tuple(dict.fromkeys((u, s) for u, sentences in enumerate(cited) for s in sentences))
    sentences = tuple(dict.fromkeys(s for _, s in pairs))
    best = ceiling_range(covers, len(sentences))
    figures: dict[str, float | None] = {
        "cited_recall": aspect_recall(sentences, covers),
        "evidence_precision": _share(sum(s in gold for _, s in pairs), len(pairs)),
        "coverage": _share(len({u for u, _ in pairs}), len(cited)),
        "ceiling": best[0] if best else None,
        "random_expectation": random_expectation(n_sentences, covers, len(sentences)),
        "chance": _share(len(gold), n_sentences) if pairs else None,
    }
    if judged is not None and all(pair in judged for pair in pairs):
        supported = [pair for pair in pairs if judged[pair] == "supports"]
        figures["support_rate"] = _share(len(supported), len(pairs))
        contradicted = [pair for pair in pairs if judged[pair] == "contradicts"]
        figures["contradict_rate"] = _share(len(contradicted), len(pairs))
        figures["grounded_recall"] = aspect_recall({s for _, s in supported}, covers)
    return figures


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


def cited_frame(
    gold: Mapping[str, EvidenceSet],
    answers: Mapping[str, CitedAnswer],
    papers: Mapping[str, str],
    focus: Focus = "all",
    judged: Mapping[str, Mapping[Pair, str | None]] | None = None,
) -> pd.DataFrame:
    """One row for each scored answer: ``instance, paper`` and `FIGURES`; all mappings are by instance id.

    There is none of what is no answer, nor of an instance without an aspect of the focus.
    """
    rows = []
    for name, evidence in gold.items():
        answer, covers = answers.get(name), evidence.covers(focus)
        if covers and answer is not None and answer.is_scored:
            labels = None if judged is None else judged.get(name, {})
            figures = cited_figures(answer.cited, covers, evidence.n_sentences, labels)
            rows.append({"instance": name, "paper": papers[name], **figures})
    return pd.DataFrame(rows, columns=["instance", "paper", *FIGURES])
