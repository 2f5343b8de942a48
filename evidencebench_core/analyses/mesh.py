"""Is a dataset like the literature? The branches of MeSH that its papers are in, beside those of a reference."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import instance_frame
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import DataError
from evidencebench_core.stats import Estimate, bootstrap, quotient
from evidencebench_core.words import quantity

BRANCHES: Final[Mapping[str, str]] = {
    "A": "Anatomy", "B": "Organisms", "C": "Diseases", "D": "Chemicals and Drugs",
    "E": "Techniques and Equipment", "F": "Psychiatry and Psychology", "G": "Phenomena and Processes",
    "H": "Disciplines and Occupations", "I": "Anthropology, Education, Sociology", "J": "Technology, Industry",
    "K": "Humanities", "L": "Information Science", "M": "Named Groups", "N": "Health Care",
    "V": "Publication Characteristics", "Z": "Geographicals",
}  # fmt: skip
_HEADINGS: Final = "Give a CSV or TSV with the columns paper_id and descriptor."
_TREE: Final = "Give mtreesYYYY.bin of the National Library of Medicine: lines such as `Body Regions;A01`."


def mesh_report(
    store: Store, dataset: str, headings: Path, tree: Path, reference: Path | None = None
) -> Report:
    """The branches of MeSH that a dataset's papers are in, and those of a reference.

    A heading counts once a paper and is split evenly over its branches.

    Returns
    -------
    Report
        *branches*, one row a branch: ``branch``, ``name``, ``share``, and where there is a reference ``reference``
        and ``difference``.

        *spread*, one row a sample: ``sample``, ``n_papers``, ``n_headings``, ``gini_simpson`` (``low``, ``high``;
        papers drawn), ``covered`` branches.
    """
    known, info = _tree(tree), store.dataset(dataset)
    papers = set(instance_frame(store, dataset)["paper"])
    rows = _rows(headings)
    samples = {info.name: _counts((row for row in rows if row[0] in papers), known)}
    if not len(samples[info.name]):
        problem = f"has headings of none of the {quantity(len(papers), 'paper')} of {info.name}"
        raise DataError(
            str(headings), problem, "Its paper_id must be as in the dataset, such as pmc_2785062."
        )
    if reference is not None:
        samples["reference"] = _counts(_rows(reference), known)
        if not len(samples["reference"]):
            raise DataError(str(reference), "has no heading that the tree knows", _HEADINGS)
    shares = {name: counts.sum(axis=0) / counts.sum() for name, counts in samples.items()}
    branches = pd.DataFrame(
        {"branch": list(BRANCHES), "name": list(BRANCHES.values()), "share": shares[info.name]}
    )
    if reference is not None:
        branches["reference"] = shares["reference"]
        branches["difference"] = branches["share"] - branches["reference"]
    spread = pd.DataFrame([_spread(name, counts) for name, counts in samples.items()])
    unknown = {heading for _, heading in rows if _key(heading) not in known}
    notes = (
        f"{len(samples[info.name]):,} of {quantity(len(papers), 'paper')} have headings; "
        f"{quantity(len(unknown), 'heading')} that the tree does not have.",
        f"Gini-Simpson is at most {1 - 1 / len(BRANCHES):.4f} with {len(BRANCHES)} branches. A high value does not "
        "show that a sample is like the literature: compare it with a reference.",
    )
    return Report(f"MeSH: {info.name}", {"branches": branches, "spread": spread}, notes)


def _tree(path: Path) -> dict[str, set[str]]:
    """The branches of each descriptor, by its name without case."""
    branches: dict[str, set[str]] = {}
    for line in _text(path, _TREE).splitlines():
        name, _, number = line.rpartition(";")
        if name.strip() and number.strip()[:1] in BRANCHES:
            branches.setdefault(_key(name), set()).add(number.strip()[0])
    if not branches:
        raise DataError(str(path), "has no descriptor with a tree number", _TREE)
    return branches


def _rows(path: Path) -> list[tuple[str, str]]:
    """Papers and their headings."""
    lines = _text(path, _HEADINGS).splitlines()
    reader = csv.DictReader(lines, delimiter="\t" if lines and "\t" in lines[0] else ",")
    rows: list[dict[str, Any]] = list(reader)
    if not rows or not {"paper_id", "descriptor"} <= set(reader.fieldnames or ()):
        raise DataError(str(path), "has no columns paper_id and descriptor, or no rows", _HEADINGS)
    return [(str(row["paper_id"]).strip(), str(row["descriptor"])) for row in rows]


def _text(path: Path, remedy: str) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError as error:
        raise DataError(str(path), f"cannot be read: {error.strerror}", remedy) from error


def _key(heading: str) -> str:
    """A heading without qualifier, star and case."""
    return heading.split("/", maxsplit=1)[0].replace("*", "").strip().casefold()


def _counts(rows: Iterable[tuple[str, str]], tree: Mapping[str, set[str]]) -> np.ndarray:
    """Headings of each paper by branch, shape (papers with any, branches)."""
    places = {branch: place for place, branch in enumerate(BRANCHES)}
    by_paper: dict[str, np.ndarray] = {}
    for paper, key in dict.fromkeys((paper, _key(heading)) for paper, heading in rows):
        for branch in tree.get(key, ()):
            counts = by_paper.setdefault(paper, np.zeros(len(BRANCHES)))
            counts[places[branch]] += 1 / len(tree[key])
    return np.array(list(by_paper.values())).reshape(-1, len(BRANCHES))


def _spread(name: str, counts: np.ndarray) -> dict[str, Any]:
    estimate: Estimate = bootstrap(
        counts, lambda sums: 1.0 - quotient(sums**2, sums.sum(-1)[:, None] ** 2).sum(-1)
    )
    return {
        "sample": name,
        "n_papers": len(counts),
        "n_headings": round(float(counts.sum())),
        "gini_simpson": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "covered": int((counts.sum(axis=0) > 0).sum()),
    }
