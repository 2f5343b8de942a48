"""The store: datasets in one SQLite file, for any number of threads and processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import starmap
from pathlib import Path
from typing import Any, Final, NamedTuple

from evidencebench_core.data.connection import Database
from evidencebench_core.data.files import whole_file
from evidencebench_core.data.format import evidence_of, instance_of
from evidencebench_core.data.model import SUFFICIENT_NOTE, EvidenceSet, Instance
from evidencebench_core.data.primitives import by_name, from_blob
from evidencebench_core.data.search import fts_terms
from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown

MARKED_BY_HAND: Final = "marked by hand"
"""The source of the datasets that `ingest.add_instance` makes: they grow, and come from no file."""

_DATASETS: Final = """
    SELECT id, name, sha256, n_instances, n_papers, n_result_instances, source, ingested_at, synthetic, sufficient
    FROM datasets WHERE ingested_at <> '' ORDER BY id
"""
_BATCH: Final = 128  # instances a query


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset of the store."""

    id: int  # its row; the key of runs.dataset_id
    name: str  # unique in the store
    sha256: str  # of the file's decompressed content: what a dataset is, whatever its name
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
    def version(self) -> str:
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
    used, and `UnknownNameError` for a dataset or an instance that is not there.
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

    def dataset(self, name: str) -> DatasetInfo:
        return by_name(self.datasets(), name, "dataset", self.path, "Ingest a file first.")

    def ids(self, dataset: str, limit: int | None = None) -> tuple[str, ...]:
        """Instance ids in the order of the file."""
        return tuple(self.paper_ids(dataset, limit))

    def paper_ids(self, dataset: str, limit: int | None = None) -> dict[str, str]:
        """Paper id by instance id, in the order of the file."""
        info = self.dataset(dataset)
        sql = "SELECT instance_id, paper_id FROM instances WHERE dataset_id = ? ORDER BY position LIMIT ?"
        with self.read() as db:
            return dict(db.execute(sql, (info.id, -1 if limit is None else limit)))

    def matching(self, dataset: str, hypothesis: str = "", sentences: str = "") -> tuple[str, ...]:
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

    def get(self, dataset: str, instance_id: str) -> Instance:
        return instance_of(instance_id, self.raw(dataset, instance_id))

    def raw(self, dataset: str, instance_id: str) -> dict[str, Any]:
        """The instance as it stood in its file: same keys and lists in the same order."""
        ((_, raw),) = self._raws(dataset, (instance_id,))
        return raw

    def get_many(self, dataset: str, ids: Iterable[str]) -> Iterator[Instance]:
        """Instances in the order asked for."""
        return starmap(instance_of, self._raws(dataset, tuple(ids)))

    def iter(self, dataset: str, limit: int | None = None) -> Iterator[Instance]:
        """Instances in the order of the file."""
        return self.get_many(dataset, self.ids(dataset, limit))

    def _raws(self, dataset: str, ids: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        for instance_id, body, paper in self._by_id(dataset, ids, "i.instance_id, b.body, p.body"):
            raw = from_blob(body)
            raw["paper_as_candidate_pool"], raw["sentence_types_in_candidate_pool"] = from_blob(paper)
            yield instance_id, raw

    def evidence_sets(
        self, dataset: str, ids: Iterable[str] | None = None
    ) -> Iterator[tuple[str, EvidenceSet]]:
        """The gold of all instances, or of those named, in the order of the file; the papers are not read."""
        if ids is None:
            ordered: Sequence[str] = self.ids(dataset)
        else:
            rows = self.rows(dataset, dict.fromkeys(ids))
            ordered = [row.id for row in sorted(rows, key=lambda row: row.position)]
        columns = "i.instance_id, i.n_sentences, b.body"
        for instance_id, n_sentences, body in self._by_id(dataset, ordered, columns):
            yield instance_id, evidence_of(from_blob(body), n_sentences)

    def rows(self, dataset: str, ids: Iterable[str]) -> tuple[InstanceRow, ...]:
        """One row an instance, in the order asked for."""
        columns = (
            "i.instance_id, b.hypothesis, i.paper_id, i.n_sentences, i.n_aspects, i.n_result_aspects,"
            " i.optimal, i.results_optimal, i.position"
        )
        return tuple(starmap(InstanceRow, self._by_id(dataset, tuple(ids), columns)))

    def _by_id(self, dataset: str, ids: Sequence[str], columns: str) -> Iterator[tuple[Any, ...]]:
        """Columns of instances, the first one being the id, in the order asked for, read batch by batch."""
        info = self.dataset(dataset)
        tables = "instances AS i JOIN bodies AS b ON b.instance = i.id"
        if "p." in columns:
            tables += " JOIN papers AS p ON p.id = i.paper"
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            sql = f"SELECT {columns} FROM {tables} WHERE i.dataset_id = ? AND i.instance_id IN ({marks})"
            with self.read() as db:
                rows_by_id = {row[0]: row for row in db.execute(sql, (info.id, *batch))}
            for instance_id in batch:
                if instance_id not in rows_by_id:
                    near = did_you_mean(instance_id, self.ids(info.name), 0.5)
                    remedy = f"{near}Look at the ids that `evidencebench show` or Browse lists."
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
