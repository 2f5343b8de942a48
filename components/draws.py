"""Random draws of missed aspects, as a link carries them, and the way to one that was drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from components import resources
from components.run_links import reader_link
from evidencebench_core.analyses.verdicts import Draw, draw
from evidencebench_core.data import DatasetInfo
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task


def draw_text(n: int, seed: int, stratified: bool, runs: Sequence[RunInfo]) -> str:
    """A draw of missed aspects as an address has it: ``50.0.s.8c2ce3,196f83``."""
    return f"{n}.{seed}.{'s' * stratified}.{','.join(run.id for run in runs)}"


def named_draw(dataset: DatasetInfo, task: Task, text: str) -> Draw | None:
    """The inverse of `draw_text`, with the verdicts so far; ``None`` where it is no draw of runs that are here."""
    n, seed, strata, ids = [*text.split("."), "", "", "", ""][:4]
    runs = tuple(run for run in resources.runs(dataset) if run.id in ids.split(","))
    if not runs or not (n + seed).isdecimal() or len(n + seed) > 9:
        return None
    return _draw(dataset, runs, task, int(n or 0), int(seed or 0), strata == "s")


@resources.cached(beside="notes")
def _draw(
    dataset: DatasetInfo, runs: tuple[RunInfo, ...], task: Task, n: int, seed: int, stratified: bool
) -> Draw:
    return draw(resources.store(), runs, task, n=n, seed=seed, stratified=stratified)


def miss_place(miss: Mapping[Any, Any]) -> dict[str, str]:
    """What a `reader_link` says of a missed aspect."""
    return {"instance": miss["instance"], "aspect": miss["label"], "sentence": str(miss["sentence"])}


def drawn_link(drawn: Draw, text: str, item: Mapping[Any, Any]) -> dict[str, str]:
    """A `reader_link` to an item of a draw, that is called by a `draw_text`."""
    run = next(run for run in drawn.runs if run.id == item["run"])
    begun = reader_link(resources.store().dataset(run.dataset), drawn.task, "", (run,))
    return {**begun, **miss_place(item), "draw": text}
