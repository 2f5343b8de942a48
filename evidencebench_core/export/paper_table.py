"""The tables of a report in LaTeX and Markdown, for a paper; in CSV and JSON, for another program."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_letters
from typing import Any, Final, Literal

import pandas as pd

from evidencebench_core.analyses.comparison import compare
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.export.tables import csv_text
from evidencebench_core.metrics import MEASURES
from evidencebench_core.notebook import interval_columns
from evidencebench_core.runs import RunLike, RunStore, score_run
from evidencebench_core.stats import Estimate
from evidencebench_core.tasks import Missing, Task, task_named
from evidencebench_core.words import file_stem, one_line, p_text, value_text

TableFormat = Literal["latex", "markdown", "csv", "json"]
ALPHA: Final = 0.05  # systems with a larger p, corrected by Holm, cannot be told apart

_LABELS: Final = {"system": "label", "run": "label", "a": "label_a", "b": "label_b"}  # ids of runs, and names
_SYSTEMS: Final = frozenset({"system", "run", "model"})
_WITHIN: Final = ("task", "settings", "figure", "metric", "bucket", "group", "family", "slice")
_WITHOUT_BEST: Final = ("bias", "redundancy", "harmfulness", "contradict rate")  # more of them is no better
_SCORE_COLUMNS: Final = (
    "task", "system", "label", "recall", "low", "high", *(measure.name for measure in MEASURES[1:]), "ceiling",
    "random", "n", "n_papers",
)  # fmt: skip
_LATEX: Final = str.maketrans(
    {letter: f"\\{letter}" for letter in "&%$#_{}"}
    | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "<": r"\textless{}"}
    | {">": r"\textgreater{}", "|": r"\textbar{}", "⚠": r"\textbf{!}", "\ufe0e": "", "−": "$-$", "–": "--"}
    | {"…": r"\ldots{}", "[": "{[}", "]": "{]}"}  # a row that begins with [ has a length
)
_MARKDOWN: Final = str.maketrans({letter: f"\\{letter}" for letter in "\\`*_[]<>|~&$#!"})


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: plain text, the letters of the groups it is in, and whether it is the best of its kind."""

    text: str
    letters: str = ""
    is_best: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PaperTable:
    """A table of a report as people read it: a `Cell` in every place, an estimate with its interval in one."""

    name: str
    caption: str
    cells: pd.DataFrame


def table_text(report: Report, form: TableFormat) -> str:
    """The tables of a report below each other.

    LaTeX (for the package booktabs) and Markdown hold what a terminal shows: shares in percent with their intervals,
    the best in bold, and letters where systems are compared in pairs: those that share one cannot be told apart. CSV
    and JSON hold every column as it is.
    """
    if form == "json":
        return json.dumps(report.as_dict(), indent=2, allow_nan=False) + "\n"
    if form == "csv":
        return "\r\n".join(csv_text(table) for table in report.tables.values())
    notes = [one_line(note) for note in report.notes[1:]]
    if form == "latex":
        return "\n".join([*map(_latex_table, paper_tables(report)), *(f"% {note}" for note in notes), ""])
    lines = [f"- {note.translate(_MARKDOWN)}" for note in notes]
    return "\n".join([*map(_markdown_table, paper_tables(report)), *lines, ""])


def paper_tables(report: Report) -> list[PaperTable]:
    """The tables that a terminal shows, runs by their names, each with a caption that says what it stands on."""
    from evidencebench_core import __version__

    names, tables, printed = run_names(report), [], report.printed()
    for name, columns in printed.items():
        whole = report.tables[name].reset_index(drop=True)
        letters, is_best = _letters(whole, report.tables.get("pairs")), _best_rows(whole)
        notes = [report.title if len(printed) == 1 else f"{report.title} ({name})"]
        notes += [note.rstrip(".") for note in report.notes[:1]]
        if any(is_best):
            notes.append("Best in bold")
        if any(letters):
            notes.append(f"Systems that share a letter differ by no more than chance (Holm, p > {ALPHA})")
        caption = one_line(". ".join([*notes, f"EvidenceBench Explorer {__version__}."]))
        cells = _cells(columns, report.share_columns(name), names)
        for heading in cells.columns.intersection(["recall (%)", "value (%)"]):
            texts = [cell.text for cell in cells[heading]]
            cells[heading] = pd.Series(list(map(Cell, texts, letters, is_best)), dtype=object)
        tables.append(PaperTable(name, caption, cells))
    return tables


