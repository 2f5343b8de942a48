"""Where evidence can be found, where it must be found, where runs look, and what they miss there.

A run that finds little in the middle of papers may ignore the middle, or there may be little to find.
So every recall here stands beside its opportunity: how many aspects it is a share of, how many
sentences cover them, and what as many sentences drawn at random would find of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.bucket_sums import BucketSums, Part, add_intervals
from evidencebench_core.analyses.buckets import Measure, bucket_of_places, checked_buckets, token_counts
from evidencebench_core.analyses.report import Report
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store

__all__ = ["one_dataset", "position_report", "positions"]


def positions(  # noqa: PLR0913 - one question, all its knobs by name
    store: Store,
    dataset: str,
    runs: Sequence[str] = (),
    task: str | Task = "er@optimal",
    *,
    buckets: int = 10,
    by: Measure = "sentence",
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Opportunity, picks and recall by position in the paper.

    Parameters
    ----------
    store : Store
    dataset : str
    runs : sequence of str
        Ids of runs over the dataset, or their beginnings; none for the opportunity alone.
    task : str or Task
    buckets : int
        1 to 100.
    by : {"sentence", "token"}
        Buckets hold equal shares of a paper's sentences, or of its tokens (runs of characters between
        white space).
    n_resamples, seed : int
        Of the bootstrap over papers.

    Returns
    -------
    Report
        As `position_report` has it.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset, run or task; a run over another dataset; a setting out of its range.
    """
    checked_buckets(buckets, by)
    chosen = task if isinstance(task, Task) else task_named(task)
    run_store = RunStore(store)
    infos = one_dataset([run_store.run(run) for run in runs], dataset)
    table = aspect_table(store, dataset, chosen)
    tokens = token_counts(store, dataset, table) if by == "token" else None
    return position_report(
        table,
        bucket_of_places(table, buckets, tokens),
        buckets,
        [
            (info.id, info.label, run_picks(table, run_store.selections(info.id, chosen.name)))
            for info in infos
        ],
        f"Positions: {dataset}, {chosen.title}, {buckets} buckets by {by}",
        n_resamples=n_resamples,
        seed=seed,
    )


def one_dataset(runs: Sequence[RunInfo], dataset: str) -> tuple[RunInfo, ...]:
    """The runs, each once.

    Raises
    ------
    SettingError
        If one of them is over another dataset.
    """
    for run in runs:
        if run.dataset != dataset:
            raise SettingError(
                f"run {run.id}",
                f"is over dataset {shown(run.dataset)}, not {shown(dataset)}",
                "Take runs over one dataset.",
            )
    return tuple({run.id: run for run in runs}.values())


def position_report(
    table: AspectTable,
    bucket: NDArray[np.int64],
    n_buckets: int,
    runs: Sequence[tuple[str, str, RunPicks]],
    title: str,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """The same from arrays: `positions` reads them from a store.

    Everything stands on the instances that *all* the runs have answered, so that opportunity, picks and
    recall are about the same aspects. Intervals are 95% percentile bootstrap intervals over papers.

    Parameters
    ----------
    table : AspectTable
    bucket : array of int, shape (n_places,)
        See `bucket_of_places`.
    runs : sequence of (id, label, RunPicks)

    Returns
    -------
    Report
        Three tables. In all of them ``bucket`` counts from 1, and ``from`` and ``to`` are its edges as
        shares of the paper, 0 to 1; undefined shares are NaN.

        *opportunity*, one row a bucket: ``n_instances`` with a sentence there; ``n_sentences``;
        ``n_covering`` sentences that cover at least one aspect, ``share_covering`` of all that do;
        ``n_can`` aspects that a sentence there covers, ``can`` (``can_low``, ``can_high``) as a share of
        all aspects; ``n_must`` aspects that only sentences there cover, ``must`` likewise; ``n_aspects``
        in all.

        *picks*, one row a run and bucket: ``run`` (id), ``label``, ``n_picks``, ``share`` of the run's
        picks (``low``, ``high``), ``n_hits`` picks that cover an aspect, ``share_covering`` as above.

        *recall*, one row a run, stand and bucket: ``stand`` says where an aspect stands (`STANDS`);
        ``n_aspects`` that stand there, in ``n_instances``; ``found`` of them (a sum of probabilities where
        a run picked more than its budget); ``recall`` = found / n_aspects (``low``, ``high``); ``chance``,
        the recall expected of as many sentences drawn at random (NaN without a budget);
        ``mean_covering``, sentences that cover such an aspect.
    """
    import numpy as np

    kept = np.ones(len(table.ids), dtype=bool)
    for _, _, picks in runs:
        kept &= picks.answered
    sums = BucketSums(table, bucket, n_buckets, kept)
    opportunity = sums.opportunity()
    picked = [sums.picks(picks) for _, _, picks in runs]
    recalled = [list(sums.recalls(picks)) for _, _, picks in runs]
    parts = [opportunity, *picked, *(part for parts in recalled for part in parts)]
    add_intervals(parts, np.random.default_rng(seed), n_resamples)
    tables = {"opportunity": opportunity.frame}
    if runs:
        tables["picks"] = _joined(runs, [[part] for part in picked])
        tables["recall"] = _joined(runs, recalled)
    return Report(title, tables, _notes(sums, runs, n_resamples))


def _joined(runs: Sequence[tuple[str, str, RunPicks]], parts: Sequence[Sequence[Part]]) -> pd.DataFrame:
    """The frames of all runs below each other, the run's id and label in front."""
    import pandas as pd

    frames = []
    for (run_id, label, _), of_run in zip(runs, parts, strict=True):
        for part in of_run:
            part.frame.insert(0, "label", label)
            part.frame.insert(0, "run", run_id)
            frames.append(part.frame)
    return pd.concat(frames, ignore_index=True)


def _notes(sums: BucketSums, runs: Sequence[tuple[str, str, RunPicks]], n_resamples: int) -> tuple[str, ...]:
    """What was left out and why, and how the intervals were made."""
    table, kept = sums.table, sums.kept
    n_aspects = int(kept[table.instance].sum())
    notes = [
        f"{int(kept.sum())} instances from {sums.n_papers} papers, {n_aspects} aspects; intervals: 95%, "
        f"{n_resamples:,} bootstrap resamples of papers."
    ]
    if table.skipped:
        reasons = ", ".join(dict.fromkeys(table.skipped.values()))
        notes.append(f"{len(table.skipped)} instances are skipped, they have nothing to cover: {reasons}.")
    if table.n_uncovered:
        notes.append(f"{table.n_uncovered} aspects that no sentence covers stand nowhere and are left out.")
    for _, label, picks in runs:
        if missing := int((~picks.answered).sum()):
            notes.append(f"{missing} instances are left out for all runs: {label} has not answered them.")
        if picks.n_over_budget:
            notes.append(
                f"{label} picked more than the budget in {picks.n_over_budget} instances: an aspect counts "
                "there with the probability that a random part of the picks of the budget's size finds it."
            )
    short = int((table.n_sentences[kept] < sums.n_buckets).sum())
    if short:
        notes.append(f"{short} papers have fewer sentences than buckets: some of their buckets are empty.")
    notes.append(
        "Where a run found none or all of the aspects the interval has no width, which is no certainty: look "
        "at how many they are."
    )
    notes.append(
        "Aspects in different buckets are different aspects: compare recall with chance, the recall that as "
        "many sentences drawn at random would reach there, before you blame the position."
    )
    return tuple(notes)
