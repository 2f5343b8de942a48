"""How far two annotators agree on what covers which aspect."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NamedTuple

import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.annotation.differences import AspectPair, aspect_pairs, differences
from evidencebench_core.annotation.marked import MarkedPaper, annotation_of
from evidencebench_core.annotation.model import Annotation
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.store import Store
from evidencebench_core.errors import PaperError
from evidencebench_core.stats import accuracy, bootstrap, cohen_kappa, label_f1, label_units, phi

ASPECT_LEVEL: Final = "aspect and sentence"
SENTENCE_LEVEL: Final = "sentence"


class TwoAnnotations(NamedTuple):
    """A paper, by name, and what two annotators made of it."""

    name: str
    sentences: Sequence[str]
    a: Annotation
    b: Annotation


def agreement(
    store: Store,
    papers: Sequence[MarkedPaper],
    annotators: Sequence[str],
    n_resamples: int = 10_000,
) -> Report:
    """Agreement of two annotators over papers, as `agreement_report` has it."""
    annotations = Annotations(store)
    annotated = []
    for marked in papers:
        a, b = (annotation_of(annotations, marked, who) for who in annotators)
        annotated.append(TwoAnnotations(marked.name, marked.paper.sentences, a, b))
    return agreement_report(annotated, n_resamples)


def agreement_report(papers: Sequence[TwoAnnotations], n_resamples: int = 10_000) -> Report:
    """Agreement of two annotators over one paper or several.

    A judgement is whether a sentence (headings too, as in the benchmark) covers an aspect. Aspects are
    compared that both have; without any, and beside them, it is compared which sentences are evidence for
    some aspect.

    Returns
    -------
    Report
        *agreement*, one row a level and measure: ``level``, ``measure``, ``value``, ``low`` and ``high``
        (papers, of a single one its aspects, drawn whole), ``n_judgements``, ``n_groups``. All are shares, or
        correlations.

        *aspects*, one row an aspect: ``paper``, ``aspect``, ``who`` has it, ``result_a``, ``result_b``,
        ``n_both``, ``n_only_a``, ``n_only_b`` sentences.

        *disagreements*: ``paper``, ``aspect``, ``sentence`` (-1 where one has no such aspect at all),
        ``marked_by``, ``text``.
    """
    if not papers:
        raise PaperError("agreement", "has no paper to stand on", "Name at least one.")
    pairs = [aspect_pairs(paper.a, paper.b) for paper in papers]
    rows = []
    for level, judgements in (
        (ASPECT_LEVEL, _by_aspect(papers, pairs)),
        (SENTENCE_LEVEL, _by_sentence(papers)),
    ):
        if judgements:
            rows += _measures(level, judgements, n_resamples)
    tables = {
        "agreement": pd.DataFrame(rows),
        "aspects": _aspects(papers, pairs),
        "disagreements": _disagreements(papers),
    }
    title = f"Agreement of {papers[0].a.annotator} and {papers[0].b.annotator}"
    return Report(title, tables, tuple(_notes(papers, pairs)))


MEASURES: Final = {
    "exact accuracy": accuracy,
    "binary F1": lambda tables: label_f1(tables)[..., 0],
    "Cohen's kappa": cohen_kappa,
    "Spearman's rho": phi,
}
"""Those of the paper's table 2; of yes and no Spearman's rho is phi."""

_Judgement = tuple[bool, bool, str]
"""By a, by b, and what is drawn whole: the paper, or of a single one the aspect."""


def _by_aspect(papers: Sequence[TwoAnnotations], pairs: Sequence[Sequence[AspectPair]]) -> list[_Judgement]:
    judgements = []
    for place, (paper, of_paper) in enumerate(zip(papers, pairs, strict=True)):
        shared = [pair for pair in of_paper if pair.a is not None and pair.b is not None]
        for number, pair in enumerate(shared):
            group = f"{place}" if len(papers) > 1 else f"{place}:{number}"
            judgements += _judgements(paper, *pair.marks, group)
    return judgements


def _by_sentence(papers: Sequence[TwoAnnotations]) -> list[_Judgement]:
    judgements = []
    for place, paper in enumerate(papers):
        judgements += _judgements(paper, paper.a.evidence_sentences, paper.b.evidence_sentences, str(place))
    return judgements


def _judgements(
    paper: TwoAnnotations, of_a: frozenset[int], of_b: frozenset[int], group: str
) -> list[_Judgement]:
    return [(index in of_a, index in of_b, group) for index in range(paper.a.n_sentences)]


def _measures(level: str, judgements: Sequence[_Judgement], n_resamples: int) -> list[dict[str, Any]]:
    by_a, by_b = (["yes" if judgement[place] else "no" for judgement in judgements] for place in (0, 1))
    groups = [group for _, _, group in judgements]
    units = label_units(by_a, by_b, ("yes", "no"))
    rows = []
    for name, measure in MEASURES.items():
        estimate = bootstrap(units, measure, groups, n_resamples=n_resamples)
        rows.append(
            {
                "level": level,
                "measure": name,
                "value": estimate.value,
                "low": estimate.low,
                "high": estimate.high,
                "n_judgements": estimate.n,
                "n_groups": len(set(groups)),
            }
        )
    return rows


def _notes(papers: Sequence[TwoAnnotations], pairs: Sequence[Sequence[AspectPair]]) -> Iterator[str]:
    flat = [pair for of_paper in pairs for pair in of_paper]
    n_shared = sum(pair.a is not None and pair.b is not None for pair in flat)
    if not n_shared:
        yield (
            "The annotations share no aspect, so only this is compared: which sentences are evidence at all. To "
            "compare by aspect, let one annotator start from the other's aspects, without the marks."
        )
    else:
        aspects = "1 aspect stands" if n_shared == 1 else f"{n_shared} aspects stand"
        yield f"{aspects} in both annotations, by what they say, and are compared sentence by sentence."
        only_a, only_b = sum(pair.b is None for pair in flat), sum(pair.a is None for pair in flat)
        alone = [(papers[0].a.annotator, only_a), (papers[0].b.annotator, only_b)]
        if only_a or only_b:
            listed = " and ".join(f"{n} of {who} alone" for who, n in alone if n)
            yield f"Aspects left out of the comparison by aspect: {listed}."
    drawn = "papers" if len(papers) > 1 else "aspects of the paper"
    yield f"Intervals are 95% percentile bootstrap intervals in which {drawn} are drawn whole."


def _aspects(papers: Sequence[TwoAnnotations], pairs: Sequence[Sequence[AspectPair]]) -> pd.DataFrame:
    rows = []
    for paper, of_paper in zip(papers, pairs, strict=True):
        for pair in of_paper:
            of_a, of_b = pair.marks
            owner = paper.a.annotator if pair.b is None else paper.b.annotator
            rows.append(
                (
                    paper.name,
                    pair.text,
                    "both" if pair.a is not None and pair.b is not None else owner,
                    None if pair.a is None else pair.a.is_result,
                    None if pair.b is None else pair.b.is_result,
                    len(of_a & of_b),
                    len(of_a - of_b),
                    len(of_b - of_a),
                )
            )
    columns = ["paper", "aspect", "who", "result_a", "result_b", "n_both", "n_only_a", "n_only_b"]
    return pd.DataFrame(rows, columns=columns)


def _disagreements(papers: Sequence[TwoAnnotations]) -> pd.DataFrame:
    rows = [
        (paper.name, item.pair.text, -1, item.by, "")
        if item.sentence is None
        else (paper.name, item.pair.text, item.sentence, item.by, paper.sentences[item.sentence])
        for paper in papers
        for item in differences(paper.a, paper.b)
    ]
    return pd.DataFrame(rows, columns=["paper", "aspect", "sentence", "marked_by", "text"])
