"""How good an alignment is: against the gold, against itself, and under a changed prompt (rules 45, 49, 108)."""

from __future__ import annotations

import csv
import io
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from evidencebench_core.construction.align import AlignedAspect
from evidencebench_core.construction.windows import AspectLooks, Merge
from evidencebench_core.data.files import file_content
from evidencebench_core.errors import DataError, shown
from evidencebench_core.stats.bootstrap import ratio_intervals
from evidencebench_core.stats.raters import (
    RaterAgreement,
    binary_f1,
    cohen_kappa,
    cross_table,
    rater_agreement,
)
from evidencebench_core.stats.three_raters import AgreementGap, agreement_gaps, eight_cells


@dataclass(frozen=True, slots=True)
class Share:
    """A ratio of sums with its 95% interval, whole papers being drawn."""

    value: float | None  # None where there is nothing below the stroke
    ci95: tuple[float, float] | None

    def as_dict(self) -> dict[str, Any]:
        return {"value": self.value, "ci95": None if self.ci95 is None else list(self.ci95)}


def shares(
    rows: Sequence[tuple[str, Sequence[tuple[float, float]]]], n_resamples: int = 10_000
) -> list[Share]:
    """Ratios of sums over rows of (paper, pairs of what stands above and below the stroke)."""
    if not rows:
        return []
    papers, places = np.unique([paper for paper, _ in rows], return_inverse=True)
    pairs = np.array([pair for _, pair in rows], dtype=np.float64)  # (rows, ratios, 2)
    sums = np.zeros((papers.size, *pairs.shape[1:]))
    np.add.at(sums, places, pairs)
    top, bottom = sums[:, :, 0], sums[:, :, 1]
    bounds: NDArray[np.float64] = ratio_intervals(top, bottom, np.random.default_rng(0), n_resamples)
    return [
        Share(
            float(above / below) if below else None,
            None if np.isnan(bound).any() else (float(bound[0]), float(bound[1])),
        )
        for above, below, bound in zip(top.sum(axis=0), bottom.sum(axis=0), bounds, strict=True)
    ]


@dataclass(frozen=True, slots=True)
class AlignmentFigures:
    """The figures of an alignment, over the aspects that are judged: every sentence has a look.

    Attributes
    ----------
    n_aspects, n_judged, n_doubly_judged, n_greedy : int
    n_missing : int
        Looks that are due and not there.
    marks, hit, reach : Share
        Sentences marked an aspect; aspects of which a gold sentence is marked; gold sentences marked.
    any_mark : Share
        Aspects with any mark; of swapped outcomes each is a false yes.
    cells : (both, model only, gold only, neither) or None
        Of sentences and aspects, where the gold is complete.
    agreement : mapping of str to RaterAgreement
        Of model and gold, plain and by paper; empty where the gold is sufficient, not complete.
    repeat : mapping of str to float or None
        ``n`` sentences looked at twice; ``accuracy``, ``f1`` and ``kappa`` of the earlier and the later look;
        ``yes_once`` and ``yes_twice``, shares of yes among looks at sentences seen once and more often.
    """

    n_aspects: int
    n_judged: int
    n_doubly_judged: int
    n_greedy: int
    n_missing: int
    marks: Share
    hit: Share
    reach: Share
    any_mark: Share
    cells: tuple[int, int, int, int] | None
    agreement: Mapping[str, RaterAgreement]
    repeat: Mapping[str, float | None]

    def as_dict(self) -> dict[str, Any]:
        counts = ("n_aspects", "n_judged", "n_doubly_judged", "n_greedy", "n_missing")
        return {
            **{name: getattr(self, name) for name in counts},
            **{name: getattr(self, name).as_dict() for name in ("marks", "hit", "reach", "any_mark")},
            "cells": None if self.cells is None else list(self.cells),
            "agreement": {
                name: {
                    "value": one.value,
                    "plain": one.plain and list(one.plain),
                    "hierarchical": one.hierarchical and list(one.hierarchical),
                }
                for name, one in self.agreement.items()
            },
            "repeat": dict(self.repeat),
        }


_MOST_BYTES: Final = 256 << 20
_NONE: Final = Share(None, None)


def alignment_figures(
    looks: Mapping[AlignedAspect, AspectLooks],
    complete: bool,
    merge: Merge = "any",
    n_resamples: int = 10_000,
) -> AlignmentFigures:
    """The figures of the looks of an alignment.

    ``complete``: whether the gold is complete, so that a sentence outside it is one that does not cover the aspect.
    """
    judged = {aspect: of for aspect, of in looks.items() if of.is_judged}
    rows, marked, gold, papers = [], [], [], []
    for aspect, of in judged.items():
        chosen = frozenset(of.covering(merge))
        shared = len(chosen & aspect.gold)
        pairs = (
            (len(chosen), 1),
            (bool(shared), bool(aspect.gold)),
            (shared, len(aspect.gold)),
            (bool(chosen), 1),
        )
        rows.append((aspect.paper_id, pairs))
        if complete:
            marked += [index in chosen for index in range(aspect.n_sentences)]
            gold += [index in aspect.gold for index in range(aspect.n_sentences)]
            papers += [aspect.paper_id] * aspect.n_sentences
    marks, hit, reach, any_mark = shares(rows, n_resamples) or [_NONE] * 4
    table = tuple(map(int, cross_table(marked, gold))) if marked else None
    return AlignmentFigures(
        len(looks),
        len(judged),
        sum(of.is_doubly_judged for of in judged.values()),
        sum(of.is_greedy for of in looks.values()),
        sum(of.missing for of in looks.values()),
        marks,
        hit,
        reach,
        any_mark,
        table,  # type: ignore[arg-type]  # four cells
        rater_agreement(marked, gold, papers, np.random.default_rng(0), n_resamples) if marked else {},
        repeat_figures(list(looks.values())),
    )


