"""Papers whose evidence stands at the ends against papers whose evidence stands in the middle.

Appendix K of the EvidenceBench paper: where the first and last 10 sentences cover over 80% of the
aspects, models find more than where they cover less than 20%.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import runs_over_one_dataset
from evidencebench_core.data import published_results
from evidencebench_core.data.gold import Gold
from evidencebench_core.data.model import SUFFICIENT_NOTE
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.stats import bootstrap_interval, difference_interval
from evidencebench_core.tasks import Score, Task, score, task_named

Group = Literal["above", "neither", "below"]
GROUPS: Final[tuple[Group, ...]] = get_args(Group)
FEW: Final = 20  # a group of fewer instances is marked


@dataclass(frozen=True, slots=True)
class EndsSplit:
    """Which sentences are the ends, and which shares are much and little; the paper's where not given.

    Attributes
    ----------
    head, tail : int
        How many sentences from the start and from the end; at least one of them not 0.
    above, below : float
        Instances in which the ends cover more than ``above`` of the aspects, or less than ``below`` of
        them, make the two groups; shares, ``0 <= below <= above <= 1``.
    """

    head: int = 10
    tail: int = 10
    above: float = 0.8
    below: float = 0.2

    def __post_init__(self) -> None:
        if self.head < 0 or self.tail < 0 or not self.head + self.tail:
            raise SettingError(
                "ends",
                f"are the first {shown(self.head)} and the last {shown(self.tail)} sentences",
                "Give numbers of 0 or more, not both 0.",
            )
        if not 0.0 <= self.below <= self.above <= 1.0:
            raise SettingError(
                "thresholds",
                f"are above {shown(self.above)} and below {shown(self.below)}",
                "Give shares from 0 to 1, below no larger than above.",
            )

    def group(self, coverage: float) -> Group:
        """The group of an instance by the share of its aspects that the ends cover."""
        return "above" if coverage > self.above else "below" if coverage < self.below else "neither"

    @property
    def rules(self) -> Mapping[Group, str]:
        """Each group in words."""
        where = f"first {self.head} and last {self.tail} sentences cover"
        return {
            "above": f"{where} over {100 * self.above:g}% of the aspects",
            "neither": "neither",
            "below": f"{where} under {100 * self.below:g}% of the aspects",
        }


def ends(
    store: Store,
    dataset: str,
    runs: Sequence[str] = (),
    task: str | Task = "er@optimal",
    split: EndsSplit | None = None,
    *,
    n_resamples: int = 10_000,
) -> Report:
    """Recall where the ends cover much against where they cover little.

    Without runs, the groups alone. The task is that of the recall; the groups always go by all aspects.

    Returns
    -------
    Report
        *groups*, one row a group: ``group``, ``rule``, ``n_instances``, ``n_papers``, ``share`` of all
        instances, ``n_all_ends`` instances so short that all their sentences are ends.

        *recall*, one row a run and group: ``run``, ``label``, ``group``, ``n`` instances scored,
        ``n_missing`` without an answer and ``n_skipped`` without anything to cover (both left out),
        ``recall`` (mean, 0 to 1; ``low``, ``high`` by a bootstrap over papers), ``standard_error``,
        ``ceiling`` and ``chance`` (best possible, and expected of random picks, on the same instances; a
        ceiling that is not known to the point is NaN, and its range is among the notes),
        ``few`` (fewer than 20 instances).

        *difference*, one row a run: ``run``, ``label``, ``n_above``, ``n_below``, ``difference`` = recall
        above - recall below (``low``, ``high``: two-sample bootstrap over papers), ``chance_difference``
        of random picks, ``few``.

        *published*: the paper's own figures (`published_ends`), on other instances.
    """
    split = split or EndsSplit()
    chosen = task_named(task)
    infos = runs_over_one_dataset(store, runs, dataset)
    frame = group_frame(store, dataset, split)
    picked = [(info, RunStore(store).selections(info.id, chosen.name)) for info in infos]
    return ends_report(frame, store.gold(dataset), picked, chosen, split, n_resamples=n_resamples)


def ends_report(
    frame: pd.DataFrame,
    gold: Gold,
    runs: Sequence[tuple[RunInfo, Mapping[str, Sequence[int]]]],
    task: Task,
    split: EndsSplit,
    *,
    n_resamples: int = 10_000,
) -> Report:
    """The same from a `group_frame`, the dataset's gold and each run's selections."""
    papers = dict(zip(frame["id"], frame["paper"], strict=True))
    members = {group: (frame["group"] == group).to_numpy(dtype=bool) for group in GROUPS}
    golds = {group: gold.part(chosen, chosen[gold.instance]) for group, chosen in members.items()}
    recalls: list[dict[str, Any]] = []
    differences: list[dict[str, Any]] = []
    unknown: list[str] = []
    for info, selections in runs:
        scores = {
            group: score(task, of_group, {one: selections[one] for one in of_group.ids if one in selections})
            for group, of_group in golds.items()
        }
        unknown += [
            f"Ceiling of group {group}: {one.ceiling_text}; the best selection takes too long to find."
            for group, one in scores.items()
            if one.ceiling_range and one.ceiling is None
        ]
        head = {"run": info.id, "label": info.label}
        recalls += [
            {**head, "group": group, **_recall(scores[group], papers, n_resamples)} for group in GROUPS
        ]
        differences.append({**head, **_difference(scores["above"], scores["below"], papers, n_resamples)})
    tables = {"groups": _groups(frame, split)}
    if runs:
        tables |= {"recall": pd.DataFrame(recalls), "difference": pd.DataFrame(differences)}
    tables["published"] = published_ends()
    notes = [*_notes(frame, split, bool(runs), n_resamples), *dict.fromkeys(unknown)]
    notes += [SUFFICIENT_NOTE] * gold.sufficient
    return Report(f"Ends: {task.title}", tables, tuple(notes))


def group_frame(store: Store, dataset: str, split: EndsSplit | None = None) -> pd.DataFrame:
    """Every instance with its group.

    Returns
    -------
    DataFrame
        ``id``, ``paper`` (id), ``n_sentences``, ``coverage`` (0 to 1, NaN without aspects), ``group``
        (``"above"``, ``"neither"``, ``"below"``; ``None`` without aspects), in the order of the file.
    """
    split = split or EndsSplit()
    gold = store.gold(dataset)
    coverage = ends_coverage(gold, split.head, split.tail)
    groups = [None if math.isnan(share) else split.group(share) for share in coverage.tolist()]
    columns = {"paper": gold.paper_ids, "n_sentences": gold.n_sentences, "coverage": coverage}
    return pd.DataFrame({"id": gold.ids, **columns, "group": pd.Series(groups, dtype=object)})


def ends_coverage(gold: Gold, head: int = 10, tail: int = 10) -> NDArray[np.float64]:
    """Share (0 to 1) of the aspects of each instance, result aspects or not, that a sentence at the ends covers.

    NaN without aspects. Aspects that no sentence covers count in the denominator.
    """
    last = gold.n_sentences[gold.instance[gold.aspect]] - tail
    at_ends = gold.aspect[(gold.sentence < head) | (gold.sentence >= last)]
    covered = gold.per_instance(np.bincount(at_ends, minlength=gold.instance.size) > 0)
    n_aspects = gold.per_instance()
    shares: NDArray[np.float64] = covered / np.where(n_aspects > 0, n_aspects, np.nan)
    return shares


def published_ends() -> pd.DataFrame:
    """The paper's figures, on 3,000 instances of the EvidenceBench-100k test set.

    Returns
    -------
    DataFrame
        ``system``, ``group``, ``n`` (instances), ``recall`` (0 to 1), ``source``; the paper names neither
        the task nor an interval.
    """
    sizes = {"> 80%": ("above", 1115), "< 20%": ("below", 1111)}
    return pd.DataFrame(
        [
            {"system": f.system, "group": group, "n": n, "recall": f.aspect_recall, "source": "Appendix K"}
            for f in published_results()
            for mark, (group, n) in sizes.items()
            if f.source.startswith("Appendix K") and mark in f.strategy
        ]
    )


def _clusters(of_group: Score, papers: Mapping[str, str]) -> list[str]:
    return [papers[one] for one in of_group.per_instance]


def _recall(of_group: Score, papers: Mapping[str, str], n_resamples: int) -> dict[str, Any]:
    values, clusters = list(of_group.per_instance.values()), _clusters(of_group, papers)
    bounds = bootstrap_interval(values, np.random.default_rng(0), n_resamples, clusters=clusters)
    low, high = bounds or (np.nan, np.nan)
    return {
        "n": of_group.n_scored,
        "n_missing": of_group.n_missing,
        "n_skipped": of_group.n_skipped,
        "recall": _number(of_group.aspect_recall),
        "low": low,
        "high": high,
        "standard_error": _number(of_group.standard_error),
        "ceiling": _number(of_group.ceiling),
        "chance": _number(of_group.random_expectation),
        "few": of_group.n_scored < FEW,
    }


def _difference(above: Score, below: Score, papers: Mapping[str, str], n_resamples: int) -> dict[str, Any]:
    low, high = difference_interval(
        list(above.per_instance.values()),
        list(below.per_instance.values()),
        np.random.default_rng(0),
        n_resamples,
        clusters_a=_clusters(above, papers),
        clusters_b=_clusters(below, papers),
    ) or (np.nan, np.nan)
    return {
        "n_above": above.n_scored,
        "n_below": below.n_scored,
        "difference": _number(above.aspect_recall) - _number(below.aspect_recall),
        "low": low,
        "high": high,
        "chance_difference": _number(above.random_expectation) - _number(below.random_expectation),
        "few": min(above.n_scored, below.n_scored) < FEW,
    }


def _groups(frame: pd.DataFrame, split: EndsSplit) -> pd.DataFrame:
    members = [frame[frame["group"] == group] for group in GROUPS]
    return pd.DataFrame(
        {
            "group": GROUPS,
            "rule": [split.rules[group] for group in GROUPS],
            "n_instances": [len(one) for one in members],
            "n_papers": [one["paper"].nunique() for one in members],
            "share": [len(one) / len(frame) if len(frame) else np.nan for one in members],
            "n_all_ends": [(one["n_sentences"] <= split.head + split.tail).sum() for one in members],
        }
    )


def _notes(frame: pd.DataFrame, split: EndsSplit, any_run: bool, n_resamples: int) -> Iterator[str]:
    neither = int((frame["group"] == "neither").sum())
    yield f"{neither} of {len(frame)} instances are in neither group. Groups go by all aspects, whatever the task."
    if without := int(frame["group"].isna().sum()):
        yield f"{without} instances without aspects are in no group."
    if short := int((frame["n_sentences"] <= split.head + split.tail).sum()):
        yield f"{short} instances are so short that all their sentences are ends."
    if any_run:
        yield (
            f"Intervals: 95%, {n_resamples:,} bootstrap resamples of papers, each group on its own. In a group "
            f"of fewer than {FEW} instances (marked few) they are too short."
        )
        yield (
            "The groups hold different papers: they may differ in length, in aspects and in how many sentences "
            "cover one. Compare the difference with chance_difference, that of random picks."
        )
    yield (
        "Published figures: 1,115 and 1,111 of 3,000 instances of the EvidenceBench-100k test set, other "
        "instances than these; the paper does not name the task."
    )


def _number(value: float | None) -> float:
    return np.nan if value is None else value
