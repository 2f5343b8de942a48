"""The store: datasets in one SQLite file, for any number of threads and processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import starmap
from operator import itemgetter
from pathlib import Path
from typing import Any, Final, NamedTuple

from evidencebench_core.data.connection import Database
from evidencebench_core.data.files import whole_file
from evidencebench_core.data.model import SUFFICIENT_NOTE, EvidenceSet, Instance
from evidencebench_core.data.primitives import by_name
from evidencebench_core.data.rows import GOLD_COLUMNS, INSTANCE_COLUMNS, evidence_of_row, instance_of_row
from evidencebench_core.data.search import fts_terms
from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown

MARKED_BY_HAND: Final = "marked by hand"
"""The source of the datasets that `ingest.add_instance` makes: they grow, and come from no file."""

_DATASETS: Final = """
    SELECT id, name, sha256, n_instances, n_papers, n_result_instances, source, ingested_at, synthetic, sufficient
    FROM datasets WHERE ingested_at <> '' ORDER BY id
"""
_INSTANCES: Final = "instances AS i JOIN bodies AS b ON b.instance = i.id"
_BATCH: Final = 128  # instances a query


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset of the store."""

    id: int  # its row; the key of runs.dataset_id
    name: str  # unique in the store
    sha256: str  # of what it was read from, decompressed: what a dataset is, whatever its name
    n_instances: int
    n_papers: int  # distinct paper ids
    n_result_instances: int  # instances that have result aspects
    source: str  # the file it came from
    ingested_at: str  # ISO 8601, UTC
    synthetic: bool  # whether at least one instance marks itself as made up
    sufficient: bool  # whether an instance says that its gold is sufficient, not complete

    @property
    def gold_notes(self) -> tuple[str, ...]:
        """Notes to stand beside every recall on it."""
        return (SUFFICIENT_NOTE,) if self.sufficient else ()

    @property
    def stamp(self) -> str:
        """Tells its content from any other, and from what it was before if it grows."""
        return f"{self.sha256} {self.ingested_at}" if self.source == MARKED_BY_HAND else self.sha256


class InstanceRow(NamedTuple):
    """A row of a table of instances."""

    id: str
    hypothesis: str
    paper_id: str
    n_sentences: int
    n_aspects: int
    n_result_aspects: int
    optimal: int
    results_optimal: int | None  # None without result aspects
    position: int


