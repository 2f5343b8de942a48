"""Runs and their raw retrievals in the store.

Append-only: an answer, once given, is never changed; only a failure can be replaced, by trying again.
"""

from __future__ import annotations

import json
import sqlite3
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

import orjson

from evidencebench_core.data.store import DatasetInfo, Store, datasets_in
from evidencebench_core.errors import EvidenceBenchError, SettingError, UnknownNameError, shown
from evidencebench_core.retrievers import (
    IMPORTED,
    Retrieval,
    Setting,
    full_settings,
    is_derived,
    retriever_entry,
)
from evidencebench_core.retrievers.ranker import CROSS_VALIDATED
from evidencebench_core.runs.spec import RunSpec, settings_from_json, settings_json
from evidencebench_core.runs.trained import n_trained_on
from evidencebench_core.tasks import TASKS

if TYPE_CHECKING:
    import pandas as pd

    from evidencebench_core.retrievers.llm.outcome import OutcomeCounts


_RUNS = """
    SELECT runs.id, datasets.name, runs.retriever, runs.settings, runs.created_at, runs.variant, runs.name
    FROM runs JOIN datasets ON datasets.id = runs.dataset_id
"""
_ADD = """
    INSERT INTO retrievals
        (run_id, task, instance_id, ranking, scores, selection, seconds, details, error, outcome, created_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
    ON CONFLICT (run_id, task, instance_id) DO UPDATE SET
        ranking = excluded.ranking, scores = excluded.scores, selection = excluded.selection,
        seconds = excluded.seconds, details = excluded.details, error = excluded.error,
        outcome = excluded.outcome, created_at = excluded.created_at
    WHERE retrievals.error IS NOT NULL
"""
_REPLACE = f"{_ADD} OR excluded.error IS NULL"


@dataclass(frozen=True, slots=True)
class RunInfo:
    """One retriever, with its settings, over one dataset.

    Attributes
    ----------
    id : str
        12 hexadecimal digits; the same for the same settings and data.
    dataset : str
        The dataset's name.
    retriever : str
    settings : mapping of str to Setting
        Defaults included.
    created_at : str
        ISO 8601, UTC.
    tasks : mapping of str to int
        How many instances have an answer, by task name, the benchmark's own tasks first.
    n_failed : int
        Instance and task pairs whose last try failed.
    label : str
        The name that it was given, else the retriever with the settings that differ from its defaults,
        ``"bm25 k1=1.2"``, and the variant where there is one, ``"bm25 [negation]"``.
    variant : str
        How the instances were perturbed; empty for a run over the originals.
    n_trained_on : int
        Instances of the dataset that the retriever's model has learnt from: scores on them are no estimate
        of how it does on others (`runs.trained`).
    """

    id: str
    dataset: str
    retriever: str
    settings: Mapping[str, Setting]
    created_at: str
    tasks: Mapping[str, int]
    n_failed: int
    label: str
    variant: str = ""
    n_trained_on: int = 0


