"""How far two annotators agree on what covers which aspect, with the figures of EvidenceBench's table 2 beside."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.analyses.annotator_pairs import (
    AspectPair,
    disagreements,
    evidence_of,
    matched_aspects,
)
from evidencebench_core.analyses.report import Report
from evidencebench_core.errors import PaperError
from evidencebench_core.papers.annotation import Annotation
from evidencebench_core.stats import rater_agreement

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ASPECT_LEVEL", "SENTENCE_LEVEL", "TABLE_2", "Compared", "agreement_report"]

ASPECT_LEVEL: Final = "aspect and sentence"
SENTENCE_LEVEL: Final = "sentence"
_SEED: Final = 0


class Published(NamedTuple):
    """A row of table 2 in percent, each figure with what stands behind its ±."""

    humans: float
    humans_pm: float
    human_gpt: float
    human_gpt_pm: float


TABLE_2: Final[Mapping[str, Published]] = MappingProxyType(
    {
        "exact accuracy": Published(98.8, 0.3, 98.7, 0.2),
        "binary F1": Published(66.0, 6.5, 64.6, 5.6),
        "Cohen's kappa": Published(65.4, 6.6, 63.9, 5.6),
        "Spearman's rho": Published(65.4, 6.6, 64.0, 5.6),
    }
)
"""Two teams of two bioinformaticians, and teams with GPT-4, over 8,111 (sentence, aspect) pairs of 50 papers."""


@dataclass(frozen=True, slots=True)
class Compared:
    """What two annotators made of one paper.

    Attributes
    ----------
    name : str
        Of the paper.
    sentences : sequence of str
    a, b : Annotation
    """

    name: str
    sentences: Sequence[str]
    a: Annotation
    b: Annotation


def agreement_report(papers: Sequence[Compared], n_resamples: int = 10_000, seed: int = _SEED) -> Report:
    """Agreement of two annotators over one paper or several.

    A judgement is whether a sentence (headings too, as in the benchmark) covers an aspect. Aspects are
    compared that both have; without any, and beside them, it is compared which sentences are evidence for
    some aspect.

    Parameters
    ----------
    papers : sequence of Compared
        At least one, all of the same two annotators.
    n_resamples : int
        Of each bootstrap.
    seed : int

    Returns
    -------
    Report
        *agreement*, one row a level and measure: ``level``, ``measure``, ``value``, ``low`` and ``high``
        (plain bootstrap, 95%), ``low_hierarchical`` and ``high_hierarchical``, ``n_judgements``,
        ``n_groups``, ``undefined`` (share of the plain resamples without a value), ``humans``,
        ``humans_pm``, ``human_gpt`` and ``human_gpt_pm`` (table 2). All are shares, or correlations.

        *aspects*, one row an aspect: ``paper``, ``aspect``, ``who`` has it, ``result_a``, ``result_b``,
        ``n_both``, ``n_only_a``, ``n_only_b`` sentences.

        *disagreements*: ``paper``, ``aspect``, ``sentence`` (-1 where one has no such aspect at all),
        ``marked_by``, ``text``.

    Raises
    ------
    PaperError
        If there is no paper, or two annotations do not belong together.
    """
    import pandas as pd

    if not papers:
        raise PaperError("agreement", "has no paper to stand on", "Name at least one.")
    pairs = [matched_aspects(paper.a, paper.b) for paper in papers]
    names = (papers[0].a.annotator, papers[0].b.annotator)
    rows: list[dict[str, Any]] = []
    notes = _match_notes(papers, pairs)
    for level, judged in ((ASPECT_LEVEL, _by_aspect(papers, pairs)), (SENTENCE_LEVEL, _by_sentence(papers))):
        if judged.a:
            rows += _measured(level, judged, n_resamples, seed)
    lost = max((row["undefined"] for row in rows), default=0.0)
    if lost:
        notes.append(
            f"Marks are so few that up to {100 * lost:.1f}% of the resamples have none by one of the two; they leave "
            "a measure undefined, and are left out of its interval."
        )
    several = len(papers) > 1
    notes += [
        "Intervals are 95% percentile bootstrap intervals. Plain: judgements are drawn. Hierarchical: "
        + (
            "papers are drawn, and judgements within each."
            if several
            else "aspects are drawn, and sentences within each; "
        )
        + ("" if several else "the paper's study had one aspect in each of 50 papers, and drew papers."),
        "Beside stand two human teams (humans), and a team and GPT-4 (human_gpt), of EvidenceBench's table 2: "
        "8,111 judgements in 50 papers, about 150 of them yes. Appendix D, which adds hierarchical sampling, "
        "has ±9.9 to ±12.6 for the humans' F1, kappa and Spearman.",
    ]
    return Report(
        f"Agreement of {names[0]} and {names[1]}",
        {
            "agreement": pd.DataFrame(rows),
            "aspects": _aspects(papers, pairs),
            "disagreements": _disagreements(papers),
        },
        tuple(notes),
    )


@dataclass(slots=True)
class _Judged:
    a: list[bool]
    b: list[bool]
    groups: list[str]


def _by_aspect(papers: Sequence[Compared], pairs: Sequence[Sequence[AspectPair]]) -> _Judged:
    judged = _Judged([], [], [])
    for place, (paper, of_paper) in enumerate(zip(papers, pairs, strict=True)):
        shared = [pair for pair in of_paper if pair.a is not None and pair.b is not None]
        for number, pair in enumerate(shared):
            group = f"{place}" if len(papers) > 1 else f"{place}:{number}"
            _judge(judged, paper, *pair.marks, group)
    return judged


def _by_sentence(papers: Sequence[Compared]) -> _Judged:
    judged = _Judged([], [], [])
    for place, paper in enumerate(papers):
        _judge(judged, paper, evidence_of(paper.a), evidence_of(paper.b), str(place))
    return judged


def _judge(judged: _Judged, paper: Compared, of_a: frozenset[int], of_b: frozenset[int], group: str) -> None:
    n = paper.a.n_sentences
    judged.a += [index in of_a for index in range(n)]
    judged.b += [index in of_b for index in range(n)]
    judged.groups += [group] * n


def _measured(level: str, judged: _Judged, n_resamples: int, seed: int) -> list[dict[str, Any]]:
    import numpy as np

    rng = np.random.default_rng(seed)
    found = rater_agreement(judged.a, judged.b, judged.groups, rng, n_resamples)
    rows = []
    for measure, one in found.items():
        low, high = one.plain or (None, None)
        low_nested, high_nested = one.hierarchical or (None, None)
        shares = (figure / 100 for figure in TABLE_2[measure])
        beside = dict(zip(Published._fields, shares, strict=True)) if level == ASPECT_LEVEL else {}
        rows.append(
            {
                "level": level,
                "measure": measure,
                "value": one.value,
                "low": low,
                "high": high,
                "low_hierarchical": low_nested,
                "high_hierarchical": high_nested,
                "n_judgements": len(judged.a),
                "n_groups": len(set(judged.groups)),
                "undefined": one.plain_undefined,
                **dict.fromkeys(Published._fields),
                **beside,
            }
        )
    return rows


def _match_notes(papers: Sequence[Compared], pairs: Sequence[Sequence[AspectPair]]) -> list[str]:
    a, b = papers[0].a.annotator, papers[0].b.annotator
    flat = [pair for of_paper in pairs for pair in of_paper]
    n_shared = sum(pair.a is not None and pair.b is not None for pair in flat)
    only = {a: sum(pair.b is None for pair in flat), b: sum(pair.a is None for pair in flat)}
    notes = []
    if n_shared:
        aspects = "1 aspect stands" if n_shared == 1 else f"{n_shared} aspects stand"
        notes.append(
            f"{aspects} in both annotations, by what they say, and are compared sentence by sentence."
        )
    else:
        notes.append(
            "The annotations share no aspect, so only this is compared: which sentences are evidence at all. To "
            "compare by aspect, let one annotator start from the other's aspects, without the marks."
        )
    left_out = [f"{n} of {who} alone" for who, n in only.items() if n]
    if left_out and n_shared:
        notes.append(f"Aspects left out of the comparison by aspect: {' and '.join(left_out)}.")
    return notes


def _aspects(papers: Sequence[Compared], pairs: Sequence[Sequence[AspectPair]]) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for paper, of_paper in zip(papers, pairs, strict=True):
        for pair in of_paper:
            of_a, of_b = pair.marks
            owner = paper.a.annotator if pair.b is None else paper.b.annotator
            rows.append(
                {
                    "paper": paper.name,
                    "aspect": pair.text,
                    "who": "both" if pair.a is not None and pair.b is not None else owner,
                    "result_a": None if pair.a is None else pair.a.is_result,
                    "result_b": None if pair.b is None else pair.b.is_result,
                    "n_both": len(of_a & of_b),
                    "n_only_a": len(of_a - of_b),
                    "n_only_b": len(of_b - of_a),
                }
            )
    columns = ["paper", "aspect", "who", "result_a", "result_b", "n_both", "n_only_a", "n_only_b"]
    return pd.DataFrame(rows, columns=columns)


def _disagreements(papers: Sequence[Compared]) -> pd.DataFrame:
    import pandas as pd

    rows = [
        {
            "paper": paper.name,
            "aspect": item.pair.text,
            "sentence": -1 if item.sentence is None else item.sentence,
            "marked_by": item.by,
            "text": "" if item.sentence is None else paper.sentences[item.sentence],
        }
        for paper in papers
        for item in disagreements(paper.a, paper.b)
    ]
    return pd.DataFrame(rows, columns=["paper", "aspect", "sentence", "marked_by", "text"])
