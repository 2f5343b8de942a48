"""A needle test of our own: recall of a run against the place to which a part of the paper was moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.arrangements import PLACES, Part, Place, arrangement_run
from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import runs_over_one_dataset
from evidencebench_core.data import paper_texts
from evidencebench_core.data.sections import section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.runs import RunInfo, RunStore
from evidencebench_core.stats import ratio_intervals
from evidencebench_core.tasks import Task, task_named

SCOPES: Final[Mapping[str, str]] = {
    "part": "aspects that a sentence of the moved part covers",
    "rest": "aspects that only other sentences cover",
    "all": "all aspects",
}
_MEASURES: Final = {
    "recall": "",
    "original": "original_",
    "difference": "difference_",
}  # prefix of the bounds
# These score a sentence by its text and not by where it stands.
_BLIND: Final = frozenset({"bm25", "dense", "hybrid"})


def needle(  # noqa: PLR0913
    store: Store,
    dataset: str,
    runs: Sequence[str],
    task: str | Task = "er@optimal",
    parts: Sequence[Part] = ("abstract",),
    places: Sequence[Place] = PLACES,
    *,
    n_resamples: int = 10_000,
    seed: int = 0,
) -> Report:
    """Recall of runs with a part of each paper moved, against the papers as they stand.

    The runs are over the papers as they stand. Their arrangements must have been run before
    (`run_arrangements`); those without an answer are named in the notes.

    Returns
    -------
    Report
        One table, *needle*, one row a run, part, place and scope: ``run`` (id), ``label``, ``part``, and
        the columns of `needle_rows`.
    """
    chosen = task if isinstance(task, Task) else task_named(task)
    known = RunStore(store)
    infos = runs_over_one_dataset(store, runs, dataset)
    table = aspect_table(store, dataset, chosen)
    sha256 = store.dataset(dataset).sha256
    in_parts = part_places(store, dataset, table, parts)
    frames, missing = [], []
    for info in infos:
        original = run_picks(table, known.selections(info.id, chosen.name))
        for part in parts:
            moved: dict[Place, RunPicks] = {}
            for place in places:
                selections = known.selections(arrangement_run(info, sha256, part, place), chosen.name)
                if selections:
                    moved[place] = run_picks(table, selections)
                else:
                    where = "removed" if place == "removed" else f"at the {place}"
                    missing.append(f"{info.label} with {part} {where}")
            if moved:
                rows = needle_rows(table, in_parts[part], original, moved, n_resamples, seed)
                head = {"run": info.id, "label": info.label, "part": part}
                frames.append(rows.assign(**head)[[*head, *rows.columns]])
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    without = {part: int((~_has_part(table, in_parts[part])).sum()) for part in parts}
    title = f"Needle: {dataset}, {chosen.title}"
    return Report(title, {"needle": frame}, _notes(infos, table, without, missing, n_resamples))


def part_places(
    store: Store, dataset: str, table: AspectTable, parts: Sequence[Part]
) -> Mapping[Part, NDArray[np.bool_]]:
    """By part, whether the sentence at each place of the table belongs to it; reads all papers."""
    masks = {part: np.zeros(int(table.n_sentences.sum()), dtype=bool) for part in parts}
    rows = {instance_id: row for row, instance_id in enumerate(table.ids)}
    for paper in paper_texts(store, dataset, rows):
        classes = section_classes(paper.sentences, paper.types)
        for instance_id in paper.hypotheses:
            start = table.offset[rows[instance_id]]
            for part, mask in masks.items():
                mask[start : start + len(classes)] = [name == part for name in classes]
    return masks


def needle_rows(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    original: RunPicks,
    moved: Mapping[Place, RunPicks],
    n_resamples: int = 10_000,
    seed: int = 0,
) -> pd.DataFrame:
    """One run and one part, from arrays.

    ``in_part``, of shape (n_places,), says whether a sentence belongs to the part; the picks on the arranged
    papers are in original indices.

    Returns
    -------
    DataFrame
        One row a place and scope, the places as they are in ``moved``: ``place``; ``scope``
        (`SCOPES`); ``n_instances`` that have the part, an answer both ways and an aspect of the scope;
        ``n_aspects`` counted in them; ``n_left_out`` aspects that only removed sentences cover;
        ``recall``, mean over instances of the share of the counted aspects found, 0 to 1 (``low``,
        ``high``); ``original``, the same with the papers as they stand, over the same instances and
        aspects (``original_low``, ``original_high``); ``difference`` = recall - original
        (``difference_low``, ``difference_high``); ``picks_in_part``, share of the picks in these
        instances that stand in the part, and ``original_picks_in_part``. Intervals: 95%, bootstrap over
        papers. NaN where there is nothing to divide by.
    """
    sentence_instance = table.sentence_instance()
    rows: list[dict[str, Any]] = []
    sums: list[NDArray[np.float64]] = []  # by paper: recall, original, difference, instances
    for place, picks in moved.items():
        for scope in SCOPES:
            counted, gone = _eligible(table, in_part, original.answered & picks.answered, place, scope)
            of_instances = _per_instance(table, counted, original, picks)
            instances = of_instances.index.to_numpy()
            columns = [of_instances[name].to_numpy() for name in _MEASURES]
            values = np.stack([*columns, np.ones(len(instances))], axis=1)
            of_papers = np.zeros((table.n_papers, 4))
            np.add.at(of_papers, table.paper[instances], values)
            sums.append(of_papers)
            means = values.mean(axis=0)[:3] if len(values) else np.full(3, np.nan)
            counted_sentences = np.isin(sentence_instance, instances)
            rows.append(
                {
                    "place": place,
                    "scope": scope,
                    "n_instances": len(values),
                    "n_aspects": int(counted.sum()),
                    "n_left_out": int(gone.sum()),
                    **dict(zip(_MEASURES, map(float, means), strict=True)),
                    "picks_in_part": _share_inside(picks, in_part, counted_sentences),
                    "original_picks_in_part": _share_inside(original, in_part, counted_sentences),
                }
            )
    if sums:
        together = np.stack(sums, axis=1)  # papers, rows of the table, 4
        top = together[:, :, :3].reshape(table.n_papers, -1)
        bottom = np.repeat(together[:, :, 3], 3, axis=1)
        bounds = ratio_intervals(top, bottom, np.random.default_rng(seed), n_resamples).reshape(-1, 3, 2)
        for row, of_row in zip(rows, bounds, strict=True):
            for prefix, (low, high) in zip(_MEASURES.values(), of_row, strict=True):
                row[f"{prefix}low"], row[f"{prefix}high"] = float(low), float(high)
    names = ["place", "scope", "n_instances", "n_aspects", "n_left_out"]
    names += [
        name for measure, prefix in _MEASURES.items() for name in (measure, f"{prefix}low", f"{prefix}high")
    ]
    return pd.DataFrame(rows, columns=[*names, "picks_in_part", "original_picks_in_part"])


def behind_place(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    original: RunPicks,
    picks: RunPicks,
    place: Place,
    scope: str,
) -> pd.DataFrame:
    """The instances behind a row of `needle_rows`.

    Returns
    -------
    DataFrame
        ``id``, ``n_aspects`` counted, ``recall`` with the part moved, ``original``, ``difference``; the
        largest differences first, then in the order of the file.
    """
    counted, _ = _eligible(table, in_part, original.answered & picks.answered, place, scope)
    frame = _per_instance(table, counted, original, picks)
    frame.insert(0, "id", [table.ids[row] for row in frame.index])
    return frame.sort_values("difference", key=lambda d: -d.abs(), kind="stable", ignore_index=True)


def _per_instance(
    table: AspectTable, counted: NDArray[np.bool_], original: RunPicks, picks: RunPicks
) -> pd.DataFrame:
    """The instances with a counted aspect, by row: how many, the recall of each run there, the difference."""
    of_instance = table.instance[counted]
    counts = np.bincount(of_instance, minlength=len(table.ids))
    rows = np.flatnonzero(counts)
    recall, before = (
        np.bincount(of_instance, weights=run.found[counted], minlength=counts.size)[rows] / counts[rows]
        for run in (picks, original)
    )
    columns = {"n_aspects": counts[rows], "recall": recall, "original": before, "difference": recall - before}
    return pd.DataFrame(columns, index=rows)


def _eligible(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    answered: NDArray[np.bool_],
    place: Place,
    scope: str,
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Aspects of a scope that count, and those that do not because all their sentences were removed."""
    n_aspects = table.instance.size
    n_inside = np.bincount(table.covering_aspect[in_part[table.covering_place]], minlength=n_aspects)
    wanted = (_has_part(table, in_part) & answered)[table.instance]
    if scope != "all":
        wanted &= (n_inside > 0) == (scope == "part")
    gone = np.zeros(n_aspects, dtype=bool)
    if place == "removed":
        gone = n_inside == np.bincount(table.covering_aspect, minlength=n_aspects)
    return wanted & ~gone, wanted & gone


