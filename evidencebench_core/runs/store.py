"""Runs and their raw retrievals in the store.

Append-only: an answer, once given, is never changed; only a failure can be replaced, by trying again.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from evidencebench_core.data.removal import counted
from evidencebench_core.data.store import DatasetInfo, Store, datasets_in
from evidencebench_core.errors import SettingError, UnknownNameError, shown
from evidencebench_core.retrievers import IMPORTED, Retrieval
from evidencebench_core.runs.rows import ADD, Answers, integers, keep_answers, now, retrieval_from
from evidencebench_core.runs.spec import RunInfo, RunSpec, run_label, settings_from_json, settings_json
from evidencebench_core.runs.trained import n_trained_on
from evidencebench_core.tasks import TASKS
from evidencebench_core.words import one_line

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.retrievers.llm.outcome import OutcomeCounts


_BATCH: Final = 1024
_RUNS: Final = """SELECT runs.id, datasets.name, runs.retriever, runs.settings, runs.created_at, runs.variant, runs.name
    FROM runs JOIN datasets
        ON datasets.id = runs.dataset_id AND datasets.ingested_at <> ''"""
_CREATE: Final = """INSERT INTO runs (id, dataset_id, retriever, settings, created_at, variant)
    VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO """
_REPLACE: Final = f"{ADD} OR excluded.error IS NULL"
# Both are answered from an index alone.
_PICKS: Final = "SELECT instance_id, selection, error FROM retrievals WHERE run_id = ? AND task = ?"
_OUTCOMES: Final = (
    "SELECT instance_id, outcome FROM retrievals WHERE run_id = ? AND task = ? AND outcome <> ''"
)
# A run and, of one over the papers as they stand, those with the same settings over perturbed ones.
_GOING: Final = """SELECT other.id FROM runs AS own JOIN runs AS other ON other.id = own.id
    OR own.variant = '' AND other.dataset_id = own.dataset_id AND other.retriever = own.retriever
        AND other.settings = own.settings AND other.variant <> '' WHERE own.id = :id"""
_DEPENDENTS: Final = {
    "perturbed run": f"runs WHERE id <> :id AND id IN ({_GOING})",
    "note": f"notes WHERE run_id IN ({_GOING})",
}


def row_of_run(
    db: sqlite3.Connection, store: Store, table: str, select: str, id_or_prefix: str, remedy: str
) -> tuple[Any, ...]:
    """The row that ``select`` has of the run with this id, or of the only one whose id starts like this.

    An `UnknownNameError` if there is none, or more than one.
    """
    prefix, place = id_or_prefix.strip().lower(), f"run {shown(id_or_prefix)}"
    where = f"WHERE ?1 <> '' AND substr({table}.id, 1, length(?1)) = ?1 ORDER BY {table}.id"
    rows: list[tuple[Any, ...]] = (
        db.execute(f"{select} {where}", (prefix,)).fetchall() if prefix.isascii() else []
    )
    if len(rows) == 1:
        return rows[0]
    if rows:
        found = ", ".join(str(row[0]) for row in rows[:4])
        problem = f"fits {len(rows)} runs ({found}{', …' if len(rows) > 4 else ''})"
        raise UnknownNameError(place, problem, "Give more of the id.")
    raise UnknownNameError(place, f"is not in {store.path}", remedy)


class RunStore:
    """The runs of a `Store`.

    Parameters
    ----------
    store : Store
        Holds the datasets as well; every method is one transaction on it.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    # -- runs ---------------------------------------------------------------------------------

    def create(self, spec: RunSpec, dataset: DatasetInfo) -> RunInfo:
        """The run of this spec: a new one, or the one that is already there."""
        with self.store.write() as db:
            _insert(db, spec, dataset, "NOTHING")
        return self.run(spec.id)

    def runs(self, dataset: str | None = None, variants: bool = False) -> tuple[RunInfo, ...]:
        """All runs, oldest first, or those over one dataset; over perturbed instances only when asked for.

        Raises
        ------
        UnknownNameError
            If there is no such dataset.
        """
        wanted = None if dataset is None else self.store.dataset(dataset).id
        with self.store.read() as db:
            rows = db.execute(
                f"{_RUNS} WHERE (?1 IS NULL OR runs.dataset_id = ?1) AND (?2 OR runs.variant = '')"
                " ORDER BY runs.created_at, runs.id",
                (wanted, variants),
            ).fetchall()
            return tuple(_info(db, row) for row in rows)

    def to_pandas(self, dataset: str | None = None, variants: bool = False) -> pd.DataFrame:
        """`runs` as a table: one row a run, a column for each field of `RunInfo`."""
        import pandas as pd  # here: running and scoring do without it

        names = [field.name for field in fields(RunInfo)]
        rows = [[getattr(run, name) for name in names] for run in self.runs(dataset, variants)]
        return pd.DataFrame(rows, columns=names)

    def run(self, id_or_prefix: str) -> RunInfo:
        """The run of this id, or the only one whose id starts like this.

        Raises
        ------
        UnknownNameError
            If there is none, or more than one.
        """
        with self.store.read() as db:
            remedy = "`evidencebench list runs` lists the runs there are."
            return _info(db, row_of_run(db, self.store, "runs", _RUNS, id_or_prefix, remedy))

    def rename(self, run: RunInfo, name: str) -> RunInfo:
        """Give a run a name of its own; a blank one takes it away, and it is called after its settings again."""
        with self.store.write() as db:
            db.execute("UPDATE runs SET name = ? WHERE id = ?", (one_line(name).strip(), run.id))
        return self.run(run.id)

    def dependents(self, run: RunInfo) -> dict[str, int]:
        """How many answers, notes, and runs of the same settings over perturbed papers go with a run; no zeros."""
        with self.store.read() as db:
            counts = counted(db, _DEPENDENTS, {"id": run.id})
        answers = sum(run.tasks.values())
        return {"answer": answers, **counts} if answers else counts

    def delete(self, run: RunInfo) -> None:
        """Delete a run with all that depends on it, in one transaction."""
        with self.store.write() as db:
            ids = db.execute(_GOING, {"id": run.id}).fetchall()
            db.executemany("DELETE FROM trained_models WHERE digest = ?", ids)
            db.executemany("DELETE FROM runs WHERE id = ?", ids)

    # -- answers in ---------------------------------------------------------------------------

    def add(self, run_id: str, answers: Answers, replace: bool = False) -> None:
        """Keep what was answered for some instances, all in one transaction.

        An answer that is already there stays as it is, but with ``replace`` gives way to another, not to a failure;
        a failure that is already there gives way. A power cut can take the last ones: they are computed again, and
        what a model was paid for is found again (`llm.answers`).
        """
        if not any(answers.values()):
            return
        with self.store.write(durable=False) as db:
            if not db.execute(f"{_RUNS} WHERE runs.id = ?", (run_id,)).fetchone():
                raise UnknownNameError(f"run {shown(run_id)}", "has been deleted", "Start it again.")
            keep_answers(db, run_id, answers, _REPLACE if replace else ADD)

    def import_answers(
        self,
        dataset: DatasetInfo,
        name: str,
        answers: Mapping[str, Mapping[str, Retrieval]],
        replace: bool = False,
    ) -> RunInfo:
        """The run under which somebody's answers, by task and instance id, are now kept: all, or none of them.

        ``replace`` takes away what the run has for these tasks; `SettingError` without it where there is any.
        """
        spec = RunSpec(dataset.sha256, IMPORTED, {"name": name})
        with self.store.write() as db:
            _insert(db, spec, dataset, "UPDATE SET created_at = excluded.created_at")
            counts = db.execute(
                "SELECT task FROM retrieval_counts WHERE run_id = ? AND n_answered > 0", (spec.id,)
            )
            taken = [task for (task,) in counts if task in answers]
            if taken and not replace:
                raise SettingError(
                    f"name {shown(name)}",
                    f"there is an imported run of this name with answers for {', '.join(taken)}",
                    "Choose another name, or have them replaced (--replace).",
                )
            for task, by_instance in answers.items():
                db.execute("DELETE FROM retrievals WHERE run_id = ? AND task = ?", (spec.id, task))
                keep_answers(db, spec.id, {one: {task: answer} for one, answer in by_instance.items()}, ADD)
        return self.run(spec.id)

    # -- answers out --------------------------------------------------------------------------

    def done(self, run_id: str, task: str) -> set[str]:
        """Ids of the instances that have an answer."""
        return {one for one, _, error in self._picks(run_id, task) if error is None}

    def failures(self, run_id: str, task: str) -> dict[str, str]:
        """Why the last try failed, by instance id, for those without an answer."""
        errors = {one: error for one, _, error in self._picks(run_id, task) if error is not None}
        return dict(sorted(errors.items()))

    def lost(self, run_id: str, task: str) -> set[str]:
        """Ids of the instances whose answers gave no selection: refused, cut off, or not to be read."""
        from evidencebench_core.retrievers.llm.outcome import LOST

        with self.store.read() as db:
            rows = db.execute(_OUTCOMES, (run_id, task)).fetchall()
        return {instance_id for instance_id, outcome in rows if outcome.partition(" ")[0] in LOST}

    def selections(self, run_id: str, task: str) -> dict[str, tuple[int, ...]]:
        """The picks, in the order in which they were made, by instance id; failures are not in it."""
        packed = self.packed_selections(run_id, task)
        # unpacked at once, then cut: there may be 100,000
        picks = iter(integers(b"".join(packed.values())))
        return {name: tuple(islice(picks, len(blob) // 4)) for name, blob in packed.items()}

    def packed_selections(self, run_id: str, task: str) -> dict[str, bytes]:
        """The same as 32-bit numbers in little endian."""
        return {one: picks for one, picks, error in self._picks(run_id, task) if error is None}

    def outcomes(self, run_id: str) -> Mapping[str, OutcomeCounts]:
        """Counts of a model's outcomes by task name; empty for a run that asked none."""
        from evidencebench_core.retrievers.llm.outcome import OutcomeCounts

        with self.store.read() as db:
            counts = db.execute(
                "SELECT task, n_failed, retriever FROM retrieval_counts JOIN runs ON runs.id = run_id"
                " WHERE run_id = ?",
                (run_id,),
            ).fetchall()
            texts: dict[str, list[tuple[str, int]]] = {}
            for task, *_ in counts:
                found = Counter(text for _, text in db.execute(_OUTCOMES, (run_id, task)))
                texts |= {task: sorted(found.items())} if found else {}
        asks = bool(texts) or any(retriever == "llm" for *_, retriever in counts)
        n_failed = {task: failed for task, failed, *_ in counts if failed and asks}
        texts = {task: texts.get(task, []) for task in (*n_failed, *texts)}
        return MappingProxyType(
            {task: OutcomeCounts.of(texts[task], n_failed.get(task, 0)) for task in sorted(texts, key=_place)}
        )

    def retrieval(self, run_id: str, task: str, instance_id: str) -> Retrieval | None:
        """The raw retrieval, or ``None`` where there is none or the last try failed."""
        columns, wanted = "ranking, scores, selection, seconds, details", "error IS NULL AND instance_id = ?"
        rows = self._rows(columns, run_id, task, wanted, instance_id)
        return retrieval_from(*rows[0]) if rows else None

    def retrievals(self, run_id: str, task: str) -> Iterator[tuple[str, Retrieval]]:
        """Instance id and raw retrieval of every answer, by instance id; prompts and times are left out."""
        columns = "instance_id, ranking, scores, selection"
        wanted = f"error IS NULL AND instance_id > ? ORDER BY instance_id LIMIT {_BATCH}"
        last = ""
        while rows := self._rows(columns, run_id, task, wanted, last):
            yield from ((one, retrieval_from(*packed)) for one, *packed in rows)
            last = rows[-1][0]

    def nearest(self, run_id: str, task: str) -> list[tuple[str, bytes, bytes]]:
        """Instance id, selection in int32 and `packed_nearest` of every answer, without their rankings."""
        with self.store.read() as db:
            nearest = dict(
                db.execute(
                    "SELECT instance_id, nearest FROM nearest_sentences WHERE run_id = ? AND task = ?",
                    (run_id, task),
                )
            )
        rows = [(one, picks) for one, picks, error in self._picks(run_id, task) if error is None]
        return [(one, picks, nearest[one]) for one, picks in rows if one in nearest]

    def _picks(self, run_id: str, task: str) -> list[tuple[str, bytes, str | None]]:
        """Instance id, selection and error of every answer and failure, from an index: without the rankings."""
        with self.store.read() as db:
            return db.execute(_PICKS, (run_id, task)).fetchall()

    def _rows(self, columns: str, run_id: str, task: str, wanted: str, *values: object) -> list[Any]:
        sql = f"SELECT {columns} FROM retrievals WHERE run_id = ? AND task = ? AND {wanted}"
        with self.store.read() as db:
            return db.execute(sql, (run_id, task, *values)).fetchall()


def _insert(db: sqlite3.Connection, spec: RunSpec, dataset: DatasetInfo, otherwise: str) -> None:
    if dataset.sha256 not in {info.sha256 for info in datasets_in(db) if info.id == dataset.id}:
        raise UnknownNameError(f"dataset {shown(dataset.name)}", "has been deleted", "Ingest it again.")
    settings = settings_json(spec.settings)
    values = (spec.id, dataset.id, spec.retriever, settings, now(), spec.variant)
    db.execute(_CREATE + otherwise, values)


def _info(db: sqlite3.Connection, row: Sequence[str]) -> RunInfo:
    run_id, dataset, retriever, settings_text, created_at, variant, name = row
    settings = settings_from_json(settings_text)
    counts = db.execute(
        "SELECT task, n_answered, n_failed FROM retrieval_counts WHERE run_id = ? AND n_answered + n_failed > 0",
        (run_id,),
    ).fetchall()
    counts.sort(key=lambda count: _place(count[0]))
    return RunInfo(
        id=run_id,
        dataset=dataset,
        retriever=retriever,
        settings=MappingProxyType(settings),
        created_at=created_at,
        tasks=MappingProxyType({task: answered for task, answered, _ in counts}),
        n_failed=sum(failed for _, _, failed in counts),
        label=_label(name, retriever, settings, variant),
        variant=variant,
        n_trained_on=n_trained_on(db, run_id, dataset, settings),
    )


def _place(task: str) -> tuple[int, str]:
    """Where a task stands in lists: the benchmark's own first, in their order."""
    known = list(TASKS)
    return (known.index(task) if task in known else len(known), task)


def _label(name: str, retriever: str, settings: Mapping[str, Any], variant: str) -> str:
    if not name:
        return run_label(retriever, settings, variant)
    return run_label(retriever, {"name": name}) if retriever == IMPORTED else name
