"""A short answer that cites a paper's sentences, against gold and a judge (bioace spec rules 63 to 66).

A *pair* is an answer sentence and a paper sentence that it cites. ``judged`` says of pairs whether the one supports
the other, ``None`` where a judge gave no label.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evidencebench_core.metrics.cover import ceiling_range
from evidencebench_core.metrics.coverage import aspect_recall, marginal_gains
from evidencebench_core.metrics.expectation import random_expectation

Pair: TypeAlias = tuple[int, int]
Support = Literal["supports", "contradicts", "neutral"]
Verdict = Literal["unjudged", "contradicts", "sound", "misread", "not in gold", "unsupported"]
Unjudged = Literal["count", "leave_out"]


@dataclass(frozen=True, slots=True)
class CitedScore:
    """One answer's figures: shares of 0 to 1, ``None`` where undefined.

    What needs a judge is ``None`` without one, and until every pair has been put to it.

    Attributes
    ----------
    n_sentences, n_aspects, n_gold : int
        Of the paper: its sentences, the aspects of the focus, the sentences that cover any.
    n_answer, n_pairs, n_cited : int
        Sentences of the answer, its pairs, the different sentences it cites.
    n_unjudged : int
        Pairs without a label; they count as not supporting.
    cited_recall, grounded_recall, stated_recall : float or None
        Aspects that a citation covers; that a citation covers which supports its sentence; that any of their sentences
        supports, cited or not.
    evidence_precision, evidence_precision_set : float or None
        Pairs, and different cited sentences, that are gold.
    support_rate, contradict_rate, sound_precision : float or None
        Pairs that support; that contradict; that are gold and support.
    coverage_any, coverage_gold, coverage_sound : float or None
        Answer sentences with a citation; with one that is gold; with one that is sound.
    grounded_f : float or None
        Harmonic mean of sound precision and grounded recall.
    repeated : float or None
        Pairs that are gold and add no aspect to those before.
    ceiling, random_expectation : float or None
        Best, and expected, recall of as many sentences as are cited.
    chance, lift, position : float or None
        Share of the paper's sentences that are gold; evidence precision over it; where cited recall stands between
        random (0) and ceiling (1).
    """

    n_sentences: int
    n_aspects: int
    n_gold: int
    n_answer: int
    n_pairs: int
    n_cited: int
    n_unjudged: int
    cited_recall: float | None
    grounded_recall: float | None
    stated_recall: float | None
    evidence_precision: float | None
    evidence_precision_set: float | None
    support_rate: float | None
    contradict_rate: float | None
    sound_precision: float | None
    coverage_any: float | None
    coverage_gold: float | None
    coverage_sound: float | None
    grounded_f: float | None
    repeated: float | None
    ceiling: float | None
    random_expectation: float | None
    chance: float | None
    lift: float | None
    position: float | None


def pairs_of(cited: Sequence[Sequence[int]]) -> tuple[Pair, ...]:
    """The pairs of an answer in citing order, each once; ``cited`` has what each answer sentence cites."""
    return tuple(dict.fromkeys((u, s) for u, sentences in enumerate(cited) for s in sentences))


def cited_score(
    cited: Sequence[Sequence[int]],
    covers: Sequence[frozenset[int]],
    n_sentences: int,
    judged: Mapping[Pair, Support | None] | None = None,
    *,
    stated: bool = False,
    unjudged: Unjudged = "count",
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
    stated : bool
        Whether every answer sentence was judged with every gold sentence: then there is a stated recall.
    unjudged : {"count", "leave_out"}
        Whether pairs without a label stay in the denominators of rates and of sound precision.
    """
    gold = frozenset().union(*covers)
    pairs, m = pairs_of(cited), len(cited)
    sentences = tuple(dict.fromkeys(s for _, s in pairs))
    in_gold = [pair for pair in pairs if pair[1] in gold]
    labels = judged or {}
    has_judge = judged is not None and all(pair in labels for pair in pairs)
    supported = {pair for pair in pairs if labels.get(pair) == "supports"}
    sound = [pair for pair in in_gold if pair in supported]
    n_unjudged = sum(labels.get(pair) is None for pair in pairs) if judged is not None else 0
    n_judged = len(pairs) - (n_unjudged if unjudged == "leave_out" else 0)

    def rate(number: int) -> float | None:
        return _share(number, n_judged) if has_judge else None

    grounded = aspect_recall({s for _, s in supported}, covers) if has_judge else None
    sound_precision = rate(len(sound))
    everywhere = {s for (u, s), label in labels.items() if label == "supports" and u < m}
    recall, precision = aspect_recall(sentences, covers), _share(len(in_gold), len(pairs))
    ceiling = (ceiling_range(covers, len(sentences)) or (None,))[0]
    expected, chance = random_expectation(n_sentences, covers, len(sentences)), _share(len(gold), n_sentences)
    gains = marginal_gains([s for _, s in pairs], covers)
    f = None
    if grounded is not None and sound_precision is not None:
        both = grounded + sound_precision
        f = 2 * grounded * sound_precision / both if both else 0.0
    position = None
    if recall is not None and ceiling is not None and expected is not None and ceiling != expected:
        position = (recall - expected) / (ceiling - expected)
    return CitedScore(
        n_sentences=n_sentences,
        n_aspects=len(covers),
        n_gold=len(gold),
        n_answer=m,
        n_pairs=len(pairs),
        n_cited=len(sentences),
        n_unjudged=n_unjudged,
        cited_recall=recall,
        grounded_recall=grounded,
        stated_recall=aspect_recall(everywhere, covers) if has_judge and stated else None,
        evidence_precision=precision,
        evidence_precision_set=_share(len(gold.intersection(sentences)), len(sentences)),
        support_rate=rate(len(supported)),
        contradict_rate=rate(sum(labels.get(pair) == "contradicts" for pair in pairs)),
        sound_precision=sound_precision,
        coverage_any=_share(_n_sentences(pairs), m),
        coverage_gold=_share(_n_sentences(in_gold), m),
        coverage_sound=_share(_n_sentences(sound), m) if has_judge else None,
        grounded_f=f,
        repeated=_share(sum(bool(one.repeated) and not one.new for one in gains), len(pairs)),
        ceiling=ceiling,
        random_expectation=expected,
        chance=chance,
        lift=precision / chance if precision is not None and chance else None,
        position=position,
    )


def pair_verdict(label: Support | None, is_gold: bool) -> Verdict:
    """The verdict of a pair, from the judge's label and whether the paper's sentence is gold; the first that fits."""
    if label is None or label == "contradicts":
        return "unjudged" if label is None else "contradicts"
    if label == "supports":
        return "sound" if is_gold else "not in gold"
    return "misread" if is_gold else "unsupported"


def _n_sentences(pairs: Iterable[Pair]) -> int:
    return len({u for u, _ in pairs})


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
