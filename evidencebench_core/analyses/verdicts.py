"""Missed aspects drawn at random, what readers noted as their causes, and how far readers and rules agree.

As in appendix J of the paper, where two people read 50 missed result aspects of GPT-4o.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Final

import pandas as pd

from evidencebench_core.analyses.causes import CAUSES, cause_title
from evidencebench_core.analyses.frame import estimate_columns, runs_named
from evidencebench_core.analyses.missed import missed_table, outcomes, queue_of
from evidencebench_core.analyses.notes import Note, NoteStore
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunInfo, RunLike
from evidencebench_core.stats import (
    accuracy,
    bootstrap,
    cohen_kappa,
    coincidences,
    interval,
    interval_note,
    krippendorff_alpha,
    label_units,
    ratios,
)
from evidencebench_core.tasks import Task, task_named

RULES: Final = "(rules)"
"""Stands beside the readers for the first cause that the rules suggest."""
_AGREEMENT: Final = ["a", "b", "measure", "value", "low", "high", "n"]


@dataclass(frozen=True, slots=True, eq=False)
class Draw:
    """Missed aspects drawn at random, and the readers' ``notes`` on misses of these runs.

    ``name`` says how to draw them again; ``frame`` has a row an item, in the order drawn: ``run`` (id) and the columns
    of `missed.outcomes`; ``verdicts`` the same rows and a column a reader: the cause noted, missing where none is.
    """

    name: str
    runs: Sequence[RunInfo]
    task: Task
    frame: pd.DataFrame
    verdicts: pd.DataFrame
    notes: Sequence[Note]

    @property
    def finding(self) -> str:
        """The commonest verdict of whoever has read most."""
        counts = self.verdicts.count()
        if not counts.sum():
            return f"{self.name}: nobody has read one yet"
        reader = str(counts.idxmax())
        causes = self.verdicts[reader].value_counts()
        commonest = f"{cause_title(causes.index[0])}, {causes.iloc[0] / counts[reader]:.0%}"
        return f"{reader} has read {counts[reader]:,} of {len(self.frame):,}; most often: {commonest}"

    def waiting(self, reader: str) -> pd.DataFrame:
        """The items on which a reader has noted no cause yet, in the order drawn."""
        return self.frame[self.verdicts[reader].isna()] if reader in self.verdicts else self.frame


def draw(
    store: Store,
    runs: Sequence[RunLike],
    task: str | Task = "result-er@optimal",
    *,
    n: int = 50,
    seed: int = 0,
    stratified: bool = False,
    results_only: bool = True,
) -> Draw:
    """Draw n missed aspects of runs over one dataset; the same seed draws the same items, and a larger n goes on.

    ``stratified``: of each run as many as of the others, as far as it has them.
    """
    infos, chosen = runs_named(store, runs), task_named(task)
    parts = [
        queue_of(outcomes(store, info, chosen), results_only).sort_index().assign(run=info.id)
        for info in infos
    ]
    every = pd.concat(parts, ignore_index=True).sample(frac=1, random_state=seed)
    if stratified:
        every = every.loc[every.groupby("run").cumcount().sort_values(kind="stable").index]
    frame = every.head(n).reset_index(drop=True)
    notes = [note for info in infos for note in NoteStore(store).notes(info.id, chosen.name)]
    noun = "missed result aspects" if results_only else "missed aspects"
    strata = ", equally many of each run" if stratified else ""
    name = f"{len(frame):,} of {len(every):,} {noun}, drawn at random (seed {seed}){strata}"
    return Draw(name, infos, chosen, frame, _noted_causes(frame, notes), notes)


def verdicts(
    store: Store, runs: Sequence[RunLike], task: str | Task = "result-er@optimal", **settings: Any
) -> Report:
    """The causes that readers noted for the items of a `draw`, which the settings are of, and the agreement.

    Returns
    -------
    Report
        *causes*, one row a cause and reader, and one for the `RULES` (the first cause suggested): ``cause``,
        ``title``, ``by``, ``n`` items of the ``n_read``; ``share`` of these (0 to 1; ``low``, ``high``, papers drawn
        whole).

        *agreement*: ``a``, ``b``, ``measure``, ``value`` (shares, or coefficients of at most 1; ``low``, ``high``),
        ``n`` items that both have judged. Of all readers together Krippendorff's alpha.

        *items*, one row an item: ``number`` in the draw, ``run``, and what `missed_table` has.
    """
    drawn = draw(store, runs, task, **settings)
    frame, readers = drawn.frame, drawn.verdicts
    by = frame[["cause"]].set_axis([RULES], axis=1).join(readers)
    noted = pd.Series(by.to_numpy().ravel()).dropna().unique()
    labels = [name for name in CAUSES if name in noted]
    labels += sorted(set(noted) - set(labels))
    names = ", ".join(f"{info.label} ({info.id})" for info in drawn.runs)
    read = [
        f"{reader} has noted a cause for {readers[reader].count():,} of {len(by):,}." for reader in readers
    ]
    return Report(
        f"Verdicts: {names}, {drawn.task.title} on {drawn.runs[0].dataset}",
        {
            "causes": _tally(by, labels, frame["paper"]),
            "agreement": pd.DataFrame(_agreement(frame, by, labels), columns=_AGREEMENT),
            "items": _items(store, drawn),
        },
        (
            f"{drawn.name}.",
            *(read or ["Nobody has noted a cause yet: open an item among the missed aspects, and note one."]),
            "The rules only suggest, and know nothing of gold, reasoning and cut answers: kappa with them is of the "
            "first cause suggested.",
            f"{interval_note(frame['paper'].nunique())}.",
        ),
        brief={"items": ()},
        finding=f"{drawn.finding}.",
    )


def _noted_causes(frame: pd.DataFrame, notes: Sequence[Note]) -> pd.DataFrame:
    """The cause that each reader noted for each item, a column a reader; missing where that reader has noted none."""
    places = ["run", "instance", "aspect"]
    rows = [(note.run_id, note.instance_id, note.aspect_id, note.author, note.cause) for note in notes]
    noted = pd.DataFrame(rows, columns=[*places, "author", "cause"], dtype=object).dropna()
    by_reader = noted.pivot_table("cause", places, "author", aggfunc="last")
    drawn = by_reader.reindex(pd.MultiIndex.from_frame(frame[places]))
    return drawn.reset_index(drop=True).dropna(axis=1, how="all")


def _tally(by: pd.DataFrame, labels: list[str], papers: pd.Series[Any]) -> pd.DataFrame:
    parts = []
    for reader in by:
        causes = by[reader].dropna()
        has_cause = pd.get_dummies(causes).reindex(columns=labels, fill_value=0).astype(float)
        shares = ratios(has_cause, has_cause * 0 + 1, papers[causes.index])
        columns = {
            "cause": labels,
            "title": [cause_title(label) for label in labels],
            "by": reader,
            "n": has_cause.sum().astype(int).to_numpy(),
            "n_read": len(causes),
        }
        parts.append(pd.DataFrame(columns | estimate_columns(shares, "share")))
    return pd.concat(parts).sort_values("cause", key=lambda names: names.map(labels.index), kind="stable")


def _agreement(frame: pd.DataFrame, by: pd.DataFrame, labels: Sequence[str]) -> Iterator[list[object]]:
    """Each pair's share and kappa, how often a reader's cause is suggested at all, and alpha of all readers."""
    papers, readers = frame["paper"], by.drop(columns=RULES)
    for a, b in combinations(by, 2):
        both = by[[a, b]].dropna()
        clusters = papers[both.index]
        units = label_units(both[a].tolist(), both[b].tolist(), labels)
        estimates = {
            "same cause": bootstrap(units, accuracy, clusters),
            "Cohen's kappa": bootstrap(units, cohen_kappa, clusters),
        }
        if a == RULES:
            suggested = zip(both[b], frame["causes"][both.index], strict=True)
            is_suggested = [float(cause in causes) for cause, causes in suggested]
            estimates["among all suggested"] = interval(is_suggested, clusters)
        for measure, estimate in estimates.items():
            yield [a, b, measure, estimate.value, estimate.low, estimate.high, estimate.n]
    if len(readers.columns) > 1:
        counts = pd.DataFrame({label: (readers == label).sum(axis=1) for label in labels})
        several = counts[counts.sum(axis=1) > 1]
        alpha = bootstrap(coincidences(several), krippendorff_alpha, papers[several.index])
        yield ["all readers", "", "Krippendorff's alpha", alpha.value, alpha.low, alpha.high, alpha.n]


def _items(store: Store, drawn: Draw) -> pd.DataFrame:
    parts = []
    for info in drawn.runs:
        of_run = [note for note in drawn.notes if note.run_id == info.id]
        misses = missed_table(store, info.dataset, drawn.frame[drawn.frame["run"] == info.id], of_run)
        misses.insert(0, "run", info.id)
        parts.append(misses)
    items = pd.concat(parts).sort_index()
    items.insert(0, "number", items.index + 1)
    return items
