"""A needle test of our own: recall of a run against the place to which a part of the paper was moved."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evidencebench_core.analyses.aspect_table import AspectTable, RunPicks, aspect_table, run_picks
from evidencebench_core.analyses.report import Report
from evidencebench_core.analyses.systems import runs_over_one_dataset
from evidencebench_core.data import paper_texts
from evidencebench_core.data.model import Instance
from evidencebench_core.data.sections import SECTION_CLASSES, SectionClass, section_classes
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, shown
from evidencebench_core.runs import RunInfo, RunSpec, RunStore, Variant, digest_of
from evidencebench_core.stats import ratio_intervals
from evidencebench_core.tasks import Task, task_named

Part = SectionClass
Place = Literal["start", "middle", "end", "removed"]

PARTS: Final[tuple[Part, ...]] = tuple(part for part in SECTION_CLASSES if part != "other")
PLACES: Final[tuple[Place, ...]] = get_args(Place)
SCOPES: Final[Mapping[str, str]] = {
    "part": "aspects that a sentence of the moved part covers",
    "rest": "aspects that only other sentences cover",
    "all": "all aspects",
}

_RULE: Final = 1  # raise it when `arrangement` or the classes of sections change: runs must not mix two rules
_PREFIXES: Final = {"recall": "", "original": "original_", "difference": "difference_"}  # of the bounds
_COLUMNS: Final = (
    "run", "label", "part", "place", "scope", "n_instances", "n_aspects", "n_left_out",
    *(name for measure, prefix in _PREFIXES.items() for name in (measure, f"{prefix}low", f"{prefix}high")),
    "picks_in_part", "original_picks_in_part",
)  # fmt: skip
_BLIND: Final = frozenset({"bm25", "dense", "hybrid"})  # they score a sentence by its text alone


def parts_named(names: Sequence[str]) -> tuple[Part, ...]:
    """The parts of these names, each once; ``"every"`` is all of them."""
    wanted = [part for name in names for part in (PARTS if name == "every" else (name,))]
    for name in wanted:
        if name not in PARTS:
            raise SettingError(
                "part", f"is {shown(name)}", f"Parts are: {', '.join(PARTS)}, and every for all of them."
            )
    return tuple(part for part in PARTS if part in wanted)


def arrangement(instance: Instance, part: Part, place: Place) -> tuple[int, ...] | None:
    """The paper's sentences, by original index, in the order in which the retriever is to read them.

    The part is taken out as one block, in its own order, headings included, and put before all other
    sentences, between their first half and their second, behind them, or nowhere. ``None`` where the
    paper has no such part, or nothing else.
    """
    classes = section_classes(instance.sentences, instance.sentence_types)
    block = [index for index, name in enumerate(classes) if name == part]
    rest = [index for index, name in enumerate(classes) if name != part]
    if not block or not rest:
        return None
    if place == "removed":
        return tuple(rest)
    at = {"start": 0, "middle": len(rest) // 2, "end": len(rest)}[place]
    return (*rest[:at], *block, *rest[at:])


def needle_variant(part: Part, place: Place) -> Variant:
    """The variant of a run over papers that are arranged like this; `run_variants` runs them."""
    return Variant(
        name=f"place:{part}={place}",
        digest=digest_of("place", part, place, _RULE),
        arrangement=lambda instance: arrangement(instance, part, place),
    )


def arrangement_run(run: RunInfo, sha256: str, part: Part, place: Place) -> str:
    """Id of the run with the same retriever and settings over the arranged papers."""
    variant = needle_variant(part, place)
    return RunSpec(sha256, run.retriever, run.settings, variant.name, variant.digest).id


def needle(
    store: Store,
    dataset: str,
    runs: Sequence[str],
    task: str | Task = "er@optimal",
    parts: Sequence[Part] = ("abstract",),
    places: Sequence[Place] = PLACES,
    *,
    n_resamples: int = 10_000,
) -> Report:
    """Recall of runs with a part of each paper moved, against the papers as they stand.

    The runs are over the papers as they stand. Their arrangements must have been run before
    (`needle_variant`); those without an answer are named in the notes.

    Returns
    -------
    Report
        One table, *needle*, one row a run, part, place and scope: ``run`` (id), ``label``, ``part``,
        ``place``, ``scope`` (`SCOPES`); ``n_instances`` that have the part, an answer both ways and an aspect
        of the scope; ``n_aspects`` counted in them; ``n_left_out`` aspects that only removed sentences cover;
        ``recall``, mean over instances of the share of the counted aspects found, 0 to 1 (``low``,
        ``high``); ``original``, the same with the papers as they stand, over the same instances and
        aspects (``original_low``, ``original_high``); ``difference`` = recall - original
        (``difference_low``, ``difference_high``); ``picks_in_part``, share of the picks in these
        instances that stand in the part, and ``original_picks_in_part``. Intervals: 95%, bootstrap over
        papers. NaN where there is nothing to divide by.
    """
    chosen = task_named(task)
    known = RunStore(store)
    infos = runs_over_one_dataset(store, runs, dataset)
    table = aspect_table(store, dataset, chosen)
    sha256 = store.dataset(dataset).sha256
    in_parts = part_places(store, dataset, table, parts)
    missing, rows = list[str](), list[dict[str, Any]]()
    sums = [np.zeros((table.n_papers, 0, 4))]  # by paper: recall, original, difference, instances
    for info in infos:
        original = run_picks(table, known.packed_selections(info.id, chosen.name))
        for part in parts:
            for place in places:
                selections = known.packed_selections(arrangement_run(info, sha256, part, place), chosen.name)
                if not selections:
                    where = "removed" if place == "removed" else f"at the {place}"
                    missing.append(f"{info.label} with {part} {where}")
                    continue
                picks = run_picks(table, selections)
                for scope in SCOPES:
                    row, of_papers = _row(table, in_parts[part], original, picks, place, scope)
                    head = {"run": info.id, "label": info.label, "part": part, "place": place, "scope": scope}
                    rows.append(head | row)
                    sums.append(of_papers[:, None])
    together = np.concatenate(sums, axis=1)
    top = together[:, :, :3].reshape(table.n_papers, 3 * len(rows))
    bottom = np.repeat(together[:, :, 3], 3, axis=1)
    bounds = ratio_intervals(top, bottom, np.random.default_rng(0), n_resamples).reshape(-1, 3, 2)
    frame = pd.DataFrame(rows, columns=list(_COLUMNS))
    for number, prefix in enumerate(_PREFIXES.values()):
        frame[[f"{prefix}low", f"{prefix}high"]] = bounds[:, number]
    without = {part: int((~_has_part(table, in_parts[part])).sum()) for part in parts}
    notes = (*_notes(infos, table, without, missing, n_resamples), *store.dataset(dataset).gold_notes)
    return Report(f"Needle: {dataset}, {chosen.title}", {"needle": frame}, notes)


def _row(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    original: RunPicks,
    picks: RunPicks,
    place: Place,
    scope: str,
) -> tuple[dict[str, Any], NDArray[np.float64]]:
    """A row without its intervals, and by paper the sums of its measures and of the instances."""
    counted, gone = _eligible(table, in_part, original.answered & picks.answered, place, scope)
    frame = _per_instance(table, counted, original, picks)
    instances = frame.index.to_numpy()
    of_papers = np.zeros((table.n_papers, 4))
    np.add.at(of_papers, table.paper[instances], frame[list(_PREFIXES)].assign(n=1.0).to_numpy())
    counts = np.isin(np.arange(len(table.ids)), instances)
    row = {
        "n_instances": len(frame),
        "n_aspects": int(counted.sum()),
        "n_left_out": int(gone.sum()),
        **{measure: frame[measure].mean() for measure in _PREFIXES},
        "picks_in_part": _share_inside(picks, in_part, counts[table.instance_at(picks.place)]),
        "original_picks_in_part": _share_inside(original, in_part, counts[table.instance_at(original.place)]),
    }
    return row, of_papers


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


def behind_place(
    table: AspectTable,
    in_part: NDArray[np.bool_],
    original: RunPicks,
    picks: RunPicks,
    place: Place,
    scope: str,
) -> pd.DataFrame:
    """The instances behind a row of `needle`; ``in_part`` is from `part_places`.

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
    n_covering = np.bincount(table.covering_aspect, minlength=n_aspects)
    gone = (n_inside == n_covering) & (place == "removed")
    return wanted & ~gone, wanted & gone


