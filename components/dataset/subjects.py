"""The subjects of a dataset's papers: branches of MeSH, from the reader's own files of headings and the tree."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Final

import streamlit as st

from components.app import resources
from components.widgets.frame_table import csv_button, draw_notes, frame_table
from components.widgets.markdown import literal
from components.widgets.table import Column
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.mesh import mesh_report
from evidencebench_core.data import DatasetInfo
from evidencebench_core.errors import EvidenceBenchError

_FILES: Final = {
    "headings": (
        "Headings of its papers",
        "CSV, TSV or JSON lines with paper_id and descriptor; PubMed XML or MEDLINE",
    ),
    "tree": ("Tree of MeSH", "mtreesYYYY.bin or descYYYY.xml of the National Library of Medicine"),
    "reference": (
        "Headings to compare with (optional)",
        "The same kinds of files, of any other sample of papers",
    ),
}
_BRANCHES: Final = (
    Column("name", "Branch"),
    Column("assignment", "Of headings", "percent", "Each heading of a paper split over its branches"),
    Column("tree", "Of tree numbers", "percent"),
    Column("paper", "Of papers", "percent", "Each paper split over its headings"),
)
_REFERENCE: Final = (
    Column("reference", "Reference, of headings", "percent"),
    Column("difference", "Difference", "percent", "Of headings: the dataset's share minus the reference's"),
)


def draw_subjects(dataset: DatasetInfo) -> None:
    """An expander with the files to give, and the tables that come of them."""
    with st.expander(
        "What its papers are about (MeSH)", on_change="rerun", key=f"subjects.{dataset.id}"
    ) as fold:
        if fold.open:
            _draw(dataset)


def _draw(dataset: DatasetInfo) -> None:
    given = {
        name: st.file_uploader(label, help=help_text, key=f"mesh-{name}.{dataset.id}")
        for name, (label, help_text) in _FILES.items()
    }
    if given["headings"] is None or given["tree"] is None:
        st.caption("Give both files; nothing of them is kept.")
        return
    contents = {name: one.getvalue() for name, one in given.items() if one is not None}
    key = (dataset.version, dataset.name, *(one and one.file_id for one in given.values()))
    try:
        report = resources.report("mesh", key, lambda: _report(dataset, contents))
    except EvidenceBenchError as error:
        st.error(literal(str(error)))
        return
    branches = report.tables["branches"]
    spread = next(row for row in report.tables["spread"].to_dict("records") if row["unit"] == "assignment")
    st.markdown(
        f"Gini-Simpson **{spread['gini_simpson']:.3f}** ({spread['low']:.3f} to {spread['high']:.3f}) of at most "
        f"{spread['greatest']:.4f}: evenness {spread['evenness']:.2f}, as spread as over {spread['effective']:.1f} "
        f"equal branches; {int(spread['covered'])} of {len(branches)} branches."
    )
    if "total_variation" in spread:
        st.markdown(
            f"Distance to the reference: **{100 * spread['total_variation']:.1f}** points of 100 "
            f"({100 * spread['tv_low']:.1f} to {100 * spread['tv_high']:.1f})."
        )
    columns = (*_BRANCHES, *(_REFERENCE if "reference" in branches else ()))
    key_of_table, caption = f"branches-{dataset.id}", "Branches of MeSH"
    frame_table(columns, branches, key=key_of_table, ids="branch", muted=True, action="none", caption=caption)
    csv_button("Export (CSV)", f"{dataset.name}-mesh", lambda: branches)
    draw_notes(report.notes)


def _report(dataset: DatasetInfo, contents: dict[str, bytes]) -> Report:
    with tempfile.TemporaryDirectory(prefix="evidencebench-") as folder:
        paths = {name: Path(folder) / name for name in contents}
        for name, path in paths.items():
            path.write_bytes(contents[name])
        try:
            return mesh_report(resources.store(), dataset.name, **paths)
        except EvidenceBenchError as error:
            raise type(error)(error.place.replace(f"{folder}/", ""), error.problem, error.remedy) from error