def _has_part(table: AspectTable, in_part: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each instance has the part, and something besides: shape (n,)."""
    n_part = np.bincount(table.sentence_instance()[in_part], minlength=len(table.ids))
    return (n_part > 0) & (n_part < table.n_sentences)


def _share_inside(picks: RunPicks, in_part: NDArray[np.bool_], counted: NDArray[np.bool_]) -> float:
    """Share of the picks at counted places that stand in the part; NaN without picks."""
    places = picks.place[counted[picks.place]]
    return float(in_part[places].mean()) if places.size else np.nan


def _notes(
    infos: Sequence[RunInfo],
    table: AspectTable,
    without: Mapping[Part, int],
    missing: Sequence[str],
    n_resamples: int,
) -> tuple[str, ...]:
    notes = [
        "Each row compares the same aspects of the same instances, moved against as they stand; instances "
        f"without the part are left out. Intervals: 95%, {n_resamples:,} bootstrap resamples of papers.",
        "Removed: aspects that only removed sentences cover are in no denominator (n_left_out counts them). "
        "The budget stays that of the whole paper.",
    ]
    for part, n_without in without.items():
        if n_without:
            notes.append(
                f"{n_without} of {len(table.ids)} instances have no {part} that we recognise, or nothing else; "
                "they are left out of its rows."
            )
    if table.n_uncovered:
        notes.append(f"{table.n_uncovered} aspects that no sentence covers are left out.")
    if table.skipped:
        notes.append(f"{len(table.skipped)} instances are skipped, they have nothing to cover.")
    retrievers = {info.retriever for info in infos}
    if retrievers & _BLIND:
        blind = ", ".join(info.label for info in infos if info.retriever in _BLIND)
        notes.append(
            f"{blind} score a sentence by its text, not by where it stands: moving a part changes "
            "their picks through ties only. A difference of 0 there shows that the test is sound, not that "
            "the retriever copes with the middle."
        )
    if "abstract-tail" in retrievers:
        notes.append(
            "abstract-tail goes by the type of the sentences: it follows the abstract wherever it is moved, and "
            "loses it only when it is removed."
        )
    if "random" in retrievers:
        notes.append("random draws again for every order of the sentences: its differences are chance.")
    if missing:
        notes.append(f"Not run yet: {', '.join(missing)}. `evidencebench analyse needle` runs them.")
    return tuple(notes)
