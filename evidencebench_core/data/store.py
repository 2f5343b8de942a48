"""The store: datasets in one SQLite file, for any number of threads and processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from evidencebench_core.data.connection import Database
from evidencebench_core.data.files import whole_file
from evidencebench_core.data.format import evidence_of, instance_of
from evidencebench_core.data.model import SUFFICIENT_NOTE, EvidenceSet, Instance
from evidencebench_core.data.query import Filter, matching_sql
from evidencebench_core.data.records import from_blob
from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown

MARKED_BY_HAND: Final = "marked by hand"
"""The source of the datasets that `ingest.add_instance` makes: they grow, and come from no file."""

_BATCH: Final = 128  # instances a query


@dataclass(frozen=True, slots=True)
class DatasetInfo:
    """A dataset of the store."""

    name: str  # unique in the store
    sha256: str  # of the file's decompressed content: what a dataset is, whatever its name
    n_instances: int
    n_papers: int  # distinct paper ids
    n_result_instances: int  # instances that have result aspects
    synthetic: bool  # whether at least one instance marks itself as made up
    source: str  # the file it came from
    ingested_at: str  # ISO 8601, UTC
    id: int  # its row; the key of runs.dataset_id
    sufficient: bool = False  # whether an instance says that its gold is sufficient, not complete

    @property
    def gold_notes(self) -> tuple[str, ...]:
        """Notes to stand beside every recall on it."""
        return (SUFFICIENT_NOTE,) if self.sufficient else ()

    @property
    def version(self) -> str:
        """Tells its content from any other, and from what it was before if it grows."""
        return f"{self.sha256} {self.ingested_at}" if self.source == MARKED_BY_HAND else self.sha256


@dataclass(frozen=True, slots=True)
class InstanceRow:
    """A row of a table of instances."""

    id: str
    hypothesis: str
    paper_id: str
    n_sentences: int
    n_aspects: int
    n_result_aspects: int
    optimal: int
    results_optimal: int | None  # None without result aspects
    ends_coverage: float  # share of its aspects that the paper's first 10 and last 10 sentences cover
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
        if path.exists() and path.samefile(self.path):
            raise StoreError(str(path), "is the store itself", "Name another file.")
        if path.exists() and not (path.is_file() and overwrite):
            raise StoreError(
                str(path), "is there already", "Name another file, or replace it with --overwrite."
            )
        if path.with_name(f"{path.name}-wal").exists():
            raise StoreError(str(path), "is a store in use", "Name another file.")
        with whole_file(path, private=True) as stream, self.read() as db:
            try:
                db.execute("VACUUM INTO ?", (stream.name,))
            except sqlite3.OperationalError as error:
                raise StoreError(str(path), f"cannot be written ({error})", "Free the disk.") from error
        return path.stat().st_size

    def datasets(self) -> tuple[DatasetInfo, ...]:
        """All datasets, in the order in which they came."""
        with self.read() as db:
            return datasets_in(db)

    def dataset(self, name: str) -> DatasetInfo:
        datasets = {info.name: info for info in self.datasets()}
        if name in datasets:
            return datasets[name]
        choices = f"There are: {', '.join(datasets)}." if datasets else "Ingest a file first."
        remedy = did_you_mean(name, datasets, 0.5) + choices
        raise UnknownNameError(f"dataset {shown(name)}", f"is not in {self.path}", remedy)

    def ids(self, dataset: str, limit: int | None = None) -> tuple[str, ...]:
        """Instance ids in the order of the file."""
        info = self.dataset(dataset)
        with self.read() as db:
            rows = db.execute(
                "SELECT instance_id FROM instances WHERE dataset_id = ? ORDER BY position LIMIT ?",
                (info.id, -1 if limit is None else limit),
            )
            return tuple([row[0] for row in rows])

    def get(self, dataset: str, instance_id: str) -> Instance:
        return instance_of(instance_id, self.raw(dataset, instance_id))

    def raw(self, dataset: str, instance_id: str) -> dict[str, Any]:
        """The instance as it stood in its file: same keys and lists in the same order."""
        ((_, raw),) = self._raws(self.dataset(dataset), (instance_id,))
        return raw

    def get_many(self, dataset: str, ids: Iterable[str]) -> Iterator[Instance]:
        """Instances in the order asked for."""
        info = self.dataset(dataset)
        for batch in _batches(tuple(ids)):
            for instance_id, raw in self._raws(info, batch):
                yield instance_of(instance_id, raw)

    def iter(self, dataset: str, limit: int | None = None) -> Iterator[Instance]:
        """Instances in the order of the file."""
        return self.get_many(dataset, self.ids(dataset, limit))

    def _raws(self, info: DatasetInfo, ids: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
        """Read at once, unpacked one by one."""
        columns = "i.instance_id, b.body, p.body"
        for instance_id, body, paper in self._by_id(info, ids, columns, "JOIN papers AS p ON p.id = i.paper"):
            raw = from_blob(body)
            raw["paper_as_candidate_pool"], raw["sentence_types_in_candidate_pool"] = from_blob(paper)
            yield instance_id, raw

    def evidence_sets(
        self, dataset: str, ids: Iterable[str] | None = None
    ) -> Iterator[tuple[str, EvidenceSet]]:
        """The gold of all instances, or of those named, in the order of the file; the papers are not read."""
        info = self.dataset(dataset)
        if ids is None:
            ordered: Sequence[str] = self.ids(dataset)
        else:
            positions = dict(self._by_id(info, tuple(dict.fromkeys(ids)), "i.instance_id, i.position"))
            ordered = sorted(positions, key=positions.__getitem__)
        for batch in _batches(ordered):
            for instance_id, n_sentences, body in self._by_id(
                info, batch, "i.instance_id, i.n_sentences, b.body"
            ):
                yield instance_id, evidence_of(from_blob(body), n_sentences)

    def paper_ids(self, dataset: str) -> dict[str, str]:
        """Paper id by instance id, in the order of the file."""
        sql = "SELECT instance_id, paper_id FROM instances WHERE dataset_id = ? ORDER BY position"
        with self.read() as db:
            return dict(db.execute(sql, (self.dataset(dataset).id,)))

    def matching(self, dataset: str, criteria: Filter | None = None) -> tuple[str, ...]:
        """Ids of the instances that a filter lets through, in its order."""
        info = self.dataset(dataset)
        conditions, values = matching_sql(criteria or Filter())
        sql = f"SELECT i.instance_id FROM instances AS i JOIN bodies AS b ON b.instance = i.id {conditions}"
        with self.read() as db:
            return tuple([instance_id for (instance_id,) in db.execute(sql, [info.id, *values])])

    def rows(self, dataset: str, ids: Iterable[str]) -> tuple[InstanceRow, ...]:
        """One row an instance, in the order asked for."""
        columns = (
            "i.instance_id, b.hypothesis, i.paper_id, i.n_sentences, i.n_aspects, i.n_result_aspects,"
            " i.optimal, i.results_optimal, i.ends_coverage, i.position"
        )
        return tuple([InstanceRow(*row) for row in self._by_id(self.dataset(dataset), tuple(ids), columns)])

    def _by_id(
        self, info: DatasetInfo, ids: Sequence[str], columns: str, join: str = ""
    ) -> list[tuple[Any, ...]]:
        """Columns of instances, the first one being the id, in the order asked for."""
        rows_by_id: dict[str, tuple[Any, ...]] = {}
        with self.read() as db:
            for batch in _batches(ids):
                sql = (
                    f"SELECT {columns} FROM instances AS i JOIN bodies AS b ON b.instance = i.id {join}"
                    f" WHERE i.dataset_id = ? AND i.instance_id IN ({','.join('?' * len(batch))})"
                )
                rows_by_id.update((row[0], row) for row in db.execute(sql, (info.id, *batch)))
        for instance_id in ids:
            if instance_id not in rows_by_id:
                near = did_you_mean(instance_id, self.ids(info.name), 0.5)
                remedy = f"{near}Look at the ids that `evidencebench show` or Browse lists."
                problem = f"is not in dataset {shown(info.name)}"
                raise UnknownNameError(f"instance {shown(instance_id)}", problem, remedy)
        return [rows_by_id[instance_id] for instance_id in ids]


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
    names = [field.name for field in fields(DatasetInfo)]
    sql = f"SELECT {', '.join(names)} FROM datasets WHERE ingested_at <> '' ORDER BY id"
    infos = [DatasetInfo(*row) for row in db.execute(sql)]
    return tuple([replace(i, synthetic=bool(i.synthetic), sufficient=bool(i.sufficient)) for i in infos])


def _batches(ids: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(ids), _BATCH):
        yield ids[start : start + _BATCH]