def scores_report(
    store: Store, runs: Sequence[RunLike], tasks: Sequence[str | Task] = (), missing: Missing = "report"
) -> Report:
    """The scores of runs, a row a task and run, and of several over one dataset every pair, task by task.

    Without ``tasks`` they are those that a run has answers for. The columns are those of `Score.row` and `compare`.
    """
    infos = [RunStore(store).run(run) for run in runs]
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    pairs, parts = [], []
    for task in map(task_named, tasks or dict.fromkeys(name for info in infos for name in info.tasks)):
        answered = [info for info in infos if info.n_answers(task)]
        scores = [score_run(store, info, task, missing) for info in answered]
        rows += [
            {"system": info.id, "label": info.label, **score.row()}
            for info, score in zip(answered, scores, strict=True)
        ]
        notes += [note for score in scores for note in score.notes]
        if len(answered) > 1 and len({info.dataset for info in answered}) == 1:
            pairs.append(compare(store, answered, task).tables["pairs"].assign(task=task.title))
        counts = [_range([score.n_scored for score in scores]), _range([score.n_papers for score in scores])]
        parts.append(f"{task.title}: {counts[0]} instances, {counts[1]} papers, {task.budget_text}")
    return Report(
        f"Aspect Recall on {', '.join(dict.fromkeys(info.dataset for info in infos))}",
        {"scores": pd.DataFrame(rows)} | ({"pairs": pd.concat(pairs)} if pairs else {}),
        ("; ".join(parts) + ".", *dict.fromkeys(notes)),
        brief={"scores": _SCORE_COLUMNS, "pairs": ()},
        shares=["random", *(measure.name for measure in MEASURES if measure.is_share)],
    )


