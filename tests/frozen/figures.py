"""Figures on the train set that a change of the code must not change.

Selections and scores were recorded at main 2eedda6 and have come back since; intervals and p-values are those of
papers drawn whole.

``python -m tests.frozen.figures FOLDER`` computes them again; ``test_frozen.py`` compares them with what
stands beside this file. Texts of the data are kept as digests, ids of runs as the names of their retrievers.
"""

import contextlib
import csv
import hashlib
import io
import json
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from evidencebench_core.annotation.marked import instance_key, marked_paper
from evidencebench_core.annotation.store import Annotations
from evidencebench_core.cli import main
from evidencebench_core.data import open_store
from evidencebench_core.runs import RunStore
from tests.conftest import real_file

RETRIEVERS = ("random", "oracle", "lead", "abstract-tail", "bm25", "dense", "hybrid", "structure")
TASKS = ("er@optimal", "er@10", "result-er@optimal", "result-er@5", "result-er@unconstrained")
ALL_TASKS = tuple(word for task in TASKS for word in ("--task", task))
ANNOTATED = ("evidencebench_train_id_1", "evidencebench_train_id_4")
ANNOTATORS = ("--annotator", "Ada", "--annotator", "gold")
SHORT = 40  # characters: the longest text that is kept as it is, unless it has a space


def compute(out: Path) -> None:
    """Write every table as CSV into a folder, from an empty store that ``EVIDENCEBENCH_STORE`` names."""
    out.mkdir(parents=True, exist_ok=True)
    _command("ingest", real_file("evidencebench/evidencebench_train_set.json"), "--name", "train")
    runs = {name: _run(name) for name in RETRIEVERS}
    names = {run: name for name, run in runs.items()}
    _selections(runs, out)
    _scores(runs, out)
    _annotate()
    bm25, several = runs["bm25"], [runs[name] for name in ("bm25", "dense", "abstract-tail")]
    questions: dict[str, Sequence[object]] = {
        "missed": ("missed", bm25, "--task", "er@10"),
        "missed-all": ("missed", runs["dense"], "--all"),
        "positions": ("positions", *several, "--task", "er@10", "--buckets", 3),
        "ends": ("ends", *several),
        "paraphrases": ("variants", bm25, runs["abstract-tail"]),
        "negation": ("variants", bm25, runs["abstract-tail"], "--question", "negation"),
        "spelling": ("variants", bm25, "--question", "spelling"),
        "slices": ("slices", *several, "--task", "result-er@5"),
        "dataset": ("dataset", "train"),
        "agreement": ("agreement", "--dataset", "train", *ANNOTATORS),
    }
    _run_wordings(real_file("evidencebench/hypothesis_variants_train.json"))
    for name, words in questions.items():
        _command("analyse", *words, "--out", out / f"{name}.csv")
    _command("compare", *several, runs["structure"], "--out", out / "compare.csv")
    for path in sorted(out.glob("*.csv")):
        _write(_plain(pd.read_csv(path, dtype=str, keep_default_na=False), names), path)


def _run(retriever: str) -> str:
    printed = _command("run", "--dataset", "train", "--retriever", retriever, *ALL_TASKS, "--json")
    run: str = json.loads(printed)["runs"][0]["run"]
    return run


def _run_wordings(variants: Path) -> None:
    names = [f"paraphrase:{name}" for name in ("formal", "lexical", "plain", "syntactic")] + ["negation"]
    spelling = [f"spelling:n={n},seed=0" for n in (1, 3, 10, 20, 50)]
    asked = [("bm25", name) for name in (*names, *spelling)] + [("abstract-tail", name) for name in names]
    for retriever, name in asked:
        words = ("--dataset", "train", "--retriever", retriever, "--task", "er@optimal", "--variant", name)
        _command("run", *words, "--wordings", variants)


def _command(*words: object) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        code = main([str(word) for word in words])
    if code:
        raise RuntimeError(f"{words} ended with {code}")
    return out.getvalue()


def _selections(runs: dict[str, str], out: Path) -> None:
    """The sentences that each retriever picks, one row an instance and task; long ones and the oracle's as digests."""
    known = RunStore(open_store())
    cells: dict[tuple[str, str], dict[str, str]] = {}
    for name, run in runs.items():
        for task in TASKS:
            for instance, selection in known.selections(run, task).items():
                text = " ".join(map(str, selection))
                short = text if len(selection) <= SHORT and name != "oracle" else _digest(text)
                cells.setdefault((instance, task), {})[name] = short
    rows = [{"instance": i, "task": t, **picks} for (i, t), picks in sorted(cells.items())]
    _write(pd.DataFrame(rows), out / "selections.csv")


def _scores(runs: dict[str, str], out: Path) -> None:
    rows = []
    for name, run in runs.items():
        for score in json.loads(_command("score", run, *ALL_TASKS, "--json")):
            recalls = [f"{name} {recall:.12f}" for name, recall in sorted(score.pop("per_instance").items())]
            low, high = score.pop("ci95") or ("", "")
            figures = {
                key: value
                for key, value in score.items()
                if not isinstance(value, dict | list) and key not in ("run", "label", "dataset")
            }
            digest = _digest("\n".join(recalls))
            rows.append({"retriever": name, **figures, "ci_low": low, "ci_high": high, "recalls": digest})
    _write(pd.DataFrame(rows), out / "scores.csv")


def _annotate() -> None:
    """Ada marks what gold marks, but for every third aspect's first sentence."""
    store = open_store()
    for instance in ANNOTATED:
        paper = marked_paper(store, instance_key(store.dataset("train"), instance))
        assert paper.gold is not None
        marks = paper.gold.without_marks("Ada")
        for number, aspect in enumerate(paper.gold.aspects):
            marks = marks.mark(aspect.id, sorted(aspect.sentences)[number % 3 == 0 :])
        Annotations(store).save(paper.key, marks)


def _plain(table: pd.DataFrame, names: dict[str, str]) -> pd.DataFrame:
    def cell(value: Any) -> str:
        text = str(value)
        for run, name in names.items():
            text = text.replace(run, name)
        is_gold = text.startswith("(")  # places of sentences
        return _digest(text) if is_gold or (len(text) > SHORT and " " in text) else text

    return table.map(cell)


def _digest(text: str) -> str:
    return f"sha256:{hashlib.sha256(text.encode()).hexdigest()[:12]}"


def _write(table: pd.DataFrame, path: Path) -> None:
    table.to_csv(path, index=False, quoting=csv.QUOTE_MINIMAL, lineterminator="\n")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["EVIDENCEBENCH_STORE"] = str(Path(folder) / "store.sqlite")
        os.environ.setdefault("EVIDENCEBENCH_CACHE", str(Path(folder) / "cache"))
        compute(Path(sys.argv[1]))
