"""Papers whose evidence stands at the ends against papers whose evidence stands in the middle.

Appendix K of the EvidenceBench paper: where the first and last 10 sentences cover over 80% of the
aspects, models find more than where they cover less than 20%.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evidencebench_core.analyses.ends_split import GROUPS, EndsSplit, Group, group_frame
from evidencebench_core.analyses.positions import one_dataset
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.published import published_results
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.stats import bootstrap_interval, difference_interval
from evidencebench_core.tasks import Score, Task, score, task_named

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.data.model import EvidenceSet
    from evidencebench_core.data.store import Store

__all__ = ["FEW", "ends", "ends_report", "published_ends"]

FEW = 20  # a group of fewer instances is marked


def ends(
    store: Store,
    dataset: str,
    runs: Sequence[str] = (),
    task: str | Task = "er@optimal",
    split: EndsSplit | None = None,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Recall where the ends cover much against where they cover little.

    Parameters
    ----------
    store : Store
    dataset : str
    runs : sequence of str
        Ids of runs over the dataset, or their beginnings; none for the groups alone.
    task : str or Task
        Of the recall; the groups always go by all aspects.
    split : EndsSplit, optional
        The paper's where not given.
    n_resamples, seed : int
        Of the bootstraps.

    Returns
    -------
    Report
        *groups*, one row a group: ``group``, ``rule``, ``n_instances``, ``n_papers``, ``share`` of all
        instances, ``n_all_ends`` instances so short that all their sentences are ends.

        *recall*, one row a run and group: ``run``, ``label``, ``group``, ``n`` instances scored,
        ``n_missing`` without an answer and ``n_skipped`` without anything to cover (both left out),
        ``recall`` (mean, 0 to 1; ``low``, ``high`` by a bootstrap over papers), ``standard_error``,
        ``ceiling`` and ``chance`` (best possible, and expected of random picks, on the same instances),
        ``few`` (fewer than 20 instances).

        *difference*, one row a run: ``run``, ``label``, ``n_above``, ``n_below``, ``difference`` = recall
        above - recall below (``low``, ``high``: two-sample bootstrap over papers), ``chance_difference``
        of random picks, ``few``.

        *published*: the paper's own figures (`published_ends`), on other instances.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset, run or task; a run over another dataset.
    """
    split = split or EndsSplit()
    chosen = task if isinstance(task, Task) else task_named(task)
    run_store = RunStore(store)
    infos = one_dataset([run_store.run(run) for run in runs], dataset)
    gold = list(store.evidence_sets(dataset))
    frame = group_frame(store, dataset, split, gold)
    picked = [(info, run_store.selections(info.id, chosen.name)) for info in infos]
    return ends_report(frame, gold, picked, chosen, split, n_resamples=n_resamples, seed=seed)


