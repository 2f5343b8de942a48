"""A short answer to a hypothesis that cites sentences of the paper: read, and set against gold and a judge.

A *pair* is an answer sentence and a paper sentence that it cites.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

import pandas as pd

from evidencebench_core.answers.brackets import CitedSentence, index_sentences
from evidencebench_core.data.model import EvidenceSet, Focus
from evidencebench_core.llm.labels import read_label
from evidencebench_core.llm.parse import after_thinking, no_answer_reason
from evidencebench_core.metrics import aspect_recall, ceiling_range, random_expectation
from evidencebench_core.stats import Estimate, interval

CitedOutcome = Literal["answer", "empty", "no_list", "refusal", "cut_off", "failed"]
Pair: TypeAlias = tuple[int, int]

NO_ANSWER: Final[Mapping[str, str]] = {
    "empty": "The model says that the paper holds nothing on the hypothesis.",
    "no_list": "The model's words could not be read as an answer.",
    "refusal": "The model refused to answer.",
    "cut_off": "The answer was cut off.",
    "failed": "The call failed: ask again.",
}
"""Why there is no answer, for people, by outcome."""

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
        """Of each sentence the indices it cites."""
        return tuple(sentence.citations for sentence in self.sentences)

    @property
    def selection(self) -> tuple[int, ...]:
        """All it cites, in citing order, each once: a prediction that can be scored at any budget."""
        return tuple(dict.fromkeys(index for cited in self.cited for index in cited))

    @property
    def n_unknown(self) -> int:
        """Cited indices that were not shown."""
        return sum(sentence.n_unknown for sentence in self.sentences)


def read_cited_answer(
    text: str, n_sentences: int, *, refusal: str | None = None, finish_reason: str | None = None
) -> CitedAnswer:
    """The answer behind the last ``ANSWER:``, sentence by sentence; an index that was not shown is dropped, counted."""
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
    "evidence_precision": "citations that are gold / citations",
    "coverage": "sentences with a citation / sentences of the answer",
    "support_rate": "citations that support their sentence, by a judge / citations",
    "contradict_rate": "citations that contradict their sentence, by a judge / citations",
    "grounded_recall": "study aspects that a supporting citation covers, by a judge / aspects",
    "sound_precision": "citations that are gold and support, by a judge / citations",
    "ceiling": "the best cited recall of as many sentences",
    "random_expectation": "the cited recall of as many sentences by chance",
    "chance": "sentences of the paper that are gold / its sentences, where the answer cites any",
}
"""The shares that an answer is scored by, with their denominators; undefined where that is 0."""
COUNTS: Final = ("n_aspects", "n_answer", "n_pairs", "n_cited", "n_unjudged")
"""Aspects of the focus; sentences of the answer, its pairs, the paper's sentences it cites; pairs without a label."""


def cited_figures(
    cited: Sequence[Sequence[int]],
    covers: Sequence[frozenset[int]],
    n_sentences: int,
    judged: Mapping[Pair, str | None] | None = None,
) -> dict[str, float | None]:
    """`FIGURES` and `COUNTS` of one answer.

    What needs a judge is ``None`` until every pair has been put to it; a pair without a label does not support.

    Parameters
    ----------
    cited : sequence of sequence of int
        Of each answer sentence the indices that it cites.
    covers : sequence of frozenset of int
        One set of covering sentences per aspect of the focus.
    n_sentences : int
        Size of the candidate pool.
    judged : mapping of (answer sentence, paper sentence) to label, optional
        Without it the figures that need no judge.
    """
    gold = frozenset[int]().union(*covers)
    pairs = tuple(dict.fromkeys((u, s) for u, sentences in enumerate(cited) for s in sentences))
    sentences = tuple(dict.fromkeys(s for _, s in pairs))
    best = ceiling_range(covers, len(sentences))
    figures: dict[str, float | None] = {
        "n_aspects": len(covers),
        "n_answer": len(cited),
        "n_pairs": len(pairs),
        "n_cited": len(sentences),
        "n_unjudged": 0,
        "cited_recall": aspect_recall(sentences, covers),
        "evidence_precision": _share(sum(s in gold for _, s in pairs), len(pairs)),
        "coverage": _share(len({u for u, _ in pairs}), len(cited)),
        "ceiling": best[0] if best else None,
        "random_expectation": random_expectation(n_sentences, covers, len(sentences)),
        "chance": _share(len(gold), n_sentences) if pairs else None,
    }
    if judged is None:
        return figures
    figures["n_unjudged"] = sum(judged.get(pair) is None for pair in pairs)
    if all(pair in judged for pair in pairs):
        supported = [pair for pair in pairs if judged[pair] == "supports"]
        figures["support_rate"] = _share(len(supported), len(pairs))
        contradicted = [pair for pair in pairs if judged[pair] == "contradicts"]
        figures["contradict_rate"] = _share(len(contradicted), len(pairs))
        figures["grounded_recall"] = aspect_recall({s for _, s in supported}, covers)
        figures["sound_precision"] = _share(sum(s in gold for _, s in supported), len(pairs))
    return figures


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True, eq=False)
class CitedScores:
    """The answers to a dataset, scored."""

    instances: pd.DataFrame  # a row a scored instance: instance, paper, `FIGURES` and `COUNTS`
    means: Mapping[str, Estimate]  # over the instances where a figure is defined, papers drawn whole
    outcomes: Mapping[CitedOutcome, int]  # of the answers; "failed" counts instances without one
    n_skipped: int  # instances without an aspect of the focus
    judge: str = ""  # the model whose labels they are scored by


def cited_scores(
    gold: Mapping[str, EvidenceSet],
    answers: Mapping[str, CitedAnswer],
    papers: Mapping[str, str],
    focus: Focus = "all",
    judged: Mapping[str, Mapping[Pair, str | None]] | None = None,
    judge: str = "",
) -> CitedScores:
    """Score answers to a dataset; all mappings are by instance id, ``papers`` says what is drawn together."""
    asked = {name: evidence for name, evidence in gold.items() if evidence.covers(focus)}
    failed = CitedAnswer("failed")
    rows = []
    for name, evidence in asked.items():
        answer = answers.get(name, failed)
        if answer.is_scored:
            labels = None if judged is None else judged.get(name, {})
            figures = cited_figures(answer.cited, evidence.covers(focus), evidence.n_sentences, labels)
            rows.append({"instance": name, "paper": papers[name], **figures})
    instances = pd.DataFrame(rows, columns=["instance", "paper", *FIGURES, *COUNTS])
    means = {}
    for name in (*FIGURES, *COUNTS):
        values = instances[["paper", name]].dropna()
        if len(values):
            means[name] = interval(values[name].astype(float), values["paper"])
    outcomes = Counter(answers.get(name, failed).outcome for name in asked)
    return CitedScores(instances, means, dict(outcomes), len(gold) - len(asked), judge)
