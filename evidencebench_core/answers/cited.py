"""A short answer to a hypothesis that cites sentences of the paper: read, and set against gold (spec section 13)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, Final, Literal

import numpy as np

from evidencebench_core.answers.brackets import CitedSentence, index_sentences
from evidencebench_core.data.model import EvidenceSet, Focus
from evidencebench_core.llm import Ask, ChatRequest, Conversation, prompt
from evidencebench_core.llm.parse import after_thinking, no_answer_reason, plain_text
from evidencebench_core.llm.prompts import numbered
from evidencebench_core.metrics.cited import (
    CitedScore,
    Pair,
    Support,
    Unjudged,
    Verdict,
    cited_score,
    pair_verdict,
)
from evidencebench_core.stats import bootstrap_interval

CitedOutcome = Literal["answer", "empty", "no_list", "refusal", "cut_off", "failed"]
Stated = Literal["none", "nearest", "all"]
"""With which gold sentences every answer sentence is judged, cited or not: the three nearest by cosine, or all."""

MEASURES: Final = (
    "cited_recall", "grounded_recall", "stated_recall", "evidence_precision", "evidence_precision_set",
    "support_rate", "contradict_rate", "sound_precision", "coverage_any", "coverage_gold", "coverage_sound",
    "grounded_f", "repeated", "ceiling", "random_expectation", "chance", "lift", "position",
    "n_answer", "n_pairs", "n_cited",
)  # fmt: skip
"""The figures that are averaged over instances."""

_HEAD: Final = re.compile(r"^[ \t>#*_`]*ANSWER[ \t*_`]*:[ \t*_`]*", re.IGNORECASE | re.MULTILINE)
_VERDICT: Final = re.compile(
    r"^[ \t>#*_`]*VERDICT[ \t*_`]*:[ \t*_`\"']*(supports|contradicts|mixed|cannot tell)[ \t*_`\"'.]*$",
    re.IGNORECASE | re.MULTILINE,
)
_BULLET: Final = re.compile(r"^[ \t>]*(?:[-*•]|\d{1,2}[.)])[ \t]+", re.MULTILINE)
_LINE_END: Final = re.compile(
    r"(\][ \t]*[.!?]?)[ \t]*\n"
)  # a sentence that ends with its citation and the line
_LONGEST: Final = 100_000  # characters that are read: an answer has five sentences
_NOTHING: Final = re.compile(
    r"\W*(?:there is )?(?:nothing|none|no (?:evidence|answer|information))\b[^.\[\]]{0,80}\W*", re.IGNORECASE
)


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
        return tuple(one.citations for one in self.sentences)

    @property
    def selection(self) -> tuple[int, ...]:
        """All it cites, in citing order, each once: a prediction that can be scored at any budget."""
        return tuple(dict.fromkeys(index for one in self.sentences for index in one.citations))

    @property
    def n_unknown(self) -> int:
        """Cited indices that were not shown."""
        return sum(one.n_unknown for one in self.sentences)


def read_cited_answer(
    text: str, n_sentences: int, *, refusal: str | None = None, finish_reason: str | None = None
) -> CitedAnswer:
    """The answer behind the last ``ANSWER:``, sentence by sentence; an index that was not shown is dropped, counted."""
    answer = after_thinking(plain_text(text))
    heads = list(_HEAD.finditer(answer or ""))
    if answer is None or not heads or finish_reason == "length":
        why = no_answer_reason(None if answer is None else answer, refusal, finish_reason)
        return CitedAnswer("cut_off" if heads else why or "no_list")
    verdicts = _VERDICT.findall(answer)
    verdict = verdicts[-1].lower() if verdicts else None
    body = _BULLET.sub("\n", answer[heads[-1].end() :][:_LONGEST].replace("**", "").strip().strip("`"))
    if not body.strip() or _NOTHING.fullmatch(body):
        return CitedAnswer("empty", verdict=verdict)
    return CitedAnswer("answer", index_sentences(_LINE_END.sub(r"\1\n\n", body), range(n_sentences)), verdict)


def cited_answer(
    request: ChatRequest, hypothesis: str, sentences: Sequence[str]
) -> Conversation[CitedAnswer]:
    """Ask a model for a short answer from a paper, and read it."""
    messages = prompt("cited-answer").messages(hypothesis=hypothesis, sentences=numbered(sentences))
    (answer,) = yield [Ask("answer", replace(request, messages=messages), "ANSWER: It is so [0].")]
    said = {"refusal": answer.refusal, "finish_reason": answer.finish_reason}
    return read_cited_answer(answer.text, len(sentences), **said)


def pair_verdicts(
    answer: CitedAnswer, covers: Sequence[frozenset[int]], judged: Mapping[Pair, Support | None] | None
) -> dict[Pair, Verdict]:
    """The verdict of every citation, in citing order."""
    gold, labels = frozenset().union(*covers), judged or {}
    return {
        (u, s): pair_verdict(labels.get((u, s)), s in gold)
        for u, cited in enumerate(answer.cited)
        for s in cited
    }


@dataclass(frozen=True, slots=True)
class CitedScores:
    """The answers to a dataset, scored.

    Attributes
    ----------
    n_scored, n_missing, n_empty, n_skipped : int
        Instances with an answer (the empty ones among them); without one that could be read; without an aspect of
        the focus.
    outcomes : mapping of str to int
        How many answers of each outcome.
    per_instance : mapping of str to CitedScore
    means : mapping of str to (mean, n, interval)
        Of each of `MEASURES` the unweighted mean over the instances where it is defined, how many these are, and the
        percentile bootstrap interval over papers.
    n_unknown, n_unjudged, n_pairs : int
        Cited indices that were not shown, pairs without a label, pairs.
    verdicts : mapping of str to int
        What models said of the hypotheses.
    stated : {"none", "nearest", "all"}
        On which gold sentences stated recall stands.
    pairs : mapping of verdict to int
        How many citations are sound, misread, ...; of a judge that named none, all are unjudged.
    """

    n_scored: int
    n_missing: int
    n_empty: int
    n_skipped: int
    outcomes: Mapping[str, int]
    per_instance: Mapping[str, CitedScore]
    means: Mapping[str, tuple[float | None, int, tuple[float, float] | None]]
    n_unknown: int
    n_unjudged: int
    n_pairs: int
    verdicts: Mapping[str, int]
    stated: Stated
    pairs: Mapping[Verdict, int]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able."""
        counts = ("n_scored", "n_missing", "n_empty", "n_skipped", "n_pairs", "n_unknown", "n_unjudged")
        return {
            **{name: getattr(self, name) for name in counts},
            "stated": self.stated,
            "pairs": dict(self.pairs),
            "outcomes": dict(self.outcomes),
            "verdicts": dict(self.verdicts),
            "means": {
                name: {"mean": mean, "n": n, "ci95": ci95 and list(ci95)}
                for name, (mean, n, ci95) in self.means.items()
            },
            "per_instance": {
                name: {one: getattr(score, one) for one in MEASURES}
                for name, score in self.per_instance.items()
            },
        }


