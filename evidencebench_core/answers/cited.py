"""A short answer to a hypothesis that cites sentences of the paper: read, and set against gold and a judge.

A *pair* is an answer sentence and a paper sentence that it cites.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal, TypeAlias

import pandas as pd

from evidencebench_core.answers.brackets import CitedSentence, index_sentences
from evidencebench_core.data.model import EvidenceSet, Focus
from evidencebench_core.llm.parse import after_thinking, no_answer_reason
from evidencebench_core.metrics import aspect_recall, ceiling_range, random_expectation
from evidencebench_core.stats import Estimate, interval

CitedOutcome = Literal["answer", "empty", "no_list", "refusal", "cut_off", "failed"]
Pair: TypeAlias = tuple[int, int]
Support = Literal["supports", "contradicts", "neutral"]

NO_ANSWER: Final[Mapping[str, str]] = {
    "empty": "The model says that the paper holds nothing on the hypothesis.",
    "no_list": "The model's words could not be read as an answer.",
    "refusal": "The model refused to answer.",
    "cut_off": "The answer was cut off.",
    "failed": "The call failed: ask again.",
}
"""Why there is no answer, for people, by outcome."""

_HEAD: Final = re.compile(r"^[ \t>#*_`]*ANSWER[ \t*_`]*:[ \t*_`]*", re.IGNORECASE | re.MULTILINE)
_VERDICT: Final = re.compile(
    r"^[ \t>#*_`]*VERDICT[ \t*_`]*:[ \t*_`\"']*(supports|contradicts|mixed|cannot tell)[ \t*_`\"'.]*$",
    re.IGNORECASE | re.MULTILINE,
)
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
    verdicts = _VERDICT.findall(answer)
    verdict = verdicts[-1].lower() if verdicts else None
    body = _BULLET.sub("\n", answer[heads[-1].end() :].replace("**", "").strip().strip("`"))
    if " ".join(re.findall(r"\w+", body.lower())) in _NOTHING:
        return CitedAnswer("empty", verdict=verdict)
    return CitedAnswer("answer", index_sentences(_LINE_END.sub(r"\1\n\n", body), range(n_sentences)), verdict)


# -- scores -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class CitedScore:
    """One answer's figures: shares of 0 to 1, ``None`` where undefined.

    What needs a judge is ``None`` until every pair has been put to it; a pair without a label does not support.

    Attributes
    ----------
    n_aspects, n_answer, n_pairs, n_cited, n_unjudged : int
        Aspects of the focus; sentences of the answer, its pairs, the different sentences it cites; pairs that a judge
        gave no label.
    cited_recall, grounded_recall : float or None
        Aspects that a citation covers; that a citation covers which supports its sentence.
    evidence_precision, chance : float or None
        Pairs that are gold; share of the paper's sentences that are gold.
    support_rate, contradict_rate, sound_precision : float or None
        Pairs that support; that contradict; that are gold and support.
    coverage, coverage_sound : float or None
        Answer sentences with a citation; with one that is gold and supports.
    ceiling, random_expectation : float or None
        Best, and expected, recall of as many sentences as are cited.
    """

    n_aspects: int
    n_answer: int
    n_pairs: int
    n_cited: int
    n_unjudged: int
    cited_recall: float | None
    grounded_recall: float | None
    evidence_precision: float | None
    chance: float | None
    support_rate: float | None
    contradict_rate: float | None
    sound_precision: float | None
    coverage: float | None
    coverage_sound: float | None
    ceiling: float | None
    random_expectation: float | None


def cited_score(
    cited: Sequence[Sequence[int]],
    covers: Sequence[frozenset[int]],
    n_sentences: int,
    judged: Mapping[Pair, Support | None] | None = None,
) -> CitedScore:
    """The figures of one answer.

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
    in_gold = [pair for pair in pairs if pair[1] in gold]
    labels = judged or {}
    has_judge = judged is not None and all(pair in labels for pair in pairs)
    supported = [pair for pair in pairs if labels.get(pair) == "supports"]
    sound = [pair for pair in supported if pair[1] in gold]
    contradicted = [pair for pair in pairs if labels.get(pair) == "contradicts"]
    ceiling = ceiling_range(covers, len(sentences))
    return CitedScore(
        n_aspects=len(covers),
        n_answer=len(cited),
        n_pairs=len(pairs),
        n_cited=len(sentences),
        n_unjudged=sum(labels.get(pair) is None for pair in pairs) if judged is not None else 0,
        cited_recall=aspect_recall(sentences, covers),
        grounded_recall=aspect_recall({s for _, s in supported}, covers) if has_judge else None,
        evidence_precision=_share(len(in_gold), len(pairs)),
        chance=_share(len(gold), n_sentences),
        support_rate=_share(len(supported), len(pairs)) if has_judge else None,
        contradict_rate=_share(len(contradicted), len(pairs)) if has_judge else None,
        sound_precision=_share(len(sound), len(pairs)) if has_judge else None,
        coverage=_share(len({u for u, _ in pairs}), len(cited)),
        coverage_sound=_share(len({u for u, _ in sound}), len(cited)) if has_judge else None,
        ceiling=ceiling[0] if ceiling else None,
        random_expectation=random_expectation(n_sentences, covers, len(sentences)),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None


@dataclass(frozen=True, slots=True, eq=False)
class CitedScores:
    """The answers to a dataset, scored.

    Attributes
    ----------
    instances : DataFrame
        One row a scored instance, ``instance, paper`` and the fields of `CitedScore`.
    means : mapping of str to Estimate
        Of each share and count the mean over the instances where it is defined, papers drawn whole.
    outcomes : mapping of str to int
        How many answers of each outcome; "failed" counts instances without one.
    n_skipped : int
        Instances without an aspect of the focus.
    verdicts : mapping of str to int
        What models said of the hypotheses.
    """

    instances: pd.DataFrame
    means: Mapping[str, Estimate]
    outcomes: Mapping[CitedOutcome, int]
    n_skipped: int
    verdicts: Mapping[str, int]

    def as_dict(self) -> dict[str, Any]:
        """JSON-able."""
        return {
            "n_scored": len(self.instances),
            "n_skipped": self.n_skipped,
            "outcomes": dict(self.outcomes),
            "verdicts": dict(self.verdicts),
            "means": {name: estimate.as_dict() for name, estimate in self.means.items()},
            "per_instance": self.instances.astype(object)
            .where(self.instances.notna(), None)
            .to_dict("records"),
        }


def cited_scores(
    gold: Mapping[str, EvidenceSet],
    answers: Mapping[str, CitedAnswer],
    papers: Mapping[str, str],
    focus: Focus = "all",
    judged: Mapping[str, Mapping[Pair, Support | None]] | None = None,
) -> CitedScores:
    """Score answers to a dataset; all mappings are by instance id, ``papers`` says what is drawn together."""
    asked = {name: evidence for name, evidence in gold.items() if evidence.covers(focus)}
    failed = CitedAnswer("failed")
    rows = []
    for name, evidence in asked.items():
        answer = answers.get(name, failed)
        if answer.is_scored:
            labels = None if judged is None else judged.get(name, {})
            score = cited_score(answer.cited, evidence.covers(focus), evidence.n_sentences, labels)
            rows.append({"instance": name, "paper": papers[name], **asdict(score)})
    instances = pd.DataFrame(rows, columns=["instance", "paper", *CitedScore.__slots__])
    means = {}
    for name in CitedScore.__slots__:
        values = instances[["paper", name]].dropna()
        if len(values):
            means[name] = interval(values[name].astype(float), values["paper"])
    outcomes = Counter(answers.get(name, failed).outcome for name in asked)
    verdicts = Counter(answers[name].verdict or "not said" for name in instances["instance"])
    return CitedScores(instances, means, dict(outcomes), len(gold) - len(asked), dict(verdicts))
