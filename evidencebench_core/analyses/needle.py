"""A needle test of our own: recall of a run against the place to which a part of the paper was moved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final

from evidencebench_core.analyses.arrangements import PLACES, Part, Place, needle_variant
from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.needle_rows import has_part, needle_rows
from evidencebench_core.analyses.positions import one_dataset
from evidencebench_core.analyses.report import Report
from evidencebench_core.data.sections import section_classes
from evidencebench_core.data.texts import paper_texts
from evidencebench_core.runs import RunInfo, RunSpec, RunStore
from evidencebench_core.tasks import Task, task_named

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evidencebench_core.data.store import Store

__all__ = ["arrangement_run", "needle", "part_places"]

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

    Parameters
    ----------
    store : Store
    dataset : str
    runs : sequence of str
        Ids of runs over the papers as they stand, or their beginnings. Their arrangements must have
        been run before (`run_arrangements`); those without an answer are named in the notes.
    task : str or Task
    parts, places
        What is moved, and where to.
    n_resamples, seed : int
        Of the bootstrap over papers.

    Returns
    -------
    Report
        One table, *needle*, as `needle_rows` has it.

    Raises
    ------
    UnknownNameError, SettingError
        No such dataset, run or task; a run over another dataset.
    """
    import pandas as pd

    chosen = task if isinstance(task, Task) else task_named(task)
    run_store = RunStore(store)
    infos = one_dataset([run_store.run(run) for run in runs], dataset)
    table = aspect_table(store, dataset, chosen)
    sha256 = store.dataset(dataset).sha256
    in_parts = part_places(store, dataset, table, parts)
    frames, missing = [], []
    for info in infos:
        original = run_picks(table, run_store.selections(info.id, chosen.name))
        for part in parts:
            moved: dict[Place, RunPicks] = {}
            for place in places:
                selections = run_store.selections(arrangement_run(info, sha256, part, place), chosen.name)
                if selections:
                    moved[place] = run_picks(table, selections)
                else:
                    missing.append(f"{info.label} with {part} {_moved(place)}")
            if not moved:
                continue
            rows = needle_rows(table, in_parts[part], original, moved, n_resamples=n_resamples, seed=seed)
            for column, value in (("part", part), ("label", info.label), ("run", info.id)):
                rows.insert(0, column, value)
            frames.append(rows)
    frame = pd.concat(frames, ignore_index=True) if frames else pd.DataFrame()
    without = {part: int((~has_part(table, in_parts[part])).sum()) for part in parts}
    title = f"Needle: {dataset}, {chosen.title}"
    return Report(title, {"needle": frame}, _notes(infos, table, without, missing, n_resamples))


def arrangement_run(run: RunInfo, sha256: str, part: Part, place: Place) -> str:
    """Id of the run with the same retriever and settings over the arranged papers."""
    variant = needle_variant(part, place)
    return RunSpec(sha256, run.retriever, run.settings, variant.name, variant.digest).id


def part_places(
    store: Store, dataset: str, table: AspectTable, parts: Sequence[Part]
) -> Mapping[Part, NDArray[np.bool_]]:
    """By part, whether the sentence at each place of the table belongs to it.

    All papers are read, so this takes a while on a large dataset.
    """
    import numpy as np

    masks = {part: np.zeros(int(table.n_sentences.sum()), dtype=bool) for part in parts}
    rows = {instance_id: row for row, instance_id in enumerate(table.ids)}
    for paper in paper_texts(store, dataset, rows):
        classes = section_classes(paper.sentences, paper.types)
        for instance_id in paper.hypotheses:
            start = table.offset[rows[instance_id]]
            for part, mask in masks.items():
                mask[start : start + len(classes)] = [name == part for name in classes]
    return masks


def _moved(place: Place) -> str:
    return "removed" if place == "removed" else f"at the {place}"


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
    blind = [info.label for info in infos if info.retriever in _BLIND]
    if blind:
        notes.append(
            f"{', '.join(blind)} score a sentence by its text, not by where it stands: moving a part changes "
            "their picks through ties only. A difference of 0 there shows that the test is sound, not that "
            "the retriever copes with the middle."
        )
    if any(info.retriever == "abstract-tail" for info in infos):
        notes.append(
            "abstract-tail goes by the type of the sentences: it follows the abstract wherever it is moved, and "
            "loses it only when it is removed."
        )
    if any(info.retriever == "random" for info in infos):
        notes.append("random draws anew for every order of the sentences: its differences are chance.")
    if missing:
        notes.append(f"Not run yet: {', '.join(missing)}. `evidencebench analyse needle` runs them.")
    return tuple(notes)