def _range(counts: Sequence[int]) -> str:
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def letter_groups(order: Sequence[str], different: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The compact letter display: two systems have a letter in common where they are not ``different``, and only there.

    ``a`` is of the first in order. Piepho, Journal of Computational and Graphical Statistics 13 (2004), 456-466: insert
    and absorb.
    """
    groups = [frozenset(order)]
    for a, b in different:
        parts: list[frozenset[str]] = []
        for group in groups:
            parts += [group - {a}, group - {b}] if {a, b} <= group else [group]
        groups = [group for group in dict.fromkeys(parts) if not any(group < other for other in parts)]
    groups.sort(key=lambda group: [place for place, name in enumerate(order) if name in group])
    lettered = list(zip(ascii_letters, groups, strict=False))
    return {name: "".join(letter for letter, group in lettered if name in group) for name in order}


def _letters(table: pd.DataFrame, pairs: pd.DataFrame | None) -> list[str]:
    """The letters of each row of a table of systems, task by task; none in a report without pairs."""
    letters = pd.Series("", table.index)
    if pairs is None or not {"system", "recall"} <= set(table.columns):
        return letters.tolist()
    tasks, of_pairs = (frame.get("task", pd.Series("", frame.index)) for frame in (table, pairs))
    for task in of_pairs.unique():
        rows = table[tasks == task].sort_values("recall", ascending=False, kind="stable")
        apart = pairs[(of_pairs == task) & (pairs["p_holm"] <= ALPHA)]
        groups = letter_groups(rows["system"].tolist(), zip(apart["a"], apart["b"], strict=True))
        letters[rows.index] = rows["system"].map(groups)
    return letters.tolist()


def _best_rows(table: pd.DataFrame) -> list[bool]:
    """Whether each row of a table that compares systems has the best figure of its task, metric, slice, ..."""
    figure = next((name for name in ("recall", "value") if name in table), "")
    if not figure or _SYSTEMS.isdisjoint(table.columns):
        return [False] * len(table)
    kinds = [table[name] for name in _WITHIN if name in table] or [pd.Series(0, table.index)]
    groups = table[figure].astype(float).groupby(kinds, dropna=False)
    is_best = (groups.transform("max") - table[figure] < 1e-9) & (groups.transform("size") > 1)
    for kind in kinds:
        is_best &= ~kind.isin(_WITHOUT_BEST)
    return is_best.tolist()


def run_names(report: Report) -> dict[str, str]:
    """Runs by id: their labels, with the id where several have the same."""
    labels: dict[str, str] = {}
    for table in report.tables.values():
        for key, label in _LABELS.items():
            if {key, label} <= set(table.columns):
                labels |= dict(zip(table[key], table[label], strict=True))
    times = Counter(labels.values())
    return {run: label if times[label] == 1 else f"{label} ({run})" for run, label in labels.items()}


def _cells(table: pd.DataFrame, shares: frozenset[str], names: Mapping[str, str]) -> pd.DataFrame:
    bounds, cells = interval_columns(table), dict[str, list[Cell]]()
    hidden = {label for key, label in _LABELS.items() if {key, label} <= set(table.columns)}
    hidden.update(*bounds.values())
    values_of = table.astype(object).where(table.notna(), None).to_dict("list")
    for column in map(str, table.columns):
        if column in hidden:
            continue
        is_share, values = column in shares, values_of[column]
        if column in bounds:
            rows = zip(values, *map(values_of.get, bounds[column]), strict=True)
            scale, decimals = (100, 1) if is_share else (1, 2)
            texts = [Estimate(*row).text(scale=scale, decimals=decimals, unit="") for row in rows]
            texts = [text.replace("-", "−") for text in texts]
        elif column in ("p", "p_holm"):
            texts = list(map(p_text, values))
        elif column in _LABELS:
            texts = [value_text(names.get(value, value)) for value in values]
        else:
            texts = [value_text(value, is_share) for value in values]
        heading = column.replace("_", " ")
        cells[f"{heading} (%)" if is_share else heading] = list(map(Cell, texts))
    return pd.DataFrame(cells)


def _drawn(
    table: PaperTable, escapes: Mapping[int, str], bold: str, raised: str
) -> tuple[pd.DataFrame, list[bool]]:
    """The table as texts, headings too, and which columns hold numbers."""

    def text_of(cell: Cell) -> str:
        text = cell.text.translate(escapes)
        text = bold % text if cell.is_best else text
        return text + raised % cell.letters if cell.letters else text

    texts = table.cells.map(text_of).rename(columns=lambda name: name.translate(escapes))
    are_numbers = table.cells.map(lambda cell: cell.text[:1] in "–−-<0123456789").all()
    return texts, are_numbers.tolist()


def _latex_table(table: PaperTable) -> str:
    texts, are_numbers = _drawn(table, _LATEX, r"\textbf{%s}", r"\textsuperscript{%s}")
    return texts.style.hide(axis="index").to_latex(
        caption=table.caption.translate(_LATEX),
        label=f"tab:{file_stem(table.name)}",
        column_format="".join("r" if is_number else "l" for is_number in are_numbers),
        hrules=True,
        position_float="centering",
    )


def _markdown_table(table: PaperTable) -> str:
    texts, are_numbers = _drawn(table, _MARKDOWN, "**%s**", "<sup>%s</sup>")
    rule = ["---:" if is_number else "---" for is_number in are_numbers]
    rows = [list(texts.columns), rule, *texts.to_numpy().tolist()]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([table.caption.translate(_MARKDOWN), "", *lines, ""])
