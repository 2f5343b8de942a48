"""How far annotators agree on what covers which aspect: each pair, all together, and people against models."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.report import Report
from evidencebench_core.annotation.differences import aspect_groups, differences
from evidencebench_core.annotation.marked import MarkedPaper, annotation_of, annotators_of
from evidencebench_core.annotation.model import GOLD, MODEL, Annotation, MarkedAspect
from evidencebench_core.annotation.provenance import gold_models
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.data.model import Instance
from evidencebench_core.data.store import Store
from evidencebench_core.errors import PaperError
from evidencebench_core.stats import (
    Estimate,
    accuracy,
    bootstrap,
    cohen_kappa,
    coincidences,
    interval_note,
    krippendorff_alpha,
    label_f1,
    label_units,
    paired,
    phi,
)
from evidencebench_core.words import quantity

ASPECT_LEVEL: Final = "aspect and sentence"
SENTENCE_LEVEL: Final = "sentence"
MEASURES: Final = MappingProxyType(
    {
        "exact accuracy": accuracy,
        "binary F1": lambda tables: label_f1(tables)[..., 0],
        "Cohen's kappa": cohen_kappa,
        "Spearman's rho": phi,
    }
)
"""Those of the paper's table 2; of yes and no Spearman's rho is phi."""
ALPHA: Final = "Krippendorff's alpha"
ALL: Final = "all"


class AnnotatedPaper:
    """A paper, by name, and what annotators made of it."""

    def __init__(self, name: str, sentences: Sequence[str], *annotations: Annotation) -> None:
        self.name, self.sentences = name, sentences
        self.annotations = {annotation.annotator: annotation for annotation in annotations}


def consensus_figures(makers: Sequence[Annotation], consensus: Annotation) -> dict[str, Any]:
    """The kappa of the two who made a consensus, by aspect or else by sentence, and how much they left undecided."""
    a, b = makers
    table = agreement_report([AnnotatedPaper("", [""] * a.n_sentences, a, b)]).tables["agreement"]
    kappa = table.loc[table["measure"] == "Cohen's kappa", "value"].iloc[0]
    n_open = sum(item.key not in consensus.decisions for item in differences(a, b))
    return {"kappa": None if pd.isna(kappa) else round(float(kappa), 4), "n_open": n_open}


def agreement(store: Store, papers: Sequence[MarkedPaper], annotators: Sequence[str]) -> Report:
    """Agreement of annotators over those papers that at least two of them have marked; see `agreement_report`."""
    annotations, annotated = Annotations(store), []
    models = {name for name in annotators if name.startswith(MODEL)}
    for marked in papers:
        known = annotators_of(annotations, marked)
        of_paper = [annotation_of(annotations, marked, name) for name in annotators if name in known]
        if len(of_paper) > 1:
            annotated.append(AnnotatedPaper(marked.name, marked.paper.sentences, *of_paper))
        if GOLD in annotators and isinstance(marked.paper, Instance) and gold_models(marked.paper):
            models.add(GOLD)
    if not annotated:
        remedy = "Name annotators who have marked the same papers."
        raise PaperError("agreement", f"has no paper that two of {', '.join(annotators)} marked", remedy)
    report = agreement_report(annotated, models)
    n_left_out = len(papers) - len(annotated)
    notes = [f"Left out: {quantity(n_left_out, 'paper')} that only one of them marked."] if n_left_out else []
    return replace(report, notes=(*report.notes, *notes))


def agreement_report(papers: Sequence[AnnotatedPaper], models: Collection[str] = ()) -> Report:
    """Agreement of two annotators or more over one paper or several.

    A judgement is whether a sentence (headings too, as in the benchmark) covers an aspect. Aspects are
    compared that two have; without any, and beside them, it is compared which sentences are evidence for
    some aspect. ``models`` are the annotators who are no people.

    Returns
    -------
    Report
        *agreement*, one row a pair, level and measure, and one of all with alpha: ``a``, ``b``, ``level``,
        ``measure``, ``value``, ``low`` and ``high`` (papers, of a single one its aspects, drawn whole),
        ``n_judgements``, ``n_groups``. All are shares, correlations, or coefficients of at most 1.

        *difference*, where there are pairs of people and of a person and a model: ``level``, ``measure``; ``people``
        and ``with_models``, means over papers of their pairs' mean; ``difference`` (``low``, ``high``), ``p`` (the
        signs of papers flipped), ``n`` papers.

        *disagreements*: ``paper``, ``aspect``, ``sentence`` (-1 where some have no such aspect at all),
        ``marked_by``, ``text``.
    """
    if not papers:
        raise PaperError("agreement", "has no paper to stand on", "Name at least one.")
    names = list(dict.fromkeys(name for paper in papers for name in paper.annotations))
    groups = [aspect_groups(tuple(paper.annotations.values())) for paper in papers]
    parts: dict[str, dict[tuple[int, int], pd.DataFrame]] = {ASPECT_LEVEL: {}, SENTENCE_LEVEL: {}}
    for place, (paper, of_paper) in enumerate(zip(papers, groups, strict=True)):
        of_any = {name: annotation.evidence_sentences for name, annotation in paper.annotations.items()}
        parts[SENTENCE_LEVEL][place, 0] = _judgements(paper, of_any)
        for number, group in enumerate(of_paper):
            if len(group) > 1:
                of_aspect = {name: aspect.sentences for name, aspect in group.items()}
                parts[ASPECT_LEVEL][place, number] = _judgements(paper, of_aspect)
    rows, rows_of_kinds = [], []
    for level, by_aspect in parts.items():
        if by_aspect:
            judgements = pd.concat(by_aspect, names=["paper", "aspect"]).reindex(columns=names)
            drawn = judgements.index.get_level_values("paper" if len(papers) > 1 else "aspect").to_numpy()
            rows += [{"level": level} | row for row in _measures(judgements, names, drawn)]
            rows_of_kinds += [{"level": level} | row for row in _differences(judgements, names, models)]
    tables = {
        "agreement": pd.DataFrame(rows),
        **({"difference": pd.DataFrame(rows_of_kinds)} if rows_of_kinds else {}),
        "disagreements": pd.DataFrame(_disagreements(papers, groups), columns=_DISAGREEMENTS),
    }
    title = f"Agreement of {', '.join(names[:-1])} and {names[-1]}"
    return Report(title, tables, tuple(_notes(papers, groups, names)), shares=("people", "with_models"))


_Groups = Sequence[Sequence[Mapping[str, MarkedAspect]]]
_LABELS: Final = ("yes", "no")
_DISAGREEMENTS: Final = ["paper", "aspect", "sentence", "marked_by", "text"]


def _judgements(paper: AnnotatedPaper, marks: Mapping[str, Collection[int]]) -> pd.DataFrame:
    """Whether each sentence is marked by each annotator, a column."""
    labels = {}
    for name, indices in marks.items():
        labels[name] = ["yes" if index in indices else "no" for index in range(len(paper.sentences))]
    return pd.DataFrame(labels)


def _measures(judgements: pd.DataFrame, names: Sequence[str], drawn: np.ndarray) -> Iterator[dict[str, Any]]:
    for a, b in combinations(names, 2):
        tables, is_both = _pair_tables(judgements, a, b)
        for measure, function in MEASURES.items() if len(tables) else ():
            estimate = bootstrap(tables, function, drawn[is_both])
            yield {"a": a, "b": b, **_row(measure, estimate, drawn[is_both])}
    counts = pd.DataFrame({label: (judgements == label).sum(axis=1) for label in _LABELS})
    alpha = bootstrap(coincidences(counts), krippendorff_alpha, drawn)
    yield {"a": ALL, "b": "", **_row(ALPHA, alpha, drawn)}


def _pair_tables(judgements: pd.DataFrame, a: str, b: str) -> tuple[np.ndarray, np.ndarray]:
    """The `label_units` of two annotators, and the rows that both have judged."""
    is_both = judgements[[a, b]].notna().all(axis=1).to_numpy()
    both = judgements[is_both]
    return label_units(both[a].tolist(), both[b].tolist(), _LABELS), is_both


def _row(measure: str, estimate: Estimate, drawn: np.ndarray) -> dict[str, Any]:
    bounds = {"value": estimate.value, "low": estimate.low, "high": estimate.high}
    return {"measure": measure, **bounds, "n_judgements": estimate.n, "n_groups": len(np.unique(drawn))}


def _differences(
    judgements: pd.DataFrame, names: Sequence[str], models: Collection[str]
) -> Iterator[dict[str, Any]]:
    """Each measure of pairs of people against that of pairs of a person and a model, paper by paper."""
    papers = judgements.index.get_level_values("paper").to_numpy()
    by_kind: dict[int, list[np.ndarray]] = {0: [], 1: [], 2: []}  # by how many of the two are models
    for a, b in combinations(names, 2):
        tables, is_both = _pair_tables(judgements, a, b)
        sums = np.zeros((int(papers.max()) + 1, *tables.shape[1:]))
        np.add.at(sums, papers[is_both], tables)
        by_kind[(a in models) + (b in models)].append(sums)
    if not (by_kind[0] and by_kind[1]):
        return
    for measure, function in MEASURES.items():
        means = [pd.DataFrame(function(np.stack(by_kind[kind]))).mean() for kind in (0, 1)]
        people, with_models = pd.concat(means, axis=1).dropna().to_numpy().T
        if len(people):
            pair = paired(people, with_models)
            yield {
                "measure": measure,
                "people": pair.mean_a,
                "with_models": pair.mean_b,
                **{name: pair.as_dict()[name] for name in ("difference", "low", "high", "p", "n")},
            }


def _notes(papers: Sequence[AnnotatedPaper], groups: _Groups, names: Sequence[str]) -> Iterator[str]:
    flat = [group for of_paper in groups for group in of_paper]
    n_shared = sum(len(group) > 1 for group in flat)
    if not n_shared:
        yield (
            "The annotations share no aspect, so only this is compared: which sentences are evidence at all. To "
            "compare by aspect, let one annotator start from the other's aspects, without the marks."
        )
    else:
        who = "both annotations" if len(names) == 2 else "two annotations or more"
        yield f"Compared sentence by sentence: {quantity(n_shared, 'aspect')} in {who}, matched by what they say."
        alone = {name: sum(list(group) == [name] for group in flat) for name in names}
        listed = " and ".join(f"{n} of {name} alone" for name, n in alone.items() if n)
        if listed:
            yield f"Aspects left out of the comparison by aspect: {listed}."
    if len(papers) > 1:
        yield f"{interval_note(len(papers))}."
    else:
        yield "Intervals: 95%, Student's t over the aspects of the paper."


def _disagreements(papers: Sequence[AnnotatedPaper], groups: _Groups) -> Iterator[tuple[object, ...]]:
    for paper, of_paper in zip(papers, groups, strict=True):
        for group in of_paper:
            if len(group) < len(paper.annotations):
                yield paper.name, _aspect_text(group), -1, ", ".join(group), ""
            for index in sorted({index for aspect in group.values() for index in aspect.sentences}):
                who = [name for name, aspect in group.items() if index in aspect.sentences]
                if len(who) < len(group):
                    yield paper.name, _aspect_text(group), index, ", ".join(who), paper.sentences[index]


def _aspect_text(group: Mapping[str, MarkedAspect]) -> str:
    return next(iter(group.values())).text