def repeat_figures(looks: Sequence[AspectLooks]) -> dict[str, float | None]:
    """``AlignmentFigures.repeat`` of these looks."""
    pairs = [pair for of in looks for pair in of.repeats()]
    if not pairs:
        return {}
    table = cross_table(*zip(*pairs, strict=True))
    yes, seen = Counter[bool](), Counter[bool]()
    for of in looks:
        counts = of.seen
        for look in of.looks:
            for index in () if look.failed else range(*look.window):
                seen[counts[index] > 1] += 1
                yes[counts[index] > 1] += index in look.yes
    f1, kappa = (
        None if np.isnan(value) else float(value) for value in (binary_f1(table), cohen_kappa(table))
    )
    return {
        "n": len(pairs),
        "accuracy": sum(a == b for a, b in pairs) / len(pairs),
        "f1": f1,
        "kappa": kappa,
        "yes_once": yes[False] / seen[False] if seen[False] else None,
        "yes_twice": yes[True] / seen[True],
    }


MODEL: Final = "model"
"""The model among raters."""

SECOND_MODEL: Final = "second model"
"""The other one, where a construction has two."""

_MODELS: Final = (MODEL, SECOND_MODEL)

Judgements = Mapping[tuple[str, str], Mapping[str, bool]]
"""By build and item, and by rater."""


def rater_pairs(
    said: Judgements, papers: Mapping[str, str], n_resamples: int = 10_000
) -> Iterator[dict[str, Any]]:
    """Agreement of each pair of people, then of each with `MODEL` and `SECOND_MODEL`: ``a, b, n`` and ``measures``.

    ``papers`` has the paper of each build.
    """
    names = sorted({name for by in said.values() for name in by}.difference(_MODELS))
    for a, b in (*combinations(names, 2), *product(names, _MODELS)):
        both = [(papers[at[0]], by[a], by[b]) for at, by in said.items() if a in by and b in by]
        if both:
            of_papers, one, other = zip(*both, strict=True)
            found = rater_agreement(one, other, of_papers, np.random.default_rng(0), n_resamples)
            yield {
                "a": a,
                "b": b,
                "n": len(both),
                "measures": {name: _figures(of) for name, of in found.items()},
            }


def rater_gaps(
    said: Judgements, papers: Mapping[str, str], n_resamples: int = 10_000
) -> dict[str, AgreementGap]:
    """By measure, of the two people with most judgements in common and `MODEL`; empty without two."""
    pairs = Counter(pair for by in said.values() for pair in combinations(sorted(by.keys() - {*_MODELS}), 2))
    if not pairs:
        return {}
    a, b = min(pairs, key=lambda pair: (-pairs[pair], pair))
    both = [(at, by) for at, by in said.items() if {a, b, MODEL} <= by.keys()]
    one, two, model = ([int(by[name]) for _, by in both] for name in (a, b, MODEL))
    table = eight_cells(one, two, model, [papers[at[0]] for at, _ in both])
    return agreement_gaps(table, np.random.default_rng(0), n_resamples)


def _figures(of: RaterAgreement) -> dict[str, Any]:
    return {"value": of.value, "plain": of.plain, "hierarchical": of.hierarchical}


def doctors_agreement(
    quoted: Mapping[int, Mapping[str, frozenset[int]]],
    labels: Mapping[int, Mapping[str, str]],
    paper_of: Mapping[int, int],
    n_resamples: int = 10_000,
) -> dict[str, Any]:
    """How alike two doctors on one prompt are: the yardstick of `hit` (rule 108).

    ``same_label`` over all pairs of doctors, ``common_sentence`` over the pairs of which both quoted a sentence of
    the text.
    """
    rows = []
    for prompt, of in quoted.items():
        doctors = sorted(of)
        for number, one in enumerate(doctors):
            for other in doctors[number + 1 :]:
                same = labels[prompt][one] == labels[prompt][other]
                both = bool(of[one]) and bool(of[other])
                rows.append((str(paper_of[prompt]), ((same, 1), (both and bool(of[one] & of[other]), both))))
    label, sentence = shares(rows, n_resamples) or [_NONE] * 2
    n_both = sum(pairs[1][1] for _, pairs in rows)
    return {
        "n_pairs": len(rows),
        "same_label": label.as_dict(),
        "n_with_sentences": int(n_both),
        "common_sentence": sentence.as_dict(),
    }


def read_judgements(path: Path) -> NDArray[np.int64]:
    """The `eight_cells` of a CSV file with ``paper``, ``team_1``, ``team_2`` and ``model``, by paper.

    `DataError`, with the line, where a judgement is neither 1 nor 0.
    """
    remedy = "Give CSV with paper, team_1, team_2 and model: 1 for yes, 0 for no."
    text = file_content(path, _MOST_BYTES, remedy).decode("utf-8-sig", errors="replace")
    lines = csv.DictReader(io.StringIO(text, newline=""))
    papers: list[str] = []
    labels: list[list[int]] = []
    for row in lines:
        said = [(row.get(name) or "").strip() for name in ("team_1", "team_2", "model")]
        if row.get("paper") is None or not set(said) <= {"0", "1"}:
            raise DataError(f"{path}, line {lines.line_num}", f"has the judgements {shown(said)}", remedy)
        papers.append(str(row["paper"]))
        labels.append([int(one) for one in said])
    if not labels:
        raise DataError(str(path), "has no judgement", remedy)
    one, two, model = np.array(labels).T
    return eight_cells(one, two, model, papers)