def _has_part(table: AspectTable, in_part: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Whether each instance has the part, and something besides: shape (n,)."""
    n_part = np.bincount(table.instance_at(np.flatnonzero(in_part)), minlength=len(table.ids))
    return (n_part > 0) & (n_part < table.n_sentences)


def _share_inside(picks: RunPicks, in_part: NDArray[np.bool_], counted: NDArray[np.bool_]) -> float:
    """Share of the counted picks that stand in the part; NaN without picks."""
    places = picks.place[counted]
    return float(in_part[places].mean()) if places.size else np.nan


def _notes(
    infos: Sequence[RunInfo],
    table: AspectTable,
    without: Mapping[Part, int],
    missing: Sequence[str],
    n_resamples: int,
) -> Iterator[str]:
    yield (
        "Each row compares the same aspects of the same instances, moved against as they stand; instances "
        f"without the part are left out. Intervals: 95%, {n_resamples:,} bootstrap resamples of papers."
    )
    yield (
        "Removed: aspects that only removed sentences cover are in no denominator (they are counted as left out). "
        "The budget stays that of the whole paper."
    )
    for part, n_without in without.items():
        if n_without:
            yield (
                f"{n_without} of {len(table.ids)} instances have no {part} that we recognise, or nothing else; "
                "they are left out of its rows."
            )
    if table.n_uncovered:
        yield f"{table.n_uncovered} aspects that no sentence covers are left out."
    if table.skipped:
        yield f"{len(table.skipped)} instances are skipped, they have nothing to cover."
    if blind := ", ".join(info.label for info in infos if info.retriever in _BLIND):
        yield (
            f"Sentences are scored by their text, not by where they stand, by {blind}: moving a part changes "
            "such picks through ties only. A difference of 0 there shows that the test is sound, not that "
            "the retriever copes with the middle."
        )
    retrievers = {info.retriever for info in infos}
    if "abstract-tail" in retrievers:
        yield (
            "abstract-tail goes by the type of the sentences: it follows the abstract wherever it is moved, and "
            "loses it only when it is removed."
        )
    if "random" in retrievers:
        yield "random draws again for every order of the sentences: its differences are chance."
    if missing:
        yield f"Not run yet: {', '.join(missing)}. `evidencebench analyse needle` runs them."
