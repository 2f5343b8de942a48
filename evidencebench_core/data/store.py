"""The store: datasets in one SQLite file, for any number of threads and processes."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import starmap
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from evidencebench_core.data.connection import Database
from evidencebench_core.data.files import whole_file
from evidencebench_core.data.model import SUFFICIENT_NOTE, Aspect, EvidenceSet, Instance
from evidencebench_core.data.primitives import by_name, from_blob, to_blob
from evidencebench_core.data.search import fts_terms
from evidencebench_core.data.sections import section_titles
from evidencebench_core.errors import StoreError, UnknownNameError, did_you_mean, shown
from evidencebench_core.notebook import Tabular, values_table

if TYPE_CHECKING:
    import pandas as pd

MARKED_BY_HAND: Final = "marked by hand"
"""The source of the datasets that `ingest.add_instance` makes: they grow, and come from no file."""

_GOLD: Final = "gold, n_sentences, optimal, results_optimal"
_INSTANCE: Final = f"id, hypothesis, paper_id, synthetic, body, paper, {_GOLD}"
_IN_BODY: Final = frozenset({"stored", "paraphrases", "negation", "construction", "kept", "key_order"})
_BATCH: Final = 128  # instances a query


@dataclass(frozen=True, slots=True, repr=False)
class DatasetInfo(Tabular):
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

    def __repr__(self) -> str:
        return f"DatasetInfo({self.name!r}: {self.n_instances:,} instances of {self.n_papers:,} papers)"

    @property
    def gold_notes(self) -> tuple[str, ...]:
        """Notes to stand beside every recall on it."""
        return (SUFFICIENT_NOTE,) if self.sufficient else ()

    @property
    def stamp(self) -> str:
        """Changes whenever its content does."""
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


_Dataset = str | DatasetInfo


class Store(Database, Tabular):
    """Datasets, and the connection to everything else that is kept beside them, for any thread.

    The file is opened or created on first use. Every method raises `StoreError` if the file cannot be used, and
    `UnknownNameError` for an unknown dataset or instance.
    """

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r})"

    def to_pandas(self) -> pd.DataFrame:
        """The datasets, a row each."""
        return values_table(self.datasets(), DatasetInfo)

    def backup(self, path: Path, overwrite: bool = False) -> int:
        """Copy the store to a file that only its owner can read; returns its size in bytes."""
        path = Path(path).resolve()
        if not self.path.is_file():
            raise StoreError(str(self.path), "is not there", "Name the store with --store.")
        is_in_use = path == self.path.resolve() or path.with_name(f"{path.name}-wal").exists()
        if path.is_dir() or is_in_use or (path.exists() and not overwrite):
            problem = "is a store in use" if is_in_use else "is there already"
            raise StoreError(str(path), problem, "Name another file, or replace one with --overwrite.")
        try:
            with whole_file(path, private=True) as stream, self.read() as db:
                db.execute("VACUUM INTO ?", (stream.name,))
        except StoreError as error:
            is_damaged = getattr(error.__cause__, "sqlite_errorname", "").startswith("SQLITE_CORRUPT")
            place = error.place if is_damaged else str(path)  # whose disk is full
            raise StoreError(place, error.problem, error.remedy) from error
        return path.stat().st_size

    def datasets(self) -> tuple[DatasetInfo, ...]:
        """All datasets, in the order in which they came."""
        with self.read() as db:
            return datasets_in(db)

    def dataset(self, dataset: _Dataset) -> DatasetInfo:
        """The dataset with that name; a `DatasetInfo` is returned as it is."""
        if isinstance(dataset, DatasetInfo):
            return dataset
        return by_name(self.datasets(), dataset, "dataset", self.path, "Ingest a file first.")

    def ids(self, dataset: _Dataset, limit: int | None = None) -> tuple[str, ...]:
        """Instance ids in the order of the file."""
        return tuple(self._column("instance_id", dataset, limit))

    def paper_ids(self, dataset: _Dataset) -> dict[str, str]:
        """Paper id by instance id, in the order of the file."""
        return self._column("paper_id", dataset)

    def paper_keys(self, dataset: _Dataset) -> dict[str, str]:
        """`paper_key` by instance id, in the order of the file; equal keys are equal papers."""
        return self._column("(SELECT key FROM papers WHERE id = paper)", dataset)

    def _column(self, column: str, dataset: _Dataset, limit: int | None = None) -> dict[str, str]:
        sql = f"SELECT instance_id, {column} FROM instances WHERE dataset_id = ? ORDER BY position LIMIT ?"
        with self.read() as db:
            return dict(db.execute(sql, (self.dataset(dataset).id, -1 if limit is None else limit)))

    def matching(self, dataset: _Dataset, hypothesis: str = "", sentences: str = "") -> tuple[str, ...]:
        """Ids of the instances whose hypothesis and whose paper have these words (see `data.search`), in order."""
        sql = "SELECT instance_id FROM instances WHERE dataset_id = ?"
        values = [str(self.dataset(dataset).id)]
        for words, column, table in (
            (hypothesis, "id", "hypothesis_words"),
            (sentences, "paper", "paper_words"),
        ):
            if terms := fts_terms(words):
                sql += f" AND {column} IN (SELECT rowid FROM {table} WHERE {table} MATCH ?)"
                values.append(" AND ".join(terms))
        with self.read() as db:
            rows = db.execute(f"{sql} ORDER BY position", values).fetchall()
        return tuple([instance_id for (instance_id,) in rows])

    def get(self, dataset: _Dataset, instance_id: str) -> Instance:
        return next(self.get_many(dataset, (instance_id,)))

    def get_many(self, dataset: _Dataset, ids: Iterable[str]) -> Iterator[Instance]:
        """Instances in the order asked for."""
        return starmap(_instance, self._by_id(dataset, ids, _INSTANCE))

    def iter(self, dataset: _Dataset, limit: int | None = None) -> Iterator[Instance]:
        """Instances in the order of the file."""
        info = self.dataset(dataset)
        return self.get_many(info, self.ids(info, limit))

    def evidence_sets(
        self, dataset: _Dataset, ids: Iterable[str] | None = None
    ) -> Iterator[tuple[str, EvidenceSet]]:
        """The gold of all instances, or of those named, in the order of the file; the papers are not read."""
        info = self.dataset(dataset)
        if ids is None:
            yield from _all_gold(self, info)
            return
        rows = sorted(self._by_id(info, dict.fromkeys(ids), f"id, position, {_GOLD}"), key=itemgetter(1))
        for instance_id, _, *gold in rows:
            yield instance_id, _evidence(*gold)

    def rows(self, dataset: _Dataset, ids: Iterable[str]) -> tuple[InstanceRow, ...]:
        """One row an instance, in the order asked for."""
        return tuple(starmap(InstanceRow, self._by_id(dataset, ids, ", ".join(InstanceRow._fields))))

    def _by_id(self, dataset: _Dataset, ids: Iterable[str], columns: str) -> Iterator[tuple[Any, ...]]:
        """Columns of instances (the first is the id), in the order asked for, read in batches."""
        info, ids = self.dataset(dataset), tuple(ids)
        for start in range(0, len(ids), _BATCH):
            batch = ids[start : start + _BATCH]
            marks = ",".join("?" * len(batch))
            sql = f"SELECT {columns} FROM instance_rows WHERE dataset_id = ? AND id IN ({marks})"
            with self.read() as db:
                rows_by_id = {row[0]: row for row in db.execute(sql, (info.id, *batch))}
            for instance_id in batch:
                if instance_id not in rows_by_id:
                    near = did_you_mean(instance_id, self.ids(info), 0.5)
                    remedy = f"{near}`evidencebench list instances` and Browse list the ids."
                    problem = f"is not in dataset {shown(info.name)}"
                    raise UnknownNameError(f"instance {shown(instance_id)}", problem, remedy)
                yield rows_by_id[instance_id]


@lru_cache(maxsize=1)
def _all_gold(store: Store, info: DatasetInfo) -> tuple[tuple[str, EvidenceSet], ...]:
    """Kept, because to read it is half of what a score costs."""
    return tuple(store.evidence_sets(info, store.ids(info)))


def open_store(path: Path | str | None = None) -> Store:
    """The store at ``path``, else at ``EVIDENCEBENCH_STORE``, else in the user's data folder; created on first use."""
    import platformdirs

    default = platformdirs.user_data_path("evidencebench", appauthor=False) / "store.sqlite"
    return Store(Path(path or os.environ.get("EVIDENCEBENCH_STORE") or default).expanduser())


