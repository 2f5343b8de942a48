"""Is a dataset like the literature? MeSH branches of its papers, their spread, and a reference (rules 60-63)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.mesh_files import Heading, MeshTree, read_headings, read_tree
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError
from evidencebench_core.stats.diversity import diversity, expected_distinct, gini_simpson, total_variation
from evidencebench_core.words import clipped_text, quantity

BRANCHES: Final[Mapping[str, str]] = {
    "A": "Anatomy", "B": "Organisms", "C": "Diseases", "D": "Chemicals and Drugs",
    "E": "Techniques and Equipment", "F": "Psychiatry and Psychology", "G": "Phenomena and Processes",
    "H": "Disciplines and Occupations", "I": "Anthropology, Education, Sociology", "J": "Technology, Industry",
    "K": "Humanities", "L": "Information Science", "M": "Named Groups", "N": "Health Care",
    "V": "Publication Characteristics", "Z": "Geographicals",
}  # fmt: skip
UNITS: Final = ("assignment", "tree", "paper")
"""The unit of a count: a heading of a paper, split over its branches; a tree number; a paper, over its headings."""

_N_RESAMPLES: Final = 2_000
_NAMED: Final = 5


@dataclass(frozen=True, slots=True)
class _Sample:
    """Papers with their headings, as counts by branch."""

    papers: tuple[str, ...]  # those with a heading that has a branch
    counts: Mapping[str, NDArray[np.float64]]  # by unit, shape (papers, branches)
    having: Mapping[str, int]  # by descriptor how many papers have it
    depths: tuple[int, ...]  # of every tree number of every heading
    n_headings: int
    unknown: tuple[str, ...]  # headings that the tree does not have
    treeless: tuple[str, ...]  # descriptors without a tree number in a branch
    bare: tuple[str, ...]  # papers without a heading that counts


def mesh_report(
    store: Store, dataset: str, headings: Path, tree: Path, reference: Path | None = None
) -> Report:
    """The branches of MeSH that a dataset's papers are in, and those of a reference.

    Returns
    -------
    Report
        *branches*, one row a branch: ``branch``, ``name``, the shares by `UNITS`, and where there is a reference
        ``reference`` and ``difference`` (by assignment).

        *spread*, one row a unit: ``unit``, ``gini_simpson`` with ``low`` and ``high`` (bootstrap over papers),
        ``unbiased`` (whole counts only), ``greatest``, ``evenness``, ``effective``, ``covered`` branches; with a
        reference ``reference``, ``total_variation`` and its ``tv_low`` and ``tv_high``.

        *vocabulary*, one row a sample: ``sample``, ``n_papers``, ``n_headings``, ``n_descriptors``, ``share`` of
        the tree's, ``rarefied``: those expected in as many papers as the smaller sample has; ``depth_median``,
        ``depth_p90``.
    """
    known, info = read_tree(tree), store.dataset(dataset)
    wanted = dict.fromkeys(store.gold(dataset).paper_ids)
    read = read_headings(headings)
    own = _sample(_of_papers(read, wanted), known, tuple(wanted))
    if not own.papers:
        problem = f"has headings of none of the {quantity(len(wanted), 'paper')} of {info.name}"
        remedy = "Its paper_id must be as in the dataset, such as pmc_2785062, or the file one of PubMed's."
        raise DataError(str(headings), problem, remedy)
    other = None
    if reference is not None:
        rows = [(ids[0], heading) for ids, heading in read_headings(reference) if ids]
        other = _sample(rows, known, tuple(dict.fromkeys(paper for paper, _ in rows)))
    tables = {
        "branches": _branches(own, other),
        "spread": pd.DataFrame([_spread(unit, own, other) for unit in UNITS]),
        "vocabulary": _vocabulary({info.name: own} | ({"reference": other} if other else {}), known),
    }
    strangers = len({ids for ids, _ in read if not wanted.keys() & set(ids)})
    return Report(f"MeSH: {info.name}", tables, tuple(_notes(own, len(wanted), strangers)))


def _of_papers(headings: Iterable[Heading], wanted: Mapping[str, None]) -> list[tuple[str, str]]:
    """Of the dataset's papers; a paper of several ids is called by the one that the dataset knows."""
    found = ((next((one for one in ids if one in wanted), None), heading) for ids, heading in headings)
    return [(paper, heading) for paper, heading in found if paper is not None]


