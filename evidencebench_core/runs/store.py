"""Runs and their results in the store."""

from __future__ import annotations

import json
import os
import secrets
import sqlite3
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.primitives import from_blob, now, process_mark, to_blob
from evidencebench_core.data.store import Store
from evidencebench_core.errors import SettingError, StoreError, UnknownNameError, shown
from evidencebench_core.notebook import Tabular, values_table
from evidencebench_core.retrievers import Retrieval, run_label
from evidencebench_core.runs.model import RETRIEVAL, Result, Results, RunInfo, RunSpec, Sample
from evidencebench_core.runs.outcomes import outcome_counts, unread_keys
from evidencebench_core.tasks import Task, task_named
from evidencebench_core.words import one_line

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.retrievers.encoding import TrainedOn

_PACKAGES: Final = ("evidencebench-explorer", "sentence-transformers", "torch")  # what encoders run on
_RUNS: Final = """SELECT runs.id, kind, subject, settings, created_at, versions, stamp, runs.name,
        coalesce(datasets.name, '') AS dataset,
        (SELECT count(*) FROM trained_on WHERE run_id = runs.id) AS n_trained_on,
        (SELECT json_group_array(json_array(question, n, failed)) FROM (
            SELECT question, sum(error IS NULL) AS n, sum(error IS NOT NULL) AS failed
            FROM results WHERE run_id = runs.id GROUP BY question)) AS counts,
        (SELECT count(*) FROM results JOIN instances ON instances.dataset_id = runs.dataset_id
            AND instance_id = unit WHERE run_id = runs.id AND question = '' AND error IS NULL
            AND results_optimal IS NOT NULL) AS n_with_results
    FROM runs LEFT JOIN datasets ON datasets.id = runs.dataset_id"""
_CREATE: Final = """INSERT INTO runs (id, kind, subject, settings, created_at, versions, dataset_id, about)
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, (SELECT id FROM datasets WHERE sha256 = ?3 AND ingested_at <> ''),
        (SELECT id FROM runs WHERE id = ?3)) ON CONFLICT (id) DO NOTHING"""
_ADD: Final = """INSERT INTO results (run_id, question, unit, ranking, n_picks, payload, error, outcome, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, question, unit) DO UPDATE SET
        ranking = excluded.ranking, n_picks = excluded.n_picks, payload = excluded.payload,
        error = excluded.error, outcome = excluded.outcome, created_at = excluded.created_at
    WHERE results.error IS NOT NULL"""
_REPLACE: Final = f"{_ADD} OR excluded.error IS NULL"
_TRAINED_ON: Final = """INSERT OR IGNORE INTO trained_on (run_id, instance_id)
    SELECT runs.id, instance_id FROM runs JOIN instances ON instances.dataset_id = runs.dataset_id
        JOIN papers ON papers.id = paper
    WHERE runs.id = ?1 AND papers.key IN (SELECT value FROM json_each(?2))"""