class Store(Database):
    """Datasets, and the connection to everything else that is kept beside them, for any thread.

    Nothing is opened or made before it is asked for something. Every method raises `StoreError` if the file cannot be
    used, and `UnknownNameError` for a dataset or an instance that is not there. A dataset is given by its name, or as
    the `DatasetInfo` that one has.
    """

    def backup(self, path: Path, overwrite: bool = False) -> int:
        """Copy the store, as it is now, to a file that only its owner may read; its size in bytes."""
        path = Path(path).resolve()
        if not self.path.is_file():
            raise StoreError(str(self.path), "is not there", "Name the store with --store.")
        is_in_use = path == self.path.resolve() or path.with_name(f"{path.name}-wal").exists()
        if path.is_dir() or is_in_use or (path.exists() and not overwrite):
            problem = "is a store in use" if is_in_use else "is there already"
            raise StoreError(str(path), problem, "Name another file, or replace one with --overwrite.")
        with whole_file(path, private=True) as stream, self.read() as db:
            db.execute("VACUUM INTO ?", (stream.name,))
        return path.stat().st_size

    def datasets(self) -> tuple[DatasetInfo, ...]:
        """All datasets, in the order in which they came."""
        with self.read() as db:
            return datasets_in(db)

    def dataset(self, dataset: str | DatasetInfo) -> DatasetInfo:
        """The dataset of a name; what is one already, is not looked up again."""
        if isinstance(dataset, DatasetInfo):
            return dataset
        return by_name(self.datasets(), dataset, "dataset", self.path, "Ingest a file first.")

    def ids(self, dataset: str | DatasetInfo, limit: int | None = None) -> tuple[str, ...]:
        """Instance ids in the order of the file."""
        return tuple(self._column("instance_id", dataset, limit))

    def paper_ids(self, dataset: str | DatasetInfo, limit: int | None = None) -> dict[str, str]:
        """Paper id by instance id, in the order of the file."""
        return self._column("paper_id", dataset, limit)

    def paper_keys(self, dataset: str | DatasetInfo) -> dict[str, str]:
        """`paper_key` by instance id, in the order of the file: who has the same one has the same paper."""
        return self._column("(SELECT key FROM papers WHERE id = paper)", dataset)

    def _column(self, column: str, dataset: str | DatasetInfo, limit: int | None = None) -> dict[str, str]:
        """A column by instance id, in the order of the file."""
        sql = f"SELECT instance_id, {column} FROM instances WHERE dataset_id = ? ORDER BY position LIMIT ?"
        with self.read() as db:
            return dict(db.execute(sql, (self.dataset(dataset).id, -1 if limit is None else limit)))

    def matching(
        self, dataset: str | DatasetInfo, hypothesis: str = "", sentences: str = ""
    ) -> tuple[str, ...]:
        """Ids of the instances whose hypothesis and whose paper have these words (see `data.search`), in order."""
        conditions: list[str] = ["dataset_id = ?"]
        values: list[object] = [self.dataset(dataset).id]
        for words, column, table in (
            (hypothesis, "id", "hypothesis_words"),
            (sentences, "paper", "paper_words"),
        ):
            if terms := fts_terms(words):
                conditions.append(f"{column} IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)")
                values.append(" AND ".join(terms))
        sql = f"SELECT instance_id FROM instances WHERE {' AND '.join(conditions)} ORDER BY position"
        with self.read() as db:
            return tuple([instance_id for (instance_id,) in db.execute(sql, values)])

    def get(self, dataset: str | DatasetInfo, instance_id: str) -> Instance:
        (instance,) = self.get_many(dataset, (instance_id,))
        return instance

    def get_many(self, dataset: str | DatasetInfo, ids: Iterable[str]) -> Iterator[Instance]:
        """Instances in the order asked for."""
        return starmap(instance_of_row, self._by_id(dataset, ids, INSTANCE_COLUMNS))

    def iter(self, dataset: str | DatasetInfo, limit: int | None = None) -> Iterator[Instance]:
        """Instances in the order of the file."""
        info = self.dataset(dataset)
        return self.get_many(info, self.ids(info, limit))

    def evidence_sets(
        self, dataset: str | DatasetInfo, ids: Iterable[str] | None = None
    ) -> Iterator[tuple[str, EvidenceSet]]:
        """The gold of all instances, or of those named, in the order of the file; the papers are not read."""
        info = self.dataset(dataset)
        columns = f"i.instance_id, i.position, {GOLD_COLUMNS}"
        if ids is None:
            sql = f"SELECT {columns} FROM {_INSTANCES} WHERE i.dataset_id = ? ORDER BY i.position"
            with self.read() as db:
                rows = db.execute(sql, (info.id,)).fetchall()
        else:
            rows = sorted(self._by_id(info, dict.fromkeys(ids), columns), key=itemgetter(1))
        for instance_id, _, *gold in rows:
            yield instance_id, evidence_of_row(*gold)

    def rows(self, dataset: str | DatasetInfo, ids: Iterable[str]) -> tuple[InstanceRow, ...]:
        """One row an instance, in the order asked for."""
        columns = (
            "i.instance_id, b.hypothesis, i.paper_id, i.n_sentences, i.n_aspects, i.n_result_aspects,"
            " i.optimal, i.results_optimal, i.position"
        )
        return tuple(starmap(InstanceRow, self._by_id(dataset, ids, columns)))

    def _by_id(
        self, dataset: str | DatasetInfo, ids: Iterable[str], columns: str
    ) -> Iterator[tuple[Any, ...]]:
        """Columns of instances, the first one being the id, in the order asked for, read batch by batch."""
        info, ids = self.dataset(dataset), tuple(ids)
        tables = _INSTANCES + (" JOIN papers AS p ON p.id = i.paper" if "p." in columns else "")
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            sql = f"SELECT {columns} FROM {tables} WHERE i.dataset_id = ? AND i.instance_id IN ({marks})"
            with self.read() as db:
                rows_by_id = {row[0]: row for row in db.execute(sql, (info.id, *batch))}
            for instance_id in batch:
                if instance_id not in rows_by_id:
                    near = did_you_mean(instance_id, self.ids(info), 0.5)
                    remedy = f"{near}`evidencebench list instances` and Browse list the ids."
                    problem = f"is not in dataset {shown(info.name)}"
                    raise UnknownNameError(f"instance {shown(instance_id)}", problem, remedy)
                yield rows_by_id[instance_id]


def store_path(path: Path | str | None = None) -> Path:
    """Where the store is: the argument, else ``EVIDENCEBENCH_STORE``, else the user's data folder."""
    if path is None:
        path = os.environ.get("EVIDENCEBENCH_STORE") or None
    if path is not None:
        return Path(path).expanduser()
    import platformdirs

    return platformdirs.user_data_path("evidencebench", appauthor=False) / "store.sqlite"


def open_store(path: Path | str | None = None) -> Store:
    """The store at `store_path`; it is made when it is first used."""
    return Store(store_path(path))


def datasets_in(db: sqlite3.Connection) -> tuple[DatasetInfo, ...]:
    """The datasets that are there for readers."""
    return tuple([DatasetInfo(*row[:-2], *map(bool, row[-2:])) for row in db.execute(_DATASETS)])
