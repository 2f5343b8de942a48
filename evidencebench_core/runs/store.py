"""Runs and their results in the store."""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, fields
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from evidencebench_core.data.primitives import digest, from_blob, now, to_blob
from evidencebench_core.data.store import Store
from evidencebench_core.errors import StoreError, UnknownNameError, shown
from evidencebench_core.retrievers import Retrieval, Setting, run_label
from evidencebench_core.tasks import TASKS
from evidencebench_core.words import one_line

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.retrievers.trained_on import TrainedOn

RETRIEVAL: Final = "retrieval"  # the kind of runs of a retriever over a dataset
Result: TypeAlias = Mapping[str, Any]
"""The result of a question to a model, JSON-able."""
Results: TypeAlias = Mapping[str, Mapping[str, Retrieval | Result | str]]
"""By unit and task: the result, or in one line why there is none."""

_PLACES: Final = {task: place for place, task in enumerate(TASKS)}  # in lists, before other tasks
_RUNS: Final = """SELECT runs.id, kind, subject, settings, created_at, runs.name, coalesce(datasets.name, ''),
        (SELECT count(*) FROM trained_on WHERE run_id = runs.id),
        (SELECT json_group_array(json_array(task, n, failed)) FROM (
            SELECT task, sum(error IS NULL) AS n, sum(error IS NOT NULL) AS failed
            FROM results WHERE run_id = runs.id GROUP BY task))
    FROM runs LEFT JOIN datasets ON datasets.id = runs.dataset_id"""
_CREATE: Final = """INSERT INTO runs (id, kind, subject, settings, created_at, dataset_id, about)
    VALUES (?1, ?2, ?3, ?4, ?5, (SELECT id FROM datasets WHERE sha256 = ?3 AND ingested_at <> ''),
        (SELECT id FROM runs WHERE id = ?3)) ON CONFLICT (id) DO NOTHING"""
_ADD: Final = """INSERT INTO results (run_id, task, unit, selection, payload, error, outcome, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, task, unit) DO UPDATE SET
        selection = excluded.selection, payload = excluded.payload, error = excluded.error,
        outcome = excluded.outcome, created_at = excluded.created_at
    WHERE results.error IS NOT NULL"""
_REPLACE: Final = f"{_ADD} OR excluded.error IS NULL"
_TRAINED_ON: Final = """INSERT OR IGNORE INTO trained_on (run_id, instance_id)
    SELECT runs.id, instance_id FROM runs JOIN instances ON instances.dataset_id = runs.dataset_id
    WHERE runs.id = ?1 AND (paper_id IN (SELECT value FROM json_each(?2))
        OR subject = ?3 AND instance_id IN (SELECT value FROM json_each(?4)))"""


# -- what a run is --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The identity of a run. Units are no part of it: a run gains them as they are asked for."""

    kind: str  # "retrieval", "reliability", "answers", "annotation", ...
    subject: str  # digest of what it is about; of a judge's run the id of the run judged
    settings: Mapping[str, Any]  # all that decides the results, JSON-able

    @property
    def id(self) -> str:
        """First 12 hexadecimal digits of the digest."""
        return digest({"kind": self.kind, "subject": self.subject, "settings": dict(self.settings)})[:12]


def retrieval_spec(
    dataset_sha256: str,
    retriever: str,
    settings: Mapping[str, Setting],
    variant: str = "",
    variant_digest: str = "",
) -> RunSpec:
    """The run of a retriever, with all its settings, over a dataset or a variant of it."""
    document = {"retriever": retriever, "settings": dict(settings)}
    if variant:
        document |= {"variant": variant, "variant_digest": variant_digest}
    return RunSpec(RETRIEVAL, dataset_sha256, document)