def _sample(rows: Sequence[tuple[str, str]], tree: MeshTree, wanted: Sequence[str]) -> _Sample:
    places = {branch: place for place, branch in enumerate(BRANCHES)}
    by_paper: dict[str, dict[str, None]] = {}
    unknown: dict[str, None] = {}
    treeless: dict[str, None] = {}
    for paper, heading in rows:
        key = tree.key(heading)
        if key is None:
            unknown[heading] = None
        elif not any(number[0] in places for number in tree.numbers[key]):
            treeless[key] = None
        else:
            by_paper.setdefault(paper, {})[key] = None
    counts = {unit: np.zeros((len(by_paper), len(places))) for unit in UNITS}
    depths: list[int] = []
    for row, keys in enumerate(by_paper.values()):
        for key in keys:
            numbers = [number for number in tree.numbers[key] if number[0] in places]
            columns = [places[number[0]] for number in numbers]
            np.add.at(counts["tree"][row], columns, 1)
            share = 1 / len(set(columns))
            counts["assignment"][row, list(set(columns))] += share
            counts["paper"][row, list(set(columns))] += share / len(keys)
            depths += [number.count(".") + 1 for number in numbers]
    having: dict[str, int] = {}
    for keys in by_paper.values():
        for key in keys:
            having[key] = having.get(key, 0) + 1
    n_headings = sum(map(len, by_paper.values()))
    bare = tuple(paper for paper in wanted if paper not in by_paper)
    return _Sample(
        tuple(by_paper), counts, having, tuple(depths), n_headings, tuple(unknown), tuple(treeless), bare
    )


def _shares(sample: _Sample, unit: str) -> NDArray[np.float64]:
    total = sample.counts[unit].sum(axis=0)
    return np.asarray(total / total.sum())


def _branches(own: _Sample, other: _Sample | None) -> pd.DataFrame:
    frame = pd.DataFrame({"branch": list(BRANCHES), "name": list(BRANCHES.values())})
    for unit in UNITS:
        frame[unit] = _shares(own, unit)
    if other is not None:
        frame["reference"] = _shares(other, UNITS[0])
        frame["difference"] = frame[UNITS[0]] - frame["reference"]
    return frame


def _spread(unit: str, own: _Sample, other: _Sample | None) -> dict[str, Any]:
    counts = own.counts[unit]
    found, drawn = diversity(counts.sum(axis=0)), _resampled(counts)
    low, high = _ends(gini_simpson(drawn))
    row: dict[str, Any] = {"unit": unit, "gini_simpson": found.gini_simpson, "low": low, "high": high}
    row |= {name: getattr(found, name) for name in ("unbiased", "greatest", "evenness", "effective")}
    row["unbiased"] = found.unbiased if unit == "tree" else np.nan
    row["covered"] = int((counts.sum(axis=0) > 0).sum())
    if other is not None:
        theirs = other.counts[unit]
        row["reference"] = diversity(theirs.sum(axis=0)).gini_simpson
        row["total_variation"] = float(total_variation(_shares(own, unit), _shares(other, unit)))
        again = _resampled(theirs)
        pairs = (one / one.sum(axis=1, keepdims=True) for one in (drawn, again))
        row["tv_low"], row["tv_high"] = _ends(total_variation(*pairs))
    return row


def _resampled(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums by branch of resamples of whole papers, shape (resamples, branches)."""
    rng, n = np.random.default_rng(0), len(counts)
    even = np.full(n, 1 / n)
    step = max(1, 2_000_000 // n)
    parts = [
        rng.multinomial(n, even, size=min(step, _N_RESAMPLES - start)) @ counts
        for start in range(0, _N_RESAMPLES, step)
    ]
    return np.concatenate(parts)


def _ends(values: NDArray[np.float64]) -> tuple[float, float]:
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def _vocabulary(samples: Mapping[str, _Sample], tree: MeshTree) -> pd.DataFrame:
    fewest = min(len(sample.papers) for sample in samples.values())
    return pd.DataFrame(
        [
            {
                "sample": name,
                "n_papers": len(sample.papers),
                "n_headings": sample.n_headings,
                "n_descriptors": len(sample.having),
                "share": len(sample.having) / tree.n_descriptors,
                "rarefied": expected_distinct(list(sample.having.values()), len(sample.papers), fewest),
                "depth_median": float(np.median(sample.depths)),
                "depth_p90": float(np.percentile(sample.depths, 90)),
            }
            for name, sample in samples.items()
        ]
    )


def _notes(own: _Sample, n_wanted: int, strangers: int) -> Iterable[str]:
    yield f"{len(own.papers):,} of {quantity(n_wanted, 'paper')} have headings, {own.n_headings:,} in all."
    for what, names in (
        ("Papers without any heading that counts", own.bare),
        ("Headings that the tree does not have", own.unknown),
        ("Descriptors without a tree number in a branch", own.treeless),
    ):
        if names:
            named = ", ".join(clipped_text(name, 60) for name in names[:_NAMED])
            yield f"{what}: {len(names):,} ({named}{', …' if len(names) > _NAMED else ''})."
    if strangers:
        yield f"Left out: headings of {quantity(strangers, 'paper')} that the dataset does not have."
    yield (
        "A heading counts once a paper. By assignment a heading is split evenly over its branches, by tree each of "
        "its tree numbers counts, by paper all headings of a paper make 1. Depth is over tree numbers."
    )
    yield (
        f"Gini-Simpson is at most {1 - 1 / len(BRANCHES):.4f} with {len(BRANCHES)} branches, not 1. All branches and "
        "a high value do not show that a sample is like the literature: compare it with a reference."
    )
