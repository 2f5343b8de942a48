"""Runs as pages name and link them: which there are, which lack answers; sets of instances and draws in links."""

from __future__ import annotations

import zlib
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, Final
from urllib.parse import urlencode

import numpy as np
import streamlit as st

from components import resources
from components.charts import is_dark
from components.retrievers import MOST_CHOICES
from components.state import open_later, session_context
from evidencebench_core.analyses.verdicts import Draw, draw
from evidencebench_core.data import DatasetInfo
from evidencebench_core.palette import ASPECTS, RETRIEVERS
from evidencebench_core.runs import RunInfo
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import quantity

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


PARAM: Final = "among"  # of the address of Browse
_MOST_NAME: Final = 120  # characters


@dataclass(frozen=True, slots=True)
class InstanceSet:
    """Instances of a dataset, in the order of its file."""

    name: str
    ids: tuple[str, ...]


def instance_set(name: str, dataset: DatasetInfo, ids: Iterable[str]) -> str:
    """The text of a set: a digest of the dataset's content, a compressed bit for each instance, the name."""
    bits = resources.instances(dataset)["id"].isin(set(ids))
    packed = urlsafe_b64encode(zlib.compress(np.packbits(bits).tobytes(), 9)).decode().rstrip("=")
    return f"{_digest(dataset)}.{packed}.{name[:_MOST_NAME]}"


def read_set(text: str, dataset: DatasetInfo) -> InstanceSet | None:
    """The inverse of `instance_set`; ``None`` where the text is no set of what the dataset holds now."""
    digest, _, rest = text.partition(".")
    packed, _, name = rest.partition(".")
    ids = resources.instances(dataset)["id"]
    n_bytes = (len(ids) + 7) // 8
    if digest != _digest(dataset):
        return None
    try:
        content = zlib.decompressobj().decompress(urlsafe_b64decode(packed + "=="), n_bytes + 1)
    except (ValueError, zlib.error):
        return None
    if len(content) != n_bytes:
        return None
    bits = np.unpackbits(np.frombuffer(content, np.uint8), count=len(ids)).astype(bool)
    return InstanceSet(name[:_MOST_NAME] or "Set", tuple(ids[bits]))


def draw_set_button(dataset: DatasetInfo, name: str, ids: Sequence[str], label: str = "") -> None:
    """The button that opens a set in Browse, with task and runs as they are; nothing of an empty one."""
    if not ids:
        return
    st.button(
        label or f"Read {'this one' if len(ids) == 1 else f'these {len(ids):,}'} in Browse",
        key=f"set-{name}",
        help=f"{quantity(len(ids), 'instance')}, in a list of their own. Back returns here.",
        icon=":material/menu_book:",
        on_click=lambda: open_later(
            "browse", {"dataset": dataset.name, PARAM: instance_set(name, dataset, ids)}
        ),
    )


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


def _digest(dataset: DatasetInfo) -> str:
    return sha256(dataset.stamp.encode()).hexdigest()[:8]