class RunStore(Tabular):
    """The runs of a `Store`, of every kind."""

    def __init__(self, store: Store) -> None:
        self.store = store

    # -- runs --------------------------------------------------------------------------------------

    def create(self, spec: RunSpec, *trained_on: TrainedOn, results: Results | None = None) -> None:
        """Create the run with this spec unless it exists, and add ``results`` in the same transaction.

        It remembers which instances of its dataset the models behind it have learnt from: those whose papers were in
        their training data. Of a cross-validation none was: each model had not seen the paper.
        """
        settings = json.dumps(dict(spec.settings), allow_nan=False)
        versions = json.dumps(installed_versions(_PACKAGES))
        values = (spec.id, spec.kind, spec.subject, settings, now("milliseconds"), versions)
        with self.store.write() as db:
            db.execute(_CREATE, values)
            row = db.execute("SELECT dataset_id FROM runs WHERE id = ?", (spec.id,)).fetchone()
            if spec.kind == RETRIEVAL and row[0] is None:
                place = f"dataset {spec.subject[:12]}"
                raise UnknownNameError(place, "has been deleted", "Ingest it again.")
            for data in trained_on:
                db.execute(_TRAINED_ON, (spec.id, json.dumps(data.paper_keys)))
            if results:
                _add(db, spec.id, results)

    def runs(self, dataset: str | None = None, variants: bool = False) -> tuple[RunInfo, ...]:
        """The runs of retrievers, oldest first, or those over one dataset; those over variants only if asked for."""
        subject = None if dataset is None else self.store.dataset(dataset).sha256
        runs = self.runs_of(RETRIEVAL, subject)
        return tuple(run for run in runs if run.dataset and (variants or not run.variant))

    def to_pandas(self) -> pd.DataFrame:
        """`runs` as a table: a row for each run, a column for each field of `RunInfo`."""
        return values_table(self.runs(), RunInfo)

    def runs_of(self, kind: str | None = None, subject: str | None = None) -> tuple[RunInfo, ...]:
        """All runs, oldest first, or those of a kind or about a subject."""
        where = "(?1 IS NULL OR kind = ?1) AND (?2 IS NULL OR subject = ?2) ORDER BY created_at, runs.id"
        return self._infos(where, kind, subject)

    def _infos(self, where: str, *values: str | None) -> tuple[RunInfo, ...]:
        with self.store.read() as db:
            cursor = db.cursor()
            cursor.row_factory = sqlite3.Row
            return tuple(map(_run_info, cursor.execute(f"{_RUNS} WHERE {where}", values)))

    def run(self, run: str | object) -> RunInfo:
        """The run with this id, or the only one whose id has this prefix, or that has this name.

        A run, or what has the ``id`` of one, such as an `Evaluation`, will do. `UnknownNameError` if there is not one.
        """
        id_or_prefix = str(getattr(run, "id", run))
        prefix, place = id_or_prefix.strip().lower(), f"run {shown(id_or_prefix)}"
        where = "?1 <> '' AND substr(runs.id, 1, length(?1)) = ?1 ORDER BY runs.id LIMIT 4"
        runs = self._infos(where, prefix) if prefix.isascii() else ()
        if not runs:
            names = {
                run: (run.label, run.settings.get("name")) for run in self._infos("1") if not run.variant
            }
            named = [run for run in names if id_or_prefix in names[run]]
            runs = tuple(named[:4])
        if len(runs) > 1:
            problem = f"fits several runs ({', '.join(run.id for run in runs)})"
            raise UnknownNameError(place, problem, "Give an id, or more of it.")
        if not runs:
            remedy = "`evidencebench list runs` lists the runs there are."
            raise UnknownNameError(place, f"is not in {self.store.path}", remedy)
        return runs[0]

    def ids(self, run: RunInfo) -> tuple[str, ...]:
        """The instances of a run, in the order of the file: its sample, or the whole dataset."""
        dataset = self.store.dataset(run.dataset)
        return run.sample.ids(self.store, dataset) if run.sample else self.store.ids(dataset)

    def rename(self, run: RunInfo, name: str) -> RunInfo:
        """Name a run; a blank name removes the name, so that it is called after its settings again."""
        with self.store.write() as db:
            db.execute("UPDATE runs SET name = ? WHERE id = ?", (one_line(name).strip(), run.id))
        return self.run(run.id)

    def delete(self, run: RunInfo) -> None:
        """Delete a run with its results, notes and judges' runs, and the same retriever's runs over variants."""
        ids = [run.id]
        if run.retriever and not run.variant:
            same = attrgetter("retriever", "settings", "basis", "sample")
            variants = [other for other in self.runs(run.dataset, variants=True) if other.variant]
            ids += [other.id for other in variants if same(other) == same(run)]
        with self.store.write() as db:
            db.executemany("DELETE FROM runs WHERE id = ?", [(run_id,) for run_id in ids])

    @contextmanager
    def under_way(self, run_id: str) -> Iterator[None]:
        """Hold a run while the block executes; `StoreError` if another process holds it."""
        with self.store.write() as db:
            for (process,) in db.execute("SELECT process FROM runs_under_way WHERE run_id = ?", (run_id,)):
                pid = int(process.split()[0])
                if process_mark(pid) == process:  # it is alive
                    remedy = "Wait until that has ended, or stop it."
                    raise StoreError(f"run {run_id}", f"is under way in process {pid}", remedy)
            values = (run_id, process_mark(os.getpid()))
            db.execute("INSERT OR REPLACE INTO runs_under_way VALUES (?, ?)", values)
        try:
            yield
        finally:
            with suppress(StoreError), self.store.write() as db:
                db.execute("DELETE FROM runs_under_way WHERE run_id = ?", (run_id,))

    # -- results in --------------------------------------------------------------------------------

    def add(self, run_id: str, results: Results, replace: bool = False) -> None:
        """Store results by unit and question in one transaction.

        A result that is there stays, but with ``replace`` gives way to another, not to a failure; a failure gives
        way. A power cut can take the last ones: they are computed again, and a model's answers are found again.
        """
        with self.store.write(durable=False) as db:
            _add(db, run_id, results, replace)

    def clear(self, run_id: str) -> None:
        """Delete a run's results; the run and its notes stay."""
        with self.store.write() as db:
            db.execute("DELETE FROM results WHERE run_id = ?", (run_id,))
            db.execute("UPDATE runs SET stamp = ? WHERE id = ?", (secrets.token_hex(6), run_id))

    # -- results out -------------------------------------------------------------------------------

    def done(self, run_id: str, question: str = "") -> set[str]:
        """The units that have a result."""
        return {unit for (unit,) in self._rows("unit", run_id, question, "error IS NULL")}

    def failures(self, run_id: str, question: str = "") -> dict[str, str]:
        """The reason of the last failure, by unit, for units without a result."""
        return dict(self._rows("unit, error", run_id, question, "error IS NOT NULL ORDER BY unit"))

    def reasons(self, run: RunInfo) -> list[str]:
        """Why units have no result: a line for each question and unit."""
        return [reason for question in run.answered for reason in self.failures(run.id, question).values()]

    def results(
        self, run_id: str, question: str = "", between: tuple[str, str] | None = None
    ) -> dict[str, Result | str]:
        """By unit the result, or the reason why there is none; of all units, or ``between`` two of them."""
        where, values = ("unit BETWEEN ? AND ?", between) if between else ("1", ())
        rows = self._rows("unit, payload, error", run_id, question, f"{where} ORDER BY unit", *values)
        return {unit: error if payload is None else from_blob(payload) for unit, payload, error in rows}

    def recalls(self, run: RunInfo, task: str | Task) -> dict[str, float]:
        """The Aspect Recalls that an official run has for a task, by instance id."""
        rows = self._rows("unit, payload", run.id, run.question(task) or "", "error IS NULL ORDER BY unit")
        return {unit: from_blob(payload)["aspect_recall"] for unit, payload in rows}

    def selections(self, run: RunInfo | str, task: str | Task) -> dict[str, tuple[int, ...]]:
        """The picks for a task, in the order in which they were made, by instance id; without failures."""
        return {unit: _indices(ranking, n) for unit, n, ranking in self._answers(run, task, "ranking")}

    def retrieval(self, run: RunInfo | str, task: str | Task, instance_id: str) -> Retrieval | None:
        """The retrieval, cut at the task's K, or ``None`` where there is none or the last try failed."""
        rows = self._answers(run, task, "ranking, payload", instance_id)
        return next((_retrieval(*row) for _, *row in rows), None)

    def retrievals(self, run: RunInfo | str, task: str | Task) -> dict[str, Retrieval]:
        """The retrievals, cut at the task's K, by instance id."""
        return {unit: _retrieval(*row) for unit, *row in self._answers(run, task, "ranking, payload")}

    def outcomes(self, run_id: str) -> dict[str, dict[str, int]]:
        """Counts of a model's outcomes, including zeros, by task; empty for a run that asked no model."""
        run = self.run(run_id)
        if run.retriever != "llm":
            return {}
        columns = "iif(error IS NULL, outcome, 'failed'), count(*)"
        return {
            task: outcome_counts(self._rows(columns, run.id, task, "1 GROUP BY 1")) for task in run.answered
        }

    def unread(self, run_id: str, question: str = "") -> dict[str, list[str]]:
        """By unit the keys of a model's answers that were cut off or could not be read."""
        rows = self._rows("unit, payload", run_id, question, "payload IS NOT NULL")
        keys = {unit: unread_keys(from_blob(payload)) for unit, payload in rows}
        return {unit: of_unit for unit, of_unit in keys.items() if of_unit}

    def _rows(self, columns: str, run_id: str, question: str, where: str, *values: object) -> list[Any]:
        sql = f"SELECT {columns} FROM results WHERE run_id = ? AND question = ? AND {where}"
        with self.store.read() as db:
            return db.execute(sql, (run_id, question, *values)).fetchall()

    def _answers(
        self, run: RunInfo | str, task: str | Task, columns: str, instance_id: str | None = None
    ) -> list[Any]:
        """Rows of unit, number of picks (``None``: all) and ``columns``, for the instances of a task."""
        info, chosen = run if isinstance(run, RunInfo) else self.run(run), task_named(task)
        if not info.has_picks:
            problem = "has scores only: it is not known which sentences it picked"
            raise SettingError(f"run {info.id}", problem, "Take a run that has picks.")
        optimal = "optimal" if chosen.focus == "all" else "results_optimal"
        sql = f"""SELECT unit, coalesce(n_picks, iif(?4 = 'optimal', {optimal}, ?4)), {columns} FROM results
            JOIN runs ON runs.id = run_id
            JOIN instances ON instances.dataset_id = runs.dataset_id AND instances.instance_id = unit
            WHERE run_id = ?1 AND question = ?2 AND error IS NULL AND {optimal} IS NOT NULL
            AND (?3 IS NULL OR unit = ?3) ORDER BY unit"""
        values = (info.id, info.question(chosen), instance_id, chosen.budget)
        with self.store.read() as db:
            return db.execute(sql, values).fetchall()


