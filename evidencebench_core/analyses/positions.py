"""Where evidence can be found, where it must be found, where runs look, and what they find there.

A run that finds little in the middle of papers may ignore the middle, or there may be little to find. So every
recall stands beside its opportunity: how many aspects it is a share of, and what as many sentences drawn at random
would find of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from evidencebench_core.analyses.frame import (
    Aspects,
    Picks,
    aspects,
    effects_text,
    estimate_columns,
    instance_frame,
    left_out_notes,
    picks,
    runs_named,
)
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.runs import RunLike
from evidencebench_core.stats import interval_note, quotient, ratios
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import quantity


def positions(
    store: Store,
    dataset: str,
    runs: Sequence[RunLike] = (),
    task: str | Task = "er@optimal",
    *,
    buckets: int = 10,
) -> Report:
    """Opportunity, picks and recall by position in the paper; without runs, the opportunity alone.

    Sentence i of n is in bucket ``i * buckets // n``; an aspect stands where its earliest covering sentence does.
    Everything stands on the instances that *all* the runs have answered. Intervals draw papers whole.

    Returns
    -------
    Report
        ``bucket`` counts from 1, ``from`` and ``to`` are its edges as shares of the paper; undefined is NaN.

        *opportunity*, one row a bucket: ``n_instances`` with a sentence there; ``n_sentences``; ``n_covering``
        sentences that cover an aspect, ``share_covering`` of all that do; ``n_can`` aspects that a sentence there
        covers, ``can`` (``can_low``, ``can_high``) as a share of all aspects; ``n_must`` aspects that only sentences
        there cover, ``must`` likewise; ``n_aspects`` in all.

        *picks*, one row a run and bucket: ``run`` (id), ``label``, ``n_picks``, ``share`` of the run's picks
        (``low``, ``high``), ``n_hits`` picks that cover an aspect.

        *recall*, one row a run and bucket: ``n_aspects`` that stand there, in ``n_instances``; ``found`` of them (a
        sum of probabilities where a run picked more than its budget); ``recall`` (``low``, ``high``); ``chance``, the
        recall expected of as many random sentences; ``mean_covering`` sentences that cover such an aspect.

        *middle*, one row a run: ``from``, ``to``, the middle third of the paper; ``n_middle``, ``n_rest`` aspects that
        stand there and elsewhere; ``difference``: recall in the middle - recall elsewhere (``low``, ``high``);
        ``chance_difference``, that of as many random picks. Empty with fewer than three buckets.
    """
    if not 1 <= buckets <= 100:
        raise SettingError("buckets", f"cannot be {shown(buckets)}", "Give a number from 1 to 100.")
    chosen = task_named(task)
    of_task, instances = aspects(store, dataset, chosen), instance_frame(store, dataset)
    answers = [picks(store, run, chosen) for run in runs_named(store, runs, dataset)]
    has_aspects = np.bincount(of_task.frame["row"], minlength=len(instances)) > 0
    grid = _Grid(instances[np.all([has_aspects, *(answer.answered for answer in answers)], axis=0)], buckets)
    tables, opportunity = dict[str, pd.DataFrame](), _opportunity(grid, of_task)
    if answers:
        recalls = [_recalls(grid, of_task, answer) for answer in answers]
        tables["middle"] = pd.DataFrame([middle for _, middle in recalls if middle])
        tables["recall"] = pd.concat([recall for recall, _ in recalls], ignore_index=True)
        tables["picks"] = pd.concat([_picks(grid, answer) for answer in answers], ignore_index=True)
    tables["opportunity"] = opportunity
    unanswered = {
        f"instances that {answer.run.label} has not answered": int((has_aspects & ~answer.answered).sum())
        for answer in answers
    }
    n_aspects = int(opportunity["n_aspects"].iloc[0])
    notes = (
        f"{quantity(len(grid.instances), 'instance')} from {quantity(grid.n_papers, 'paper')}, {n_aspects:,} aspects.",
        f"{interval_note(grid.n_papers)}.",
        *left_out_notes(unanswered | of_task.left_out),
        *(
            f"{answer.run.label} picked more than the budget in {answer.n_over_budget:,} instances: an aspect counts "
            "with the probability that a random part of the picks of the budget's size covers it."
            for answer in answers
            if answer.n_over_budget
        ),
        *store.dataset(dataset).gold_notes,
    )
    text = finding(tables.get("middle", pd.DataFrame()), opportunity)
    return Report(f"Positions: {dataset}, {chosen.title}, {buckets} buckets", tables, notes, finding=text)


def bucket_of(sentence: Any, n_sentences: Any, buckets: int) -> Any:
    """The bucket (from 0) of sentences of papers with so many."""
    return sentence * buckets // n_sentences


class _Grid:
    """Sums by paper (rows) and bucket (columns), over the instances of a frame; whatever is of others is left out."""

    def __init__(self, instances: pd.DataFrame, buckets: int) -> None:
        self.instances, self.buckets = instances, buckets
        codes, papers = pd.factorize(instances["paper"])
        self.n_papers = len(papers)
        self._places = pd.DataFrame(
            {"code": codes, "n_sentences": instances["n_sentences"]}, index=instances.index
        )

    def bucketed(self, frame: pd.DataFrame, column: str = "sentence") -> pd.DataFrame:
        """The rows of these instances, with the ``code`` of their paper and the ``bucket`` of a sentence."""
        rows = frame[["row", column]].assign(index=np.arange(len(frame)))
        rows = rows.join(self._places, on="row", how="inner").set_index("index")
        rows["bucket"] = bucket_of(rows[column], rows["n_sentences"], self.buckets)
        return rows

    def table(self, rows: pd.DataFrame, weights: np.ndarray | None = None) -> np.ndarray:
        """Counts of `bucketed` rows, or their weights' sums."""
        cells = rows["code"] * self.buckets + rows["bucket"]
        counts = np.bincount(cells, weights, minlength=self.n_papers * self.buckets)
        return counts.reshape(self.n_papers, self.buckets).astype(float)

    def frame(self, columns: dict[str, Any], answer: Picks | None = None) -> pd.DataFrame:
        """One row a bucket."""
        numbers = np.arange(self.buckets)
        head: dict[str, Any] = {} if answer is None else {"run": answer.run.id, "label": answer.run.label}
        head |= {"bucket": numbers + 1, "from": numbers / self.buckets, "to": (numbers + 1) / self.buckets}
        return pd.DataFrame(head | columns)


