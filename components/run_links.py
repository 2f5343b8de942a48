"""Runs as pages name and link them: which there are, which lack answers, and the link to the reader."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import urlencode

from components import resources
from components.charts import is_dark
from components.retrievers import MOST_CHOICES
from components.state import session_context
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import ASPECTS, RETRIEVERS
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task, task_named

READ_RUNS: Final = 3  # that Browse and Analyse begin with
LARGE: Final = 5_000  # instances, from which on few scores are computed at once


def run_name(run: RunInfo) -> str:
    """``bm25 (31b8)``: tells runs of one retriever apart."""
    return f"{run.label} ({run.id[:4]})"


def runs_with_answers(dataset: DatasetInfo) -> list[RunInfo]:
    return [run for run in resources.runs(dataset) if run.n_answered]


def first_runs(runs: Sequence[RunInfo], task: Task, n_runs: int) -> list[RunInfo]:
    """Runs to begin with: those whose model has not seen the instances, and that lack few answers."""
    answered = [run for run in runs if run.n_answers(task)]
    unseen = [run for run in answered if not run.n_trained_on and run.retriever != "oracle"] or answered
    enough = 0.9 * max((run.n_answers(task) for run in unseen), default=0)
    return [run for run in unseen if run.n_answers(task) >= enough][:n_runs]


def run_colours(runs: Sequence[RunInfo]) -> Mapping[str, str]:
    """By run id the retriever's colour; a second run of a retriever gets a colour that is still free."""
    taken: list[str] = []
    for run in runs:
        of_others = ASPECTS[sum(run.retriever.encode()) % len(ASPECTS)]  # the same for the same name
        free = [hue.on(is_dark()) for hue in (RETRIEVERS.get(run.retriever, of_others), *ASPECTS)]
        taken.append(next((colour for colour in free if colour not in taken), free[0]))
    return dict(zip([run.id for run in runs], taken, strict=True))


def reader_link(
    dataset: DatasetInfo, task: Task, instance_id: str, runs: Sequence[RunInfo], **more: str
) -> dict[str, str]:
    """Query parameters of the reader: an instance, the first of the runs marked in the paper.

    The runs chosen on the page before stay chosen; the given ones go before them where the reader would not show
    them all.
    """
    values = {"dataset": dataset.name, "instance": instance_id, "task": task.name, **more}
    chosen = [run_id for run_id in session_context().get("runs", "").split(",") if run_id]
    shown = chosen or [run.id for run in first_runs(runs_with_answers(dataset), task, READ_RUNS)]
    given = [run.id for run in runs[:MOST_CHOICES]]
    if not set(given) <= set(shown[:MOST_CHOICES]):
        shown = [*given, *(run_id for run_id in chosen if run_id not in given)]
        values["runs"] = ",".join(shown)
    if given and shown.index(given[0]):
        values["system"] = str(shown.index(given[0]))
    return values


def reader_address(link: Mapping[str, str]) -> str:
    """A `reader_link` for another tab, which knows of no runs chosen here."""
    return f"browse?{urlencode({'runs': session_context().get('runs', ''), **link})}"


def part_text(run: RunInfo, task: str | Task) -> str:
    """``12 of 96``: how many instances of a task a run has answered; empty where it has all."""
    chosen = task_named(task)
    dataset, n = resources.store().dataset(run.dataset), run.n_answers(chosen)
    if n >= (dataset.n_result_instances if chosen.focus == "results" else dataset.n_instances):
        return ""
    scored = resources.bounds(dataset, chosen.name).per_instance
    asked = (
        [name for name in run.sample.ids(resources.store(), dataset) if name in scored]
        if run.sample
        else scored
    )
    if n >= len(asked) and not resources.run_score(run, chosen.name).n_missing:
        return ""
    return f"{n:,} of {len(asked):,}"


def parts_text(runs: Sequence[RunInfo], task: Task) -> str:
    """The same of all that lack answers: ``bm25 12 of 96, dense 3 of 96``; empty where none does."""
    parts = {run.label: part_text(run, task) for run in runs}
    return ", ".join(f"{label} {part}" for label, part in parts.items() if part)