def trained_on_ids(store: Store, run: RunInfo) -> frozenset[str]:
    """The instances of a run's dataset that its models were trained on."""
    with store.read() as db:
        rows = db.execute("SELECT instance_id FROM trained_on WHERE run_id = ?", (run.id,))
        return frozenset(instance_id for (instance_id,) in rows)


# -- rows -----------------------------------------------------------------------------------------------


def _add(db: sqlite3.Connection, run_id: str, results: Results, replace: bool = False) -> None:
    """Write results and a new stamp of the run in the open transaction."""
    moment = now("milliseconds")
    rows = [
        (run_id, question, unit, *_result_columns(result), moment)
        for unit, by_question in results.items()
        for question, result in by_question.items()
    ]
    stamp = (secrets.token_hex(6), run_id)
    if not db.execute("UPDATE runs SET stamp = ? WHERE id = ?", stamp).rowcount:
        raise UnknownNameError(f"run {shown(run_id)}", "has been deleted", "Start it again.")
    db.executemany(_REPLACE if replace else _ADD, rows)


def _result_columns(result: Retrieval | Result | str) -> tuple[bytes | int | str | None, ...]:
    """Ranking, number of picks, payload, error, outcome."""
    if isinstance(result, str):
        return None, None, None, result, ""
    if not isinstance(result, Retrieval):
        return None, None, to_blob(dict(result)), None, ""
    details = dict(result.details)
    ranking = struct.pack(f"<{len(result.ranking)}H", *result.ranking)
    payload = to_blob((result.scores, result.seconds, details))
    return ranking, result.n_picks, payload, None, details.get("outcome", "")


