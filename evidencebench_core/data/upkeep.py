"""Deleting and renaming a dataset."""

import os

from evidencebench_core.data.primitives import checked_name, process_mark
from evidencebench_core.data.store import DatasetInfo, Store, datasets_in
from evidencebench_core.errors import StoreError, shown


def delete_dataset(store: Store, name: str | DatasetInfo) -> None:
    """Delete a dataset with everything that depends on it: runs, notes, wordings, markings.

    Stored answers of language models stay: they were paid for, and are reused if the dataset comes back.
    """
    info, process = store.dataset(name), process_mark(os.getpid())
    values = {"id": info.id, "sha256": info.sha256, "key": f"instance:{info.sha256}:", "process": process}
    with store.write() as db:
        db.execute("DELETE FROM annotations WHERE substr(paper, 1, length(:key)) = :key", values)
        db.execute("DELETE FROM runs WHERE subject = :sha256 AND kind <> 'retrieval'", values)
        db.execute("UPDATE datasets SET ingested_at = '', process = :process WHERE id = :id", values)
    remove_dataset(store, info.id)


def rename_dataset(store: Store, name: str | DatasetInfo, new: str) -> DatasetInfo:
    """Rename a dataset; everything that depends on it stays with it."""
    new = checked_name(new, "dataset")
    info = store.dataset(name)
    with store.write() as db:
        if new != info.name and any(other.name == new for other in datasets_in(db)):
            raise StoreError(f"dataset {shown(new)}", f"is in {store.path} already", "Choose another name.")
        db.execute("UPDATE datasets SET name = ? WHERE id = ?", (new, info.id))
    return store.dataset(new)


def remove_unfinished(store: Store) -> None:
    """Remove the datasets left behind by killed ingests and deletions."""
    with store.read() as db:
        rows = db.execute("SELECT id, process FROM datasets WHERE ingested_at = ''").fetchall()
    for dataset_id, process in rows:
        if process_mark(int(process.split(maxsplit=1)[0])) != process:
            remove_dataset(store, dataset_id)


def remove_dataset(store: Store, dataset_id: int) -> None:
    """Remove a dataset that no reader sees, in short transactions so that others can write meanwhile."""
    batch = "SELECT id FROM instances WHERE dataset_id = ? LIMIT 128"
    n_deleted = 1
    while n_deleted:
        with store.write(durable=False) as db:
            n_deleted = db.execute(f"DELETE FROM instances WHERE id IN ({batch})", (dataset_id,)).rowcount
    with store.write(durable=False) as db:  # all else goes with it
        db.execute("DELETE FROM datasets WHERE id = ?", (dataset_id,))