@dataclass(frozen=True, slots=True)
class RunInfo:
    """A run in the store; the fields from ``dataset`` on are of retrievers' runs."""

    id: str
    kind: str
    subject: str
    settings: Mapping[str, Any]  # of a retriever's run those of the retriever, defaults included
    created_at: str  # ISO 8601, UTC
    n_answered: int = 0
    n_failed: int = 0  # pairs of unit and task whose last try failed
    label: str = ""  # the name that it was given, else one made of its settings
    dataset: str = ""
    retriever: str = ""
    variant: str = ""  # empty for a run over the originals
    tasks: Mapping[str, int] = field(default_factory=dict)  # units with a result by task
    n_trained_on: int = 0  # instances that its model has learnt from: no score on them is an estimate


class RunStore:
    """The runs of a `Store`, of every kind."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # -- runs --------------------------------------------------------------------------------------

    def create(self, spec: RunSpec, *trained_on: TrainedOn) -> RunInfo:
        """The run of this spec: a new one, or the one that is already there.

        It remembers which instances of its dataset the models behind it have learnt from: those that were in their
        training data by id, or by their paper. Of a cross-validation none was: each model had not seen the paper.
        """
        settings = json.dumps(dict(spec.settings), allow_nan=False)
        with self.store.write() as db:
            db.execute(_CREATE, (spec.id, spec.kind, spec.subject, settings, now("milliseconds")))
            row = db.execute("SELECT dataset_id FROM runs WHERE id = ?", (spec.id,)).fetchone()
            if spec.kind == RETRIEVAL and row[0] is None:
                place = f"dataset {spec.subject[:12]}"
                raise UnknownNameError(place, "has been deleted", "Ingest it again.")
            for data in trained_on:
                papers, instances = json.dumps(data.paper_ids), json.dumps(data.instance_ids)
                db.execute(_TRAINED_ON, (spec.id, papers, data.dataset_sha256, instances))
        return self.run(spec.id)

    def runs(self, dataset: str | None = None, variants: bool = False) -> tuple[RunInfo, ...]:
        """The runs of retrievers, oldest first, or those over one dataset; those over variants only if asked for."""
        subject = None if dataset is None else self.store.dataset(dataset).sha256
        runs = self.runs_of(RETRIEVAL, subject)
        return tuple(run for run in runs if run.dataset and (variants or not run.variant))

    def runs_of(self, kind: str | None = None, subject: str | None = None) -> tuple[RunInfo, ...]:
        """All runs, oldest first, or those of a kind or about a subject."""
        where = "(?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR subject = ?2) ORDER BY created_at, runs.id"
        return self._infos(where, kind, subject)

    def _infos(self, where: str, *values: str | None) -> tuple[RunInfo, ...]:
        with self.store.read() as db:
            rows = db.execute(f"{_RUNS} WHERE {where}", values).fetchall()
        return tuple(map(_info, rows))

    def to_pandas(self, dataset: str | None = None, variants: bool = False) -> pd.DataFrame:
        """`runs` as a table: one row a run, a column for each field of `RunInfo`."""
        import pandas as pd

        names = [field.name for field in fields(RunInfo)]
        rows = [{name: getattr(run, name) for name in names} for run in self.runs(dataset, variants)]
        return pd.DataFrame(rows, columns=names)

    def run(self, id_or_prefix: str) -> RunInfo:
        """The run of this id, or the only one whose id starts like this; `UnknownNameError` if there is not one."""
        prefix, place = id_or_prefix.strip().lower(), f"run {shown(id_or_prefix)}"
        where = "?1 <> '' AND substr(runs.id, 1, length(?1)) = ?1 ORDER BY runs.id LIMIT 4"
        runs = self._infos(where, prefix) if prefix.isascii() else ()
        if len(runs) > 1:
            problem = f"fits several runs ({', '.join(run.id for run in runs)})"
            raise UnknownNameError(place, problem, "Give more of the id.")
        if not runs:
            remedy = "`evidencebench list runs` lists the runs there are."
            raise UnknownNameError(place, f"is not in {self.store.path}", remedy)
        return runs[0]

    def rename(self, run: RunInfo, name: str) -> RunInfo:
        """Give a run a name of its own; a blank one takes it away, and it is called after its settings again."""
        with self.store.write() as db:
            db.execute("UPDATE runs SET name = ? WHERE id = ?", (one_line(name).strip(), run.id))
        return self.run(run.id)

    def delete(self, run: RunInfo) -> None:
        """Delete a run with its results, its notes, its judges' runs, and the same retriever's over variants."""
        ids = [run.id]
        if run.retriever and not run.variant:
            others = self.runs(run.dataset, variants=True)
            same = (run.retriever, run.settings)
            ids += [other.id for other in others if (other.retriever, other.settings) == same]
        with self.store.write() as db:
            db.executemany("DELETE FROM runs WHERE id = ?", [(run_id,) for run_id in ids])

    @contextmanager
    def under_way(self, run_id: str) -> Iterator[None]:
        """While the block runs no other process carries this run out; `StoreError` with its id if one does."""
        process = _process(os.getpid())
        with self.store.write() as db:
            row = db.execute("SELECT process FROM runs_under_way WHERE run_id = ?", (run_id,)).fetchone()
            other = row[0] if row else process
            pid = int(other.split()[0])
            if other != process and _process(pid) == other:
                remedy = "Wait until that has ended, or stop it."
                raise StoreError(f"run {run_id}", f"is under way in process {pid}", remedy)
            db.execute("INSERT OR REPLACE INTO runs_under_way VALUES (?, ?)", (run_id, process))
        try:
            yield
        finally:
            with suppress(StoreError), self.store.write() as db:
                db.execute("DELETE FROM runs_under_way WHERE run_id = ?", (run_id,))

    # -- results in --------------------------------------------------------------------------------

    def add(self, run_id: str, results: Results, replace: bool = False) -> None:
        """Store results by unit and task in one transaction.

        A result that is there stays, but with ``replace`` gives way to another, not to a failure; a failure gives
        way. A power cut can take the last ones: they are computed again, and a model's answers are found again.
        """
        moment = now("milliseconds")
        rows = [
            (run_id, task, unit, *_columns(result), moment)
            for unit, by_task in results.items()
            for task, result in by_task.items()
        ]
        with self.store.write(durable=False) as db:
            if not db.execute("SELECT 1 FROM runs WHERE id = ?", (run_id,)).fetchone():
                raise UnknownNameError(f"run {shown(run_id)}", "has been deleted", "Start it again.")
            db.executemany(_REPLACE if replace else _ADD, rows)

    # -- results out -------------------------------------------------------------------------------

    def done(self, run_id: str, task: str = "") -> set[str]:
        """The units that have a result."""
        return {unit for (unit,) in self._rows("unit", run_id, task, "error IS NULL")}

    def failures(self, run_id: str, task: str = "") -> dict[str, str]:
        """Why the last try failed, by unit, of those without a result."""
        return dict(self._rows("unit, error", run_id, task, "error IS NOT NULL ORDER BY unit"))

    def results(
        self, run_id: str, task: str = "", between: tuple[str, str] | None = None
    ) -> dict[str, Result | str]:
        """By unit the result, or in one line why there is none; of all, or from one unit to another."""
        where, values = ("unit BETWEEN ? AND ?", between) if between else ("1", ())
        rows = self._rows("unit, payload, error", run_id, task, f"{where} ORDER BY unit", *values)
        return {unit: error if payload is None else from_blob(payload) for unit, payload, error in rows}

    def selections(self, run_id: str, task: str) -> dict[str, tuple[int, ...]]:
        """The picks, in the order in which they were made, by instance id; failures are not in it."""
        rows = self._rows("unit, selection", run_id, task, "error IS NULL ORDER BY unit")
        return {unit: _unpacked(selection) for unit, selection in rows}

    def retrieval(self, run_id: str, task: str, instance_id: str) -> Retrieval | None:
        """The raw retrieval, or ``None`` where there is none or the last try failed."""
        rows = self._rows("selection, payload", run_id, task, "error IS NULL AND unit = ?", instance_id)
        return _retrieval(*rows[0]) if rows else None

    def retrievals(self, run_id: str, task: str) -> dict[str, Retrieval]:
        """The raw retrievals by instance id."""
        rows = self._rows("unit, selection, payload", run_id, task, "error IS NULL ORDER BY unit")
        return {unit: _retrieval(selection, payload) for unit, selection, payload in rows}

    def outcomes(self, run_id: str) -> dict[str, dict[str, int]]:
        """Counts of a model's outcomes, zeros too, by task name; empty for a run that asked none."""
        from evidencebench_core.retrievers.llm.outcome import outcome_counts

        run = self.run(run_id)
        if run.retriever != "llm":
            return {}
        sql = "SELECT iif(error IS NULL, outcome, 'failed'), count(*) FROM results WHERE run_id = ? AND task = ?"
        with self.store.read() as db:
            return {
                task: outcome_counts(db.execute(f"{sql} GROUP BY 1", (run.id, task))) for task in run.tasks
            }

    def _rows(self, columns: str, run_id: str, task: str, where: str, *values: object) -> list[Any]:
        sql = f"SELECT {columns} FROM results WHERE run_id = ? AND task = ? AND {where}"
        with self.store.read() as db:
            return db.execute(sql, (run_id, task, *values)).fetchall()