def _retrieval(n_picks: int | None, ranking: bytes, payload: bytes) -> Retrieval:
    scores, seconds, details = from_blob(payload)
    return Retrieval(_indices(ranking), tuple(scores), n_picks, seconds, MappingProxyType(details))


def _indices(ranking: bytes, n: int | None = None) -> tuple[int, ...]:
    n_ranked = len(ranking) // 2
    return struct.unpack_from(f"<{n_ranked if n is None else min(n, n_ranked)}H", ranking)


def _run_info(row: sqlite3.Row) -> RunInfo:
    """A row of `_RUNS`."""
    settings, label = json.loads(row["settings"]), row["name"]
    of_retrieval: dict[str, Any] = {}
    if row["kind"] == RETRIEVAL:
        sample = Sample(**settings["sample"]) if "sample" in settings else None
        retriever, basis, variant = settings["retriever"], settings["basis"], settings.get("variant", "")
        of_retrieval = {"retriever": retriever, "basis": basis, "variant": variant, "sample": sample}
        learnt_from = f"learnt from {basis['learnt from']}" if basis.get("learnt from") else ""
        extra = ", ".join(str(part) for part in (variant, sample, basis.get("folds"), learnt_from) if part)
        values = settings["settings"].items()
        settings = {key: tuple(value) if isinstance(value, list) else value for key, value in values}
        label = label or run_label(retriever, settings, extra)
    counts = json.loads(row["counts"])
    same = ("id", "kind", "subject", "created_at", "dataset", "n_with_results", "n_trained_on")
    return RunInfo(
        **{name: row[name] for name in same},
        **of_retrieval,
        stamp=f"{row['id']} {row['stamp']}",
        settings=MappingProxyType(settings),
        versions=json.loads(row["versions"]),
        answered=MappingProxyType({question: n for question, n, _ in counts}),
        n_failed=sum(n_failed for *_, n_failed in counts),
        label=label,
    )


def installed_versions(packages: Sequence[str]) -> dict[str, str]:
    """The versions of the packages that are installed, by name."""
    installed = {}
    for name in packages:
        with suppress(PackageNotFoundError):
            installed[name] = version(name)
    return installed