def ends_report(
    frame: pd.DataFrame,
    gold: Sequence[tuple[str, EvidenceSet]],
    runs: Sequence[tuple[RunInfo, Mapping[str, Sequence[int]]]],
    task: Task,
    split: EndsSplit,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """The same from a `group_frame`, the evidence sets and each run's selections."""
    import pandas as pd

    papers = dict(zip(frame["id"], frame["paper"], strict=True))
    members: dict[Group, set[str]] = {
        group: set(frame.loc[frame["group"] == group, "id"]) for group in GROUPS
    }
    recalls: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    for info, selections in runs:
        scores = {group: _group_score(task, gold, selections, ids) for group, ids in members.items()}
        recalls += [_recall(info, g, scores[g], papers, n_resamples, seed) for g in GROUPS]
        differences.append(_difference(info, scores["above"], scores["below"], papers, n_resamples, seed))
    tables = {"groups": _groups(frame, split)}
    if runs:
        tables |= {"recall": pd.DataFrame(recalls), "difference": pd.DataFrame(differences)}
    tables["published"] = published_ends()
    return Report(f"Ends: {task.title}", tables, _notes(frame, split, bool(runs), n_resamples))


def published_ends() -> pd.DataFrame:
    """The paper's figures, on 3,000 instances of the EvidenceBench-100k test set.

    Returns
    -------
    DataFrame
        ``system``, ``group``, ``n`` (instances), ``recall`` (0 to 1), ``source``; the paper names neither
        the task nor an interval.
    """
    import pandas as pd

    sizes = {"> 80%": ("above", 1115), "< 20%": ("below", 1111)}
    return pd.DataFrame(
        [
            {"system": f.system, "group": group, "n": n, "recall": f.aspect_recall, "source": "Appendix K"}
            for f in published_results()
            for mark, (group, n) in sizes.items()
            if f.source.startswith("Appendix K") and mark in f.strategy
        ]
    )


def _group_score(
    task: Task,
    gold: Sequence[tuple[str, EvidenceSet]],
    selections: Mapping[str, Sequence[int]],
    ids: set[str],
) -> Score:
    kept = {instance_id: picks for instance_id, picks in selections.items() if instance_id in ids}
    return score(task, [(instance_id, e) for instance_id, e in gold if instance_id in ids], kept)


def _recall(
    info: RunInfo, group: Group, of_group: Score, papers: Mapping[str, str], n_resamples: int, seed: int
) -> dict[str, Any]:
    return {
        "run": info.id,
        "label": info.label,
        "group": group,
        "n": of_group.n_scored,
        "n_missing": of_group.n_missing,
        "n_skipped": of_group.n_skipped,
        "recall": _number(of_group.aspect_recall),
        **_interval(of_group, papers, n_resamples, seed),
        "standard_error": _number(of_group.standard_error),
        "ceiling": _number(of_group.ceiling),
        "chance": _number(of_group.random_expectation),
        "few": of_group.n_scored < FEW,
    }


def _interval(of_group: Score, papers: Mapping[str, str], n_resamples: int, seed: int) -> dict[str, float]:
    """``low`` and ``high`` of the mean over instances, papers being resampled."""
    import numpy as np

    ids = list(of_group.per_instance)
    values, clusters = list(of_group.per_instance.values()), [papers[instance_id] for instance_id in ids]
    rng = np.random.default_rng(seed)
    low, high = bootstrap_interval(values, rng, n_resamples, clusters=clusters) or (None, None)
    return {"low": _number(low), "high": _number(high)}


def _difference(
    info: RunInfo, above: Score, below: Score, papers: Mapping[str, str], n_resamples: int, seed: int
) -> dict[str, Any]:
    import numpy as np

    a, b = list(above.per_instance.values()), list(below.per_instance.values())
    low, high = difference_interval(
        a,
        b,
        np.random.default_rng(seed),
        n_resamples,
        clusters_a=[papers[instance_id] for instance_id in above.per_instance],
        clusters_b=[papers[instance_id] for instance_id in below.per_instance],
    ) or (None, None)
    chances = above.random_expectation, below.random_expectation
    return {
        "run": info.id,
        "label": info.label,
        "n_above": len(a),
        "n_below": len(b),
        "difference": float(np.mean(a) - np.mean(b)) if a and b else float("nan"),
        "low": _number(low),
        "high": _number(high),
        "chance_difference": _number(
            None if chances[0] is None or chances[1] is None else chances[0] - chances[1]
        ),
        "few": min(len(a), len(b)) < FEW,
    }


def _groups(frame: pd.DataFrame, split: EndsSplit) -> pd.DataFrame:
    import pandas as pd

    rows = []
    for group in GROUPS:
        of_group = frame[frame["group"] == group]
        rows.append(
            {
                "group": group,
                "rule": split.rules[group],
                "n_instances": len(of_group),
                "n_papers": int(of_group["paper"].nunique()),
                "share": len(of_group) / len(frame) if len(frame) else float("nan"),
                "n_all_ends": int((of_group["n_sentences"] <= split.head + split.tail).sum()),
            }
        )
    return pd.DataFrame(rows)


def _notes(frame: pd.DataFrame, split: EndsSplit, any_run: bool, n_resamples: int) -> tuple[str, ...]:
    neither = int((frame["group"] == "neither").sum())
    notes = [
        f"{neither} of {len(frame)} instances are in neither group. Groups go by all aspects, whatever the task."
    ]
    if without := int(frame["group"].isna().sum()):
        notes.append(f"{without} instances without aspects are in no group.")
    if short := int((frame["n_sentences"] <= split.head + split.tail).sum()):
        notes.append(f"{short} instances are so short that all their sentences are ends.")
    if any_run:
        notes += [
            f"Intervals: 95%, {n_resamples:,} bootstrap resamples of papers, each group on its own. In a group "
            f"of fewer than {FEW} instances (marked few) they are too short.",
            "The groups hold different papers: they may differ in length, in aspects and in how many sentences "
            "cover one. Compare the difference with chance_difference, that of random picks.",
        ]
    notes.append(
        "Published figures: 1,115 and 1,111 of 3,000 instances of the EvidenceBench-100k test set, other "
        "instances than these; the paper does not name the task."
    )
    return tuple(notes)


def _number(value: float | None) -> float:
    """``None`` as NaN."""
    return float("nan") if value is None else value
