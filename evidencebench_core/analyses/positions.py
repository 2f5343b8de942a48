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
    estimate_columns,
    instance_frame,
    picks,
    runs_named,
)
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.stats import Estimate, quotient, ratios
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import quantity

Table = np.ndarray
"""By paper (rows) and bucket (columns)."""


def positions(
    store: Store,
    dataset: str,
    runs: Sequence[str] = (),
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
        raise SettingError("buckets", f"is {shown(buckets)}", "Give a number from 1 to 100.")
    chosen = task_named(task)
    of_task = aspects(store, dataset, chosen)
    answers = [picks(store, run, chosen) for run in runs_named(store, runs, dataset)]
    along = _Along(instance_frame(store, dataset), of_task, answers, buckets)
    tables = {"opportunity": along.opportunity()}
    if answers:
        tables["picks"] = pd.concat([along.picks(answer) for answer in answers], ignore_index=True)
        tables |= along.recalls(answers)
    title = f"Positions: {dataset}, {chosen.title}, {buckets} buckets"
    notes = [*along.notes(answers), *store.dataset(dataset).gold_notes]
    return Report(title, tables, tuple(notes))


def bucket_of(sentence: Any, n_sentences: Any, buckets: int) -> Any:
    """The bucket (from 0) of sentences of papers with so many."""
    return sentence * buckets // n_sentences


def middle_buckets(buckets: int) -> list[int]:
    """Those (from 0) whose centre is in the middle third of the paper; none of one or two."""
    return [n for n in range(buckets) if buckets <= 3 * (n + 0.5) <= 2 * buckets] if buckets > 2 else []


class _Along:
    """Sums by paper and bucket over the instances that all runs have answered."""

    def __init__(
        self, instances: pd.DataFrame, of_task: Aspects, answers: Sequence[Picks], buckets: int
    ) -> None:
        self.buckets, self.of_task = buckets, of_task
        rows = of_task.frame["row"].to_numpy()
        counts = np.zeros(len(instances), dtype=bool)
        counts[rows] = True
        self.n_missing = [int((counts & ~answer.answered).sum()) for answer in answers]
        self.kept = np.all([counts, *(answer.answered for answer in answers)], axis=0)
        self.instances = instances
        self.paper = np.full(len(instances), -1)
        self.paper[self.kept], papers = pd.factorize(instances.loc[self.kept, "paper"])
        self.n_papers = len(papers)
        self.is_kept = self.kept[rows]
        self.rows = rows[self.is_kept]
        frame = of_task.frame[self.is_kept]
        self.first = self._buckets(self.rows, frame["first"].to_numpy())
        last = self._buckets(self.rows, frame["last"].to_numpy())
        self.is_alone = self.first == last
        in_kept = self.is_kept[of_task.pairs["place"].to_numpy()]
        pairs = of_task.pairs[in_kept]
        pair_rows = of_task.frame["row"].to_numpy()[pairs["place"]]
        there = self._buckets(pair_rows, pairs["sentence"].to_numpy())
        every = pd.DataFrame({"row": pair_rows, "place": pairs["place"].to_numpy(), "bucket": there})
        self.every = every.drop_duplicates(["place", "bucket"])
        sentences = pd.DataFrame(
            {"row": pair_rows, "sentence": pairs["sentence"].to_numpy(), "bucket": there}
        )
        self.covering = sentences.drop_duplicates(["row", "sentence"])

    def opportunity(self) -> pd.DataFrame:
        """Where aspects can and where they must be found."""
        sizes = self.instances.loc[self.kept, "n_sentences"].to_numpy()
        edges = np.arange(1, self.buckets)
        ends = -(-sizes[:, None] * edges // self.buckets)  # the first sentence of each next bucket
        n_sentences = np.diff(np.column_stack([np.zeros(len(sizes), int), ends, sizes]), axis=1)
        n_aspects = self._table(self.rows, self.first).sum(axis=1, keepdims=True)
        can = self._table(self.every["row"].to_numpy(), self.every["bucket"].to_numpy())
        must = self._table(self.rows[self.is_alone], self.first[self.is_alone])
        estimates = ratios(np.hstack([can, must]), np.repeat(n_aspects, 2 * self.buckets, axis=1))
        covering = self._counts(self.covering["bucket"])
        columns: dict[str, Any] = {
            "n_instances": np.count_nonzero(n_sentences, axis=0),
            "n_sentences": n_sentences.sum(axis=0),
            "n_covering": covering,
            "share_covering": quotient(covering, covering.sum()),
            "n_can": can.sum(axis=0).astype(int),
            **estimate_columns(estimates[: self.buckets], "can", "can_"),
            "n_must": must.sum(axis=0).astype(int),
            **estimate_columns(estimates[self.buckets :], "must", "must_"),
            "n_aspects": int(n_aspects.sum()),
        }
        return self._frame(columns)

    def picks(self, answer: Picks) -> pd.DataFrame:
        """Where a run looked."""
        frame = answer.frame[self.kept[answer.frame["row"].to_numpy()]]
        there = self._buckets(frame["row"].to_numpy(), frame["sentence"].to_numpy())
        made = self._table(frame["row"].to_numpy(), there)
        estimates = ratios(made, np.repeat(made.sum(axis=1, keepdims=True), self.buckets, axis=1))
        columns: dict[str, Any] = {
            "n_picks": made.sum(axis=0).astype(int),
            **estimate_columns(estimates, "share"),
            "n_hits": self._counts(there[frame["covers"].to_numpy()]),
        }
        return self._frame(columns, answer)

    def recalls(self, answers: Sequence[Picks]) -> dict[str, pd.DataFrame]:
        """What each run found, by where the aspects stand; and the middle against the rest."""
        n_aspects = self._table(self.rows, self.first)
        counts = n_aspects.sum(axis=0)
        there = middle_buckets(self.buckets)
        elsewhere = [bucket for bucket in range(self.buckets) if bucket not in there]
        kept = self.of_task.frame[self.is_kept]
        chance = quotient(self._counts(self.first, kept["chance"].to_numpy()), counts)
        mean_covering = quotient(self._counts(self.first, kept["n_covering"].to_numpy()), counts)
        instances = pd.DataFrame({"row": self.rows, "bucket": self.first}).drop_duplicates()
        frames, middles = [], []
        for answer in answers:
            found = self._table(self.rows, self.first, answer.found[self.is_kept])
            estimates = ratios(found, n_aspects, differences=[(there, elsewhere)] if there else [])
            columns: dict[str, Any] = {
                "n_instances": self._counts(instances["bucket"]),
                "n_aspects": counts.astype(int),
                "found": found.sum(axis=0),
                **estimate_columns(estimates[: self.buckets], "recall"),
                "chance": chance,
                "mean_covering": mean_covering,
            }
            frames.append(self._frame(columns, answer))
            middles += [self._middle(answer, estimates[-1], counts, chance, there)] if there else []
        return {"recall": pd.concat(frames, ignore_index=True), "middle": pd.DataFrame(middles)}

    def _middle(
        self, answer: Picks, difference: Estimate, counts: Table, chance: Table, there: list[int]
    ) -> dict[str, Any]:
        inside = np.isin(np.arange(self.buckets), there)
        known = np.where(counts > 0, chance, 0.0) * counts
        middle, rest = (quotient(known[part].sum(), counts[part].sum()) for part in (inside, ~inside))
        return {
            "run": answer.run.id,
            "label": answer.run.label,
            "from": there[0] / self.buckets,
            "to": (there[-1] + 1) / self.buckets,
            "n_middle": int(counts[inside].sum()),
            "n_rest": int(counts[~inside].sum()),
            "n_papers": self.n_papers,
            "difference": difference.value,
            "low": difference.low,
            "high": difference.high,
            "chance_difference": float(middle - rest),
        }

    def notes(self, answers: Sequence[Picks]) -> list[str]:
        notes = [
            f"{quantity(int(self.kept.sum()), 'instance')} from {quantity(self.n_papers, 'paper')}, "
            f"{len(self.rows):,} aspects; intervals: 95%, papers drawn whole."
        ]
        if self.of_task.n_skipped:
            notes.append(f"{quantity(self.of_task.n_skipped, 'instance')} without anything to cover.")
        if self.of_task.n_uncovered:
            notes.append(f"{self.of_task.n_uncovered:,} aspects that no sentence covers are left out.")
        for answer, n_missing in zip(answers, self.n_missing, strict=True):
            if n_missing:
                notes.append(
                    f"{n_missing:,} instances are left out for all: {answer.run.label} has no answer."
                )
            if answer.n_over_budget:
                notes.append(
                    f"{answer.run.label} picked more than the budget in {answer.n_over_budget:,} instances: an aspect "
                    "counts with the probability that a random part of the picks of the budget's size covers it."
                )
        return notes

    def _buckets(self, rows: np.ndarray, sentences: np.ndarray) -> np.ndarray:
        return np.asarray(bucket_of(sentences, self.instances["n_sentences"].to_numpy()[rows], self.buckets))

    def _table(self, rows: np.ndarray, there: np.ndarray, weights: np.ndarray | None = None) -> Table:
        cells = np.bincount(
            self.paper[rows] * self.buckets + there, weights, minlength=self.n_papers * self.buckets
        )
        return cells.reshape(self.n_papers, self.buckets).astype(float)

    def _counts(self, there: Any, weights: np.ndarray | None = None) -> Any:
        return np.bincount(there, weights, minlength=self.buckets)

    def _frame(self, columns: dict[str, Any], answer: Picks | None = None) -> pd.DataFrame:
        numbers = np.arange(self.buckets)
        head: dict[str, Any] = {} if answer is None else {"run": answer.run.id, "label": answer.run.label}
        head |= {"bucket": numbers + 1, "from": numbers / self.buckets, "to": (numbers + 1) / self.buckets}
        return pd.DataFrame(head | columns)


def instances_in_bucket(
    store: Store, dataset: str, task: str | Task, bucket: int, buckets: int, run: str | None = None
) -> pd.DataFrame:
    """The instances with an aspect that stands in a bucket (from 1).

    Returns
    -------
    DataFrame
        ``instance``, ``n_aspects`` that stand there, ``n_missed`` of them by the run (NaN without one), and the first
        ``sentence`` there that covers one. Most missed first, then in the order of the file.
    """
    of_task = aspects(store, dataset, task)
    frame = of_task.frame.assign(missed=np.nan)
    if run is not None:
        answer = picks(store, runs_named(store, (run,))[0], task)
        frame["missed"] = 1.0 - answer.found
        frame = frame[answer.answered[frame["row"].to_numpy()]]
    frame = frame[bucket_of(frame["first"], frame["n_sentences"], buckets) == bucket - 1]
    grouped = frame.groupby("instance", sort=False, observed=True)
    result = pd.DataFrame(
        {
            "n_aspects": grouped.size(),
            "n_missed": grouped["missed"].sum(min_count=1),
            "sentence": grouped["first"].min(),
        }
    )
    order = "n_aspects" if run is None else "n_missed"
    return result.reset_index().sort_values(order, ascending=False, kind="stable", ignore_index=True)


def finding(middle: pd.DataFrame, opportunity: pd.DataFrame) -> str:
    """The table *middle* in one sentence; without runs, where the gold stands."""
    if middle.empty:
        most = opportunity.sort_values("can", ascending=False, kind="stable").iloc[0]
        place = f"{100 * most['from']:.0f} to {100 * most['to']:.0f}%"
        return f"{100 * most['can']:.0f}% of the aspects can be found in {place} of the paper, the most in any part."
    parts = []
    for row in middle.to_dict("records"):
        points = 100 * row["difference"]
        text = f"{row['label']} finds {abs(points):.1f} points {'less' if points < 0 else 'more'}"
        if pd.isna(row["low"]):
            text += " (too few papers for an interval)"
        elif row["low"] <= 0 <= row["high"]:
            text += f" ({100 * row['low']:+.1f} to {100 * row['high']:+.1f}, no more than chance)"
        else:
            text += f" ({100 * row['low']:+.1f} to {100 * row['high']:+.1f})"
        parts.append(text)
    return f"In the middle of papers, compared with elsewhere: {'; '.join(parts)}."