def _opportunity(grid: _Grid, of_task: Aspects) -> pd.DataFrame:
    """Where aspects can and where they must be found."""
    sizes, edges = grid.instances["n_sentences"].to_numpy(), np.arange(1, grid.buckets)
    ends = -(-sizes[:, None] * edges // grid.buckets)  # the first sentence of each next bucket
    n_sentences = np.diff(np.column_stack([np.zeros(len(sizes), int), ends, sizes]), axis=1)
    first, last = grid.bucketed(of_task.frame, "first"), grid.bucketed(of_task.frame, "last")
    pairs = of_task.pairs.assign(row=of_task.frame["row"].to_numpy()[of_task.pairs["place"]])
    covering = grid.bucketed(pairs)
    covering["place"] = pairs["place"].to_numpy()[covering.index]
    can = grid.table(covering.drop_duplicates(["place", "bucket"]))
    must = grid.table(first[first["bucket"] == last["bucket"]])
    n_covering = grid.table(covering.drop_duplicates(["row", "sentence"])).sum(axis=0)
    n_aspects = grid.table(first).sum(axis=1, keepdims=True)
    estimates = ratios(np.hstack([can, must]), np.repeat(n_aspects, 2 * grid.buckets, axis=1))
    return grid.frame(
        {
            "n_instances": np.count_nonzero(n_sentences, axis=0),
            "n_sentences": n_sentences.sum(axis=0),
            "n_covering": n_covering.astype(int),
            "share_covering": quotient(n_covering, n_covering.sum()),
            "n_can": can.sum(axis=0).astype(int),
            **estimate_columns(estimates[: grid.buckets], "can", "can_"),
            "n_must": must.sum(axis=0).astype(int),
            **estimate_columns(estimates[grid.buckets :], "must", "must_"),
            "n_aspects": int(n_aspects.sum()),
        }
    )


def _picks(grid: _Grid, answer: Picks) -> pd.DataFrame:
    """Where a run looked."""
    rows = grid.bucketed(answer.frame)
    made = grid.table(rows)
    hits = grid.table(rows, answer.frame["covers"].to_numpy()[rows.index])
    estimates = ratios(made, np.repeat(made.sum(axis=1, keepdims=True), grid.buckets, axis=1))
    columns = {
        "n_picks": made.sum(axis=0).astype(int),
        **estimate_columns(estimates, "share"),
        "n_hits": hits.sum(axis=0).astype(int),
    }
    return grid.frame(columns, answer)


def _recalls(grid: _Grid, of_task: Aspects, answer: Picks) -> tuple[pd.DataFrame, dict[str, Any]]:
    """What a run found, by where the aspects stand; and the middle against the rest."""
    rows = grid.bucketed(of_task.frame, "first")
    frame = of_task.frame.iloc[rows.index]
    n_aspects = grid.table(rows)
    found = grid.table(rows, answer.found[rows.index])
    counts = n_aspects.sum(axis=0)
    chance = grid.table(rows, frame["chance"].to_numpy()).sum(axis=0)
    buckets = grid.buckets  # the middle ones have their centre in the middle third; of one or two none has
    middle = [n for n in range(buckets) if buckets <= 3 * (n + 0.5) <= 2 * buckets] if buckets > 2 else []
    rest = [bucket for bucket in range(buckets) if bucket not in middle]
    estimates = ratios(found, n_aspects, differences=[(middle, rest)] if middle else [])
    columns = {
        "n_instances": grid.table(rows.drop_duplicates(["row", "bucket"])).sum(axis=0).astype(int),
        "n_aspects": counts.astype(int),
        "found": found.sum(axis=0),
        **estimate_columns(estimates[: grid.buckets], "recall"),
        "chance": quotient(chance, counts),
        "mean_covering": quotient(grid.table(rows, frame["n_covering"].to_numpy()).sum(axis=0), counts),
    }
    recall = grid.frame(columns, answer)
    if not middle:
        return recall, {}
    chances = [quotient(chance[part].sum(), counts[part].sum()) for part in (middle, rest)]
    return recall, {
        "run": answer.run.id,
        "label": answer.run.label,
        "from": middle[0] / grid.buckets,
        "to": (middle[-1] + 1) / grid.buckets,
        "n_middle": int(counts[middle].sum()),
        "n_rest": int(counts[rest].sum()),
        "n_papers": grid.n_papers,
        **{name: column[0] for name, column in estimate_columns(estimates[-1:], "difference").items()},
        "chance_difference": float(chances[0] - chances[1]),
    }


def finding(middle: pd.DataFrame, opportunity: pd.DataFrame) -> str:
    """The table *middle* in one sentence; without runs, where the gold stands."""
    if middle.empty:
        most = opportunity.sort_values("can", ascending=False, kind="stable").iloc[0]
        place = f"{100 * most['from']:.0f} to {100 * most['to']:.0f}%"
        return f"{100 * most['can']:.0f}% of the aspects can be found in {place} of the paper, the most in any part."
    return f"In the middle of papers, compared with elsewhere, {effects_text(middle)}."
