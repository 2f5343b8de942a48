"""Tables for a paper: names are text in LaTeX and in Markdown, letters say what the tests say."""

import json
import re
import shutil
import subprocess
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from markdown_it import MarkdownIt

from evidencebench_core import __version__
from evidencebench_core.analyses import Report
from evidencebench_core.analyses.comparison import comparison
from evidencebench_core.export import csv_text
from evidencebench_core.export.paper_table import Cell, letter_groups, paper_tables, scores_report, table_text
from tests.analyses.stores import complete_run, systems_of
from tests.factories import raw_dataset, store_with

HOSTILE = r"50% & $x_1^2$ #{a} ~ \\end{table} \ [1ex] <b>|<script>` *a*"
NAMES = {"A": HOSTILE, "B": "bm25", "C": "dense"}
LATEX = (
    r"50\% \& \$x\_1\textasciicircum{}2\$ \#\{a\} \textasciitilde{} \textbackslash{}\textbackslash{}end\{table\} "
    r"\textbackslash{} {[}1ex{]} \textless{}b\textgreater{}\textbar{}\textless{}script\textgreater{}` *a*"
)


@pytest.fixture
def report() -> Report:
    """A is above B on all of 12 papers and like C, which is above B on all but one."""
    recalls = np.array([[0.9] * 12, [0.1] * 12, [0.9] * 11 + [0.1]])
    return comparison(replace(systems_of(recalls.tolist()), labels=NAMES))


def test_latex_holds_every_name_as_text(report: Report, tmp_path: Path) -> None:
    latex = table_text(report, "latex")
    assert latex.count(LATEX) == 3  # once among the systems, twice in a pair
    bodies = re.findall(r"\\midrule\n(.*?)\\bottomrule", latex, re.DOTALL)
    assert [body.count("\\\\\n") for body in bodies] == [3, 3]
    if shutil.which("pdflatex"):
        (tmp_path / "table.tex").write_text(
            rf"\documentclass{{article}}\usepackage{{booktabs}}\begin{{document}}{latex}\end{{document}}",
            "utf-8",
        )
        words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "table.tex"]
        done = subprocess.run(words, cwd=tmp_path, capture_output=True, timeout=120, check=False)
        assert done.returncode == 0, done.stdout.decode(errors="replace")[-2000:]


def test_markdown_holds_every_name_as_text(report: Report) -> None:
    tokens = MarkdownIt("commonmark").enable("table").parse(table_text(report, "markdown"))
    parts = [child for token in tokens if token.type == "inline" for child in token.children or ()]
    assert {part.content for part in parts if part.type == "html_inline"} <= {"<sup>", "</sup>"}
    assert "".join(part.content for part in parts if part.type == "text").count(HOSTILE) == 3


def test_the_best_is_marked_and_letters_tell_apart_what_the_test_tells_apart(report: Report) -> None:
    systems, pairs = paper_tables(report)
    recalls = [(cell.text.split()[0], cell.letters, cell.is_best) for cell in systems.cells["recall (%)"]]
    assert recalls == [("90.0", "a", True), ("10.0", "b", False), ("83.3", "a", False)]
    assert pairs.cells["a"].tolist() == [Cell(HOSTILE), Cell(HOSTILE), Cell("bm25")]
    for words in ("12 instances", "12 papers", "optimal K", __version__):
        assert words in systems.caption


def test_two_share_a_letter_where_they_do_not_differ_and_only_there() -> None:
    assert letter_groups("xyz", [("z", "x")]) == {"x": "a", "y": "ab", "z": "b"}
    draws, names = np.random.default_rng(0), "pqrstuvw"
    for _ in range(50):
        different = {pair for pair in combinations(names, 2) if draws.random() < 0.4}
        letters = letter_groups(names, different)
        for pair in combinations(names, 2):
            assert set(letters[pair[0]]).isdisjoint(letters[pair[1]]) == (pair in different)


def test_scores_of_runs_stand_task_by_task_with_their_pairs(tmp_path: Path) -> None:
    store = store_with(raw_dataset(10), tmp_path)  # two without result aspects
    runs = [complete_run(store, "tiny", name, tasks=("er@2", "result-er@5")) for name in ("oracle", "lead")]
    report = scores_report(store, runs, ["er@2", "result-er@5"])
    assert report.tables["scores"]["n"].tolist() == [10, 10, 8, 8]
    assert report.tables["pairs"]["task"].tolist() == ["ER@2", "Result-ER@5"]
    (table,) = paper_tables(report)
    assert [cell.is_best for cell in table.cells["recall (%)"]] == [True, False, True, False]
    assert "Result-ER@5: 8 instances, 8 papers, K = 5" in table.caption
    assert table_text(report, "csv") == "\r\n".join(map(csv_text, report.tables.values()))
    assert json.loads(table_text(report, "json")) == report.as_dict()


def test_more_harm_is_not_the_best() -> None:
    metrics = {"metric": ["precision"] * 2 + ["harmfulness"] * 2, "value": [0.2, 0.4] * 2}
    table = pd.DataFrame({"system": list("xyxy"), **metrics, "low": np.nan, "high": np.nan})
    (drawn,) = paper_tables(Report("set", {"systems": table}, shares=("value",)))
    assert [cell.is_best for cell in drawn.cells["value (%)"]] == [False, True, False, False]