def trained_on_ids(store: Store, run: RunInfo) -> frozenset[str]:
    """The instances of a run's dataset that its models have learnt from."""
    with store.read() as db:
        rows = db.execute("SELECT instance_id FROM trained_on WHERE run_id = ?", (run.id,))
        return frozenset(instance_id for (instance_id,) in rows)


# -- rows -----------------------------------------------------------------------------------------------


def _columns(result: Retrieval | Result | str) -> tuple[bytes | None, bytes | None, str | None, str]:
    """Selection, payload, error, outcome."""
    if isinstance(result, str):
        return None, None, result, ""
    if not isinstance(result, Retrieval):
        return None, to_blob(dict(result)), None, ""
    details = dict(result.details)
    values = (result.ranking, result.scores, result.seconds, details)
    selection = struct.pack(f"<{len(result.selection)}i", *result.selection)
    return selection, to_blob(values), None, details.get("outcome", "")


def _retrieval(selection: bytes, payload: bytes) -> Retrieval:
    ranking, scores, seconds, details = from_blob(payload)
    return Retrieval(tuple(ranking), tuple(scores), _unpacked(selection), seconds, MappingProxyType(details))


def _unpacked(selection: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(selection) // 4}i", selection)


def _info(row: Sequence[Any]) -> RunInfo:
    """A row of `_RUNS`."""
    run_id, kind, subject, settings_text, created_at, name, dataset, n_trained_on, counts_text = row
    settings = json.loads(settings_text)
    counts = sorted(json.loads(counts_text), key=lambda count: (_PLACES.get(count[0], len(TASKS)), count))
    retriever, variant, label = "", "", name
    if kind == RETRIEVAL:
        retriever, variant = settings["retriever"], settings.get("variant", "")
        lists = settings["settings"]
        settings = {name: tuple(value) if isinstance(value, list) else value for name, value in lists.items()}
        label = label or run_label(retriever, settings, variant)
    return RunInfo(
        id=run_id,
        kind=kind,
        subject=subject,
        settings=MappingProxyType(settings),
        created_at=created_at,
        n_answered=sum(n_answered for _, n_answered, _ in counts),
        n_failed=sum(n_failed for _, _, n_failed in counts),
        label=label,
        dataset=dataset,
        retriever=retriever,
        variant=variant,
        tasks=MappingProxyType({task: n_answered for task, n_answered, _ in counts}),
        n_trained_on=n_trained_on,
    )


def _process(pid: int) -> str:
    """A process that is alive, by its id and when it began; ``""`` if it is gone."""
    import psutil  # type: ignore[import-untyped]

    try:
        return f"{pid} {psutil.Process(pid).create_time():.0f}"
    except psutil.Error:
        return ""
