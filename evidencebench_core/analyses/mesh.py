"""Is a dataset like the literature? The branches of MeSH that its papers are in, beside those of a reference."""

from __future__ import annotations

import io
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pandas as pd

from evidencebench_core.analyses.frame import instance_frame
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.files import file_content
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
_LARGEST: Final = 256 << 20  # bytes
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
    info, branch_rows = store.dataset(dataset), _tree(tree)
    papers = instance_frame(store, dataset)["paper"].unique()
    rows = _headings(headings)
    samples = {info.name: _counts(rows[rows["paper_id"].isin(papers)], branch_rows)}
    if samples[info.name].empty:
        problem = f"has headings of none of the {quantity(len(papers), 'paper')} of {info.name}"
        raise DataError(
            str(headings), problem, "Its paper_id must be as in the dataset, such as pmc_2785062."
        )
    if reference is not None:
        samples["reference"] = _counts(_headings(reference), branch_rows)
        if samples["reference"].empty:
            raise DataError(str(reference), "has no heading that the tree knows", _HEADINGS)
    branches = pd.DataFrame({"branch": list(BRANCHES), "name": list(BRANCHES.values())})
    for column, counts in zip(("share", "reference"), samples.values(), strict=False):
        branches[column] = (counts.sum() / counts.to_numpy().sum()).to_numpy()
    if reference is not None:
        branches["difference"] = branches["share"] - branches["reference"]
    spread = pd.DataFrame([_spread(name, counts) for name, counts in samples.items()])
    n_unknown = rows.loc[~rows["key"].isin(branch_rows["key"]), "descriptor"].nunique()
    notes = (
        f"{len(samples[info.name]):,} of {quantity(len(papers), 'paper')} have headings; "
        f"{quantity(n_unknown, 'heading')} that the tree does not have.",
        f"Gini-Simpson is at most {1 - 1 / len(BRANCHES):.4f} with {len(BRANCHES)} branches. A high value does not "
        "show that a sample is like the literature: compare it with a reference.",
    )
    most = branches.nlargest(1, "share").iloc[0]
    text = f"{most['name']} is the most frequent branch of {info.name}: {most['share']:.0%} of the headings."
    return Report(f"MeSH: {info.name}", {"branches": branches, "spread": spread}, notes, finding=text)


def _tree(path: Path) -> pd.DataFrame:
    """Each branch of each descriptor: ``key``, ``branch``, and its ``share`` of a heading."""
    text = file_content(path, _LARGEST, _TREE).decode("utf-8-sig", errors="replace")
    lines = pd.Series(text.splitlines(), dtype=str)
    rows = lines.str.extract(rf"^(.*\S.*);\s*([{''.join(BRANCHES)}])[^;]*$").dropna()
    rows = rows.set_axis(["key", "branch"], axis=1)
    rows = rows.assign(key=rows["key"].map(_key)).drop_duplicates()
    if rows.empty:
        raise DataError(str(path), "has no descriptor with a tree number", _TREE)
    return rows.assign(share=1 / rows.groupby("key")["branch"].transform("size"))


def _headings(path: Path) -> pd.DataFrame:
    """Papers and their headings: ``paper_id``, ``descriptor``, ``key``."""
    text = file_content(path, _LARGEST, _HEADINGS).decode("utf-8-sig", errors="replace")
    tab = "\t" if "\t" in text.partition("\n")[0] else ","
    try:
        columns = ["paper_id", "descriptor"]
        rows = pd.read_csv(io.StringIO(text), sep=tab, usecols=columns, dtype=str, keep_default_na=False)
    except ValueError as error:
        raise DataError(str(path), "has no columns paper_id and descriptor", _HEADINGS) from error
    return rows.assign(paper_id=rows["paper_id"].str.strip(), key=rows["descriptor"].map(_key))


def _key(heading: str) -> str:
    """A heading without qualifier, star and case."""
    return heading.split("/", maxsplit=1)[0].replace("*", "").strip().casefold()


def _counts(rows: pd.DataFrame, tree: pd.DataFrame) -> pd.DataFrame:
    """Headings of each paper that has any (a row) by branch (a column)."""
    headings = rows[["paper_id", "key"]].drop_duplicates().merge(tree, on="key")
    counts = headings.pivot_table("share", "paper_id", "branch", aggfunc="sum", fill_value=0.0)
    return counts.reindex(columns=list(BRANCHES), fill_value=0.0)


def _spread(name: str, counts: pd.DataFrame) -> dict[str, Any]:
    estimate: Estimate = bootstrap(
        counts, lambda sums: 1.0 - quotient(sums**2, sums.sum(-1)[:, None] ** 2).sum(-1)
    )
    return {
        "sample": name,
        "n_papers": len(counts),
        "n_headings": round(float(counts.to_numpy().sum())),
        "gini_simpson": estimate.value,
        "low": estimate.low,
        "high": estimate.high,
        "covered": int((counts.sum() > 0).sum()),
    }