def cited_scores(  # noqa: PLR0913 - what is scored, and how
    gold: Mapping[str, EvidenceSet],
    answers: Mapping[str, CitedAnswer],
    papers: Mapping[str, str],
    focus: Focus = "all",
    judged: Mapping[str, Mapping[Pair, Support | None]] | None = None,
    *,
    stated: Stated = "none",
    unjudged: Unjudged = "count",
    seed: int = 0,
) -> CitedScores:
    """Score answers to a dataset.

    Parameters
    ----------
    gold, answers : mappings by instance id
        An instance without an answer is missing.
    papers : mapping of str to str
        The paper of each instance: the bootstrap draws papers.
    focus : {"all", "results"}
    judged : mapping of instance id to labels of pairs, optional
        Without it only what needs no judge.
    stated : {"none", "nearest", "all"}
        With which gold sentences every answer sentence was judged.
    unjudged : {"count", "leave_out"}
        As of `metrics.cited.cited_score`.
    seed : int
        Of the bootstrap.
    """
    covers = {name: evidence.covers(focus) for name, evidence in gold.items()}
    asked = [name for name, one in covers.items() if one]
    scored = [name for name in asked if name in answers and answers[name].is_scored]
    scores = {
        name: cited_score(
            answers[name].cited,
            covers[name],
            gold[name].n_sentences,
            None if judged is None else judged.get(name, {}),
            stated=stated != "none",
            unjudged=unjudged,
        )
        for name in scored
    }
    outcomes = [answers[name].outcome if name in answers else "failed" for name in asked]
    said = [answers[name].verdict or "not said" for name in scored]
    pairs: list[Verdict] = []
    for name in scored:
        pairs += pair_verdicts(answers[name], covers[name], (judged or {}).get(name)).values()
    return CitedScores(
        n_scored=len(scored),
        n_missing=len(asked) - len(scored),
        n_empty=outcomes.count("empty"),
        n_skipped=len(covers) - len(asked),
        outcomes=MappingProxyType({one: outcomes.count(one) for one in dict.fromkeys(outcomes)}),
        per_instance=MappingProxyType(scores),
        means=MappingProxyType({name: _mean(name, scores, papers, seed) for name in MEASURES}),
        n_unknown=sum(answers[name].n_unknown for name in scored),
        n_unjudged=sum(one.n_unjudged for one in scores.values()),
        n_pairs=sum(one.n_pairs for one in scores.values()),
        verdicts=MappingProxyType({one: said.count(one) for one in dict.fromkeys(said)}),
        stated=stated,
        pairs=MappingProxyType(Counter(pairs)),
    )


def _mean(
    measure: str, scores: Mapping[str, CitedScore], papers: Mapping[str, str], seed: int
) -> tuple[float | None, int, tuple[float, float] | None]:
    values = {name: value for name, one in scores.items() if (value := getattr(one, measure)) is not None}
    if not values:
        return None, 0, None
    array = np.array(list(values.values()), dtype=np.float64)
    clusters = [papers[name] for name in values]
    interval = bootstrap_interval(array, np.random.default_rng(seed), clusters=clusters)
    return float(array.mean()), len(values), interval