def datasets_in(db: sqlite3.Connection) -> tuple[DatasetInfo, ...]:
    """The datasets that readers can see."""
    rows = db.execute("SELECT * FROM ready_datasets")
    return tuple([DatasetInfo(*row[:-2], *map(bool, row[-2:])) for row in rows])


def instance_blobs(instance: Instance) -> tuple[bytes, bytes]:
    """The gold, apart because scoring reads nothing else, and the fields without a column."""
    gold = [(a.id, a.sentence_indices, a.is_result, a.text) for a in instance.evidence.aspects]
    body = {name: getattr(instance, name) for name in _IN_BODY}
    if instance.sections != section_titles(instance.sentences, instance.sentence_types):
        body["sections"] = instance.sections
    return to_blob(gold), to_blob({name: value for name, value in body.items() if value})


def _evidence(gold: bytes, n_sentences: int, optimal: int, results_optimal: int | None) -> EvidenceSet:
    aspects = [
        Aspect(aspect_id, tuple(indices), is_result, f"A{number}", text)
        for number, (aspect_id, indices, is_result, text) in enumerate(from_blob(gold), start=1)
    ]
    return EvidenceSet(n_sentences, tuple(aspects), optimal, results_optimal)


def _instance(
    instance_id: str, hypothesis: str, paper_id: str, synthetic: int, body: bytes, paper: bytes, *gold: Any
) -> Instance:
    sentences, types = map(tuple, from_blob(paper))
    fields = from_blob(body)
    fields["stored"] = {task: tuple(picks) for task, picks in fields.get("stored", {}).items()}
    fields["sections"] = tuple(fields.get("sections") or section_titles(sentences, types))
    fields["key_order"] = tuple(fields.get("key_order", ()))
    fields |= {"evidence": _evidence(*gold), "synthetic": bool(synthetic)}
    return Instance(instance_id, hypothesis, paper_id, sentences, types, **fields)