class RunStore:
    """The runs of a `Store`.

    Parameters
    ----------
    store : Store
        Holds the datasets as well; every method is one transaction on it.
    """

    def __init__(self, store: Store) -> None:
        self.store = store

    def create(self, spec: RunSpec, dataset: DatasetInfo) -> RunInfo:
        """The run of this spec: a new one, or the one that is already there."""
        with self.store.write() as db:
            _check_there(db, dataset)
            db.execute(
                "INSERT INTO runs (id, dataset_id, retriever, settings, created_at, variant)"
                " VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                (spec.id, dataset.id, spec.retriever, settings_json(spec.settings), _now(), spec.variant),
            )
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
        prefix = id_or_prefix.strip().lower()
        with self.store.read() as db:
            rows = db.execute(
                f"{_RUNS} WHERE substr(runs.id, 1, ?) = ? ORDER BY runs.id", (len(prefix), prefix)
            ).fetchall()
            if prefix and len(rows) == 1:
                return _info(db, rows[0])
        if prefix and rows:
            found = ", ".join(str(row[0]) for row in rows[:4])
            raise UnknownNameError(
                f"run {shown(id_or_prefix)}",
                f"fits {len(rows)} runs ({found}{', …' if len(rows) > 4 else ''})",
                "Give more of the id.",
            )
        raise UnknownNameError(
            f"run {shown(id_or_prefix)}",
            f"is not in {self.store.path}",
            "`evidencebench runs` lists the runs there are.",
        )

    def add(self, run_id: str, instance_id: str, answers: Mapping[str, Retrieval | str]) -> None:
        """Keep what a retriever answered for an instance, all tasks in one transaction.

        Parameters
        ----------
        run_id, instance_id : str
        answers : mapping of str to Retrieval or str
            By task name: the raw retrieval, or in one line why there is none. An answer that is
            already there stays as it is; a failure that is already there gives way.
        """
        self.add_all(run_id, {instance_id: answers})

    def add_all(
        self, run_id: str, answers: Mapping[str, Mapping[str, Retrieval | str]], replace: bool = False
    ) -> None:
        """Keep what was answered for several instances, all in one transaction.

        Parameters
        ----------
        run_id : str
        answers : mapping of str to mapping
            By instance id what `add` takes.
        replace : bool
            Whether a new answer takes the place of an older one; a failure never does.
        """
        moment = _now()
        rows = [
            (run_id, task, instance_id, *_columns(answer), moment)
            for instance_id, by_task in answers.items()
            for task, answer in by_task.items()
        ]
        if not rows:
            return
        with self.store.write() as db:
            if not db.execute("SELECT 1 FROM runs WHERE id = ?", (run_id,)).fetchone():
                raise UnknownNameError(f"run {shown(run_id)}", "has been deleted", "Start it again.")
            db.executemany(_REPLACE if replace else _ADD, rows)

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
        spec, moment = RunSpec(dataset.sha256, IMPORTED, {"name": name}), _now()
        with self.store.write() as db:
            _check_there(db, dataset)
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
            db.execute(
                "INSERT INTO runs (id, dataset_id, retriever, settings, created_at, variant)"
                " VALUES (?, ?, ?, ?, ?, '') ON CONFLICT (id) DO UPDATE SET created_at = excluded.created_at",
                (spec.id, dataset.id, spec.retriever, settings_json(spec.settings), moment),
            )
            for task, by_instance in answers.items():
                db.execute("DELETE FROM retrievals WHERE run_id = ? AND task = ?", (spec.id, task))
                rows = (
                    (spec.id, task, one, *_columns(answer), moment) for one, answer in by_instance.items()
                )
                db.executemany(_ADD, rows)
        return self.run(spec.id)

    def done(self, run_id: str, task: str) -> set[str]:
        """Ids of the instances that have an answer."""
        with self.store.read() as db:
            rows = db.execute(
                "SELECT instance_id FROM retrievals WHERE run_id = ? AND task = ? AND error IS NULL",
                (run_id, task),
            )
            return {instance_id for (instance_id,) in rows}

    def failures(self, run_id: str, task: str) -> dict[str, str]:
        """Why the last try failed, by instance id, for those without an answer."""
        with self.store.read() as db:
            rows = db.execute(
                "SELECT instance_id, error FROM retrievals"
                " WHERE run_id = ? AND task = ? AND error IS NOT NULL ORDER BY instance_id",
                (run_id, task),
            )
            return dict(rows.fetchall())

    def lost(self, run_id: str, task: str) -> set[str]:
        """Ids of the instances whose answers gave no selection: refused, cut off, or not to be read."""
        from evidencebench_core.retrievers.llm.outcome import LOST

        with self.store.read() as db:
            rows = db.execute(
                "SELECT instance_id, outcome FROM retrievals WHERE run_id = ? AND task = ? AND outcome <> ''",
                (run_id, task),
            )
            return {instance_id for instance_id, outcome in rows if outcome.partition(" ")[0] in LOST}

    def selections(self, run_id: str, task: str) -> dict[str, tuple[int, ...]]:
        """The picks, in the order in which they were made, by instance id; failures are not in it."""
        with self.store.read() as db:
            rows = db.execute(
                "SELECT instance_id, selection FROM retrievals"
                " WHERE run_id = ? AND task = ? AND error IS NULL",
                (run_id, task),
            )
            ids, blobs = zip(*found, strict=True) if (found := rows.fetchall()) else ((), ())
        picks = iter(_integers(b"".join(blobs)))  # unpacked at once, then cut: there may be 100,000
        return {name: tuple(islice(picks, len(blob) // 4)) for name, blob in zip(ids, blobs, strict=True)}

    def outcomes(self, run_id: str) -> Mapping[str, OutcomeCounts]:
        """Counts of a model's outcomes by task name; empty for a run that asked none."""
        from evidencebench_core.retrievers.llm.outcome import OutcomeCounts

        with self.store.read() as db:
            rows = db.execute(
                "SELECT task, outcome, count(*) FROM retrievals WHERE run_id = ? AND outcome <> ''"
                " GROUP BY task, outcome",
                (run_id,),
            ).fetchall()
            (retriever,) = db.execute("SELECT retriever FROM runs WHERE id = ?", (run_id,)).fetchone() or (
                "",
            )
            failed: dict[str, int] = {}
            if rows or retriever == "llm":
                failed = dict(
                    db.execute(
                        "SELECT task, n_failed FROM retrieval_counts WHERE run_id = ? AND n_failed > 0",
                        (run_id,),
                    ).fetchall()
                )
        names = sorted({*failed, *(task for task, _, _ in rows)}, key=lambda task: _place((task, 0, 0)))
        return MappingProxyType(
            {
                name: OutcomeCounts.of(
                    [(text, number) for task, text, number in rows if task == name], failed.get(name, 0)
                )
                for name in names
            }
        )

    def retrieval(self, run_id: str, task: str, instance_id: str) -> Retrieval | None:
        """The raw retrieval, or ``None`` where there is none or the last try failed."""
        with self.store.read() as db:
            row = db.execute(
                "SELECT ranking, scores, selection, seconds, details FROM retrievals"
                " WHERE run_id = ? AND task = ? AND instance_id = ? AND error IS NULL",
                (run_id, task, instance_id),
            ).fetchone()
        return None if row is None else _retrieval(*row)


def _check_there(db: sqlite3.Connection, dataset: DatasetInfo) -> None:
    if dataset.sha256 not in {info.sha256 for info in datasets_in(db) if info.id == dataset.id}:
        raise UnknownNameError(f"dataset {shown(dataset.name)}", "has been deleted", "Ingest it again.")


def run_label(retriever: str, settings: Mapping[str, Setting], variant: str = "") -> str:
    """The retriever, the settings that are not its defaults (all where it is not installed), the variant."""
    if retriever == IMPORTED:
        return f"{settings.get('name')} (imported)"
    perturbed = [f"[{variant}]"] if variant else []
    if retriever == "evidence-ranker" and settings.get("model") == CROSS_VALIDATED:
        return " ".join((retriever, CROSS_VALIDATED, *perturbed))
    try:
        nests = retriever_entry(retriever).nests
        defaults = full_settings(retriever, {"of": settings["of"]} if nests else None)
    except EvidenceBenchError:
        nests, defaults = False, {}
    changed = (
        f"{name}={_setting_text(value)}"
        for name, value in settings.items()
        if not is_derived(retriever, name)
        and (name not in defaults or defaults[name] != value or (nests and name == "of"))
    )
    return " ".join((retriever, *changed, *perturbed))


def _setting_text(value: Setting) -> str:
    return "+".join(map(str, value)) if isinstance(value, tuple) else str(value)


def _info(db: sqlite3.Connection, row: Sequence[str]) -> RunInfo:
    run_id, dataset, retriever, settings_text, created_at, variant, name = row
    settings = settings_from_json(settings_text)
    counts = db.execute(
        "SELECT task, n_answered, n_failed FROM retrieval_counts WHERE run_id = ? AND n_answered + n_failed > 0",
        (run_id,),
    ).fetchall()
    return RunInfo(
        id=run_id,
        dataset=dataset,
        retriever=retriever,
        settings=MappingProxyType(settings),
        created_at=created_at,
        tasks=MappingProxyType({task: answered for task, answered, _ in sorted(counts, key=_place)}),
        n_failed=sum(failed for _, _, failed in counts),
        label=name or run_label(retriever, settings, variant),
        variant=variant,
        n_trained_on=n_trained_on(db, run_id, dataset, settings),
    )


def _place(count: tuple[str, int, int]) -> tuple[int, str]:
    """Where a task stands in lists: the benchmark's own first, in their order."""
    known = list(TASKS)
    return (known.index(count[0]) if count[0] in known else len(known), count[0])


def _columns(answer: Retrieval | str) -> tuple[bytes, bytes, bytes, float, str, str | None, str]:
    if isinstance(answer, str):
        return b"", b"", b"", 0.0, "{}", answer, ""
    return (
        _integer_blob(answer.ranking),
        struct.pack(f"<{len(answer.scores)}d", *answer.scores),
        _integer_blob(answer.selection),
        answer.seconds,
        _json(dict(answer.details)),
        None,
        answer.details.get("outcome", ""),
    )


def _json(details: dict[str, str]) -> str:
    try:
        return orjson.dumps(details).decode()
    except orjson.JSONEncodeError:  # half a surrogate pair: only escaped can it be kept
        return json.dumps(details)


def _integer_blob(values: Sequence[int]) -> bytes:
    return struct.pack(f"<{len(values)}i", *values)


def _integers(blob: bytes) -> tuple[int, ...]:
    return struct.unpack(f"<{len(blob) // 4}i", blob)


def _retrieval(ranking: bytes, scores: bytes, selection: bytes, seconds: float, details: str) -> Retrieval:
    return Retrieval(
        ranking=_integers(ranking),
        scores=struct.unpack(f"<{len(scores) // 8}d", scores),
        selection=_integers(selection),
        seconds=seconds,
        details=MappingProxyType(json.loads(details)),
    )


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")
